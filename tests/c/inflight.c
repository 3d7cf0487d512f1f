/* Calls that answer later: their order, their time, and how they are given up. */
#include "flight.h"

#define NEVER UINT64_MAX
#define TIMEOUT(name) "![TOOL_TIMEOUT] Tool '" name "' timed out after 0.1s"
#define CANCELLED(name) "!Tool error: Tool '" name "' was cancelled"

TEST(results_have_the_order_of_the_calls_whatever_the_order_of_the_completions)
{
    open_flight(0);
    add_later("later", 0);
    add_tool("say", ANYTHING, say, "at once", 0);
    begin("later say later say later");
    CHECK_TEXT(ran, strlen(ran), "later say later say later");
    CHECK_SIZE(stats().open, 3);
    CHECK_SIZE(stats().in_flight, 3);
    CHECK(!toolcore_done(inflight));
    CHECK(poll_at(1001) == NEVER);
    CHECK_STATUS(complete(3, "third"), TOOLCORE_OK);
    CHECK_STATUS(complete(1, "first"), TOOLCORE_OK);
    CHECK(!toolcore_done(inflight));
    CHECK_STATUS(toolcore_fail(inflight, tickets[1], now, text("no such line")), TOOLCORE_OK);
    CHECK(toolcore_done(inflight));
    CHECK_SIZE(stats().open, 0);
    CHECK_SIZE(stats().in_flight, 0);
    finish("first|at once|!Tool error: no such line|at once|third");
    CHECK_TEXT(buf, len,
               "[{\"role\":\"user\",\"content\":["
               "{\"type\":\"tool_result\",\"tool_use_id\":\"c0\",\"content\":\"first\"},"
               "{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"content\":\"at once\"},"
               "{\"type\":\"tool_result\",\"tool_use_id\":\"c2\",\"content\":\"Tool error: no such line\",\"is_error\":true},"
               "{\"type\":\"tool_result\",\"tool_use_id\":\"c3\",\"content\":\"at once\"},"
               "{\"type\":\"tool_result\",\"tool_use_id\":\"c4\",\"content\":\"third\"}]}]");
    CHECK(outcome.calls == 5 && outcome.answered == 4 && outcome.failed == 1);
    CHECK_SIZE(outcome.finish, TOOLCORE_FINISH_COMPLETE);
    CHECK_SIZE(stats().completed, 3);
    check_asked("");
    close_flight();
}

/* Time. */

TEST(a_call_is_due_at_its_deadline_and_in_time_until_it_is_polled_then)
{
    open_flight(0);
    add_later("prompt", 100);
    add_later("slow", 100);
    begin("prompt slow");
    CHECK(poll_at(1000) == 1100);
    CHECK(poll_at(1099) == 1100);
    CHECK_SIZE(stats().open, 2);
    now = 1100;
    CHECK_STATUS(complete(1, "just so"), TOOLCORE_OK);
    check_asked("");
    CHECK(poll_at(1100) == 2100);
    CHECK(toolcore_done(inflight));
    check_asked("#2");
    CHECK(stats().timed_out == 1 && stats().completed == 1 && stats().in_flight == 1);
    finish("just so|" TIMEOUT("slow"));
    close_flight();
}

TEST(a_completion_after_the_deadline_is_late_though_nobody_had_polled)
{
    open_flight(0);
    add_later("later", 100);
    begin("later");
    now = 1101;
    CHECK_STATUS(complete(1, "too late"), TOOLCORE_ERR_LATE);
    CHECK(toolcore_done(inflight));
    /* It has ended: nobody is asked to, and nothing is left to be abandoned. */
    check_asked("");
    CHECK(poll_at(9999) == NEVER);
    CHECK(stats().timed_out == 1 && stats().late == 1 && stats().abandoned == 0 && stats().in_flight == 0);
    finish(TIMEOUT("later"));
    close_flight();
}

TEST(the_most_specific_timeout_applies_also_the_looser_one)
{
    static const struct { uint64_t tool, registry, turn, due; } rows[] = {
        { 100, 1000, 1000, 1100 }, { 1000, 100, 100, 2000 }, { 0, 100, 1000, 1100 },
        { 0, 1000, 100, 2000 },    { 0, 0, 100, 1100 },      { 0, 0, 0, NEVER },
        { UINT64_MAX, 0, 0, NEVER },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        open_flight(rows[i].registry);
        add_later("later", rows[i].tool);
        opts.timeout_ms = rows[i].turn;
        begin("later");
        CHECK(poll_at(1000) == rows[i].due);
        close_flight();
    }
}

TEST(a_tool_that_never_answers_is_asked_once_and_abandoned_after_its_grace_period)
{
    open_flight(0);
    add_later("never", 100);
    begin("never");
    CHECK(poll_at(1500) == 2500);
    check_asked("#1");
    CHECK(poll_at(2499) == 2500);
    CHECK(stats().abandoned == 0 && stats().in_flight == 1);
    CHECK(poll_at(2500) == NEVER);
    check_asked("");
    CHECK(stats().abandoned == 1 && stats().in_flight == 0);
    CHECK_STATUS(complete(1, "at last"), TOOLCORE_ERR_LATE);
    CHECK_STATUS(complete(1, "at last"), TOOLCORE_ERR_DOUBLED);
    finish(TIMEOUT("never"));
    check_events("1000 called 0 new; 1500 timed_out 0 #1 = timed_out; 2500 abandoned 0 #1");
    close_flight();
}

TEST(the_grace_period_may_be_set_and_may_be_none)
{
    flight_opts.grace_ms = 50;
    open_flight(0);
    add_later("never", 100);
    begin("never");
    CHECK(poll_at(1100) == 1150);
    CHECK(poll_at(1150) == NEVER);
    CHECK_SIZE(stats().abandoned, 1);
    close_flight();

    flight_opts.flags = TOOLCORE_INFLIGHT_NO_GRACE;
    open_flight(0);
    add_later("never", 100);
    begin("never never");
    CHECK_STATUS(toolcore_cancel(inflight, 0, now), TOOLCORE_OK);
    CHECK(stats().abandoned == 1 && stats().in_flight == 1);
    CHECK(poll_at(1100) == NEVER);
    CHECK(stats().abandoned == 2 && stats().in_flight == 0);
    check_asked("#1 #2");
    finish(CANCELLED("never") "|" TIMEOUT("never"));
    /* One that ends when it is asked to is not abandoned. */
    cancel_says = TOOLCORE_OK;
    begin("never");
    finish(CANCELLED("never"));
    CHECK(stats().abandoned == 2 && stats().in_flight == 0);
    close_flight();
}

TEST(a_clock_that_steps_back_does_no_harm)
{
    open_flight(0);
    add_later("later", 100);
    begin("later later");
    CHECK(poll_at(1090) == 1100);
    CHECK(poll_at(3) == 1100);
    CHECK_STATUS(toolcore_progress(inflight, tickets[0], 0, 1, 0, text("")), TOOLCORE_OK);
    CHECK_STATUS(complete(1, "in time"), TOOLCORE_OK);
    CHECK(poll_at(UINT64_MAX) == UINT64_MAX);
    CHECK(poll_at(0) == UINT64_MAX);
    CHECK(toolcore_done(inflight));
    finish("in time|" TIMEOUT("later"));
    close_flight();
}

TEST(a_tool_that_takes_too_long_in_its_callback_has_timed_out)
{
    static uint64_t hundred_and_one = 101;
    open_flight(0);
    add_tool("slow", ANYTHING, slow, &hundred_and_one, 100);
    begin("slow");
    finish(TIMEOUT("slow"));
    check_events("1000 called 0 new; 1000 timed_out 0 new = timed_out");
    CHECK_SIZE(stats().timed_out, 0);
    close_flight();
}

/* A tool that ends when it is asked to. */

TEST(a_cancel_function_that_returns_ok_leaves_nothing_in_flight)
{
    open_flight(0);
    add_later("later", 100);
    begin("later later");
    cancel_says = TOOLCORE_OK;
    CHECK(poll_at(1100) == NEVER);
    check_asked("#1 #2");
    CHECK(stats().in_flight == 0 && stats().abandoned == 0 && stats().timed_out == 2);
    /* It broke its word. */
    CHECK_STATUS(complete(1, "after all"), TOOLCORE_ERR_LATE);
    CHECK_STATUS(complete(1, "after all"), TOOLCORE_ERR_DOUBLED);
    finish(TIMEOUT("later") "|" TIMEOUT("later"));
    close_flight();
}

TEST(a_cancel_function_that_returns_anything_else_has_the_grace_period)
{
    static const toolcore_status_t says[] = { TOOLCORE_PENDING, TOOLCORE_ERR_TOOL, 77 };
    for (size_t i = 0; i < sizeof says / sizeof says[0]; i++) {
        open_flight(0);
        add_later("later", 100);
        begin("later");
        cancel_says = says[i];
        CHECK(poll_at(1100) == 2100);
        CHECK(stats().in_flight == 1 && stats().late == 0);
        now = 1200;
        CHECK_STATUS(complete(1, "stopped"), TOOLCORE_ERR_LATE);
        CHECK(stats().in_flight == 0 && stats().late == 1);
        CHECK_STATUS(complete(1, "stopped"), TOOLCORE_ERR_DOUBLED);
        CHECK(poll_at(5000) == NEVER);
        CHECK_SIZE(stats().abandoned, 0);
        finish(TIMEOUT("later"));
        check_events("1000 called 0 new; 1100 timed_out 0 #1 = timed_out; 1200 late 0 #1");
        close_flight();
    }
}

TEST(a_tool_without_a_cancel_function_is_waited_for)
{
    open_flight(0);
    add_tool("later", ANYTHING, later, NULL, 100);
    begin("later");
    CHECK(poll_at(1100) == 2100);
    CHECK_SIZE(stats().in_flight, 1);
    check_asked("");
    CHECK(poll_at(2100) == NEVER);
    CHECK_SIZE(stats().abandoned, 1);
    close_flight();
}

/* The host gives calls up. */

TEST(one_call_is_given_up_and_the_others_go_on)
{
    open_flight(0);
    add_later("later", 0);
    begin("later later later");
    CHECK_STATUS(complete(3, "done"), TOOLCORE_OK);
    CHECK_STATUS(toolcore_cancel(inflight, 1, now), TOOLCORE_OK);
    check_asked("#2");
    /* Again, and one that has its result. */
    CHECK_STATUS(toolcore_cancel(inflight, 1, now), TOOLCORE_OK);
    CHECK_STATUS(toolcore_cancel(inflight, 2, now), TOOLCORE_OK);
    check_asked("");
    CHECK(stats().cancelled == 1 && stats().open == 1 && stats().in_flight == 2);
    CHECK_STATUS(toolcore_cancel(inflight, 3, now), TOOLCORE_ERR_NOT_FOUND);
    CHECK_STATUS(toolcore_cancel(inflight, TOOLCORE_CALL_ALL - 1, now), TOOLCORE_ERR_NOT_FOUND);
    CHECK_STATUS(complete(2, "too late"), TOOLCORE_ERR_LATE);
    CHECK_STATUS(complete(1, "done too"), TOOLCORE_OK);
    finish("done too|" CANCELLED("later") "|done");
    CHECK_STATUS(toolcore_cancel(inflight, 0, now), TOOLCORE_ERR_NOT_FOUND);
    CHECK_STATUS(toolcore_cancel(inflight, TOOLCORE_CALL_ALL, now), TOOLCORE_ERR_NOT_FOUND);
    close_flight();
}

TEST(all_calls_are_given_up_also_those_that_have_not_begun)
{
    flight_opts.side_by_side = 1;
    open_flight(0);
    add_later("later", 0);
    add_tool("say", ANYTHING, say, "at once", 0);
    begin("say later later say");
    CHECK_STATUS(toolcore_cancel(inflight, TOOLCORE_CALL_ALL, now), TOOLCORE_OK);
    CHECK(toolcore_done(inflight));
    check_asked("#1");
    CHECK_TEXT(ran, strlen(ran), "say later");
    /* Those that never began are no calls in flight. */
    CHECK_SIZE(stats().cancelled, 1);
    check_events("1000 called 0 new; 1000 finished 0 new = answered; 1000 called 1 new; 1000 cancelled 1 #1 = cancelled; "
                 "1000 cancelled 2 none = cancelled; 1000 cancelled 3 none = cancelled");
    CHECK(poll_at(5000) == NEVER);
    CHECK_TEXT(ran, strlen(ran), "say later");
    finish("at once|" CANCELLED("later") "|" CANCELLED("later") "|" CANCELLED("say"));
    close_flight();
}

TEST(a_call_that_is_given_up_at_its_deadline_has_timed_out)
{
    open_flight(0);
    add_later("later", 100);
    begin("later");
    CHECK_STATUS(toolcore_cancel(inflight, 0, 1100), TOOLCORE_OK);
    CHECK(stats().timed_out == 1 && stats().cancelled == 0);
    finish(TIMEOUT("later"));
    close_flight();
}

TEST(a_turn_that_ends_early_has_a_result_for_every_call)
{
    flight_opts.side_by_side = 2;
    open_flight(0);
    add_later("later", 0);
    add_tool("say", ANYTHING, say, "at once", 0);
    begin("later say later later nope");
    CHECK_STATUS(complete(1, "done"), TOOLCORE_OK);
    finish("done|at once|" CANCELLED("later") "|" CANCELLED("later") "|" CANCELLED("nope"));
    CHECK(outcome.calls == 5 && outcome.answered == 2 && outcome.failed == 3);
    check_asked("#2");
    CHECK_STATUS(complete(2, "too late"), TOOLCORE_ERR_LATE);
    CHECK_SIZE(stats().in_flight, 0);
    close_flight();
}

/* How many at once. */

TEST(calls_begin_where_there_is_room)
{
    flight_opts.side_by_side = 2;
    open_flight(0);
    add_later("a", 0), add_later("b", 0), add_later("c", 0), add_later("d", 0);
    add_tool("say", ANYTHING, say, "at once", 0);
    begin("a say b c say d");
    CHECK_TEXT(ran, strlen(ran), "a say b");
    CHECK_STATUS(complete(2, "b"), TOOLCORE_OK);
    CHECK_TEXT(ran, strlen(ran), "a say b");
    CHECK(poll_at(1001) == NEVER);
    CHECK_TEXT(ran, strlen(ran), "a say b c");
    CHECK_STATUS(complete(3, "c"), TOOLCORE_OK);
    CHECK_STATUS(complete(1, "a"), TOOLCORE_OK);
    CHECK(poll_at(1002) == NEVER);
    CHECK_TEXT(ran, strlen(ran), "a say b c say d");
    CHECK_STATUS(complete(4, "d"), TOOLCORE_OK);
    finish("a|at once|b|c|at once|d");
    close_flight();
}

TEST(eight_wait_side_by_side_and_sixteen_are_in_flight_where_nothing_is_said)
{
    open_flight(0);
    add_later("x", 100);
    begin("x x x x x x x x x x");
    CHECK_SIZE(stats().in_flight, 8);
    /* Those that were asked to end have their place until they do. */
    CHECK(poll_at(1100) == 2100);
    CHECK(stats().in_flight == 8 && stats().open == 2);
    CHECK_STATUS(complete(1, ""), TOOLCORE_ERR_LATE);
    CHECK(poll_at(1101) == 1201);
    CHECK(stats().in_flight == 8 && stats().open == 2);
    /* Those are abandoned, the ninth times out, and the tenth begins. */
    CHECK(poll_at(2100) == 2200);
    CHECK(stats().abandoned == 7 && stats().timed_out == 9 && stats().in_flight == 2 && stats().open == 1);
    close_flight();

    flight_opts.side_by_side = 100;
    open_flight(0);
    add_later("x", 0);
    begin("x x x x x x x x x x x x x x x x x x");
    CHECK(stats().in_flight == 16 && stats().open == 18);
    CHECK_STATUS(complete(16, ""), TOOLCORE_OK);
    CHECK(poll_at(1001) == NEVER);
    CHECK(stats().in_flight == 16 && stats().open == 17);
    close_flight();
}

TEST(the_most_calls_in_flight_may_be_one)
{
    flight_opts.max_in_flight = 1;
    open_flight(0);
    add_later("x", 0);
    begin("x x x");
    for (size_t ticket = 1; ticket <= 3; ticket++) {
        CHECK_SIZE(stats().in_flight, 1);
        CHECK_SIZE(tickets_len, ticket);
        CHECK_STATUS(complete(ticket, "x"), TOOLCORE_OK);
        CHECK(poll_at(1000 + ticket) == NEVER);
    }
    finish("x|x|x");
    close_flight();
}

TEST(calls_beyond_the_limit_of_the_turn_are_answered_so)
{
    open_flight(0);
    add_later("later", 0);
    opts.max_calls = 2;
    begin("later later later later");
    CHECK_SIZE(stats().in_flight, 2);
    CHECK_STATUS(complete(2, "two"), TOOLCORE_OK);
    CHECK_STATUS(complete(1, "one"), TOOLCORE_OK);
    CHECK(toolcore_done(inflight));
    finish("one|two|!Not executed: at most 2 tool call(s) per turn allowed.|!Not executed: at most 2 tool call(s) per "
           "turn allowed.");
    check_events("1000 called 0 new; 1000 called 1 new; 1000 finished 2 none = over_limit; "
                 "1000 finished 3 none = over_limit; 1000 finished 1 #2 = answered; 1000 finished 0 #1 = answered");
    close_flight();
}

int main(void)
{
    RUN(results_have_the_order_of_the_calls_whatever_the_order_of_the_completions);
    RUN(a_call_is_due_at_its_deadline_and_in_time_until_it_is_polled_then);
    RUN(a_completion_after_the_deadline_is_late_though_nobody_had_polled);
    RUN(the_most_specific_timeout_applies_also_the_looser_one);
    RUN(a_tool_that_never_answers_is_asked_once_and_abandoned_after_its_grace_period);
    RUN(the_grace_period_may_be_set_and_may_be_none);
    RUN(a_clock_that_steps_back_does_no_harm);
    RUN(a_tool_that_takes_too_long_in_its_callback_has_timed_out);
    RUN(a_cancel_function_that_returns_ok_leaves_nothing_in_flight);
    RUN(a_cancel_function_that_returns_anything_else_has_the_grace_period);
    RUN(a_tool_without_a_cancel_function_is_waited_for);
    RUN(one_call_is_given_up_and_the_others_go_on);
    RUN(all_calls_are_given_up_also_those_that_have_not_begun);
    RUN(a_call_that_is_given_up_at_its_deadline_has_timed_out);
    RUN(a_turn_that_ends_early_has_a_result_for_every_call);
    RUN(calls_begin_where_there_is_room);
    RUN(eight_wait_side_by_side_and_sixteen_are_in_flight_where_nothing_is_said);
    RUN(the_most_calls_in_flight_may_be_one);
    RUN(calls_beyond_the_limit_of_the_turn_are_answered_so);
    return check_end();
}

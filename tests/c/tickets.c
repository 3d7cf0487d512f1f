/* Tickets of calls that answer later: late, doubled, stale and made-up ones; what callbacks may not do meanwhile; tools
 * and registries that go away. */
#include "flight.h"

#define NEVER UINT64_MAX
#define TIMEOUT(name) "![TOOL_TIMEOUT] Tool '" name "' timed out after 0.1s"
#define CANCELLED(name) "!Tool error: Tool '" name "' was cancelled"

static toolcore_result_t *result_of(const char *answer_text)
{
    toolcore_result_t *result = NULL;
    size_t need = toolcore_result_mem_size() + 512;
    CHECK_STATUS(toolcore_result_init(block(need), need, &result), TOOLCORE_OK);
    CHECK_STATUS(toolcore_result_text(result, text(answer_text)), TOOLCORE_OK);
    return result;
}

/* Brings a ticket in each way that there is. */
static void bring(uint64_t ticket, toolcore_status_t expected)
{
    CHECK_STATUS(toolcore_progress(inflight, ticket, now, 1, 2, text("half")), expected);
    CHECK_STATUS(toolcore_complete(inflight, ticket, now, result_of("answer")), expected);
    CHECK_STATUS(toolcore_complete_text(inflight, ticket, now, text("answer")), expected);
    CHECK_STATUS(toolcore_fail(inflight, ticket, now, text("failure")), expected);
}

static void bring_made_up(void)
{
    static const uint64_t made_up[] = { 0, 1, UINT32_MAX, UINT64_C(1) << 63, UINT64_MAX };
    for (size_t i = 0; i < sizeof made_up / sizeof made_up[0]; i++)
        bring(made_up[i], TOOLCORE_ERR_NOT_FOUND);
}

TEST(a_ticket_that_was_never_given_out_is_not_found_and_counted)
{
    open_flight(0);
    add_later("later", 0);
    /* Before the first turn. */
    bring_made_up();
    CHECK_SIZE(stats().unknown, 20);
    begin("later");
    bring_made_up();
    /* The next generation of a place, and a place that there is not. */
    bring(tickets[0] + (UINT64_C(1) << 32), TOOLCORE_ERR_NOT_FOUND);
    bring(tickets[0] + 16, TOOLCORE_ERR_NOT_FOUND);
    CHECK_SIZE(stats().unknown, 48);
    CHECK_STATUS(complete(1, "unharmed"), TOOLCORE_OK);
    finish("unharmed");
    bring_made_up();
    CHECK(stats().unknown == 68 && stats().stale == 0 && stats().doubled == 0 && stats().late == 0);
    close_flight();
}

TEST(a_ticket_that_comes_again_is_doubled_until_its_place_is_taken_and_stale_then)
{
    open_flight(0);
    add_later("later", 0);
    begin("later");
    CHECK_STATUS(complete(1, "first"), TOOLCORE_OK);
    bring(tickets[0], TOOLCORE_ERR_DOUBLED);
    finish("first");
    bring(tickets[0], TOOLCORE_ERR_DOUBLED);
    CHECK_SIZE(stats().doubled, 8);
    begin("later");
    bring(tickets[0], TOOLCORE_ERR_STALE);
    CHECK_STATUS(complete(2, "second"), TOOLCORE_OK);
    finish("second");
    bring(tickets[0], TOOLCORE_ERR_STALE);
    CHECK(stats().stale == 8 && stats().doubled == 8 && stats().completed == 2 && stats().unknown == 0);
    close_flight();
}

TEST(a_ticket_after_a_cancel_is_late_whatever_brings_it)
{
    for (int way = 0; way < 3; way++) {
        open_flight(0);
        add_later("later", 0);
        begin("later");
        CHECK_STATUS(toolcore_cancel(inflight, 0, now), TOOLCORE_OK);
        /* Progress does not end it. */
        CHECK_STATUS(toolcore_progress(inflight, tickets[0], now, 1, 2, text("half")), TOOLCORE_ERR_LATE);
        CHECK_SIZE(stats().in_flight, 1);
        CHECK_STATUS(way == 0   ? toolcore_complete(inflight, tickets[0], now, result_of("answer"))
                     : way == 1 ? toolcore_complete_text(inflight, tickets[0], now, text("answer"))
                                : toolcore_fail(inflight, tickets[0], now, text("failure")),
                     TOOLCORE_ERR_LATE);
        CHECK(stats().in_flight == 0 && stats().late == 2);
        bring(tickets[0], TOOLCORE_ERR_DOUBLED);
        finish(CANCELLED("later"));
        check_events("1000 called 0 new; 1000 cancelled 0 #1 = cancelled; 1000 late 0 #1");
        close_flight();
    }
}

TEST(no_two_calls_of_many_turns_have_one_ticket)
{
    flight_opts.max_in_flight = 3;
    open_flight(0);
    add_later("later", 0);
    for (int turn = 0; turn < 200; turn++) {
        size_t before = tickets_len;
        begin("later later later");
        /* One is answered, one is given up and ends late, and one is given up and abandoned. */
        CHECK_STATUS(complete(before + 1, "x"), TOOLCORE_OK);
        finish("x|" CANCELLED("later") "|" CANCELLED("later"));
        CHECK_STATUS(complete(before + 2, "x"), TOOLCORE_ERR_LATE);
        CHECK(poll_at(now + 1000) == NEVER);
        events[0] = asked[0] = ran[0] = 0;
    }
    CHECK_SIZE(tickets_len, 600);
    for (size_t i = 0; i < tickets_len; i++)
        for (size_t j = 0; j < i; j++)
            CHECK(tickets[i] != tickets[j]);
    /* None of the earlier turns does anything. */
    begin("later later later");
    for (size_t ticket = 1; ticket <= 600; ticket++)
        CHECK_STATUS(complete(ticket, "from long ago"), TOOLCORE_ERR_STALE);
    CHECK_SIZE(stats().stale, 600);
    CHECK_SIZE(stats().open, 3);
    CHECK(stats().completed == 200 && stats().cancelled == 400 && stats().abandoned == 200 && stats().late == 200);
    close_flight();
}

TEST(what_an_earlier_turn_left_is_served_in_a_later_one)
{
    open_flight(0);
    add_later("later", 0);
    begin("later later later");
    finish(CANCELLED("later") "|" CANCELLED("later") "|" CANCELLED("later"));
    check_asked("#1 #2 #3");
    CHECK_SIZE(stats().in_flight, 3);
    CHECK_STATUS(complete(1, "no turn"), TOOLCORE_ERR_LATE);
    events[0] = 0;
    now = 1500;
    begin("later");
    CHECK_STATUS(complete(2, "another turn"), TOOLCORE_ERR_LATE);
    CHECK(poll_at(2000) == NEVER);
    CHECK_STATUS(complete(4, "of this turn"), TOOLCORE_OK);
    check_asked("");
    check_events("1500 called 0 new; 1500 late 1 #2; 2000 abandoned 2 #3; 2000 finished 0 #4 = answered");
    CHECK(stats().in_flight == 0 && stats().abandoned == 1 && stats().late == 2);
    finish("of this turn");
    close_flight();
}

/* What is in use. */

static toolcore_inflight_t *other_flight;
static toolcore_mailbox_t *mailbox;
static const toolcore_reply_t *another_reply;
static char used_from[512];

/* Every function that takes the object, from a callback. */
static void use_it(const char *from)
{
    uint64_t next = 7;
    size_t written = 7, received = 7;
    char out[64] = "as it was";
    static char mem[4096];
    toolcore_inflight_stats_t got = TOOLCORE_INFLIGHT_STATS_INIT;
    toolcore_outcome_t became = TOOLCORE_OUTCOME_INIT;
    toolcore_detail_t said = TOOLCORE_DETAIL_INIT;
    AT(from);
    append(used_from, sizeof used_from, used_from[0] == 0 ? "" : " ");
    append(used_from, sizeof used_from, from);
    got.completed = 7, became.calls = 7;
    CHECK_STATUS(toolcore_start(inflight, tools, another_reply, &opts, mem, sizeof mem, now, &said), TOOLCORE_ERR_BUSY);
    CHECK(said.status == TOOLCORE_ERR_BUSY && contains(said.message, said.message_len, "in use"));
    CHECK_STATUS(toolcore_poll(inflight, now + 1000000, &next, &said), TOOLCORE_ERR_BUSY);
    CHECK_STATUS(toolcore_finish(inflight, now, out, sizeof out, &written, &became, &said), TOOLCORE_ERR_BUSY);
    CHECK_STATUS(toolcore_cancel(inflight, TOOLCORE_CALL_ALL, now), TOOLCORE_ERR_BUSY);
    CHECK_STATUS(toolcore_inflight_stats(inflight, &got), TOOLCORE_ERR_BUSY);
    CHECK_STATUS(toolcore_receive(inflight, mailbox, now, &received), TOOLCORE_ERR_BUSY);
    for (size_t i = 0; i < tickets_len; i++)
        bring(tickets[i], TOOLCORE_ERR_BUSY);
    bring(0, TOOLCORE_ERR_BUSY);
    CHECK(!toolcore_done(inflight));
    toolcore_inflight_deinit(inflight);
    CHECK(next == 7 && got.completed == 7 && became.calls == 7 && received == 7);
    CHECK_SIZE(written, 0);
    CHECK(strcmp(out, "as it was") == 0);
    AT(NULL);
}

static toolcore_status_t using_run(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    toolcore_status_t status = later(user_data, call, result);
    use_it("run");
    return status;
}
static toolcore_status_t using_cancel(void *user_data, uint64_t ticket)
{
    use_it("cancel");
    return ask(user_data, ticket);
}
static void using_event(void *user_data, const toolcore_event_t *event)
{
    (void)user_data;
    (void)event;
    use_it("event");
}
static toolcore_status_t using_before(void *user_data, toolcore_draft_t *draft)
{
    (void)user_data;
    (void)draft;
    use_it("before");
    return TOOLCORE_OK;
}
static void using_after(void *user_data, const toolcore_tool_call_t *call, toolcore_result_t *result)
{
    (void)user_data;
    (void)call;
    (void)result;
    use_it("after");
}
static void using_observe(void *user_data, const toolcore_tool_call_t *call, uint32_t kind, const toolcore_result_t *result)
{
    (void)user_data;
    (void)call;
    (void)kind;
    (void)result;
    use_it("observe");
}
static void using_changed(void *user_data, toolcore_str_t name, toolcore_str_t path, toolcore_str_t rule)
{
    (void)user_data;
    (void)name;
    (void)path;
    (void)rule;
    use_it("changed");
}
static uint64_t using_clock(void *user_data)
{
    use_it("clock");
    return now_ms(user_data);
}

TEST(what_a_callback_does_with_the_object_is_busy_and_breaks_nothing)
{
    toolcore_clock_t clock = { sizeof clock, NULL, using_clock };
    toolcore_hook_t hook = TOOLCORE_HOOK_INIT;
    toolcore_inflight_opts_t own = TOOLCORE_INFLIGHT_OPTS_INIT;
    toolcore_tool_t tool;
    size_t need = toolcore_mailbox_mem_size(1, 8);
    open_flight(0);
    toolcore_inflight_deinit(inflight);
    own.event = using_event;
    own.side_by_side = 2;
    CHECK_STATUS(toolcore_inflight_init(&own, block(toolcore_inflight_mem_size(&own)), toolcore_inflight_mem_size(&own),
                                        &inflight),
                 TOOLCORE_OK);
    CHECK_STATUS(toolcore_mailbox_init(block(need), need, &mailbox), TOOLCORE_OK);
    another_reply = calls("later");
    tool = later_tool("later", 100);
    tool.schema = text("{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}");
    tool.flags = TOOLCORE_TOOL_LAST_WINS;
    tool.run = using_run;
    tool.cancel = using_cancel;
    CHECK_STATUS(toolcore_registry_add(tools, &tool, NULL), TOOLCORE_OK);
    hook.before = using_before;
    hook.after = using_after;
    CHECK_STATUS(toolcore_registry_add_hook(tools, &hook), TOOLCORE_OK);
    opts.clock = &clock;
    opts.observe = using_observe;
    opts.changed = using_changed;

    static char mem[4096];
    toolcore_reply_t *reply = NULL;
    used_from[0] = 0;
    CHECK_STATUS(toolcore_reply_parse(ANTHROPIC, text(one_call(ANTHROPIC, "later", "{\"n\":1,\"n\":2}")), NULL, mem,
                                      sizeof mem, &reply, NULL),
                 TOOLCORE_OK);
    CHECK_STATUS(begin_reply(reply), TOOLCORE_OK);
    CHECK_TEXT(used_from, strlen(used_from), "before changed event clock run");
    CHECK_SIZE(tickets_len, 1);
    used_from[0] = 0;
    CHECK_STATUS(toolcore_progress(inflight, tickets[0], now, 1, 2, text("half")), TOOLCORE_OK);
    CHECK_STATUS(complete(1, "unharmed"), TOOLCORE_OK);
    CHECK_TEXT(used_from, strlen(used_from), "event after event observe");
    finish("unharmed");

    begin("later later later");
    used_from[0] = 0;
    CHECK(poll_at(1100) == 2100);
    CHECK_TEXT(used_from, strlen(used_from), "event observe cancel event observe cancel");
    used_from[0] = 0;
    CHECK_STATUS(complete(2, "too late"), TOOLCORE_ERR_LATE);
    CHECK_TEXT(used_from, strlen(used_from), "event");
    used_from[0] = 0;
    finish(TIMEOUT("later") "|" TIMEOUT("later") "|" CANCELLED("later"));
    CHECK_TEXT(used_from, strlen(used_from), "event observe");
    used_from[0] = 0;
    CHECK(poll_at(2100) == NEVER);
    CHECK_TEXT(used_from, strlen(used_from), "event");
    CHECK(stats().completed == 1 && stats().timed_out == 2 && stats().abandoned == 1 && stats().late == 1);
    CHECK(stats().doubled == 0 && stats().stale == 0 && stats().unknown == 0);
    toolcore_mailbox_deinit(mailbox);
    close_flight();
    CHECK_STATUS(toolcore_poll(inflight, now, NULL, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
}

/* Answers with what the registry answers to another reply, and completes a call of another object. */
static toolcore_status_t nested(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    static char scratch[8192], out[1024];
    size_t out_len = 0;
    (void)user_data;
    (void)call;
    CHECK_STATUS(toolcore_answer(tools, MCP, text(one_call(MCP, "say", "{}")), &opts, scratch, sizeof scratch, out,
                                 sizeof out, &out_len, NULL, NULL),
                 TOOLCORE_OK);
    CHECK_STATUS(toolcore_complete_text(other_flight, tickets[0], now, text("by a callback")), TOOLCORE_OK);
    return toolcore_result_text(result, (toolcore_str_t){ out, out_len });
}

TEST(a_callback_may_dispatch_over_the_registry_and_use_another_object)
{
    open_flight(0);
    size_t need = toolcore_inflight_mem_size(NULL);
    add_later("later", 0);
    add_tool("say", ANYTHING, say, "inner", 0);
    add_tool("nested", ANYTHING, nested, NULL, 0);
    begin("later");
    other_flight = inflight;
    CHECK_STATUS(toolcore_inflight_init(NULL, block(need), need, &inflight), TOOLCORE_OK);
    begin("nested");
    finish("{\"content\":[{\"type\":\"text\",\"text\":\"inner\"}]}");
    toolcore_inflight_deinit(inflight);
    inflight = other_flight;
    finish("by a callback");
    close_flight();
}

TEST(a_turn_is_finished_before_the_next_one_starts)
{
    toolcore_reply_t *second;
    open_flight(0);
    add_later("later", 0);
    begin("later");
    second = calls("later later");
    CHECK_STATUS(begin_reply(second), TOOLCORE_ERR_BUSY);
    CHECK(why.status == TOOLCORE_ERR_BUSY && contains(why.message, why.message_len, "toolcore_finish"));
    CHECK(tickets_len == 1 && stats().open == 1);
    CHECK_STATUS(complete(1, "still the first"), TOOLCORE_OK);
    /* Also one that is done. */
    CHECK_STATUS(begin_reply(second), TOOLCORE_ERR_BUSY);
    finish("still the first");
    CHECK_STATUS(begin_reply(second), TOOLCORE_OK);
    finish(CANCELLED("later") "|" CANCELLED("later"));
    close_flight();
}

/* Tools and registries that change. */

static char whom[64];

static toolcore_status_t ask_by_name(void *user_data, uint64_t ticket)
{
    append(whom, sizeof whom, user_data);
    return ask(user_data, ticket);
}

static void add_named(const char *name, uint64_t timeout_ms)
{
    toolcore_tool_t tool = later_tool(name, timeout_ms);
    tool.cancel = ask_by_name;
    tool.user_data = (void *)(uintptr_t)name;
    CHECK_STATUS(toolcore_registry_add(tools, &tool, NULL), TOOLCORE_OK);
}

static void let_go(void *user_data)
{
    ++*(int *)user_data;
}

TEST(a_tool_that_was_removed_is_let_go_at_once_and_asked_nothing)
{
    int drops = 0;
    toolcore_tool_t tool = later_tool("later", 100);
    tool.user_data = &drops;
    tool.drop = let_go;
    open_flight(0);
    CHECK_STATUS(toolcore_registry_add(tools, &tool, NULL), TOOLCORE_OK);
    begin("later later later");
    CHECK_STATUS(toolcore_registry_remove(tools, text("later")), TOOLCORE_OK);
    CHECK_SIZE(drops, 1);
    CHECK_STATUS(complete(1, "all the same"), TOOLCORE_OK);
    CHECK_STATUS(toolcore_cancel(inflight, 1, now), TOOLCORE_OK);
    /* Another of its name is another tool. */
    add_named("later", 100);
    CHECK(poll_at(1100) == 2000);
    check_asked("");
    CHECK_SIZE(stats().in_flight, 2);
    CHECK(poll_at(2000) == 2100);
    CHECK(poll_at(2100) == NEVER);
    CHECK_SIZE(stats().abandoned, 2);
    finish("all the same|" CANCELLED("later") "|" TIMEOUT("later"));
    close_flight();
    CHECK_SIZE(drops, 1);
}

TEST(the_tools_that_are_left_are_asked_wherever_they_stand_now)
{
    open_flight(0);
    whom[0] = 0;
    add_named("a", 0), add_named("b", 0), add_named("c", 0);
    begin("a b c");
    CHECK_STATUS(toolcore_registry_remove(tools, text("a")), TOOLCORE_OK);
    add_named("d", 0);
    CHECK_STATUS(toolcore_cancel(inflight, TOOLCORE_CALL_ALL, now), TOOLCORE_OK);
    check_asked("#2 #3");
    CHECK(strcmp(whom, "bc") == 0);
    finish(CANCELLED("a") "|" CANCELLED("b") "|" CANCELLED("c"));
    close_flight();
}

TEST(calls_begin_with_the_tools_that_there_are_then)
{
    flight_opts.side_by_side = 1;
    open_flight(0);
    add_later("a", 0), add_later("gone", 0);
    begin("a gone new");
    CHECK_STATUS(toolcore_registry_remove(tools, text("gone")), TOOLCORE_OK);
    add_tool("new", ANYTHING, say, "new", 0);
    CHECK_STATUS(complete(1, "a"), TOOLCORE_OK);
    CHECK(poll_at(1001) == NEVER);
    CHECK(toolcore_done(inflight));
    finish("a|!Tool error: Unknown tool: 'gone'. Available: a, new|new");
    close_flight();
}

TEST(a_registry_that_ends_in_the_middle_of_a_turn_is_found_out)
{
    uint64_t next = 7;
    size_t received = 7, need = toolcore_mailbox_mem_size(1, 8);
    open_flight(0);
    add_later("later", 100);
    begin("later");
    CHECK_STATUS(toolcore_mailbox_init(block(need), need, &mailbox), TOOLCORE_OK);
    CHECK_STATUS(toolcore_mailbox_complete_text(mailbox, tickets[0], now, text("x")), TOOLCORE_OK);
    toolcore_registry_deinit(tools);
    CHECK_STATUS(toolcore_poll(inflight, 5000, &next, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    bring(tickets[0], TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_cancel(inflight, 0, now), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_receive(inflight, mailbox, now, &received), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK(!toolcore_mailbox_is_empty(mailbox) && received == 7);
    CHECK_STATUS(toolcore_finish(inflight, now, buf, sizeof buf, &len, NULL, &why), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_SIZE(len, 0);
    CHECK(next == 7 && stats().open == 1 && stats().in_flight == 1);
    check_asked("");
    toolcore_mailbox_deinit(mailbox);
    toolcore_inflight_deinit(inflight);
}

TEST(once_the_turn_is_finished_its_registry_and_its_reply_may_go)
{
    size_t need = toolcore_registry_mem_size(NULL);
    void *memory = malloc(need);
    toolcore_reply_t *reply;
    open_flight(0);
    toolcore_registry_deinit(tools);
    CHECK_STATUS(toolcore_registry_init(NULL, memory, need, &tools), TOOLCORE_OK);
    add_later("later", 100);
    reply = calls("later later");
    CHECK_STATUS(begin_reply(reply), TOOLCORE_OK);
    finish(CANCELLED("later") "|" CANCELLED("later"));
    check_asked("#1 #2");
    toolcore_reply_deinit(reply);
    toolcore_registry_deinit(tools);
    free(memory);
    CHECK(poll_at(1001) == 2000);
    CHECK_STATUS(toolcore_progress(inflight, tickets[0], now, 1, 2, text("half")), TOOLCORE_ERR_LATE);
    CHECK_STATUS(complete(1, "late"), TOOLCORE_ERR_LATE);
    CHECK_STATUS(toolcore_cancel(inflight, 0, now), TOOLCORE_ERR_NOT_FOUND);
    CHECK(poll_at(2000) == NEVER);
    CHECK(stats().abandoned == 1 && stats().late == 2 && stats().in_flight == 0);
    toolcore_inflight_deinit(inflight);
}

TEST(after_its_end_the_object_is_a_status)
{
    toolcore_inflight_stats_t got = TOOLCORE_INFLIGHT_STATS_INIT;
    toolcore_reply_t *reply;
    open_flight(0);
    add_later("later", 0);
    begin("later");
    reply = calls("later");
    events[0] = 0;
    toolcore_inflight_deinit(inflight);
    toolcore_inflight_deinit(inflight);
    /* Nobody is told, and nobody is asked. */
    check_events("");
    check_asked("");
    CHECK_STATUS(begin_reply(reply), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_poll(inflight, now, NULL, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_finish(inflight, now, buf, sizeof buf, &len, NULL, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_inflight_stats(inflight, &got), TOOLCORE_ERR_INVALID_ARGUMENT);
    bring(tickets[0], TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK(toolcore_done(inflight));
    toolcore_registry_deinit(tools);
}

int main(void)
{
    RUN(a_ticket_that_was_never_given_out_is_not_found_and_counted);
    RUN(a_ticket_that_comes_again_is_doubled_until_its_place_is_taken_and_stale_then);
    RUN(a_ticket_after_a_cancel_is_late_whatever_brings_it);
    RUN(no_two_calls_of_many_turns_have_one_ticket);
    RUN(what_an_earlier_turn_left_is_served_in_a_later_one);
    RUN(what_a_callback_does_with_the_object_is_busy_and_breaks_nothing);
    RUN(a_callback_may_dispatch_over_the_registry_and_use_another_object);
    RUN(a_turn_is_finished_before_the_next_one_starts);
    RUN(a_tool_that_was_removed_is_let_go_at_once_and_asked_nothing);
    RUN(the_tools_that_are_left_are_asked_wherever_they_stand_now);
    RUN(calls_begin_with_the_tools_that_there_are_then);
    RUN(a_registry_that_ends_in_the_middle_of_a_turn_is_found_out);
    RUN(once_the_turn_is_finished_its_registry_and_its_reply_may_go);
    RUN(after_its_end_the_object_is_a_status);
    return check_end();
}

/* Turns of calls that answer later: their memory, what is kept of results, how they are finished, and who is told. */
#include "flight.h"

#define NEVER UINT64_MAX
#define CANCELLED(name) "!Tool error: Tool '" name "' was cancelled"
#define SIZE_MOST ((size_t)-1)

/* Finishing. */

TEST(a_turn_is_measured_and_finished_into_exactly_that_room)
{
    size_t need = 7, wrote = 7;
    open_flight(0);
    add_later("later", 0);
    begin("later later");
    CHECK_STATUS(complete(1, "done"), TOOLCORE_OK);
    CHECK_STATUS(toolcore_finish(inflight, now, NULL, 0, &need, NULL, NULL), TOOLCORE_OK);
    /* That has given up what was open, and the turn is still there. */
    CHECK(toolcore_done(inflight) && stats().cancelled == 1);
    CHECK_STATUS(complete(2, "too late"), TOOLCORE_ERR_LATE);
    CHECK_STATUS(toolcore_finish(inflight, now, NULL, 0, &wrote, NULL, NULL), TOOLCORE_OK);
    CHECK_SIZE(wrote, need);
    char *exactly = block(need);
    CHECK_STATUS(toolcore_finish(inflight, now, exactly, need, &wrote, NULL, NULL), TOOLCORE_OK);
    CHECK_TEXT(exactly, wrote,
               "[{\"role\":\"user\",\"content\":["
               "{\"type\":\"tool_result\",\"tool_use_id\":\"c0\",\"content\":\"done\"},"
               "{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"content\":\"Tool error: Tool 'later' was cancelled\","
               "\"is_error\":true}]}]");
    CHECK_SIZE(wrote, need);
    CHECK_STATUS(toolcore_finish(inflight, now, buf, sizeof buf, &wrote, NULL, &why), TOOLCORE_ERR_NOT_FOUND);
    CHECK(wrote == 0 && buf[0] == 0 && contains(why.message, why.message_len, "no turn"));
    close_flight();
}

TEST(a_buffer_below_the_least_leaves_the_turn_and_a_larger_one_cuts_results)
{
    static char longer[2000];
    size_t need = 0, wrote = 0, size = 0, named_least = 0;
    memset(longer, 'x', sizeof longer - 1);
    open_flight(0);
    add_later("later", 0);
    begin("later later");
    CHECK_STATUS(complete(1, "short"), TOOLCORE_OK);
    CHECK_STATUS(complete(2, longer), TOOLCORE_OK);
    CHECK_STATUS(toolcore_finish(inflight, now, NULL, 0, &need, NULL, NULL), TOOLCORE_OK);
    for (size = 1;; size++) {
        toolcore_detail_t said = TOOLCORE_DETAIL_INIT;
        toolcore_outcome_t became = TOOLCORE_OUTCOME_INIT;
        char *exactly = block(size);
        became.calls = 7;
        toolcore_status_t status = toolcore_finish(inflight, now, exactly, size, &wrote, &became, &said);
        if (status == TOOLCORE_OK) {
            CHECK(wrote <= size);
            memcpy(buf, exactly, len = wrote);
            CHECK(became.calls == 2 && became.answered == 2);
            break;
        }
        CHECK_STATUS(status, TOOLCORE_ERR_NO_SPACE);
        CHECK(said.need == wrote && wrote > size && exactly[0] == 0 && became.calls == 7);
        CHECK(named_least == 0 || named_least == wrote);
        named_least = wrote;
        if (size > 2000 || check_failed > 0)
            break;
    }
    CHECK_SIZE(size, named_least);
    CHECK(size < need);
    CHECK_STATUS(toolcore_json_validate((toolcore_str_t){ buf, len }, NULL, NULL), TOOLCORE_OK);
    CHECK(contains(buf, len, "\"c0\",\"content\":\"short\"") && contains(buf, len, "[truncated, "));
    CHECK_STATUS(toolcore_cancel(inflight, 0, now), TOOLCORE_ERR_NOT_FOUND);
    close_flight();
}

TEST(a_reply_without_calls_is_finished_with_nothing)
{
    toolcore_outcome_t became = TOOLCORE_OUTCOME_INIT;
    open_flight(0);
    begin("");
    CHECK(toolcore_done(inflight) && poll_at(1001) == NEVER);
    became.calls = 7;
    len = 7;
    CHECK_STATUS(toolcore_finish(inflight, now, buf, sizeof buf, &len, &became, NULL), TOOLCORE_OK);
    CHECK(len == 0 && became.calls == 0 && became.finish == TOOLCORE_FINISH_COMPLETE);
    CHECK_STATUS(toolcore_finish(inflight, now, buf, sizeof buf, &len, &became, NULL), TOOLCORE_ERR_NOT_FOUND);
    check_events("");
    close_flight();
}

TEST(the_options_of_the_turn_hold_for_its_messages)
{
    open_flight(0);
    add_later("later", 0);
    opts.flags = TOOLCORE_ANSWER_BARE;
    opts.result_limit = 4;
    begin("later");
    CHECK_STATUS(complete(1, "longer"), TOOLCORE_OK);
    CHECK_STATUS(toolcore_finish(inflight, now, buf, sizeof buf, &len, NULL, NULL), TOOLCORE_OK);
    CHECK_TEXT(buf, len,
               "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c0\","
               "\"content\":\"long\xE2\x80\xA6 [truncated, 4 of 6 bytes]\"}]}");
    close_flight();
}

/* Memory. */

TEST(memory_of_the_size_that_is_named_is_enough_at_any_alignment_and_a_start_names_what_is)
{
    toolcore_reply_t *reply;
    size_t need, refused = 0;
    flight_opts.flags = TOOLCORE_INFLIGHT_NO_GRACE;
    open_flight(0);
    add_later("later", 0);
    add_tool("say", ANYTHING, say, "at once", 0);
    reply = calls("later say later");
    need = toolcore_start_mem_size(3, 0);
    for (size_t at = 0; at < 16; at++) {
        char *memory = block(need + at);
        CHECK_STATUS(begin_in(reply, memory + at, need), TOOLCORE_OK);
        CHECK_STATUS(complete(tickets_len, "x"), TOOLCORE_OK);
        finish(CANCELLED("later") "|at once|x");
    }
    for (size_t size = 1; size < need; size += size < 64 ? 1 : 5) {
        events[0] = asked[0] = ran[0] = 0;
        toolcore_status_t status = begin_in(reply, block(size), size);
        if (status != TOOLCORE_OK) {
            CHECK_STATUS(status, TOOLCORE_ERR_NO_SPACE);
            CHECK_STATUS(toolcore_cancel(inflight, 0, now), TOOLCORE_ERR_NOT_FOUND);
            CHECK(ran[0] == 0 && why.need > size);
            refused++;
            char *memory = block(why.need + 1);
            CHECK_STATUS(begin_in(reply, memory + 1, why.need), TOOLCORE_OK);
        }
        CHECK_STATUS(complete(tickets_len, "x"), TOOLCORE_OK);
        finish(CANCELLED("later") "|at once|x");
    }
    CHECK(refused > 100);
    close_flight();
}

TEST(an_object_of_the_size_that_is_named_has_room_at_any_alignment)
{
    for (size_t places = 1; places < 20; places += 6) {
        toolcore_inflight_opts_t own = TOOLCORE_INFLIGHT_OPTS_INIT;
        size_t need;
        own.max_in_flight = places;
        need = toolcore_inflight_mem_size(&own);
        for (size_t at = 0; at < 16; at++) {
            char *memory = block(need + at);
            CHECK_STATUS(toolcore_inflight_init(&own, memory + at, need, &inflight), TOOLCORE_OK);
            toolcore_inflight_deinit(inflight);
        }
        for (size_t size = 1; size + 16 < need; size += 11) {
            inflight = (toolcore_inflight_t *)&own;
            CHECK_STATUS(toolcore_inflight_init(&own, block(size), size, &inflight), TOOLCORE_ERR_NO_SPACE);
            CHECK(inflight == NULL);
        }
    }
}

TEST(sizes_beyond_all_memory_are_the_greatest_and_of_bad_options_nothing)
{
    toolcore_inflight_opts_t own = TOOLCORE_INFLIGHT_OPTS_INIT;
    CHECK_SIZE(toolcore_start_mem_size(SIZE_MOST, 0), SIZE_MOST);
    CHECK_SIZE(toolcore_start_mem_size(1, SIZE_MOST), SIZE_MOST);
    CHECK_SIZE(toolcore_start_mem_size(SIZE_MOST, SIZE_MOST), SIZE_MOST);
    own.max_in_flight = SIZE_MOST;
    CHECK_SIZE(toolcore_inflight_mem_size(&own), SIZE_MOST);
    inflight = (toolcore_inflight_t *)&own;
    CHECK_STATUS(toolcore_inflight_init(&own, buf, sizeof buf, &inflight), TOOLCORE_ERR_NO_SPACE);
    CHECK(inflight == NULL);
    own.max_in_flight = 0;
    own.flags = 2;
    CHECK_SIZE(toolcore_inflight_mem_size(&own), 0);
    CHECK_STATUS(toolcore_inflight_init(&own, buf, sizeof buf, &inflight), TOOLCORE_ERR_UNSUPPORTED);
    own.flags = 0;
    own.struct_size = 3;
    CHECK_SIZE(toolcore_inflight_mem_size(&own), 0);
    CHECK_STATUS(toolcore_inflight_init(&own, buf, sizeof buf, &inflight), TOOLCORE_ERR_INVALID_ARGUMENT);
}

TEST(results_of_the_size_that_was_asked_for_are_kept_whole)
{
    static const size_t sizes[] = { 0, 1, 100, 1000, 5000 };
    static char answer_text[5001], expected[41000];
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (size_t rounds = 1; rounds <= 8; rounds += 7) {
            static const char *const names[] = { "later", "later say say later later say later later" };
            toolcore_reply_t *reply;
            size_t need, ticket = 0;
            memset(answer_text, 'x', sizeof answer_text);
            answer_text[sizes[i]] = expected[0] = 0;
            for (size_t at = 0; at < rounds; at++) {
                append(expected, sizeof expected, at > 0 ? "|" : "");
                append(expected, sizeof expected, answer_text);
            }
            open_flight(0);
            add_later("later", 0);
            add_tool("say", ANYTHING, say, answer_text, 0);
            reply = calls(names[rounds > 1]);
            need = toolcore_start_mem_size(rounds, sizes[i]);
            CHECK_STATUS(begin_in(reply, block(need), need), TOOLCORE_OK);
            while (ticket < tickets_len)
                CHECK_STATUS(complete(++ticket, answer_text), TOOLCORE_OK);
            CHECK_STATUS(toolcore_finish(inflight, now, NULL, 0, &need, NULL, NULL), TOOLCORE_OK);
            char *all = block(need);
            CHECK_STATUS(toolcore_finish(inflight, now, all, need, &len, NULL, NULL), TOOLCORE_OK);
            CHECK(!contains(all, len, "truncated") && len > rounds * sizes[i]);
            if (sizes[i] > 0 && rounds * (sizes[i] + 1) < 8100) {
                memcpy(buf, all, len);
                check_read(expected);
            }
            close_flight();
        }
}

TEST(a_result_beyond_its_share_is_cut_and_the_others_have_theirs)
{
    static char longer[6000];
    toolcore_reply_t *reply;
    size_t need;
    memset(longer, 'x', sizeof longer - 1);
    open_flight(0);
    add_later("later", 0);
    reply = calls("later later later");
    need = toolcore_start_mem_size(3, 0);
    CHECK_STATUS(begin_in(reply, block(need), need), TOOLCORE_OK);
    CHECK_STATUS(complete(1, longer), TOOLCORE_OK);
    CHECK_STATUS(complete(2, longer), TOOLCORE_OK);
    CHECK_STATUS(toolcore_fail(inflight, tickets[2], now, text("a short one is whole")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_finish(inflight, now, buf, sizeof buf, &len, NULL, NULL), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_validate((toolcore_str_t){ buf, len }, NULL, NULL), TOOLCORE_OK);
    CHECK(contains(buf, len, "of 5,999 bytes]\"},{") && contains(buf, len, "\"Tool error: a short one is whole\""));
    close_flight();
}

/* What a callback keeps of the text of a result. */
static toolcore_str_t own;
static void keep_text(void *user_data, const toolcore_event_t *event)
{
    toolcore_part_t part = TOOLCORE_PART_INIT;
    (void)user_data;
    if (event->result == NULL)
        return;
    CHECK_STATUS(toolcore_result_part(event->result, 0, &part), TOOLCORE_OK);
    own = part.text;
}

TEST(memory_that_is_used_is_found_out)
{
    toolcore_inflight_opts_t told_opts = TOOLCORE_INFLIGHT_OPTS_INIT;
    toolcore_reply_t *reply = NULL;
    size_t need = toolcore_start_mem_size(2, 256), reply_need, wrote = 7;
    /* The text of the reply, its object, the turn, and what is free, one after the other. */
    char *all = block(20000), *turn = all + 8000;
    open_flight(0);
    toolcore_inflight_deinit(inflight);
    told_opts.event = keep_text;
    CHECK_STATUS(toolcore_inflight_init(&told_opts, block(4096), 4096, &inflight), TOOLCORE_OK);
    add_later("later", 0);
    snprintf(all, 4000, "{\"content\":[{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"later\",\"input\":{}},"
                        "{\"type\":\"tool_use\",\"id\":\"2\",\"name\":\"later\",\"input\":{}}]}");
    CHECK_STATUS(toolcore_reply_mem_size(ANTHROPIC, text(all), NULL, &reply_need, NULL), TOOLCORE_OK);
    CHECK(reply_need < 4000 && need < 4000);
    CHECK_STATUS(toolcore_reply_parse(ANTHROPIC, text(all), NULL, all + 4000, reply_need, &reply, NULL), TOOLCORE_OK);
    char *const bad[] = { all, all + strlen(all) - 1, all + 4000, all + 4000 + reply_need - 1 };
    for (size_t i = 0; i < 4; i++)
        CHECK_STATUS(toolcore_start(inflight, tools, reply, &opts, bad[i], need, now, &why), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_SIZE(tickets_len, 0);
    CHECK_STATUS(toolcore_start(inflight, tools, reply, &opts, turn, need, now, NULL), TOOLCORE_OK);
    CHECK_STATUS(complete(1, "kept"), TOOLCORE_OK);
    CHECK(own.ptr >= turn && own.ptr < turn + need);
    CHECK_STATUS(toolcore_complete_text(inflight, tickets[1], now, own), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_fail(inflight, tickets[1], now, own), TOOLCORE_ERR_INVALID_ARGUMENT);
    char *const outs[] = { all, all + 4000, turn, turn + need - 1 };
    for (size_t i = 0; i < 4; i++) {
        CHECK_STATUS(toolcore_finish(inflight, now, outs[i], 1000, &wrote, NULL, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
        CHECK_SIZE(wrote, 0);
    }
    CHECK_SIZE(stats().open, 1);
    CHECK_STATUS(toolcore_finish(inflight, now, turn + need, 1000, &wrote, NULL, NULL), TOOLCORE_OK);
    /* Now it is the host's again. */
    CHECK_STATUS(toolcore_start(inflight, tools, reply, &opts, turn, need, now, NULL), TOOLCORE_OK);
    close_flight();
}

TEST(a_call_that_wants_more_memory_than_there_is_names_what_is_enough)
{
    static char arguments[6000], reply_text[16384];
    toolcore_reply_t *reply = NULL;
    toolcore_detail_t said = TOOLCORE_DETAIL_INIT;
    size_t need, tries = 0;
    open_flight(0);
    add_later("later", 0);
    /* What is repaired is kept in the memory of the turn. */
    opts.flags = TOOLCORE_ANSWER_LENIENT;
    snprintf(arguments, sizeof arguments, "```json\n{\"s\":\"%0*d\",}\n```", 5000, 7);
    snprintf(reply_text, sizeof reply_text, "%s", one_call(OPENAI, "later", arguments));
    CHECK_STATUS(toolcore_reply_mem_size(OPENAI, text(reply_text), NULL, &need, NULL), TOOLCORE_OK);
    CHECK_STATUS(toolcore_reply_parse(OPENAI, text(reply_text), NULL, block(need), need, &reply, NULL), TOOLCORE_OK);
    need = toolcore_start_mem_size(1, 0);
    for (; tries < 6; tries++) {
        toolcore_status_t status = begin_in(reply, block(need), need);
        if (status == TOOLCORE_OK)
            break;
        CHECK_STATUS(status, TOOLCORE_ERR_NO_SPACE);
        CHECK(why.need > need && tickets_len == 0);
        need = why.need;
    }
    CHECK(tries > 0 && tries < 4);
    CHECK_SIZE(tickets_len, 1);
    CHECK_STATUS(complete(1, "done"), TOOLCORE_OK);
    CHECK_STATUS(toolcore_finish(inflight, now, buf, sizeof buf, &len, NULL, NULL), TOOLCORE_OK);
    CHECK_TEXT(buf, len, "[{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"done\"}]");
    close_flight();

    /* The same, where it can only begin when an earlier turn has left its place. */
    flight_opts.max_in_flight = 1;
    open_flight(0);
    add_later("later", 0);
    begin("later");
    finish(CANCELLED("later"));
    opts.flags = TOOLCORE_ANSWER_LENIENT;
    need = toolcore_start_mem_size(1, 0);
    CHECK_STATUS(begin_in(reply, block(need), need), TOOLCORE_OK);
    CHECK(poll_at(1999) == 2000);
    now = 2000;
    CHECK_STATUS(toolcore_poll(inflight, now, NULL, &said), TOOLCORE_ERR_NO_SPACE);
    CHECK(said.need > need && said.need < need + 20000);
    CHECK_SIZE(tickets_len, 1);
    CHECK_STATUS(toolcore_finish(inflight, now, buf, sizeof buf, &len, NULL, NULL), TOOLCORE_OK);
    CHECK(contains(buf, len, "was cancelled"));
    /* What was named is what toolcore_start names. */
    CHECK_STATUS(begin_in(reply, block(need), need), TOOLCORE_ERR_NO_SPACE);
    CHECK_SIZE(why.need, said.need);
    close_flight();
}

TEST(a_timeout_without_a_clock_is_found_before_anything_runs)
{
    static uint64_t next;
    open_flight(0);
    add_tool("say", ANYTHING, say, "at once", 0);
    add_later("later", 100);
    opts.clock = NULL;
    CHECK_STATUS(begin_reply(calls("say later")), TOOLCORE_ERR_NO_CLOCK);
    CHECK(ran[0] == 0 && why.status == TOOLCORE_ERR_NO_CLOCK);
    CHECK_STATUS(toolcore_finish(inflight, now, buf, sizeof buf, &len, NULL, NULL), TOOLCORE_ERR_NOT_FOUND);
    toolcore_clock_t no_function = TOOLCORE_CLOCK_INIT;
    opts.clock = &no_function;
    CHECK_STATUS(begin_reply(calls("say later")), TOOLCORE_ERR_INVALID_ARGUMENT);
    opts.clock = NULL;
    opts.flags = 1u << 30;
    CHECK_STATUS(begin_reply(calls("say")), TOOLCORE_ERR_UNSUPPORTED);
    opts.flags = 0;
    opts.max_calls = 1;
    CHECK_STATUS(begin_reply(calls("say later")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_poll(inflight, now, &next, NULL), TOOLCORE_OK);
    finish("at once|!Not executed: at most 1 tool call(s) per turn allowed.");
    close_flight();
}

int main(void)
{
    RUN(a_turn_is_measured_and_finished_into_exactly_that_room);
    RUN(a_buffer_below_the_least_leaves_the_turn_and_a_larger_one_cuts_results);
    RUN(a_reply_without_calls_is_finished_with_nothing);
    RUN(the_options_of_the_turn_hold_for_its_messages);
    RUN(memory_of_the_size_that_is_named_is_enough_at_any_alignment_and_a_start_names_what_is);
    RUN(an_object_of_the_size_that_is_named_has_room_at_any_alignment);
    RUN(sizes_beyond_all_memory_are_the_greatest_and_of_bad_options_nothing);
    RUN(results_of_the_size_that_was_asked_for_are_kept_whole);
    RUN(a_result_beyond_its_share_is_cut_and_the_others_have_theirs);
    RUN(memory_that_is_used_is_found_out);
    RUN(a_call_that_wants_more_memory_than_there_is_names_what_is_enough);
    RUN(a_timeout_without_a_clock_is_found_before_anything_runs);
    return check_end();
}

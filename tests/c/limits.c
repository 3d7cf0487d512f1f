/* What bounds a turn: deadlines, the number of calls, the length of a result, a reply that was cut off. */
#include "turn.h"

/* How long a slow tool takes. */
static uint64_t took;

/* Time. */

TEST(a_result_after_the_deadline_is_discarded)
{
    start(0);
    add_tool("slow", ANYTHING, slow, &took, 1500);
    took = 1499;
    check_text_and_flag(MCP, "slow", "{}", "too late, or not", 0);
    took = 1501;
    check_text_and_flag(MCP, "slow", "{}", "[TOOL_TIMEOUT] Tool 'slow' timed out after 1.5s", 1);
    CHECK(!contains(buf, len, "too late"));
    took = UINT64_MAX / 2;
    check_text_and_flag(MCP, "slow", "{}", "[TOOL_TIMEOUT] Tool 'slow' timed out after 1.5s", 1);
    toolcore_registry_deinit(tools);
}

TEST(the_most_specific_timeout_wins_even_the_looser_one)
{
    /* The tool's, the registry's, the call's; how long it takes; what the model reads. */
    static const struct { uint64_t tool, registry, call, takes; const char *expected; } rows[] = {
        { 0, 0, 0, 1000000, "too late, or not" },
        { 0, 0, 100, 200, "[TOOL_TIMEOUT] Tool 'slow' timed out after 0.1s" },
        { 0, 100, 0, 200, "[TOOL_TIMEOUT] Tool 'slow' timed out after 0.1s" },
        { 100, 0, 0, 200, "[TOOL_TIMEOUT] Tool 'slow' timed out after 0.1s" },
        { 0, 1000, 100, 200, "too late, or not" },
        { 1000, 100, 100, 200, "too late, or not" },
        { 1000, 100, 0, 200, "too late, or not" },
        { 100, 1000, 1000, 200, "[TOOL_TIMEOUT] Tool 'slow' timed out after 0.1s" },
        { 0, 100, 1000, 200, "[TOOL_TIMEOUT] Tool 'slow' timed out after 0.1s" },
        { 2000, 1, 1, 2001, "[TOOL_TIMEOUT] Tool 'slow' timed out after 2s" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char row[8];
        snprintf(row, sizeof row, "row %u", (unsigned)i);
        AT(row);
        start(rows[i].registry);
        opts.timeout_ms = rows[i].call;
        took = rows[i].takes;
        add_tool("slow", ANYTHING, slow, &took, rows[i].tool);
        CHECK_STATUS(answer(MCP, one_call(MCP, "slow", "{}")), TOOLCORE_OK);
        CHECK(contains(buf, len, rows[i].expected));
        toolcore_registry_deinit(tools);
        AT(NULL);
    }
}

static uint64_t left[3], deadline;

static toolcore_status_t asks(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    (void)user_data;
    deadline = toolcore_call_deadline_ms(call);
    left[0] = toolcore_call_time_left_ms(call);
    now += 70;
    left[1] = toolcore_call_time_left_ms(call);
    now += 40;
    left[2] = toolcore_call_time_left_ms(call);
    return toolcore_result_text(result, text("done"));
}

TEST(a_tool_can_ask_what_time_is_left)
{
    start(0);
    add_tool("asks", ANYTHING, asks, NULL, 100);
    add_tool("free", ANYTHING, asks, NULL, 0);
    check_text_and_flag(MCP, "asks", "{}", "[TOOL_TIMEOUT] Tool 'asks' timed out after 0.1s", 1);
    CHECK(left[0] == 100 && left[1] == 30 && left[2] == 0 && deadline == 1100);
    check_text_and_flag(MCP, "free", "{}", "done", 0);
    CHECK(left[0] == UINT64_MAX && left[2] == UINT64_MAX && deadline == UINT64_MAX);
    toolcore_registry_deinit(tools);
}

TEST(a_timeout_that_the_tool_reports_is_an_ordinary_failure)
{
    start(0);
    add_tool("far", ANYTHING, fail, "the server timed out", 100);
    check_text_and_flag(ANTHROPIC, "far", "{}", "Tool error: the server timed out", 1);
    toolcore_registry_deinit(tools);
}

TEST(a_timeout_without_a_clock_is_the_hosts_mistake)
{
    start(0);
    took = 0;
    add_tool("free", ANYTHING, say, "free", 0);
    add_tool("slow", ANYTHING, slow, &took, 100);
    opts.clock = NULL;
    check_text_and_flag(MCP, "free", "{}", "free", 0);
    CHECK_STATUS(answer(MCP, one_call(MCP, "slow", "{}")), TOOLCORE_ERR_NO_CLOCK);
    CHECK(len == 0 && ran[0] == 0 && why.message_len > 0);
    toolcore_registry_deinit(tools);
}

/* Limits. */

TEST(calls_over_the_turns_limit_are_answered_and_not_run)
{
    start(0);
    add_tool("say", ANYTHING, say, "ok", 0);
    opts.max_calls = 1;
    check_answer(OPENAI,
                 "{\"tool_calls\":[{\"id\":\"1\",\"function\":{\"name\":\"say\",\"arguments\":\"\"}},"
                 "{\"id\":\"2\",\"function\":{\"name\":\"say\",\"arguments\":\"\"}},"
                 "{\"id\":\"3\",\"function\":{\"name\":\"none\",\"arguments\":\"\"}}]}",
                 "[{\"role\":\"tool\",\"tool_call_id\":\"1\",\"content\":\"ok\"},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"2\",\"content\":\"Not executed: at most 1 tool call(s) per turn allowed.\"},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"3\",\"content\":\"Not executed: at most 1 tool call(s) per turn allowed.\"}]");
    CHECK(strcmp(ran, "say") == 0);
    CHECK(outcome.calls == 3 && outcome.answered == 1 && outcome.failed == 2);
    toolcore_registry_deinit(tools);
}

TEST(a_result_over_its_limit_is_cut_at_a_character_and_says_so)
{
    static char letters[9311], euros[31], expected[1400];
    memset(letters, 'a', 9310);
    for (size_t i = 0; i < 30; i += 3)
        memcpy(euros + i, "\xE2\x82\xAC", 3);
    start(0);
    add_tool("letters", ANYTHING, say, letters, 0);
    add_tool("euros", ANYTHING, say, euros, 0);
    opts.result_limit = 1204;
    memset(expected, 'a', 1204);
    strcpy(expected + 1204, "\xE2\x80\xA6 [truncated, 1,204 of 9,310 bytes]");
    check_text_and_flag(MCP, "letters", "{}", expected, 0);
    check_text_and_flag(MCP, "euros", "{}", euros, 0);
    opts.result_limit = 10;
    check_text_and_flag(MCP, "euros", "{}", "\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x80\xA6 [truncated, 9 of 30 bytes]", 0);
    opts.result_limit = 30;
    check_text_and_flag(MCP, "euros", "{}", euros, 0);
    toolcore_registry_deinit(tools);
}

TEST(a_call_that_the_reply_cut_off_is_never_run)
{
    start(0);
    add_tool("say", ANYTHING, say, "ok", 0);
    CHECK_STATUS(answer(OPENAI,
                        "{\"choices\":[{\"finish_reason\":\"length\",\"message\":{\"content\":null,\"tool_calls\":["
                        "{\"id\":\"1\",\"function\":{\"name\":\"say\",\"arguments\":\"{}\"}},"
                        "{\"id\":\"2\",\"function\":{\"name\":\"say\",\"arguments\":\"{\\\"a\\\":\"}}]}}]}"),
                 TOOLCORE_OK);
    CHECK(strcmp(ran, "say") == 0 && outcome.answered == 1 && outcome.failed == 1);
    CHECK(contains(buf, len, "\"1\",\"content\":\"ok\"") && contains(buf, len, "\"2\",\"content\":\"Tool error: "));
    CHECK_STATUS(answer(ANTHROPIC,
                        "{\"content\":[{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"say\",\"input\":{}}],"
                        "\"stop_reason\":\"max_tokens\"}"),
                 TOOLCORE_OK);
    CHECK(ran[0] == 0 && outcome.failed == 1);
    toolcore_registry_deinit(tools);
}

int main(void)
{
    RUN(a_result_after_the_deadline_is_discarded);
    RUN(the_most_specific_timeout_wins_even_the_looser_one);
    RUN(a_tool_can_ask_what_time_is_left);
    RUN(a_timeout_that_the_tool_reports_is_an_ordinary_failure);
    RUN(a_timeout_without_a_clock_is_the_hosts_mistake);
    RUN(calls_over_the_turns_limit_are_answered_and_not_run);
    RUN(a_result_over_its_limit_is_cut_at_a_character_and_says_so);
    RUN(a_call_that_the_reply_cut_off_is_never_run);
    return check_end();
}

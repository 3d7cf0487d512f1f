/* What is told of calls that answer later: their results as the model reads them in each dialect, hooks and those that
 * watch, and what becomes of such a call where nothing waits for it. */
#include "flight.h"

#define NEVER UINT64_MAX
#define TIMEOUT(name) "![TOOL_TIMEOUT] Tool '" name "' timed out after 0.1s"
#define CANCELLED(name) "!Tool error: Tool '" name "' was cancelled"

/* Replies that call f and g (f alone for MCP), in the forms of the providers. */
#define CHAT_CALLS \
    "\"tool_calls\":[{\"id\":\"c0\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}," \
    "{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}]"
#define GEMINI_REPLY \
    "{\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"id\":\"c0\",\"name\":\"f\",\"args\":{}}}," \
    "{\"functionCall\":{\"id\":\"c1\",\"name\":\"g\",\"args\":{}}}]}}]}"

static const struct {
    uint32_t dialect;
    const char *reply;
} replies[] = {
    { TOOLCORE_DIALECT_OPENAI_CHAT, "{\"role\":\"assistant\",\"content\":null," CHAT_CALLS "}" },
    { TOOLCORE_DIALECT_OPENAI_RESPONSES,
      "{\"output\":[{\"type\":\"function_call\",\"id\":\"fc\",\"call_id\":\"c0\",\"name\":\"f\",\"arguments\":\"{}\"},"
      "{\"type\":\"function_call\",\"id\":\"fd\",\"call_id\":\"c1\",\"name\":\"g\",\"arguments\":\"{}\"}]}" },
    { TOOLCORE_DIALECT_ANTHROPIC,
      "{\"content\":[{\"type\":\"tool_use\",\"id\":\"c0\",\"name\":\"f\",\"input\":{}},"
      "{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"g\",\"input\":{}}]}" },
    { TOOLCORE_DIALECT_GEMINI, GEMINI_REPLY },
    { TOOLCORE_DIALECT_GEMINI_SCHEMA, GEMINI_REPLY },
    { TOOLCORE_DIALECT_BEDROCK,
      "{\"output\":{\"message\":{\"role\":\"assistant\",\"content\":["
      "{\"toolUse\":{\"toolUseId\":\"c0\",\"name\":\"f\",\"input\":{}}},"
      "{\"toolUse\":{\"toolUseId\":\"c1\",\"name\":\"g\",\"input\":{}}}]}}}" },
    { TOOLCORE_DIALECT_OLLAMA,
      "{\"message\":{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":["
      "{\"id\":\"c0\",\"function\":{\"name\":\"f\",\"arguments\":{}}},{\"id\":\"c1\",\"function\":{\"name\":\"g\",\"arguments\":{}}}]}}" },
    { TOOLCORE_DIALECT_MCP,
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"f\",\"arguments\":{}}}" },
    { TOOLCORE_DIALECT_HERMES,
      "<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call><tool_call>{\"name\":\"g\",\"arguments\":{}}</tool_call>" },
    { TOOLCORE_DIALECT_LLAMA3, "{\"name\":\"f\",\"parameters\":{}}; {\"name\":\"g\",\"parameters\":{}}<|eot_id|>" },
    { TOOLCORE_DIALECT_MISTRAL, "[TOOL_CALLS]f[ARGS]{}[TOOL_CALLS]g[ARGS]{}</s>" },
    { TOOLCORE_DIALECT_MISTRAL_CHAT, "{\"role\":\"assistant\",\"content\":null," CHAT_CALLS "}" },
    { TOOLCORE_DIALECT_COHERE, "{\"message\":{\"role\":\"assistant\"," CHAT_CALLS "},\"finish_reason\":\"TOOL_CALL\"}" },
};
#define REPLIES (sizeof replies / sizeof replies[0])

static toolcore_reply_t *read_reply(uint32_t dialect, const char *written)
{
    toolcore_reply_t *reply = NULL;
    size_t need;
    CHECK_STATUS(toolcore_reply_mem_size(dialect, text(written), NULL, &need, NULL), TOOLCORE_OK);
    CHECK_STATUS(toolcore_reply_parse(dialect, text(written), NULL, block(need), need, &reply, NULL), TOOLCORE_OK);
    return reply;
}

/* What toolcore_answer_reply writes with these two tools, which answer at once, in `at_once`. */
static char at_once[8192];
static size_t at_once_len;

static void answer_at_once(const toolcore_reply_t *reply, toolcore_run_fn f, void *f_data, toolcore_run_fn g, void *g_data)
{
    static char scratch[8192];
    toolcore_outcome_t fresh = TOOLCORE_OUTCOME_INIT;
    outcome = fresh;
    start(0);
    add_tool("f", ANYTHING, f, f_data, 0);
    add_tool("g", ANYTHING, g, g_data, 0);
    CHECK_STATUS(toolcore_answer_reply(tools, reply, &opts, scratch, sizeof scratch, at_once, sizeof at_once, &at_once_len,
                                       &outcome, NULL),
                 TOOLCORE_OK);
    CHECK(at_once_len > 0);
    toolcore_registry_deinit(tools);
}

TEST(every_dialect_reads_what_it_reads_of_tools_that_answer_at_once)
{
    CHECK_SIZE(REPLIES, 13);
    for (size_t i = 0; i < REPLIES; i++) {
        toolcore_str_t name = toolcore_dialect_name(replies[i].dialect);
        toolcore_reply_t *reply;
        AT(name.ptr);
        CHECK_SIZE(replies[i].dialect, i + 1);
        reply = read_reply(replies[i].dialect, replies[i].reply);
        answer_at_once(reply, say, "4 \xC2\xB0\x43 \"now\"", fail, "no such line");
        open_flight(0);
        add_later("f", 0), add_later("g", 0);
        CHECK_STATUS(begin_reply(reply), TOOLCORE_OK);
        CHECK_SIZE(tickets_len, replies[i].dialect == MCP ? 1 : 2);
        if (tickets_len == 2)
            CHECK_STATUS(toolcore_fail(inflight, tickets[1], now, text("no such line")), TOOLCORE_OK);
        CHECK_STATUS(complete(1, "4 \xC2\xB0\x43 \"now\""), TOOLCORE_OK);
        CHECK_STATUS(toolcore_finish(inflight, now, buf, sizeof buf, &len, &outcome, NULL), TOOLCORE_OK);
        CHECK(len == at_once_len && memcmp(buf, at_once, len) == 0);
        CHECK_SIZE(outcome.calls, tickets_len);
        close_flight();
    }
    AT(NULL);
}

/* Whole results. */

static void fill(toolcore_result_t *result, int failed)
{
    toolcore_usage_t usage = TOOLCORE_USAGE_INIT;
    usage.input_tokens = 7;
    usage.cost_micros = 12;
    CHECK_STATUS(toolcore_result_usage(result, &usage), TOOLCORE_OK);
    if (failed) {
        CHECK_STATUS(toolcore_result_error(result, text("all lines are busy")), TOOLCORE_OK);
        CHECK_STATUS(toolcore_result_retryable(result, 1), TOOLCORE_OK);
        return;
    }
    CHECK_STATUS(toolcore_result_text(result, text("look")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_result_json(result, text("{\"a\":[1.50,null]}")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_result_image(result, text("image/png"), "\x89PNG", 4), TOOLCORE_OK);
    CHECK_STATUS(toolcore_result_audio(result, text("audio/wav"), "RIFF", 4), TOOLCORE_OK);
    CHECK_STATUS(toolcore_result_link(result, text("manual"), text("file:///m.pdf")), TOOLCORE_OK);
}

static toolcore_status_t full(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    (void)call;
    fill(result, user_data != NULL);
    return user_data == NULL ? TOOLCORE_OK : TOOLCORE_ERR_TOOL;
}

TEST(a_result_is_taken_over_whole_with_what_it_cost)
{
    for (size_t i = 0; i < REPLIES; i++) {
        toolcore_reply_t *reply = read_reply(replies[i].dialect, replies[i].reply);
        toolcore_result_t *whole = NULL, *failed = NULL;
        char *whole_memory = block(1024), *failed_memory = block(1024);
        AT(toolcore_dialect_name(replies[i].dialect).ptr);
        answer_at_once(reply, full, NULL, full, &whole);
        open_flight(0);
        add_later("f", 0), add_later("g", 0);
        CHECK_STATUS(begin_reply(reply), TOOLCORE_OK);
        CHECK_STATUS(toolcore_result_init(whole_memory, 1024, &whole), TOOLCORE_OK);
        CHECK_STATUS(toolcore_result_init(failed_memory, 1024, &failed), TOOLCORE_OK);
        fill(whole, 0), fill(failed, 1);
        CHECK_STATUS(toolcore_complete(inflight, tickets[0], now, whole), TOOLCORE_OK);
        if (tickets_len == 2)
            CHECK_STATUS(toolcore_complete(inflight, tickets[1], now, failed), TOOLCORE_OK);
        /* Nothing of them is kept. */
        memset(whole_memory, 0xEE, 1024), memset(failed_memory, 0xEE, 1024);
        toolcore_outcome_t before = outcome;
        CHECK_STATUS(toolcore_finish(inflight, now, buf, sizeof buf, &len, &outcome, NULL), TOOLCORE_OK);
        CHECK(len == at_once_len && memcmp(buf, at_once, len) == 0);
        CHECK(outcome.input_tokens == 7 * tickets_len && outcome.cost_micros == 12 * tickets_len);
        CHECK(memcmp(&outcome, &before, sizeof outcome) == 0);
        close_flight();
    }
    AT(NULL);
}

TEST(a_result_of_any_outcome_is_taken_over)
{
    static char scratch[4096];
    toolcore_tool_call_t unknown = TOOLCORE_TOOL_CALL_INIT;
    toolcore_result_t *result = NULL;
    open_flight(0);
    add_later("later", 0);
    unknown.name = text("nope");
    begin("later");
    CHECK_STATUS(toolcore_dispatch(tools, &unknown, NULL, scratch, sizeof scratch, &result, NULL), TOOLCORE_OK);
    CHECK_STATUS(toolcore_complete(inflight, tickets[0], now, result), TOOLCORE_OK);
    check_events("1000 called 0 new; 1000 finished 0 #1 = unknown_tool");
    finish("!Tool error: Unknown tool: 'nope'. Available: later");
    CHECK(outcome.answered == 0 && outcome.failed == 1);
    close_flight();
}

TEST(a_text_that_is_none_leaves_the_call_as_it_is)
{
    static const toolcore_str_t nowhere = { NULL, 3 };
    open_flight(0);
    add_later("later", 0);
    begin("later");
    CHECK_STATUS(complete(1, "\xFF"), TOOLCORE_ERR_INVALID_UTF8);
    CHECK_STATUS(toolcore_fail(inflight, tickets[0], now, text("\xC3(")), TOOLCORE_ERR_INVALID_UTF8);
    CHECK_STATUS(toolcore_progress(inflight, tickets[0], now, 1, 2, text("\x80")), TOOLCORE_ERR_INVALID_UTF8);
    CHECK_STATUS(toolcore_complete_text(inflight, tickets[0], now, nowhere), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_fail(inflight, tickets[0], now, nowhere), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_progress(inflight, tickets[0], now, 1, 2, nowhere), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_complete(inflight, tickets[0], now, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_SIZE(stats().open, 1);
    CHECK_STATUS(toolcore_fail(inflight, tickets[0], now, text("")), TOOLCORE_OK);
    finish("!Tool error: the tool gave no reason");
    close_flight();
}

/* Who is told. */

TEST(progress_is_told_and_moves_no_deadline)
{
    open_flight(0);
    add_later("later", 100);
    begin("later later");
    now = 1090;
    CHECK_STATUS(toolcore_progress(inflight, tickets[1], now, 3, 4, text("nearly")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_progress(inflight, tickets[1], now, 5, 0, (toolcore_str_t){ NULL, 0 }), TOOLCORE_OK);
    CHECK(poll_at(1099) == 1100);
    CHECK_STATUS(toolcore_progress(inflight, tickets[0], 1100, 1, 1, text("")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_progress(inflight, tickets[0], 1101, 1, 1, text("")), TOOLCORE_ERR_LATE);
    CHECK(poll_at(1101) == 2101);
    check_events("1000 called 0 new; 1000 called 1 new; 1090 progress 1 #2 3/4 nearly; 1090 progress 1 #2 5/0 ; "
                 "1100 progress 0 #1 1/1 ; 1101 timed_out 0 #1 = timed_out; 1101 timed_out 1 #2 = timed_out");
    close_flight();
}

static void observe(void *user_data, const toolcore_tool_call_t *call, uint32_t kind, const toolcore_result_t *result)
{
    char line[96];
    CHECK(user_data == &opts);
    CHECK(toolcore_result_kind(result) == kind);
    snprintf(line, sizeof line, "%.*s=%s", (int)call->id.len, call->id.ptr, toolcore_outcome_name(kind));
    note(line);
}

TEST(the_host_is_told_each_call_once_when_it_has_its_result)
{
    open_flight(0);
    add_tool("say", ANYTHING, say, "at once", 0);
    add_later("later", 100);
    opts.observe = observe;
    opts.user_data = &opts;
    begin("later later later nope say");
    CHECK_TEXT(ran, strlen(ran), "later later later c3=unknown_tool say c4=answered");
    ran[0] = 0;
    CHECK_STATUS(toolcore_fail(inflight, tickets[1], now, text("no")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_cancel(inflight, 0, now), TOOLCORE_OK);
    CHECK(poll_at(1101) == 2000);
    CHECK_STATUS(complete(1, "late"), TOOLCORE_ERR_LATE);
    CHECK(poll_at(9000) == NEVER);
    finish(CANCELLED("later") "|!Tool error: no|" TIMEOUT("later") "|!Tool error: Unknown tool: 'nope'. Available: say, "
                              "later|at once");
    CHECK_TEXT(ran, strlen(ran), "c1=tool_failed c0=cancelled c2=timed_out");
    close_flight();
}

/* Hooks. */

static toolcore_status_t before(void *user_data, toolcore_draft_t *draft)
{
    toolcore_str_t name = toolcore_draft_name(draft);
    (void)user_data;
    if (contains(name.ptr, name.len, "blocked"))
        return toolcore_draft_block(draft, text("not on a Sunday"));
    return contains(name.ptr, name.len, "alias") ? toolcore_draft_set_name(draft, text("later")) : TOOLCORE_OK;
}

static void after(void *user_data, const toolcore_tool_call_t *call, toolcore_result_t *result)
{
    char line[128];
    toolcore_part_t part = TOOLCORE_PART_INIT;
    (void)user_data;
    CHECK_STATUS(toolcore_result_part(result, 0, &part), TOOLCORE_OK);
    snprintf(line, sizeof line, "%.*s:%.*s", (int)call->id.len, call->id.ptr, (int)part.text.len, part.text.ptr);
    note(line);
    CHECK_STATUS(toolcore_result_clear(result), TOOLCORE_OK);
    CHECK_STATUS(toolcore_result_text(result, text("mended")), TOOLCORE_OK);
}

TEST(hooks_see_calls_that_answer_later_when_they_do)
{
    toolcore_hook_t hook = TOOLCORE_HOOK_INIT;
    hook.before = before;
    hook.after = after;
    open_flight(0);
    CHECK_STATUS(toolcore_registry_add_hook(tools, &hook), TOOLCORE_OK);
    add_later("later", 100);
    begin("alias blocked later later later");
    CHECK_TEXT(ran, strlen(ran), "later later later later");
    ran[0] = 0;
    CHECK_STATUS(complete(1, "done"), TOOLCORE_OK);
    CHECK_STATUS(toolcore_fail(inflight, tickets[1], now, text("no")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_cancel(inflight, 3, now), TOOLCORE_OK);
    now = 1101;
    CHECK_STATUS(complete(4, "too late"), TOOLCORE_ERR_LATE);
    CHECK_STATUS(complete(3, "given up"), TOOLCORE_ERR_LATE);
    CHECK_TEXT(ran, strlen(ran), "c0:done c2:Tool error: no");
    finish("mended|!not on a Sunday|mended|" CANCELLED("later") "|" TIMEOUT("later"));
    close_flight();
}

/* Where nothing waits. */

static toolcore_status_t pending(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    (void)user_data;
    note_call(call);
    CHECK(toolcore_call_ticket(call) == 0);
    CHECK_STATUS(toolcore_result_text(result, text("gone")), TOOLCORE_OK);
    return TOOLCORE_PENDING;
}

TEST(a_call_that_would_answer_later_fails_where_nothing_waits_for_it)
{
    static char scratch[4096];
    static const char expected[] = "Tool error: Tool 'later' answers later, and nothing waits for it here";
    toolcore_tool_call_t call = TOOLCORE_TOOL_CALL_INIT;
    toolcore_part_t part = TOOLCORE_PART_INIT;
    toolcore_result_t *result = NULL;
    toolcore_tool_t tool = later_tool("later", 100);
    start(0);
    asked[0] = 0;
    tool.run = pending;
    CHECK_STATUS(toolcore_registry_add(tools, &tool, NULL), TOOLCORE_OK);
    check_text_and_flag(OPENAI, "later", "{}", expected, 1);
    check_text_and_flag(ANTHROPIC, "later", "{}", expected, 1);
    check_text_and_flag(MCP, "later", "{}", expected, 1);
    CHECK_TEXT(ran, strlen(ran), "later");
    opts.timeout_ms = 0;
    toolcore_dispatch_opts_t dispatch_opts = TOOLCORE_DISPATCH_OPTS_INIT;
    dispatch_opts.clock = &manual;
    call.name = text("later");
    CHECK_STATUS(toolcore_dispatch(tools, &call, &dispatch_opts, scratch, sizeof scratch, &result, NULL), TOOLCORE_OK);
    CHECK_SIZE(toolcore_result_kind(result), TOOLCORE_OUTCOME_TOOL_FAILED);
    CHECK_SIZE(toolcore_result_len(result), 1);
    CHECK_STATUS(toolcore_result_part(result, 0, &part), TOOLCORE_OK);
    CHECK_TEXT(part.text.ptr, part.text.len, expected);
    CHECK(asked[0] == 0);
    toolcore_registry_deinit(tools);
}

/* A tool as an older header has it. */

TEST(a_tool_of_a_header_without_cancel_functions_is_taken_and_never_asked)
{
    size_t older = offsetof(toolcore_tool_t, cancel);
    toolcore_tool_t tool = later_tool("later", 100), *old = block(older);
    open_flight(0);
    tool.struct_size = older;
    memcpy(old, &tool, older);
    CHECK_STATUS(toolcore_registry_add(tools, old, NULL), TOOLCORE_OK);
    begin("later");
    CHECK(poll_at(1101) == 2101);
    CHECK(poll_at(2101) == NEVER);
    check_asked("");
    CHECK_SIZE(stats().abandoned, 1);
    close_flight();
    /* What is no pool of threads is found out. */
    start(0);
    tool = later_tool("later", 0);
    tool.workers = (const toolcore_workers_t *)(const void *)tools;
    CHECK_STATUS(toolcore_registry_add(tools, &tool, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    toolcore_registry_deinit(tools);
}

TEST(a_turn_goes_on_where_a_tool_came_that_wants_a_clock)
{
    uint64_t next = 7;
    flight_opts.side_by_side = 1;
    open_flight(0);
    opts.clock = NULL;
    add_later("first", 0);
    begin("first second");
    add_later("second", 100);
    CHECK_STATUS(complete(1, "one"), TOOLCORE_OK);
    CHECK(poll_at(1001) == NEVER);
    CHECK_SIZE(tickets_len, 1);
    finish("one|!Tool error: Tool 'second' was not executed: a timeout applies to the tool, and no clock was given");
    /* Where nothing has run before, the host is told. */
    now = 2000;
    CHECK_STATUS(toolcore_registry_remove(tools, text("second")), TOOLCORE_OK);
    begin("first");
    finish(CANCELLED("first"));
    begin("second");
    CHECK_SIZE(tickets_len, 2);
    add_later("second", 100);
    CHECK_STATUS(toolcore_poll(inflight, 3000, &next, &why), TOOLCORE_ERR_NO_CLOCK);
    CHECK(next == 7 && why.status == TOOLCORE_ERR_NO_CLOCK);
    finish(CANCELLED("second"));
    close_flight();
}

int main(void)
{
    RUN(every_dialect_reads_what_it_reads_of_tools_that_answer_at_once);
    RUN(a_result_is_taken_over_whole_with_what_it_cost);
    RUN(a_result_of_any_outcome_is_taken_over);
    RUN(a_text_that_is_none_leaves_the_call_as_it_is);
    RUN(progress_is_told_and_moves_no_deadline);
    RUN(the_host_is_told_each_call_once_when_it_has_its_result);
    RUN(hooks_see_calls_that_answer_later_when_they_do);
    RUN(a_call_that_would_answer_later_fails_where_nothing_waits_for_it);
    RUN(a_tool_of_a_header_without_cancel_functions_is_taken_and_never_asked);
    RUN(a_turn_goes_on_where_a_tool_came_that_wants_a_clock);
    return check_end();
}

/* The steps that toolcore_answer joins: parse, call, dispatch, render the results; in any order of results. */
#include "check.h"

#define OPENAI TOOLCORE_DIALECT_OPENAI_CHAT
#define ANTHROPIC TOOLCORE_DIALECT_ANTHROPIC
#define MCP TOOLCORE_DIALECT_MCP

static uint64_t now;

static uint64_t now_ms(void *user_data)
{
    (void)user_data;
    return now;
}

static const toolcore_clock_t manual = { sizeof(toolcore_clock_t), NULL, now_ms };

static toolcore_status_t say_city(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    toolcore_str_t city;
    (void)user_data;
    toolcore_status_t status = toolcore_call_get_str(call, text("city"), &city);
    return status != TOOLCORE_OK ? status : toolcore_result_text(result, city);
}

static toolcore_status_t slow(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    (void)user_data;
    (void)call;
    now += 200;
    return toolcore_result_text(result, text("late"));
}

static toolcore_registry_t *tools;

static void add(const char *name, toolcore_run_fn run, uint64_t timeout_ms)
{
    toolcore_tool_t tool = TOOLCORE_TOOL_INIT;
    tool.name = text(name);
    tool.schema = text("{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"},\"n\":{\"type\":\"integer\"}}}");
    tool.run = run;
    tool.timeout_ms = timeout_ms;
    CHECK_STATUS(toolcore_registry_add(tools, &tool, NULL), TOOLCORE_OK);
}

static void set_up(void)
{
    static char mem[16384];
    CHECK_STATUS(toolcore_registry_init(NULL, mem, sizeof mem, &tools), TOOLCORE_OK);
    add("city", say_city, 0);
    add("geo.city", say_city, 0);
    add("slow", slow, 100);
}

static void tear_down(void)
{
    toolcore_registry_deinit(tools);
}

/* A reply read into memory of exactly the size that is said. */
static toolcore_reply_t *parse(uint32_t dialect, toolcore_str_t json)
{
    size_t need = 0;
    toolcore_reply_t *reply = NULL;
    CHECK_STATUS(toolcore_reply_mem_size(dialect, json, NULL, &need, NULL), TOOLCORE_OK);
    CHECK_STATUS(toolcore_reply_parse(dialect, json, NULL, block(need), need, &reply, NULL), TOOLCORE_OK);
    return reply;
}

static toolcore_result_t *result_of(const char *words)
{
    size_t need = toolcore_result_mem_size() + strlen(words);
    toolcore_result_t *result = NULL;
    CHECK_STATUS(toolcore_result_init(block(need), need, &result), TOOLCORE_OK);
    CHECK_STATUS(toolcore_result_text(result, text(words)), TOOLCORE_OK);
    return result;
}

static toolcore_tool_call_t call_of(const char *id)
{
    toolcore_tool_call_t call = TOOLCORE_TOOL_CALL_INIT;
    call.id = text(id);
    call.name = text("city");
    call.arguments = text("{}");
    return call;
}

static toolcore_call_result_t answer_of(const char *id, const toolcore_result_t *result)
{
    toolcore_call_result_t answer = TOOLCORE_CALL_RESULT_INIT;
    answer.id = text(id);
    answer.result = result;
    return answer;
}

static char buf[8192];
static size_t len;
static toolcore_detail_t why;

static toolcore_status_t render(uint32_t dialect, const toolcore_tool_call_t *calls, size_t calls_len,
                                const toolcore_call_result_t *results, size_t results_len)
{
    toolcore_detail_t fresh = TOOLCORE_DETAIL_INIT;
    why = fresh;
    len = 9999;
    return toolcore_results_render(dialect, calls, calls_len, results, results_len, NULL, buf, sizeof buf, &len, &why);
}

#define TWO_CALLS \
    "{\"choices\":[{\"finish_reason\":\"tool_calls\",\"message\":{\"content\":\"Two \\u00e9\",\"tool_calls\":[" \
    "{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"city\",\"arguments\":\"{\\\"city\\\":\\\"Oslo\\\"}\"}}," \
    "{\"id\":\"b\",\"type\":\"function\",\"function\":{\"name\":\"city\",\"arguments\":\"{\\\"city\\\":\\\"Bergen\\\"}\"}}]}}]}"

TEST(a_turn_in_steps_is_a_turn_in_one)
{
    static char scratch[2][4096], one[4096];
    toolcore_tool_call_t calls[2] = { TOOLCORE_TOOL_CALL_INIT, TOOLCORE_TOOL_CALL_INIT };
    toolcore_call_result_t results[2] = { TOOLCORE_CALL_RESULT_INIT, TOOLCORE_CALL_RESULT_INIT };
    toolcore_result_t *made[2];
    toolcore_dispatch_opts_t opts = TOOLCORE_DISPATCH_OPTS_INIT;
    size_t one_len;
    toolcore_reply_t *reply = parse(OPENAI, exact(TWO_CALLS));
    opts.dialect = OPENAI;
    CHECK_SIZE(toolcore_reply_len(reply), 2);
    CHECK_SIZE(toolcore_reply_finish(reply), TOOLCORE_FINISH_COMPLETE);
    CHECK_STATUS(toolcore_reply_text(reply, buf, sizeof buf, &len), TOOLCORE_OK);
    CHECK_TEXT(buf, len, "Two \xC3\xA9");
    for (size_t i = 0; i < 2; i++) {
        CHECK_STATUS(toolcore_reply_call(reply, i, &calls[i]), TOOLCORE_OK);
        CHECK_TEXT(calls[i].name.ptr, calls[i].name.len, "city");
        CHECK_TEXT(calls[i].id.ptr, calls[i].id.len, i == 0 ? "a" : "b");
        CHECK_TEXT(calls[i].arguments.ptr, calls[i].arguments.len, i == 0 ? "{\"city\":\"Oslo\"}" : "{\"city\":\"Bergen\"}");
        CHECK_SIZE(calls[i].flags, TOOLCORE_CALL_HAS_ID);
    }
    toolcore_tool_call_t past = TOOLCORE_TOOL_CALL_INIT;
    CHECK_STATUS(toolcore_reply_call(reply, 2, &past), TOOLCORE_ERR_NOT_FOUND);
    CHECK_STATUS(toolcore_reply_call(reply, SIZE_MAX, &past), TOOLCORE_ERR_NOT_FOUND);
    /* The second finishes first. */
    for (size_t i = 2; i-- > 0;) {
        CHECK_STATUS(toolcore_dispatch(tools, &calls[i], &opts, scratch[i], sizeof scratch[i], &made[i], NULL), TOOLCORE_OK);
        CHECK_SIZE(toolcore_result_kind(made[i]), TOOLCORE_OUTCOME_ANSWERED);
        CHECK(!toolcore_result_failed(made[i]));
        results[1 - i].id = calls[i].id;
        results[1 - i].result = made[i];
    }
    CHECK_STATUS(render(OPENAI, calls, 2, results, 2), TOOLCORE_OK);
    CHECK_TEXT(buf, len,
               "[{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"Oslo\"},"
               "{\"role\":\"tool\",\"tool_call_id\":\"b\",\"content\":\"Bergen\"}]");
    CHECK_STATUS(toolcore_answer(tools, OPENAI, text(TWO_CALLS), NULL, scratch[0], sizeof scratch[0], one, sizeof one,
                                 &one_len, NULL, NULL),
                 TOOLCORE_OK);
    CHECK(one_len == len && memcmp(one, buf, len) == 0);
    toolcore_result_deinit(made[0]);
    toolcore_result_deinit(made[1]);
    toolcore_reply_deinit(reply);
}

/* Replies. */

TEST(text_beside_the_calls_is_joined_as_it_is)
{
    toolcore_reply_t *reply = parse(ANTHROPIC, exact("{\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\"},"
                                                     "{\"type\":\"text\",\"text\":\"One \"},"
                                                     "{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"city\",\"input\":{}},"
                                                     "{\"type\":\"text\",\"text\":\"two.\"}],\"stop_reason\":\"tool_use\"}"));
    CHECK_STATUS(toolcore_reply_text(reply, buf, sizeof buf, &len), TOOLCORE_OK);
    CHECK_TEXT(buf, len, "One two.");
    CHECK_SIZE(toolcore_reply_len(reply), 1);
    toolcore_reply_deinit(reply);
    reply = parse(MCP, exact("{\"name\":\"city\"}"));
    CHECK_STATUS(toolcore_reply_text(reply, buf, sizeof buf, &len), TOOLCORE_OK);
    CHECK_SIZE(len, 0);
    toolcore_reply_deinit(reply);
}

TEST(why_a_reply_ended_is_told)
{
    static const struct { uint32_t dialect; const char *reply; uint32_t finish; } rows[] = {
        { OPENAI, "{\"choices\":[{\"message\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}", TOOLCORE_FINISH_COMPLETE },
        { OPENAI, "{\"choices\":[{\"message\":{\"content\":\"x\"},\"finish_reason\":\"length\"}]}", TOOLCORE_FINISH_TRUNCATED },
        { OPENAI, "{\"choices\":[{\"message\":{\"content\":\"\"},\"finish_reason\":\"content_filter\"}]}", TOOLCORE_FINISH_REFUSED },
        { OPENAI, "{\"choices\":[{\"message\":{\"content\":null,\"refusal\":\"No.\"},\"finish_reason\":\"stop\"}]}", TOOLCORE_FINISH_REFUSED },
        { ANTHROPIC, "{\"content\":[],\"stop_reason\":\"end_turn\"}", TOOLCORE_FINISH_COMPLETE },
        { ANTHROPIC, "{\"content\":[],\"stop_reason\":\"max_tokens\"}", TOOLCORE_FINISH_TRUNCATED },
        { ANTHROPIC, "{\"content\":[],\"stop_reason\":\"model_context_window_exceeded\"}", TOOLCORE_FINISH_TRUNCATED },
        { ANTHROPIC, "{\"content\":[],\"stop_reason\":\"refusal\"}", TOOLCORE_FINISH_REFUSED },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        AT(rows[i].reply);
        toolcore_reply_t *reply = parse(rows[i].dialect, text(rows[i].reply));
        CHECK_SIZE(toolcore_reply_finish(reply), rows[i].finish);
        CHECK_SIZE(toolcore_reply_len(reply), 0);
        toolcore_reply_deinit(reply);
    }
}

TEST(a_call_that_was_cut_off_is_marked_and_never_executed)
{
    static char scratch[4096];
    toolcore_tool_call_t call = TOOLCORE_TOOL_CALL_INIT;
    toolcore_result_t *result = NULL;
    toolcore_part_t part = TOOLCORE_PART_INIT;
    toolcore_reply_t *reply = parse(ANTHROPIC, exact("{\"content\":[{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"city\","
                                                     "\"input\":{\"city\":\"Oslo\"}}],\"stop_reason\":\"max_tokens\"}"));
    CHECK_STATUS(toolcore_reply_call(reply, 0, &call), TOOLCORE_OK);
    CHECK_SIZE(call.flags, TOOLCORE_CALL_HAS_ID | TOOLCORE_CALL_TRUNCATED);
    CHECK_STATUS(toolcore_dispatch(tools, &call, NULL, scratch, sizeof scratch, &result, NULL), TOOLCORE_OK);
    CHECK(toolcore_result_failed(result));
    CHECK_STATUS(toolcore_result_part(result, 0, &part), TOOLCORE_OK);
    CHECK(contains(part.text.ptr, part.text.len, "Tool error: Tool 'city' was not executed"));
    toolcore_result_deinit(result);
    toolcore_reply_deinit(reply);
}

TEST(strings_of_calls_live_as_long_as_the_reply)
{
    toolcore_tool_call_t call = TOOLCORE_TOOL_CALL_INIT;
    toolcore_reply_t *reply = parse(OPENAI, exact(TWO_CALLS));
    CHECK_STATUS(toolcore_reply_call(reply, 1, &call), TOOLCORE_OK);
    CHECK_STATUS(toolcore_reply_text(reply, buf, sizeof buf, &len), TOOLCORE_OK);
    CHECK_TEXT(call.arguments.ptr, call.arguments.len, "{\"city\":\"Bergen\"}");
    toolcore_reply_deinit(reply);
}

TEST(a_broken_reply_gives_no_reply_and_says_where)
{
    static char mem[4096];
    size_t need = 7;
    toolcore_detail_t detail = TOOLCORE_DETAIL_INIT;
    toolcore_reply_t *reply = (toolcore_reply_t *)(void *)mem;
    CHECK_STATUS(toolcore_reply_parse(OPENAI, exact("{\"content\":\"a\x01\"}"), NULL, mem, sizeof mem, &reply, &detail),
                 TOOLCORE_ERR_BAD_JSON);
    CHECK(reply == NULL && detail.offset == 13 && detail.reason == TOOLCORE_JSON_ERR_CONTROL_CHARACTER);
    CHECK_STATUS(toolcore_reply_mem_size(ANTHROPIC, text("{\"error\":{\"type\":\"x\"}}"), NULL, &need, NULL),
                 TOOLCORE_ERR_PROVIDER);
    CHECK_SIZE(need, 0);
    CHECK_STATUS(toolcore_reply_parse(ANTHROPIC, text("{\"role\":\"assistant\"}"), NULL, mem, sizeof mem, &reply, &detail),
                 TOOLCORE_ERR_BAD_REPLY);
    CHECK(reply == NULL && detail.message_len > 0);
}

TEST(how_deep_a_reply_may_be_is_the_hosts_to_say)
{
    static char mem[4096];
    toolcore_reply_opts_t opts = TOOLCORE_REPLY_OPTS_INIT;
    toolcore_detail_t detail = TOOLCORE_DETAIL_INIT;
    toolcore_reply_t *reply = NULL;
    const toolcore_str_t deep = text("{\"content\":\"x\",\"a\":[[[1]]]}");
    opts.max_depth = 3;
    CHECK_STATUS(toolcore_reply_parse(OPENAI, deep, &opts, mem, sizeof mem, &reply, &detail), TOOLCORE_ERR_BAD_JSON);
    CHECK_SIZE(detail.reason, TOOLCORE_JSON_ERR_DEPTH_LIMIT);
    opts.max_depth = 4;
    CHECK_STATUS(toolcore_reply_parse(OPENAI, deep, &opts, mem, sizeof mem, &reply, &detail), TOOLCORE_OK);
    toolcore_reply_deinit(reply);
    /* A lone surrogate is an error, or U+FFFD when asked for; what follows it is kept. */
    const toolcore_str_t lone = text("{\"content\":\"\\ud83d\\u0041\"}");
    CHECK_STATUS(toolcore_reply_parse(OPENAI, lone, NULL, mem, sizeof mem, &reply, &detail), TOOLCORE_ERR_BAD_JSON);
    CHECK_SIZE(detail.reason, TOOLCORE_JSON_ERR_LONE_SURROGATE);
    opts.flags = TOOLCORE_JSON_REPLACE_SURROGATES;
    CHECK_STATUS(toolcore_reply_parse(OPENAI, lone, &opts, mem, sizeof mem, &reply, &detail), TOOLCORE_OK);
    CHECK_STATUS(toolcore_reply_text(reply, buf, sizeof buf, &len), TOOLCORE_OK);
    CHECK_TEXT(buf, len, "\xEF\xBF\xBD" "A");
    toolcore_reply_deinit(reply);
}

/* One call. */

TEST(dispatch_tells_model_mistakes_in_the_result)
{
    static char scratch[4096];
    static const struct { const char *name, *arguments; uint32_t kind; const char *expected; } rows[] = {
        { "city", "{\"city\":\"\\u00d8\"}", TOOLCORE_OUTCOME_ANSWERED, "\xC3\x98" },
        { "city", "{\"n\":\"x\"}", TOOLCORE_OUTCOME_BAD_ARGUMENTS,
          "Tool error: Invalid arguments for 'city': /n: expected integer, got string \"x\"" },
        { "city", "{}", TOOLCORE_OUTCOME_TOOL_FAILED, "Tool error: argument 'city': it is missing" },
        { "town", "{}", TOOLCORE_OUTCOME_UNKNOWN_TOOL,
          "Tool error: Unknown tool: 'town'. Available: city, geo.city, slow" },
        { "slow", "{}", TOOLCORE_OUTCOME_TIMED_OUT, "[TOOL_TIMEOUT] Tool 'slow' timed out after 0.1s" },
    };
    toolcore_dispatch_opts_t opts = TOOLCORE_DISPATCH_OPTS_INIT;
    opts.clock = &manual;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        toolcore_tool_call_t call = call_of("1");
        toolcore_result_t *result = NULL;
        toolcore_part_t part = TOOLCORE_PART_INIT;
        call.name = text(rows[i].name);
        call.arguments = text(rows[i].arguments);
        AT(rows[i].expected);
        CHECK_STATUS(toolcore_dispatch(tools, &call, &opts, scratch, sizeof scratch, &result, NULL), TOOLCORE_OK);
        CHECK_SIZE(toolcore_result_kind(result), rows[i].kind);
        CHECK(toolcore_result_failed(result) == (rows[i].kind != TOOLCORE_OUTCOME_ANSWERED));
        CHECK_SIZE(toolcore_result_len(result), 1);
        CHECK_STATUS(toolcore_result_part(result, 0, &part), TOOLCORE_OK);
        CHECK_SIZE(part.kind, TOOLCORE_PART_TEXT);
        CHECK_TEXT(part.text.ptr, part.text.len, rows[i].expected);
        CHECK_STATUS(toolcore_result_part(result, 1, &part), TOOLCORE_ERR_NOT_FOUND);
        toolcore_result_deinit(result);
    }
}

TEST(dispatch_knows_aliases_only_of_the_dialect_that_is_said)
{
    static char scratch[4096];
    char name[128];
    toolcore_str_t alias = TOOLCORE_STR("");
    toolcore_tool_call_t call = call_of("1");
    toolcore_result_t *result = NULL;
    toolcore_dispatch_opts_t opts = TOOLCORE_DISPATCH_OPTS_INIT;
    CHECK_STATUS(toolcore_tools_render(tools, OPENAI, NULL, buf, sizeof buf, &len, NULL), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_get((toolcore_str_t){ buf, len }, text("/tools/1/function/name"), &alias), TOOLCORE_OK);
    snprintf(name, sizeof name, "%.*s", (int)alias.len - 2, alias.ptr + 1);
    CHECK(strcmp(name, "geo.city") != 0);
    call.name = text(name);
    call.arguments = text("{\"city\":\"Oslo\"}");
    CHECK_STATUS(toolcore_dispatch(tools, &call, &opts, scratch, sizeof scratch, &result, NULL), TOOLCORE_OK);
    CHECK_SIZE(toolcore_result_kind(result), TOOLCORE_OUTCOME_UNKNOWN_TOOL);
    toolcore_result_deinit(result);
    opts.dialect = OPENAI;
    CHECK_STATUS(toolcore_dispatch(tools, &call, &opts, scratch, sizeof scratch, &result, NULL), TOOLCORE_OK);
    CHECK_SIZE(toolcore_result_kind(result), TOOLCORE_OUTCOME_ANSWERED);
    toolcore_result_deinit(result);
    call.name = text("geo.city");
    CHECK_STATUS(toolcore_dispatch(tools, &call, &opts, scratch, sizeof scratch, &result, NULL), TOOLCORE_OK);
    CHECK_SIZE(toolcore_result_kind(result), TOOLCORE_OUTCOME_ANSWERED);
    toolcore_result_deinit(result);
}

TEST(dispatch_without_a_clock_runs_nothing_that_has_a_timeout)
{
    static char scratch[4096];
    toolcore_detail_t detail = TOOLCORE_DETAIL_INIT;
    toolcore_tool_call_t call = call_of("1");
    toolcore_result_t *result = (toolcore_result_t *)(void *)scratch;
    call.name = text("slow");
    now = 5;
    CHECK_STATUS(toolcore_dispatch(tools, &call, NULL, scratch, sizeof scratch, &result, &detail), TOOLCORE_ERR_NO_CLOCK);
    CHECK(result == NULL && now == 5 && detail.message_len > 0);
}

/* Results in any order, and what is wrong with them. */

TEST(results_may_come_in_any_order)
{
    const toolcore_tool_call_t calls[] = { call_of("t1"), call_of("t2"), call_of("t3") };
    const char *const ids[] = { "t1", "t2", "t3" };
    static const int orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    for (size_t o = 0; o < 6; o++) {
        toolcore_call_result_t results[3];
        for (size_t i = 0; i < 3; i++)
            results[i] = answer_of(ids[orders[o][i]], result_of(ids[orders[o][i]]));
        CHECK_STATUS(render(ANTHROPIC, calls, 3, results, 3), TOOLCORE_OK);
        CHECK_TEXT(buf, len,
                   "[{\"role\":\"user\",\"content\":["
                   "{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":\"t1\"},"
                   "{\"type\":\"tool_result\",\"tool_use_id\":\"t2\",\"content\":\"t2\"},"
                   "{\"type\":\"tool_result\",\"tool_use_id\":\"t3\",\"content\":\"t3\"}]}]");
    }
}

TEST(a_turn_with_a_missing_result_is_not_rendered)
{
    const toolcore_tool_call_t calls[] = { call_of("t1"), call_of("t2") };
    const toolcore_call_result_t results[] = { answer_of("t1", result_of("ok")) };
    static const uint32_t dialects[] = { OPENAI, ANTHROPIC };
    for (size_t d = 0; d < 2; d++) {
        CHECK_STATUS(render(dialects[d], calls, 2, results, 1), TOOLCORE_ERR_MISSING_RESULT);
        CHECK(len == 0 && why.message_len > 0);
        CHECK_STATUS(render(dialects[d], calls, 2, NULL, 0), TOOLCORE_ERR_MISSING_RESULT);
    }
    CHECK_STATUS(render(MCP, calls, 1, NULL, 0), TOOLCORE_ERR_MISSING_RESULT);
}

TEST(a_result_for_no_call_is_refused)
{
    const toolcore_tool_call_t calls[] = { call_of("t1") };
    const toolcore_call_result_t results[] = { answer_of("t1", result_of("ok")), answer_of("t9", result_of("?")) };
    CHECK_STATUS(render(OPENAI, calls, 1, results, 2), TOOLCORE_ERR_UNKNOWN_CALL_ID);
    CHECK(len == 0 && why.message_len > 0);
    CHECK_STATUS(render(OPENAI, calls, 1, &results[1], 1), TOOLCORE_ERR_UNKNOWN_CALL_ID);
    CHECK_STATUS(render(OPENAI, NULL, 0, results, 1), TOOLCORE_ERR_UNKNOWN_CALL_ID);
}

TEST(two_results_for_one_call_are_refused)
{
    const toolcore_tool_call_t calls[] = { call_of("t1"), call_of("t2") };
    const toolcore_call_result_t results[] = { answer_of("t1", result_of("one")), answer_of("t2", result_of("two")),
                                               answer_of("t1", result_of("again")) };
    CHECK_STATUS(render(ANTHROPIC, calls, 2, results, 3), TOOLCORE_ERR_DUPLICATE_RESULT);
    CHECK(len == 0 && why.message_len > 0);
}

TEST(a_cancelled_call_is_answered_as_a_failure)
{
    const toolcore_tool_call_t calls[] = { call_of("t1"), call_of("t2") };
    const toolcore_call_result_t results[] = { answer_of("t2", NULL), answer_of("t1", result_of("ok")) };
    toolcore_str_t got = TOOLCORE_STR("");
    CHECK_STATUS(render(ANTHROPIC, calls, 2, results, 2), TOOLCORE_OK);
    const toolcore_str_t json = { buf, len };
    CHECK(contains(buf, len, "{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":\"ok\"}"));
    CHECK_STATUS(toolcore_json_get(json, text("/0/content/1/tool_use_id"), &got), TOOLCORE_OK);
    CHECK_TEXT(got.ptr, got.len, "\"t2\"");
    CHECK_STATUS(toolcore_json_get(json, text("/0/content/1/is_error"), &got), TOOLCORE_OK);
    CHECK_TEXT(got.ptr, got.len, "true");
    CHECK_STATUS(toolcore_json_get(json, text("/0/content/1/content"), &got), TOOLCORE_OK);
    CHECK(contains(got.ptr, got.len, "cancelled"));
}

TEST(mcp_holds_one_result)
{
    const toolcore_tool_call_t calls[] = { call_of("1"), call_of("2") };
    const toolcore_call_result_t results[] = { answer_of("1", result_of("ok")), answer_of("2", result_of("ok")) };
    CHECK_STATUS(render(MCP, calls, 2, results, 2), TOOLCORE_ERR_UNSUPPORTED);
    CHECK_SIZE(len, 0);
    CHECK_STATUS(render(MCP, calls, 1, results, 1), TOOLCORE_OK);
    CHECK_TEXT(buf, len, "{\"content\":[{\"type\":\"text\",\"text\":\"ok\"}]}");
}

TEST(a_call_without_an_id_is_answered_at_its_place)
{
    toolcore_tool_call_t calls[2] = { TOOLCORE_TOOL_CALL_INIT, TOOLCORE_TOOL_CALL_INIT };
    toolcore_call_result_t results[2] = { answer_of("", result_of("first")), answer_of("", result_of("second")) };
    toolcore_str_t ids[2] = { TOOLCORE_STR(""), TOOLCORE_STR("") };
    toolcore_reply_t *reply = parse(OPENAI, exact("{\"tool_calls\":[{\"function\":{\"name\":\"city\",\"arguments\":\"\"}},"
                                                  "{\"id\":null,\"function\":{\"name\":\"city\",\"arguments\":\"\"}}]}"));
    for (size_t i = 0; i < 2; i++) {
        CHECK_STATUS(toolcore_reply_call(reply, i, &calls[i]), TOOLCORE_OK);
        CHECK(calls[i].id.len == 0 && calls[i].flags == 0);
    }
    CHECK_STATUS(render(OPENAI, calls, 2, results, 2), TOOLCORE_OK);
    CHECK(contains(buf, len, "first") && contains(buf, len, "second"));
    /* The provider matches by id, so each has one of its own. */
    CHECK_STATUS(toolcore_json_get((toolcore_str_t){ buf, len }, text("/0/tool_call_id"), &ids[0]), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_get((toolcore_str_t){ buf, len }, text("/1/tool_call_id"), &ids[1]), TOOLCORE_OK);
    CHECK(ids[0].len > 2 && (ids[0].len != ids[1].len || memcmp(ids[0].ptr, ids[1].ptr, ids[0].len) != 0));
    toolcore_reply_deinit(reply);
    /* An empty id is none in a reply; in a call of the host's own it is one if the flag says so. */
    reply = parse(OPENAI, exact("{\"tool_calls\":[{\"id\":\"\",\"function\":{\"name\":\"city\",\"arguments\":\"\"}}]}"));
    CHECK_STATUS(toolcore_reply_call(reply, 0, &calls[0]), TOOLCORE_OK);
    CHECK_SIZE(calls[0].flags, 0);
    CHECK_TEXT(calls[0].wire_id.ptr, calls[0].wire_id.len, "toolcore_0");
    results[0].id = calls[0].wire_id;
    CHECK_STATUS(render(OPENAI, calls, 1, results, 1), TOOLCORE_OK);
    CHECK_TEXT(buf, len, "[{\"role\":\"tool\",\"tool_call_id\":\"toolcore_0\",\"content\":\"first\"}]");
    calls[0] = call_of("");
    calls[0].flags = TOOLCORE_CALL_HAS_ID;
    results[0].id = TOOLCORE_STR("");
    results[0].flags = TOOLCORE_RESULT_HAS_ID;
    CHECK_STATUS(render(OPENAI, calls, 1, results, 1), TOOLCORE_OK);
    CHECK_TEXT(buf, len, "[{\"role\":\"tool\",\"tool_call_id\":\"\",\"content\":\"first\"}]");
    toolcore_reply_deinit(reply);
}

TEST(results_are_limited_and_bare_when_asked)
{
    const toolcore_tool_call_t calls[] = { call_of("t1") };
    const toolcore_call_result_t results[] = { answer_of("t1", result_of("0123456789")) };
    toolcore_results_opts_t opts = TOOLCORE_RESULTS_OPTS_INIT;
    opts.limit = 4;
    opts.flags = TOOLCORE_RESULTS_BARE;
    CHECK_STATUS(toolcore_results_render(OPENAI, calls, 1, results, 1, &opts, buf, sizeof buf, &len, NULL), TOOLCORE_OK);
    CHECK_TEXT(buf, len, "{\"role\":\"tool\",\"tool_call_id\":\"t1\",\"content\":\"0123\xE2\x80\xA6 [truncated, 4 of 10 bytes]\"}");
}

/* A result of the host's own. */

TEST(a_result_keeps_its_parts_in_order)
{
    char mem[1024];
    toolcore_result_t *result = NULL;
    toolcore_part_t part = TOOLCORE_PART_INIT;
    CHECK_STATUS(toolcore_result_init(mem, sizeof mem, &result), TOOLCORE_OK);
    CHECK_SIZE(toolcore_result_len(result), 0);
    CHECK_SIZE(toolcore_result_kind(result), TOOLCORE_OUTCOME_ANSWERED);
    CHECK_STATUS(toolcore_result_text(result, exact("words")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_result_json(result, exact(" {\"a\":[1]} ")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_result_image(result, exact("image/png"), "\x00\xFF", 2), TOOLCORE_OK);
    CHECK_STATUS(toolcore_result_audio(result, exact("audio/wav"), "\x01", 1), TOOLCORE_OK);
    CHECK_STATUS(toolcore_result_link(result, exact("log"), exact("file:///log")), TOOLCORE_OK);
    CHECK_SIZE(toolcore_result_len(result), 5);
    CHECK_STATUS(toolcore_result_part(result, 0, &part), TOOLCORE_OK);
    CHECK(part.kind == TOOLCORE_PART_TEXT && part.total == 5);
    CHECK_TEXT(part.text.ptr, part.text.len, "words");
    CHECK_STATUS(toolcore_result_part(result, 1, &part), TOOLCORE_OK);
    CHECK_SIZE(part.kind, TOOLCORE_PART_JSON);
    CHECK_TEXT(part.text.ptr, part.text.len, "{\"a\":[1]}");
    CHECK_STATUS(toolcore_result_part(result, 2, &part), TOOLCORE_OK);
    CHECK(part.kind == TOOLCORE_PART_IMAGE && part.data_len == 2 && memcmp(part.data, "\x00\xFF", 2) == 0);
    CHECK_TEXT(part.name.ptr, part.name.len, "image/png");
    CHECK_STATUS(toolcore_result_part(result, 3, &part), TOOLCORE_OK);
    CHECK(part.kind == TOOLCORE_PART_AUDIO && part.data_len == 1);
    CHECK_STATUS(toolcore_result_part(result, 4, &part), TOOLCORE_OK);
    CHECK_SIZE(part.kind, TOOLCORE_PART_LINK);
    CHECK_TEXT(part.name.ptr, part.name.len, "log");
    CHECK_TEXT(part.text.ptr, part.text.len, "file:///log");
    CHECK_STATUS(toolcore_result_part(result, 5, &part), TOOLCORE_ERR_NOT_FOUND);

    CHECK_STATUS(toolcore_result_error(result, exact("gone")), TOOLCORE_OK);
    CHECK_SIZE(toolcore_result_len(result), 1);
    CHECK_SIZE(toolcore_result_kind(result), TOOLCORE_OUTCOME_TOOL_FAILED);
    CHECK(toolcore_result_failed(result));
    CHECK_STATUS(toolcore_result_part(result, 0, &part), TOOLCORE_OK);
    CHECK_TEXT(part.text.ptr, part.text.len, "Tool error: gone");
    CHECK_STATUS(toolcore_result_retryable(result, 1), TOOLCORE_OK);
    CHECK_STATUS(toolcore_result_clear(result), TOOLCORE_OK);
    CHECK(toolcore_result_len(result) == 0 && !toolcore_result_failed(result));
    toolcore_result_deinit(result);
}

TEST(a_text_that_outgrows_its_memory_is_cut_and_other_parts_must_fit)
{
    size_t need = toolcore_result_mem_size() + 8;
    char *mem = block(need);
    toolcore_result_t *result = NULL;
    toolcore_part_t part = TOOLCORE_PART_INIT;
    CHECK_STATUS(toolcore_result_init(mem, need, &result), TOOLCORE_OK);
    CHECK_STATUS(toolcore_result_json(result, text("\"0123456789012345678901234567890\"")), TOOLCORE_ERR_NO_SPACE);
    CHECK_STATUS(toolcore_result_image(result, text("image/png"), "0123456789012345678901234567890", 31), TOOLCORE_ERR_NO_SPACE);
    CHECK_SIZE(toolcore_result_len(result), 0);
    CHECK_STATUS(toolcore_result_text(result, text("\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC"
                                                   "\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC")),
                 TOOLCORE_OK);
    CHECK_STATUS(toolcore_result_part(result, 0, &part), TOOLCORE_OK);
    CHECK(part.total == 36 && part.text.len >= 6 && part.text.len < 36 && part.text.len % 3 == 0);
    toolcore_result_deinit(result);
}

int main(void)
{
    RUN(set_up);
    RUN(a_turn_in_steps_is_a_turn_in_one);
    RUN(text_beside_the_calls_is_joined_as_it_is);
    RUN(why_a_reply_ended_is_told);
    RUN(a_call_that_was_cut_off_is_marked_and_never_executed);
    RUN(strings_of_calls_live_as_long_as_the_reply);
    RUN(a_broken_reply_gives_no_reply_and_says_where);
    RUN(how_deep_a_reply_may_be_is_the_hosts_to_say);
    RUN(dispatch_tells_model_mistakes_in_the_result);
    RUN(dispatch_knows_aliases_only_of_the_dialect_that_is_said);
    RUN(dispatch_without_a_clock_runs_nothing_that_has_a_timeout);
    RUN(results_may_come_in_any_order);
    RUN(a_turn_with_a_missing_result_is_not_rendered);
    RUN(a_result_for_no_call_is_refused);
    RUN(two_results_for_one_call_are_refused);
    RUN(a_cancelled_call_is_answered_as_a_failure);
    RUN(mcp_holds_one_result);
    RUN(a_call_without_an_id_is_answered_at_its_place);
    RUN(results_are_limited_and_bare_when_asked);
    RUN(a_result_keeps_its_parts_in_order);
    RUN(a_text_that_outgrows_its_memory_is_cut_and_other_parts_must_fit);
    RUN(tear_down);
    return check_end();
}

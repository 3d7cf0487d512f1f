/* What a callback can do: read its arguments, append parts, say what it cost. */
#include "turn.h"

/* What a callback reads. */

static toolcore_status_t reads(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    toolcore_str_t got = TOOLCORE_STR("before");
    int64_t i = 77;
    uint64_t u = 77;
    double f = 0.5;
    bool b = false;
    (void)user_data;
    CHECK_STATUS(toolcore_call_get_str(call, text("s"), &got), TOOLCORE_OK);
    CHECK_TEXT(got.ptr, got.len, "caf\xC3\xA9\n\xF0\x9F\x98\x80");
    CHECK_STATUS(toolcore_call_get_str(call, text("/o/list/1"), &got), TOOLCORE_OK);
    CHECK_TEXT(got.ptr, got.len, "two");
    /* A name that holds a slash is a name; a path begins with one. */
    CHECK_STATUS(toolcore_call_get_str(call, text("k/v.io~"), &got), TOOLCORE_OK);
    CHECK_TEXT(got.ptr, got.len, "slash");
    CHECK_STATUS(toolcore_call_get_str(call, text("/k~1v.io~0"), &got), TOOLCORE_OK);
    CHECK_TEXT(got.ptr, got.len, "slash");
    CHECK_STATUS(toolcore_call_get_json(call, text("o"), &got), TOOLCORE_OK);
    CHECK_TEXT(got.ptr, got.len, "{\"list\":[1.0,\"two\"]}");
    CHECK_STATUS(toolcore_call_get_i64(call, text("/o/list/0"), &i), TOOLCORE_OK);
    CHECK(i == 1);
    CHECK_STATUS(toolcore_call_get_i64(call, text("hundred"), &i), TOOLCORE_OK);
    CHECK(i == 100);
    CHECK_STATUS(toolcore_call_get_i64(call, text("big"), &i), TOOLCORE_OK);
    CHECK(i == INT64_C(2512292042121000001));
    CHECK_STATUS(toolcore_call_get_u64(call, text("most"), &u), TOOLCORE_OK);
    CHECK(u == UINT64_MAX);
    CHECK_STATUS(toolcore_call_get_f64(call, text("half"), &f), TOOLCORE_OK);
    CHECK(f < -2.49 && f > -2.51);
    CHECK_STATUS(toolcore_call_get_bool(call, text("yes"), &b), TOOLCORE_OK);
    CHECK(b);
    /* What cannot be had leaves the output as it was, but a text is empty. */
    i = 77, u = 77, f = 0.5;
    CHECK_STATUS(toolcore_call_get_i64(call, text("most"), &i), TOOLCORE_ERR_OUT_OF_RANGE);
    CHECK_STATUS(toolcore_call_get_i64(call, text("huge"), &i), TOOLCORE_ERR_OUT_OF_RANGE);
    CHECK_STATUS(toolcore_call_get_u64(call, text("huge"), &u), TOOLCORE_ERR_OUT_OF_RANGE);
    CHECK_STATUS(toolcore_call_get_u64(call, text("half"), &u), TOOLCORE_ERR_WRONG_TYPE);
    CHECK_STATUS(toolcore_call_get_u64(call, text("minus"), &u), TOOLCORE_ERR_OUT_OF_RANGE);
    CHECK_STATUS(toolcore_call_get_f64(call, text("far"), &f), TOOLCORE_ERR_OUT_OF_RANGE);
    CHECK_STATUS(toolcore_call_get_i64(call, text("s"), &i), TOOLCORE_ERR_WRONG_TYPE);
    CHECK_STATUS(toolcore_call_get_bool(call, text("s"), &b), TOOLCORE_ERR_WRONG_TYPE);
    CHECK(i == 77 && u == 77 && f > 0.4 && f < 0.6 && b);
    CHECK_STATUS(toolcore_call_get_str(call, text("yes"), &got), TOOLCORE_ERR_WRONG_TYPE);
    CHECK_SIZE(got.len, 0);
    got = text("before");
    CHECK_STATUS(toolcore_call_get_str(call, text("none"), &got), TOOLCORE_ERR_NOT_FOUND);
    CHECK_SIZE(got.len, 0);
    CHECK_STATUS(toolcore_call_get_json(call, text("/o/list/2"), &got), TOOLCORE_ERR_NOT_FOUND);
    CHECK_STATUS(toolcore_call_get_json(call, text("\xFF"), &got), TOOLCORE_ERR_INVALID_UTF8);
    CHECK_STATUS(toolcore_call_get_str(call, text("s"), NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_call_get_i64(call, text("big"), NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    got = toolcore_call_id(call);
    CHECK_TEXT(got.ptr, got.len, "c1");
    got = toolcore_call_name(call);
    CHECK_TEXT(got.ptr, got.len, "reads");
    return toolcore_result_text(result, text("read"));
}

TEST(a_callback_reads_its_arguments_by_name_or_path)
{
    start(0);
    add_tool("reads", ANYTHING, reads, NULL, 0);
    check_text_and_flag(OPENAI, "reads",
                        "{\"s\":\"caf\\u00e9\\n\\ud83d\\ude00\",\"o\":{\"list\":[1.0,\"two\"]},\"k/v.io~\":\"slash\","
                        "\"hundred\":1e2,\"big\":2512292042121000001,\"most\":18446744073709551615,"
                        "\"huge\":123456789012345678901234567890,\"half\":-2.5,\"minus\":-1,\"far\":1e999,\"yes\":true}",
                        "read", 0);
    toolcore_registry_deinit(tools);
}

TEST(numbers_keep_their_text)
{
    static const char numbers[] = "{\"id\":2512292042121000001,\"u\":18446744073709551615,\"h\":123456789012345678901234567890}";
    start(0);
    add_tool("echo", "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}", echo, NULL, 0);
    check_text_and_flag(OPENAI, "echo", numbers, numbers, 0);
    check_text_and_flag(ANTHROPIC, "echo", numbers, numbers, 0);
    toolcore_registry_deinit(tools);
}

static toolcore_status_t uses_up(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    toolcore_usage_t usage = TOOLCORE_USAGE_INIT;
    (void)user_data;
    (void)call;
    usage.input_tokens = 100;
    usage.output_tokens = 20;
    usage.cached_tokens = 3;
    usage.thinking_tokens = 4;
    usage.cost_micros = 50000;
    usage.latency_ms = 6;
    CHECK_STATUS(toolcore_result_usage(result, &usage), TOOLCORE_OK);
    usage.input_tokens = UINT64_C(1) << 40;
    CHECK_STATUS(toolcore_result_usage(result, &usage), TOOLCORE_OK);
    return toolcore_result_text(result, text("ok"));
}

TEST(what_runs_cost_is_summed)
{
    start(0);
    add_tool("nested", ANYTHING, uses_up, NULL, 0);
    CHECK_STATUS(answer(ANTHROPIC,
                        "{\"content\":[{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"nested\",\"input\":{}},"
                        "{\"type\":\"tool_use\",\"id\":\"2\",\"name\":\"nested\",\"input\":{}}]}"),
                 TOOLCORE_OK);
    CHECK(outcome.input_tokens == 2 * (100 + (UINT64_C(1) << 40)) && outcome.output_tokens == 80);
    CHECK(outcome.cached_tokens == 12 && outcome.thinking_tokens == 16 && outcome.cost_micros == 200000);
    CHECK(outcome.latency_ms == 24);
    toolcore_registry_deinit(tools);
}

static toolcore_status_t many_parts(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    (void)user_data;
    (void)call;
    for (int i = 0; i < 8; i++)
        CHECK_STATUS(toolcore_result_text(result, text("part")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_result_text(result, text("ninth")), TOOLCORE_ERR_FULL);
    CHECK_STATUS(toolcore_result_json(result, text("9")), TOOLCORE_ERR_FULL);
    CHECK_SIZE(toolcore_result_len(result), 8);
    return TOOLCORE_OK;
}

TEST(a_result_holds_eight_parts)
{
    start(0);
    add_tool("many", ANYTHING, many_parts, NULL, 0);
    CHECK_STATUS(answer(MCP, one_call(MCP, "many", "{}")), TOOLCORE_OK);
    CHECK(outcome.answered == 1 && !contains(buf, len, "ninth"));
    toolcore_registry_deinit(tools);
}

static toolcore_status_t bad_parts(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    (void)user_data;
    (void)call;
    CHECK_STATUS(toolcore_result_json(result, text("{\"x\":NaN}")), TOOLCORE_ERR_BAD_JSON);
    CHECK_STATUS(toolcore_result_text(result, text("\xB0\xA1\xFF")), TOOLCORE_ERR_INVALID_UTF8);
    return toolcore_result_text(result, text("a\tb\x1F\r\n\xE2\x80\xA8"));
}

TEST(what_a_tool_says_is_escaped_and_checked)
{
    start(0);
    add_tool("bytes", ANYTHING, bad_parts, NULL, 0);
    check_answer(OPENAI, one_call(OPENAI, "bytes", "{}"),
                 "[{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"a\\tb\\u001f\\r\\n\xE2\x80\xA8\"}]");
    toolcore_registry_deinit(tools);
}

int main(void)
{
    RUN(a_callback_reads_its_arguments_by_name_or_path);
    RUN(numbers_keep_their_text);
    RUN(what_runs_cost_is_summed);
    RUN(a_result_holds_eight_parts);
    RUN(what_a_tool_says_is_escaped_and_checked);
    return check_end();
}

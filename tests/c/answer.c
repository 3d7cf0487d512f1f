/* A model's reply in, the messages to send back out: toolcore_answer in all three dialects. The texts are those
 * of the table of results, word for word. */
#include "turn.h"

/* How long a slow tool takes. */
static uint64_t took;

/* The shapes. */

TEST(openai_gets_one_tool_message_for_each_call_in_order)
{
    start(0);
    add_tool("add", TWO_INTEGERS, add_numbers, NULL, 0);
    add_tool("say", ANYTHING, say, "caf\xC3\xA9 \"x\"\n", 0);
    static const char reply[] =
        "{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
        "\"content\":\"Let me see.\",\"tool_calls\":["
        "{\"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":\"add\",\"arguments\":\"{\\\"a\\\":2,\\\"b\\\":40}\"}},"
        "{\"id\":\"call_2\",\"type\":\"function\",\"function\":{\"name\":\"say\",\"arguments\":\"{}\"}}]},"
        "\"finish_reason\":\"tool_calls\"}],\"usage\":{\"total_tokens\":5}}";
    check_answer(OPENAI, reply,
                 "[{\"role\":\"tool\",\"tool_call_id\":\"call_1\",\"content\":\"42\"},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"call_2\",\"content\":\"caf\xC3\xA9 \\\"x\\\"\\n\"}]");
    CHECK(strcmp(ran, "add say") == 0);
    CHECK(outcome.calls == 2 && outcome.answered == 2 && outcome.failed == 0);
    CHECK(why.status == TOOLCORE_OK && why.message_len == 0);
    CHECK(buf[len] == 0);
    /* The message alone is a reply too. */
    check_answer(OPENAI,
                 "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"x\",\"type\":\"function\",\"function\":"
                 "{\"name\":\"add\",\"arguments\":\"{\\\"a\\\":1,\\\"b\\\":-1}\"}}]}",
                 "[{\"role\":\"tool\",\"tool_call_id\":\"x\",\"content\":\"0\"}]");
    toolcore_registry_deinit(tools);
}

TEST(anthropic_gets_one_user_message_with_all_results)
{
    start(0);
    add_tool("add", TWO_INTEGERS, add_numbers, NULL, 0);
    add_tool("broken", ANYTHING, fail, "no such file", 0);
    static const char reply[] =
        "{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"content\":["
        "{\"type\":\"text\",\"text\":\"Let me see.\"},"
        "{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"add\",\"input\":{\"a\":2,\"b\":40}},"
        "{\"type\":\"tool_use\",\"id\":\"toolu_2\",\"name\":\"broken\",\"input\":{}}],"
        "\"stop_reason\":\"tool_use\"}";
    check_answer(ANTHROPIC, reply,
                 "[{\"role\":\"user\",\"content\":["
                 "{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_1\",\"content\":\"42\"},"
                 "{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_2\",\"content\":\"Tool error: no such file\","
                 "\"is_error\":true}]}]");
    CHECK(outcome.calls == 2 && outcome.answered == 1 && outcome.failed == 1);
    toolcore_registry_deinit(tools);
}

TEST(mcp_gets_one_call_tool_result)
{
    start(0);
    add_tool("add", TWO_INTEGERS, add_numbers, NULL, 0);
    add_tool("echo", ANYTHING, echo, NULL, 0);
    add_tool("broken", ANYTHING, fail, "no such file", 0);
    check_answer(MCP, one_call(MCP, "add", "{\"a\":2,\"b\":40}"), "{\"content\":[{\"type\":\"text\",\"text\":\"42\"}]}");
    check_answer(MCP, "{\"name\":\"add\",\"arguments\":{\"a\":2,\"b\":40}}",
                 "{\"content\":[{\"type\":\"text\",\"text\":\"42\"}]}");
    check_answer(MCP, one_call(MCP, "echo", "{\"k\":1}"),
                 "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"k\\\":1}\"}],\"structuredContent\":{\"k\":1}}");
    check_answer(MCP, one_call(MCP, "broken", "{}"),
                 "{\"content\":[{\"type\":\"text\",\"text\":\"Tool error: no such file\"}],\"isError\":true}");
    toolcore_registry_deinit(tools);
}

TEST(bare_leaves_the_brackets_out)
{
    start(0);
    add_tool("add", TWO_INTEGERS, add_numbers, NULL, 0);
    opts.flags = TOOLCORE_ANSWER_BARE;
    check_answer(OPENAI, one_call(OPENAI, "add", "{\"a\":2,\"b\":40}"),
                 "{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"42\"}");
    check_answer(ANTHROPIC, one_call(ANTHROPIC, "add", "{\"a\":2,\"b\":40}"),
                 "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"content\":\"42\"}]}");
    toolcore_registry_deinit(tools);
}

TEST(a_reply_without_calls_is_answered_with_nothing)
{
    start(0);
    add_tool("add", TWO_INTEGERS, add_numbers, NULL, 0);
    check_answer(OPENAI, "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"content\":\"Done.\"},\"finish_reason\":\"stop\"}]}", "");
    CHECK_SIZE(outcome.calls, 0);
    check_answer(ANTHROPIC, "{\"content\":[{\"type\":\"text\",\"text\":\"Done.\"}],\"stop_reason\":\"end_turn\"}", "");
    /* Tools that the provider runs are not the client's to run. */
    check_answer(ANTHROPIC,
                 "{\"content\":[{\"type\":\"server_tool_use\",\"id\":\"s1\",\"name\":\"add\",\"input\":{\"a\":1,\"b\":1}},"
                 "{\"type\":\"mcp_tool_use\",\"id\":\"m1\",\"name\":\"add\",\"input\":{\"a\":1,\"b\":1}}],"
                 "\"stop_reason\":\"end_turn\"}",
                 "");
    CHECK(ran[0] == 0);
    toolcore_registry_deinit(tools);
}

TEST(ids_keep_their_exact_text_and_an_empty_one_is_none)
{
    start(0);
    add_tool("say", ANYTHING, say, "ok", 0);
    check_answer(OPENAI,
                 "{\"tool_calls\":[{\"id\":\"\\u0063all \\\"1\\\"\\u20ac\",\"function\":{\"name\":\"say\",\"arguments\":\"\"}},"
                 "{\"id\":\"\",\"function\":{\"name\":\"say\",\"arguments\":\"\"}}]}",
                 "[{\"role\":\"tool\",\"tool_call_id\":\"call \\\"1\\\"\xE2\x82\xAC\",\"content\":\"ok\"},"
                 "{\"role\":\"tool\",\"tool_call_id\":\"toolcore_1\",\"content\":\"ok\"}]");
    toolcore_registry_deinit(tools);
}

static toolcore_status_t parts(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    (void)user_data;
    (void)call;
    CHECK_STATUS(toolcore_result_text(result, text("look")), TOOLCORE_OK);
    return toolcore_result_image(result, text("image/png"), "\x89PNG", 4);
}

TEST(parts_go_out_in_the_providers_form)
{
    start(0);
    add_tool("parts", ANYTHING, parts, NULL, 0);
    check_answer(ANTHROPIC, one_call(ANTHROPIC, "parts", "{}"),
                 "[{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"c1\",\"content\":["
                 "{\"type\":\"text\",\"text\":\"look\"},"
                 "{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":\"iVBORw==\"}}]}]}]");
    check_answer(MCP, one_call(MCP, "parts", "{}"),
                 "{\"content\":[{\"type\":\"text\",\"text\":\"look\"},"
                 "{\"type\":\"image\",\"data\":\"iVBORw==\",\"mimeType\":\"image/png\"}]}");
    /* OpenAI takes text only: the image is not lost in silence. */
    CHECK_STATUS(answer(OPENAI, one_call(OPENAI, "parts", "{}")), TOOLCORE_OK);
    CHECK(contains(buf, len, "{\"type\":\"text\",\"text\":\"look\"}") && contains(buf, len, "image/png") &&
          !contains(buf, len, "iVBORw"));
    toolcore_registry_deinit(tools);
}

static toolcore_status_t sound(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    static const unsigned char bytes[3] = { 0, 1, 2 };
    (void)user_data;
    (void)call;
    CHECK_STATUS(toolcore_result_audio(result, text("audio/wav"), bytes, sizeof bytes), TOOLCORE_OK);
    return toolcore_result_link(result, text("A"), text("file:///a"));
}

TEST(audio_and_links_reach_an_mcp_client)
{
    start(0);
    add_tool("sound", ANYTHING, sound, NULL, 0);
    check_answer(MCP, one_call(MCP, "sound", "{}"),
                 "{\"content\":[{\"type\":\"audio\",\"data\":\"AAEC\",\"mimeType\":\"audio/wav\"},"
                 "{\"type\":\"resource_link\",\"uri\":\"file:///a\",\"name\":\"A\"}]}");
    toolcore_registry_deinit(tools);
}

/* The table of what the model reads. */

static toolcore_status_t returns_status(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    (void)call;
    (void)result;
    return *(const toolcore_status_t *)user_data;
}

static toolcore_status_t reads_missing(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    int64_t red;
    (void)user_data;
    (void)result;
    return toolcore_call_get_i64(call, text("/color/red"), &red);
}

TEST(the_model_reads_what_the_table_says)
{
    static const uint32_t dialects[] = { OPENAI, ANTHROPIC, MCP };
    static uint64_t hundred_and_one = 101;
    static const toolcore_status_t no_space = TOOLCORE_ERR_NO_SPACE;
    static const struct { const char *name, *arguments, *expected; int failed; } rows[] = {
        { "say", "{}", "It is 4 \xC2\xB0\x43.", 0 },
        { "echo", "{\"k\":[1.50,\"\xC3\xA9\"]}", "{\"k\":[1.50,\"\xC3\xA9\"]}", 0 },
        { "slow", "{}", "[TOOL_TIMEOUT] Tool 'slow' timed out after 0.1s", 1 },
        { "broken", "{}", "Tool error: no such file", 1 },
        { "silent", "{}", "Tool error: the tool gave no reason", 1 },
        { "status", "{}", "Tool error: no space", 1 },
        { "missing", "{\"color\":{}}", "Tool error: argument '/color/red': it is missing", 1 },
        { "add", "{\"a\":\"x\"}", "Tool error: Invalid arguments for 'add': /a: expected integer, got string \"x\"; /b: required", 1 },
        { "add", "{}", "Tool error: Invalid arguments for 'add': /a: required; /b: required", 1 },
        { "nope", "{}", "Tool error: Unknown tool: 'nope'. Available: say, echo, slow, broken, silent, status, missing, add", 1 },
        { "", "{}", "Tool error: Unknown tool: ''. Available: say, echo, slow, broken, silent, status, missing, add", 1 },
    };
    start(0);
    add_tool("say", ANYTHING, say, "It is 4 \xC2\xB0\x43.", 0);
    add_tool("echo", ANYTHING, echo, NULL, 0);
    add_tool("slow", ANYTHING, slow, &hundred_and_one, 100);
    add_tool("broken", ANYTHING, fail, "no such file", 0);
    add_tool("silent", ANYTHING, fail, "", 0);
    add_tool("status", ANYTHING, returns_status, (void *)(uintptr_t)&no_space, 0);
    add_tool("missing", ANYTHING, reads_missing, NULL, 0);
    add_tool("add", TWO_INTEGERS, add_numbers, NULL, 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t d = 0; d < 3; d++) {
            AT(rows[i].expected);
            check_text_and_flag(dialects[d], rows[i].name, rows[i].arguments, rows[i].expected, rows[i].failed);
        }
    }
    toolcore_registry_deinit(tools);
}

TEST(malformed_arguments_are_shown_with_the_place)
{
    start(0);
    add_tool("add", TWO_INTEGERS, add_numbers, NULL, 0);
    static const char before[] = "Tool error: Tool 'add' received malformed JSON arguments (";
    static const char after[] = " at byte 6). Raw arguments: '{\\\"a\\\":1'\"}]";
    CHECK_STATUS(answer(OPENAI, one_call(OPENAI, "add", "{\"a\":1")), TOOLCORE_OK);
    CHECK(contains(buf, len, before) && contains(buf, len, after));
    CHECK(ran[0] == 0);
    /* The raw text is bounded. */
    static char long_arguments[4000];
    memset(long_arguments, 'x', sizeof long_arguments - 1);
    CHECK_STATUS(answer(OPENAI, one_call(OPENAI, "add", long_arguments)), TOOLCORE_OK);
    CHECK(contains(buf, len, before) && contains(buf, len, "at byte 0") && len < 1000);
    toolcore_registry_deinit(tools);
}

TEST(no_arguments_at_all_are_an_empty_object)
{
    static const char *const empty[] = { "", " ", "\n", "null", " null ", "{}" };
    start(0);
    add_tool("echo", ANYTHING, echo, NULL, 0);
    add_tool("add", TWO_INTEGERS, add_numbers, NULL, 0);
    for (size_t i = 0; i < sizeof empty / sizeof empty[0]; i++) {
        AT(empty[i]);
        check_text_and_flag(OPENAI, "echo", empty[i], "{}", 0);
        check_text_and_flag(OPENAI, "add", empty[i],
                            "Tool error: Invalid arguments for 'add': /a: required; /b: required", 1);
    }
    AT(NULL);
    check_answer(MCP, "{\"params\":{\"name\":\"echo\"}}",
                 "{\"content\":[{\"type\":\"text\",\"text\":\"{}\"}],\"structuredContent\":{}}");
    check_answer(ANTHROPIC, "{\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"echo\"}]}",
                 "[{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"{}\"}]}]");
    toolcore_registry_deinit(tools);
}

TEST(arguments_that_are_no_object_are_refused)
{
    static const char *const others[] = { "[]", "1", "\"x\"", "true", "[{\"a\":1}]" };
    start(0);
    add_tool("any", "true", echo, NULL, 0);
    add_tool("echo", ANYTHING, echo, NULL, 0);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        for (int which = 0; which < 2; which++) {
            AT(others[i]);
            CHECK_STATUS(answer(OPENAI, one_call(OPENAI, which == 0 ? "any" : "echo", others[i])), TOOLCORE_OK);
            CHECK(ran[0] == 0 && outcome.failed == 1);
            CHECK(contains(buf, len, "Tool error: Invalid arguments for '") && contains(buf, len, "expected object"));
        }
    }
    toolcore_registry_deinit(tools);
}

TEST(arguments_may_be_an_object_where_a_string_is_due)
{
    start(0);
    add_tool("add", TWO_INTEGERS, add_numbers, NULL, 0);
    check_answer(OPENAI,
                 "{\"tool_calls\":[{\"id\":\"a\",\"type\":\"function\",\"function\":{\"name\":\"add\",\"arguments\":"
                 "{\"a\":1,\"b\":2}}}]}",
                 "[{\"role\":\"tool\",\"tool_call_id\":\"a\",\"content\":\"3\"}]");
    toolcore_registry_deinit(tools);
}

TEST(all_problems_of_a_call_are_reported_with_their_places)
{
    start(0);
    add_tool("paint",
             "{\"type\":\"object\",\"properties\":{\"color\":{\"type\":\"object\",\"properties\":{\"red\":{\"type\":"
             "\"integer\",\"minimum\":0}},\"required\":[\"red\"]},\"unit\":{\"enum\":[\"c\",\"f\"]}},"
             "\"required\":[\"color\"],\"additionalProperties\":false}",
             echo, NULL, 0);
    CHECK_STATUS(answer(OPENAI, one_call(OPENAI, "paint", "{\"color\":{\"red\":true},\"unit\":\"k\",\"x~/y\":1}")), TOOLCORE_OK);
    CHECK(contains(buf, len, "Tool error: Invalid arguments for 'paint': "));
    CHECK(contains(buf, len, "/color/red: expected integer, got "));
    CHECK(contains(buf, len, "/unit: expected one of \\\"c\\\", \\\"f\\\", got \\\"k\\\""));
    CHECK(contains(buf, len, "/x~0~1y: "));
    CHECK(ran[0] == 0);
    toolcore_registry_deinit(tools);
}

TEST(a_call_does_not_spoil_the_others_of_its_turn)
{
    start(0);
    add_tool("terminal", ANYTHING, say, "$", 0);
    check_answer(OPENAI,
                 "{\"tool_calls\":[{\"id\":\"1\",\"function\":{\"name\":\"terminalterminal\",\"arguments\":\"{}\"}},"
                 "{\"id\":\"2\",\"function\":{\"name\":\"terminal\",\"arguments\":\"{}\"}}]}",
                 "[{\"role\":\"tool\",\"tool_call_id\":\"1\",\"content\":\"Tool error: Unknown tool: 'terminalterminal'. "
                 "Available: terminal\"},{\"role\":\"tool\",\"tool_call_id\":\"2\",\"content\":\"$\"}]");
    CHECK(outcome.answered == 1 && outcome.failed == 1);
    toolcore_registry_deinit(tools);
}

/* Replies that cannot be read. */

TEST(a_reply_that_cannot_be_read_runs_nothing)
{
    static const struct { uint32_t dialect; const char *reply; toolcore_status_t status; } rows[] = {
        { OPENAI, "", TOOLCORE_ERR_BAD_JSON },
        { OPENAI, "{\"tool_calls\":[{\"id\":\"1\",\"function\":{\"name\":\"say\",\"arguments\":\"\"}}]", TOOLCORE_ERR_BAD_JSON },
        { ANTHROPIC, "{\"content\":[{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"say\",\"input\":{}}]} x", TOOLCORE_ERR_BAD_JSON },
        { MCP, "{\"name\":\"say\",}", TOOLCORE_ERR_BAD_JSON },
        { OPENAI, "{\"content\":\"\\ud800\"}", TOOLCORE_ERR_BAD_JSON },
        { OPENAI, "{\"error\":{\"message\":\"overloaded\"}}", TOOLCORE_ERR_PROVIDER },
        { ANTHROPIC, "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}", TOOLCORE_ERR_PROVIDER },
        { OPENAI, "{}", TOOLCORE_ERR_BAD_REPLY },
        { OPENAI, "[]", TOOLCORE_ERR_BAD_REPLY },
        { OPENAI, "{\"choices\":[]}", TOOLCORE_ERR_BAD_REPLY },
        { ANTHROPIC, "{\"choices\":[{\"message\":{}}]}", TOOLCORE_ERR_BAD_REPLY },
        { ANTHROPIC, "7", TOOLCORE_ERR_BAD_REPLY },
        { MCP, "{\"params\":{}}", TOOLCORE_ERR_BAD_REPLY },
        { MCP, "{\"name\":1}", TOOLCORE_ERR_BAD_REPLY },
    };
    start(0);
    add_tool("say", ANYTHING, say, "ok", 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        AT(rows[i].reply);
        CHECK_STATUS(answer(rows[i].dialect, rows[i].reply), rows[i].status);
        CHECK(ran[0] == 0 && len == 0 && why.message_len > 0 && why.status == rows[i].status);
        CHECK((why.offset == TOOLCORE_NO_OFFSET) == (rows[i].status != TOOLCORE_ERR_BAD_JSON));
    }
    toolcore_registry_deinit(tools);
}

/* Who is told. */

static void observe(void *user_data, const toolcore_tool_call_t *call, uint32_t kind, const toolcore_result_t *result)
{
    char line[96];
    CHECK(user_data == &opts);
    CHECK(toolcore_result_kind(result) == kind && toolcore_result_failed(result) == (kind != TOOLCORE_OUTCOME_ANSWERED));
    snprintf(line, sizeof line, "%.*s=%s", (int)call->id.len, call->id.ptr, toolcore_outcome_name(kind));
    note(line);
}

TEST(the_host_is_told_each_call_and_what_became_of_it)
{
    start(0);
    took = 200;
    add_tool("slow", ANYTHING, slow, &took, 100);
    add_tool("broken", ANYTHING, fail, "no", 0);
    add_tool("add", TWO_INTEGERS, add_numbers, NULL, 0);
    opts.observe = observe;
    opts.user_data = &opts;
    opts.max_calls = 5;
    CHECK_STATUS(answer(OPENAI,
                        "{\"tool_calls\":[{\"id\":\"1\",\"function\":{\"name\":\"add\",\"arguments\":\"{\\\"a\\\":1,\\\"b\\\":2}\"}},"
                        "{\"id\":\"2\",\"function\":{\"name\":\"none\",\"arguments\":\"\"}},"
                        "{\"id\":\"3\",\"function\":{\"name\":\"add\",\"arguments\":\"{\"}},"
                        "{\"id\":\"4\",\"function\":{\"name\":\"broken\",\"arguments\":\"\"}},"
                        "{\"id\":\"5\",\"function\":{\"name\":\"slow\",\"arguments\":\"\"}},"
                        "{\"id\":\"6\",\"function\":{\"name\":\"add\",\"arguments\":\"\"}}]}"),
                 TOOLCORE_OK);
    CHECK_TEXT(ran, strlen(ran),
               "add 1=answered 2=unknown_tool 3=bad_arguments broken 4=tool_failed slow 5=timed_out 6=over_limit");
    CHECK(outcome.calls == 6 && outcome.answered == 1 && outcome.failed == 5);
    toolcore_registry_deinit(tools);
}

/* Names that the provider does not allow. */

TEST(an_alias_leads_back_to_its_tool)
{
    static const char *const names[] = { "admin.tools.list",
                                         "mcp__plugin_chrome-devtools-mcp_chrome-devtools__get_console_message" };
    for (size_t i = 0; i < 2; i++) {
        toolcore_str_t alias;
        char name[160], expected[200];
        start(0);
        add_tool(names[i], ANYTHING, say, "found", 0);
        CHECK_STATUS(toolcore_tools_render(tools, OPENAI, NULL, buf, sizeof buf, &len, NULL), TOOLCORE_OK);
        CHECK_STATUS(toolcore_json_get((toolcore_str_t){ buf, len }, text("/tools/0/function/name"), &alias), TOOLCORE_OK);
        CHECK(alias.len - 2 <= 64);
        for (size_t at = 1; at + 1 < alias.len; at++)
            CHECK(strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-", alias.ptr[at]) != NULL);
        snprintf(name, sizeof name, "%.*s", (int)alias.len - 2, alias.ptr + 1);
        check_text_and_flag(OPENAI, name, "{}", "found", 0);
        /* Where the name is allowed it goes out as it is. */
        CHECK_STATUS(toolcore_tools_render(tools, MCP, NULL, buf, sizeof buf, &len, NULL), TOOLCORE_OK);
        snprintf(expected, sizeof expected, "\"name\":\"%s\"", names[i]);
        CHECK(contains(buf, len, expected));
        /* And where aliases are refused, the message says what is wrong. */
        toolcore_tools_opts_t tools_opts = TOOLCORE_TOOLS_OPTS_INIT;
        toolcore_detail_t detail = TOOLCORE_DETAIL_INIT;
        tools_opts.flags = TOOLCORE_RENDER_NO_ALIAS;
        CHECK_STATUS(toolcore_tools_render(tools, OPENAI, &tools_opts, buf, sizeof buf, &len, &detail), TOOLCORE_ERR_BAD_NAME);
        CHECK(len == 0 && contains(detail.message, detail.message_len, "64"));
        if (i == 1)
            CHECK(contains(detail.message, detail.message_len, "68"));
        toolcore_registry_deinit(tools);
    }
}

int main(void)
{
    RUN(openai_gets_one_tool_message_for_each_call_in_order);
    RUN(anthropic_gets_one_user_message_with_all_results);
    RUN(mcp_gets_one_call_tool_result);
    RUN(bare_leaves_the_brackets_out);
    RUN(a_reply_without_calls_is_answered_with_nothing);
    RUN(ids_keep_their_exact_text_and_an_empty_one_is_none);
    RUN(parts_go_out_in_the_providers_form);
    RUN(audio_and_links_reach_an_mcp_client);
    RUN(the_model_reads_what_the_table_says);
    RUN(malformed_arguments_are_shown_with_the_place);
    RUN(no_arguments_at_all_are_an_empty_object);
    RUN(arguments_that_are_no_object_are_refused);
    RUN(arguments_may_be_an_object_where_a_string_is_due);
    RUN(all_problems_of_a_call_are_reported_with_their_places);
    RUN(a_call_does_not_spoil_the_others_of_its_turn);
    RUN(a_reply_that_cannot_be_read_runs_nothing);
    RUN(the_host_is_told_each_call_and_what_became_of_it);
    RUN(an_alias_leads_back_to_its_tool);
    return check_end();
}

/* Output and memory at every length: nothing is written beyond what was given, what is too small is a status
 * that names what would do, and what was measured is what is written. */
#include "check.h"

#define GUARD 32

static toolcore_status_t echo(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    ++*(int *)user_data;
    return toolcore_result_json(result, toolcore_call_arguments(call));
}

static toolcore_status_t talk(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    static char words[400];
    (void)call;
    ++*(int *)user_data;
    for (size_t i = 0; i < sizeof words; i += 4)
        memcpy(words + i, i % 16 == 0 ? "\xE2\x82\xAC\n" : "w\"\\ ", 4);
    return toolcore_result_text(result, (toolcore_str_t){ words, sizeof words });
}

static toolcore_status_t picture(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    static char bytes[100];
    (void)call;
    ++*(int *)user_data;
    memset(bytes, 0x5A, sizeof bytes);
    return toolcore_result_image(result, TOOLCORE_STR("image/png"), bytes, sizeof bytes);
}

static toolcore_registry_t *tools;
static toolcore_context_t *context;
static int runs;

static void add(const char *name, toolcore_run_fn run)
{
    toolcore_tool_t tool = TOOLCORE_TOOL_INIT;
    tool.name = text(name);
    tool.description = TOOLCORE_STR("Says \"things\" \\ in caf\xC3\xA9s.");
    tool.schema = TOOLCORE_STR("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"enum\":[\"x\",\"\xE2\x82\xAC\"]}}}");
    tool.run = run;
    tool.user_data = &runs;
    CHECK_STATUS(toolcore_registry_add(tools, &tool, NULL), TOOLCORE_OK);
}

static void set_up(void)
{
    static char mem[16384], context_mem[8192];
    toolcore_block_t piece = TOOLCORE_BLOCK_INIT;
    CHECK_STATUS(toolcore_registry_init(NULL, mem, sizeof mem, &tools), TOOLCORE_OK);
    add("echo", echo);
    add("talk", talk);
    add("picture", picture);
    add("dotted.name", echo);
    CHECK_STATUS(toolcore_context_init(NULL, context_mem, sizeof context_mem, &context), TOOLCORE_OK);
    piece.content = TOOLCORE_STR("The user lives in <Oslo> & likes caf\xC3\xA9s.");
    piece.category = TOOLCORE_STR("memory");
    CHECK_STATUS(toolcore_context_push(context, &piece), TOOLCORE_OK);
    piece.content = TOOLCORE_STR("One line of a log file.\nAnother line of a log file.\nA third line of a log file.\n"
                                 "And then there are many more lines that nobody reads.\nThey go on and on.\n");
    piece.flags = TOOLCORE_BLOCK_CUT_MIDDLE;
    piece.priority = -1;
    CHECK_STATUS(toolcore_context_push(context, &piece), TOOLCORE_OK);
}

static void tear_down(void)
{
    toolcore_context_deinit(context);
    toolcore_registry_deinit(tools);
}

/* The functions that write a text. */

static toolcore_status_t render_openai(char *buf, size_t len, size_t *out)
{
    toolcore_tools_opts_t opts = TOOLCORE_TOOLS_OPTS_INIT;
    opts.choice = TOOLCORE_CHOICE_TOOL;
    opts.choice_tool = TOOLCORE_STR("dotted.name");
    opts.parallel = TOOLCORE_PARALLEL_NO;
    return toolcore_tools_render(tools, TOOLCORE_DIALECT_OPENAI_CHAT, &opts, buf, len, out, NULL);
}
static toolcore_status_t render_anthropic(char *buf, size_t len, size_t *out)
{
    return toolcore_tools_render(tools, TOOLCORE_DIALECT_ANTHROPIC, NULL, buf, len, out, NULL);
}
static toolcore_status_t render_mcp(char *buf, size_t len, size_t *out)
{
    toolcore_tools_opts_t opts = TOOLCORE_TOOLS_OPTS_INIT;
    opts.flags = TOOLCORE_RENDER_BARE;
    return toolcore_tools_render(tools, TOOLCORE_DIALECT_MCP, &opts, buf, len, out, NULL);
}
static toolcore_status_t reply_text(char *buf, size_t len, size_t *out)
{
    static char mem[1024];
    toolcore_reply_t *reply;
    toolcore_status_t status =
        toolcore_reply_parse(TOOLCORE_DIALECT_ANTHROPIC,
                             TOOLCORE_STR("{\"content\":[{\"type\":\"text\",\"text\":\"caf\\u00e9 \\ud83d\\ude00\"},"
                                          "{\"type\":\"text\",\"text\":\"\\n\xE2\x82\xAC\"}]}"),
                             NULL, mem, sizeof mem, &reply, NULL);
    if (status == TOOLCORE_OK)
        status = toolcore_reply_text(reply, buf, len, out);
    toolcore_reply_deinit(reply);
    return status;
}
static toolcore_status_t results(uint32_t dialect, size_t count, char *buf, size_t len, size_t *out)
{
    static char mem[2][2048];
    static const toolcore_tool_call_t none = TOOLCORE_TOOL_CALL_INIT;
    static const toolcore_call_result_t nothing = TOOLCORE_CALL_RESULT_INIT;
    toolcore_tool_call_t calls[3];
    toolcore_call_result_t answers[3];
    toolcore_result_t *made[2];
    for (size_t i = 0; i < 3; i++) {
        calls[i] = none;
        calls[i].id = text(i == 0 ? "call_a" : i == 1 ? "call_\"b\"" : "call_c");
        calls[i].name = text("echo");
        answers[i] = nothing;
        answers[i].id = calls[i].id;
    }
    for (size_t i = 0; i < 2; i++) {
        CHECK_STATUS(toolcore_result_init(mem[i], sizeof mem[i], &made[i]), TOOLCORE_OK);
        answers[i].result = made[i];
    }
    CHECK_STATUS(toolcore_result_text(made[0], TOOLCORE_STR("4 \xC2\xB0\x43 and \"rain\"\n")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_result_image(made[0], TOOLCORE_STR("image/png"), "\x89PNG\r", 5), TOOLCORE_OK);
    CHECK_STATUS(toolcore_result_error(made[1], TOOLCORE_STR("it broke")), TOOLCORE_OK);
    /* The third was cancelled. */
    toolcore_status_t status = toolcore_results_render(dialect, calls, count, answers, count, NULL, buf, len, out, NULL);
    toolcore_result_deinit(made[0]);
    toolcore_result_deinit(made[1]);
    return status;
}
static toolcore_status_t results_openai(char *buf, size_t len, size_t *out)
{
    return results(TOOLCORE_DIALECT_OPENAI_CHAT, 3, buf, len, out);
}
static toolcore_status_t results_anthropic(char *buf, size_t len, size_t *out)
{
    return results(TOOLCORE_DIALECT_ANTHROPIC, 3, buf, len, out);
}
static toolcore_status_t results_mcp(char *buf, size_t len, size_t *out)
{
    return results(TOOLCORE_DIALECT_MCP, 1, buf, len, out);
}
static toolcore_status_t json_string(char *buf, size_t len, size_t *out)
{
    return toolcore_json_string(TOOLCORE_STR("\"caf\\u00e9 \\ud83d\\ude00 \\n\xE2\x82\xAC\""), buf, len, out);
}
static toolcore_status_t json_writer(char *buf, size_t len, size_t *out)
{
    toolcore_json_writer_t writer;
    toolcore_status_t status = toolcore_json_writer_init(&writer, buf, len);
    if (status != TOOLCORE_OK)
        return status;
    /* That it does not fit is known at the end. */
    CHECK_STATUS(toolcore_json_writer_object_start(&writer), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_key(&writer, TOOLCORE_STR("\xE2\x82\xAC\n")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_array_start(&writer), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_i64(&writer, INT64_MIN), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_string(&writer, TOOLCORE_STR("\"\\\x01")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_array_end(&writer), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_object_end(&writer), TOOLCORE_OK);
    return toolcore_json_writer_end(&writer, out);
}
static toolcore_status_t render_context(uint32_t format, uint32_t budget, char *buf, size_t len, size_t *out)
{
    toolcore_context_render_opts_t opts = TOOLCORE_CONTEXT_RENDER_OPTS_INIT;
    opts.budget = budget;
    opts.format = format;
    opts.show = TOOLCORE_SHOW_CATEGORY;
    return toolcore_context_render(context, &opts, buf, len, out, NULL, NULL);
}
static toolcore_status_t context_plain(char *buf, size_t len, size_t *out)
{
    return render_context(TOOLCORE_FORMAT_PLAIN, 1000, buf, len, out);
}
static toolcore_status_t context_xml_cut(char *buf, size_t len, size_t *out)
{
    return render_context(TOOLCORE_FORMAT_XML, 60, buf, len, out);
}

static const struct {
    const char *what;
    toolcore_status_t (*write)(char *buf, size_t len, size_t *out);
} writers[] = {
    { "toolcore_tools_render, openai_chat", render_openai },
    { "toolcore_tools_render, anthropic", render_anthropic },
    { "toolcore_tools_render, mcp", render_mcp },
    { "toolcore_reply_text", reply_text },
    { "toolcore_results_render, openai_chat", results_openai },
    { "toolcore_results_render, anthropic", results_anthropic },
    { "toolcore_results_render, mcp", results_mcp },
    { "toolcore_json_string", json_string },
    { "toolcore_json_writer", json_writer },
    { "toolcore_context_render, plain", context_plain },
    { "toolcore_context_render, xml, cut", context_xml_cut },
};
#define WRITERS (sizeof writers / sizeof writers[0])

static int untouched(const char *guard)
{
    for (size_t i = 0; i < GUARD; i++)
        if ((unsigned char)guard[i] != 0xA5)
            return 0;
    return 1;
}

TEST(null_and_zero_measure)
{
    for (size_t i = 0; i < WRITERS; i++) {
        size_t need = 0;
        AT(writers[i].what);
        CHECK_STATUS(writers[i].write(NULL, 0, &need), TOOLCORE_OK);
        CHECK(need > 0);
    }
}

TEST(a_buffer_that_is_too_small_names_the_need_and_nothing_is_written_beyond)
{
    for (size_t i = 0; i < WRITERS; i++) {
        size_t need = 0;
        AT(writers[i].what);
        CHECK_STATUS(writers[i].write(NULL, 0, &need), TOOLCORE_OK);
        for (size_t len = 0; len < need; len++) {
            size_t out = 9999;
            char *buf = memset(malloc(len + GUARD), 0xA5, len + GUARD);
            CHECK_STATUS(writers[i].write(buf, len, &out), TOOLCORE_ERR_NO_SPACE);
            CHECK_SIZE(out, need);
            CHECK(untouched(buf + len));
            free(buf);
        }
    }
}

TEST(a_buffer_of_the_measured_length_suffices_and_a_nul_follows_if_there_is_room)
{
    for (size_t i = 0; i < WRITERS; i++) {
        size_t need = 0, out = 0;
        AT(writers[i].what);
        CHECK_STATUS(writers[i].write(NULL, 0, &need), TOOLCORE_OK);
        char *tight = block(need + GUARD), *roomy = block(need + 1 + GUARD), *large = block(need + 5000);
        CHECK_STATUS(writers[i].write(tight, need, &out), TOOLCORE_OK);
        CHECK_SIZE(out, need);
        CHECK(untouched(tight + need));
        CHECK_STATUS(writers[i].write(roomy, need + 1, &out), TOOLCORE_OK);
        CHECK_SIZE(out, need);
        CHECK(roomy[need] == 0);
        CHECK(untouched(roomy + need + 1));
        CHECK_STATUS(writers[i].write(large, need + 5000, &out), TOOLCORE_OK);
        CHECK_SIZE(out, need);
        CHECK(large[need] == 0);
        CHECK(memcmp(tight, roomy, need) == 0 && memcmp(tight, large, need) == 0);
        char *exactly = block(need);
        CHECK_STATUS(writers[i].write(exactly, need, &out), TOOLCORE_OK);
        CHECK(memcmp(tight, exactly, need) == 0);
    }
}

static uint32_t words(void *user_data, toolcore_str_t of)
{
    uint32_t n = 0;
    (void)user_data;
    for (size_t i = 0; i < of.len; i++)
        if (of.ptr[i] == ' ' || of.ptr[i] == '\n')
            n++;
    return n + 1;
}

TEST(a_context_counted_by_the_host_needs_no_more_than_was_measured)
{
    toolcore_context_render_opts_t opts = TOOLCORE_CONTEXT_RENDER_OPTS_INIT;
    size_t need = 0, len, out;
    opts.budget = 30;
    opts.count = words;
    CHECK_STATUS(toolcore_context_render(context, &opts, NULL, 0, &need, NULL, NULL), TOOLCORE_OK);
    char *whole = block(need);
    CHECK_STATUS(toolcore_context_render(context, &opts, whole, need, &len, NULL, NULL), TOOLCORE_OK);
    CHECK(len <= need && words(NULL, (toolcore_str_t){ whole, len }) <= 30);
    for (size_t size = 0; size < need; size++) {
        char *buf = memset(malloc(size + GUARD), 0xA5, size + GUARD);
        toolcore_status_t status = toolcore_context_render(context, &opts, buf, size, &out, NULL, NULL);
        CHECK(status == TOOLCORE_OK || status == TOOLCORE_ERR_NO_SPACE);
        if (status == TOOLCORE_OK)
            CHECK(out == len && memcmp(buf, whole, len) == 0);
        else
            CHECK(out > size);
        CHECK(untouched(buf + size));
        free(buf);
    }
}

/* toolcore_answer: with at least what it measures every result is written, if need be cut. */

#define CALLS \
    "{\"content\":[" \
    "{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"echo\",\"input\":{\"a\":\"x\"}}," \
    "{\"type\":\"tool_use\",\"id\":\"t2\",\"name\":\"talk\",\"input\":{}}," \
    "{\"type\":\"tool_use\",\"id\":\"t3\",\"name\":\"picture\",\"input\":{}}," \
    "{\"type\":\"tool_use\",\"id\":\"t4\",\"name\":\"none\",\"input\":{}}]}"

static toolcore_status_t answer(char *buf, size_t len, size_t *out)
{
    static char scratch[8192];
    toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
    toolcore_outcome_t outcome = TOOLCORE_OUTCOME_INIT;
    runs = 0;
    toolcore_status_t status = toolcore_answer(tools, TOOLCORE_DIALECT_ANTHROPIC, TOOLCORE_STR(CALLS), NULL, scratch,
                                               sizeof scratch, buf, len, out, &outcome, &why);
    if (status == TOOLCORE_OK && len > 0)
        CHECK_SIZE(outcome.calls, 4);
    if (status == TOOLCORE_ERR_NO_SPACE)
        CHECK_SIZE(why.need, *out);
    return status;
}

TEST(answer_runs_nothing_until_the_least_room_is_there)
{
    size_t least = 0, out = 0;
    CHECK_STATUS(answer(NULL, 0, &least), TOOLCORE_OK);
    CHECK(least > 0);
    CHECK_SIZE(runs, 0);
    for (size_t len = 0; len < least; len++) {
        char *buf = memset(malloc(len + GUARD), 0xA5, len + GUARD);
        CHECK_STATUS(answer(buf, len, &out), TOOLCORE_ERR_NO_SPACE);
        CHECK_SIZE(out, least);
        CHECK_SIZE(runs, 0);
        CHECK(untouched(buf + len));
        free(buf);
    }
}

TEST(answer_writes_every_result_at_every_length_from_the_least_on)
{
    size_t least = 0, whole = 0, out = 0;
    char *full = block(16384);
    CHECK_STATUS(answer(NULL, 0, &least), TOOLCORE_OK);
    CHECK_STATUS(answer(full, 16384, &whole), TOOLCORE_OK);
    CHECK(whole >= 600 && !contains(full, whole, "[truncated"));
    for (size_t len = least; len < whole + 600; len++) {
        char *buf = memset(malloc(len + GUARD), 0xA5, len + GUARD);
        toolcore_str_t json, id;
        CHECK_STATUS(answer(buf, len, &out), TOOLCORE_OK);
        CHECK(out <= len);
        CHECK_SIZE(runs, 3);
        json = (toolcore_str_t){ buf, out };
        CHECK_STATUS(toolcore_json_validate(json, NULL, NULL), TOOLCORE_OK);
        for (int i = 0; i < 4; i++) {
            char path[64], expected[8];
            snprintf(path, sizeof path, "/0/content/%d/tool_use_id", i);
            snprintf(expected, sizeof expected, "\"t%d\"", i + 1);
            CHECK_STATUS(toolcore_json_get(json, text(path), &id), TOOLCORE_OK);
            CHECK_TEXT(id.ptr, id.len, expected);
        }
        if (out < whole)
            CHECK(contains(buf, out, "[truncated, ") || contains(buf, out, "bytes, cannot be shown") ||
                  contains(buf, out, "left out"));
        else
            CHECK(memcmp(buf, full, whole) == 0);
        CHECK(out < len ? buf[out] == 0 : 1);
        CHECK(untouched(buf + len));
        free(buf);
    }
}

/* Memory at every length. */

TEST(objects_need_what_their_mem_size_says)
{
    static const char schema_text[] = "{\"type\":\"object\",\"properties\":{\"a\":{\"enum\":[1,\"b\"]}},\"required\":[\"a\"]}";
    toolcore_context_opts_t opts = TOOLCORE_CONTEXT_OPTS_INIT;
    size_t need[4] = { 0 };
    opts.max_blocks = 3;
    CHECK_STATUS(toolcore_reply_mem_size(TOOLCORE_DIALECT_ANTHROPIC, TOOLCORE_STR(CALLS), NULL, &need[0], NULL), TOOLCORE_OK);
    CHECK_STATUS(toolcore_schema_mem_size(text(schema_text), NULL, &need[1], NULL), TOOLCORE_OK);
    need[2] = toolcore_result_mem_size();
    need[3] = toolcore_context_mem_size(&opts);
    for (size_t kind = 0; kind < 4; kind++) {
        for (size_t len = 0; len < need[kind] + 9; len++) {
            char *mem = memset(malloc(len + GUARD), 0xA5, len + GUARD);
            toolcore_reply_t *reply = NULL;
            toolcore_schema_t *schema = NULL;
            toolcore_result_t *result = NULL;
            toolcore_context_t *blocks = NULL;
            toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
            toolcore_status_t status;
            AT(kind == 0 ? "reply" : kind == 1 ? "schema" : kind == 2 ? "result" : "context");
            if (kind == 0)
                status = toolcore_reply_parse(TOOLCORE_DIALECT_ANTHROPIC, TOOLCORE_STR(CALLS), NULL, mem, len, &reply, &why);
            else if (kind == 1)
                status = toolcore_schema_init(text(schema_text), NULL, mem, len, &schema, &why);
            else if (kind == 2)
                status = toolcore_result_init(mem, len, &result);
            else
                status = toolcore_context_init(&opts, mem, len, &blocks);
            /* A little less may do: what the alignment needs depends on the address. */
            if (len >= need[kind])
                CHECK_STATUS(status, TOOLCORE_OK);
            else if (status != TOOLCORE_OK)
                CHECK_STATUS(status, TOOLCORE_ERR_NO_SPACE);
            int made = reply != NULL || schema != NULL || result != NULL || blocks != NULL;
            CHECK(made == (status == TOOLCORE_OK));
            if (status != TOOLCORE_OK && kind < 2)
                CHECK(why.need > len && why.need <= need[kind] + 16);
            CHECK(untouched(mem + len));
            toolcore_reply_deinit(reply);
            toolcore_schema_deinit(schema);
            toolcore_result_deinit(result);
            toolcore_context_deinit(blocks);
            CHECK(untouched(mem + len));
            free(mem);
        }
    }
}

TEST(a_call_with_any_scratch_runs_whole_or_not_at_all)
{
    size_t enough = 0;
    toolcore_tool_call_t call = TOOLCORE_TOOL_CALL_INIT;
    call.id = text("c");
    call.name = text("echo");
    call.arguments = text("{\"a\":\"\xE2\x82\xAC\"}");
    for (size_t len = 0; len < 4096; len += len < 1200 ? 1 : 97) {
        char *scratch = memset(malloc(len + GUARD), 0xA5, len + GUARD);
        toolcore_result_t *result = NULL;
        toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
        runs = 0;
        toolcore_status_t status = toolcore_dispatch(tools, &call, NULL, scratch, len, &result, &why);
        if (status == TOOLCORE_OK) {
            CHECK_SIZE(runs, 1);
            CHECK(result != NULL);
            enough = enough == 0 ? len : enough;
        } else {
            CHECK_STATUS(status, TOOLCORE_ERR_NO_SPACE);
            CHECK_SIZE(runs, 0);
            CHECK(result == NULL && why.need > 0);
        }
        toolcore_result_deinit(result);
        CHECK(untouched(scratch + len));
        free(scratch);
    }
    CHECK(enough > 0 && enough < 2048);
}

TEST(a_turn_with_any_scratch_is_answered_or_says_what_was_missing)
{
    size_t enough = 0;
    char *buf = block(4096), *expected = block(4096);
    size_t whole = 0;
    CHECK_STATUS(answer(expected, 4096, &whole), TOOLCORE_OK);
    for (size_t len = 0; len < 8192; len += len < 512 ? 1 : 61) {
        char *scratch = memset(malloc(len + GUARD), 0xA5, len + GUARD);
        toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
        size_t out = 9999;
        toolcore_status_t status = toolcore_answer(tools, TOOLCORE_DIALECT_ANTHROPIC, TOOLCORE_STR(CALLS), NULL, scratch,
                                                   len, buf, 4096, &out, NULL, &why);
        if (status == TOOLCORE_OK) {
            CHECK_STATUS(toolcore_json_validate((toolcore_str_t){ buf, out }, NULL, NULL), TOOLCORE_OK);
            CHECK(enough > 0 || (enough = len) > 0);
        } else {
            CHECK_STATUS(status, TOOLCORE_ERR_NO_SPACE);
            CHECK(out == 0 && why.need > 0);
        }
        CHECK(untouched(scratch + len));
        free(scratch);
    }
    CHECK(enough > 0 && enough < 4096);
}

int main(void)
{
    RUN(set_up);
    RUN(null_and_zero_measure);
    RUN(a_buffer_that_is_too_small_names_the_need_and_nothing_is_written_beyond);
    RUN(a_buffer_of_the_measured_length_suffices_and_a_nul_follows_if_there_is_room);
    RUN(a_context_counted_by_the_host_needs_no_more_than_was_measured);
    RUN(answer_runs_nothing_until_the_least_room_is_there);
    RUN(answer_writes_every_result_at_every_length_from_the_least_on);
    RUN(objects_need_what_their_mem_size_says);
    RUN(a_call_with_any_scratch_runs_whole_or_not_at_all);
    RUN(a_turn_with_any_scratch_is_answered_or_says_what_was_missing);
    RUN(tear_down);
    return check_end();
}

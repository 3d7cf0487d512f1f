/* What a host may hand over by mistake: texts that are not UTF-8, unknown dialects, memory at odd addresses, objects
 * that have ended. Each is a status that says what was wrong. */
#include "world.h"

/* Texts that are not UTF-8. */

static const char *const not_utf8[] = {
    "\xFF", "\x80", "\xC3(", "\xE2\x82", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xC0\x80", "\xE0\x80\xAF", "\xF8\x88\x80\x80\x80",
};

TEST(a_text_that_is_not_utf8_is_named)
{
    for (size_t i = 0; i < sizeof not_utf8 / sizeof not_utf8[0]; i++) {
        const toolcore_str_t bad = exact(not_utf8[i]);
        size_t len = 9, before = toolcore_context_len(context), parts = toolcore_result_len(result);
        toolcore_str_t out;
        toolcore_result_t *made = NULL;
        toolcore_json_writer_t writer;
        toolcore_tools_opts_t opts = TOOLCORE_TOOLS_OPTS_INIT;
        toolcore_tool_call_t spoilt;
        toolcore_call_result_t answered = call_result();
        toolcore_block_t content;
#define NOT_UTF8(call_of_it) CHECK_STATUS(call_of_it, TOOLCORE_ERR_INVALID_UTF8)
        NOT_UTF8(toolcore_registry_remove(tools, bad));
        NOT_UTF8(toolcore_registry_find(tools, bad, &len));
        opts.category = bad;
        NOT_UTF8(toolcore_tools_render(tools, DIALECT, &opts, buf, sizeof buf, &len, NULL));
        opts.category = text("");
        opts.choice = TOOLCORE_CHOICE_TOOL;
        opts.choice_tool = bad;
        NOT_UTF8(toolcore_tools_render(tools, DIALECT, &opts, buf, sizeof buf, &len, NULL));
        spoilt = call, spoilt.id = bad;
        NOT_UTF8(toolcore_dispatch(tools, &spoilt, NULL, scratch, sizeof scratch, &made, NULL));
        NOT_UTF8(toolcore_results_render(DIALECT, &spoilt, 1, &answered, 1, NULL, buf, sizeof buf, &len, NULL));
        spoilt = call, spoilt.name = bad;
        NOT_UTF8(toolcore_dispatch(tools, &spoilt, NULL, scratch, sizeof scratch, &made, NULL));
        spoilt = call, spoilt.arguments = bad;
        NOT_UTF8(toolcore_dispatch(tools, &spoilt, NULL, scratch, sizeof scratch, &made, NULL));
        NOT_UTF8(toolcore_turn_render(DIALECT, text(""), &spoilt, 1, NULL, buf, sizeof buf, &len, NULL));
        NOT_UTF8(toolcore_turn_render(DIALECT, bad, NULL, 0, NULL, buf, sizeof buf, &len, NULL));
        answered.id = bad;
        NOT_UTF8(toolcore_results_render(DIALECT, &call, 1, &answered, 1, NULL, buf, sizeof buf, &len, NULL));
        NOT_UTF8(toolcore_result_text(result, bad));
        NOT_UTF8(toolcore_result_image(result, bad, "a", 1));
        NOT_UTF8(toolcore_result_audio(result, bad, "a", 1));
        NOT_UTF8(toolcore_result_link(result, bad, text("a")));
        NOT_UTF8(toolcore_result_link(result, text("a"), bad));
        NOT_UTF8(toolcore_result_error(result, bad));
        CHECK(!toolcore_result_failed(result));
        NOT_UTF8(toolcore_json_get(text("{\"a\":1}"), bad, &out));
        CHECK_STATUS(toolcore_json_writer_init(&writer, buf, sizeof buf), TOOLCORE_OK);
        CHECK_STATUS(toolcore_json_writer_object_start(&writer), TOOLCORE_OK);
        NOT_UTF8(toolcore_json_writer_key(&writer, bad));
        NOT_UTF8(toolcore_json_writer_end(&writer, &len));
        CHECK_STATUS(toolcore_json_writer_init(&writer, buf, sizeof buf), TOOLCORE_OK);
        NOT_UTF8(toolcore_json_writer_string(&writer, bad));
        NOT_UTF8(toolcore_schema_mem_size(bad, NULL, &len, NULL));
        for (int field = 0; field < 4; field++) {
            toolcore_block_t fresh = TOOLCORE_BLOCK_INIT;
            content = fresh;
            *(field == 0 ? &content.category : field == 1 ? &content.label : field == 2 ? &content.source : &content.content) =
                bad;
            NOT_UTF8(toolcore_context_push(context, &content));
        }
        CHECK_SIZE(toolcore_context_len(context), before);
        CHECK_SIZE(toolcore_result_len(result), parts);
        CHECK_SIZE(toolcore_registry_len(tools), 1);
    }
}

TEST(json_that_is_not_utf8_is_bad_json_with_the_place)
{
    for (size_t i = 0; i < sizeof not_utf8 / sizeof not_utf8[0]; i++) {
        toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
        size_t len = 9;
        bool valid = true;
        char json[64];
        snprintf(json, sizeof json, "[\"ab%s\"]", not_utf8[i]);
        toolcore_str_t bad = exact(json);
        CHECK_STATUS(toolcore_json_validate(bad, NULL, &why), TOOLCORE_ERR_BAD_JSON);
        CHECK_SIZE(why.reason, TOOLCORE_JSON_ERR_INVALID_UTF8);
        CHECK(why.offset >= 4 && why.offset < bad.len);
        CHECK_SIZE(toolcore_json_kind(bad), 0);
        CHECK_STATUS(toolcore_answer(tools, DIALECT, bad, NULL, scratch, sizeof scratch, buf, sizeof buf, &len, NULL, &why),
                     TOOLCORE_ERR_BAD_JSON);
        CHECK_SIZE(why.reason, TOOLCORE_JSON_ERR_INVALID_UTF8);
        CHECK_SIZE(len, 0);
        CHECK_STATUS(toolcore_reply_mem_size(DIALECT, bad, NULL, &len, &why), TOOLCORE_ERR_BAD_JSON);
        CHECK_STATUS(toolcore_schema_check(schema, bad, NULL, scratch, sizeof scratch, &valid, &why), TOOLCORE_ERR_BAD_JSON);
        CHECK(!valid);
    }
}

/* Constants, flags and reserved fields of another version. */

TEST(a_dialect_that_is_not_known_is_not_supported)
{
    static const uint32_t dialects[] = { 0, 64, 100, UINT32_MAX };
    for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++) {
        size_t len = 9;
        static char mem[4096];
        toolcore_reply_t *read = reply;
        toolcore_call_result_t answered = call_result();
        toolcore_dispatch_opts_t opts = TOOLCORE_DISPATCH_OPTS_INIT;
        toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
#define UNSUPPORTED(call_of_it) CHECK_STATUS(call_of_it, TOOLCORE_ERR_UNSUPPORTED)
        UNSUPPORTED(toolcore_tools_render(tools, dialects[i], NULL, buf, sizeof buf, &len, &why));
        CHECK(why.message_len > 0 && len == 0);
        runs = 0;
        UNSUPPORTED(toolcore_answer(tools, dialects[i], TOOLCORE_STR(REPLY), NULL, scratch, sizeof scratch, buf, sizeof buf,
                                    &len, NULL, NULL));
        CHECK_SIZE(runs, 0);
        UNSUPPORTED(toolcore_reply_mem_size(dialects[i], TOOLCORE_STR(REPLY), NULL, &len, NULL));
        UNSUPPORTED(toolcore_reply_parse(dialects[i], TOOLCORE_STR(REPLY), NULL, mem, sizeof mem, &read, NULL));
        CHECK(read == NULL);
        UNSUPPORTED(toolcore_results_render(dialects[i], &call, 1, &answered, 1, NULL, buf, sizeof buf, &len, NULL));
        opts.dialect = dialects[i];
        CHECK_STATUS(dispatch(&call, &opts), dialects[i] == 0 ? TOOLCORE_OK : TOOLCORE_ERR_UNSUPPORTED);
    }
}

/* Memory at any address. */

TEST(memory_and_buffers_need_no_alignment)
{
    for (size_t offset = 0; offset < 9; offset++) {
        char *mem = (char *)block(8192 + offset) + offset, *working = (char *)block(8192 + offset) + offset;
        char *out = (char *)block(8192 + offset) + offset;
        size_t len, need = 0;
        bool valid = false;
        toolcore_reply_t *read = NULL;
        toolcore_result_t *made = NULL;
        toolcore_schema_t *compiled = NULL;
        toolcore_context_t *blocks = NULL;
        toolcore_context_opts_t opts = TOOLCORE_CONTEXT_OPTS_INIT;
        toolcore_tool_call_t got = TOOLCORE_TOOL_CALL_INIT;
        opts.max_blocks = 2;
        CHECK_STATUS(toolcore_reply_mem_size(DIALECT, TOOLCORE_STR(REPLY), NULL, &need, NULL), TOOLCORE_OK);
        CHECK_STATUS(toolcore_reply_parse(DIALECT, TOOLCORE_STR(REPLY), NULL, mem, need, &read, NULL), TOOLCORE_OK);
        CHECK_STATUS(toolcore_reply_call(read, 0, &got), TOOLCORE_OK);
        CHECK_TEXT(got.arguments.ptr, got.arguments.len, "{\"s\":\"x\"}");
        CHECK_STATUS(toolcore_dispatch(tools, &got, NULL, working, 4096, &made, NULL), TOOLCORE_OK);
        CHECK_SIZE(toolcore_result_kind(made), TOOLCORE_OUTCOME_ANSWERED);
        toolcore_result_deinit(made);
        toolcore_reply_deinit(read);
        CHECK_STATUS(toolcore_answer(tools, DIALECT, TOOLCORE_STR(REPLY), NULL, working, 4096, out, 4096, &len, NULL, NULL),
                     TOOLCORE_OK);
        CHECK(contains(out, len, "\"t1\""));
        CHECK_STATUS(toolcore_result_init(mem, toolcore_result_mem_size() + 4, &made), TOOLCORE_OK);
        CHECK_STATUS(toolcore_result_text(made, text("abcd")), TOOLCORE_OK);
        CHECK_SIZE(toolcore_result_len(made), 1);
        toolcore_result_deinit(made);
        CHECK_STATUS(toolcore_schema_mem_size(text("{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}"), NULL, &need, NULL),
                     TOOLCORE_OK);
        CHECK_STATUS(toolcore_schema_init(text("{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}"), NULL, mem, need,
                                          &compiled, NULL),
                     TOOLCORE_OK);
        CHECK_STATUS(toolcore_schema_check(compiled, text("[1,2]"), NULL, working, 1024, &valid, NULL), TOOLCORE_OK);
        CHECK(valid);
        toolcore_schema_deinit(compiled);
        CHECK_STATUS(toolcore_context_init(&opts, mem, toolcore_context_mem_size(&opts), &blocks), TOOLCORE_OK);
        toolcore_context_deinit(blocks);
    }
}

/* Use after the end, and without a beginning. */

TEST(use_after_deinit_is_an_invalid_argument)
{
    static char mem[4096];
    size_t len = 9;
    bool valid = true;
    toolcore_reply_t *read = NULL;
    toolcore_result_t *made = NULL;
    toolcore_schema_t *compiled = NULL;
    toolcore_context_t *blocks = NULL;
    toolcore_context_opts_t opts = TOOLCORE_CONTEXT_OPTS_INIT;
    toolcore_block_t content = TOOLCORE_BLOCK_INIT;
    toolcore_tool_call_t got = TOOLCORE_TOOL_CALL_INIT;
    opts.max_blocks = 2;
    CHECK_STATUS(toolcore_reply_parse(DIALECT, TOOLCORE_STR(REPLY), NULL, mem, sizeof mem, &read, NULL), TOOLCORE_OK);
    toolcore_reply_deinit(read);
    toolcore_reply_deinit(read);
    CHECK_SIZE(toolcore_reply_len(read), 0);
    INVALID(toolcore_reply_call(read, 0, &got));
    INVALID(toolcore_reply_text(read, buf, sizeof buf, &len));
    CHECK_STATUS(toolcore_result_init(mem, sizeof mem, &made), TOOLCORE_OK);
    toolcore_result_deinit(made);
    toolcore_result_deinit(made);
    INVALID(toolcore_result_text(made, text("a")));
    CHECK_SIZE(toolcore_result_len(made), 0);
    CHECK_STATUS(toolcore_schema_init(text("true"), NULL, mem, sizeof mem, &compiled, NULL), TOOLCORE_OK);
    toolcore_schema_deinit(compiled);
    toolcore_schema_deinit(compiled);
    INVALID(toolcore_schema_check(compiled, text("1"), NULL, scratch, sizeof scratch, &valid, NULL));
    CHECK(!valid);
    CHECK_STATUS(toolcore_context_init(&opts, mem, sizeof mem, &blocks), TOOLCORE_OK);
    toolcore_context_deinit(blocks);
    toolcore_context_deinit(blocks);
    INVALID(toolcore_context_push(blocks, &content));
    CHECK_SIZE(toolcore_context_len(blocks), 0);
}

TEST(an_object_of_another_kind_is_an_invalid_argument)
{
    size_t len = 9;
    toolcore_tool_call_t got = TOOLCORE_TOOL_CALL_INIT;
    INVALID(toolcore_reply_call((toolcore_reply_t *)(void *)tools, 0, &got));
    INVALID(toolcore_result_text((toolcore_result_t *)(void *)schema, text("a")));
    INVALID(toolcore_tools_render((toolcore_registry_t *)(void *)context, DIALECT, NULL, buf, sizeof buf, &len, NULL));
    INVALID(toolcore_context_clear((toolcore_context_t *)(void *)reply));
}

TEST(a_writer_or_walk_that_was_not_made_is_an_invalid_argument)
{
    toolcore_json_writer_t writer;
    toolcore_json_iter_t iter;
    toolcore_str_t value = text("before");
    size_t len = 9;
    memset(&writer, 0, sizeof writer);
    memset(&iter, 0, sizeof iter);
    INVALID(toolcore_json_writer_null(&writer));
    INVALID(toolcore_json_writer_end(&writer, &len));
    CHECK_SIZE(len, 0);
    CHECK(!toolcore_json_iter_next(&iter, NULL, &value));
}

/* What a failure says. */

TEST(names_are_never_null)
{
    CHECK_TEXT(toolcore_status_name(TOOLCORE_ERR_NO_SPACE), strlen(toolcore_status_name(TOOLCORE_ERR_NO_SPACE)), "no space");
    for (toolcore_status_t status = -110; status < 10; status++)
        CHECK(toolcore_status_name(status) != NULL && toolcore_status_name(status)[0] != 0);
    CHECK_TEXT(toolcore_status_name(-98), strlen(toolcore_status_name(-98)), "unknown status");
    static const char *const outcomes[] = { "answered", "unknown_tool", "bad_arguments", "tool_failed",
                                            "timed_out", "blocked", "over_limit", "cancelled", "unknown" };
    for (uint32_t kind = 0; kind < 9; kind++)
        CHECK_TEXT(toolcore_outcome_name(kind), strlen(toolcore_outcome_name(kind)), outcomes[kind]);
    CHECK(strcmp(toolcore_outcome_name(UINT32_MAX), "unknown") == 0);
    CHECK(strcmp(toolcore_json_reason_name(TOOLCORE_JSON_ERR_TRAILING_DATA), "trailing-data") == 0);
    for (uint32_t reason = 1; reason <= TOOLCORE_JSON_ERR_BYTE_ORDER_MARK; reason++)
        CHECK(strlen(toolcore_json_reason_name(reason)) > 3);
    CHECK(toolcore_json_reason_name(0)[0] == 0 && toolcore_json_reason_name(15)[0] == 0);
}

TEST(the_header_is_of_the_library_that_is_linked)
{
    char version[64];
    toolcore_str_t linked = toolcore_version();
    snprintf(version, sizeof version, "%d.%d.%d", TOOLCORE_VERSION_MAJOR, TOOLCORE_VERSION_MINOR, TOOLCORE_VERSION_PATCH);
    CHECK_TEXT(linked.ptr, linked.len, version);
    CHECK(linked.ptr[linked.len] == 0);
}

TEST(a_detail_is_filled_in_on_failure_and_on_success)
{
    toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
    CHECK_STATUS(toolcore_json_validate(TOOLCORE_STR("{\"a\": 1} x"), NULL, &why), TOOLCORE_ERR_BAD_JSON);
    CHECK(why.status == TOOLCORE_ERR_BAD_JSON && why.offset == 9 && why.need == 0);
    CHECK_SIZE(why.reason, TOOLCORE_JSON_ERR_TRAILING_DATA);
    CHECK(contains(why.message, why.message_len, "trailing data") && contains(why.message, why.message_len, "9"));
    CHECK(why.message[why.message_len] == 0);
    CHECK_STATUS(toolcore_json_validate(TOOLCORE_STR("{}"), NULL, &why), TOOLCORE_OK);
    CHECK(why.status == TOOLCORE_OK && why.message_len == 0 && why.message[0] == 0 && why.reason == 0);
    CHECK(why.offset == TOOLCORE_NO_OFFSET);
}

TEST(a_message_that_is_too_long_is_cut_and_terminated)
{
    static char name[400], schema_text[600];
    toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
    size_t need = 9;
    for (size_t i = 0; i + 2 < sizeof name; i += 2)
        memcpy(name + i, "\xC3\xA9", 2);
    name[398] = 0;
    snprintf(schema_text, sizeof schema_text, "{\"properties\":{\"%s\":{\"type\":\"nothing\"}}}", name);
    CHECK_STATUS(toolcore_schema_mem_size(text(schema_text), NULL, &need, &why), TOOLCORE_ERR_BAD_SCHEMA);
    CHECK(why.message_len < TOOLCORE_DETAIL_MESSAGE_SIZE && why.message[why.message_len] == 0);
    CHECK(why.message_len > TOOLCORE_DETAIL_MESSAGE_SIZE / 2);
    /* Cut between characters: what is there is still UTF-8. */
    CHECK(toolcore_json_writer_init(NULL, NULL, 0) < 0);
    toolcore_json_writer_t writer;
    CHECK_STATUS(toolcore_json_writer_init(&writer, NULL, 0), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_string(&writer, (toolcore_str_t){ why.message, why.message_len }), TOOLCORE_OK);
}

int main(void)
{
    RUN(set_up);
    RUN(a_text_that_is_not_utf8_is_named);
    RUN(json_that_is_not_utf8_is_bad_json_with_the_place);
    RUN(a_dialect_that_is_not_known_is_not_supported);
    RUN(memory_and_buffers_need_no_alignment);
    RUN(use_after_deinit_is_an_invalid_argument);
    RUN(an_object_of_another_kind_is_an_invalid_argument);
    RUN(a_writer_or_walk_that_was_not_made_is_an_invalid_argument);
    RUN(names_are_never_null);
    RUN(the_header_is_of_the_library_that_is_linked);
    RUN(a_detail_is_filled_in_on_failure_and_on_success);
    RUN(a_message_that_is_too_long_is_cut_and_terminated);
    RUN(tear_down);
    return check_end();
}

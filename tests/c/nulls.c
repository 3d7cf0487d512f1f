/* NULL wherever a pointer can stand. */
#include "world.h"

/* NULL. */

TEST(an_object_of_null_is_a_status)
{
    size_t len = 9, other = 9;
    toolcore_str_t out = TOOLCORE_STR("before");
    toolcore_tool_t tool = echo_tool();
    toolcore_hook_t hook = TOOLCORE_HOOK_INIT;
    toolcore_usage_t usage = TOOLCORE_USAGE_INIT;
    toolcore_part_t part = TOOLCORE_PART_INIT;
    toolcore_block_t content = TOOLCORE_BLOCK_INIT;
    toolcore_context_render_opts_t render_opts = TOOLCORE_CONTEXT_RENDER_OPTS_INIT;
    toolcore_inflight_stats_t stats = TOOLCORE_INFLIGHT_STATS_INIT;
    toolcore_block_report_t block_report = TOOLCORE_BLOCK_REPORT_INIT;
    toolcore_tool_call_t got = TOOLCORE_TOOL_CALL_INIT;
    toolcore_result_t *made = result;
    toolcore_str_t key, value;
    bool valid = true;
    double f = 1;
    int64_t i = 1;
    uint64_t u = 1;

    toolcore_registry_deinit(NULL);
    toolcore_reply_deinit(NULL);
    toolcore_result_deinit(NULL);
    toolcore_schema_deinit(NULL);
    toolcore_context_deinit(NULL);
    toolcore_inflight_deinit(NULL);

    INVALID(toolcore_registry_add(NULL, &tool, NULL));
    INVALID(toolcore_registry_remove(NULL, text("a")));
    CHECK_SIZE(toolcore_registry_len(NULL), 0);
    INVALID(toolcore_registry_name(NULL, 0, &out));
    CHECK_SIZE(out.len, 0);
    INVALID(toolcore_registry_find(NULL, text("a"), &len));
    INVALID(toolcore_registry_pool(NULL, &len, &other));
    INVALID(toolcore_registry_add_hook(NULL, &hook));
    INVALID(toolcore_tools_render(NULL, DIALECT, NULL, buf, sizeof buf, &len, NULL));
    CHECK_SIZE(len, 0);
    len = 9;
    INVALID(toolcore_answer(NULL, DIALECT, TOOLCORE_STR(REPLY), NULL, scratch, sizeof scratch, buf, sizeof buf, &len,
                            NULL, NULL));
    CHECK_SIZE(len, 0);
    INVALID(toolcore_dispatch(NULL, &call, NULL, scratch, sizeof scratch, &made, NULL));
    CHECK(made == NULL);

    CHECK_SIZE(toolcore_draft_name(NULL).len, 0);
    CHECK_SIZE(toolcore_draft_arguments(NULL).len, 0);
    CHECK_SIZE(toolcore_draft_id(NULL).len, 0);
    INVALID(toolcore_draft_set_name(NULL, text("a")));
    INVALID(toolcore_draft_set_arguments(NULL, text("{}")));
    INVALID(toolcore_draft_block(NULL, text("a")));

    CHECK_SIZE(toolcore_reply_len(NULL), 0);
    INVALID(toolcore_reply_call(NULL, 0, &got));
    len = 9;
    INVALID(toolcore_reply_text(NULL, buf, sizeof buf, &len));
    CHECK_SIZE(len, 0);
    CHECK_SIZE(toolcore_reply_finish(NULL), TOOLCORE_FINISH_COMPLETE);

    CHECK_SIZE(toolcore_call_name(NULL).len, 0);
    CHECK_SIZE(toolcore_call_id(NULL).len, 0);
    CHECK_SIZE(toolcore_call_arguments(NULL).len, 0);
    out = text("before");
    INVALID(toolcore_call_get_str(NULL, text("a"), &out));
    CHECK_SIZE(out.len, 0);
    INVALID(toolcore_call_get_i64(NULL, text("a"), &i));
    INVALID(toolcore_call_get_u64(NULL, text("a"), &u));
    INVALID(toolcore_call_get_f64(NULL, text("a"), &f));
    INVALID(toolcore_call_get_bool(NULL, text("a"), &valid));
    out = text("before");
    INVALID(toolcore_call_get_json(NULL, text("a"), &out));
    CHECK_SIZE(out.len, 0);
    CHECK(i == 1 && u == 1 && valid && f > 0.5);
    CHECK(!toolcore_call_is_null(NULL, text("a")));
    CHECK(toolcore_call_time_left_ms(NULL) == UINT64_MAX);
    CHECK(toolcore_call_deadline_ms(NULL) == UINT64_MAX);
    CHECK(toolcore_call_ticket(NULL) == 0);

    INVALID(toolcore_result_text(NULL, text("a")));
    INVALID(toolcore_result_json(NULL, text("1")));
    INVALID(toolcore_result_image(NULL, text("image/png"), "a", 1));
    INVALID(toolcore_result_audio(NULL, text("audio/wav"), "a", 1));
    INVALID(toolcore_result_link(NULL, text("a"), text("b")));
    INVALID(toolcore_result_error(NULL, text("a")));
    INVALID(toolcore_result_retryable(NULL, 1));
    INVALID(toolcore_result_usage(NULL, &usage));
    INVALID(toolcore_result_clear(NULL));
    CHECK_SIZE(toolcore_result_kind(NULL), TOOLCORE_OUTCOME_ANSWERED);
    CHECK(!toolcore_result_failed(NULL));
    CHECK_SIZE(toolcore_result_len(NULL), 0);
    INVALID(toolcore_result_part(NULL, 0, &part));

    INVALID(toolcore_json_iter_init(NULL, text("[]")));
    CHECK(!toolcore_json_iter_next(NULL, &key, &value));
    INVALID(toolcore_json_writer_init(NULL, buf, sizeof buf));
    INVALID(toolcore_json_writer_object_start(NULL));
    INVALID(toolcore_json_writer_object_end(NULL));
    INVALID(toolcore_json_writer_array_start(NULL));
    INVALID(toolcore_json_writer_array_end(NULL));
    INVALID(toolcore_json_writer_key(NULL, text("a")));
    INVALID(toolcore_json_writer_string(NULL, text("a")));
    INVALID(toolcore_json_writer_raw(NULL, text("1")));
    INVALID(toolcore_json_writer_i64(NULL, 1));
    INVALID(toolcore_json_writer_u64(NULL, 1));
    INVALID(toolcore_json_writer_f64(NULL, 1.0));
    INVALID(toolcore_json_writer_bool(NULL, 1));
    INVALID(toolcore_json_writer_null(NULL));
    INVALID(toolcore_json_writer_end(NULL, &len));

    INVALID(toolcore_schema_check(NULL, text("1"), NULL, scratch, sizeof scratch, &valid, NULL));
    CHECK(!valid);
    INVALID(toolcore_context_push(NULL, &content));
    INVALID(toolcore_context_clear(NULL));
    CHECK_SIZE(toolcore_context_len(NULL), 0);
    render_opts.budget = 100;
    len = 9;
    INVALID(toolcore_context_render(NULL, &render_opts, buf, sizeof buf, &len, NULL, NULL));
    CHECK_SIZE(len, 0);
    INVALID(toolcore_context_block_report(NULL, 0, &block_report));

    INVALID(toolcore_start(NULL, tools, reply, NULL, scratch, sizeof scratch, 5, NULL));
    INVALID(toolcore_poll(NULL, 5, &u, NULL));
    len = 9;
    INVALID(toolcore_finish(NULL, 5, buf, sizeof buf, &len, NULL, NULL));
    CHECK_SIZE(len, 0);
    INVALID(toolcore_inflight_stats(NULL, &stats));
    INVALID(toolcore_complete(NULL, 1, 5, result));
    INVALID(toolcore_complete_text(NULL, 1, 5, text("a")));
    INVALID(toolcore_fail(NULL, 1, 5, text("a")));
    INVALID(toolcore_progress(NULL, 1, 5, 1, 2, text("a")));
    INVALID(toolcore_cancel(NULL, TOOLCORE_CALL_ALL, 5));
    CHECK(toolcore_done(NULL));
    CHECK(u == 1 && stats.unknown == 0);
}

TEST(an_input_struct_of_null_is_a_status)
{
    size_t len = 9;
    toolcore_result_t *made = result;
    toolcore_call_result_t answered = call_result();
    INVALID(toolcore_registry_add(tools, NULL, NULL));
    INVALID(toolcore_registry_add_hook(tools, NULL));
    INVALID(toolcore_dispatch(tools, NULL, NULL, scratch, sizeof scratch, &made, NULL));
    CHECK(made == NULL);
    INVALID(toolcore_results_render(DIALECT, NULL, 1, &answered, 1, NULL, buf, sizeof buf, &len, NULL));
    INVALID(toolcore_results_render(DIALECT, &call, 1, NULL, 1, NULL, buf, sizeof buf, &len, NULL));
    CHECK_SIZE(len, 0);
    INVALID(toolcore_result_usage(result, NULL));
    INVALID(toolcore_context_push(context, NULL));
    INVALID(toolcore_context_render(context, NULL, buf, sizeof buf, &len, NULL, NULL));
    INVALID(toolcore_start(inflight, NULL, reply, NULL, scratch, sizeof scratch, 5, NULL));
    INVALID(toolcore_start(inflight, tools, NULL, NULL, scratch, sizeof scratch, 5, NULL));
    INVALID(toolcore_complete(inflight, 1, 5, NULL));
}

TEST(an_output_of_null_is_a_status)
{
    static char mem[16384];
    size_t len = 9;
    bool valid;
    toolcore_json_writer_t writer;
    toolcore_json_iter_t iter;
    toolcore_context_render_opts_t render_opts = TOOLCORE_CONTEXT_RENDER_OPTS_INIT;
    toolcore_call_result_t answered = call_result();
    toolcore_str_t key;
    render_opts.budget = 100;
    runs = 0;
    INVALID(toolcore_registry_init(NULL, mem, sizeof mem, NULL));
    INVALID(toolcore_registry_name(tools, 0, NULL));
    INVALID(toolcore_registry_find(tools, text("echo"), NULL));
    INVALID(toolcore_registry_pool(tools, NULL, &len));
    INVALID(toolcore_registry_pool(tools, &len, NULL));
    INVALID(toolcore_tools_render(tools, DIALECT, NULL, buf, sizeof buf, NULL, NULL));
    INVALID(toolcore_answer(tools, DIALECT, TOOLCORE_STR(REPLY), NULL, scratch, sizeof scratch, buf, sizeof buf, NULL,
                            NULL, NULL));
    INVALID(toolcore_reply_mem_size(DIALECT, TOOLCORE_STR(REPLY), NULL, NULL, NULL));
    INVALID(toolcore_reply_parse(DIALECT, TOOLCORE_STR(REPLY), NULL, mem, sizeof mem, NULL, NULL));
    INVALID(toolcore_reply_call(reply, 0, NULL));
    INVALID(toolcore_reply_text(reply, buf, sizeof buf, NULL));
    INVALID(toolcore_result_init(mem, sizeof mem, NULL));
    INVALID(toolcore_result_part(result, 0, NULL));
    INVALID(toolcore_dispatch(tools, &call, NULL, scratch, sizeof scratch, NULL, NULL));
    INVALID(toolcore_results_render(DIALECT, &call, 1, &answered, 1, NULL, buf, sizeof buf, NULL, NULL));
    INVALID(toolcore_json_get(text("{\"a\":1}"), text("a"), NULL));
    INVALID(toolcore_json_string(text("\"a\""), buf, sizeof buf, NULL));
    INVALID(toolcore_json_i64(text("1"), NULL));
    INVALID(toolcore_json_u64(text("1"), NULL));
    INVALID(toolcore_json_f64(text("1"), NULL));
    INVALID(toolcore_json_bool(text("true"), NULL));
    CHECK_STATUS(toolcore_json_iter_init(&iter, text("[1]")), TOOLCORE_OK);
    (void)toolcore_json_iter_next(&iter, &key, NULL);
    CHECK_STATUS(toolcore_json_writer_init(&writer, buf, sizeof buf), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_null(&writer), TOOLCORE_OK);
    INVALID(toolcore_json_writer_end(&writer, NULL));
    INVALID(toolcore_schema_mem_size(text("true"), NULL, NULL, NULL));
    INVALID(toolcore_schema_init(text("true"), NULL, mem, sizeof mem, NULL, NULL));
    INVALID(toolcore_schema_check(schema, text("1"), NULL, scratch, sizeof scratch, NULL, NULL));
    INVALID(toolcore_context_init(NULL, mem, sizeof mem, NULL));
    INVALID(toolcore_context_render(context, &render_opts, buf, sizeof buf, NULL, NULL, NULL));
    INVALID(toolcore_context_block_report(context, 0, NULL));
    INVALID(toolcore_inflight_init(NULL, mem, sizeof mem, NULL));
    INVALID(toolcore_inflight_stats(inflight, NULL));
    CHECK_STATUS(toolcore_start(inflight, tools, reply, NULL, mem, sizeof mem, 5, NULL), TOOLCORE_OK);
    CHECK_SIZE(runs, 1);
    runs = 0;
    INVALID(toolcore_finish(inflight, 5, buf, sizeof buf, NULL, NULL, NULL));
    CHECK_STATUS(toolcore_poll(inflight, 5, NULL, NULL), TOOLCORE_OK);
    CHECK_STATUS(toolcore_finish(inflight, 5, buf, sizeof buf, &len, NULL, NULL), TOOLCORE_OK);
    CHECK_SIZE(runs, 0);
    valid = toolcore_json_string_is(text("\"a\""), text("a"));
    CHECK(valid);
}

TEST(memory_of_null_is_a_status_whatever_its_length)
{
    static const size_t lengths[] = { 0, 1, 100000 };
    for (size_t i = 0; i < 3; i++) {
        toolcore_registry_t *registry = tools;
        toolcore_reply_t *read = reply;
        toolcore_result_t *made = result;
        toolcore_schema_t *compiled = schema;
        toolcore_context_t *empty = context;
        toolcore_inflight_t *waiting = inflight;
        size_t len = 9;
        runs = 0;
        CHECK(toolcore_registry_init(NULL, NULL, lengths[i], &registry) < 0 && registry == NULL);
        CHECK(toolcore_reply_parse(DIALECT, TOOLCORE_STR(REPLY), NULL, NULL, lengths[i], &read, NULL) < 0 && read == NULL);
        CHECK(toolcore_result_init(NULL, lengths[i], &made) < 0 && made == NULL);
        CHECK(toolcore_schema_init(text("true"), NULL, NULL, lengths[i], &compiled, NULL) < 0 && compiled == NULL);
        CHECK(toolcore_context_init(NULL, NULL, lengths[i], &empty) < 0 && empty == NULL);
        CHECK(toolcore_dispatch(tools, &call, NULL, NULL, lengths[i], &made, NULL) < 0 && made == NULL);
        CHECK(toolcore_inflight_init(NULL, NULL, lengths[i], &waiting) < 0 && waiting == NULL);
        CHECK(toolcore_start(inflight, tools, reply, NULL, NULL, lengths[i], 5, NULL) < 0);
        CHECK(toolcore_answer(tools, DIALECT, TOOLCORE_STR(REPLY), NULL, NULL, lengths[i], buf, sizeof buf, &len, NULL,
                              NULL) < 0);
        CHECK_SIZE(runs, 0);
        CHECK_SIZE(len, 0);
    }
}

TEST(a_buffer_of_null_with_a_length_is_an_invalid_argument)
{
    size_t len = 9;
    toolcore_json_writer_t writer;
    toolcore_context_render_opts_t render_opts = TOOLCORE_CONTEXT_RENDER_OPTS_INIT;
    toolcore_call_result_t answered = call_result();
    render_opts.budget = 100;
    INVALID(toolcore_tools_render(tools, DIALECT, NULL, NULL, 5, &len, NULL));
    INVALID(toolcore_answer(tools, DIALECT, TOOLCORE_STR(REPLY), NULL, scratch, sizeof scratch, NULL, 5, &len, NULL, NULL));
    INVALID(toolcore_reply_text(reply, NULL, 5, &len));
    INVALID(toolcore_results_render(DIALECT, &call, 1, &answered, 1, NULL, NULL, 5, &len, NULL));
    INVALID(toolcore_json_string(text("\"a\""), NULL, 5, &len));
    INVALID(toolcore_json_writer_init(&writer, NULL, 5));
    INVALID(toolcore_context_render(context, &render_opts, NULL, 5, &len, NULL, NULL));
    INVALID(toolcore_result_image(result, text("image/png"), NULL, 5));
    INVALID(toolcore_result_audio(result, text("audio/wav"), NULL, 5));
    INVALID(toolcore_finish(inflight, 5, NULL, 5, &len, NULL, NULL));
    CHECK_SIZE(len, 0);
}

TEST(a_text_of_null_with_a_length_is_an_invalid_argument)
{
    size_t len = 9;
    int64_t i;
    uint64_t u;
    double f;
    bool b;
    toolcore_str_t out;
    toolcore_json_iter_t iter;
    toolcore_json_writer_t writer;
    toolcore_reply_t *read;
    toolcore_schema_t *compiled;
    toolcore_result_t *made;
    toolcore_tools_opts_t tools_opts = TOOLCORE_TOOLS_OPTS_INIT;
    toolcore_block_t content = TOOLCORE_BLOCK_INIT;
    toolcore_tool_call_t bad = call;
    toolcore_call_result_t answered = call_result();
    static char mem[4096];
    INVALID(toolcore_registry_remove(tools, BAD));
    INVALID(toolcore_registry_find(tools, BAD, &len));
    tools_opts.category = BAD;
    INVALID(toolcore_tools_render(tools, DIALECT, &tools_opts, buf, sizeof buf, &len, NULL));
    INVALID(toolcore_answer(tools, DIALECT, BAD, NULL, scratch, sizeof scratch, buf, sizeof buf, &len, NULL, NULL));
    INVALID(toolcore_reply_mem_size(DIALECT, BAD, NULL, &len, NULL));
    INVALID(toolcore_reply_parse(DIALECT, BAD, NULL, mem, sizeof mem, &read, NULL));
    bad.arguments = BAD;
    INVALID(toolcore_dispatch(tools, &bad, NULL, scratch, sizeof scratch, &made, NULL));
    answered.id = BAD;
    INVALID(toolcore_results_render(DIALECT, &call, 1, &answered, 1, NULL, buf, sizeof buf, &len, NULL));
    INVALID(toolcore_result_text(result, BAD));
    INVALID(toolcore_result_json(result, BAD));
    INVALID(toolcore_result_image(result, BAD, "a", 1));
    INVALID(toolcore_result_link(result, BAD, text("a")));
    INVALID(toolcore_result_link(result, text("a"), BAD));
    INVALID(toolcore_result_error(result, BAD));
    INVALID(toolcore_json_validate(BAD, NULL, NULL));
    CHECK_SIZE(toolcore_json_kind(BAD), 0);
    INVALID(toolcore_json_get(BAD, text("a"), &out));
    INVALID(toolcore_json_get(text("{}"), BAD, &out));
    INVALID(toolcore_json_string(BAD, buf, sizeof buf, &len));
    CHECK(!toolcore_json_string_is(BAD, text("a")));
    CHECK(!toolcore_json_string_is(text("\"a\""), BAD));
    INVALID(toolcore_json_i64(BAD, &i));
    INVALID(toolcore_json_u64(BAD, &u));
    INVALID(toolcore_json_f64(BAD, &f));
    INVALID(toolcore_json_bool(BAD, &b));
    INVALID(toolcore_json_iter_init(&iter, BAD));
    CHECK(!toolcore_json_iter_next(&iter, NULL, &out));
    CHECK_STATUS(toolcore_json_writer_init(&writer, buf, sizeof buf), TOOLCORE_OK);
    INVALID(toolcore_json_writer_string(&writer, BAD));
    INVALID(toolcore_schema_mem_size(BAD, NULL, &len, NULL));
    INVALID(toolcore_schema_init(BAD, NULL, mem, sizeof mem, &compiled, NULL));
    INVALID(toolcore_schema_check(schema, BAD, NULL, scratch, sizeof scratch, &b, NULL));
    content.content = BAD;
    INVALID(toolcore_context_push(context, &content));
    INVALID(toolcore_complete_text(inflight, 1, 5, BAD));
    INVALID(toolcore_fail(inflight, 1, 5, BAD));
    INVALID(toolcore_progress(inflight, 1, 5, 1, 2, BAD));
}

TEST(a_text_of_null_without_a_length_is_empty)
{
    const toolcore_str_t none = { NULL, 0 };
    size_t len = 9;
    toolcore_str_t out;
    toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
    toolcore_result_t *made = NULL;
    toolcore_json_writer_t writer;
    toolcore_tool_call_t empty = TOOLCORE_TOOL_CALL_INIT;
    static char mem[4096];
    CHECK_STATUS(toolcore_registry_find(tools, none, &len), TOOLCORE_ERR_NOT_FOUND);
    CHECK_STATUS(toolcore_json_validate(none, NULL, &why), TOOLCORE_ERR_BAD_JSON);
    CHECK(why.reason == TOOLCORE_JSON_ERR_UNEXPECTED_END && why.offset == 0);
    CHECK_STATUS(toolcore_json_get(text("{\"\":7}"), none, &out), TOOLCORE_OK);
    CHECK_TEXT(out.ptr, out.len, "7");
    CHECK(toolcore_json_string_is(text("\"\""), none));
    CHECK_STATUS(toolcore_result_init(mem, sizeof mem, &made), TOOLCORE_OK);
    CHECK_STATUS(toolcore_result_text(made, none), TOOLCORE_OK);
    CHECK_STATUS(toolcore_result_image(made, text("image/png"), NULL, 0), TOOLCORE_OK);
    CHECK_SIZE(toolcore_result_len(made), 2);
    toolcore_result_deinit(made);
    CHECK_STATUS(toolcore_json_writer_init(&writer, buf, sizeof buf), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_string(&writer, none), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_end(&writer, &len), TOOLCORE_OK);
    CHECK_TEXT(buf, len, "\"\"");
    /* A call without arguments is one with {}. */
    empty.name = text("echo");
    CHECK_STATUS(toolcore_dispatch(tools, &empty, NULL, scratch, sizeof scratch, &made, NULL), TOOLCORE_OK);
    CHECK_SIZE(toolcore_result_kind(made), TOOLCORE_OUTCOME_ANSWERED);
    toolcore_result_deinit(made);
    CHECK_STATUS(toolcore_complete_text(inflight, 1, 5, none), TOOLCORE_ERR_NOT_FOUND);
    CHECK_STATUS(toolcore_fail(inflight, 1, 5, none), TOOLCORE_ERR_NOT_FOUND);
    CHECK_STATUS(toolcore_progress(inflight, 1, 5, 1, 2, none), TOOLCORE_ERR_NOT_FOUND);
}

TEST(nothing_to_render_is_no_mistake)
{
    size_t len = 9;
    CHECK_STATUS(toolcore_results_render(DIALECT, NULL, 0, NULL, 0, NULL, buf, sizeof buf, &len, NULL), TOOLCORE_OK);
    CHECK_SIZE(len, 0);
    CHECK_STATUS(toolcore_answer(tools, DIALECT, text("{\"content\":[]}"), NULL, scratch, sizeof scratch, buf, sizeof buf,
                                 &len, NULL, NULL),
                 TOOLCORE_OK);
    CHECK_SIZE(len, 0);
}

int main(void)
{
    RUN(set_up);
    RUN(an_object_of_null_is_a_status);
    RUN(an_input_struct_of_null_is_a_status);
    RUN(an_output_of_null_is_a_status);
    RUN(memory_of_null_is_a_status_whatever_its_length);
    RUN(a_buffer_of_null_with_a_length_is_an_invalid_argument);
    RUN(a_text_of_null_with_a_length_is_an_invalid_argument);
    RUN(a_text_of_null_without_a_length_is_empty);
    RUN(nothing_to_render_is_no_mistake);
    RUN(tear_down);
    return check_end();
}

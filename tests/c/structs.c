/* Structs of another size, an old caller's or a new one's, and constants of another version. */
#include "world.h"

/* One call of every function that takes a struct, with that struct. */

static toolcore_status_t use_detail(void *s) { return toolcore_json_validate(TOOLCORE_STR("1"), NULL, s); }
static toolcore_status_t use_registry_opts(void *s)
{
    static char mem[16384];
    toolcore_registry_t *made;
    toolcore_status_t status = toolcore_registry_init(s, mem, sizeof mem, &made);
    CHECK((status == TOOLCORE_OK) == (made != NULL));
    CHECK((status == TOOLCORE_OK) == (toolcore_registry_mem_size(s) != 0));
    toolcore_registry_deinit(made);
    return status;
}
static toolcore_status_t add_and_remove(const toolcore_tool_t *tool)
{
    toolcore_status_t status = toolcore_registry_add(tools, tool, NULL);
    CHECK_SIZE(toolcore_registry_len(tools), status == TOOLCORE_OK ? 2 : 1);
    if (status == TOOLCORE_OK)
        CHECK_STATUS(toolcore_registry_remove(tools, tool->name), TOOLCORE_OK);
    return status;
}
static toolcore_status_t use_param(void *s)
{
    toolcore_tool_t tool = echo_tool();
    tool.name = TOOLCORE_STR("other");
    tool.schema = TOOLCORE_STR("");
    tool.params = s;
    tool.params_len = 1;
    return add_and_remove(&tool);
}
static toolcore_status_t use_nested_param(void *s)
{
    toolcore_param_t outer = TOOLCORE_PARAM_INIT;
    outer.name = TOOLCORE_STR("outer");
    outer.type = TOOLCORE_TYPE_OBJECT;
    outer.properties = s;
    outer.properties_len = 1;
    return use_param(&outer);
}
static toolcore_status_t use_items(void *s)
{
    toolcore_param_t outer = TOOLCORE_PARAM_INIT;
    outer.name = TOOLCORE_STR("outer");
    outer.type = TOOLCORE_TYPE_ARRAY;
    outer.items = s;
    return use_param(&outer);
}
static toolcore_status_t use_tool(void *s) { return add_and_remove(s); }
static toolcore_status_t use_hook(void *s)
{
    char mem[4096];
    toolcore_registry_t *made;
    toolcore_registry_opts_t opts = TOOLCORE_REGISTRY_OPTS_INIT;
    opts.max_tools = 1;
    CHECK_STATUS(toolcore_registry_init(&opts, mem, sizeof mem, &made), TOOLCORE_OK);
    toolcore_status_t status = toolcore_registry_add_hook(made, s);
    toolcore_registry_deinit(made);
    return status;
}
static toolcore_status_t use_tools_opts(void *s)
{
    size_t len = 9;
    toolcore_status_t status = toolcore_tools_render(tools, DIALECT, s, buf, sizeof buf, &len, NULL);
    CHECK((status == TOOLCORE_OK) == (len > 0));
    return status;
}
static toolcore_status_t answer(const toolcore_answer_opts_t *opts, toolcore_outcome_t *outcome)
{
    size_t len = 9;
    runs = 0;
    toolcore_status_t status = toolcore_answer(tools, DIALECT, TOOLCORE_STR(REPLY), opts, scratch, sizeof scratch, buf,
                                               sizeof buf, &len, outcome, NULL);
    CHECK_SIZE(runs, status == TOOLCORE_OK);
    CHECK((status == TOOLCORE_OK) == (len > 0));
    return status;
}
static toolcore_status_t use_answer_opts(void *s) { return answer(s, NULL); }
static toolcore_status_t use_outcome(void *s) { return answer(NULL, s); }
static toolcore_status_t use_clock(void *s)
{
    toolcore_answer_opts_t opts = TOOLCORE_ANSWER_OPTS_INIT;
    opts.clock = s;
    opts.timeout_ms = 1000;
    return answer(&opts, NULL);
}
static toolcore_status_t use_dispatch_clock(void *s);
static toolcore_status_t use_reply_opts(void *s)
{
    static char mem[4096];
    toolcore_reply_t *made;
    size_t need = 9;
    toolcore_status_t status = toolcore_reply_parse(DIALECT, TOOLCORE_STR(REPLY), s, mem, sizeof mem, &made, NULL);
    CHECK((status == TOOLCORE_OK) == (made != NULL));
    CHECK_STATUS(toolcore_reply_mem_size(DIALECT, TOOLCORE_STR(REPLY), s, &need, NULL), status);
    CHECK((status == TOOLCORE_OK) == (need > 0));
    toolcore_reply_deinit(made);
    return status;
}
static toolcore_status_t use_replay_opts(void *s)
{
    size_t len = 9;
    toolcore_status_t status = toolcore_reply_replay(reply, s, buf, sizeof buf, &len, NULL);
    CHECK((status == TOOLCORE_OK) == (len > 0));
    return status;
}
static toolcore_status_t use_stream_opts(void *s)
{
    static char mem[4096];
    toolcore_stream_t *made;
    toolcore_status_t status = toolcore_stream_init(DIALECT, s, mem, sizeof mem, &made, NULL);
    CHECK((status == TOOLCORE_OK) == (made != NULL));
    CHECK((status == TOOLCORE_OK) == (toolcore_stream_mem_size(s) != 0));
    toolcore_stream_deinit(made);
    return status;
}
static toolcore_status_t use_native(void *s)
{
    toolcore_tools_opts_t opts = TOOLCORE_TOOLS_OPTS_INIT;
    opts.native = s;
    opts.native_len = 1;
    return use_tools_opts(&opts);
}
static toolcore_status_t use_call_out(void *s) { return toolcore_reply_call(reply, 0, s); }
static toolcore_status_t use_call_in(void *s) { return dispatch(s, NULL); }
static toolcore_status_t use_dispatch_opts(void *s) { return dispatch(&call, s); }
static toolcore_status_t use_dispatch_clock(void *s)
{
    toolcore_dispatch_opts_t opts = TOOLCORE_DISPATCH_OPTS_INIT;
    opts.clock = s;
    opts.timeout_ms = 1000;
    return dispatch(&call, &opts);
}
static toolcore_status_t use_usage(void *s) { return toolcore_result_usage(result, s); }
static toolcore_status_t use_part(void *s) { return toolcore_result_part(result, 0, s); }
static toolcore_status_t render_results(const toolcore_tool_call_t *given, const toolcore_call_result_t *results,
                                        const toolcore_results_opts_t *opts)
{
    size_t len = 9;
    toolcore_status_t status = toolcore_results_render(DIALECT, given, 1, results, 1, opts, buf, sizeof buf, &len, NULL);
    CHECK((status == TOOLCORE_OK) == (len > 0));
    return status;
}
static toolcore_status_t use_rendered_call(void *s)
{
    toolcore_call_result_t answered = call_result();
    return render_results(s, &answered, NULL);
}
static toolcore_status_t use_call_result(void *s) { return render_results(&call, s, NULL); }
static toolcore_status_t use_results_opts(void *s)
{
    toolcore_call_result_t answered = call_result();
    return render_results(&call, &answered, s);
}
static toolcore_status_t use_json_opts(void *s) { return toolcore_json_validate(TOOLCORE_STR("1"), s, NULL); }
static toolcore_status_t use_schema_opts(void *s)
{
    static char mem[1024];
    toolcore_schema_t *made;
    size_t need = 9;
    toolcore_status_t status = toolcore_schema_init(TOOLCORE_STR("true"), s, mem, sizeof mem, &made, NULL);
    CHECK((status == TOOLCORE_OK) == (made != NULL));
    CHECK_STATUS(toolcore_schema_mem_size(TOOLCORE_STR("true"), s, &need, NULL), status);
    toolcore_schema_deinit(made);
    return status;
}
static toolcore_status_t use_resource(void *s)
{
    static char mem[256];
    toolcore_resources_t *made;
    toolcore_status_t status = toolcore_resources_init(s, 1, mem, sizeof mem, &made, NULL);
    CHECK((status == TOOLCORE_OK) == (made != NULL));
    toolcore_resources_deinit(made);
    return status;
}
static toolcore_status_t use_coerce_opts(void *s)
{
    size_t len = 9;
    toolcore_status_t status = toolcore_schema_coerce(schema, TOOLCORE_STR("1"), s, scratch, sizeof scratch, buf,
                                                      sizeof buf, &len, NULL);
    CHECK_SIZE(len, status == TOOLCORE_OK ? 1 : 0);
    CHECK((toolcore_schema_coerce_scratch_size(schema, s) != 0) == (status == TOOLCORE_OK));
    return status;
}
static toolcore_status_t use_tool_info(void *s) { return toolcore_registry_tool(tools, 0, s); }
static toolcore_status_t use_check_opts(void *s)
{
    bool valid = true;
    toolcore_status_t status = toolcore_schema_check(schema, TOOLCORE_STR("1"), s, scratch, sizeof scratch, &valid, NULL);
    CHECK(valid == (status == TOOLCORE_OK));
    return status;
}
static toolcore_status_t use_context_opts(void *s)
{
    static char mem[16384];
    toolcore_context_t *made;
    toolcore_status_t status = toolcore_context_init(s, mem, sizeof mem, &made);
    CHECK((status == TOOLCORE_OK) == (made != NULL));
    CHECK((status == TOOLCORE_OK) == (toolcore_context_mem_size(s) != 0));
    toolcore_context_deinit(made);
    return status;
}
static toolcore_status_t use_block(void *s)
{
    size_t before = toolcore_context_len(context);
    toolcore_status_t status = toolcore_context_push(context, s);
    CHECK_SIZE(toolcore_context_len(context), before + (status == TOOLCORE_OK ? 1 : 0));
    return status;
}
static toolcore_status_t render_context(const toolcore_context_render_opts_t *opts, toolcore_context_report_t *report)
{
    size_t len = 9;
    toolcore_status_t status = toolcore_context_render(context, opts, buf, sizeof buf, &len, report, NULL);
    CHECK((status == TOOLCORE_OK) == (len > 0));
    return status;
}
static toolcore_status_t use_render_opts(void *s) { return render_context(s, NULL); }
static toolcore_status_t use_report(void *s)
{
    toolcore_context_render_opts_t opts = TOOLCORE_CONTEXT_RENDER_OPTS_INIT;
    opts.budget = 1000;
    return render_context(&opts, s);
}
static toolcore_status_t use_block_report(void *s)
{
    toolcore_context_report_t report = TOOLCORE_CONTEXT_REPORT_INIT;
    CHECK_STATUS(use_report(&report), TOOLCORE_OK);
    return toolcore_context_block_report(context, 0, s);
}

static toolcore_status_t use_inflight_opts(void *s)
{
    static char mem[4096];
    toolcore_inflight_t *made;
    toolcore_status_t status = toolcore_inflight_init(s, mem, sizeof mem, &made);
    CHECK((status == TOOLCORE_OK) == (made != NULL));
    CHECK((status == TOOLCORE_OK) == (toolcore_inflight_mem_size(s) != 0));
    toolcore_inflight_deinit(made);
    return status;
}
static toolcore_status_t use_inflight_stats(void *s) { return toolcore_inflight_stats(inflight, s); }
/* Starts and finishes a turn; what is filled in is so only then. */
static toolcore_status_t begin_and_finish(const toolcore_answer_opts_t *opts, toolcore_outcome_t *outcome)
{
    static char mem[4096];
    size_t len = 9;
    runs = 0;
    toolcore_status_t status = toolcore_start(inflight, tools, reply, opts, mem, sizeof mem, 5, NULL);
    CHECK_SIZE(runs, status == TOOLCORE_OK);
    if (status != TOOLCORE_OK)
        return status;
    status = toolcore_finish(inflight, 5, buf, sizeof buf, &len, outcome, NULL);
    CHECK((status == TOOLCORE_OK) == (len > 0));
    if (status != TOOLCORE_OK)
        CHECK_STATUS(toolcore_finish(inflight, 5, buf, sizeof buf, &len, NULL, NULL), TOOLCORE_OK);
    return status;
}
static toolcore_status_t use_start_opts(void *s) { return begin_and_finish(s, NULL); }
static toolcore_status_t use_finish_outcome(void *s) { return begin_and_finish(NULL, s); }
static toolcore_status_t use_start_clock(void *s)
{
    toolcore_answer_opts_t opts = TOOLCORE_ANSWER_OPTS_INIT;
    opts.clock = s;
    opts.timeout_ms = 1000;
    return begin_and_finish(&opts, NULL);
}

/* Good structs, to be copied and spoilt. */

static union {
    size_t struct_size;
    toolcore_param_t param;
    toolcore_tool_t tool;
    toolcore_hook_t hook;
    toolcore_clock_t clock;
    toolcore_tool_call_t call;
    toolcore_call_result_t call_result;
    toolcore_block_t block;
    toolcore_native_tool_t native;
    toolcore_resource_t resource;
    toolcore_context_render_opts_t render_opts;
} good;

static void plain(void) { }
static void good_param(void) { good.param.name = TOOLCORE_STR("p"), good.param.type = TOOLCORE_TYPE_STRING; }
static void good_tool(void) { good.tool = echo_tool(), good.tool.name = TOOLCORE_STR("other"); }
static void good_clock(void) { good.clock.now_ms = now_ms; }
static void good_call(void) { good.call = call; }
static void good_call_result(void) { good.call_result = call_result(); }
static void good_resource(void) { good.resource.text = TOOLCORE_STR("{}"); }
static void good_native(void) { good.native.kind = TOOLCORE_NATIVE_WEB_SEARCH; }
static void good_block(void) { good.block.content = TOOLCORE_STR("more"); }
static void good_render_opts(void) { good.render_opts.budget = 1000; }

#define ROW(type, make, use) { #type ": " #use, sizeof(type), sizeof(type), 0, make, use }
/* One that the library fills in. */
#define OUT(type, use) { #type ": " #use, sizeof(type), sizeof(type), 1, plain, use }
/* The same for structs to which fields were appended, from `field` on. */
#define ROW_SINCE(type, field, make, use) { #type ": " #use, sizeof(type), offsetof(type, field), 0, make, use }
#define OUT_SINCE(type, field, use) { #type ": " #use, sizeof(type), offsetof(type, field), 1, plain, use }
static const struct {
    const char *what;
    size_t size, first;
    int filled_in;
    void (*make)(void);
    toolcore_status_t (*use)(void *);
} structs[] = {
    OUT_SINCE(toolcore_detail_t, resource, use_detail),
    ROW(toolcore_registry_opts_t, plain, use_registry_opts),
    ROW(toolcore_param_t, good_param, use_param),
    ROW(toolcore_param_t, good_param, use_nested_param),
    ROW(toolcore_param_t, good_param, use_items),
    ROW_SINCE(toolcore_tool_t, cancel, good_tool, use_tool),
    ROW(toolcore_hook_t, plain, use_hook),
    ROW_SINCE(toolcore_tools_opts_t, choice_tools, plain, use_tools_opts),
    ROW(toolcore_native_tool_t, good_native, use_native),
    ROW(toolcore_answer_opts_t, plain, use_answer_opts),
    OUT(toolcore_outcome_t, use_outcome),
    ROW(toolcore_clock_t, good_clock, use_clock),
    ROW(toolcore_clock_t, good_clock, use_dispatch_clock),
    ROW_SINCE(toolcore_reply_opts_t, turn, plain, use_reply_opts),
    ROW(toolcore_replay_opts_t, plain, use_replay_opts),
    ROW_SINCE(toolcore_stream_opts_t, turn, plain, use_stream_opts),
    OUT_SINCE(toolcore_tool_call_t, wire_id, use_call_out),
    ROW_SINCE(toolcore_tool_call_t, wire_id, good_call, use_call_in),
    ROW_SINCE(toolcore_tool_call_t, wire_id, good_call, use_rendered_call),
    ROW(toolcore_dispatch_opts_t, plain, use_dispatch_opts),
    ROW(toolcore_usage_t, plain, use_usage),
    OUT(toolcore_part_t, use_part),
    ROW(toolcore_call_result_t, good_call_result, use_call_result),
    ROW(toolcore_results_opts_t, plain, use_results_opts),
    ROW(toolcore_json_opts_t, plain, use_json_opts),
    ROW_SINCE(toolcore_schema_opts_t, resources, plain, use_schema_opts),
    ROW(toolcore_resource_t, good_resource, use_resource),
    ROW(toolcore_coerce_opts_t, plain, use_coerce_opts),
    OUT(toolcore_tool_info_t, use_tool_info),
    ROW(toolcore_check_opts_t, plain, use_check_opts),
    ROW(toolcore_context_opts_t, plain, use_context_opts),
    ROW(toolcore_block_t, good_block, use_block),
    ROW(toolcore_context_render_opts_t, good_render_opts, use_render_opts),
    ROW(toolcore_inflight_opts_t, plain, use_inflight_opts),
    OUT(toolcore_inflight_stats_t, use_inflight_stats),
    ROW(toolcore_answer_opts_t, plain, use_start_opts),
    OUT(toolcore_outcome_t, use_finish_outcome),
    ROW(toolcore_clock_t, good_clock, use_start_clock),
    OUT(toolcore_context_report_t, use_report),
    OUT(toolcore_block_report_t, use_block_report),
};
#define STRUCTS (sizeof structs / sizeof structs[0])

/* A struct of row `i` in memory of `size` bytes, whose struct_size says so; beyond what is known all zero. */
static char *sized(size_t i, size_t size)
{
    size_t known = structs[i].size < size ? structs[i].size : size;
    size_t room = size < sizeof(size_t) ? sizeof(size_t) : size;
    char *memory = memset(block(room), 0, room);
    memset(&good, 0, sizeof good);
    structs[i].make();
    good.struct_size = size;
    memcpy(memory, &good, known < sizeof good ? known : sizeof good);
    memcpy(memory, &size, sizeof size);
    return memory;
}

TEST(a_struct_of_the_known_size_is_taken)
{
    for (size_t i = 0; i < STRUCTS; i++) {
        AT(structs[i].what);
        CHECK_STATUS(structs[i].use(sized(i, structs[i].size)), TOOLCORE_OK);
    }
}

TEST(a_struct_size_of_zero_or_too_small_is_an_invalid_argument)
{
    for (size_t i = 0; i < STRUCTS; i++) {
        const size_t sizes[] = { 0, 1, sizeof(size_t) - 1, sizeof(size_t), structs[i].first - 1 };
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            char *memory = sized(i, sizes[s]);
            AT(structs[i].what);
            CHECK_STATUS(structs[i].use(memory), TOOLCORE_ERR_INVALID_ARGUMENT);
        }
    }
}

TEST(an_older_struct_that_ends_before_what_was_appended_is_taken)
{
    for (size_t i = 0; i < STRUCTS; i++) {
        for (size_t size = structs[i].first; size < structs[i].size; size++) {
            char *memory = sized(i, size + 1);
            memcpy(memory, &size, sizeof size);
            memory[size] = 0x77;
            AT(structs[i].what);
            CHECK_STATUS(structs[i].use(memory), TOOLCORE_OK);
            CHECK(memory[size] == 0x77);
        }
    }
}

TEST(a_larger_struct_is_taken_if_what_is_not_known_is_zero)
{
    static const size_t more[] = { 1, 7, 8, 64 };
    for (size_t i = 0; i < STRUCTS; i++) {
        for (size_t m = 0; m < sizeof more / sizeof more[0]; m++) {
            AT(structs[i].what);
            CHECK_STATUS(structs[i].use(sized(i, structs[i].size + more[m])), TOOLCORE_OK);
        }
    }
}

TEST(a_larger_struct_is_not_supported_if_what_is_not_known_is_set)
{
    static const size_t more[] = { 1, 7, 8, 64 };
    for (size_t i = 0; i < STRUCTS; i++) {
        for (size_t m = 0; m < sizeof more / sizeof more[0]; m++) {
            for (int last = 0; last < 2; last++) {
                char *memory = sized(i, structs[i].size + more[m]);
                memory[last ? structs[i].size + more[m] - 1 : structs[i].size] = 1;
                AT(structs[i].what);
                /* What is only filled in asks for nothing. */
                CHECK_STATUS(structs[i].use(memory), structs[i].filled_in ? TOOLCORE_OK : TOOLCORE_ERR_UNSUPPORTED);
            }
        }
    }
}

TEST(a_struct_that_is_filled_in_is_written_no_further_than_is_known)
{
    for (size_t i = 0; i < STRUCTS; i++) {
        if (!structs[i].filled_in)
            continue;
        char *memory = sized(i, structs[i].size + 16), *guard = memory + structs[i].size;
        AT(structs[i].what);
        memset(guard, 0x77, 16);
        CHECK_STATUS(structs[i].use(memory), TOOLCORE_OK);
        for (int byte = 0; byte < 16; byte++)
            CHECK(guard[byte] == 0x77);
        size_t size;
        memcpy(&size, memory, sizeof size);
        CHECK_SIZE(size, structs[i].size + 16);
    }
}

TEST(elements_of_an_array_stand_their_own_struct_size_apart)
{
    struct { toolcore_tool_call_t call; uint64_t later[3]; } calls[2];
    struct { toolcore_call_result_t result; uint64_t later; } results[2];
    struct { toolcore_param_t param; uint64_t later[2]; } params[2];
    toolcore_tool_t tool = echo_tool();
    size_t len;
    memset(calls, 0, sizeof calls);
    memset(results, 0, sizeof results);
    memset(params, 0, sizeof params);
    for (size_t i = 0; i < 2; i++) {
        calls[i].call.struct_size = sizeof calls[0];
        calls[i].call.id = text(i == 0 ? "a" : "b");
        calls[i].call.name = text("echo");
        results[i].result.struct_size = sizeof results[0];
        results[i].result.id = text(i == 0 ? "b" : "a");
        params[i].param.struct_size = sizeof params[0];
        params[i].param.name = text(i == 0 ? "first" : "second");
        params[i].param.type = TOOLCORE_TYPE_INTEGER;
    }
    CHECK_STATUS(toolcore_results_render(DIALECT, &calls[0].call, 2, &results[0].result, 2, NULL, buf, sizeof buf, &len,
                                         NULL),
                 TOOLCORE_OK);
    CHECK(contains(buf, len, "\"tool_use_id\":\"a\"") && contains(buf, len, "\"tool_use_id\":\"b\""));
    tool.name = TOOLCORE_STR("two");
    tool.schema = TOOLCORE_STR("");
    tool.params = &params[0].param;
    tool.params_len = 2;
    CHECK_STATUS(toolcore_registry_add(tools, &tool, NULL), TOOLCORE_OK);
    CHECK_STATUS(toolcore_tools_render(tools, DIALECT, NULL, buf, sizeof buf, &len, NULL), TOOLCORE_OK);
    CHECK(contains(buf, len, "\"first\"") && contains(buf, len, "\"second\""));
    CHECK_STATUS(toolcore_registry_remove(tools, tool.name), TOOLCORE_OK);
    /* Different sizes in one array are a mistake. */
    results[1].result.struct_size = sizeof(toolcore_call_result_t);
    CHECK_STATUS(toolcore_results_render(DIALECT, &calls[0].call, 2, &results[0].result, 2, NULL, buf, sizeof buf, &len,
                                         NULL),
                 TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_SIZE(len, 0);
}

/* Sets one 32-bit field of a good struct and uses it. */
#define FIELD(row_use, type, field, value)                                                           \
    do {                                                                                             \
        size_t row_of = 0;                                                                           \
        while (structs[row_of].use != (row_use) || structs[row_of].size != sizeof(type))             \
            row_of++;                                                                                \
        type *spoilt_struct = (type *)(void *)sized(row_of, sizeof(type));                           \
        spoilt_struct->field = (value);                                                              \
        AT(#type "." #field " = " #value);                                                           \
        CHECK_STATUS(structs[row_of].use(spoilt_struct), TOOLCORE_ERR_UNSUPPORTED);                  \
    } while (0)

TEST(a_constant_flag_or_reserved_field_that_is_not_known_is_not_supported)
{
    FIELD(use_registry_opts, toolcore_registry_opts_t, collision, 2);
    FIELD(use_registry_opts, toolcore_registry_opts_t, flags, 2);
    FIELD(use_param, toolcore_param_t, type, 8);
    FIELD(use_param, toolcore_param_t, flags, 8);
    FIELD(use_nested_param, toolcore_param_t, type, UINT32_MAX);
    FIELD(use_items, toolcore_param_t, type, 8);
    FIELD(use_tool, toolcore_tool_t, flags, 16);
    FIELD(use_tool, toolcore_tool_t, annotations, 256);
    FIELD(use_tools_opts, toolcore_tools_opts_t, choice, 7);
    FIELD(use_tools_opts, toolcore_tools_opts_t, parallel, 3);
    FIELD(use_tools_opts, toolcore_tools_opts_t, flags, 1u << 31);
    FIELD(use_tools_opts, toolcore_tools_opts_t, reserved, 1);
    FIELD(use_native, toolcore_native_tool_t, kind, 8);
    FIELD(use_native, toolcore_native_tool_t, reserved, 1);
    FIELD(use_replay_opts, toolcore_replay_opts_t, flags, 2);
    FIELD(use_replay_opts, toolcore_replay_opts_t, reserved, 1);
    FIELD(use_stream_opts, toolcore_stream_opts_t, flags, 4);
    FIELD(use_stream_opts, toolcore_stream_opts_t, reserved, 1);
    FIELD(use_answer_opts, toolcore_answer_opts_t, flags, 8);
    FIELD(use_answer_opts, toolcore_answer_opts_t, reserved2, 1);
    FIELD(use_start_opts, toolcore_answer_opts_t, flags, 8);
    FIELD(use_start_opts, toolcore_answer_opts_t, reserved2, 1);
    FIELD(use_inflight_opts, toolcore_inflight_opts_t, flags, 2);
    FIELD(use_reply_opts, toolcore_reply_opts_t, flags, 2);
    FIELD(use_reply_opts, toolcore_reply_opts_t, reserved, 1);
    FIELD(use_call_in, toolcore_tool_call_t, flags, 1u << 31);
    FIELD(use_call_in, toolcore_tool_call_t, reserved, 1);
    FIELD(use_dispatch_opts, toolcore_dispatch_opts_t, flags, 4);
    FIELD(use_usage, toolcore_usage_t, reserved, 1);
    FIELD(use_call_result, toolcore_call_result_t, flags, 2);
    FIELD(use_call_result, toolcore_call_result_t, reserved, 1);
    FIELD(use_results_opts, toolcore_results_opts_t, flags, 2);
    FIELD(use_results_opts, toolcore_results_opts_t, reserved, 1);
    FIELD(use_json_opts, toolcore_json_opts_t, flags, 2);
    FIELD(use_schema_opts, toolcore_schema_opts_t, default_draft, 2);
    FIELD(use_schema_opts, toolcore_schema_opts_t, flags, 2);
    FIELD(use_schema_opts, toolcore_schema_opts_t, reserved, 1);
    FIELD(use_coerce_opts, toolcore_coerce_opts_t, flags, 16);
    FIELD(use_coerce_opts, toolcore_coerce_opts_t, reserved, 1);
    FIELD(use_check_opts, toolcore_check_opts_t, flags, 2);
    FIELD(use_check_opts, toolcore_check_opts_t, reserved, 1);
    FIELD(use_block, toolcore_block_t, flags, 32);
    FIELD(use_block, toolcore_block_t, reserved, 1);
    FIELD(use_render_opts, toolcore_context_render_opts_t, format, 3);
    FIELD(use_render_opts, toolcore_context_render_opts_t, order, 2);
    FIELD(use_render_opts, toolcore_context_render_opts_t, policy, 2);
    FIELD(use_render_opts, toolcore_context_render_opts_t, show, 8);
    FIELD(use_render_opts, toolcore_context_render_opts_t, reserved, 1);
}

TEST(a_clock_without_a_function_is_an_invalid_argument)
{
    toolcore_clock_t clock = TOOLCORE_CLOCK_INIT;
    CHECK_STATUS(use_clock(&clock), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(use_dispatch_clock(&clock), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(use_start_clock(&clock), TOOLCORE_ERR_INVALID_ARGUMENT);
}

int main(void)
{
    RUN(set_up);
    RUN(a_struct_of_the_known_size_is_taken);
    RUN(a_struct_size_of_zero_or_too_small_is_an_invalid_argument);
    RUN(an_older_struct_that_ends_before_what_was_appended_is_taken);
    RUN(a_larger_struct_is_taken_if_what_is_not_known_is_zero);
    RUN(a_larger_struct_is_not_supported_if_what_is_not_known_is_set);
    RUN(a_struct_that_is_filled_in_is_written_no_further_than_is_known);
    RUN(elements_of_an_array_stand_their_own_struct_size_apart);
    RUN(a_constant_flag_or_reserved_field_that_is_not_known_is_not_supported);
    RUN(a_clock_without_a_function_is_an_invalid_argument);
    RUN(tear_down);
    return check_end();
}

/* Tools that behave as a request says, and the op answer. */
#include "inspect.h"

struct behaviour { struct content content; uint64_t busy_ms; };

uint64_t clock_ms;

static uint64_t now_ms(void *user_data)
{
    return *(const uint64_t *)user_data;
}

static toolcore_status_t run(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    const struct behaviour *behaviour = user_data;
    clock_ms += behaviour->busy_ms;
    return behaviour->content.echo ? toolcore_result_json(result, toolcore_call_arguments(call))
                                   : append(result, &behaviour->content);
}

static bool read_behaviour(str json, struct behaviour *behaviour)
{
    static const char *const later[] = { "pending_ms", "stubborn_ms" };
    return only(json, "a behaviour", "echo text json error parts busy_ms pending_ms stubborn_ms") &&
           none_of(json, later, COUNT(later)) && get_u64(json, "busy_ms", UINT32_MAX, &behaviour->busy_ms) &&
           read_content(json, &behaviour->content);
}

static bool read_annotations(str json, uint32_t *flags)
{
    static const struct { const char *name; uint32_t yes, no; } hints[] = {
        { "readOnlyHint", TOOLCORE_ANNOTATION_READ_ONLY, TOOLCORE_ANNOTATION_NOT_READ_ONLY },
        { "destructiveHint", TOOLCORE_ANNOTATION_DESTRUCTIVE, TOOLCORE_ANNOTATION_NOT_DESTRUCTIVE },
        { "idempotentHint", TOOLCORE_ANNOTATION_IDEMPOTENT, TOOLCORE_ANNOTATION_NOT_IDEMPOTENT },
        { "openWorldHint", TOOLCORE_ANNOTATION_OPEN_WORLD, TOOLCORE_ANNOTATION_NOT_OPEN_WORLD },
    };
    str value;
    if (!only(json, "annotations", "readOnlyHint destructiveHint idempotentHint openWorldHint"))
        return false;
    for (size_t i = 0; i < COUNT(hints); i++) {
        bool hint = false;
        if (!get_bool(json, hints[i].name, &hint))
            return false;
        if (has(json, hints[i].name, &value))
            *flags |= hint ? hints[i].yes : hints[i].no;
    }
    return true;
}

static bool add_tool(toolcore_registry_t *registry, str json)
{
    toolcore_tool_t tool = TOOLCORE_TOOL_INIT;
    struct behaviour *behaviour = allocate_array(1, sizeof *behaviour);
    str value = TOOLCORE_STR_INIT("{}");
    if (behaviour == NULL || !need(json, "name", &value) || !decode(value, "name", &tool.name))
        return false;
    problem.tool = tool.name;
    if (!only(json, "a tool", "name title description category parameters output_schema annotations strict coerce "
                              "timeout_ms behaviour"))
        return false;
    tool.run = run;
    tool.user_data = behaviour;
    has(json, "parameters", &tool.schema);
    has(json, "output_schema", &tool.output_schema);
    if (!get_text(json, "title", &tool.title) || !get_text(json, "description", &tool.description) ||
        !get_text(json, "category", &tool.category) ||
        !get_flag(json, "strict", TOOLCORE_TOOL_STRICT, &tool.flags) ||
        !get_flag(json, "coerce", TOOLCORE_TOOL_COERCE, &tool.flags) ||
        !get_timeout(json, &tool.timeout_ms) ||
        (has(json, "annotations", &value) && !read_annotations(value, &tool.annotations)) ||
        !read_behaviour(has(json, "behaviour", &value) ? value : TOOLCORE_STR("{}"), behaviour))
        return false;
    toolcore_status_t status = toolcore_registry_add(registry, &tool, &why);
    if (status != TOOLCORE_OK)
        return refuse_schema(status);
    problem.tool.ptr = NULL;
    return true;
}

/* A registry of the request's `tools`. It gets a third of what memory is left, or what it needs. */
bool add_tools(str request, toolcore_registry_t **registry)
{
    toolcore_registry_opts_t opts = TOOLCORE_REGISTRY_OPTS_INIT;
    toolcore_json_iter_t iter;
    str json;
    if (!get_array(request, "tools", &iter, &opts.max_tools))
        return false;
    size_t size = toolcore_registry_mem_size(&opts);
    size = size < arena_left() / 3 ? arena_left() / 3 : size;
    void *memory = allocate(size);
    if (memory == NULL || !ok(toolcore_registry_init(&opts, memory, size, registry)))
        return false;
    while (toolcore_json_iter_next(&iter, NULL, &json))
        if (!add_tool(*registry, json))
            return false;
    size_t total;
    return ok(toolcore_registry_pool(*registry, &pool_used, &total));
}

/* Calls are told of while the messages are still being written, so they wait in a text of their own. */
static void put_outcome(void *user_data, const toolcore_tool_call_t *call, uint32_t kind,
                        const toolcore_result_t *result)
{
    toolcore_json_writer_t *outcomes = user_data, answer = out;
    (void)result;
    out = *outcomes;
    toolcore_json_writer_object_start(&out);
    put_id(call);
    put_text("kind", text_of(toolcore_outcome_name(kind)));
    toolcore_json_writer_object_end(&out);
    *outcomes = out;
    out = answer;
}

bool op_answer(str request)
{
    const toolcore_clock_t clock = { sizeof clock, &clock_ms, now_ms };
    toolcore_answer_opts_t opts = TOOLCORE_ANSWER_OPTS_INIT;
    toolcore_json_writer_t outcomes;
    toolcore_registry_t *registry;
    toolcore_reply_t *streamed = NULL;
    uint32_t dialect;
    str reply, messages, list;
    bool whole = has(request, "reply", &reply);
    if (!only(request, "the request",
              "op dialect tools reply chunks hex_chunks events calls_only lenient timeout_ms max_calls result_limit") ||
        !get_dialect(request, &dialect) ||
        !(whole ? get_reply(request, &reply) : read_stream(request, dialect, &streamed)) ||
        !get_flag(request, "lenient", TOOLCORE_ANSWER_LENIENT, &opts.flags) ||
        !get_timeout(request, &opts.timeout_ms) ||
        !get_size(request, "max_calls", &opts.max_calls) ||
        !get_size(request, "result_limit", &opts.result_limit) || !add_tools(request, &registry))
        return false;
    size_t piece = arena_left() / 3;
    char *list_buffer = allocate(piece), *buffer = allocate(piece);
    list.ptr = list_buffer;
    messages.ptr = buffer;
    opts.clock = &clock;
    opts.observe = put_outcome;
    opts.user_data = &outcomes;
    toolcore_json_writer_init(&outcomes, list_buffer, piece);
    toolcore_json_writer_array_start(&outcomes);
    char *scratch = arena + arena_used;
    toolcore_status_t status =
        whole ? toolcore_answer(registry, dialect, reply, &opts, scratch, arena_left(), buffer, piece, &messages.len,
                                NULL, &why)
              : toolcore_answer_reply(registry, streamed, &opts, scratch, arena_left(), buffer, piece, &messages.len,
                                      NULL, &why);
    if (!ok(status))
        return false;
    toolcore_json_writer_array_end(&outcomes);
    if (!ok(toolcore_json_writer_end(&outcomes, &list.len)))
        return false;
    put_output("messages", dialect, messages);
    put_json("outcomes", list);
    toolcore_registry_deinit(registry);
    return true;
}

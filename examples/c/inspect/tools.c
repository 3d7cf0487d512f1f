/* Tools that behave as a request says. */
#include "inspect.h"

uint64_t clock_ms;
bool some_tool_answers_later;

static uint64_t now_ms(void *user_data)
{
    (void)user_data;
    return clock_ms;
}

const toolcore_clock_t manual_clock = TOOLCORE_SIZED(toolcore_clock_t, .now_ms = now_ms);

static toolcore_status_t run(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    const struct behaviour *behaviour = user_data;
    clock_ms += behaviour->busy_ms;
    if (behaviour->later)
        return keep_flight(behaviour, call);
    return behaviour->content.echo ? toolcore_result_json(result, toolcore_call_arguments(call))
                                   : append(result, &behaviour->content);
}

/* How long after its call a tool answers; null for one that never does by itself. */
static bool read_later(str json, const char *name, struct behaviour *behaviour)
{
    str value;
    if (!has(json, name, &value))
        return true;
    if (behaviour->later)
        return refuse("request", "a behaviour has both 'pending_ms' and 'stubborn_ms'");
    behaviour->later = some_tool_answers_later = true;
    behaviour->after_ms = UINT64_MAX;
    return toolcore_json_kind(value) == TOOLCORE_JSON_NULL || get_u64(json, name, UINT32_MAX, &behaviour->after_ms);
}

static bool read_behaviour(str json, struct behaviour *behaviour)
{
    str value;
    behaviour->stubborn = has(json, "stubborn_ms", &value);
    return only(json, "a behaviour", "echo text json error parts busy_ms pending_ms stubborn_ms") &&
           read_later(json, "pending_ms", behaviour) && read_later(json, "stubborn_ms", behaviour) &&
           get_u64(json, "busy_ms", UINT32_MAX, &behaviour->busy_ms) && read_content(json, &behaviour->content);
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
    if (behaviour->later)
        tool.cancel = cancel_flight;
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
    some_tool_answers_later = false;
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

/* The op render. */
#include "inspect.h"

static void put_note(void *user_data, str tool, str path, str message)
{
    (void)user_data;
    toolcore_json_writer_object_start(&out);
    put_text("tool", tool);
    put_text("path", path);
    put_text("message", message);
    toolcore_json_writer_object_end(&out);
}

/* {"allowed":[NAME],"required":BOOL} */
static bool read_allowed(str choice, toolcore_tools_opts_t *opts)
{
    toolcore_json_iter_t iter;
    bool required = false;
    str json;
    if (!only(choice, "a choice", "allowed required") ||
        !get_array(choice, "allowed", &iter, &opts->choice_tools_len) || !get_bool(choice, "required", &required))
        return false;
    opts->choice = required ? TOOLCORE_CHOICE_ALLOWED_REQUIRED : TOOLCORE_CHOICE_ALLOWED;
    str *names = allocate_array(opts->choice_tools_len, sizeof *names);
    opts->choice_tools = names;
    for (size_t i = 0; names != NULL && toolcore_json_iter_next(&iter, NULL, &json); i++)
        if (!decode(json, "allowed", &names[i]))
            return false;
    return names != NULL;
}

static bool read_choice(str request, toolcore_tools_opts_t *opts)
{
    static const struct word choices[] = { { "auto", TOOLCORE_CHOICE_AUTO }, { "none", TOOLCORE_CHOICE_NONE },
                                           { "required", TOOLCORE_CHOICE_REQUIRED } };
    str choice, value;
    if (!has(request, "choice", &choice) || toolcore_json_kind(choice) != TOOLCORE_JSON_OBJECT)
        return get_word(request, "choice", choices, COUNT(choices), &opts->choice);
    if (has(choice, "allowed", &value))
        return read_allowed(choice, opts);
    opts->choice = TOOLCORE_CHOICE_TOOL;
    return only(choice, "a choice", "tool") && need(choice, "tool", &value) && decode(value, "tool", &opts->choice_tool);
}

/* KIND or {"kind":KIND,"config":{…},"allow":BOOL} */
static bool read_native(str json, toolcore_native_tool_t *native, uint32_t *flags)
{
    static const struct word kinds[] = {
        { "web_search", TOOLCORE_NATIVE_WEB_SEARCH },
        { "code_execution", TOOLCORE_NATIVE_CODE_EXECUTION },
        { "file_search", TOOLCORE_NATIVE_FILE_SEARCH },
        { "computer_use", TOOLCORE_NATIVE_COMPUTER_USE },
        { "image_generation", TOOLCORE_NATIVE_IMAGE_GENERATION },
        { "google_search", TOOLCORE_NATIVE_GOOGLE_SEARCH },
        { "google_maps", TOOLCORE_NATIVE_GOOGLE_MAPS },
    };
    str kind = json;
    native->struct_size = sizeof *native;
    if (toolcore_json_kind(json) == TOOLCORE_JSON_OBJECT) {
        has(json, "config", &native->config);
        if (!only(json, "a tool of the provider", "kind config allow") || !need(json, "kind", &kind) || !get_flag(json, "allow", TOOLCORE_RENDER_ALLOW_ACTING, flags))
            return false;
    }
    return find_word(kind, "native", kinds, COUNT(kinds), &native->kind);
}

static bool read_natives(str request, toolcore_tools_opts_t *opts)
{
    toolcore_json_iter_t iter;
    str json;
    if (!has(request, "native", &json))
        return true;
    if (!get_array(request, "native", &iter, &opts->native_len))
        return false;
    toolcore_native_tool_t *native = allocate_array(opts->native_len, sizeof *native);
    opts->native = native;
    for (size_t i = 0; native != NULL && toolcore_json_iter_next(&iter, NULL, &json); i++)
        if (!read_native(json, &native[i], &opts->flags))
            return false;
    return native != NULL;
}

static bool read_opts(str request, toolcore_tools_opts_t *opts)
{
    bool alias = true, parallel = true;
    str json;
    if (!get_bool(request, "alias", &alias) || !get_bool(request, "parallel", &parallel) ||
        !get_text(request, "category", &opts->category) ||
        !get_flag(request, "cache", TOOLCORE_RENDER_CACHE, &opts->flags) ||
        !get_flag(request, "after_calls", TOOLCORE_RENDER_AFTER_CALLS, &opts->flags) ||
        !get_flag(request, "refuse_dropped", TOOLCORE_RENDER_REFUSE_DROPPED, &opts->flags))
        return false;
    opts->flags |= alias ? 0 : TOOLCORE_RENDER_NO_ALIAS;
    if (has(request, "parallel", &json))
        opts->parallel = parallel ? TOOLCORE_PARALLEL_YES : TOOLCORE_PARALLEL_NO;
    return read_choice(request, opts) && read_natives(request, opts);
}

bool op_render(str request)
{
    static const char *const later[] = { "budget" };
    toolcore_tools_opts_t opts = TOOLCORE_TOOLS_OPTS_INIT;
    toolcore_registry_t *registry;
    uint32_t dialect;
    str body;
    if (!only(request, "the request",
              "op dialect tools choice parallel category native cache alias after_calls refuse_dropped budget") ||
        !get_dialect(request, &dialect) || !none_of(request, later, COUNT(later)) || !read_opts(request, &opts) ||
        !add_tools(request, &registry))
        return false;
    char *buffer = arena + arena_used;
    body.ptr = buffer;
    if (!ok(toolcore_tools_render(registry, dialect, &opts, buffer, arena_left(), &body.len, &why)))
        return false;
    put_output("body", dialect, body);
    put_key("notes");
    toolcore_json_writer_array_start(&out);
    opts.note = put_note;
    bool done = ok(toolcore_tools_render(registry, dialect, &opts, NULL, 0, &body.len, &why));
    toolcore_json_writer_array_end(&out);
    toolcore_registry_deinit(registry);
    return done;
}

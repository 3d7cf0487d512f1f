/* The ops parse and results. */
#include <string.h>

#include "inspect.h"

void put_id(const toolcore_tool_call_t *call)
{
    put_nullable("id", call->id, (call->flags & TOOLCORE_CALL_HAS_ID) != 0);
    put_text("name", call->name);
}

/* The id that results and replay use, where it is not that of the reply. */
static void put_wire_id(const toolcore_tool_call_t *call)
{
    str id = call->id, wire_id = call->wire_id;
    if (wire_id.len > 0 && (wire_id.len != id.len || memcmp(wire_id.ptr, id.ptr, id.len) != 0))
        put_text("wire_id", wire_id);
}

/* Arguments that are not JSON are given as a string, and marked; those of a custom tool are free text. */
static void put_call(const toolcore_tool_call_t *call)
{
    bool custom = (call->flags & TOOLCORE_CALL_CUSTOM) != 0;
    bool malformed = !custom && call->arguments.len > 0 && toolcore_json_kind(call->arguments) == 0;
    toolcore_json_writer_object_start(&out);
    put_id(call);
    put_wire_id(call);
    put_key("arguments");
    if (malformed || custom)
        toolcore_json_writer_string(&out, call->arguments);
    else
        toolcore_json_writer_raw(&out, call->arguments.len > 0 ? call->arguments : TOOLCORE_STR("{}"));
    put_key("flags");
    toolcore_json_writer_array_start(&out);
    if (malformed)
        toolcore_json_writer_string(&out, TOOLCORE_STR("malformed"));
    if (call->flags & TOOLCORE_CALL_TRUNCATED)
        toolcore_json_writer_string(&out, TOOLCORE_STR("truncated"));
    toolcore_json_writer_array_end(&out);
    toolcore_json_writer_object_end(&out);
}

/* What a reply says; with "replay", also the turn that goes back. */
bool put_reply(str request, uint32_t dialect, const toolcore_reply_t *reply)
{
    static const char *const ends[] = { "complete", "truncated", "refused", "malformed", "paused" };
    toolcore_tool_call_t call = TOOLCORE_TOOL_CALL_INIT;
    bool replay = false;
    char *buffer = arena + arena_used;
    str text = { buffer, 0 };
    if (!get_bool(request, "replay", &replay))
        return false;
    put_key("calls");
    toolcore_json_writer_array_start(&out);
    for (size_t i = 0; i < toolcore_reply_len(reply); i++) {
        if (!ok(toolcore_reply_call(reply, i, &call)))
            return false;
        put_call(&call);
    }
    toolcore_json_writer_array_end(&out);
    if (!ok(toolcore_reply_text(reply, buffer, arena_left(), &text.len)))
        return false;
    put_text("text", text);
    put_text("finish", text_of(ends[toolcore_reply_finish(reply)]));
    if (!replay)
        return true;
    if (!ok(toolcore_reply_replay(reply, NULL, buffer, arena_left(), &text.len, &why)))
        return false;
    put_output("replay", dialect, text);
    return true;
}

/* In memory that is free when the answer is out. */
bool parse_reply(uint32_t dialect, str json, const toolcore_reply_opts_t *opts, toolcore_reply_t **reply)
{
    size_t size;
    if (!ok(toolcore_reply_mem_size(dialect, json, opts, &size, &why)))
        return false;
    void *memory = allocate(size);
    return memory != NULL && ok(toolcore_reply_parse(dialect, json, opts, memory, size, reply, &why));
}

bool op_parse(str request)
{
    toolcore_reply_t *reply;
    uint32_t dialect;
    toolcore_reply_opts_t opts = TOOLCORE_REPLY_OPTS_INIT;
    str json;
    if (!only(request, "the request", "op dialect reply replay turn_number") || !get_dialect(request, &dialect) ||
        !get_u32(request, "turn_number", &opts.turn) || !get_reply(request, &json) ||
        !parse_reply(dialect, json, &opts, &reply))
        return false;
    bool done = put_reply(request, dialect, reply);
    toolcore_reply_deinit(reply);
    return done;
}

/* An id, which may be null or left out. */
static bool read_id(str json, str *id, uint32_t has_id, uint32_t *flags)
{
    str value;
    if (!has(json, "id", &value) || toolcore_json_kind(value) == TOOLCORE_JSON_NULL)
        return true;
    *flags |= has_id;
    return decode(value, "id", id);
}

bool read_call(str json, toolcore_tool_call_t *call)
{
    call->struct_size = sizeof *call;
    has(json, "arguments", &call->arguments);
    return only(json, "a call", "id wire_id name arguments flags") && get_text(json, "name", &call->name) &&
           get_text(json, "wire_id", &call->wire_id) && read_id(json, &call->id, TOOLCORE_CALL_HAS_ID, &call->flags);
}

static bool read_calls(str request, toolcore_tool_call_t **calls, size_t *len)
{
    toolcore_json_iter_t iter;
    str json;
    if (!get_array(request, "calls", &iter, len))
        return false;
    *calls = allocate_array(*len, sizeof **calls);
    for (size_t i = 0; *calls != NULL && toolcore_json_iter_next(&iter, NULL, &json); i++)
        if (!read_call(json, &(*calls)[i]))
            return false;
    return *calls != NULL;
}

/* A result in memory of its own, in which its parts have room. */
static bool make_result(str json, const toolcore_result_t **made)
{
    struct content content = { 0 };
    toolcore_result_t *result;
    size_t size = toolcore_result_mem_size() + json.len + 64;
    void *memory = allocate(size);
    if (memory == NULL || !read_content(json, &content) || !ok(toolcore_result_init(memory, size, &result)))
        return false;
    *made = result;
    return content.echo ? refuse("request", "a result has no 'text', 'json', 'error' or 'parts'")
                        : ok(append(result, &content));
}

static bool read_results(str request, toolcore_call_result_t **results, size_t *len)
{
    toolcore_json_iter_t iter, cancelled;
    size_t cancelled_len = 0;
    str json;
    if (!get_array(request, "results", &iter, len) ||
        (has(request, "cancelled", &json) && !get_array(request, "cancelled", &cancelled, &cancelled_len)))
        return false;
    *len += cancelled_len;
    toolcore_call_result_t *result = *results = allocate_array(*len, sizeof *result);
    if (result == NULL)
        return false;
    for (; toolcore_json_iter_next(&iter, NULL, &json); result++) {
        result->struct_size = sizeof *result;
        if (!only(json, "a result", "id name text json error parts") ||
            !read_id(json, &result->id, TOOLCORE_RESULT_HAS_ID, &result->flags) ||
            !make_result(json, &result->result))
            return false;
    }
    for (; cancelled_len > 0 && toolcore_json_iter_next(&cancelled, NULL, &json); result++) {
        result->struct_size = sizeof *result;
        result->flags = TOOLCORE_RESULT_HAS_ID;
        if (!decode(json, "cancelled", &result->id))
            return false;
    }
    return true;
}

/* The model's turn that the results answer, with "turn"; `text` is what it says beside the calls. */
static bool put_turn(str request, uint32_t dialect, const toolcore_tool_call_t *calls, size_t len)
{
    bool turn = false;
    str said = TOOLCORE_STR("");
    if (!get_bool(request, "turn", &turn) || !get_text(request, "text", &said))
        return false;
    char *buffer = arena + arena_used;
    str text = { buffer, 0 };
    if (!turn)
        return true;
    if (!ok(toolcore_turn_render(dialect, said, calls, len, NULL, buffer, arena_left(), &text.len, &why)))
        return false;
    put_output("turn", dialect, text);
    return true;
}

bool op_results(str request)
{
    toolcore_results_opts_t opts = TOOLCORE_RESULTS_OPTS_INIT;
    toolcore_tool_call_t *calls;
    toolcore_call_result_t *results;
    size_t calls_len, results_len;
    uint32_t dialect;
    str messages;
    if (!only(request, "the request", "op dialect calls results cancelled result_limit turn text") ||
        !get_dialect(request, &dialect) || !get_size(request, "result_limit", &opts.limit) ||
        !read_calls(request, &calls, &calls_len) || !read_results(request, &results, &results_len) ||
        !put_turn(request, dialect, calls, calls_len))
        return false;
    char *buffer = arena + arena_used;
    messages.ptr = buffer;
    if (!ok(toolcore_results_render(dialect, calls, calls_len, results, results_len, &opts, buffer, arena_left(),
                                    &messages.len, &why)))
        return false;
    put_output("messages", dialect, messages);
    return true;
}

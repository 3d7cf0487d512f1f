/* The op answer. */
#include "inspect.h"

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

bool read_answer_opts(str request, toolcore_answer_opts_t *opts)
{
    opts->clock = &manual_clock;
    return get_flag(request, "lenient", TOOLCORE_ANSWER_LENIENT, &opts->flags) &&
           get_timeout(request, &opts->timeout_ms) && get_size(request, "max_calls", &opts->max_calls) &&
           get_size(request, "result_limit", &opts->result_limit);
}

/* With tools that answer later: the clock runs until each call has its result, or nothing more will happen. */
static bool answer_later(toolcore_registry_t *registry, uint32_t dialect, const toolcore_reply_t *reply,
                         const toolcore_answer_opts_t *opts)
{
    toolcore_inflight_opts_t inflight = TOOLCORE_INFLIGHT_OPTS_INIT;
    toolcore_tool_call_t call = TOOLCORE_TOOL_CALL_INIT;
    size_t len = toolcore_reply_len(reply);
    struct flight *flights = allocate_array(len, sizeof *flights);
    str messages;
    for (size_t i = 0; flights != NULL && i < len; i++) {
        if (!ok(toolcore_reply_call(reply, i, &call)))
            return false;
        flights[i].id = call.id;
        flights[i].has_id = (call.flags & TOOLCORE_CALL_HAS_ID) != 0;
        flights[i].name = call.name;
    }
    if (flights == NULL || !start_flights(flights, len, &inflight, false) || !start_turn(registry, reply, opts, 0) ||
        !run_flights(UINT64_MAX) || !finish_turn(&messages))
        return false;
    put_output("messages", dialect, messages);
    put_outcomes();
    end_flights();
    toolcore_registry_deinit(registry);
    return true;
}

bool op_answer(str request)
{
    toolcore_answer_opts_t opts = TOOLCORE_ANSWER_OPTS_INIT;
    toolcore_json_writer_t outcomes;
    toolcore_registry_t *registry;
    toolcore_reply_t *reply = NULL;
    uint32_t dialect;
    str json, messages, list;
    bool whole = has(request, "reply", &json);
    if (!only(request, "the request",
              "op dialect tools reply chunks hex_chunks events calls_only lenient timeout_ms max_calls result_limit") ||
        !get_dialect(request, &dialect) ||
        !(whole ? get_reply(request, &json) : read_stream(request, dialect, &reply)) ||
        !read_answer_opts(request, &opts) || !add_tools(request, &registry))
        return false;
    if (some_tool_answers_later)
        return (!whole || parse_reply(dialect, json, NULL, &reply)) && answer_later(registry, dialect, reply, &opts);
    size_t piece = arena_left() / 3;
    char *list_buffer = allocate(piece), *buffer = allocate(piece);
    list.ptr = list_buffer;
    messages.ptr = buffer;
    opts.observe = put_outcome;
    opts.user_data = &outcomes;
    toolcore_json_writer_init(&outcomes, list_buffer, piece);
    toolcore_json_writer_array_start(&outcomes);
    char *scratch = arena + arena_used;
    toolcore_status_t status =
        whole ? toolcore_answer(registry, dialect, json, &opts, scratch, arena_left(), buffer, piece, &messages.len,
                                NULL, &why)
              : toolcore_answer_reply(registry, reply, &opts, scratch, arena_left(), buffer, piece, &messages.len,
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

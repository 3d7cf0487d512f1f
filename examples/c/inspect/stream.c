/* Streamed replies, and the op stream. */
#include <string.h>

#include "inspect.h"

static bool feed(toolcore_stream_t *stream, str bytes)
{
    return ok(toolcore_stream_feed(stream, bytes, &why));
}

/* `chunks`, strings that are cut anywhere, or `hex_chunks`. */
static bool feed_chunks(str request, const char *name, bool (*read)(str, const char *, str *),
                        toolcore_stream_t *stream)
{
    toolcore_json_iter_t iter;
    size_t count, used = arena_used;
    str json, bytes;
    if (!get_array(request, name, &iter, &count))
        return false;
    while (toolcore_json_iter_next(&iter, NULL, &json)) {
        if (!read(json, name, &bytes) || !feed(stream, bytes))
            return false;
        arena_used = used;
    }
    return true;
}

/* A message of an AWS event stream: {TYPE: PAYLOAD}. */
static bool feed_message(toolcore_stream_t *stream, str event)
{
    toolcore_json_iter_t iter;
    size_t used = arena_used;
    str key, payload, type;
    if (toolcore_json_iter_init(&iter, event) != TOOLCORE_OK || !toolcore_json_iter_next(&iter, &key, &payload) ||
        key.len == 0)
        return refuse("request", "an event is not an object of one member");
    bool done = decode(key, "events", &type) && ok(toolcore_stream_feed_event(stream, type, payload, &why));
    arena_used = used;
    return done;
}

/* JSON values, as the provider frames them: server-sent events, lines of JSON, or messages without their frame. */
static bool feed_events(str request, uint32_t dialect, toolcore_stream_t *stream)
{
    static const str data = TOOLCORE_STR_INIT("data: "), blank = TOOLCORE_STR_INIT("\n\n"),
                     line = TOOLCORE_STR_INIT("\n"), done = TOOLCORE_STR_INIT("data: [DONE]\n\n");
    bool lines = dialect == TOOLCORE_DIALECT_OLLAMA, messages = dialect == TOOLCORE_DIALECT_BEDROCK;
    toolcore_json_iter_t iter;
    size_t count;
    str event;
    if (!get_array(request, "events", &iter, &count))
        return false;
    while (toolcore_json_iter_next(&iter, NULL, &event))
        if (messages ? !feed_message(stream, event)
                     : (!lines && !feed(stream, data)) || !feed(stream, event) || !feed(stream, lines ? line : blank))
            return false;
    return dialect != TOOLCORE_DIALECT_OPENAI_CHAT || feed(stream, done);
}

/* The reply of the request's stream. Its memory is free when the answer is out. */
bool read_stream(str request, uint32_t dialect, toolcore_reply_t **reply)
{
    toolcore_stream_opts_t opts = TOOLCORE_STREAM_OPTS_INIT;
    toolcore_stream_t *stream;
    str json;
    if (!get_flag(request, "calls_only", TOOLCORE_STREAM_CALLS_ONLY, &opts.flags))
        return false;
    /* More than the reply and its longest event can be. */
    opts.reply_bytes = request.len * 2 + 1024;
    size_t size = toolcore_stream_mem_size(&opts);
    void *memory = allocate(size);
    if (memory == NULL || !ok(toolcore_stream_init(dialect, &opts, memory, size, &stream, &why)))
        return false;
    bool fed = has(request, "chunks", &json)       ? feed_chunks(request, "chunks", decode, stream)
             : has(request, "hex_chunks", &json) ? feed_chunks(request, "hex_chunks", decode_hex, stream)
             : has(request, "events", &json)
                 ? feed_events(request, dialect, stream)
                 : refuse("request", "there is neither 'chunks' nor 'hex_chunks' nor 'events'");
    fed = fed && ok(toolcore_stream_finish(stream, reply, &why));
    toolcore_stream_deinit(stream);
    return fed;
}

bool op_stream(str request)
{
    toolcore_reply_t *reply;
    uint32_t dialect;
    if (!only(request, "the request", "op dialect chunks hex_chunks events calls_only replay") ||
        !get_dialect(request, &dialect) || !read_stream(request, dialect, &reply))
        return false;
    bool done = put_reply(request, dialect, reply);
    toolcore_reply_deinit(reply);
    return done;
}

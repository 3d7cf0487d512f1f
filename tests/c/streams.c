/* Replies that come in pieces: every chunking, every size of memory, and what a host may get wrong. */
#include "world.h"

#define CHAT TOOLCORE_DIALECT_OPENAI_CHAT
#define DATA(delta) "data: {\"choices\":[{\"index\":0,\"delta\":" delta "}]}\n\n"

/* Text with a pair of surrogates that comes apart, a call in pieces, and a call without an id. */
static const char example[] =
    DATA("{\"role\":\"assistant\",\"content\":\"caf\\u00e9 \\ud83d\"}") DATA("{\"content\":\"\\ude00\"}")
    DATA("{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"type\":\"function\","
         "\"function\":{\"name\":\"echo\",\"arguments\":\"{\\\"s\\\":\"}}]}")
    DATA("{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\\\"x\\\"}\"}}]}")
    DATA("{\"tool_calls\":[{\"index\":1,\"type\":\"function\",\"function\":{\"name\":\"echo\",\"arguments\":\"{}\"}}]}")
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";

#define SAID "caf\xC3\xA9 \xF0\x9F\x98\x80"
#define ANSWERED \
    "[{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"{\\\"s\\\":\\\"x\\\"}\"}," \
    "{\"role\":\"tool\",\"tool_call_id\":\"toolcore_1\",\"content\":\"{}\"}]"

/* What a display would show. */
static struct seen { char text[64], arguments[2][64], names[2][16]; size_t text_len, lens[2], ends; } seen;

static void show(void *user_data, const toolcore_stream_event_t *event)
{
    struct seen *to = user_data;
    CHECK(event->struct_size == sizeof *event && event->index < 2);
    switch (event->kind) {
    case TOOLCORE_STREAM_EVENT_TEXT:
        memcpy(to->text + to->text_len, event->text.ptr, event->text.len);
        to->text_len += event->text.len;
        break;
    case TOOLCORE_STREAM_EVENT_CALL_START:
        memcpy(to->names[event->index], event->name.ptr, event->name.len);
        break;
    case TOOLCORE_STREAM_EVENT_ARGUMENTS:
        memcpy(to->arguments[event->index] + to->lens[event->index], event->text.ptr, event->text.len);
        to->lens[event->index] += event->text.len;
        break;
    default:
        to->ends++;
    }
}

static toolcore_detail_t why = TOOLCORE_DETAIL_INIT;

/* Feeds the example in chunks of `size` bytes, each in memory of its own. */
static toolcore_status_t feed(toolcore_stream_t *stream, size_t size)
{
    const size_t len = sizeof example - 1;
    toolcore_status_t status = TOOLCORE_OK;
    for (size_t at = 0; at < len && status == TOOLCORE_OK; at += size) {
        size_t chunk_len = len - at < size ? len - at : size;
        char *chunk = malloc(chunk_len);
        memcpy(chunk, example + at, chunk_len);
        status = toolcore_stream_feed(stream, (toolcore_str_t){ chunk, chunk_len }, &why);
        free(chunk);
    }
    return status;
}

static void check_answered(const toolcore_reply_t *streamed)
{
    size_t len = 9;
    toolcore_outcome_t outcome = TOOLCORE_OUTCOME_INIT;
    CHECK_STATUS(toolcore_answer_reply(tools, streamed, NULL, scratch, sizeof scratch, buf, sizeof buf, &len, &outcome,
                                       NULL), TOOLCORE_OK);
    CHECK_TEXT(buf, len, ANSWERED);
    CHECK_SIZE(outcome.answered, 2);
}

TEST(every_chunking_gives_the_same_reply_and_is_shown_as_it_comes)
{
    set_up();
    for (size_t size = 1; size < sizeof example; size++) {
        toolcore_stream_opts_t opts = TOOLCORE_STREAM_OPTS_INIT;
        toolcore_tool_call_t got = TOOLCORE_TOOL_CALL_INIT;
        toolcore_stream_t *stream;
        toolcore_reply_t *streamed;
        size_t len;
        opts.event = show;
        opts.user_data = &seen;
        opts.reply_bytes = 1024;
        memset(&seen, 0, sizeof seen);
        size_t need = toolcore_stream_mem_size(&opts);
        void *mem = malloc(need);
        CHECK_STATUS(toolcore_stream_init(CHAT, &opts, mem, need, &stream, NULL), TOOLCORE_OK);
        CHECK_STATUS(feed(stream, size), TOOLCORE_OK);
        CHECK_STATUS(toolcore_stream_finish(stream, &streamed, NULL), TOOLCORE_OK);
        toolcore_stream_deinit(stream);
        CHECK_SIZE(toolcore_reply_len(streamed), 2);
        CHECK_SIZE(toolcore_reply_finish(streamed), TOOLCORE_FINISH_COMPLETE);
        CHECK_STATUS(toolcore_reply_text(streamed, buf, sizeof buf, &len), TOOLCORE_OK);
        CHECK_TEXT(buf, len, SAID);
        CHECK_STATUS(toolcore_reply_call(streamed, 1, &got), TOOLCORE_OK);
        CHECK(got.id.len == 0 && got.flags == 0);
        CHECK_TEXT(got.wire_id.ptr, got.wire_id.len, "toolcore_1");
        CHECK_STATUS(toolcore_reply_replay(streamed, NULL, buf, sizeof buf, &len, NULL), TOOLCORE_OK);
        CHECK(contains(buf, len, "\"role\":\"assistant\"") && contains(buf, len, "\"id\":\"toolcore_1\""));
        check_answered(streamed);
        CHECK_TEXT(seen.text, seen.text_len, SAID);
        CHECK_TEXT(seen.arguments[0], seen.lens[0], "{\"s\":\"x\"}");
        CHECK_TEXT(seen.arguments[1], seen.lens[1], "{}");
        CHECK(strcmp(seen.names[0], "echo") == 0 && strcmp(seen.names[1], "echo") == 0);
        CHECK_SIZE(seen.ends, 2);
        toolcore_reply_deinit(streamed);
        free(mem);
    }
}

TEST(too_little_memory_is_named_and_what_is_whole_can_be_rescued)
{
    size_t enough = 0, rescued = 0;
    set_up();
    for (size_t size = 0; size < 2500; size++) {
        toolcore_stream_t *stream;
        toolcore_reply_t *streamed = NULL;
        void *mem = malloc(size + 1);
        why = (toolcore_detail_t)TOOLCORE_DETAIL_INIT;
        toolcore_status_t status = toolcore_stream_init(CHAT, NULL, mem, size, &stream, &why);
        CHECK((status == TOOLCORE_OK) == (stream != NULL));
        if (status == TOOLCORE_OK) {
            status = feed(stream, 97);
            if (status == TOOLCORE_OK) {
                status = toolcore_stream_finish(stream, &streamed, &why);
            } else {
                CHECK_STATUS(toolcore_stream_finish(stream, &streamed, NULL), status);
                CHECK(streamed == NULL);
                if (toolcore_stream_rescue(stream, &streamed, NULL) == TOOLCORE_OK)
                    rescued += toolcore_reply_len(streamed);
            }
        }
        if (status == TOOLCORE_OK) {
            enough++;
            check_answered(streamed);
        } else {
            CHECK_STATUS(status, TOOLCORE_ERR_NO_SPACE);
            CHECK(why.need > size);
        }
        toolcore_stream_deinit(stream);
        toolcore_reply_deinit(streamed);
        free(mem);
    }
    CHECK(enough > 0 && rescued > 0);
}

TEST(after_the_end_nothing_is_taken)
{
    toolcore_stream_t *stream;
    toolcore_reply_t *streamed, *again = reply;
    void *mem = block(4096);
    set_up();
    CHECK_STATUS(toolcore_stream_init(CHAT, NULL, mem, 4096, &stream, NULL), TOOLCORE_OK);
    CHECK_STATUS(feed(stream, 64), TOOLCORE_OK);
    CHECK(toolcore_stream_used(stream) > 100);
    CHECK_STATUS(toolcore_stream_finish(stream, &streamed, NULL), TOOLCORE_OK);
    CHECK_SIZE(toolcore_stream_used(stream), 0);
    CHECK_STATUS(feed(stream, 64), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_stream_feed_event(stream, text("a"), text("{}"), NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_stream_finish(stream, &again, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK(again == NULL);
    CHECK_STATUS(toolcore_stream_rescue(stream, &again, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    toolcore_stream_deinit(stream);
    toolcore_stream_deinit(stream);
    CHECK_STATUS(feed(stream, 64), TOOLCORE_ERR_INVALID_ARGUMENT);
    check_answered(streamed);
    toolcore_reply_deinit(streamed);
    /* One that is given up half way. */
    CHECK_STATUS(toolcore_stream_init(CHAT, NULL, mem, 4096, &stream, NULL), TOOLCORE_OK);
    CHECK_STATUS(toolcore_stream_feed(stream, (toolcore_str_t){ example, 150 }, NULL), TOOLCORE_OK);
    toolcore_stream_deinit(stream);
}

TEST(null_is_a_status_or_nothing)
{
    toolcore_stream_t *stream;
    toolcore_reply_t *streamed = reply;
    size_t len = 9;
    void *mem = block(4096);
    set_up();
    CHECK(toolcore_stream_mem_size(NULL) > 4096);
    CHECK_STATUS(toolcore_stream_init(CHAT, NULL, NULL, 4096, &stream, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK(stream == NULL);
    CHECK_STATUS(toolcore_stream_init(CHAT, NULL, mem, 4096, NULL, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_stream_feed(NULL, text("x"), NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_stream_feed_event(NULL, text("x"), text("x"), NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_stream_finish(NULL, &streamed, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK(streamed == NULL);
    CHECK_STATUS(toolcore_stream_rescue(NULL, &streamed, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_reply_replay(NULL, NULL, buf, sizeof buf, &len, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_SIZE(len, 0);
    CHECK_STATUS(toolcore_reply_replay(reply, NULL, buf, sizeof buf, NULL, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_answer_reply(tools, NULL, NULL, scratch, sizeof scratch, buf, sizeof buf, &len, NULL, NULL),
                 TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_SIZE(toolcore_stream_used(NULL), 0);
    CHECK_SIZE(toolcore_stream_provider_error(NULL).len, 0);
    toolcore_stream_deinit(NULL);
    CHECK_STATUS(toolcore_stream_init(CHAT, NULL, mem, 4096, &stream, NULL), TOOLCORE_OK);
    CHECK_STATUS(toolcore_stream_feed(stream, BAD, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_stream_feed(stream, text(""), NULL), TOOLCORE_OK);
    CHECK_STATUS(toolcore_stream_feed_event(stream, BAD, text("{}"), NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_stream_feed_event(stream, text("\xFF"), text("{}"), NULL), TOOLCORE_ERR_INVALID_UTF8);
    CHECK_STATUS(toolcore_stream_finish(stream, NULL, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(feed(stream, 99), TOOLCORE_OK);
    CHECK_STATUS(toolcore_stream_finish(stream, &streamed, NULL), TOOLCORE_OK);
    check_answered(streamed);
}

TEST(the_turn_of_a_whole_reply_is_measured_and_written)
{
    size_t need, len;
    set_up();
    CHECK_STATUS(toolcore_reply_replay(reply, NULL, NULL, 0, &need, NULL), TOOLCORE_OK);
    char *exact_buf = block(need);
    CHECK_STATUS(toolcore_reply_replay(reply, NULL, exact_buf, need, &len, NULL), TOOLCORE_OK);
    CHECK_TEXT(exact_buf, len, "[{\"role\":\"assistant\",\"content\":["
                               "{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"echo\",\"input\":{\"s\":\"x\"}}]}]");
    for (size_t size = 1; size < need; size++) {
        why = (toolcore_detail_t)TOOLCORE_DETAIL_INIT;
        CHECK_STATUS(toolcore_reply_replay(reply, NULL, block(size), size, &len, &why), TOOLCORE_ERR_NO_SPACE);
        CHECK(len == need && why.need == need);
    }
}

int main(void)
{
    RUN(every_chunking_gives_the_same_reply_and_is_shown_as_it_comes);
    RUN(too_little_memory_is_named_and_what_is_whole_can_be_rescued);
    RUN(after_the_end_nothing_is_taken);
    RUN(null_is_a_status_or_nothing);
    RUN(the_turn_of_a_whole_reply_is_measured_and_written);
    return check_end();
}

/* A streamed turn: text is shown as it comes, then the calls are run.
 *
 * cargo build -p toolcore-ffi
 * cc -std=c99 -Iinclude examples/c/stream.c target/debug/libtoolcore.a -lpthread -ldl -lm -lgcc_s -o stream
 * ./stream            streams the reply below
 * ./stream DIALECT    streams what comes in on standard input, as from curl --no-buffer */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toolcore.h"

static const char example[] =
    "event: message_start\n"
    "data: {\"type\":\"message_start\",\"message\":{\"type\":\"message\",\"role\":\"assistant\",\"content\":[]}}\n\n"
    "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
    "{\"type\":\"text_delta\",\"text\":\"I look at \"}}\n\n"
    "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
    "{\"type\":\"text_delta\",\"text\":\"the clock.\"}}\n\n"
    "data: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
    "data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":"
    "{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"clock\",\"input\":{}}}\n\n"
    "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":"
    "{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"zone\\\":\"}}\n\n"
    "data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":"
    "{\"type\":\"input_json_delta\",\"partial_json\":\"\\\"UTC\\\"}\"}}\n\n"
    "data: {\"type\":\"content_block_stop\",\"index\":1}\n\n"
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\n"
    "data: {\"type\":\"message_stop\"}\n\n";

static toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
static char text[16384];
static size_t len;

static void check(const char *step, toolcore_status_t status)
{
    if (status == TOOLCORE_OK)
        return;
    fprintf(stderr, "%s: %s. %s\n", step, toolcore_status_name(status), why.message);
    exit(1);
}

static toolcore_status_t read_clock(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    (void)user_data;
    (void)call;
    return toolcore_result_text(result, TOOLCORE_STR("12:00"));
}

/* A device writes to its display here. */
static void show(void *user_data, const toolcore_stream_event_t *event)
{
    (void)user_data;
    if (event->kind == TOOLCORE_STREAM_EVENT_TEXT)
        printf("%.*s", (int)event->text.len, event->text.ptr);
    else if (event->kind == TOOLCORE_STREAM_EVENT_CALL_START)
        printf("\n[%.*s ", (int)event->name.len, event->name.ptr);
    else if (event->kind == TOOLCORE_STREAM_EVENT_ARGUMENTS)
        printf("%.*s", (int)event->text.len, event->text.ptr);
    else if (event->kind == TOOLCORE_STREAM_EVENT_CALL_END)
        printf("]\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static char memory[8192], stream_memory[65536], scratch[8192];
    const toolcore_param_t zone = TOOLCORE_SIZED(toolcore_param_t, .name = TOOLCORE_STR_INIT("zone"),
                                                 .type = TOOLCORE_TYPE_STRING);
    const toolcore_tool_t clock = TOOLCORE_SIZED(toolcore_tool_t, .name = TOOLCORE_STR_INIT("clock"), .run = read_clock,
                                                 .params = &zone, .params_len = 1);
    const toolcore_registry_opts_t one = TOOLCORE_SIZED(toolcore_registry_opts_t, .max_tools = 1);
    const toolcore_stream_opts_t shown = TOOLCORE_SIZED(toolcore_stream_opts_t, .event = show);
    uint32_t dialect = argc > 1 ? toolcore_dialect_from_name((toolcore_str_t){ argv[1], strlen(argv[1]) })
                                : TOOLCORE_DIALECT_ANTHROPIC;
    toolcore_registry_t *tools;
    toolcore_stream_t *stream;
    toolcore_reply_t *reply;
    check("registry", toolcore_registry_init(&one, memory, sizeof memory, &tools));
    check("tool", toolcore_registry_add(tools, &clock, &why));
    check("stream", toolcore_stream_init(dialect, &shown, stream_memory, sizeof stream_memory, &stream, &why));
    if (argc > 1) {
        char chunk[256];
        for (size_t n; (n = fread(chunk, 1, sizeof chunk, stdin)) > 0;)
            check("feed", toolcore_stream_feed(stream, (toolcore_str_t){ chunk, n }, &why));
    } else {
        /* Cut anywhere, as a network does. */
        for (size_t at = 0; at < sizeof example - 1; at += 20)
            check("feed", toolcore_stream_feed(stream, (toolcore_str_t){ example + at, sizeof example - 1 - at < 20
                                                                         ? sizeof example - 1 - at : 20 }, &why));
    }
    check("finish", toolcore_stream_finish(stream, &reply, &why));
    printf("\n");
    check("turn", toolcore_reply_replay(reply, NULL, text, sizeof text, &len, &why));
    printf("append: %.*s\n", (int)len, text);
    check("answer", toolcore_answer_reply(tools, reply, NULL, scratch, sizeof scratch, text, sizeof text, &len, NULL,
                                          &why));
    printf("append: %.*s\n", (int)len, text);
    toolcore_reply_deinit(reply);
    toolcore_stream_deinit(stream);
    toolcore_registry_deinit(tools);
    return 0;
}

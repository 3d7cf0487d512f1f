/* A firmware that has one tool and answers a call of it, with nothing beneath it: no libc, no heap, and of the system
 * only the exit. Its schema needs types, `required` and `enum`. It tells a model of the tool, and answers its reply, in
 * each dialect among OPENAI, ANTHROPIC and MCP that is defined; with STREAM, in OPENAI's also a reply that comes in
 * pieces. Without a dialect it runs the call by itself. What it exits with is 0 if all went well. */
#include "toolcore.h"

static toolcore_status_t light(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    int64_t percent;
    (void)user_data;
    toolcore_status_t status = toolcore_call_get_i64(call, TOOLCORE_STR("percent"), &percent);
    return status == TOOLCORE_OK ? toolcore_result_text(result, TOOLCORE_STR("The light is on.")) : status;
}

static char scratch[4096];

#if defined OPENAI || defined ANTHROPIC || defined MCP
static char messages[1024];

/* Tells the model, and answers its reply. */
static int answer(toolcore_registry_t *tools, uint32_t dialect, toolcore_str_t reply)
{
    size_t len;
    if (toolcore_tools_render(tools, dialect, NULL, messages, sizeof messages, &len, NULL) != TOOLCORE_OK)
        return 10;
    if (toolcore_answer(tools, dialect, reply, NULL, scratch, sizeof scratch, messages, sizeof messages, &len, NULL,
                        NULL) != TOOLCORE_OK)
        return 11;
    return len > 0 ? 0 : 12;
}
#else
/* Runs the call that something else has read. */
static int run(toolcore_registry_t *tools)
{
    toolcore_tool_call_t call = TOOLCORE_TOOL_CALL_INIT;
    toolcore_result_t *result;
    call.name = TOOLCORE_STR("light");
    call.arguments = TOOLCORE_STR("{\"percent\":5,\"color\":\"red\"}");
    if (toolcore_dispatch(tools, &call, NULL, scratch, sizeof scratch, &result, NULL) != TOOLCORE_OK)
        return 20;
    const int status = toolcore_result_failed(result) ? 21 : 0;
    toolcore_result_deinit(result);
    return status;
}
#endif

#if defined OPENAI && defined STREAM
/* Answers a reply that comes in pieces. */
static int answer_stream(toolcore_registry_t *tools)
{
    static char memory[4096];
    static const toolcore_str_t pieces[] = {
        TOOLCORE_STR_INIT("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"1\",\"function\":{"
                          "\"name\":\"light\",\"arguments\":\"{\\\"percent\\\""),
        TOOLCORE_STR_INIT(":5}\"}}]}}]}\n\ndata: [DONE]\n\n"),
    };
    toolcore_stream_t *stream;
    toolcore_reply_t *reply;
    size_t len;
    if (toolcore_stream_init(TOOLCORE_DIALECT_OPENAI_CHAT, NULL, memory, sizeof memory, &stream, NULL) != TOOLCORE_OK)
        return 30;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        if (toolcore_stream_feed(stream, pieces[i], NULL) != TOOLCORE_OK)
            return 31;
    if (toolcore_stream_finish(stream, &reply, NULL) != TOOLCORE_OK)
        return 32;
    if (toolcore_answer_reply(tools, reply, NULL, scratch, sizeof scratch, messages, sizeof messages, &len, NULL,
                              NULL) != TOOLCORE_OK)
        return 33;
    toolcore_reply_deinit(reply);
    toolcore_stream_deinit(stream);
    return len > 0 ? 0 : 34;
}
#endif

static int turn(void)
{
    static char memory[4096];
    const toolcore_registry_opts_t opts = TOOLCORE_SIZED(toolcore_registry_opts_t, .max_tools = 2);
    toolcore_registry_t *tools;
    toolcore_tool_t tool = TOOLCORE_TOOL_INIT;
    int status = 0;
    if (toolcore_registry_init(&opts, memory, sizeof memory, &tools) != TOOLCORE_OK)
        return 1;
    tool.name = TOOLCORE_STR("light");
    tool.schema = TOOLCORE_STR("{\"type\":\"object\",\"properties\":{\"percent\":{\"type\":\"integer\"},"
                               "\"color\":{\"enum\":[\"red\",\"blue\"]}},\"required\":[\"percent\"]}");
    tool.run = light;
    if (toolcore_registry_add(tools, &tool, NULL) != TOOLCORE_OK)
        return 2;
#ifdef OPENAI
    if (status == 0)
        status = answer(tools, TOOLCORE_DIALECT_OPENAI_CHAT,
                        TOOLCORE_STR("{\"choices\":[{\"message\":{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"1\","
                                     "\"type\":\"function\",\"function\":{\"name\":\"light\",\"arguments\":"
                                     "\"{\\\"percent\\\":5,\\\"color\\\":\\\"red\\\"}\"}}]}}]}"));
#endif
#ifdef ANTHROPIC
    if (status == 0)
        status = answer(tools, TOOLCORE_DIALECT_ANTHROPIC,
                        TOOLCORE_STR("{\"content\":[{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"light\",\"input\":{"
                                     "\"percent\":5,\"color\":\"red\"}}]}"));
#endif
#ifdef MCP
    if (status == 0)
        status = answer(tools, TOOLCORE_DIALECT_MCP,
                        TOOLCORE_STR("{\"name\":\"light\",\"arguments\":{\"percent\":5,\"color\":\"red\"}}"));
#endif
#if defined OPENAI && defined STREAM
    if (status == 0)
        status = answer_stream(tools);
#endif
#if !defined OPENAI && !defined ANTHROPIC && !defined MCP
    status = run(tools);
#endif
    toolcore_registry_deinit(tools);
    return status;
}

/* What compilers call by themselves. */

void *memcpy(void *restrict to, const void *restrict from, size_t len)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    while (len--)
        *t++ = *f++;
    return to;
}

void *memmove(void *to, const void *from, size_t len)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    if (t < f)
        return memcpy(to, from, len);
    while (len--)
        t[len] = f[len];
    return to;
}

void *memset(void *to, int byte, size_t len)
{
    unsigned char *t = to;
    while (len--)
        *t++ = (unsigned char)byte;
    return to;
}

int memcmp(const void *one, const void *other, size_t len)
{
    const unsigned char *a = one, *b = other;
    for (; len--; a++, b++)
        if (*a != *b)
            return *a < *b ? -1 : 1;
    return 0;
}

int bcmp(const void *one, const void *other, size_t len)
{
    return memcmp(one, other, len);
}

size_t strlen(const char *text)
{
    size_t len = 0;
    while (text[len] != '\0')
        len++;
    return len;
}

__attribute__((noreturn, force_align_arg_pointer)) void _start(void)
{
    const long status = turn();
    __asm__ volatile("syscall" : : "a"(60L), "D"(status) : "rcx", "r11", "memory");
    __builtin_unreachable();
}

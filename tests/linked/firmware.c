/* A firmware that tells a model of one tool and answers its call, with nothing beneath it: no libc, no heap, and of the
 * system only the exit. Its schema needs types, `required` and `enum`. What it exits with is 0 if all went well. */
#include "toolcore.h"

static toolcore_status_t light(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    int64_t percent;
    (void)user_data;
    toolcore_status_t status = toolcore_call_get_i64(call, TOOLCORE_STR("percent"), &percent);
    return status == TOOLCORE_OK ? toolcore_result_text(result, TOOLCORE_STR("The light is on.")) : status;
}

static int turn(void)
{
    static char memory[4096], scratch[4096], messages[1024];
    const toolcore_registry_opts_t opts = TOOLCORE_SIZED(toolcore_registry_opts_t, .max_tools = 2);
    toolcore_registry_t *tools;
    toolcore_tool_t tool = TOOLCORE_TOOL_INIT;
    size_t len;
    if (toolcore_registry_init(&opts, memory, sizeof memory, &tools) != TOOLCORE_OK)
        return 1;
    tool.name = TOOLCORE_STR("light");
    tool.schema = TOOLCORE_STR("{\"type\":\"object\",\"properties\":{\"percent\":{\"type\":\"integer\"},"
                               "\"color\":{\"enum\":[\"red\",\"blue\"]}},\"required\":[\"percent\"]}");
    tool.run = light;
    if (toolcore_registry_add(tools, &tool, NULL) != TOOLCORE_OK)
        return 2;
    if (toolcore_tools_render(tools, TOOLCORE_DIALECT_OPENAI_CHAT, NULL, messages, sizeof messages, &len, NULL) !=
        TOOLCORE_OK)
        return 3;
    if (toolcore_answer(tools, TOOLCORE_DIALECT_OPENAI_CHAT,
                        TOOLCORE_STR("{\"choices\":[{\"message\":{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"1\","
                                     "\"type\":\"function\",\"function\":{\"name\":\"light\",\"arguments\":"
                                     "\"{\\\"percent\\\":5,\\\"color\\\":\\\"red\\\"}\"}}]}}]}"),
                        NULL, scratch, sizeof scratch, messages, sizeof messages, &len, NULL, NULL) != TOOLCORE_OK)
        return 4;
    toolcore_registry_deinit(tools);
    return len > 0 ? 0 : 5;
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

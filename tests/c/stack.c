/* How much stack the entry points take: each runs in a thread whose stack was painted before. */
#define _POSIX_C_SOURCE 200112L
#include <pthread.h>

#include "check.h"

enum { STACK = 256 * 1024, PAINT = 0xA5 };

static unsigned char stack[STACK];
static unsigned char memory[8192], scratch[8192];
static char buffer[8192];
static size_t written;
static toolcore_registry_t *registry;

static toolcore_status_t echo(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    (void)user_data;
    return toolcore_result_json(result, toolcore_call_arguments(call));
}

static const toolcore_param_t params[] = {
    TOOLCORE_SIZED(toolcore_param_t, .name = TOOLCORE_STR_INIT("city"), .type = TOOLCORE_TYPE_STRING),
    TOOLCORE_SIZED(toolcore_param_t, .name = TOOLCORE_STR_INIT("days"), .type = TOOLCORE_TYPE_INTEGER),
};

static void *nothing(void *unused)
{
    return unused;
}

static void *add(void *unused)
{
    const toolcore_tool_t tool = TOOLCORE_SIZED(toolcore_tool_t, .name = TOOLCORE_STR_INIT("weather"), .run = echo,
                                                .params = params, .params_len = 2);
    CHECK(toolcore_registry_add(registry, &tool, NULL) == TOOLCORE_OK);
    return unused;
}

static const toolcore_str_t schema_text = TOOLCORE_STR_INIT(
    "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"},\"days\":{\"type\":\"integer\"}}}");
static toolcore_schema_t *schema;

static void *measure_schema(void *unused)
{
    CHECK(toolcore_schema_mem_size(schema_text, NULL, &written, NULL) == TOOLCORE_OK);
    return unused;
}

static void *compile_schema(void *unused)
{
    static unsigned char schema_memory[1024];
    CHECK(toolcore_schema_init(schema_text, NULL, schema_memory, sizeof schema_memory, &schema, NULL) == TOOLCORE_OK);
    return unused;
}

static void *coerce_instance(void *unused)
{
    CHECK(toolcore_schema_coerce(schema, TOOLCORE_STR("{\"city\":\"Oslo\",\"days\":\"3\"}"), NULL, scratch,
                                 sizeof scratch, buffer, sizeof buffer, &written, NULL) == TOOLCORE_OK);
    return unused;
}

static void *render(void *unused)
{
    CHECK(toolcore_tools_render(registry, TOOLCORE_DIALECT_OPENAI_CHAT, NULL, buffer, sizeof buffer, &written, NULL) ==
          TOOLCORE_OK);
    return unused;
}

static void *answer(void *unused)
{
    const toolcore_str_t reply = TOOLCORE_STR_INIT(
        "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"call_1\",\"type\":\"function\","
        "\"function\":{\"name\":\"weather\",\"arguments\":\"{\\\"city\\\":\\\"Oslo\\\",\\\"days\\\":3}\"}}]}}]}");
    CHECK(toolcore_answer(registry, TOOLCORE_DIALECT_OPENAI_CHAT, reply, NULL, scratch, sizeof scratch, buffer,
                          sizeof buffer, &written, NULL, NULL) == TOOLCORE_OK);
    return unused;
}

/* Bytes of a painted stack that a thread wrote to. Valgrind takes the unused bytes of a stack for gone, so under it
 * the thread has a stack of the system's, which is not looked at. */
static size_t taken(void *(*run)(void *))
{
    const char *mode = getenv("TOOLCORE_C_MODE");
    const int painted = mode == NULL || strcmp(mode, "valgrind") != 0;
    pthread_t thread;
    pthread_attr_t attributes;
    size_t untouched = 0;
    CHECK(pthread_attr_init(&attributes) == 0);
    if (painted) {
        memset(stack, PAINT, sizeof stack);
        CHECK(pthread_attr_setstack(&attributes, stack, sizeof stack) == 0);
    }
    CHECK(pthread_create(&thread, &attributes, run, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(pthread_attr_destroy(&attributes) == 0);
    if (!painted)
        return 0;
    while (untouched < sizeof stack && stack[untouched] == PAINT)
        untouched++;
    return sizeof stack - untouched;
}

TEST(no_entry_point_takes_more_than_a_small_stack)
{
    static const struct { const char *name; void *(*run)(void *); } steps[] = {
        { "toolcore_registry_add", add },
        { "toolcore_tools_render", render },
        { "toolcore_answer", answer },
        { "toolcore_schema_mem_size", measure_schema },
        { "toolcore_schema_init", compile_schema },
        { "toolcore_schema_coerce", coerce_instance },
    };
    const size_t thread = taken(nothing);
    CHECK(toolcore_registry_init(NULL, memory, sizeof memory, &registry) == TOOLCORE_ERR_NO_SPACE);
    const toolcore_registry_opts_t opts = TOOLCORE_SIZED(toolcore_registry_opts_t, .max_tools = 2);
    CHECK(toolcore_registry_init(&opts, memory, sizeof memory, &registry) == TOOLCORE_OK);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const size_t bytes = taken(steps[i].run);
        const size_t own = bytes > thread ? bytes - thread : 0;
        printf("%s: %zu bytes of stack\n", steps[i].name, own);
        /* An unoptimised library takes several times what an optimised one does. */
        CHECK(own < 128 * 1024);
    }
    toolcore_registry_deinit(registry);
}

int main(void)
{
    RUN(no_entry_point_takes_more_than_a_small_stack);
    return check_end();
}

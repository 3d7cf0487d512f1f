/* How much stack the entry points take: each runs in a thread whose stack was painted before. */
#define _POSIX_C_SOURCE 200112L
#include <pthread.h>

#include "check.h"

enum { STACK = 256 * 1024, PAINT = 0xA5 };

static unsigned char stack[STACK];
static unsigned char memory[65536], scratch[65536];
static char buffer[65536];
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

static void *stream(void *unused)
{
    static char stream_memory[4096];
    const toolcore_str_t chunk = TOOLCORE_STR_INIT(
        "data: {\"choices\":[{\"delta\":{\"content\":\"x\",\"tool_calls\":["
        "{\"index\":0,\"id\":\"a\",\"type\":\"function\","
        "\"function\":{\"name\":\"weather\",\"arguments\":\"{}\"}}]}}]}\n\ndata: [DONE]\n\n");
    toolcore_stream_t *made;
    toolcore_reply_t *reply;
    CHECK(toolcore_stream_init(TOOLCORE_DIALECT_OPENAI_CHAT, NULL, stream_memory, sizeof stream_memory, &made, NULL) ==
          TOOLCORE_OK);
    CHECK(toolcore_stream_feed(made, chunk, NULL) == TOOLCORE_OK);
    CHECK(toolcore_stream_finish(made, &reply, NULL) == TOOLCORE_OK);
    CHECK(toolcore_reply_replay(reply, NULL, buffer, sizeof buffer, &written, NULL) == TOOLCORE_OK);
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
        { "toolcore_stream_feed, _finish, toolcore_reply_replay", stream },
        { "toolcore_schema_mem_size", measure_schema },
        { "toolcore_schema_init", compile_schema },
        { "toolcore_schema_coerce", coerce_instance },
    };
    const size_t thread = taken(nothing);
    CHECK(toolcore_registry_init(NULL, memory, 8192, &registry) == TOOLCORE_ERR_NO_SPACE);
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

/* A schema or a reply. */
static char nested[16384];

static void append(const char *part)
{
    const size_t len = strlen(nested);
    const int fits = len + strlen(part) < sizeof nested;
    CHECK(fits);
    if (fits)
        strcpy(nested + len, part);
}

/* Makes it so many levels deep, each of them between `open` and `close`. */
static void nest(const char *before, const char *open, const char *inmost, const char *close, int levels,
                 const char *after)
{
    nested[0] = '\0';
    append(before);
    for (int i = 0; i < levels; i++)
        append(open);
    append(inmost);
    for (int i = 0; i < levels; i++)
        append(close);
    append(after);
}

static toolcore_status_t status;

static void *add_nested(void *unused)
{
    toolcore_tool_t tool = TOOLCORE_SIZED(toolcore_tool_t, .name = TOOLCORE_STR_INIT("nested"), .run = echo);
    tool.schema = (toolcore_str_t){ nested, strlen(nested) };
    status = toolcore_registry_add(registry, &tool, NULL);
    return unused;
}

static void *answer_nested(void *unused)
{
    const toolcore_str_t reply = { nested, strlen(nested) };
    status = toolcore_answer(registry, TOOLCORE_DIALECT_MCP, reply, NULL, scratch, sizeof scratch, buffer, sizeof buffer,
                             &written, NULL, NULL);
    return unused;
}

static void open_registry(void)
{
    const toolcore_registry_opts_t opts =
        TOOLCORE_SIZED(toolcore_registry_opts_t, .max_tools = 1, .pool_bytes = 48 * 1024);
    CHECK(toolcore_registry_init(&opts, memory, sizeof memory, &registry) == TOOLCORE_OK);
}

/* What one level takes on the stack of a reader that recurses is more than this by far, in 60 levels. */
enum { SAME = 1024 };

TEST(compiling_takes_no_more_stack_for_a_schema_that_is_nested_deeper)
{
    static const struct { const char *open, *close; } kinds[] = {
        { "{\"properties\":{\"a\":", "}}" },
        { "{\"items\":", "}" },
        { "{\"prefixItems\":[", "]}" },
        { "{\"additionalProperties\":", "}" },
        { "{\"patternProperties\":{\"^a\":", "}}" },
        { "{\"anyOf\":[true,", "]}" },
        { "{\"oneOf\":[", "]}" },
        { "{\"allOf\":[", "]}" },
        { "{\"not\":", "}" },
        { "{\"if\":", "}" },
        { "{\"contains\":", "}" },
        { "{\"propertyNames\":", "}" },
        { "{\"unevaluatedProperties\":", "}" },
        { "{\"dependentSchemas\":{\"a\":", "}}" },
        { "{\"$defs\":{\"a\":", "}}" },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t stack_of[2];
        for (int deep = 0; deep < 2; deep++) {
            open_registry();
            nest("{\"properties\":{\"a\":", kinds[i].open, "{\"type\":\"null\",\"$ref\":\"#/$defs/x\"}", kinds[i].close,
                 deep ? 62 : 3, "},\"$defs\":{\"x\":{\"enum\":[[[1]]]}}}");
            stack_of[deep] = taken(add_nested);
            CHECK(status == TOOLCORE_OK);
            toolcore_registry_deinit(registry);
        }
        printf("%s: %zu bytes of stack for 3 levels, %zu for 62\n", kinds[i].open, stack_of[0], stack_of[1]);
        CHECK(stack_of[1] <= stack_of[0] + SAME);
    }
    size_t stack_of[2];
    for (int deep = 0; deep < 2; deep++) {
        open_registry();
        nest("{\"properties\":{\"a\":{\"pattern\":\"", "(a|", "b", ")*", deep ? 30 : 3, "\"}}}");
        stack_of[deep] = taken(add_nested);
        CHECK(status == TOOLCORE_OK);
        toolcore_registry_deinit(registry);
    }
    printf("groups of a pattern: %zu bytes of stack for 3 levels, %zu for 30\n", stack_of[0], stack_of[1]);
    CHECK(stack_of[1] <= stack_of[0] + SAME);
    /* One level more than there may be is an error, and no deeper. */
    open_registry();
    nest("", "{\"items\":", "{}", "}", 1000, "");
    CHECK(taken(add_nested) < 128 * 1024);
    CHECK(status != TOOLCORE_OK);
    toolcore_registry_deinit(registry);
}

TEST(checking_takes_no_more_stack_for_an_instance_that_is_nested_deeper)
{
    static const char recursive[] =
        "{\"properties\":{\"a\":{\"$ref\":\"#/$defs/n\"}},\"$defs\":{\"n\":{"
        "\"items\":{\"anyOf\":[{\"$ref\":\"#/$defs/n\"},{\"type\":\"null\"}]},\"uniqueItems\":true,"
        "\"properties\":{\"a\":{\"$ref\":\"#/$defs/n\"},\"b\":false},\"patternProperties\":{\"^a$\":{}},"
        "\"if\":{\"minProperties\":1},\"then\":{\"unevaluatedProperties\":false}}}}";
    static const struct { const char *open, *close; } kinds[] = { { "{\"a\":", "}" }, { "[", "]" }, { "[1,", "]" } };
    static const char *const inmost[] = { "{}", "{\"b\":1}", "{\"c\":\"\\ud83d\\ude00\"}" };
    open_registry();
    nest(recursive, "", "", "", 0, "");
    add_nested(NULL);
    CHECK(status == TOOLCORE_OK);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (size_t j = 0; j < sizeof inmost / sizeof *inmost; j++) {
            size_t stack_of[2];
            for (int deep = 0; deep < 2; deep++) {
                nest("{\"name\":\"nested\",\"arguments\":{\"a\":", kinds[i].open, inmost[j], kinds[i].close,
                     deep ? 120 : 3, "}}");
                stack_of[deep] = taken(answer_nested);
                CHECK(status == TOOLCORE_OK);
            }
            printf("%s%s: %zu bytes of stack for 3 levels, %zu for 120\n", kinds[i].open, inmost[j], stack_of[0],
                   stack_of[1]);
            CHECK(stack_of[1] <= stack_of[0] + SAME);
        }
    toolcore_registry_deinit(registry);
}

int main(void)
{
    RUN(no_entry_point_takes_more_than_a_small_stack);
    RUN(compiling_takes_no_more_stack_for_a_schema_that_is_nested_deeper);
    RUN(checking_takes_no_more_stack_for_an_instance_that_is_nested_deeper);
    return check_end();
}

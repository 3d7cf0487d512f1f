/* A schema by itself: it refers to another document, an instance is made to fit and checked, and what is wrong
 * with it is told.
 *
 * cargo build -p toolcore-ffi
 * cc -std=c99 -Iinclude examples/c/schema.c target/debug/libtoolcore.a -lpthread -ldl -lm -lgcc_s -o schema
 * ./schema                   checks an instance of its own
 * ./schema INSTANCE          checks the JSON text INSTANCE */
#include <stdio.h>
#include <string.h>

#include "toolcore.h"

static void print_change(void *user_data, toolcore_str_t path, toolcore_str_t rule)
{
    (void)user_data;
    printf("changed: %.*s: %.*s\n", (int)path.len, path.ptr, (int)rule.len, rule.ptr);
}

static void print_error(void *user_data, toolcore_str_t path, toolcore_str_t keyword, toolcore_str_t message)
{
    (void)user_data;
    printf("error: %.*s: %.*s (%.*s)\n", (int)path.len, path.ptr, (int)message.len, message.ptr, (int)keyword.len,
           keyword.ptr);
}

static int failed(const toolcore_detail_t *why)
{
    fprintf(stderr, "%s: %s\n", toolcore_status_name(why->status), why->message);
    return 1;
}

int main(int argc, char **argv)
{
    static char documents[512], memory[2048], scratch[512], fitted[1024];
    const toolcore_resource_t units = TOOLCORE_SIZED(
        toolcore_resource_t, .uri = TOOLCORE_STR_INIT("https://example.com/units"),
        .text = TOOLCORE_STR_INIT("{\"$defs\":{\"unit\":{\"enum\":[\"c\",\"f\"],\"default\":\"c\"}}}"));
    const toolcore_str_t text = TOOLCORE_STR_INIT(
        "{\"type\":\"object\",\"required\":[\"degrees\"],\"properties\":{\"degrees\":{\"type\":\"integer\"},"
        "\"unit\":{\"$ref\":\"https://example.com/units#/$defs/unit\"}}}");
    toolcore_str_t instance = TOOLCORE_STR_INIT("{\"degrees\":\"20\",\"unit\":\"k\"}");
    toolcore_schema_opts_t opts = TOOLCORE_SCHEMA_OPTS_INIT;
    toolcore_coerce_opts_t coerce = TOOLCORE_COERCE_OPTS_INIT;
    toolcore_check_opts_t check = TOOLCORE_CHECK_OPTS_INIT;
    toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
    toolcore_resources_t *resources;
    toolcore_schema_t *schema;
    bool valid;
    size_t len;

    if (argc > 1)
        instance = (toolcore_str_t){ argv[1], strlen(argv[1]) };
    if (toolcore_resources_init(&units, 1, documents, sizeof documents, &resources, &why) != TOOLCORE_OK)
        return failed(&why);
    opts.resources = resources;
    if (toolcore_schema_init(text, &opts, memory, sizeof memory, &schema, &why) != TOOLCORE_OK)
        return failed(&why);
    coerce.changed = print_change;
    check.violation = print_error;
    if (toolcore_schema_coerce(schema, instance, &coerce, scratch, sizeof scratch, fitted, sizeof fitted, &len,
                               &why) != TOOLCORE_OK)
        return failed(&why);
    if (toolcore_schema_check(schema, (toolcore_str_t){ fitted, len }, &check, scratch, sizeof scratch, &valid,
                              &why) != TOOLCORE_OK)
        return failed(&why);
    printf("%s: %s\n", valid ? "valid" : "not valid", fitted);
    toolcore_schema_deinit(schema);
    toolcore_resources_deinit(resources);
    return 0;
}

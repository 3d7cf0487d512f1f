/* What is said of a tool when it is registered, and what a model is told of it. */
#include "tools.h"

/* Declared parameters become the schema that the model reads, and that is enforced. */

static const toolcore_param_t color[] = {
    { .struct_size = sizeof(toolcore_param_t), .name = TOOLCORE_STR_INIT("red"), .type = TOOLCORE_TYPE_INTEGER,
      .flags = TOOLCORE_PARAM_REQUIRED, .minimum = TOOLCORE_STR_INIT("0"), .maximum = TOOLCORE_STR_INIT("255") },
    { .struct_size = sizeof(toolcore_param_t), .name = TOOLCORE_STR_INIT("alpha"), .type = TOOLCORE_TYPE_NUMBER,
      .default_value = TOOLCORE_STR_INIT("1.0") },
};
static const toolcore_param_t word = { .struct_size = sizeof(toolcore_param_t), .type = TOOLCORE_TYPE_STRING,
                                       .min_length = 1, .max_length = 20 };
static const toolcore_param_t declared[] = {
    { .struct_size = sizeof(toolcore_param_t), .name = TOOLCORE_STR_INIT("color"), .type = TOOLCORE_TYPE_OBJECT,
      .flags = TOOLCORE_PARAM_REQUIRED, .description = TOOLCORE_STR_INIT("The \"color\"."), .properties = color,
      .properties_len = 2 },
    { .struct_size = sizeof(toolcore_param_t), .name = TOOLCORE_STR_INIT("unit"), .type = TOOLCORE_TYPE_STRING,
      .enumeration = TOOLCORE_STR_INIT("[\"c\",\"f\"]") },
    { .struct_size = sizeof(toolcore_param_t), .name = TOOLCORE_STR_INIT("words"), .type = TOOLCORE_TYPE_ARRAY,
      .items = &word, .min_items = 1, .max_items = 3 },
};

TEST(declared_parameters_are_rendered_as_json_schema)
{
    static char buf[2048];
    size_t len;
    toolcore_str_t got;
    toolcore_registry_t *tools = registry(1, 4096, 0);
    toolcore_tool_t added = tool("paint", NULL);
    added.params = declared;
    added.params_len = 3;
    CHECK_STATUS(toolcore_registry_add(tools, &added, NULL), TOOLCORE_OK);
    CHECK_STATUS(toolcore_tools_render(tools, TOOLCORE_DIALECT_ANTHROPIC, NULL, buf, sizeof buf, &len, NULL), TOOLCORE_OK);
    static const struct { const char *path, *json; } expected[] = {
        { "/tools/0/name", "\"paint\"" },
        { "/tools/0/input_schema/type", "\"object\"" },
        { "/tools/0/input_schema/required", "[\"color\"]" },
        { "/tools/0/input_schema/properties/color/type", "\"object\"" },
        { "/tools/0/input_schema/properties/color/description", "\"The \\\"color\\\".\"" },
        { "/tools/0/input_schema/properties/color/required", "[\"red\"]" },
        { "/tools/0/input_schema/properties/color/properties/red/type", "\"integer\"" },
        { "/tools/0/input_schema/properties/color/properties/red/minimum", "0" },
        { "/tools/0/input_schema/properties/color/properties/red/maximum", "255" },
        { "/tools/0/input_schema/properties/color/properties/alpha/default", "1.0" },
        { "/tools/0/input_schema/properties/color/additionalProperties", "false" },
        { "/tools/0/input_schema/properties/unit/enum", "[\"c\",\"f\"]" },
        { "/tools/0/input_schema/properties/words/type", "\"array\"" },
        { "/tools/0/input_schema/properties/words/items/type", "\"string\"" },
        { "/tools/0/input_schema/properties/words/items/minLength", "1" },
        { "/tools/0/input_schema/properties/words/items/maxLength", "20" },
        { "/tools/0/input_schema/properties/words/minItems", "1" },
        { "/tools/0/input_schema/properties/words/maxItems", "3" },
        { "/tools/0/input_schema/additionalProperties", "false" },
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        AT(expected[i].path);
        CHECK_STATUS(toolcore_json_get((toolcore_str_t){ buf, len }, text(expected[i].path), &got), TOOLCORE_OK);
        CHECK_TEXT(got.ptr, got.len, expected[i].json);
    }
    toolcore_registry_deinit(tools);
}

TEST(parameters_nested_too_deep_are_refused)
{
    static toolcore_param_t chain[TOOLCORE_PARAM_DEPTH_MAX + 4];
    const size_t n = sizeof chain / sizeof chain[0];
    int counter = 0;
    for (size_t i = 0; i < n; i++) {
        toolcore_param_t init = TOOLCORE_PARAM_INIT;
        chain[i] = init;
        chain[i].name = text("a");
        chain[i].type = TOOLCORE_TYPE_OBJECT;
        chain[i].properties = i + 1 < n ? &chain[i + 1] : NULL;
        chain[i].properties_len = i + 1 < n ? 1 : 0;
    }
    /* One that holds itself must not hang. */
    chain[n - 1].type = TOOLCORE_TYPE_ARRAY;
    chain[n - 1].items = &chain[0];
    toolcore_registry_t *tools = registry(1, 8192, 0);
    toolcore_tool_t added = tool("deep", &counter);
    added.params = chain;
    added.params_len = 1;
    CHECK(toolcore_registry_add(tools, &added, NULL) < 0);
    CHECK_SIZE(counter, 1);
    CHECK_SIZE(toolcore_registry_len(tools), 0);
    toolcore_registry_deinit(tools);
}

TEST(annotations_and_texts_reach_an_mcp_client)
{
    static char buf[2048];
    size_t len;
    toolcore_registry_t *tools = registry(1, 0, 0);
    toolcore_tool_t added = tool("admin.wipe", NULL);
    added.title = text("Wipe");
    added.output_schema = text("{\"type\":\"object\"}");
    added.annotations = TOOLCORE_ANNOTATION_NOT_READ_ONLY | TOOLCORE_ANNOTATION_DESTRUCTIVE |
                        TOOLCORE_ANNOTATION_IDEMPOTENT | TOOLCORE_ANNOTATION_NOT_OPEN_WORLD;
    CHECK_STATUS(toolcore_registry_add(tools, &added, NULL), TOOLCORE_OK);
    CHECK_STATUS(toolcore_tools_render(tools, TOOLCORE_DIALECT_MCP, NULL, buf, sizeof buf, &len, NULL), TOOLCORE_OK);
    static const struct { const char *path, *json; } expected[] = {
        { "/tools/0/name", "\"admin.wipe\"" },
        { "/tools/0/title", "\"Wipe\"" },
        { "/tools/0/outputSchema/type", "\"object\"" },
        { "/tools/0/inputSchema/type", "\"object\"" },
        { "/tools/0/annotations/readOnlyHint", "false" },
        { "/tools/0/annotations/destructiveHint", "true" },
        { "/tools/0/annotations/idempotentHint", "true" },
        { "/tools/0/annotations/openWorldHint", "false" },
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        toolcore_str_t got;
        AT(expected[i].path);
        CHECK_STATUS(toolcore_json_get((toolcore_str_t){ buf, len }, text(expected[i].path), &got), TOOLCORE_OK);
        CHECK_TEXT(got.ptr, got.len, expected[i].json);
    }
    AT(NULL);
    int counter = 0;
    added = tool("both", &counter);
    added.annotations = TOOLCORE_ANNOTATION_READ_ONLY | TOOLCORE_ANNOTATION_NOT_READ_ONLY;
    CHECK(toolcore_registry_add(tools, &added, NULL) < 0);
    CHECK_SIZE(counter, 1);
    toolcore_registry_deinit(tools);
}

int main(void)
{
    RUN(declared_parameters_are_rendered_as_json_schema);
    RUN(parameters_nested_too_deep_are_refused);
    RUN(annotations_and_texts_reach_an_mcp_client);
    return check_end();
}

/* drop(user_data) runs exactly once, whatever way it came in and went out. */
#include "tools.h"

/* drop(user_data): the ways in that fail. Each row changes one thing of a good tool. */

static toolcore_param_t bad_param;

static void no_name(toolcore_tool_t *t) { t->name = text(""); }
static void null_name(toolcore_tool_t *t) { t->name = (toolcore_str_t){ NULL, 0 }; }
static void null_name_with_length(toolcore_tool_t *t) { t->name = (toolcore_str_t){ NULL, 3 }; }
static void long_name(toolcore_tool_t *t)
{
    char *name = block(129);
    t->name = (toolcore_str_t){ memset(name, 'a', 129), 129 };
}
static void spaced_name(toolcore_tool_t *t) { t->name = text("get weather"); }
static void bad_utf8_name(toolcore_tool_t *t) { t->name = text("\xC3("); }
static void bad_utf8_title(toolcore_tool_t *t) { t->title = text("\xFF"); }
static void bad_utf8_description(toolcore_tool_t *t) { t->description = text("\xED\xA0\x80"); }
static void bad_utf8_category(toolcore_tool_t *t) { t->category = text("\x80"); }
static void bad_utf8_schema(toolcore_tool_t *t) { t->schema = text("{\"title\":\"\xFF\"}"); }
static void bad_utf8_output(toolcore_tool_t *t) { t->output_schema = text("{\"title\":\"\xFF\"}"); }
static void taken_name(toolcore_tool_t *t) { t->name = text("first"); }
static void large(toolcore_tool_t *t)
{
    char *words = block(100000);
    t->description = (toolcore_str_t){ memset(words, 'w', 100000), 100000 };
}
static void schema_not_json(toolcore_tool_t *t) { t->schema = text("{\"type\":\"object\""); }
static void schema_unknown_keyword(toolcore_tool_t *t)
{
    t->schema = text("{\"type\":\"object\",\"properties\":{\"a\":{\"$recursiveRef\":\"#\"}}}");
}
static void schema_unknown_type(toolcore_tool_t *t)
{
    t->schema = text("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"int\"}}}");
}
static void schema_without_objects(toolcore_tool_t *t) { t->schema = text("{\"type\":\"array\"}"); }
static void output_not_json(toolcore_tool_t *t) { t->output_schema = text("{"); }
static void schema_and_params(toolcore_tool_t *t)
{
    t->schema = text("{\"type\":\"object\"}");
    t->params = &bad_param;
    t->params_len = 1;
}
static void one_param(toolcore_tool_t *t)
{
    toolcore_param_t init = TOOLCORE_PARAM_INIT;
    bad_param = init;
    bad_param.name = text("a");
    bad_param.type = TOOLCORE_TYPE_INTEGER;
    t->params = &bad_param;
    t->params_len = 1;
}
static void param_type(toolcore_tool_t *t) { one_param(t), bad_param.type = 99; }
static void param_no_type(toolcore_tool_t *t) { one_param(t), bad_param.type = 0; }
static void param_flag(toolcore_tool_t *t) { one_param(t), bad_param.flags = 1u << 30; }
static void param_size(toolcore_tool_t *t) { one_param(t), bad_param.struct_size = 1; }
static void param_enum(toolcore_tool_t *t) { one_param(t), bad_param.enumeration = text("[1,"); }
static void param_minimum(toolcore_tool_t *t) { one_param(t), bad_param.minimum = text("low"); }
static void param_default(toolcore_tool_t *t) { one_param(t), bad_param.default_value = text("{"); }
static void param_utf8(toolcore_tool_t *t) { one_param(t), bad_param.name = text("\xFF"); }
static void params_null(toolcore_tool_t *t) { t->params = NULL, t->params_len = 2; }
static void tool_flag(toolcore_tool_t *t) { t->flags = 1u << 31; }
static void annotation(toolcore_tool_t *t) { t->annotations = 1u << 31; }
static void no_run(toolcore_tool_t *t) { t->run = NULL; }

static const struct {
    const char *what;
    void (*alter)(toolcore_tool_t *);
    toolcore_status_t status; /* 1: any failure */
} refused[] = {
    { "an empty name", no_name, TOOLCORE_ERR_BAD_NAME },
    { "a name of (NULL, 0)", null_name, TOOLCORE_ERR_BAD_NAME },
    { "a name of (NULL, 3)", null_name_with_length, TOOLCORE_ERR_INVALID_ARGUMENT },
    { "a name of 129 bytes", long_name, TOOLCORE_ERR_BAD_NAME },
    { "a name with a space", spaced_name, TOOLCORE_ERR_BAD_NAME },
    { "a name that is not UTF-8", bad_utf8_name, TOOLCORE_ERR_INVALID_UTF8 },
    { "a title that is not UTF-8", bad_utf8_title, TOOLCORE_ERR_INVALID_UTF8 },
    { "a description that is not UTF-8", bad_utf8_description, TOOLCORE_ERR_INVALID_UTF8 },
    { "a category that is not UTF-8", bad_utf8_category, TOOLCORE_ERR_INVALID_UTF8 },
    { "a schema that is not UTF-8", bad_utf8_schema, TOOLCORE_ERR_INVALID_UTF8 },
    { "an output schema that is not UTF-8", bad_utf8_output, TOOLCORE_ERR_INVALID_UTF8 },
    { "a name that is taken", taken_name, TOOLCORE_ERR_DUPLICATE },
    { "more text than the pool holds", large, TOOLCORE_ERR_NO_SPACE },
    { "a schema that is cut off", schema_not_json, TOOLCORE_ERR_BAD_JSON },
    { "a schema with a keyword that is not enforced", schema_unknown_keyword, TOOLCORE_ERR_BAD_SCHEMA },
    { "a schema with an unknown type", schema_unknown_type, TOOLCORE_ERR_BAD_SCHEMA },
    { "a schema that accepts no object", schema_without_objects, TOOLCORE_ERR_BAD_SCHEMA },
    { "an output schema that is cut off", output_not_json, TOOLCORE_ERR_BAD_JSON },
    { "both a schema and parameters", schema_and_params, TOOLCORE_ERR_INVALID_ARGUMENT },
    { "a parameter of an unknown type", param_type, TOOLCORE_ERR_UNSUPPORTED },
    { "a parameter of no type", param_no_type, 1 },
    { "a parameter with an unknown flag", param_flag, TOOLCORE_ERR_UNSUPPORTED },
    { "a parameter with a wrong struct_size", param_size, TOOLCORE_ERR_INVALID_ARGUMENT },
    { "a parameter whose enum is not JSON", param_enum, 1 },
    { "a parameter whose minimum is not a number", param_minimum, 1 },
    { "a parameter whose default is not JSON", param_default, 1 },
    { "a parameter whose name is not UTF-8", param_utf8, TOOLCORE_ERR_INVALID_UTF8 },
    { "parameters that are NULL but two", params_null, TOOLCORE_ERR_INVALID_ARGUMENT },
    { "an unknown flag", tool_flag, TOOLCORE_ERR_UNSUPPORTED },
    { "an unknown annotation", annotation, TOOLCORE_ERR_UNSUPPORTED },
    { "no run function", no_run, TOOLCORE_ERR_INVALID_ARGUMENT },
};

TEST(add_drops_once_and_changes_nothing_when_it_refuses)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        int counter = 0;
        size_t used[2], total, before_len, after_len;
        static char before[4096], after[4096];
        toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
        AT(refused[i].what);
        toolcore_registry_t *tools = registry(4, 2048, TOOLCORE_COLLISION_REFUSE);
        add(tools, "first");
        add(tools, "second");
        CHECK_STATUS(toolcore_registry_pool(tools, &used[0], &total), TOOLCORE_OK);
        CHECK_STATUS(toolcore_tools_render(tools, TOOLCORE_DIALECT_MCP, NULL, before, sizeof before, &before_len, NULL),
                     TOOLCORE_OK);

        toolcore_tool_t added = tool("third", &counter);
        refused[i].alter(&added);
        toolcore_status_t status = toolcore_registry_add(tools, &added, &why);
        if (refused[i].status == 1)
            CHECK(status < 0);
        else
            CHECK_STATUS(status, refused[i].status);
        CHECK_SIZE(counter, 1);
        CHECK(why.status == status);
        CHECK(why.message_len > 0 && why.message_len == strlen(why.message));

        check_names(tools, "first second");
        CHECK_STATUS(toolcore_registry_pool(tools, &used[1], &total), TOOLCORE_OK);
        CHECK_SIZE(used[1], used[0]);
        CHECK_STATUS(toolcore_tools_render(tools, TOOLCORE_DIALECT_MCP, NULL, after, sizeof after, &after_len, NULL),
                     TOOLCORE_OK);
        CHECK(after_len == before_len && memcmp(after, before, after_len) == 0);

        toolcore_registry_deinit(tools);
        CHECK_SIZE(counter, 1);
    }
}

TEST(add_drops_once_when_the_registry_is_null)
{
    int counter = 0;
    toolcore_tool_t added = tool("a", &counter);
    CHECK_STATUS(toolcore_registry_add(NULL, &added, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_SIZE(counter, 1);
}

TEST(add_drops_once_when_the_registry_has_ended)
{
    int counter = 0;
    toolcore_registry_t *tools = registry(2, 0, 0);
    toolcore_registry_deinit(tools);
    toolcore_tool_t added = tool("a", &counter);
    CHECK_STATUS(toolcore_registry_add(tools, &added, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_SIZE(counter, 1);
}

TEST(add_drops_once_when_the_detail_is_of_a_wrong_size)
{
    int counter = 0;
    toolcore_registry_t *tools = registry(2, 0, 0);
    toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
    toolcore_tool_t added = tool("a", &counter);
    why.struct_size = 3;
    CHECK_STATUS(toolcore_registry_add(tools, &added, &why), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_SIZE(counter, 1);
    CHECK_SIZE(toolcore_registry_len(tools), 0);
    toolcore_registry_deinit(tools);
    CHECK_SIZE(counter, 1);
}

TEST(add_drops_once_when_the_registry_is_full)
{
    int counters[3] = { 0, 0, 0 };
    toolcore_registry_t *tools = registry(2, 0, 0);
    toolcore_tool_t a = tool("a", &counters[0]), b = tool("b", &counters[1]), c = tool("c", &counters[2]);
    CHECK_STATUS(toolcore_registry_add(tools, &a, NULL), TOOLCORE_OK);
    CHECK_STATUS(toolcore_registry_add(tools, &b, NULL), TOOLCORE_OK);
    CHECK_STATUS(toolcore_registry_add(tools, &c, NULL), TOOLCORE_ERR_FULL);
    CHECK(counters[0] == 0 && counters[1] == 0 && counters[2] == 1);
    check_names(tools, "a b");
    toolcore_registry_deinit(tools);
    CHECK(counters[0] == 1 && counters[1] == 1 && counters[2] == 1);
}

TEST(add_drops_once_when_the_tool_is_from_a_later_version)
{
    struct { toolcore_tool_t tool; uint64_t later[2]; } big;
    int counter = 0;
    toolcore_registry_t *tools = registry(2, 0, 0);
    memset(&big, 0, sizeof big);
    big.tool = tool("a", &counter);
    big.tool.struct_size = sizeof big;
    big.later[1] = 1;
    CHECK_STATUS(toolcore_registry_add(tools, &big.tool, NULL), TOOLCORE_ERR_UNSUPPORTED);
    CHECK_SIZE(counter, 1);
    big.later[1] = 0;
    CHECK_STATUS(toolcore_registry_add(tools, &big.tool, NULL), TOOLCORE_OK);
    CHECK_SIZE(counter, 1);
    toolcore_registry_deinit(tools);
    CHECK_SIZE(counter, 2);
}

TEST(add_takes_nothing_from_a_struct_that_does_not_reach_beyond_drop)
{
    int counter = 0;
    toolcore_registry_t *tools = registry(2, 0, 0);
    toolcore_tool_t added = tool("a", &counter);
    static const size_t sizes[] = { 0, 1, sizeof(size_t), offsetof(toolcore_tool_t, drop) };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        added.struct_size = sizes[i];
        CHECK_STATUS(toolcore_registry_add(tools, &added, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    }
    CHECK_STATUS(toolcore_registry_add(tools, NULL, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_SIZE(counter, 0);
    CHECK_SIZE(toolcore_registry_len(tools), 0);
    toolcore_registry_deinit(tools);
    CHECK_SIZE(counter, 0);
}

/* drop(user_data): the ways out. */

TEST(remove_drops_once)
{
    int counter = 0;
    toolcore_registry_t *tools = registry(4, 0, 0);
    toolcore_tool_t added = tool("a", &counter);
    CHECK_STATUS(toolcore_registry_add(tools, &added, NULL), TOOLCORE_OK);
    CHECK_SIZE(counter, 0);
    CHECK_STATUS(toolcore_registry_remove(tools, text("b")), TOOLCORE_ERR_NOT_FOUND);
    CHECK_SIZE(counter, 0);
    CHECK_STATUS(toolcore_registry_remove(tools, text("a")), TOOLCORE_OK);
    CHECK_SIZE(counter, 1);
    CHECK_STATUS(toolcore_registry_remove(tools, text("a")), TOOLCORE_ERR_NOT_FOUND);
    toolcore_registry_deinit(tools);
    CHECK_SIZE(counter, 1);
}

TEST(replace_drops_the_old_one_once_and_keeps_its_place)
{
    int old = 0, new = 0;
    toolcore_registry_t *tools = registry(3, 0, TOOLCORE_COLLISION_REPLACE);
    toolcore_tool_t first = tool("b", &old), second = tool("b", &new);
    add(tools, "a");
    CHECK_STATUS(toolcore_registry_add(tools, &first, NULL), TOOLCORE_OK);
    add(tools, "c");
    /* All places are taken, and the name has one. */
    CHECK_STATUS(toolcore_registry_add(tools, &second, NULL), TOOLCORE_OK);
    CHECK(old == 1 && new == 0);
    check_names(tools, "a b c");
    toolcore_registry_deinit(tools);
    CHECK(old == 1 && new == 1);
}

TEST(replace_that_fails_keeps_the_old_one)
{
    int old = 0, new = 0;
    toolcore_registry_t *tools = registry(3, 0, TOOLCORE_COLLISION_REPLACE);
    toolcore_tool_t first = tool("a", &old), second = tool("a", &new);
    CHECK_STATUS(toolcore_registry_add(tools, &first, NULL), TOOLCORE_OK);
    second.schema = text("{\"type\":\"array\"}");
    CHECK_STATUS(toolcore_registry_add(tools, &second, NULL), TOOLCORE_ERR_BAD_SCHEMA);
    CHECK(old == 0 && new == 1);
    large(&second);
    second.schema = text("");
    CHECK_STATUS(toolcore_registry_add(tools, &second, NULL), TOOLCORE_ERR_NO_SPACE);
    CHECK(old == 0 && new == 2);
    check_names(tools, "a");
    toolcore_registry_deinit(tools);
    CHECK(old == 1 && new == 2);
}

TEST(deinit_drops_all_once_and_a_second_one_is_ignored)
{
    int counters[8] = { 0 };
    char names[8][2];
    toolcore_registry_t *tools = registry(8, 0, 0);
    for (int i = 0; i < 8; i++) {
        names[i][0] = (char)('a' + i);
        names[i][1] = 0;
        toolcore_tool_t added = tool(names[i], &counters[i]);
        CHECK_STATUS(toolcore_registry_add(tools, &added, NULL), TOOLCORE_OK);
    }
    toolcore_registry_deinit(tools);
    toolcore_registry_deinit(tools);
    toolcore_registry_deinit(NULL);
    for (int i = 0; i < 8; i++)
        CHECK_SIZE(counters[i], 1);
}

TEST(a_user_data_without_drop_is_left_alone)
{
    int counter = 0;
    toolcore_registry_t *tools = registry(1, 0, 0);
    toolcore_tool_t added = tool("a", &counter);
    added.drop = NULL;
    CHECK_STATUS(toolcore_registry_add(tools, &added, NULL), TOOLCORE_OK);
    toolcore_registry_deinit(tools);
    CHECK_SIZE(counter, 0);
}

static int drops;

static void drop_null(void *user_data)
{
    CHECK(user_data == NULL);
    drops++;
}

TEST(a_user_data_of_null_is_dropped_too)
{
    toolcore_registry_t *tools = registry(1, 0, 0);
    toolcore_tool_t added = tool("a", NULL);
    added.drop = drop_null;
    drops = 0;
    CHECK_STATUS(toolcore_registry_add(tools, &added, NULL), TOOLCORE_OK);
    CHECK_SIZE(drops, 0);
    CHECK_STATUS(toolcore_registry_remove(tools, text("a")), TOOLCORE_OK);
    CHECK_SIZE(drops, 1);
    toolcore_registry_deinit(tools);
    CHECK_SIZE(drops, 1);
}

/* Hooks are let go by the same rule. */

static toolcore_status_t before(void *user_data, toolcore_draft_t *draft)
{
    (void)user_data;
    (void)draft;
    return TOOLCORE_OK;
}

static toolcore_hook_t hook(int *counter)
{
    toolcore_hook_t hook = TOOLCORE_HOOK_INIT;
    hook.before = before;
    hook.user_data = counter;
    hook.drop = drop;
    return hook;
}

TEST(add_hook_drops_once_for_every_way_out)
{
    struct { toolcore_hook_t hook; uint64_t later; } big;
    int kept[4] = { 0 }, fifth = 0, null = 0, ended = 0, later = 0, small = 0;
    toolcore_registry_t *tools = registry(1, 0, 0);
    toolcore_hook_t added;
    for (int i = 0; i < 4; i++) {
        added = hook(&kept[i]);
        CHECK_STATUS(toolcore_registry_add_hook(tools, &added), TOOLCORE_OK);
    }
    added = hook(&fifth);
    CHECK_STATUS(toolcore_registry_add_hook(tools, &added), TOOLCORE_ERR_FULL);
    CHECK_SIZE(fifth, 1);
    added = hook(&null);
    CHECK_STATUS(toolcore_registry_add_hook(NULL, &added), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_SIZE(null, 1);
    memset(&big, 0, sizeof big);
    big.hook = hook(&later);
    big.hook.struct_size = sizeof big;
    big.later = 1;
    CHECK_STATUS(toolcore_registry_add_hook(tools, &big.hook), TOOLCORE_ERR_UNSUPPORTED);
    CHECK_SIZE(later, 1);
    added = hook(&small);
    added.struct_size = offsetof(toolcore_hook_t, drop);
    CHECK_STATUS(toolcore_registry_add_hook(tools, &added), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_registry_add_hook(tools, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_SIZE(small, 0);
    for (int i = 0; i < 4; i++)
        CHECK_SIZE(kept[i], 0);
    toolcore_registry_deinit(tools);
    for (int i = 0; i < 4; i++)
        CHECK_SIZE(kept[i], 1);
    added = hook(&ended);
    CHECK_STATUS(toolcore_registry_add_hook(tools, &added), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_SIZE(ended, 1);
    CHECK(fifth == 1 && null == 1 && later == 1 && small == 0);
}

int main(void)
{
    RUN(add_drops_once_and_changes_nothing_when_it_refuses);
    RUN(add_drops_once_when_the_registry_is_null);
    RUN(add_drops_once_when_the_registry_has_ended);
    RUN(add_drops_once_when_the_detail_is_of_a_wrong_size);
    RUN(add_drops_once_when_the_registry_is_full);
    RUN(add_drops_once_when_the_tool_is_from_a_later_version);
    RUN(add_takes_nothing_from_a_struct_that_does_not_reach_beyond_drop);
    RUN(remove_drops_once);
    RUN(replace_drops_the_old_one_once_and_keeps_its_place);
    RUN(replace_that_fails_keeps_the_old_one);
    RUN(deinit_drops_all_once_and_a_second_one_is_ignored);
    RUN(a_user_data_without_drop_is_left_alone);
    RUN(a_user_data_of_null_is_dropped_too);
    RUN(add_hook_drops_once_for_every_way_out);
    return check_end();
}

/* Schemas with resources, and what prepares an instance for its check: repair and coercion. */
#include "check.h"

static char scratch[4096], mem[8192];
static char changes[512];
static size_t changes_len;

static const char units[] = "{\"$defs\":{\"unit\":{\"enum\":[\"c\",\"f\"]},\"bad\":{\"type\":7}}}";

static void changed(void *user_data, toolcore_str_t path, toolcore_str_t rule)
{
    CHECK(user_data == changes);
    changes_len += (size_t)snprintf(changes + changes_len, sizeof changes - changes_len, "%s%.*s %.*s",
                                    changes_len > 0 ? "; " : "", (int)path.len, path.ptr, (int)rule.len, rule.ptr);
}

/* A set of one document in memory of exactly the size that was asked for. */
static toolcore_resources_t *set_of_units(void)
{
    toolcore_resource_t list = TOOLCORE_RESOURCE_INIT;
    toolcore_resources_t *set = NULL;
    list.uri = exact("https://example.com/units");
    list.text = exact(units);
    size_t size = toolcore_resources_mem_size(1);
    CHECK_STATUS(toolcore_resources_init(&list, 1, block(size), size, &set, NULL), TOOLCORE_OK);
    /* The array is not kept. */
    memset(&list, 0x77, sizeof list);
    return set;
}

static toolcore_schema_t *compile(const char *source, const toolcore_schema_opts_t *opts)
{
    size_t need = 0;
    toolcore_schema_t *compiled = NULL;
    toolcore_str_t schema = exact(source);
    CHECK_STATUS(toolcore_schema_mem_size(schema, opts, &need, NULL), TOOLCORE_OK);
    CHECK_STATUS(toolcore_schema_init(schema, opts, block(need), need, &compiled, NULL), TOOLCORE_OK);
    CHECK(toolcore_schema_size(compiled) <= need);
    return compiled;
}

static bool check(const toolcore_schema_t *schema, const char *instance)
{
    bool valid = false;
    CHECK_STATUS(toolcore_schema_check(schema, exact(instance), NULL, scratch, sizeof scratch, &valid, NULL), TOOLCORE_OK);
    return valid;
}

TEST(references_lead_into_resources_and_nowhere_else)
{
    toolcore_schema_opts_t opts = TOOLCORE_SCHEMA_OPTS_INIT;
    toolcore_resources_t *set = set_of_units();
    opts.resources = set;
    toolcore_schema_t *first = compile("{\"items\":{\"$ref\":\"https://example.com/units#/$defs/unit\"}}", &opts);
    toolcore_schema_t *second = compile("{\"not\":{\"$ref\":\"https://example.com/units#/$defs/unit\"}}", &opts);
    CHECK(check(first, "[\"c\",\"f\"]") && !check(first, "[\"k\"]"));
    CHECK(check(second, "\"k\"") && !check(second, "\"c\""));
    static const struct { const char *schema, *place; size_t resource; } rows[] = {
        { "{\"$ref\":\"https://example.com/units#/$defs/bad\"}", "https://example.com/units#/$defs/bad/type", 1 },
        { "{\"not\":{\"$ref\":\"https://example.com/other\"}}", "/not/$ref", 0 },
    };
    for (size_t i = 0; i < 2; i++) {
        toolcore_schema_t *refused = first;
        toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
        AT(rows[i].schema);
        CHECK_STATUS(toolcore_schema_init(exact(rows[i].schema), &opts, mem, sizeof mem, &refused, &why),
                     TOOLCORE_ERR_BAD_SCHEMA);
        CHECK(refused == NULL);
        CHECK_SIZE(why.resource, rows[i].resource);
        CHECK_TEXT(why.message, why.place_len, rows[i].place);
    }
    toolcore_schema_deinit(first);
    toolcore_schema_deinit(second);
    toolcore_resources_deinit(set);
    toolcore_resources_deinit(set);
    CHECK_STATUS(toolcore_schema_init(exact("true"), &opts, mem, sizeof mem, &first, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
}

TEST(a_schema_with_resources_compiles_in_any_memory_that_is_enough_and_names_it)
{
    static const char source[] = "{\"items\":{\"$ref\":\"https://example.com/units#/$defs/unit\"}}";
    toolcore_schema_opts_t opts = TOOLCORE_SCHEMA_OPTS_INIT;
    toolcore_resources_t *set = set_of_units();
    size_t need, least = 0;
    opts.resources = set;
    CHECK_STATUS(toolcore_schema_mem_size(exact(source), &opts, &need, NULL), TOOLCORE_OK);
    for (size_t size = 1; size <= need; size++) {
        char *memory = malloc(size);
        toolcore_schema_t *compiled = NULL;
        toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
        toolcore_status_t status = toolcore_schema_init(text(source), &opts, memory, size, &compiled, &why);
        if (status == TOOLCORE_OK) {
            least = least == 0 ? size : least;
            CHECK(check(compiled, "[\"c\"]") && !check(compiled, "[1]"));
            CHECK(toolcore_schema_size(compiled) <= need);
        } else {
            CHECK_STATUS(status, TOOLCORE_ERR_NO_SPACE);
            CHECK(least == 0 && why.need > size && why.need <= need && compiled == NULL);
        }
        free(memory);
    }
    CHECK(least > 0);
    toolcore_resources_deinit(set);
}

TEST(a_set_is_made_whole_or_not_at_all)
{
    toolcore_resource_t list[2] = { TOOLCORE_RESOURCE_INIT, TOOLCORE_RESOURCE_INIT };
    toolcore_resources_t *set = (toolcore_resources_t *)(void *)mem;
    toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
    list[0].text = exact("true");
    list[1].text = exact("{\"a\":}");
    CHECK_STATUS(toolcore_resources_init(list, 2, mem, sizeof mem, &set, &why), TOOLCORE_ERR_BAD_JSON);
    CHECK(set == NULL && why.resource == 2 && why.offset == 5 && why.reason == TOOLCORE_JSON_ERR_EXPECTED_VALUE);
    list[1].text = (toolcore_str_t){ mem + 8, 2 };
    memcpy(mem + 8, "{}", 2);
    CHECK_STATUS(toolcore_resources_init(list, 2, mem, sizeof mem, &set, &why), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_resources_init(NULL, 1, mem, sizeof mem, &set, &why), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_resources_init(NULL, 0, mem, sizeof mem, NULL, &why), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_resources_init(NULL, 0, NULL, 0, &set, &why), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_resources_init(NULL, 0, mem, sizeof mem, &set, &why), TOOLCORE_OK);
    toolcore_resources_deinit(set);
    size_t enough = toolcore_resources_mem_size(2);
    list[1].text = exact("{}");
    for (size_t size = 1; size <= enough; size++) {
        char *memory = malloc(size);
        toolcore_status_t status = toolcore_resources_init(list, 2, memory, size, &set, &why);
        if (status != TOOLCORE_OK) {
            CHECK_STATUS(status, TOOLCORE_ERR_NO_SPACE);
            CHECK(set == NULL && size < enough && why.need == enough);
        }
        toolcore_resources_deinit(set);
        free(memory);
    }
}

static const char wanted[] = "{\"properties\":{\"n\":{\"type\":\"integer\"},\"on\":{\"type\":\"boolean\"},\"u\":{\"default\":\"m\"}}}";
static const char nearly[] = "{\"n\":\" 5 \",\"on\":\"yes\",\"n\":\"6\"}";

TEST(an_instance_is_made_to_fit_and_each_change_is_told)
{
    toolcore_coerce_opts_t opts = TOOLCORE_COERCE_OPTS_INIT;
    toolcore_schema_t *schema = compile(wanted, NULL);
    char accepted[128];
    size_t len = 0;
    changes_len = 0;
    opts.changed = changed;
    opts.user_data = changes;
    opts.flags = TOOLCORE_COERCE_LAST_WINS;
    size_t size = toolcore_schema_coerce_scratch_size(schema, &opts);
    CHECK_STATUS(toolcore_schema_coerce(schema, exact(nearly), &opts, block(size), size, accepted, sizeof accepted, &len, NULL),
                 TOOLCORE_OK);
    CHECK_TEXT(accepted, len, "{\"on\":true,\"n\":6,\"u\":\"m\"}");
    CHECK(accepted[len] == 0);
    CHECK_TEXT(changes, changes_len,
               "/n duplicate-removed; /on boolean-from-string; /n integer-from-string; /u default-added");
    CHECK(check(schema, accepted));
    /* What fits is written as it is. */
    changes_len = 0;
    CHECK_STATUS(toolcore_schema_coerce(schema, exact(" { \"u\" : 1 } "), &opts, scratch, sizeof scratch, accepted,
                                        sizeof accepted, &len, NULL),
                 TOOLCORE_OK);
    CHECK_TEXT(accepted, len, "{ \"u\" : 1 }");
    CHECK_SIZE(changes_len, 0);
    toolcore_schema_deinit(schema);
}

TEST(every_size_of_buffer_and_scratch_is_enough_or_names_what_is)
{
    toolcore_schema_t *schema = compile(wanted, NULL);
    size_t measured = 0, most = toolcore_schema_coerce_scratch_size(schema, NULL);
    CHECK_STATUS(toolcore_schema_coerce(schema, text(nearly), NULL, scratch, sizeof scratch, NULL, 0, &measured, NULL),
                 TOOLCORE_OK);
    for (size_t size = 0; size <= measured + 1; size++) {
        char *buffer = malloc(size + 1);
        size_t len = 99;
        toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
        toolcore_status_t status = toolcore_schema_coerce(schema, text(nearly), NULL, scratch, sizeof scratch, buffer, size,
                                                          &len, &why);
        if (status == TOOLCORE_OK) {
            CHECK(len <= size);
        } else {
            CHECK_STATUS(status, TOOLCORE_ERR_NO_SPACE);
            CHECK(len > size && len <= measured && why.need == len);
        }
        free(buffer);
    }
    for (size_t size = 0; size <= most; size++) {
        char *memory = malloc(size + 1), accepted[128];
        size_t len = 99;
        toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
        toolcore_status_t status = toolcore_schema_coerce(schema, text(nearly), NULL, memory, size, accepted, sizeof accepted,
                                                          &len, &why);
        if (status != TOOLCORE_OK) {
            CHECK_STATUS(status, TOOLCORE_ERR_NO_SPACE);
            CHECK(len == 0 && why.need > size && why.need <= most);
        }
        free(memory);
    }
    toolcore_schema_deinit(schema);
}

TEST(null_and_memory_that_overlaps_are_invalid_arguments)
{
    toolcore_schema_t *schema = compile("true", NULL);
    toolcore_str_t inside = { scratch + 1, 2 };
    size_t len = 9;
    memcpy(scratch, "[[]]", 4);
    CHECK_STATUS(toolcore_schema_coerce(NULL, text("1"), NULL, NULL, 0, NULL, 0, &len, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_SIZE(len, 0);
    CHECK_STATUS(toolcore_schema_coerce(schema, text("1"), NULL, NULL, 0, NULL, 0, NULL, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_schema_coerce(schema, text("1"), NULL, NULL, 64, NULL, 0, &len, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_schema_coerce(schema, inside, NULL, scratch, 64, NULL, 0, &len, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_schema_coerce(schema, inside, NULL, NULL, 0, scratch, 64, &len, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_schema_coerce(schema, text("1"), NULL, scratch, 64, scratch + 63, 64, &len, NULL),
                 TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_json_repair(inside, NULL, scratch, 64, &len, NULL, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_json_repair(text("1"), NULL, scratch, 64, NULL, NULL, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK(memcmp(scratch, "[[]]", 4) == 0);
    CHECK_SIZE(toolcore_schema_size(NULL), 0);
    toolcore_schema_deinit(schema);
}

TEST(text_that_is_nearly_json_is_repaired_and_says_how)
{
    static const struct { const char *from, *value; uint32_t repairs; } rows[] = {
        { " {\"a\" : 1} ", "{\"a\" : 1}", 0 },
        { "```json\n{\"a\":1}\n```", "{\"a\":1}", TOOLCORE_REPAIR_FENCE },
        { "{\"a\":1} There you are.", "{\"a\":1}", TOOLCORE_REPAIR_TRAILING_TEXT },
        { "{\"a\":[1,],}", "{\"a\":[1]}", TOOLCORE_REPAIR_TRAILING_COMMA },
        { "\"{\\\"a\\\":1}\"", "{\"a\":1}", TOOLCORE_REPAIR_DOUBLE_ENCODED },
    };
    uint32_t repairs;
    size_t len;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t room = strlen(rows[i].from);
        char *buffer = block(room);
        AT(rows[i].from);
        CHECK_STATUS(toolcore_json_repair(exact(rows[i].from), NULL, buffer, room, &len, &repairs, NULL), TOOLCORE_OK);
        CHECK_TEXT(buffer, len, rows[i].value);
        CHECK_SIZE(repairs, rows[i].repairs);
        AT(NULL);
    }
    toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
    repairs = 9;
    len = 9;
    CHECK_STATUS(toolcore_json_repair(exact("{\"city\":\"Os"), NULL, scratch, sizeof scratch, &len, &repairs, &why),
                 TOOLCORE_ERR_BAD_JSON);
    CHECK(len == 0 && repairs == 0 && why.offset == 11 && why.reason == TOOLCORE_JSON_ERR_UNEXPECTED_END);
    CHECK(strcmp(toolcore_repair_name(TOOLCORE_REPAIR_DOUBLE_ENCODED), "double-encoded") == 0);
}

int main(void)
{
    RUN(references_lead_into_resources_and_nowhere_else);
    RUN(a_schema_with_resources_compiles_in_any_memory_that_is_enough_and_names_it);
    RUN(a_set_is_made_whole_or_not_at_all);
    RUN(an_instance_is_made_to_fit_and_each_change_is_told);
    RUN(every_size_of_buffer_and_scratch_is_enough_or_names_what_is);
    RUN(null_and_memory_that_overlaps_are_invalid_arguments);
    RUN(text_that_is_nearly_json_is_repaired_and_says_how);
    return check_end();
}

/* A JSON Schema compiled and checked by itself. */
#include "check.h"

static char scratch[16384];
static char problems[2048];
static size_t problems_len;

static void violation(void *user_data, toolcore_str_t path, toolcore_str_t keyword, toolcore_str_t message)
{
    CHECK(user_data == problems);
    problems_len += (size_t)snprintf(problems + problems_len, sizeof problems - problems_len, "%s%.*s %.*s",
                                     problems_len > 0 ? "; " : "", (int)path.len, path.ptr, (int)keyword.len, keyword.ptr);
    CHECK(message.len > 0 && message.len < 256);
}

/* Checks `instance`, which is in memory of exactly its size, and gives the verdict. */
static bool check(const char *schema, const char *instance)
{
    size_t need = 0;
    bool valid = false, again = true;
    toolcore_schema_t *compiled = NULL;
    toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
    toolcore_check_opts_t opts = TOOLCORE_CHECK_OPTS_INIT;
    const toolcore_str_t source = exact(schema);
    opts.violation = violation;
    opts.user_data = problems;
    problems_len = 0;
    problems[0] = 0;
    CHECK_STATUS(toolcore_schema_mem_size(source, NULL, &need, &why), TOOLCORE_OK);
    CHECK_STATUS(toolcore_schema_init(source, NULL, block(need), need, &compiled, &why), TOOLCORE_OK);
    if (compiled == NULL) {
        fprintf(stderr, "    %s\n", why.message);
        return false;
    }
    CHECK_STATUS(toolcore_schema_check(compiled, exact(instance), &opts, scratch, sizeof scratch, &valid, &why), TOOLCORE_OK);
    CHECK(valid == (problems_len == 0));
    /* Who only wants the verdict gets the same one. */
    CHECK_STATUS(toolcore_schema_check(compiled, exact(instance), NULL, scratch, sizeof scratch, &again, NULL), TOOLCORE_OK);
    CHECK(valid == again);
    toolcore_schema_deinit(compiled);
    return valid;
}

TEST(verdicts_are_those_of_the_specification)
{
    static const struct { const char *schema, *instance; bool valid; } rows[] = {
        { "true", "1", true }, { "false", "1", false }, { "{}", "null", true },
        { "{\"type\":\"integer\"}", "5.0", true }, { "{\"type\":\"integer\"}", "1e2", true },
        { "{\"type\":\"integer\"}", "5.5", false }, { "{\"const\":1}", "1.0", true },
        { "{\"type\":\"number\"}", "1e999", true }, { "{\"type\":[\"string\",\"null\"]}", "null", true },
        { "{\"type\":[\"string\",\"null\"]}", "1", false }, { "{\"type\":\"object\"}", "[]", false },
        { "{\"enum\":[1,\"a\",[2],{\"x\":null}]}", "{\"x\":null}", true },
        { "{\"enum\":[1,\"a\",[2],{\"x\":null}]}", "[2.0]", true },
        { "{\"enum\":[1,\"a\",[2],{\"x\":null}]}", "\"b\"", false },
        { "{\"const\":{\"a\":1,\"b\":[true]}}", "{\"b\":[true],\"a\":1}", true },
        { "{\"const\":\"\\u00e9\"}", "\"\xC3\xA9\"", true },
        { "{\"minimum\":1.1}", "1.10", true }, { "{\"minimum\":1.1}", "1.09", false }, { "{\"minimum\":5}", "\"1\"", true },
        { "{\"maximum\":9007199254740993}", "9007199254740993", true }, { "{\"maximum\":9007199254740992}", "9007199254740993", false },
        { "{\"exclusiveMinimum\":0}", "0", false }, { "{\"exclusiveMaximum\":0}", "-1e-400", true },
        { "{\"minLength\":2}", "\"\xE2\x82\xAC\"", false }, { "{\"maxLength\":1}", "\"\\ud83d\\ude00\"", true },
        { "{\"minItems\":1}", "[]", false }, { "{\"maxItems\":1}", "[1,2]", false }, { "{\"items\":{\"type\":\"integer\"}}", "[1,\"x\"]", false },
        { "{\"required\":[\"a\"]}", "{\"\\u0061\":1}", true }, { "{\"required\":[\"a\"]}", "{}", false }, { "{\"required\":[\"a\"]}", "1", true },
        { "{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"a\":1}", false },
        { "{\"properties\":{\"a\":true},\"additionalProperties\":false}", "{\"a\":1,\"b\":2}", false },
        { "{\"properties\":{\"a\":true},\"additionalProperties\":{\"type\":\"integer\"}}", "{\"a\":\"x\",\"b\":2}", true },
        { "{\"$defs\":{\"n\":{\"type\":\"integer\"}},\"items\":{\"$ref\":\"#/$defs/n\"}}", "[1,2]", true },
        { "{\"$defs\":{\"n\":{\"type\":\"integer\"}},\"items\":{\"$ref\":\"#/$defs/n\"}}", "[1,\"2\"]", false },
        { "{\"type\":\"object\",\"properties\":{\"next\":{\"$ref\":\"#\"}},\"additionalProperties\":false}", "{\"next\":{\"next\":{}}}", true },
        { "{\"type\":\"object\",\"properties\":{\"next\":{\"$ref\":\"#\"}},\"additionalProperties\":false}", "{\"next\":{\"next\":{\"x\":1}}}", false },
        { "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":\"t\",\"description\":\"d\",\"default\":1,\"type\":\"integer\"}", "2", true },
        { "{\"properties\":{\"$ref\":{\"type\":\"string\"}}}", "{\"$ref\":\"a\"}", true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char row[300];
        snprintf(row, sizeof row, "%s against %s", rows[i].instance, rows[i].schema);
        AT(row);
        CHECK(check(rows[i].schema, rows[i].instance) == rows[i].valid);
        AT(NULL);
    }
}

TEST(every_problem_is_reported_with_its_place_and_keyword)
{
    CHECK(!check("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"array\",\"items\":{\"minimum\":3},"
                 "\"maxItems\":2},\"c~/d\":{\"enum\":[\"x\"]}},\"required\":[\"a\",\"z\"],\"additionalProperties\":false}",
                 "{\"a\":\"1\",\"b\":[1,5,2],\"c~/d\":\"y\",\"e\":0}"));
    static const char *const expected[] = { "/a type", "/b/0 minimum", "/b/2 minimum", "/b maxItems", "/c~0~1d enum",
                                            "/e additionalProperties", "/z required" };
    for (size_t i = 0; i < 7; i++) {
        AT(expected[i]);
        CHECK(contains(problems, problems_len, expected[i]));
    }
    size_t count = 1;
    for (size_t i = 0; i < problems_len; i++)
        count += problems[i] == ';';
    CHECK_SIZE(count, 7);
}

TEST(a_schema_that_cannot_be_enforced_is_refused_with_the_place)
{
    static const struct { const char *schema, *place; } rows[] = {
        { "{\"properties\":{\"a\":{\"type\":\"int\"}}}", "/properties/a/type" },
        { "{\"type\":7}", "/type" },
        { "{\"required\":\"a\"}", "/required" },
        { "{\"items\":{\"minLength\":-1}}", "/items/minLength" },
        { "{\"$ref\":\"#/$defs/none\"}", "/$ref" }, /* shows only when it is compiled */
        { "{\"$ref\":\"https://example.org/other\"}", "/$ref" },
        { "{\"properties\":{\"a~/b\":{\"enum\":1}}}", "/properties/a~0~1b/enum" },
        { "7", "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t need = 9;
        toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
        toolcore_schema_t *compiled = (toolcore_schema_t *)(void *)scratch;
        AT(rows[i].schema);
        toolcore_status_t status = toolcore_schema_mem_size(exact(rows[i].schema), NULL, &need, &why);
        if (status != TOOLCORE_OK || strstr(rows[i].schema, "#/$defs/none") == NULL) {
            CHECK_STATUS(status, TOOLCORE_ERR_BAD_SCHEMA);
            CHECK_TEXT(why.message, strlen(rows[i].place), rows[i].place);
            CHECK(need == 0 && why.message_len > strlen(rows[i].place));
        }
        CHECK_STATUS(toolcore_schema_init(exact(rows[i].schema), NULL, scratch, sizeof scratch, &compiled, &why),
                     TOOLCORE_ERR_BAD_SCHEMA);
        CHECK_TEXT(why.message, strlen(rows[i].place), rows[i].place);
        CHECK(compiled == NULL && why.message_len > strlen(rows[i].place));
    }
    AT(NULL);
    size_t need = 9;
    toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
    CHECK_STATUS(toolcore_schema_mem_size(exact("{\"type\":"), NULL, &need, &why), TOOLCORE_ERR_BAD_JSON);
    CHECK(need == 0 && why.reason == TOOLCORE_JSON_ERR_UNEXPECTED_END && why.offset == 8);
}

TEST(references_in_a_circle_neither_hang_nor_pass)
{
    static const char *const circles[] = {
        "{\"$ref\":\"#\"}",
        "{\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},\"b\":{\"$ref\":\"#/$defs/a\"}},\"$ref\":\"#/$defs/a\"}",
    };
    for (size_t i = 0; i < 2; i++) {
        toolcore_schema_t *compiled = (toolcore_schema_t *)(void *)scratch;
        AT(circles[i]);
        CHECK_STATUS(toolcore_schema_init(exact(circles[i]), NULL, scratch, sizeof scratch, &compiled, NULL),
                     TOOLCORE_ERR_BAD_SCHEMA);
        CHECK(compiled == NULL);
    }
}

TEST(an_instance_that_is_not_json_is_bad_json_and_not_invalid)
{
    static char mem[1024];
    bool valid = true;
    toolcore_schema_t *compiled = NULL;
    toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
    CHECK_STATUS(toolcore_schema_init(text("{\"type\":\"object\"}"), NULL, mem, sizeof mem, &compiled, NULL), TOOLCORE_OK);
    CHECK_STATUS(toolcore_schema_check(compiled, exact("{\"a\":1"), NULL, scratch, sizeof scratch, &valid, &why), TOOLCORE_ERR_BAD_JSON);
    CHECK(!valid && why.offset == 6 && why.reason == TOOLCORE_JSON_ERR_UNEXPECTED_END);
    valid = true;
    CHECK_STATUS(toolcore_schema_check(compiled, exact("{} {}"), NULL, scratch, sizeof scratch, &valid, &why), TOOLCORE_ERR_BAD_JSON);
    CHECK(!valid && why.offset == 3 && why.reason == TOOLCORE_JSON_ERR_TRAILING_DATA);
    CHECK_STATUS(toolcore_schema_check(compiled, exact(""), NULL, scratch, sizeof scratch, &valid, &why), TOOLCORE_ERR_BAD_JSON);
    toolcore_schema_deinit(compiled);
}

TEST(depth_and_steps_are_limited)
{
    static char mem[1024], nested[20100];
    bool valid = true;
    toolcore_schema_t *compiled = NULL;
    toolcore_schema_opts_t schema_opts = TOOLCORE_SCHEMA_OPTS_INIT;
    toolcore_check_opts_t opts = TOOLCORE_CHECK_OPTS_INIT;
    toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
    CHECK_STATUS(toolcore_schema_init(text("{\"items\":{\"$ref\":\"#\"}}"), NULL, mem, sizeof mem, &compiled, NULL), TOOLCORE_OK);
    memset(nested, '[', 10000);
    CHECK_STATUS(toolcore_schema_check(compiled, (toolcore_str_t){ nested, 10000 }, &opts, scratch, sizeof scratch, &valid, &why),
                 TOOLCORE_ERR_BAD_JSON);
    CHECK(!valid && why.reason == TOOLCORE_JSON_ERR_DEPTH_LIMIT);
    memset(nested, '[', 100);
    memset(nested + 100, ']', 100);
    CHECK_STATUS(toolcore_schema_check(compiled, (toolcore_str_t){ nested, 200 }, &opts, scratch, sizeof scratch, &valid, &why), TOOLCORE_OK);
    CHECK(valid);
    opts.max_depth = 99;
    CHECK_STATUS(toolcore_schema_check(compiled, (toolcore_str_t){ nested, 200 }, &opts, scratch, sizeof scratch, &valid, &why),
                 TOOLCORE_ERR_BAD_JSON);
    toolcore_schema_deinit(compiled);
    /* A hundred elements against the last of a hundred values. */
    size_t many = (size_t)snprintf(nested, sizeof nested, "{\"items\":{\"enum\":[");
    for (int i = 0; i < 100; i++)
        many += (size_t)snprintf(nested + many, sizeof nested - many, "[%d],", i);
    many += (size_t)snprintf(nested + many, sizeof nested - many, "[7]]}}");
    const toolcore_str_t values = exact(nested);
    static char large[16384];
    CHECK_STATUS(toolcore_schema_init(values, NULL, large, sizeof large, &compiled, &why), TOOLCORE_OK);
    many = (size_t)snprintf(nested, sizeof nested, "[[99]");
    for (int i = 0; i < 99; i++)
        many += (size_t)snprintf(nested + many, sizeof nested - many, ",[99]");
    many += (size_t)snprintf(nested + many, sizeof nested - many, "]");
    opts.max_depth = 0;
    CHECK_STATUS(toolcore_schema_check(compiled, (toolcore_str_t){ nested, many }, &opts, scratch, sizeof scratch, &valid, &why),
                 TOOLCORE_OK);
    CHECK(valid);
    opts.max_steps = 100;
    CHECK_STATUS(toolcore_schema_check(compiled, (toolcore_str_t){ nested, many }, &opts, scratch, sizeof scratch, &valid, &why),
                 TOOLCORE_ERR_OUT_OF_RANGE);
    CHECK(!valid);
    toolcore_schema_deinit(compiled);
    /* A schema that is nested too deep. */
    size_t need = 9, at = 0;
    for (int i = 0; i < 1000; i++)
        at += (size_t)snprintf(nested + at, sizeof nested - at, "{\"items\":");
    memset(nested + at, '}', 1001);
    nested[at] = '1';
    CHECK(toolcore_schema_mem_size((toolcore_str_t){ nested, at + 1001 }, NULL, &need, &why) < 0);
    CHECK_SIZE(need, 0);
    schema_opts.max_depth = 2;
    CHECK(toolcore_schema_mem_size(text("{\"items\":{\"items\":{\"items\":true}}}"), &schema_opts, &need, &why) < 0);
    CHECK_STATUS(toolcore_schema_mem_size(text("{\"items\":true}"), &schema_opts, &need, &why), TOOLCORE_OK);
}

TEST(scratch_that_is_too_small_names_what_would_do)
{
    static const char deep[] = "[[[[[[[[1]]]]]]]]";
    static char mem[1024];
    toolcore_schema_t *compiled = NULL;
    CHECK_STATUS(toolcore_schema_init(text("{\"items\":{\"$ref\":\"#\"},\"maxItems\":1}"), NULL, mem, sizeof mem, &compiled, NULL), TOOLCORE_OK);
    size_t enough = 0, named = 0;
    for (size_t size = 1; size < 2048; size++) {
        char *working = memset(malloc(size + 16), 0xA5, size + 16);
        bool valid = true;
        toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
        toolcore_status_t status = toolcore_schema_check(compiled, text(deep), NULL, working, size, &valid, &why);
        if (status == TOOLCORE_OK) {
            CHECK(valid);
            enough = enough == 0 ? size : enough;
        } else {
            CHECK_STATUS(status, TOOLCORE_ERR_NO_SPACE);
            CHECK(!valid && why.need > size && enough == 0);
            named = why.need;
        }
        for (size_t i = 0; i < 16; i++)
            CHECK((unsigned char)working[size + i] == 0xA5);
        free(working);
    }
    CHECK(enough > 0 && enough <= 9 * 32 + 64);
    /* What the last failure named does. */
    bool valid = false;
    CHECK_STATUS(toolcore_schema_check(compiled, text(deep), NULL, block(named), named, &valid, NULL), TOOLCORE_OK);
    toolcore_schema_deinit(compiled);
}

TEST(a_schema_serves_again_and_again)
{
    static char mem[2048];
    toolcore_schema_t *compiled = NULL;
    CHECK_STATUS(toolcore_schema_init(text("{\"type\":\"object\",\"required\":[\"a\"]}"), NULL, mem, sizeof mem, &compiled, NULL), TOOLCORE_OK);
    for (int i = 0; i < 100; i++) {
        bool valid = i % 2 == 0;
        CHECK_STATUS(toolcore_schema_check(compiled, text(i % 2 == 0 ? "{}" : "{\"a\":1}"), NULL, scratch, sizeof scratch, &valid, NULL), TOOLCORE_OK);
        CHECK(valid == (i % 2 == 1));
    }
    toolcore_schema_deinit(compiled);
}

int main(void)
{
    RUN(verdicts_are_those_of_the_specification);
    RUN(every_problem_is_reported_with_its_place_and_keyword);
    RUN(a_schema_that_cannot_be_enforced_is_refused_with_the_place);
    RUN(references_in_a_circle_neither_hang_nor_pass);
    RUN(an_instance_that_is_not_json_is_bad_json_and_not_invalid);
    RUN(depth_and_steps_are_limited);
    RUN(scratch_that_is_too_small_names_what_would_do);
    RUN(a_schema_serves_again_and_again);
    return check_end();
}

/* Repairs and conversions: made only when asked for, and never of what is valid. */
#include "turn.h"

TEST(repairs_are_made_only_when_asked_for)
{
    static const char *const repairable[] = { "```json\n{\"city\":\"Oslo\"}\n```", "\"{\\\"city\\\":\\\"Oslo\\\"}\"",
                                              "{\"city\":\"Oslo\"} and so on", "{\"city\":\"Oslo\",}" };
    start(0);
    add_tool("weather",
             "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}},\"required\":[\"city\"],"
             "\"additionalProperties\":false}",
             echo, NULL, 0);
    for (size_t i = 0; i < 4; i++) {
        AT(repairable[i]);
        opts.flags = 0;
        CHECK_STATUS(answer(OPENAI, one_call(OPENAI, "weather", repairable[i])), TOOLCORE_OK);
        CHECK(ran[0] == 0 && outcome.failed == 1);
        opts.flags = TOOLCORE_ANSWER_LENIENT;
        check_text_and_flag(OPENAI, "weather", repairable[i], "{\"city\":\"Oslo\"}", 0);
    }
    AT("cut off");
    CHECK_STATUS(answer(OPENAI, one_call(OPENAI, "weather", "{\"city\":\"Oslo\"")), TOOLCORE_OK);
    CHECK(ran[0] == 0 && outcome.failed == 1);
    check_text_and_flag(OPENAI, "weather", "{\"city\":\"```\"}", "{\"city\":\"```\"}", 0);
    toolcore_registry_deinit(tools);
}

/* Conversions are made only for a tool that asks for them, only of what does not fit, and each is told. */

static char changes[1024];

static void changed(void *user_data, toolcore_str_t tool, toolcore_str_t path, toolcore_str_t rule)
{
    size_t at = strlen(changes);
    CHECK(user_data == changes);
    snprintf(changes + at, sizeof changes - at, "%s%.*s %.*s %.*s", at > 0 ? "; " : "", (int)tool.len, tool.ptr,
             (int)path.len, path.ptr, (int)rule.len, rule.ptr);
}

#define PLAIN                                                                                                 \
    "{\"type\":\"object\",\"properties\":{\"i\":{\"type\":\"integer\"},\"n\":{\"type\":\"number\"},"                       \
    "\"b\":{\"type\":\"boolean\"},\"s\":{\"type\":\"string\"},\"a\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}},"  \
    "\"o\":{\"type\":\"object\"}}}"

static void start_coercing(int coerce)
{
    toolcore_tool_t tool = TOOLCORE_TOOL_INIT;
    start(0);
    tool.name = text("f");
    tool.schema = text(PLAIN);
    tool.run = echo;
    tool.flags = coerce ? TOOLCORE_TOOL_COERCE : 0;
    CHECK_STATUS(toolcore_registry_add(tools, &tool, NULL), TOOLCORE_OK);
    opts.changed = changed;
    opts.user_data = changes;
    changes[0] = 0;
}

TEST(arguments_are_converted_only_for_a_tool_that_asks_for_it)
{
    /* A property's value, and what it becomes; NULL: it is refused all the same. */
    static const struct { const char *name, *value, *expected; } rows[] = {
        { "i", "\"5\"", "5" },        { "i", "\" 5 \"", "5" },        { "i", "\"+5\"", "5" },      { "i", "\"-5\"", "-5" },
        { "i", "5.5", NULL },         { "i", "\"\"", NULL },          { "i", "\"0x10\"", NULL },   { "i", "\"5.5\"", NULL },
        { "n", "\"5.5\"", "5.5" },    { "n", "\"NaN\"", NULL },       { "n", "\"Infinity\"", NULL }, { "n", "\"inf\"", NULL },
        { "b", "0", "false" },        { "b", "1", "true" },           { "b", "\"true\"", "true" },   { "b", "\"FALSE\"", "false" },
        { "b", "\"Yes\"", "true" },   { "b", "\"no\"", "false" },     { "b", "\"on\"", "true" },     { "b", "\"OFF\"", "false" },
        { "b", "\"1\"", "true" },     { "b", "\"0\"", "false" },      { "b", "2", NULL },            { "b", "\"perhaps\"", NULL },
        { "s", "5", NULL },           { "s", "true", NULL },          { "a", "\"[1,2]\"", "[1,2]" },  { "a", "\"[1,\"", NULL },
        { "a", "7", NULL },           { "o", "\"{\\\"k\\\":1}\"", "{\"k\":1}" }, { "o", "\"[]\"", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char arguments[128], expected[128], path[16];
        snprintf(arguments, sizeof arguments, "{\"%s\":%s}", rows[i].name, rows[i].value);
        snprintf(expected, sizeof expected, "{\"%s\":%s}", rows[i].name, rows[i].expected == NULL ? "" : rows[i].expected);
        snprintf(path, sizeof path, "f /%s ", rows[i].name);
        AT(arguments);
        start_coercing(0);
        CHECK_STATUS(answer(OPENAI, one_call(OPENAI, "f", arguments)), TOOLCORE_OK);
        CHECK(outcome.failed == 1 && ran[0] == 0 && changes[0] == 0);
        toolcore_registry_deinit(tools);
        start_coercing(1);
        if (rows[i].expected != NULL) {
            check_text_and_flag(OPENAI, "f", arguments, expected, 0);
            CHECK(strncmp(changes, path, strlen(path)) == 0 && strchr(changes, ';') == NULL);
        } else {
            CHECK_STATUS(answer(OPENAI, one_call(OPENAI, "f", arguments)), TOOLCORE_OK);
            CHECK(outcome.failed == 1 && ran[0] == 0);
        }
        toolcore_registry_deinit(tools);
    }
}

TEST(what_fits_is_left_as_it_is)
{
    static const char fits[] = "{\"i\":5.0,\"n\":1e3,\"b\":true,\"s\":\"01234\",\"a\":[1],\"o\":{},\"other\":\"7\"}";
    start_coercing(1);
    check_text_and_flag(ANTHROPIC, "f", fits, fits, 0);
    CHECK(changes[0] == 0);
    check_text_and_flag(ANTHROPIC, "f", "{\"i\":\"5\",\"s\":\"01234\"}", "{\"i\":5,\"s\":\"01234\"}", 0);
    CHECK_TEXT(changes, strlen(changes), "f /i integer-from-string");
    toolcore_registry_deinit(tools);
}

TEST(a_null_for_an_optional_property_is_absent_and_defaults_are_filled_in)
{
    toolcore_tool_t tool = TOOLCORE_TOOL_INIT;
    start(0);
    tool.name = text("f");
    tool.schema = text("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},\"d\":{\"type\":\"integer\",\"default\":7},"
                       "\"r\":{\"type\":\"string\"}},\"required\":[\"r\"],\"additionalProperties\":false}");
    tool.run = echo;
    tool.flags = TOOLCORE_TOOL_COERCE;
    CHECK_STATUS(toolcore_registry_add(tools, &tool, NULL), TOOLCORE_OK);
    check_text_and_flag(OPENAI, "f", "{\"a\":null,\"r\":\"x\"}", "{\"r\":\"x\",\"d\":7}", 0);
    /* One that is required is not absent but wrong. */
    CHECK_STATUS(answer(OPENAI, one_call(OPENAI, "f", "{\"r\":null}")), TOOLCORE_OK);
    CHECK(outcome.failed == 1 && contains(buf, len, "/r: expected string, got null"));
    toolcore_registry_deinit(tools);
}

int main(void)
{
    RUN(repairs_are_made_only_when_asked_for);
    RUN(arguments_are_converted_only_for_a_tool_that_asks_for_it);
    RUN(what_fits_is_left_as_it_is);
    RUN(a_null_for_an_optional_property_is_absent_and_defaults_are_filled_in);
    return check_end();
}

/* A registry, a few tools, a clock that stands still, and a turn answered: what the programs about toolcore_answer
 * share. */
#ifndef TURN_H
#define TURN_H

#include "check.h"

#define OPENAI TOOLCORE_DIALECT_OPENAI_CHAT
#define ANTHROPIC TOOLCORE_DIALECT_ANTHROPIC
#define MCP TOOLCORE_DIALECT_MCP

/* The time is what a claim says. */

static uint64_t now;

static inline uint64_t now_ms(void *user_data)
{
    (void)user_data;
    return now;
}

static const toolcore_clock_t manual = { sizeof(toolcore_clock_t), NULL, now_ms };

/* The tools. */

static char ran[512];

static inline void note(const char *what)
{
    size_t len = strlen(ran);
    snprintf(ran + len, sizeof ran - len, "%s%s", len > 0 ? " " : "", what);
}

static inline void note_call(const toolcore_call_t *call)
{
    char name[64];
    toolcore_str_t given = toolcore_call_name(call);
    snprintf(name, sizeof name, "%.*s", (int)given.len, given.ptr);
    note(name);
}

static inline toolcore_status_t add_numbers(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    int64_t a, b;
    toolcore_status_t status;
    char sum[32];
    (void)user_data;
    note_call(call);
    if ((status = toolcore_call_get_i64(call, text("a"), &a)) != TOOLCORE_OK ||
        (status = toolcore_call_get_i64(call, text("b"), &b)) != TOOLCORE_OK)
        return status;
    snprintf(sum, sizeof sum, "%d", (int)(a + b));
    return toolcore_result_text(result, text(sum));
}

static inline toolcore_status_t echo(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    (void)user_data;
    note_call(call);
    return toolcore_result_json(result, toolcore_call_arguments(call));
}

/* Takes as long as user_data says. */
static inline toolcore_status_t slow(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    note_call(call);
    now += *(const uint64_t *)user_data;
    return toolcore_result_text(result, text("too late, or not"));
}

static inline toolcore_status_t say(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    note_call(call);
    return toolcore_result_text(result, text(user_data));
}

static inline toolcore_status_t fail(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    note_call(call);
    CHECK_STATUS(toolcore_result_error(result, text(user_data)), TOOLCORE_OK);
    return TOOLCORE_ERR_TOOL;
}

/* A registry, one for each claim. */

static toolcore_registry_t *tools;
static toolcore_answer_opts_t opts;

static inline void start(uint64_t timeout_ms)
{
    toolcore_registry_opts_t registry_opts = TOOLCORE_REGISTRY_OPTS_INIT;
    toolcore_answer_opts_t answer_opts = TOOLCORE_ANSWER_OPTS_INIT;
    registry_opts.timeout_ms = timeout_ms;
    size_t need = toolcore_registry_mem_size(&registry_opts);
    CHECK_STATUS(toolcore_registry_init(&registry_opts, block(need), need, &tools), TOOLCORE_OK);
    opts = answer_opts;
    opts.clock = &manual;
    now = 1000;
}

static inline void add_tool(const char *name, const char *schema, toolcore_run_fn run, void *user_data, uint64_t timeout_ms)
{
    toolcore_tool_t tool = TOOLCORE_TOOL_INIT;
    tool.name = text(name);
    tool.schema = text(schema);
    tool.run = run;
    tool.user_data = user_data;
    tool.timeout_ms = timeout_ms;
    CHECK_STATUS(toolcore_registry_add(tools, &tool, NULL), TOOLCORE_OK);
}

#define TWO_INTEGERS \
    "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"integer\"}}," \
    "\"required\":[\"a\",\"b\"],\"additionalProperties\":false}"
#define ANYTHING "{\"type\":\"object\"}"

static char buf[32768];
static size_t len;
static toolcore_outcome_t outcome;
static toolcore_detail_t why;

static inline toolcore_status_t answer(uint32_t dialect, const char *reply)
{
    static char scratch[32768];
    toolcore_outcome_t fresh = TOOLCORE_OUTCOME_INIT;
    toolcore_detail_t fresh_why = TOOLCORE_DETAIL_INIT;
    outcome = fresh;
    why = fresh_why;
    len = 9999;
    ran[0] = 0;
    return toolcore_answer(tools, dialect, text(reply), &opts, scratch, sizeof scratch, buf, sizeof buf, &len, &outcome,
                           &why);
}

/* Answers, and compares the whole output. */
static inline void check_answer(uint32_t dialect, const char *reply, const char *expected)
{
    CHECK_STATUS(answer(dialect, reply), TOOLCORE_OK);
    CHECK_TEXT(buf, len, expected);
}

/* A reply of one call, its arguments a JSON text. */
static inline const char *one_call(uint32_t dialect, const char *name, const char *arguments)
{
    static char reply[16384];
    if (dialect == OPENAI) {
        toolcore_json_writer_t writer;
        size_t out;
        static char quoted[8192];
        CHECK_STATUS(toolcore_json_writer_init(&writer, quoted, sizeof quoted), TOOLCORE_OK);
        CHECK_STATUS(toolcore_json_writer_string(&writer, text(arguments)), TOOLCORE_OK);
        CHECK_STATUS(toolcore_json_writer_end(&writer, &out), TOOLCORE_OK);
        snprintf(reply, sizeof reply,
                 "{\"choices\":[{\"index\":0,\"finish_reason\":\"tool_calls\",\"message\":{\"role\":\"assistant\","
                 "\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"%s\","
                 "\"arguments\":%s}}]}}]}",
                 name, quoted);
    } else if (dialect == ANTHROPIC) {
        snprintf(reply, sizeof reply,
                 "{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":\"%s\",\"input\":%s}],"
                 "\"stop_reason\":\"tool_use\"}",
                 name, arguments);
    } else {
        snprintf(reply, sizeof reply,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\",\"arguments\":%s}}",
                 name, arguments);
    }
    return reply;
}

/* Answers one call and compares the text that the model reads, and the failure flag. */
static inline void check_text_and_flag(uint32_t dialect, const char *name, const char *arguments, const char *expected, int failed)
{
    char decoded[8192];
    toolcore_str_t json, got, flag;
    size_t out = 0;
    CHECK_STATUS(answer(dialect, one_call(dialect, name, arguments)), TOOLCORE_OK);
    json = (toolcore_str_t){ buf, len };
    CHECK_STATUS(toolcore_json_get(json,
                                   text(dialect == OPENAI      ? "/0/content"
                                        : dialect == ANTHROPIC ? "/0/content/0/content"
                                                               : "/content/0/text"),
                                   &got),
                 TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_string(got, decoded, sizeof decoded, &out), TOOLCORE_OK);
    CHECK_TEXT(decoded, out, expected);
    CHECK_SIZE(outcome.failed, failed);
    if (dialect == ANTHROPIC || dialect == MCP) {
        toolcore_status_t status =
            toolcore_json_get(json, text(dialect == MCP ? "/isError" : "/0/content/0/is_error"), &flag);
        if (failed) {
            CHECK_STATUS(status, TOOLCORE_OK);
            CHECK_TEXT(flag.ptr, flag.len, "true");
        } else {
            CHECK(status == TOOLCORE_ERR_NOT_FOUND || (flag.len == 5 && memcmp(flag.ptr, "false", 5) == 0));
        }
    }
}

#endif

/* One object of each kind, for the programs about what a host may get wrong. */
#ifndef WORLD_H
#define WORLD_H

#include "check.h"

static char registry_mem[16384], reply_mem[4096], result_mem[4096], schema_mem[4096], context_mem[16384];
static char inflight_mem[4096];
static char scratch[8192], buf[8192];
static toolcore_registry_t *tools;
static toolcore_reply_t *reply;
static toolcore_result_t *result;
static toolcore_schema_t *schema;
static toolcore_context_t *context;
static toolcore_inflight_t *inflight;
static toolcore_tool_call_t call;
static int runs;

#define REPLY \
    "{\"content\":[{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"echo\",\"input\":{\"s\":\"x\"}}]," \
    "\"stop_reason\":\"tool_use\"}"
#define DIALECT TOOLCORE_DIALECT_ANTHROPIC
#define BAD ((toolcore_str_t){ NULL, 3 })

static inline toolcore_status_t echo(void *user_data, const toolcore_call_t *given, toolcore_result_t *out)
{
    (void)user_data;
    runs++;
    return toolcore_result_json(out, toolcore_call_arguments(given));
}

static inline uint64_t now_ms(void *user_data)
{
    (void)user_data;
    return 5;
}

static inline toolcore_tool_t echo_tool(void)
{
    toolcore_tool_t tool = TOOLCORE_TOOL_INIT;
    tool.name = TOOLCORE_STR("echo");
    tool.schema = TOOLCORE_STR("{\"type\":\"object\"}");
    tool.run = echo;
    return tool;
}

static inline void set_up(void)
{
    toolcore_tool_t tool = echo_tool();
    toolcore_context_opts_t opts = TOOLCORE_CONTEXT_OPTS_INIT;
    toolcore_block_t block_init = TOOLCORE_BLOCK_INIT;
    toolcore_tool_call_t call_init = TOOLCORE_TOOL_CALL_INIT;
    opts.max_blocks = 64;
    block_init.content = TOOLCORE_STR("words");
    call = call_init;
    CHECK_STATUS(toolcore_registry_init(NULL, registry_mem, sizeof registry_mem, &tools), TOOLCORE_OK);
    CHECK_STATUS(toolcore_registry_add(tools, &tool, NULL), TOOLCORE_OK);
    CHECK_STATUS(toolcore_reply_parse(DIALECT, TOOLCORE_STR(REPLY), NULL, reply_mem, sizeof reply_mem, &reply, NULL),
                 TOOLCORE_OK);
    CHECK_STATUS(toolcore_reply_call(reply, 0, &call), TOOLCORE_OK);
    CHECK_STATUS(toolcore_result_init(result_mem, sizeof result_mem, &result), TOOLCORE_OK);
    CHECK_STATUS(toolcore_result_text(result, TOOLCORE_STR("fine")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_schema_init(TOOLCORE_STR("{\"type\":\"integer\"}"), NULL, schema_mem, sizeof schema_mem,
                                      &schema, NULL),
                 TOOLCORE_OK);
    CHECK_STATUS(toolcore_context_init(&opts, context_mem, sizeof context_mem, &context), TOOLCORE_OK);
    CHECK_STATUS(toolcore_context_push(context, &block_init), TOOLCORE_OK);
    CHECK_STATUS(toolcore_inflight_init(NULL, inflight_mem, sizeof inflight_mem, &inflight), TOOLCORE_OK);
}

static inline void tear_down(void)
{
    toolcore_inflight_deinit(inflight);
    toolcore_context_deinit(context);
    toolcore_schema_deinit(schema);
    toolcore_result_deinit(result);
    toolcore_reply_deinit(reply);
    toolcore_registry_deinit(tools);
}

static inline toolcore_call_result_t call_result(void)
{
    toolcore_call_result_t answered = TOOLCORE_CALL_RESULT_INIT;
    answered.id = call.id;
    answered.result = result;
    return answered;
}

/* Dispatches a call; the tool runs exactly if it succeeds. */
static inline toolcore_status_t dispatch(const toolcore_tool_call_t *given, const toolcore_dispatch_opts_t *opts)
{
    toolcore_result_t *made;
    runs = 0;
    toolcore_status_t status = toolcore_dispatch(tools, given, opts, scratch, sizeof scratch, &made, NULL);
    CHECK_SIZE(runs, status == TOOLCORE_OK);
    CHECK((status == TOOLCORE_OK) == (made != NULL));
    toolcore_result_deinit(made);
    return status;
}

#define INVALID(call_of_it) CHECK_STATUS(call_of_it, TOOLCORE_ERR_INVALID_ARGUMENT)

#endif

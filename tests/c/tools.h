/* A registry and plain tools: what the programs about registration share. */
#ifndef TOOLS_H
#define TOOLS_H

#include "check.h"

/* Counts in the int that it is given. */
static inline void drop(void *user_data)
{
    ++*(int *)user_data;
}

static inline toolcore_status_t run(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    (void)user_data;
    (void)call;
    return toolcore_result_text(result, TOOLCORE_STR("done"));
}

static inline toolcore_registry_t *registry(size_t max_tools, size_t pool_bytes, uint32_t collision)
{
    toolcore_registry_opts_t opts = TOOLCORE_REGISTRY_OPTS_INIT;
    toolcore_registry_t *tools = NULL;
    opts.max_tools = max_tools;
    opts.pool_bytes = pool_bytes;
    opts.collision = collision;
    size_t need = toolcore_registry_mem_size(&opts);
    CHECK_STATUS(toolcore_registry_init(&opts, block(need), need, &tools), TOOLCORE_OK);
    CHECK(tools != NULL);
    return tools;
}

static inline toolcore_tool_t tool(const char *name, int *counter)
{
    toolcore_tool_t tool = TOOLCORE_TOOL_INIT;
    tool.name = text(name);
    tool.description = text("A tool.");
    tool.run = run;
    tool.user_data = counter;
    tool.drop = counter == NULL ? NULL : drop;
    return tool;
}

static inline void add(toolcore_registry_t *tools, const char *name)
{
    toolcore_tool_t added = tool(name, NULL);
    CHECK_STATUS(toolcore_registry_add(tools, &added, NULL), TOOLCORE_OK);
}

static inline void check_names(const toolcore_registry_t *tools, const char *expected)
{
    char names[1024] = "";
    size_t at = 0;
    for (size_t i = 0; i < toolcore_registry_len(tools); i++) {
        toolcore_str_t name;
        CHECK_STATUS(toolcore_registry_name(tools, i, &name), TOOLCORE_OK);
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%.*s", i > 0 ? " " : "", (int)name.len, name.ptr);
    }
    CHECK_TEXT(names, strlen(names), expected);
}

#endif

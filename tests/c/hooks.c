/* Hooks: what they see, rewrite, block and replace. */
#include "turn.h"

/* How long a slow tool takes. */
static uint64_t took;

/* Hooks. */

static toolcore_status_t tells(void *user_data, toolcore_draft_t *draft)
{
    char line[64];
    toolcore_str_t name = toolcore_draft_name(draft), id = toolcore_draft_id(draft);
    snprintf(line, sizeof line, "%s:%.*s#%.*s", (const char *)user_data, (int)name.len, name.ptr, (int)id.len, id.ptr);
    note(line);
    return TOOLCORE_OK;
}
static void tells_after(void *user_data, const toolcore_tool_call_t *call, toolcore_result_t *result)
{
    char line[64];
    snprintf(line, sizeof line, "%s:%.*s:%s", (const char *)user_data, (int)call->name.len, call->name.ptr,
             toolcore_outcome_name(toolcore_result_kind(result)));
    note(line);
}
static toolcore_status_t renames(void *user_data, toolcore_draft_t *draft)
{
    (void)user_data;
    return toolcore_draft_set_name(draft, text("echo"));
}
static toolcore_status_t rewrites(void *user_data, toolcore_draft_t *draft)
{
    return toolcore_draft_set_arguments(draft, text(user_data));
}
static toolcore_status_t blocks_with_words(void *user_data, toolcore_draft_t *draft)
{
    CHECK_STATUS(toolcore_draft_block(draft, text(user_data)), TOOLCORE_OK);
    return TOOLCORE_OK;
}
static toolcore_status_t blocks(void *user_data, toolcore_draft_t *draft)
{
    (void)user_data;
    (void)draft;
    return TOOLCORE_ERR_TOOL;
}
static void replaces(void *user_data, const toolcore_tool_call_t *call, toolcore_result_t *result)
{
    (void)call;
    CHECK_STATUS(toolcore_result_clear(result), TOOLCORE_OK);
    CHECK_STATUS(toolcore_result_text(result, text(user_data)), TOOLCORE_OK);
}

static void add_hook(toolcore_status_t (*before)(void *, toolcore_draft_t *),
                     void (*after)(void *, const toolcore_tool_call_t *, toolcore_result_t *), void *user_data)
{
    toolcore_hook_t hook = TOOLCORE_HOOK_INIT;
    hook.before = before;
    hook.after = after;
    hook.user_data = user_data;
    CHECK_STATUS(toolcore_registry_add_hook(tools, &hook), TOOLCORE_OK);
}

TEST(hooks_run_in_order_around_the_tool)
{
    start(0);
    add_tool("echo", ANYTHING, echo, NULL, 0);
    add_tool("broken", ANYTHING, fail, "no", 0);
    add_hook(tells, NULL, "one");
    add_hook(NULL, tells_after, "two");
    add_hook(tells, tells_after, "three");
    check_text_and_flag(OPENAI, "echo", "{\"a\":1}", "{\"a\":1}", 0);
    CHECK(strcmp(ran, "one:echo#c1 three:echo#c1 echo two:echo:answered three:echo:answered") == 0);
    /* The hook after sees a failure that the tool reported, but not a call that never reached its tool. */
    check_text_and_flag(OPENAI, "broken", "{}", "Tool error: no", 1);
    CHECK(strcmp(ran, "one:broken#c1 three:broken#c1 broken two:broken:tool_failed three:broken:tool_failed") == 0);
    CHECK_STATUS(answer(OPENAI, one_call(OPENAI, "echo", "[]")), TOOLCORE_OK);
    CHECK(strcmp(ran, "one:echo#c1 three:echo#c1") == 0);
    CHECK_STATUS(answer(OPENAI, one_call(OPENAI, "none", "{}")), TOOLCORE_OK);
    CHECK(strcmp(ran, "one:none#c1 three:none#c1") == 0);
    toolcore_registry_deinit(tools);
}

TEST(a_hook_after_is_not_called_after_a_timeout)
{
    start(0);
    took = 200;
    add_tool("slow", ANYTHING, slow, &took, 100);
    add_hook(NULL, tells_after, "after");
    check_text_and_flag(OPENAI, "slow", "{}", "[TOOL_TIMEOUT] Tool 'slow' timed out after 0.1s", 1);
    CHECK(strcmp(ran, "slow") == 0);
    toolcore_registry_deinit(tools);
}

TEST(a_hook_may_call_another_tool_instead)
{
    start(0);
    add_tool("echo", ANYTHING, echo, NULL, 0);
    add_hook(renames, NULL, NULL);
    check_text_and_flag(OPENAI, "none", "{\"a\":1}", "{\"a\":1}", 0);
    CHECK(strcmp(ran, "echo") == 0);
    toolcore_registry_deinit(tools);
}

TEST(arguments_of_a_hook_are_checked_like_any_others)
{
    start(0);
    add_tool("add", TWO_INTEGERS, add_numbers, NULL, 0);
    add_hook(rewrites, NULL, "{\"a\":20,\"b\":22}");
    check_text_and_flag(OPENAI, "add", "{\"a\":\"x\"}", "42", 0);
    toolcore_registry_deinit(tools);
    start(0);
    add_tool("add", TWO_INTEGERS, add_numbers, NULL, 0);
    add_hook(rewrites, NULL, "{\"a\":20}");
    check_text_and_flag(OPENAI, "add", "{\"a\":1,\"b\":2}", "Tool error: Invalid arguments for 'add': /b: required", 1);
    CHECK(ran[0] == 0);
    toolcore_registry_deinit(tools);
}

TEST(a_hook_may_block_a_call_with_or_without_words)
{
    static char shouting[400];
    memset(shouting, '!', sizeof shouting - 1);
    start(0);
    add_tool("echo", ANYTHING, echo, NULL, 0);
    add_hook(blocks_with_words, NULL, "Not at night.");
    check_text_and_flag(ANTHROPIC, "echo", "{}", "Not at night.", 1);
    CHECK(ran[0] == 0);
    toolcore_registry_deinit(tools);
    start(0);
    add_tool("echo", ANYTHING, echo, NULL, 0);
    add_hook(blocks, NULL, NULL);
    check_text_and_flag(ANTHROPIC, "echo", "{}", "Tool call 'echo' blocked by pre-hook.", 1);
    CHECK(ran[0] == 0);
    toolcore_registry_deinit(tools);
    start(0);
    add_tool("echo", ANYTHING, echo, NULL, 0);
    add_hook(blocks_with_words, NULL, shouting);
    CHECK_STATUS(answer(ANTHROPIC, one_call(ANTHROPIC, "echo", "{}")), TOOLCORE_OK);
    CHECK(contains(buf, len, "!!!!") && len < 400 && ran[0] == 0);
    toolcore_registry_deinit(tools);
}

TEST(a_hook_may_replace_a_result_and_its_failure)
{
    start(0);
    add_tool("broken", ANYTHING, fail, "secret path", 0);
    add_hook(NULL, replaces, "It did not work.");
    check_text_and_flag(ANTHROPIC, "broken", "{}", "It did not work.", 0);
    CHECK(!contains(buf, len, "secret"));
    toolcore_registry_deinit(tools);
}

/* A text that lies in the result is not appended to it, and neither is one that lay there. */
static void copies_itself(void *user_data, const toolcore_tool_call_t *call, toolcore_result_t *result)
{
    char copy[64];
    toolcore_part_t part = TOOLCORE_PART_INIT;
    (void)user_data;
    (void)call;
    CHECK_STATUS(toolcore_result_part(result, 0, &part), TOOLCORE_OK);
    memcpy(copy, part.text.ptr, part.text.len);
    CHECK_STATUS(toolcore_result_error(result, part.text), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_result_text(result, part.text), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_result_json(result, part.text), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_result_link(result, text("x"), part.text), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK(toolcore_result_len(result) == 1 && !toolcore_result_failed(result));
    CHECK_STATUS(toolcore_result_clear(result), TOOLCORE_OK);
    CHECK_STATUS(toolcore_result_text(result, part.text), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_result_image(result, text("image/png"), part.text.ptr, part.text.len),
                 TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_SIZE(toolcore_result_len(result), 0);
    CHECK_STATUS(toolcore_result_error(result, (toolcore_str_t){ copy, part.text.len }), TOOLCORE_OK);
}

TEST(a_hook_copies_what_it_takes_over_from_a_result)
{
    start(0);
    add_tool("echo", ANYTHING, echo, NULL, 0);
    add_hook(NULL, copies_itself, NULL);
    check_text_and_flag(ANTHROPIC, "echo", "{\"a\":1}", "Tool error: {\"a\":1}", 1);
    toolcore_registry_deinit(tools);
}

int main(void)
{
    RUN(hooks_run_in_order_around_the_tool);
    RUN(a_hook_after_is_not_called_after_a_timeout);
    RUN(a_hook_may_call_another_tool_instead);
    RUN(arguments_of_a_hook_are_checked_like_any_others);
    RUN(a_hook_may_block_a_call_with_or_without_words);
    RUN(a_hook_may_replace_a_result_and_its_failure);
    RUN(a_hook_copies_what_it_takes_over_from_a_result);
    return check_end();
}

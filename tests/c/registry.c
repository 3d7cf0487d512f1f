/* The registry: names, their order, and the memory that it lives in. */
#include "tools.h"

/* Names. */

TEST(a_name_is_1_to_128_of_letters_digits_underscore_dot_and_dash)
{
    toolcore_registry_t *tools = registry(4, 0, 0);
    char *longest = block(129);
    memset(longest, 'z', 128);
    longest[128] = 0;
    add(tools, "a");
    add(tools, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-");
    add(tools, longest);
    add(tools, "-._");
    CHECK_SIZE(toolcore_registry_len(tools), 4);
    toolcore_registry_deinit(tools);
}

TEST(every_other_byte_in_a_name_is_refused)
{
    toolcore_registry_t *tools = registry(256, 0, 0);
    for (int byte = 0; byte < 256; byte++) {
        char name[3] = { 'a', (char)byte, 'b' };
        toolcore_tool_t added = tool("x", NULL);
        added.name = (toolcore_str_t){ name, 3 };
        int allowed = (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') ||
                      byte == '_' || byte == '.' || byte == '-';
        toolcore_status_t expected = allowed ? TOOLCORE_OK
                                     : byte < 0x80 ? TOOLCORE_ERR_BAD_NAME
                                                   : TOOLCORE_ERR_INVALID_UTF8;
        CHECK_STATUS(toolcore_registry_add(tools, &added, NULL), expected);
    }
    CHECK_SIZE(toolcore_registry_len(tools), 26 + 26 + 10 + 3);
    toolcore_tool_t added = tool("caf\xC3\xA9", NULL);
    CHECK_STATUS(toolcore_registry_add(tools, &added, NULL), TOOLCORE_ERR_BAD_NAME);
    toolcore_registry_deinit(tools);
}

TEST(names_are_compared_exactly)
{
    toolcore_registry_t *tools = registry(4, 0, 0);
    size_t index = 77;
    add(tools, "Get");
    add(tools, "get");
    add(tools, "ge");
    CHECK_STATUS(toolcore_registry_find(tools, text("get"), &index), TOOLCORE_OK);
    CHECK_SIZE(index, 1);
    CHECK_STATUS(toolcore_registry_find(tools, text("get "), &index), TOOLCORE_ERR_NOT_FOUND);
    CHECK_STATUS(toolcore_registry_find(tools, text(""), &index), TOOLCORE_ERR_NOT_FOUND);
    CHECK_STATUS(toolcore_registry_find(tools, text("\xFF"), &index), TOOLCORE_ERR_INVALID_UTF8);
    CHECK_SIZE(index, 1);
    toolcore_str_t name = text("before");
    CHECK_STATUS(toolcore_registry_name(tools, 3, &name), TOOLCORE_ERR_NOT_FOUND);
    CHECK_SIZE(name.len, 0);
    CHECK_STATUS(toolcore_registry_name(tools, SIZE_MAX, &name), TOOLCORE_ERR_NOT_FOUND);
    toolcore_registry_deinit(tools);
}

TEST(removal_keeps_the_order_of_the_others)
{
    toolcore_registry_t *tools = registry(5, 0, 0);
    size_t index = 0;
    static const char *const names[] = { "a", "b", "c", "d", "e" };
    for (size_t i = 0; i < 5; i++)
        add(tools, names[i]);
    CHECK_STATUS(toolcore_registry_remove(tools, text("b")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_registry_remove(tools, text("d")), TOOLCORE_OK);
    check_names(tools, "a c e");
    CHECK_STATUS(toolcore_registry_find(tools, text("e"), &index), TOOLCORE_OK);
    CHECK_SIZE(index, 2);
    add(tools, "b");
    check_names(tools, "a c e b");
    toolcore_registry_deinit(tools);
}

/* Memory. */

TEST(strings_are_copied_unless_they_are_said_to_be_static)
{
    static const char words[] = "A description of some length, so that it shows in the pool's size.";
    size_t used[2], total, len;
    char buf[1024], *name = block(5), *description = block(sizeof words - 1);
    toolcore_registry_t *tools = registry(2, 0, 0);
    memcpy(name, "clock", 5);
    memcpy(description, words, sizeof words - 1);
    toolcore_tool_t added = tool("", NULL);
    added.name = (toolcore_str_t){ name, 5 };
    added.description = (toolcore_str_t){ description, sizeof words - 1 };
    CHECK_STATUS(toolcore_registry_add(tools, &added, NULL), TOOLCORE_OK);
    memset(name, '!', 5);
    memset(description, '!', sizeof words - 1);
    CHECK_STATUS(toolcore_tools_render(tools, TOOLCORE_DIALECT_MCP, NULL, buf, sizeof buf, &len, NULL), TOOLCORE_OK);
    CHECK(contains(buf, len, "\"name\":\"clock\"") && contains(buf, len, words) && !contains(buf, len, "!"));
    CHECK_STATUS(toolcore_registry_pool(tools, &used[0], &total), TOOLCORE_OK);
    CHECK(used[0] >= sizeof words - 1 + 5 && used[0] <= total);

    CHECK_STATUS(toolcore_registry_remove(tools, text("clock")), TOOLCORE_OK);
    added.name = text("clock");
    added.description = text(words);
    added.flags = TOOLCORE_TOOL_STATIC;
    CHECK_STATUS(toolcore_registry_add(tools, &added, NULL), TOOLCORE_OK);
    CHECK_STATUS(toolcore_registry_pool(tools, &used[1], &total), TOOLCORE_OK);
    CHECK(used[1] + sizeof words - 1 + 5 <= used[0]);
    CHECK_STATUS(toolcore_tools_render(tools, TOOLCORE_DIALECT_MCP, NULL, buf, sizeof buf, &len, NULL), TOOLCORE_OK);
    CHECK(contains(buf, len, words));
    toolcore_registry_deinit(tools);
}

TEST(adding_and_removing_for_ever_needs_no_more_memory)
{
    size_t used, total, before;
    toolcore_registry_t *tools = registry(3, 1024, 0);
    add(tools, "stays");
    CHECK_STATUS(toolcore_registry_pool(tools, &before, &total), TOOLCORE_OK);
    for (int i = 0; i < 1000; i++) {
        int counter = 0;
        toolcore_tool_t added = tool(i % 2 == 0 ? "even" : "odd", &counter);
        added.schema = text("{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}}}");
        CHECK_STATUS(toolcore_registry_add(tools, &added, NULL), TOOLCORE_OK);
        CHECK_STATUS(toolcore_registry_remove(tools, added.name), TOOLCORE_OK);
        CHECK_SIZE(counter, 1);
    }
    CHECK_STATUS(toolcore_registry_pool(tools, &used, &total), TOOLCORE_OK);
    CHECK_SIZE(used, before);
    check_names(tools, "stays");
    toolcore_registry_deinit(tools);
}

TEST(a_pool_that_is_too_small_names_what_would_do)
{
    toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
    toolcore_registry_t *tools = registry(1, 1, 0);
    toolcore_tool_t added = tool("name", NULL);
    char *words = block(4000);
    added.description = (toolcore_str_t){ memset(words, 'w', 4000), 4000 };
    CHECK_STATUS(toolcore_registry_add(tools, &added, &why), TOOLCORE_ERR_NO_SPACE);
    CHECK(why.need >= 4004);
    /* What is named is the least; one step further on it is enough. */
    for (int steps = 0; steps < 3 && why.status == TOOLCORE_ERR_NO_SPACE; steps++) {
        size_t need = why.need;
        toolcore_registry_deinit(tools);
        tools = registry(1, need, 0);
        (void)toolcore_registry_add(tools, &added, &why);
        CHECK(why.status == TOOLCORE_OK || why.need > need);
    }
    CHECK(why.status == TOOLCORE_OK && why.message_len == 0 && why.message[0] == 0 && why.need == 0);
    CHECK(why.offset == TOOLCORE_NO_OFFSET);
    toolcore_registry_deinit(tools);
}

TEST(init_needs_exactly_what_mem_size_says_at_any_alignment)
{
    toolcore_registry_opts_t opts = TOOLCORE_REGISTRY_OPTS_INIT;
    opts.max_tools = 2;
    opts.pool_bytes = 200;
    size_t need = toolcore_registry_mem_size(&opts);
    for (size_t offset = 0; offset < 16; offset++) {
        char *mem = (char *)block(need + offset) + offset;
        toolcore_registry_t *tools = NULL;
        CHECK_STATUS(toolcore_registry_init(&opts, mem, need, &tools), TOOLCORE_OK);
        add(tools, "a");
        add(tools, "b");
        check_names(tools, "a b");
        toolcore_registry_deinit(tools);
    }
    for (size_t len = 0; len < need; len++) {
        toolcore_registry_t *tools = (toolcore_registry_t *)&opts;
        void *mem = malloc(len > 0 ? len : 1);
        CHECK_STATUS(toolcore_registry_init(&opts, mem, len, &tools), TOOLCORE_ERR_NO_SPACE);
        CHECK(tools == NULL);
        free(mem);
    }
}

TEST(mem_size_follows_the_options)
{
    toolcore_registry_opts_t opts = TOOLCORE_REGISTRY_OPTS_INIT;
    size_t standard = toolcore_registry_mem_size(NULL);
    CHECK_SIZE(toolcore_registry_mem_size(&opts), standard);
    opts.max_tools = 16;
    opts.pool_bytes = 16 * 512;
    CHECK_SIZE(toolcore_registry_mem_size(&opts), standard);
    opts.pool_bytes += 1000;
    CHECK(toolcore_registry_mem_size(&opts) >= standard + 1000 && toolcore_registry_mem_size(&opts) < standard + 1064);
    opts.max_tools = 17;
    CHECK(toolcore_registry_mem_size(&opts) > standard + 1000);
    opts.max_tools = SIZE_MAX;
    CHECK_SIZE(toolcore_registry_mem_size(&opts), SIZE_MAX);
    opts.max_tools = 1;
    opts.pool_bytes = SIZE_MAX;
    CHECK_SIZE(toolcore_registry_mem_size(&opts), SIZE_MAX);
    opts.pool_bytes = 0;
    opts.collision = 7;
    CHECK_SIZE(toolcore_registry_mem_size(&opts), 0);
    opts.collision = 0;
    opts.flags = 2;
    CHECK_SIZE(toolcore_registry_mem_size(&opts), 0);
    opts.flags = 0;
    opts.struct_size = 0;
    CHECK_SIZE(toolcore_registry_mem_size(&opts), 0);
}

TEST(memory_beyond_what_is_asked_for_is_used_for_the_pool)
{
    toolcore_registry_opts_t opts = TOOLCORE_REGISTRY_OPTS_INIT;
    size_t used, total[2];
    opts.max_tools = 2;
    size_t need = toolcore_registry_mem_size(&opts);
    for (size_t i = 0; i < 2; i++) {
        toolcore_registry_t *tools = NULL;
        CHECK_STATUS(toolcore_registry_init(&opts, block(need + i * 1000), need + i * 1000, &tools), TOOLCORE_OK);
        CHECK_STATUS(toolcore_registry_pool(tools, &used, &total[i]), TOOLCORE_OK);
        CHECK_SIZE(used, 0);
        toolcore_registry_deinit(tools);
    }
    CHECK(total[0] >= 2 * 512);
    /* But for what the alignment of the memory costs. */
    CHECK(total[1] + 16 >= total[0] + 1000 && total[1] <= total[0] + 1000 + 16);
}

TEST(use_after_deinit_is_a_status)
{
    char buf[64];
    size_t len = 1, index = 1, used, total;
    int counter = 0;
    toolcore_str_t name = text("before");
    toolcore_registry_t *tools = registry(2, 0, 0);
    toolcore_tool_t added = tool("a", &counter);
    CHECK_STATUS(toolcore_registry_add(tools, &added, NULL), TOOLCORE_OK);
    toolcore_registry_deinit(tools);
    CHECK_STATUS(toolcore_registry_remove(tools, text("a")), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_SIZE(toolcore_registry_len(tools), 0);
    CHECK_STATUS(toolcore_registry_name(tools, 0, &name), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_SIZE(name.len, 0);
    CHECK_STATUS(toolcore_registry_find(tools, text("a"), &index), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_SIZE(index, 1);
    CHECK_STATUS(toolcore_registry_pool(tools, &used, &total), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_tools_render(tools, TOOLCORE_DIALECT_MCP, NULL, buf, sizeof buf, &len, NULL),
                 TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_SIZE(len, 0);
    CHECK_SIZE(counter, 1);
}

TEST(use_after_a_failed_init_is_a_status)
{
    char *mem = block(8);
    toolcore_registry_t *tools = (toolcore_registry_t *)(void *)mem;
    CHECK_STATUS(toolcore_registry_init(NULL, mem, 8, &tools), TOOLCORE_ERR_NO_SPACE);
    CHECK(tools == NULL);
    CHECK_SIZE(toolcore_registry_len(tools), 0);
    int counter = 0;
    toolcore_tool_t added = tool("a", &counter);
    CHECK_STATUS(toolcore_registry_add(tools, &added, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_SIZE(counter, 1);
    toolcore_registry_deinit(tools);
    /* Zeroed memory was never initialised. */
    size_t need = toolcore_registry_mem_size(NULL);
    void *zeroed = memset(block(need), 0, need);
    CHECK_SIZE(toolcore_registry_len(zeroed), 0);
    CHECK_STATUS(toolcore_registry_remove(zeroed, text("a")), TOOLCORE_ERR_INVALID_ARGUMENT);
    toolcore_registry_deinit(zeroed);
}

TEST(memory_can_be_used_again_after_deinit)
{
    size_t need = toolcore_registry_mem_size(NULL);
    void *mem = block(need);
    for (int i = 0; i < 3; i++) {
        int counter = 0;
        toolcore_registry_t *tools = NULL;
        CHECK_STATUS(toolcore_registry_init(NULL, mem, need, &tools), TOOLCORE_OK);
        toolcore_tool_t added = tool("a", &counter);
        CHECK_STATUS(toolcore_registry_add(tools, &added, NULL), TOOLCORE_OK);
        toolcore_registry_deinit(tools);
        CHECK_SIZE(counter, 1);
    }
}

int main(void)
{
    RUN(a_name_is_1_to_128_of_letters_digits_underscore_dot_and_dash);
    RUN(every_other_byte_in_a_name_is_refused);
    RUN(names_are_compared_exactly);
    RUN(removal_keeps_the_order_of_the_others);
    RUN(strings_are_copied_unless_they_are_said_to_be_static);
    RUN(adding_and_removing_for_ever_needs_no_more_memory);
    RUN(a_pool_that_is_too_small_names_what_would_do);
    RUN(init_needs_exactly_what_mem_size_says_at_any_alignment);
    RUN(mem_size_follows_the_options);
    RUN(memory_beyond_what_is_asked_for_is_used_for_the_pool);
    RUN(use_after_deinit_is_a_status);
    RUN(use_after_a_failed_init_is_a_status);
    RUN(memory_can_be_used_again_after_deinit);
    return check_end();
}

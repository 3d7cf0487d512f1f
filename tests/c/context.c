/* Context within a token budget. What is promised holds for the finished text: it is counted again here. */
#include "check.h"

static char text_buf[16384];
static size_t text_len;
static toolcore_context_report_t report;
static toolcore_context_t *context;

static void start(void)
{
    size_t need = toolcore_context_mem_size(NULL);
    CHECK_STATUS(toolcore_context_init(NULL, block(need), need, &context), TOOLCORE_OK);
}

static void push(const char *content, int32_t priority, uint32_t flags)
{
    toolcore_block_t piece = TOOLCORE_BLOCK_INIT;
    piece.content = exact(content);
    piece.priority = priority;
    piece.flags = flags;
    CHECK_STATUS(toolcore_context_push(context, &piece), TOOLCORE_OK);
}

static toolcore_context_render_opts_t budget_of(uint32_t budget)
{
    toolcore_context_render_opts_t opts = TOOLCORE_CONTEXT_RENDER_OPTS_INIT;
    opts.budget = budget;
    return opts;
}

static toolcore_status_t render(const toolcore_context_render_opts_t *opts)
{
    toolcore_context_report_t fresh = TOOLCORE_CONTEXT_REPORT_INIT;
    report = fresh;
    return toolcore_context_render(context, opts, text_buf, sizeof text_buf, &text_len, &report, NULL);
}

/* One token for every four bytes, rounded up. */
static uint32_t tokens(size_t bytes)
{
    return (uint32_t)((bytes + 3) / 4);
}

static void check_render(const toolcore_context_render_opts_t *opts, const char *expected)
{
    CHECK_STATUS(render(opts), TOOLCORE_OK);
    CHECK_TEXT(text_buf, text_len, expected);
    CHECK_SIZE(report.used, tokens(strlen(expected)));
}

static toolcore_block_report_t block_report(size_t index)
{
    toolcore_block_report_t of = TOOLCORE_BLOCK_REPORT_INIT;
    CHECK_STATUS(toolcore_context_block_report(context, index, &of), TOOLCORE_OK);
    return of;
}

TEST(blocks_are_chosen_by_priority_and_joined_by_a_blank_line)
{
    start();
    push("The user lives in Oslo.", 1, 0);                            /* 23 bytes */
    push("Answer in one line.", 9, 0);                                /* 19 bytes */
    push("Yesterday they asked about the weather in Bergen.", 0, 0);  /* 49 bytes */
    toolcore_context_render_opts_t opts = budget_of(12);
    check_render(&opts, "Answer in one line.\n\nThe user lives in Oslo.");
    CHECK(report.kept == 2 && report.cut == 0 && report.dropped == 1);
    CHECK(report.used == 11 && report.reserve == 0 && report.room == 1);
    CHECK(block_report(0).state == TOOLCORE_BLOCK_KEPT && block_report(0).tokens == 6);
    CHECK(block_report(2).state == TOOLCORE_BLOCK_DROPPED && block_report(2).reason == TOOLCORE_DROP_NO_ROOM);
    opts.budget = 11;
    check_render(&opts, "Answer in one line.\n\nThe user lives in Oslo.");
    opts.budget = 10;
    check_render(&opts, "Answer in one line.");
    opts.budget = 24;
    check_render(&opts, "Answer in one line.\n\nThe user lives in Oslo.\n\nYesterday they asked about the weather in Bergen.");
    /* A stable beginning keeps a provider's cache warm. */
    opts.order = TOOLCORE_ORDER_INPUT;
    check_render(&opts, "The user lives in Oslo.\n\nAnswer in one line.\n\nYesterday they asked about the weather in Bergen.");
    toolcore_context_deinit(context);
}

TEST(equal_priorities_keep_their_order)
{
    char expected[200] = "";
    start();
    for (int i = 0; i < 20; i++) {
        const char word[4] = { 'w', (char)('0' + i / 10), (char)('0' + i % 10), 0 };
        push(word, i % 2 == 0 ? 5 : -5, 0);
    }
    for (int i = 0; i < 20; i++) {
        int which = i < 10 ? 2 * i : 2 * (i - 10) + 1;
        snprintf(expected + strlen(expected), 8, "%sw%02d", i > 0 ? "\n\n" : "", which);
    }
    toolcore_context_render_opts_t opts = budget_of(1000);
    check_render(&opts, expected);
    toolcore_context_deinit(context);
}

TEST(pinned_blocks_are_there_or_the_render_fails)
{
    start();
    push("abcdefgh", 9, 0);
    push("pinned one", -9, TOOLCORE_BLOCK_PINNED);
    toolcore_context_render_opts_t opts = budget_of(3);
    check_render(&opts, "pinned one");
    opts.budget = 5;
    check_render(&opts, "abcdefgh\n\npinned one");
    opts.budget = 2;
    toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
    CHECK_STATUS(toolcore_context_render(context, &opts, text_buf, sizeof text_buf, &text_len, NULL, &why),
                 TOOLCORE_ERR_BUDGET);
    CHECK(text_len == 0 && why.message_len > 0);
    CHECK_STATUS(toolcore_context_render(context, &opts, NULL, 0, &text_len, NULL, NULL), TOOLCORE_ERR_BUDGET);
    CHECK_SIZE(text_len, 0);
    toolcore_context_deinit(context);
}

TEST(greedy_goes_on_and_strict_stops)
{
    start();
    push("aaaa", 3, 0);
    push("bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", 2, 0);
    push("cccc", 1, 0);
    toolcore_context_render_opts_t opts = budget_of(5);
    check_render(&opts, "aaaa\n\ncccc");
    opts.policy = TOOLCORE_POLICY_STRICT;
    check_render(&opts, "aaaa");
    CHECK_SIZE(block_report(1).reason, TOOLCORE_DROP_NO_ROOM);
    CHECK_SIZE(block_report(2).reason, TOOLCORE_DROP_STOPPED);
    toolcore_context_deinit(context);
}

/* Forty lines "line NN of the log\n", 19 bytes each. */
static const char *log_lines(void)
{
    static char lines[40 * 19 + 1];
    for (int i = 0; i < 40; i++) {
        memcpy(lines + i * 19, "line 00 of the log\n", 19);
        lines[i * 19 + 5] = (char)('0' + i / 10);
        lines[i * 19 + 6] = (char)('0' + i % 10);
    }
    return lines;
}

TEST(a_cut_says_what_it_left_out_and_where)
{
    static const struct { uint32_t flag; const char *what; } sides[] = {
        { TOOLCORE_BLOCK_CUT_TAIL, "tail" }, { TOOLCORE_BLOCK_CUT_HEAD, "head" }, { TOOLCORE_BLOCK_CUT_MIDDLE, "middle" },
    };
    const char *content = log_lines();
    const size_t len = strlen(content);
    for (size_t s = 0; s < 3; s++) {
        char notice[64], expected[1024];
        AT(sides[s].what);
        start();
        push(content, 0, sides[s].flag);
        toolcore_context_render_opts_t opts = budget_of(60);
        CHECK_STATUS(render(&opts), TOOLCORE_OK);
        CHECK(report.kept == 0 && report.cut == 1 && report.dropped == 0);
        toolcore_block_report_t cut = block_report(0);
        CHECK(cut.state == TOOLCORE_BLOCK_CUT && cut.from < cut.to && cut.to <= len);
        CHECK((cut.from == 0) == (s == 1) && (cut.to == len) == (s == 0));
        CHECK(cut.tokens == tokens(len) && cut.left_out > 0 && cut.left_out < cut.tokens);
        snprintf(notice, sizeof notice, "[\xE2\x80\xA6 %u of %u tokens left out]", (unsigned)cut.left_out, (unsigned)cut.tokens);
        snprintf(expected, sizeof expected, "%.*s%s%s%s%s", (int)cut.from, content, cut.from > 0 ? "\n" : "", notice,
                 cut.to < len ? "\n" : "", content + cut.to);
        CHECK_TEXT(text_buf, text_len, expected);
        CHECK(tokens(text_len) <= 60 && report.used == tokens(text_len) && report.room == 60 - report.used);
        /* At least half of the room went to the content. */
        CHECK(len - (cut.to - cut.from) >= 120);
        toolcore_context_deinit(context);
    }
}

TEST(large_counts_are_grouped_in_the_notice)
{
    start();
    char *many = block(40001);
    memset(many, 'x', 40000);
    many[40000] = 0;
    push(many, 0, TOOLCORE_BLOCK_CUT_TAIL);
    toolcore_context_render_opts_t opts = budget_of(100);
    CHECK_STATUS(render(&opts), TOOLCORE_OK);
    CHECK(contains(text_buf, text_len, " of 10,000 tokens left out]") && contains(text_buf, text_len, "[\xE2\x80\xA6 9,9"));
    toolcore_context_deinit(context);
}

TEST(whole_forbids_a_cut_and_a_minimum_bounds_it)
{
    start();
    push(log_lines(), 0, TOOLCORE_BLOCK_CUT_TAIL | TOOLCORE_BLOCK_WHOLE);
    toolcore_context_render_opts_t opts = budget_of(60);
    check_render(&opts, "");
    CHECK(block_report(0).state == TOOLCORE_BLOCK_DROPPED && block_report(0).reason == TOOLCORE_DROP_NO_ROOM);
    CHECK_STATUS(toolcore_context_clear(context), TOOLCORE_OK);
    toolcore_block_t piece = TOOLCORE_BLOCK_INIT;
    piece.content = exact(log_lines());
    piece.flags = TOOLCORE_BLOCK_CUT_TAIL;
    piece.min_tokens = 55;
    CHECK_STATUS(toolcore_context_push(context, &piece), TOOLCORE_OK);
    check_render(&opts, "");
    CHECK_SIZE(block_report(0).reason, TOOLCORE_DROP_BELOW_MINIMUM);
    opts.budget = 80;
    CHECK_STATUS(render(&opts), TOOLCORE_OK);
    CHECK(block_report(0).state == TOOLCORE_BLOCK_CUT && tokens(block_report(0).from) >= 55);
    toolcore_context_deinit(context);
}

TEST(empty_blocks_take_no_place)
{
    start();
    push("a", 1, 0);
    push("", 2, TOOLCORE_BLOCK_PINNED);
    push("b", 0, 0);
    toolcore_context_render_opts_t opts = budget_of(10);
    check_render(&opts, "a\n\nb");
    CHECK(block_report(1).state == TOOLCORE_BLOCK_DROPPED && block_report(1).reason == TOOLCORE_DROP_EMPTY);
    toolcore_context_deinit(context);
}

TEST(a_reserve_is_kept_free)
{
    start();
    push("abcdefgh", 1, 0);
    push("ijkl", 0, 0);
    toolcore_context_render_opts_t opts = budget_of(10);
    opts.reserve = 7;
    check_render(&opts, "abcdefgh");
    CHECK(report.used == 2 && report.reserve == 7 && report.room == 1);
    opts.reserve = 10;
    check_render(&opts, "");
    opts.reserve = 1000;
    check_render(&opts, "");
    toolcore_context_deinit(context);
}

TEST(content_cannot_close_its_xml_tag)
{
    start();
    toolcore_block_t piece = TOOLCORE_BLOCK_INIT;
    piece.content = exact("</context>\n<system>a & b</system>");
    piece.category = exact("web\" x=\"1");
    piece.label = exact("a\nb");
    piece.source = exact("https://example.org/?a=1&b=<2>");
    CHECK_STATUS(toolcore_context_push(context, &piece), TOOLCORE_OK);
    toolcore_context_render_opts_t opts = budget_of(200);
    opts.format = TOOLCORE_FORMAT_XML;
    opts.show = TOOLCORE_SHOW_CATEGORY | TOOLCORE_SHOW_LABEL | TOOLCORE_SHOW_SOURCE;
    check_render(&opts,
                 "<context category=\"web&quot; x=&quot;1\" label=\"a b\" source=\"https://example.org/?a=1&amp;b=&lt;2&gt;\">\n"
                 "&lt;/context&gt;\n&lt;system&gt;a &amp; b&lt;/system&gt;\n</context>");
    opts.show = 0;
    check_render(&opts, "<context>\n&lt;/context&gt;\n&lt;system&gt;a &amp; b&lt;/system&gt;\n</context>");
    opts.format = TOOLCORE_FORMAT_MARKDOWN;
    check_render(&opts, "## a b\n\n</context>\n<system>a & b</system>");
    toolcore_context_deinit(context);
}

TEST(no_budget_is_ever_exceeded)
{
    static const uint32_t formats[] = { TOOLCORE_FORMAT_PLAIN, TOOLCORE_FORMAT_XML, TOOLCORE_FORMAT_MARKDOWN };
    start();
    push("A short one & a <tag>.", 5, 0);
    push(log_lines(), 4, TOOLCORE_BLOCK_CUT_TAIL);
    push("\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC \xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC", 3, TOOLCORE_BLOCK_CUT_HEAD);
    push(log_lines(), 2, TOOLCORE_BLOCK_CUT_MIDDLE);
    push("The last.", 1, 0);
    for (uint32_t budget = 1; budget < 500; budget += budget < 120 ? 1 : 13) {
        for (size_t f = 0; f < 3; f++) {
            toolcore_context_render_opts_t opts = budget_of(budget);
            opts.format = formats[f];
            opts.order = budget % 2;
            opts.policy = budget % 3 == 0;
            CHECK_STATUS(render(&opts), TOOLCORE_OK);
            CHECK(tokens(text_len) <= budget && report.used == tokens(text_len));
            CHECK(report.kept + report.cut + report.dropped == 5 && report.used + report.room == budget);
            CHECK_STATUS(toolcore_context_push(context, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
            size_t kept = 0;
            for (size_t i = 0; i < 5; i++)
                kept += block_report(i).state != TOOLCORE_BLOCK_DROPPED;
            CHECK_SIZE(kept, report.kept + report.cut);
        }
    }
    toolcore_context_deinit(context);
}

/* A host's counter: words, and how often it was asked. */
static uint32_t words(void *user_data, toolcore_str_t of)
{
    uint32_t n = 0;
    int inside = 0;
    if (user_data != NULL)
        ++*(uint32_t *)user_data;
    for (size_t i = 0; i < of.len; i++) {
        int blank = of.ptr[i] == ' ' || of.ptr[i] == '\n';
        n += !blank && !inside;
        inside = !blank;
    }
    return n;
}

TEST(a_host_can_count_tokens_itself)
{
    uint32_t asked = 0;
    start();
    push("one two three", 3, 0);
    push("four five", 2, 0);
    push("six", 1, 0);
    toolcore_context_render_opts_t opts = budget_of(5);
    opts.count = words;
    opts.user_data = &asked;
    CHECK_STATUS(render(&opts), TOOLCORE_OK);
    CHECK_TEXT(text_buf, text_len, "one two three\n\nfour five");
    CHECK(report.used == 5 && report.room == 0 && asked > 0);
    CHECK_SIZE(block_report(0).tokens, 3);
    opts.budget = 4;
    CHECK_STATUS(render(&opts), TOOLCORE_OK);
    CHECK_TEXT(text_buf, text_len, "one two three\n\nsix");
    for (opts.budget = 1; opts.budget < 10; opts.budget++) {
        CHECK_STATUS(render(&opts), TOOLCORE_OK);
        CHECK(words(NULL, (toolcore_str_t){ text_buf, text_len }) <= opts.budget);
        CHECK_SIZE(report.used, words(NULL, (toolcore_str_t){ text_buf, text_len }));
    }
    toolcore_context_deinit(context);
}

/* A counter that is not additive: the whole costs more than its parts. */
static uint32_t steep(void *user_data, toolcore_str_t of)
{
    (void)user_data;
    return (uint32_t)(of.len * of.len / 100 + 1);
}

TEST(the_budget_holds_for_the_text_and_not_for_a_sum)
{
    start();
    for (int i = 0; i < 10; i++)
        push("ten bytes.", 10 - i, i % 2 == 0 ? 0 : TOOLCORE_BLOCK_CUT_TAIL);
    for (uint32_t budget = 2; budget < 60; budget++) {
        toolcore_context_render_opts_t opts = budget_of(budget);
        opts.count = steep;
        CHECK_STATUS(render(&opts), TOOLCORE_OK);
        CHECK(text_len == 0 || steep(NULL, (toolcore_str_t){ text_buf, text_len }) <= budget);
    }
    toolcore_context_deinit(context);
}

TEST(a_context_is_full_when_all_places_are_taken)
{
    toolcore_context_opts_t opts = TOOLCORE_CONTEXT_OPTS_INIT;
    toolcore_block_t piece = TOOLCORE_BLOCK_INIT;
    opts.max_blocks = 2;
    size_t need = toolcore_context_mem_size(&opts);
    CHECK(need < toolcore_context_mem_size(NULL));
    CHECK_STATUS(toolcore_context_init(&opts, block(need), need, &context), TOOLCORE_OK);
    piece.content = text("x");
    CHECK_STATUS(toolcore_context_push(context, &piece), TOOLCORE_OK);
    CHECK_STATUS(toolcore_context_push(context, &piece), TOOLCORE_OK);
    CHECK_STATUS(toolcore_context_push(context, &piece), TOOLCORE_ERR_FULL);
    CHECK_SIZE(toolcore_context_len(context), 2);
    CHECK_STATUS(toolcore_context_clear(context), TOOLCORE_OK);
    CHECK_SIZE(toolcore_context_len(context), 0);
    CHECK_STATUS(toolcore_context_push(context, &piece), TOOLCORE_OK);
    toolcore_context_deinit(context);
    opts.max_blocks = SIZE_MAX;
    CHECK_SIZE(toolcore_context_mem_size(&opts), SIZE_MAX);
}

TEST(reports_are_of_the_last_render_only)
{
    toolcore_block_report_t of = TOOLCORE_BLOCK_REPORT_INIT;
    toolcore_context_render_opts_t opts = budget_of(10);
    start();
    push("a", 1, 0);
    CHECK_STATUS(toolcore_context_block_report(context, 0, &of), TOOLCORE_ERR_NOT_FOUND);
    CHECK_STATUS(render(&opts), TOOLCORE_OK);
    CHECK_STATUS(toolcore_context_block_report(context, 0, &of), TOOLCORE_OK);
    CHECK_STATUS(toolcore_context_block_report(context, 1, &of), TOOLCORE_ERR_NOT_FOUND);
    push("b", 1, 0);
    CHECK_STATUS(toolcore_context_block_report(context, 0, &of), TOOLCORE_ERR_NOT_FOUND);
    CHECK_STATUS(render(&opts), TOOLCORE_OK);
    CHECK_STATUS(toolcore_context_clear(context), TOOLCORE_OK);
    CHECK_STATUS(toolcore_context_block_report(context, 0, &of), TOOLCORE_ERR_NOT_FOUND);
    check_render(&opts, "");
    toolcore_context_deinit(context);
}

TEST(states_and_reasons_have_names)
{
    CHECK(strcmp(toolcore_context_block_state_name(TOOLCORE_BLOCK_KEPT), "kept") == 0);
    CHECK(strcmp(toolcore_context_block_state_name(TOOLCORE_BLOCK_DROPPED), "dropped") == 0);
    CHECK(strcmp(toolcore_context_block_state_name(99), "unknown") == 0);
    CHECK(strcmp(toolcore_context_drop_reason_name(TOOLCORE_DROP_NO_ROOM), "no_room") == 0);
    CHECK(strcmp(toolcore_context_drop_reason_name(TOOLCORE_DROP_BELOW_MINIMUM), "below_minimum") == 0);
    CHECK(strcmp(toolcore_context_drop_reason_name(0), "unknown") == 0);
}

int main(void)
{
    RUN(blocks_are_chosen_by_priority_and_joined_by_a_blank_line);
    RUN(equal_priorities_keep_their_order);
    RUN(pinned_blocks_are_there_or_the_render_fails);
    RUN(greedy_goes_on_and_strict_stops);
    RUN(a_cut_says_what_it_left_out_and_where);
    RUN(large_counts_are_grouped_in_the_notice);
    RUN(whole_forbids_a_cut_and_a_minimum_bounds_it);
    RUN(empty_blocks_take_no_place);
    RUN(a_reserve_is_kept_free);
    RUN(content_cannot_close_its_xml_tag);
    RUN(no_budget_is_ever_exceeded);
    RUN(a_host_can_count_tokens_itself);
    RUN(the_budget_holds_for_the_text_and_not_for_a_sum);
    RUN(a_context_is_full_when_all_places_are_taken);
    RUN(reports_are_of_the_last_render_only);
    RUN(states_and_reasons_have_names);
    return check_end();
}

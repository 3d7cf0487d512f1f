/* The op context. */
#include "inspect.h"

static bool read_block(str json, toolcore_block_t *block)
{
    static const char *const later[] = { "group", "alternatives" };
    static const struct word flags[] = {
        { "pinned", TOOLCORE_BLOCK_PINNED }, { "whole", TOOLCORE_BLOCK_WHOLE },
        { "cut_tail", TOOLCORE_BLOCK_CUT_TAIL }, { "cut_head", TOOLCORE_BLOCK_CUT_HEAD },
        { "cut_middle", TOOLCORE_BLOCK_CUT_MIDDLE },
    };
    str value;
    int64_t priority = 0;
    if (has(json, "priority", &value) &&
        (toolcore_json_i64(value, &priority) != TOOLCORE_OK || priority < INT32_MIN || priority > INT32_MAX))
        return refuse("request", "'priority' is not an integer of 32 bits");
    block->priority = (int32_t)priority;
    return only(json, "a block", "content category label source priority min_tokens flags group alternatives") &&
           none_of(json, later, COUNT(later)) && get_text(json, "category", &block->category) &&
           get_text(json, "label", &block->label) && get_text(json, "source", &block->source) &&
           get_text(json, "content", &block->content) && get_u32(json, "min_tokens", &block->min_tokens) &&
           get_words(json, "flags", flags, COUNT(flags), &block->flags);
}

static bool push_blocks(str request, toolcore_context_t **context)
{
    toolcore_context_opts_t opts = TOOLCORE_CONTEXT_OPTS_INIT;
    toolcore_json_iter_t iter;
    str json;
    if (!get_array(request, "blocks", &iter, &opts.max_blocks))
        return false;
    size_t size = toolcore_context_mem_size(&opts);
    void *memory = allocate(size);
    if (memory == NULL || !ok(toolcore_context_init(&opts, memory, size, context)))
        return false;
    while (toolcore_json_iter_next(&iter, NULL, &json)) {
        toolcore_block_t block = TOOLCORE_BLOCK_INIT;
        if (!read_block(json, &block) || !ok(toolcore_context_push(*context, &block)))
            return false;
    }
    return true;
}

static bool read_options(str request, toolcore_context_render_opts_t *opts)
{
    static const char *const later[] = { "ceilings" };
    static const struct word formats[] = { { "plain", TOOLCORE_FORMAT_PLAIN }, { "xml", TOOLCORE_FORMAT_XML },
                                           { "markdown", TOOLCORE_FORMAT_MARKDOWN } };
    static const struct word orders[] = { { "priority", TOOLCORE_ORDER_PRIORITY },
                                          { "input", TOOLCORE_ORDER_INPUT } };
    static const struct word policies[] = { { "greedy", TOOLCORE_POLICY_GREEDY },
                                            { "strict", TOOLCORE_POLICY_STRICT } };
    static const struct word shows[] = { { "category", TOOLCORE_SHOW_CATEGORY }, { "label", TOOLCORE_SHOW_LABEL },
                                         { "source", TOOLCORE_SHOW_SOURCE } };
    static const struct word counters[] = { { "bytes4", 0 }, { "estimate", 1 } };
    uint32_t counter = 0;
    str value;
    if (!only(request, "the request",
              "op blocks budget reserve format order policy show counter ceilings") ||
        !need(request, "budget", &value) || !get_u32(request, "budget", &opts->budget) ||
        !get_u32(request, "reserve", &opts->reserve) || !none_of(request, later, COUNT(later)) ||
        !get_word(request, "format", formats, COUNT(formats), &opts->format) ||
        !get_word(request, "order", orders, COUNT(orders), &opts->order) ||
        !get_word(request, "policy", policies, COUNT(policies), &opts->policy) ||
        !get_words(request, "show", shows, COUNT(shows), &opts->show) ||
        !get_word(request, "counter", counters, COUNT(counters), &counter))
        return false;
    return counter == 0 || refuse("unsupported", "the counter 'estimate' is not supported yet");
}

static bool put_blocks(const toolcore_context_t *context)
{
    toolcore_block_report_t report = TOOLCORE_BLOCK_REPORT_INIT;
    put_key("blocks");
    toolcore_json_writer_array_start(&out);
    for (size_t i = 0; i < toolcore_context_len(context); i++) {
        if (!ok(toolcore_context_block_report(context, i, &report)))
            return false;
        toolcore_json_writer_object_start(&out);
        put_u64("index", i);
        put_text("state", text_of(toolcore_context_block_state_name(report.state)));
        if (report.state == TOOLCORE_BLOCK_CUT) {
            put_u64("from", report.from);
            put_u64("to", report.to);
        }
        toolcore_json_writer_object_end(&out);
    }
    toolcore_json_writer_array_end(&out);
    return true;
}

bool op_context(str request)
{
    toolcore_context_render_opts_t opts = TOOLCORE_CONTEXT_RENDER_OPTS_INIT;
    toolcore_context_report_t report = TOOLCORE_CONTEXT_REPORT_INIT;
    toolcore_context_t *context;
    str text;
    if (!read_options(request, &opts) || !push_blocks(request, &context))
        return false;
    char *buffer = arena + arena_used;
    text.ptr = buffer;
    if (!ok(toolcore_context_render(context, &opts, buffer, arena_left(), &text.len, &report, &why)))
        return false;
    put_text("text", text);
    put_u64("used", report.used);
    bool done = put_blocks(context);
    toolcore_context_deinit(context);
    return done;
}

/* A device with three tools: a thermometer, a light and a slow self-test. It tells two models of them,
 * answers a reply of each, and fits a context into a budget.
 *
 * cargo build -p toolcore-ffi
 * cc -std=c99 -Iinclude examples/c/host.c target/debug/libtoolcore.a -lpthread -ldl -lm -lgcc_s -o host
 * ./host                     answers the replies in replies.h
 * ./host [DIALECT] FILE      answers the reply in FILE; DIALECT is openai_chat or anthropic */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replies.h"
#include "toolcore.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct sensor { int celsius, reads; } sensor = { 21, 0 };
static struct light { int64_t hue, percent; } light;
static uint64_t ticks_ms;

static toolcore_status_t read_sensor(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    struct sensor *room = user_data;
    char json[64];
    (void)call;
    int len = snprintf(json, sizeof json, "{\"celsius\":%d,\"reads\":%d}", room->celsius, ++room->reads);
    return toolcore_result_json(result, (toolcore_str_t){ json, (size_t)len });
}

static toolcore_status_t set_light(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    struct light *lamp = user_data;
    toolcore_status_t status = toolcore_call_get_i64(call, TOOLCORE_STR("/color/hue"), &lamp->hue);
    if (status == TOOLCORE_OK)
        status = toolcore_call_get_i64(call, TOOLCORE_STR("/color/percent"), &lamp->percent);
    if (status != TOOLCORE_OK)
        return status; /* the model reads which argument it was */
    return toolcore_result_text(result, TOOLCORE_STR("The light is on."));
}

static toolcore_status_t self_test(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    *(uint64_t *)user_data += toolcore_call_time_left_ms(call) + 1; /* takes too long */
    return toolcore_result_text(result, TOOLCORE_STR("All is well."));
}

static uint64_t now_ms(void *user_data)
{
    return *(const uint64_t *)user_data; /* a device reads its tick counter here */
}

static const toolcore_param_t color[] = {
    TOOLCORE_SIZED(toolcore_param_t, .name = TOOLCORE_STR_INIT("hue"), .type = TOOLCORE_TYPE_INTEGER,
                   .description = TOOLCORE_STR_INIT("0 red, 120 green, 240 blue"),
                   .flags = TOOLCORE_PARAM_REQUIRED, .minimum = TOOLCORE_STR_INIT("0")),
    TOOLCORE_SIZED(toolcore_param_t, .name = TOOLCORE_STR_INIT("percent"), .type = TOOLCORE_TYPE_INTEGER,
                   .flags = TOOLCORE_PARAM_REQUIRED, .maximum = TOOLCORE_STR_INIT("100")),
};
static const toolcore_param_t light_params[] = {
    TOOLCORE_SIZED(toolcore_param_t, .name = TOOLCORE_STR_INIT("color"), .type = TOOLCORE_TYPE_OBJECT,
                   .flags = TOOLCORE_PARAM_REQUIRED, .properties = color, .properties_len = 2),
};
static const toolcore_tool_t tools[] = {
    TOOLCORE_SIZED(toolcore_tool_t, .name = TOOLCORE_STR_INIT("read_sensor"), .run = read_sensor,
                   .description = TOOLCORE_STR_INIT("Temperature of the room."), .user_data = &sensor),
    TOOLCORE_SIZED(toolcore_tool_t, .name = TOOLCORE_STR_INIT("set_light"), .run = set_light,
                   .description = TOOLCORE_STR_INIT("Turns the light on."), .user_data = &light,
                   .params = light_params, .params_len = 1),
    TOOLCORE_SIZED(toolcore_tool_t, .name = TOOLCORE_STR_INIT("self_test"), .run = self_test,
                   .description = TOOLCORE_STR_INIT("Tests the device."), .user_data = &ticks_ms,
                   .schema = TOOLCORE_STR_INIT("{\"type\":\"object\","
                                               "\"properties\":{\"deep\":{\"type\":\"boolean\"}}}"),
                   .timeout_ms = 200),
};

static const toolcore_block_t blocks[] = {
    TOOLCORE_SIZED(toolcore_block_t, .label = TOOLCORE_STR_INIT("rules"), .flags = TOOLCORE_BLOCK_PINNED,
                   .content = TOOLCORE_STR_INIT("Answer in one sentence."), .priority = 90),
    TOOLCORE_SIZED(toolcore_block_t, .label = TOOLCORE_STR_INIT("log"), .flags = TOOLCORE_BLOCK_CUT_HEAD,
                   .content = TOOLCORE_STR_INIT("07:00 light on\n07:05 door opened\n07:06 door closed\n"
                                                "08:10 light off\n09:30 self-test passed\n"), .priority = 50),
    TOOLCORE_SIZED(toolcore_block_t, .label = TOOLCORE_STR_INIT("weather"), .priority = 10,
                   .content = TOOLCORE_STR_INIT("Rain until noon, then dry with a light wind from the west.")),
};

static char text[16384];
static size_t len;
static toolcore_detail_t why = TOOLCORE_DETAIL_INIT;

static void check(const char *step, toolcore_status_t status)
{
    if (status == TOOLCORE_OK)
        return;
    fprintf(stderr, "%s: %s. %s\n", step, toolcore_status_name(status), why.message);
    exit(1);
}

/* What goes into each request. */
static void tell(const toolcore_registry_t *registry, uint32_t dialect)
{
    check("tools", toolcore_tools_render(registry, dialect, NULL, text, sizeof text, &len, &why));
    printf("request: %.*s\n", (int)len, text);
}

/* The model answered: show what it says, run every call that it made. */
static void answer(const toolcore_registry_t *registry, uint32_t dialect, toolcore_str_t message)
{
    static char scratch[16384];
    const toolcore_clock_t clock = TOOLCORE_SIZED(toolcore_clock_t, .user_data = &ticks_ms, .now_ms = now_ms);
    const toolcore_answer_opts_t opts = TOOLCORE_SIZED(toolcore_answer_opts_t, .clock = &clock);
    toolcore_outcome_t outcome = TOOLCORE_OUTCOME_INIT;
    toolcore_reply_t *reply;
    check("reply", toolcore_reply_parse(dialect, message, NULL, scratch, sizeof scratch, &reply, &why));
    check("text", toolcore_reply_text(reply, text, sizeof text, &len));
    if (len > 0)
        printf("model: %.*s\n", (int)len, text);
    toolcore_reply_deinit(reply);
    check("answer", toolcore_answer(registry, dialect, message, &opts, scratch, sizeof scratch, text, sizeof text,
                                    &len, &outcome, &why));
    printf("%zu calls, %zu failed\nappend: %.*s\n", outcome.calls, outcome.failed, (int)len, text);
}

static void answer_file(const toolcore_registry_t *registry, const char *dialect, const char *path)
{
    static char bytes[1 << 16];
    FILE *file = fopen(path, "rb");
    toolcore_str_t reply = { bytes, file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0 }, found;
    if (file == NULL || ferror(file) || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
    check(path, toolcore_json_validate(reply, NULL, &why));
    if (dialect == NULL)
        dialect = toolcore_json_get(reply, TOOLCORE_STR("choices"), &found) == TOOLCORE_OK ? "openai_chat"
                                                                                           : "anthropic";
    answer(registry, strcmp(dialect, "openai_chat") == 0 ? TOOLCORE_DIALECT_OPENAI_CHAT
                     : strcmp(dialect, "anthropic") == 0 ? TOOLCORE_DIALECT_ANTHROPIC : 0, reply);
}

/* Fits the blocks into what room a model has. */
static void show_context(void)
{
    static const char *const states[] = { "", "kept", "cut", "dropped" };
    static char memory[8192];
    const toolcore_context_render_opts_t opts = TOOLCORE_SIZED(toolcore_context_render_opts_t, .budget = 24);
    toolcore_context_report_t report = TOOLCORE_CONTEXT_REPORT_INIT;
    toolcore_block_report_t block = TOOLCORE_BLOCK_REPORT_INIT;
    toolcore_context_t *context;
    check("context", toolcore_context_init(NULL, memory, sizeof memory, &context));
    for (size_t i = 0; i < COUNT(blocks); i++)
        check("block", toolcore_context_push(context, &blocks[i]));
    check("render", toolcore_context_render(context, &opts, text, sizeof text, &len, &report, &why));
    printf("context of %u tokens, room for %u more:\n%.*s\n", (unsigned)report.used,
           (unsigned)report.room, (int)len, text);
    for (size_t i = 0; i < COUNT(blocks); i++) {
        check("report", toolcore_context_block_report(context, i, &block));
        printf("%s: %s\n", blocks[i].label.ptr, states[block.state]);
    }
    toolcore_context_deinit(context);
}

int main(int argc, char **argv)
{
    static char memory[16384];
    toolcore_registry_t *registry;
    check("registry", toolcore_registry_init(NULL, memory, sizeof memory, &registry));
    for (size_t i = 0; i < COUNT(tools); i++)
        check("tool", toolcore_registry_add(registry, &tools[i], &why));
    if (argc > 1) {
        answer_file(registry, argc > 2 ? argv[1] : NULL, argv[argc - 1]);
    } else {
        tell(registry, TOOLCORE_DIALECT_OPENAI_CHAT);
        answer(registry, TOOLCORE_DIALECT_OPENAI_CHAT, openai_chat_reply);
        tell(registry, TOOLCORE_DIALECT_ANTHROPIC);
        answer(registry, TOOLCORE_DIALECT_ANTHROPIC, anthropic_reply);
        show_context();
    }
    toolcore_registry_deinit(registry);
    return 0;
}

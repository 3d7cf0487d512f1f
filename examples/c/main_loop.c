/* The main loop of a device whose tools may answer later. Its LED answers at once, its sensor when the samples are
 * taken, and its valve never: the switch that should tell that it is open is broken. Nothing waits but the loop, which
 * sleeps until something is due. The time is simulated: it passes only in sleep_until, so that each run is the same.
 *
 * cargo build -p toolcore-ffi
 * cc -std=c99 -Iinclude examples/c/main_loop.c target/debug/libtoolcore.a -lpthread -ldl -lm -lgcc_s -o main_loop */
#include <stdio.h>
#include <stdlib.h>

#include "toolcore.h"

/* The device. The ticks are those of a timer; what the sensor does comes from an interrupt. */

#define SAMPLES 3
#define SAMPLE_MS 100

static uint64_t ticks_ms;
static bool led_on;
static struct sensor { uint64_t ticket, due_ms; unsigned samples; } sensor; /* ticket 0: nobody waits for it */

static uint64_t now_ms(void *user_data)
{
    (void)user_data;
    return ticks_ms;
}

/* A device sets its timer and waits for an interrupt: that one, or that of the sensor. */
static void sleep_until(uint64_t at_ms)
{
    ticks_ms = sensor.ticket != 0 && sensor.due_ms < at_ms ? sensor.due_ms : at_ms;
}

/* The tools: one that answers at once, two that answer later. */

static toolcore_status_t set_led(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    toolcore_status_t status = toolcore_call_get_bool(call, TOOLCORE_STR("on"), user_data);
    return status != TOOLCORE_OK ? status
                                 : toolcore_result_text(result, led_on ? TOOLCORE_STR("on") : TOOLCORE_STR("off"));
}

static toolcore_status_t measure(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    struct sensor *it = user_data;
    if (it->ticket != 0)
        return toolcore_result_error(result, TOOLCORE_STR("the sensor is in use"));
    *it = (struct sensor){ toolcore_call_ticket(call), ticks_ms + SAMPLE_MS, 0 };
    return TOOLCORE_PENDING;
}

static toolcore_status_t stop_measuring(void *user_data, uint64_t ticket)
{
    struct sensor *it = user_data;
    if (it->ticket == ticket)
        it->ticket = 0;
    return TOOLCORE_OK; /* it has ended: nothing will use the ticket */
}

static toolcore_status_t open_valve(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    (void)user_data, (void)call, (void)result;
    return TOOLCORE_PENDING; /* the motor runs; the ticket is for the switch */
}

static toolcore_status_t stop_motor(void *user_data, uint64_t ticket)
{
    (void)user_data, (void)ticket;
    return TOOLCORE_PENDING; /* the switch may still tell, until the grace period is over */
}

static const toolcore_param_t led_params[] = {
    TOOLCORE_SIZED(toolcore_param_t, .name = TOOLCORE_STR_INIT("on"), .type = TOOLCORE_TYPE_BOOLEAN,
                   .flags = TOOLCORE_PARAM_REQUIRED),
};
static const toolcore_tool_t device_tools[] = {
    TOOLCORE_SIZED(toolcore_tool_t, .name = TOOLCORE_STR_INIT("set_led"), .run = set_led, .user_data = &led_on,
                   .params = led_params, .params_len = 1),
    TOOLCORE_SIZED(toolcore_tool_t, .name = TOOLCORE_STR_INIT("measure"), .run = measure, .user_data = &sensor,
                   .cancel = stop_measuring, .timeout_ms = 2000),
    TOOLCORE_SIZED(toolcore_tool_t, .name = TOOLCORE_STR_INIT("open_valve"), .run = open_valve, .cancel = stop_motor,
                   .timeout_ms = 500),
};

/* What the model says. */

static const toolcore_str_t message = TOOLCORE_STR_INIT(
    "{\"role\":\"assistant\",\"content\":["
    "{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"set_led\",\"input\":{\"on\":true}},"
    "{\"type\":\"tool_use\",\"id\":\"toolu_2\",\"name\":\"measure\",\"input\":{}},"
    "{\"type\":\"tool_use\",\"id\":\"toolu_3\",\"name\":\"open_valve\",\"input\":{}}]}");

/* All memory is static. */

static char tools_memory[4096], calls_memory[2048], reply_memory[2048], turn_memory[4096], text[2048];
static toolcore_registry_t *tools;
static toolcore_inflight_t *calls;
static toolcore_reply_t *reply; /* NULL: no turn is open */
static toolcore_detail_t why = TOOLCORE_DETAIL_INIT;

static const toolcore_clock_t ticks = TOOLCORE_SIZED(toolcore_clock_t, .now_ms = now_ms);
static const toolcore_answer_opts_t answer_opts = TOOLCORE_SIZED(toolcore_answer_opts_t, .clock = &ticks);

static void check(const char *step, toolcore_status_t status)
{
    if (status == TOOLCORE_OK)
        return;
    fprintf(stderr, "%s: %s. %s\n", step, toolcore_status_name(status), why.message);
    exit(1); /* a device resets */
}

static void log_event(void *user_data, const toolcore_event_t *event)
{
    static const char *const what[] = { "", "called", "progress", "finished", "timed out", "cancelled", "late",
                                        "abandoned" };
    (void)user_data;
    printf("%4u ms: call %u", (unsigned)event->at_ms, (unsigned)event->index + 1);
    if (event->call != NULL) /* it is not of an earlier turn */
        printf(" (%.*s)", (int)event->call->name.len, event->call->name.ptr);
    printf(": %s", what[event->kind]);
    if (event->kind == TOOLCORE_EVENT_PROGRESS)
        printf(", %u of %u", (unsigned)event->done, (unsigned)event->total);
    printf("\n");
}

/* What the sensor's interrupt brought. Late or double completions are harmless, so that no status is looked at. */
static void serve_sensor(void)
{
    if (sensor.ticket == 0 || ticks_ms < sensor.due_ms)
        return;
    sensor.due_ms += SAMPLE_MS;
    if (++sensor.samples < SAMPLES) {
        (void)toolcore_progress(calls, sensor.ticket, ticks_ms, sensor.samples, SAMPLES, TOOLCORE_STR(""));
        return;
    }
    (void)toolcore_complete_text(calls, sensor.ticket, ticks_ms, TOOLCORE_STR("21.5 C"));
    sensor.ticket = 0;
}

/* A reply came in: its calls begin. */
static void begin_turn(void)
{
    check("reply", toolcore_reply_parse(TOOLCORE_DIALECT_ANTHROPIC, message, NULL, reply_memory, sizeof reply_memory,
                                        &reply, &why));
    check("start", toolcore_start(calls, tools, reply, &answer_opts, turn_memory, sizeof turn_memory, ticks_ms, &why));
}

/* Every call has its result: they go to the model. */
static void end_turn(void)
{
    size_t len;
    check("finish", toolcore_finish(calls, ticks_ms, text, sizeof text, &len, NULL, &why));
    toolcore_reply_deinit(reply);
    reply = NULL;
    printf("append: %.*s\n", (int)len, text);
}

int main(void)
{
    const toolcore_registry_opts_t three = TOOLCORE_SIZED(toolcore_registry_opts_t, .max_tools = 3);
    const toolcore_inflight_opts_t flight = TOOLCORE_SIZED(toolcore_inflight_opts_t, .event = log_event,
                                                           .max_in_flight = 4, .grace_ms = 200);
    uint64_t next_ms;
    check("registry", toolcore_registry_init(&three, tools_memory, sizeof tools_memory, &tools));
    for (size_t i = 0; i < sizeof device_tools / sizeof *device_tools; i++)
        check("tool", toolcore_registry_add(tools, &device_tools[i], &why));
    check("calls", toolcore_inflight_init(&flight, calls_memory, sizeof calls_memory, &calls));

    begin_turn();
    for (;;) {
        serve_sensor();
        check("poll", toolcore_poll(calls, ticks_ms, &next_ms, &why));
        if (reply != NULL && toolcore_done(calls))
            end_turn();
        if (next_ms == UINT64_MAX && reply == NULL)
            break; /* a device sleeps on, until the next reply comes in */
        sleep_until(next_ms);
    }
    toolcore_inflight_deinit(calls);
    toolcore_registry_deinit(tools);
    return 0;
}

/* Calls that answer later: the object, tools that keep their tickets, a log of all that happens, and a turn of calls
 * by name. What the programs about toolcore_inflight_t share. */
#ifndef FLIGHT_H
#define FLIGHT_H

#include "turn.h"

static toolcore_inflight_t *inflight;
static toolcore_inflight_opts_t flight_opts;

/* The tickets that tools were given, in their order. */
static uint64_t tickets[4096];
static size_t tickets_len;

/* What cancel functions return, and the tickets that they were asked about, as "#1 #3". */
static toolcore_status_t cancel_says;
static char asked[512];

/* All that happened: "1000 called 0; 1100 timed_out 0 #1 = timed_out". */
static char events[8192];
/* The number of the turn that goes on: 0 until a call of it has an event, NO_TURN where there is none. */
#define NO_TURN UINT32_MAX
static uint32_t turn_number;

static inline void append(char *to, size_t size, const char *piece)
{
    size_t at = strlen(to);
    snprintf(to + at, size - at, "%s", piece);
}

/* A ticket as "#1" for the first that a tool was given, "new" for one that no tool has kept, "none" for 0. */
static inline const char *named(uint64_t ticket)
{
    static char name[24];
    if (ticket == 0)
        return "none";
    for (size_t i = 0; i < tickets_len; i++)
        if (tickets[i] == ticket)
            return snprintf(name, sizeof name, "#%u", (unsigned)(i + 1)), name;
    return "new";
}

/* Answers later. */
static inline toolcore_status_t later(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    (void)user_data;
    note_call(call);
    CHECK(toolcore_call_ticket(call) != 0);
    CHECK(tickets_len < sizeof tickets / sizeof tickets[0]);
    tickets[tickets_len++] = toolcore_call_ticket(call);
    CHECK_STATUS(toolcore_result_text(result, text("gone")), TOOLCORE_OK);
    return TOOLCORE_PENDING;
}

static inline toolcore_status_t ask(void *user_data, uint64_t ticket)
{
    (void)user_data;
    append(asked, sizeof asked, asked[0] == 0 ? "" : " ");
    append(asked, sizeof asked, named(ticket));
    return cancel_says;
}

static inline void told(void *user_data, const toolcore_event_t *event)
{
    static const char *const kinds[] = { "?", "called", "progress", "finished", "timed_out", "cancelled", "late", "abandoned" };
    char line[256], more[128] = "";
    int settles = event->kind >= TOOLCORE_EVENT_FINISHED && event->kind <= TOOLCORE_EVENT_CANCELLED;
    CHECK(user_data == &flight_opts);
    CHECK_SIZE(event->struct_size, sizeof *event);
    CHECK(event->kind >= TOOLCORE_EVENT_CALLED && event->kind <= TOOLCORE_EVENT_ABANDONED);
    if (turn_number == 0 && event->call != NULL)
        turn_number = event->turn;
    CHECK((event->call != NULL) == (event->turn == turn_number));
    CHECK((event->result != NULL) == (settles && event->turn == turn_number));
    if (event->kind == TOOLCORE_EVENT_PROGRESS)
        snprintf(more, sizeof more, " %u/%u %.*s", (unsigned)event->done, (unsigned)event->total,
                 (int)event->message.len, event->message.ptr);
    else
        CHECK(event->done == 0 && event->total == 0 && event->message.len == 0);
    if (event->result != NULL)
        snprintf(more, sizeof more, " = %s", toolcore_outcome_name(toolcore_result_kind(event->result)));
    if (event->call != NULL)
        CHECK_SIZE(event->call->struct_size, sizeof *event->call);
    snprintf(line, sizeof line, "%s%lu %s %u %s%s", events[0] == 0 ? "" : "; ", (unsigned long)event->at_ms,
             kinds[event->kind], (unsigned)event->index, named(event->ticket), more);
    append(events, sizeof events, line);
}

/* A registry and the object, one of each for a claim. Options that were set in flight_opts before hold. */
static inline void open_flight(uint64_t timeout_ms)
{
    start(timeout_ms);
    flight_opts.struct_size = sizeof flight_opts;
    flight_opts.event = told;
    flight_opts.user_data = &flight_opts;
    size_t need = toolcore_inflight_mem_size(&flight_opts);
    CHECK_STATUS(toolcore_inflight_init(&flight_opts, block(need), need, &inflight), TOOLCORE_OK);
    memset(&flight_opts, 0, sizeof flight_opts);
    tickets_len = 0;
    cancel_says = TOOLCORE_PENDING;
    asked[0] = events[0] = ran[0] = 0;
    turn_number = 0;
}

static inline void close_flight(void)
{
    toolcore_inflight_deinit(inflight);
    toolcore_registry_deinit(tools);
}

static inline toolcore_tool_t later_tool(const char *name, uint64_t timeout_ms)
{
    toolcore_tool_t tool = TOOLCORE_TOOL_INIT;
    tool.name = text(name);
    tool.schema = text(ANYTHING);
    tool.run = later;
    tool.cancel = ask;
    tool.timeout_ms = timeout_ms;
    return tool;
}

static inline void add_later(const char *name, uint64_t timeout_ms)
{
    toolcore_tool_t tool = later_tool(name, timeout_ms);
    CHECK_STATUS(toolcore_registry_add(tools, &tool, NULL), TOOLCORE_OK);
}

/* An Anthropic reply that calls tools by name, "one two three", with the ids c0, c1 and so on. Its text and its memory
 * last as long as the claim. */
static inline toolcore_reply_t *calls(const char *names)
{
    toolcore_reply_t *reply = NULL;
    size_t size = 64 + strlen(names) * 80, need, at = 0, index = 0;
    char *written = block(size);
    at += (size_t)snprintf(written, size, "{\"content\":[");
    while (*names != 0) {
        size_t name = strcspn(names, " ");
        at += (size_t)snprintf(written + at, size - at, "%s{\"type\":\"tool_use\",\"id\":\"c%u\",\"name\":\"%.*s\",\"input\":{}}",
                               index > 0 ? "," : "", (unsigned)index, (int)name, names);
        index++;
        names += name + (names[name] == ' ');
    }
    at += (size_t)snprintf(written + at, size - at, "],\"stop_reason\":\"tool_use\"}");
    toolcore_str_t whole = { written, at };
    CHECK_STATUS(toolcore_reply_mem_size(ANTHROPIC, whole, NULL, &need, NULL), TOOLCORE_OK);
    CHECK_STATUS(toolcore_reply_parse(ANTHROPIC, whole, NULL, block(need), need, &reply, NULL), TOOLCORE_OK);
    CHECK_SIZE(toolcore_reply_len(reply), index);
    return reply;
}

/* Starts a turn in this memory, at the time that it is. */
static inline toolcore_status_t begin_in(const toolcore_reply_t *reply, void *memory, size_t size)
{
    toolcore_detail_t fresh = TOOLCORE_DETAIL_INIT;
    why = fresh;
    turn_number = 0;
    return toolcore_start(inflight, tools, reply, &opts, memory, size, now, &why);
}

/* With room for results of 256 bytes. */
static inline toolcore_status_t begin_reply(const toolcore_reply_t *reply)
{
    size_t need = toolcore_start_mem_size(toolcore_reply_len(reply), 256);
    return begin_in(reply, block(need), need);
}

static inline void begin(const char *names)
{
    CHECK_STATUS(begin_reply(calls(names)), TOOLCORE_OK);
    CHECK(why.status == TOOLCORE_OK);
}

/* Polls; gives when to poll next. */
static inline uint64_t poll_at(uint64_t at)
{
    uint64_t next = 99;
    now = at;
    CHECK_STATUS(toolcore_poll(inflight, now, &next, NULL), TOOLCORE_OK);
    return next;
}

static inline toolcore_status_t complete(size_t ticket, const char *answer_text)
{
    return toolcore_complete_text(inflight, tickets[ticket - 1], now, text(answer_text));
}

/* What the model reads of each call, "text|!text" with a mark on those that failed. */
static inline void check_read(const char *expected)
{
    char got[8192] = "";
    for (unsigned index = 0;; index++) {
        char place[64], decoded[8192];
        toolcore_str_t value;
        size_t out;
        snprintf(place, sizeof place, "/0/content/%u/content", index);
        if (toolcore_json_get((toolcore_str_t){ buf, len }, text(place), &value) != TOOLCORE_OK)
            break;
        CHECK_STATUS(toolcore_json_string(value, decoded, sizeof decoded, &out), TOOLCORE_OK);
        decoded[out < sizeof decoded ? out : 0] = 0;
        snprintf(place, sizeof place, "/0/content/%u/is_error", index);
        int failed = toolcore_json_get((toolcore_str_t){ buf, len }, text(place), &value) == TOOLCORE_OK;
        append(got, sizeof got, index > 0 ? "|" : "");
        append(got, sizeof got, failed ? "!" : "");
        append(got, sizeof got, decoded);
    }
    CHECK_TEXT(got, strlen(got), expected);
}

/* Finishes, and compares what the model reads. */
static inline void finish(const char *expected)
{
    toolcore_outcome_t fresh = TOOLCORE_OUTCOME_INIT;
    outcome = fresh;
    CHECK_STATUS(toolcore_finish(inflight, now, buf, sizeof buf, &len, &outcome, &why), TOOLCORE_OK);
    CHECK(buf[len] == 0);
    turn_number = NO_TURN;
    check_read(expected);
}

static inline toolcore_inflight_stats_t stats(void)
{
    toolcore_inflight_stats_t got = TOOLCORE_INFLIGHT_STATS_INIT;
    CHECK_STATUS(toolcore_inflight_stats(inflight, &got), TOOLCORE_OK);
    CHECK_SIZE(got.struct_size, sizeof got);
    CHECK_SIZE(got.reserved, 0);
    return got;
}

static inline void check_events(const char *expected)
{
    CHECK_TEXT(events, strlen(events), expected);
    events[0] = 0;
}

static inline void check_asked(const char *expected)
{
    CHECK_TEXT(asked, strlen(asked), expected);
    asked[0] = 0;
}

#endif

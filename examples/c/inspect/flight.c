/* Calls in flight: a turn at a time, over a clock that jumps from one thing that is due to the next. */
#include "inspect.h"

static struct {
    toolcore_inflight_t *calls;
    struct flight *flights;
    size_t len, first; /* of the turn that is open or was the last */
    bool open, logged, late;
    uint64_t next_ms;
    void *turn, *result;
    size_t turn_size, result_size;
    uint64_t asked;
} table;

static void start_line(const struct flight *flight, const char *what)
{
    toolcore_json_writer_object_start(&out);
    put_u64("at_ms", clock_ms);
    put_nullable("id", flight->id, flight->has_id);
    put_text("what", text_of(what));
}

static struct flight *of_ticket(uint64_t ticket)
{
    for (size_t i = 0; ticket != 0 && i < table.len; i++)
        if (table.flights[i].ticket == ticket)
            return &table.flights[i];
    return NULL;
}

static void told(void *user_data, const toolcore_event_t *event)
{
    static const char *const what[] = { "", "called", "progress", "finished", "timed_out", "cancelled", "late",
                                        "abandoned" };
    /* One of an earlier turn has no call, but it has a ticket. */
    struct flight *flight = event->call != NULL ? &table.flights[table.first + event->index] : of_ticket(event->ticket);
    (void)user_data;
    if (event->kind == TOOLCORE_EVENT_CALLED)
        flight->ticket = event->ticket;
    if (event->result != NULL)
        flight->kind = toolcore_result_kind(event->result);
    table.late = table.late || event->kind == TOOLCORE_EVENT_LATE;
    if (!table.logged)
        return;
    start_line(flight, what[event->kind]);
    if (event->kind == TOOLCORE_EVENT_PROGRESS) {
        put_u64("done", event->done);
        put_u64("total", event->total);
        put_text("message", event->message);
    }
    toolcore_json_writer_object_end(&out);
}

/* A ticket that was refused is a line, too, unless the library has told of it. */
static bool refused(const struct flight *flight, toolcore_status_t status)
{
    const char *what = status == TOOLCORE_ERR_LATE      ? "late"
                     : status == TOOLCORE_ERR_DOUBLED   ? "doubled"
                     : status == TOOLCORE_ERR_STALE     ? "stale"
                     : status == TOOLCORE_ERR_NOT_FOUND ? "unknown" : NULL;
    if (what == NULL)
        return ok(status);
    if (table.logged && !table.late) {
        start_line(flight, what);
        toolcore_json_writer_object_end(&out);
    }
    return true;
}

/* What the tools do (tools.c). */

toolcore_status_t keep_flight(const struct behaviour *behaviour, const toolcore_call_t *call)
{
    struct flight *flight = of_ticket(toolcore_call_ticket(call));
    if (flight == NULL || !copy(toolcore_call_arguments(call), &flight->arguments))
        return TOOLCORE_ERR_NO_SPACE;
    flight->behaviour = behaviour;
    flight->due_ms = behaviour->after_ms < UINT64_MAX - clock_ms ? clock_ms + behaviour->after_ms : UINT64_MAX;
    return TOOLCORE_PENDING;
}

toolcore_status_t cancel_flight(void *user_data, uint64_t ticket)
{
    const struct behaviour *behaviour = user_data;
    struct flight *flight = of_ticket(ticket);
    table.asked++;
    if (behaviour->stubborn)
        return TOOLCORE_PENDING;
    flight->due_ms = UINT64_MAX;
    return TOOLCORE_OK;
}

/* What the host does. */

bool start_flights(struct flight *flights, size_t len, toolcore_inflight_opts_t *opts, bool logged)
{
    size_t size, piece;
    void *memory;
    opts->event = told;
    size = toolcore_inflight_mem_size(opts);
    memory = allocate(size);
    if (memory == NULL || !ok(toolcore_inflight_init(opts, memory, size, &table.calls)))
        return false;
    table.flights = flights;
    table.len = len;
    table.first = 0;
    table.open = false;
    table.logged = logged;
    table.next_ms = UINT64_MAX;
    table.asked = 0;
    for (size_t i = 0; i < len; i++) {
        flights[i].arguments = TOOLCORE_STR("{}");
        flights[i].due_ms = UINT64_MAX;
    }
    piece = arena_left() / 4;
    table.turn_size = table.result_size = piece;
    table.turn = allocate(piece);
    table.result = allocate(piece);
    return table.turn != NULL && table.result != NULL;
}

bool poll_flights(void)
{
    return ok(toolcore_poll(table.calls, clock_ms, &table.next_ms, &why));
}

bool start_turn(const toolcore_registry_t *registry, const toolcore_reply_t *reply, const toolcore_answer_opts_t *opts,
                size_t first)
{
    table.first = first;
    table.open = true;
    return ok(toolcore_start(table.calls, registry, reply, opts, table.turn, table.turn_size, clock_ms, &why)) &&
           poll_flights();
}

bool turn_is_open(void)
{
    return table.open;
}

bool turn_is_done(void)
{
    return table.open && toolcore_done(table.calls);
}

bool cancel_calls(size_t index)
{
    return ok(toolcore_cancel(table.calls, index == TOOLCORE_CALL_ALL ? index : index - table.first, clock_ms)) &&
           poll_flights();
}

/* Its messages are kept until the answer is out. */
bool finish_turn(str *messages)
{
    size_t need;
    char *buffer;
    table.open = false;
    if (!ok(toolcore_finish(table.calls, clock_ms, NULL, 0, &need, NULL, &why)))
        return false;
    buffer = allocate(need + 1);
    messages->ptr = buffer;
    return buffer != NULL &&
           ok(toolcore_finish(table.calls, clock_ms, buffer, need + 1, &messages->len, NULL, &why)) && poll_flights();
}

bool complete_flight(struct flight *flight, const struct content *content)
{
    toolcore_status_t status;
    toolcore_result_t *result;
    flight->due_ms = UINT64_MAX;
    table.late = false;
    if (content->failed) {
        status = toolcore_fail(table.calls, flight->ticket, clock_ms, content->error);
    } else {
        if (!ok(toolcore_result_init(table.result, table.result_size, &result)) ||
            !ok(content->echo ? toolcore_result_json(result, flight->arguments) : append(result, content)))
            return false;
        status = toolcore_complete(table.calls, flight->ticket, clock_ms, result);
        toolcore_result_deinit(result);
    }
    /* There may be room for the next call: a poll is wanted now, after all else that comes at this time. */
    table.next_ms = clock_ms;
    return refused(flight, status);
}

bool progress_flight(const struct flight *flight, uint64_t done, uint64_t total, str message)
{
    table.late = false;
    return refused(flight, toolcore_progress(table.calls, flight->ticket, clock_ms, done, total, message));
}

/* Runs the clock until `limit_ms`, the turn is done, or nothing is due any more. What a tool brings at a time comes
 * before what the library does then, and at the limit that is left to the next run: what else comes then is first. */
bool run_flights(uint64_t limit_ms)
{
    while (!turn_is_done()) {
        struct flight *first = NULL;
        uint64_t at_ms = table.next_ms;
        for (size_t i = 0; i < table.len; i++) {
            struct flight *flight = &table.flights[i];
            if (flight->due_ms < UINT64_MAX && flight->due_ms <= at_ms && (first == NULL || flight->due_ms < at_ms)) {
                first = flight;
                at_ms = flight->due_ms;
            }
        }
        if (at_ms > limit_ms || at_ms == UINT64_MAX || (first == NULL && at_ms == limit_ms)) {
            if (limit_ms < UINT64_MAX && limit_ms > clock_ms)
                clock_ms = limit_ms;
            return true;
        }
        if (at_ms > clock_ms)
            clock_ms = at_ms;
        if (!(first != NULL ? complete_flight(first, &first->behaviour->content) : poll_flights()))
            return false;
    }
    return true;
}

/* What became of the calls. */
void put_outcomes(void)
{
    put_key("outcomes");
    toolcore_json_writer_array_start(&out);
    for (const struct flight *flight = table.flights; flight < table.flights + table.len; flight++) {
        toolcore_json_writer_object_start(&out);
        put_nullable("id", flight->id, flight->has_id);
        put_text("name", flight->name);
        put_text("kind", text_of(toolcore_outcome_name(flight->kind)));
        toolcore_json_writer_object_end(&out);
    }
    toolcore_json_writer_array_end(&out);
}

bool put_counts(void)
{
    toolcore_inflight_stats_t stats = TOOLCORE_INFLIGHT_STATS_INIT;
    if (!ok(toolcore_inflight_stats(table.calls, &stats)))
        return false;
    put_key("counts");
    toolcore_json_writer_object_start(&out);
    put_u64("completed", stats.completed);
    put_u64("timed_out", stats.timed_out);
    put_u64("cancelled", stats.cancelled);
    put_u64("asked", table.asked);
    put_u64("abandoned", stats.abandoned);
    put_u64("late", stats.late);
    put_u64("doubled", stats.doubled);
    put_u64("stale", stats.stale);
    put_u64("unknown", stats.unknown);
    put_u64("in_flight", stats.in_flight);
    toolcore_json_writer_object_end(&out);
    return true;
}

void end_flights(void)
{
    toolcore_inflight_deinit(table.calls);
}

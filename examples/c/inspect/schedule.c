/* The op schedule: calls that answer later over a manual clock, which jumps to each event, and between them to
 * whatever is due: a poll that the library asked for, an answer of a tool that brings it by itself. When the events
 * are through, the clock runs on until nothing is due any more.
 *
 * An event has `at_ms` and one of these. They happen in their order; one whose time is over happens at once.
 *
 *   "call"      {"id","name","arguments"} or a list of them. Successive events of one time are one reply of the
 *               dialect, and a turn. As a model says nothing new before it has its results, a reply that comes while
 *               a turn is open waits until that is finished.
 *   "complete"  ID or {"id"} with what a tool answers; or {"id", "text"|"json"|"error"|"parts"}
 *   "progress"  {"id","done","total"?,"message"?}
 *   "cancel"    ID, or true for all calls of the turn that is open
 *   "poll"      true: a poll that the library did not ask for
 *   "finish"    true: ends the turn early; what has no result is cancelled
 *
 * A tool with the behaviour {"pending_ms":N} answers N ms after its call and heeds when it is asked to end, one with
 * {"stubborn_ms":N} does not; null in place of N is never. Any other tool answers at once. A turn is finished as soon
 * as all its calls have their results. At one time, what tools bring comes before events, and both before polls.
 *
 * The answer: `log` has a line for each event of the library, and one for each ticket that it refused of which it did
 * not tell (late, doubled, stale, unknown); `messages` are those of the turn, or of several turns a list of theirs;
 * `outcomes` is as in `answer`; `counts` are those of toolcore_inflight_stats, and how often a tool was asked to end. */
#include <string.h>

#include "inspect.h"

struct turn { size_t first, len; str messages; };

static struct {
    uint32_t dialect;
    toolcore_registry_t *registry;
    toolcore_answer_opts_t opts;
    struct flight *flights;
    toolcore_tool_call_t *calls;
    size_t len;
    struct turn *turns;
    size_t arrived, begun;
} plan;

/* A reply of the dialect that makes the calls of a turn. */

static bool write_mcp_call(const toolcore_tool_call_t *call, str *json)
{
    toolcore_json_writer_t writer;
    size_t size = (call->id.len + call->name.len) * 6 + call->arguments.len + 64;
    char *buffer = allocate(size);
    if (buffer == NULL)
        return false;
    json->ptr = buffer;
    toolcore_json_writer_init(&writer, buffer, size);
    toolcore_json_writer_object_start(&writer);
    toolcore_json_writer_key(&writer, TOOLCORE_STR("id"));
    toolcore_json_writer_string(&writer, call->id);
    toolcore_json_writer_key(&writer, TOOLCORE_STR("name"));
    toolcore_json_writer_string(&writer, call->name);
    toolcore_json_writer_key(&writer, TOOLCORE_STR("arguments"));
    toolcore_json_writer_raw(&writer, call->arguments.len > 0 ? call->arguments : TOOLCORE_STR("{}"));
    toolcore_json_writer_object_end(&writer);
    return ok(toolcore_json_writer_end(&writer, &json->len));
}

static bool write_reply(const struct turn *turn, str *json)
{
    toolcore_replay_opts_t opts = TOOLCORE_REPLAY_OPTS_INIT;
    const toolcore_tool_call_t *calls = &plan.calls[turn->first];
    size_t len = turn->len, need;
    char *buffer;
    if (plan.dialect == TOOLCORE_DIALECT_MCP)
        return len == 1 ? write_mcp_call(calls, json) : refuse("request", "a turn of mcp has one call");
    /* One message is a reply; where a turn is a list of items, that is. */
    opts.flags = plan.dialect != TOOLCORE_DIALECT_OPENAI_RESPONSES ? TOOLCORE_REPLAY_BARE : 0;
    if (!ok(toolcore_turn_render(plan.dialect, TOOLCORE_STR(""), calls, len, &opts, NULL, 0, &need, &why)))
        return false;
    json->ptr = buffer = allocate(need + 1);
    return buffer != NULL && ok(toolcore_turn_render(plan.dialect, TOOLCORE_STR(""), calls, len, &opts, buffer,
                                                     need + 1, &json->len, &why));
}

/* Turns. */

static bool begin_waiting_turn(void)
{
    toolcore_reply_t *reply;
    str json;
    if (turn_is_open() || plan.begun == plan.arrived)
        return true;
    struct turn *turn = &plan.turns[plan.begun++];
    if (!write_reply(turn, &json) || !parse_reply(plan.dialect, json, NULL, &reply))
        return false;
    return toolcore_reply_len(reply) == turn->len ? start_turn(plan.registry, reply, &plan.opts, turn->first)
                                                  : refuse("request", "the reply does not have the calls of the turn");
}

static bool end_turn(void)
{
    return !turn_is_open() || (finish_turn(&plan.turns[plan.begun - 1].messages) && begin_waiting_turn());
}

static bool advance(uint64_t limit_ms)
{
    bool done = run_flights(limit_ms);
    while (done && turn_is_done())
        done = end_turn() && run_flights(limit_ms);
    return done;
}

/* Events. */

static bool add_call(str json, struct turn *turn)
{
    toolcore_tool_call_t *call = &plan.calls[plan.len];
    struct flight *flight = &plan.flights[plan.len];
    if (!read_call(json, call))
        return false;
    flight->id = call->id;
    flight->has_id = (call->flags & TOOLCORE_CALL_HAS_ID) != 0;
    flight->name = call->name;
    plan.len++;
    turn->len++;
    return true;
}

static bool add_calls(str json, struct turn *turn)
{
    toolcore_json_iter_t iter;
    str item;
    if (toolcore_json_kind(json) != TOOLCORE_JSON_ARRAY)
        return add_call(json, turn);
    bool done = ok(toolcore_json_iter_init(&iter, json));
    while (done && toolcore_json_iter_next(&iter, NULL, &item))
        done = add_call(item, turn);
    return done;
}

/* The latest call of that id. */
static bool find_flight(str value, const char *name, struct flight **flight)
{
    str id, json = value;
    bool object = toolcore_json_kind(value) == TOOLCORE_JSON_OBJECT;
    if ((object && !need(value, "id", &json)) || !decode(json, object ? "id" : name, &id))
        return false;
    for (size_t i = plan.len; i > 0; i--) {
        *flight = &plan.flights[i - 1];
        if ((*flight)->has_id && (*flight)->id.len == id.len && memcmp((*flight)->id.ptr, id.ptr, id.len) == 0)
            return true;
    }
    return refuse("request", "'%s' is of a call that there is not, yet", name);
}

static bool complete_call(str value)
{
    static const struct content echo = { .echo = true };
    struct content content = { 0 };
    struct flight *flight;
    if (!find_flight(value, "complete", &flight))
        return false;
    content.echo = true;
    if (toolcore_json_kind(value) == TOOLCORE_JSON_OBJECT &&
        (!only(value, "what completes a call", "id text json error parts") || !read_content(value, &content)))
        return false;
    return complete_flight(flight, !content.echo             ? &content
                                   : flight->behaviour != NULL ? &flight->behaviour->content : &echo);
}

static bool tell_progress(str value)
{
    struct flight *flight;
    uint64_t done = 0, total = 0;
    str message = TOOLCORE_STR("");
    return only(value, "'progress'", "id done total message") && find_flight(value, "progress", &flight) &&
           get_u64(value, "done", UINT64_MAX, &done) && get_u64(value, "total", UINT64_MAX, &total) &&
           get_text(value, "message", &message) && progress_flight(flight, done, total, message);
}

static bool cancel(str value)
{
    struct flight *flight;
    if (toolcore_json_kind(value) == TOOLCORE_JSON_BOOLEAN)
        return !turn_is_open() || cancel_calls(TOOLCORE_CALL_ALL);
    if (!find_flight(value, "cancel", &flight))
        return false;
    size_t index = (size_t)(flight - plan.flights);
    const struct turn *turn = &plan.turns[plan.begun - 1];
    if (index >= turn->first + turn->len)
        return refuse("request", "'cancel' is of a call whose turn has not begun");
    /* One of a turn that was finished has its result. */
    return !turn_is_open() || index < turn->first || cancel_calls(index);
}

static bool happen(str event)
{
    str value;
    if (has(event, "complete", &value))
        return complete_call(value);
    if (has(event, "progress", &value))
        return tell_progress(value);
    if (has(event, "cancel", &value))
        return cancel(value);
    if (has(event, "finish", &value))
        return end_turn();
    return has(event, "poll", &value) ? poll_flights() : refuse("request", "an event says nothing but its time");
}

static bool run_events(toolcore_json_iter_t *iter)
{
    str event, value, next;
    uint64_t at_ms, next_ms;
    while (toolcore_json_iter_next(iter, NULL, &event)) {
        at_ms = clock_ms;
        if (!only(event, "an event", "at_ms call complete progress cancel poll finish") ||
            !need(event, "at_ms", &value) || !get_u64(event, "at_ms", UINT32_MAX, &at_ms) || !advance(at_ms))
            return false;
        if (!has(event, "call", &value)) {
            if (!happen(event))
                return false;
            continue;
        }
        struct turn *turn = &plan.turns[plan.arrived++];
        turn->first = plan.len;
        for (;;) {
            toolcore_json_iter_t ahead = *iter;
            next_ms = UINT64_MAX;
            if (!add_calls(value, turn))
                return false;
            if (!toolcore_json_iter_next(&ahead, NULL, &next) || !has(next, "call", &value) ||
                !get_u64(next, "at_ms", UINT32_MAX, &next_ms) || next_ms != at_ms)
                break;
            *iter = ahead;
        }
        if (turn->len == 0 ? !refuse("request", "'call' is empty") : !begin_waiting_turn())
            return false;
    }
    return true;
}

/* How many calls there may be: the elements of lists, and calls by themselves. */
static size_t count_calls(toolcore_json_iter_t iter)
{
    toolcore_json_iter_t calls;
    size_t count = 0;
    str event, value;
    while (toolcore_json_iter_next(&iter, NULL, &event)) {
        if (!has(event, "call", &value))
            continue;
        if (toolcore_json_kind(value) != TOOLCORE_JSON_ARRAY)
            count++;
        else if (toolcore_json_iter_init(&calls, value) == TOOLCORE_OK)
            while (toolcore_json_iter_next(&calls, NULL, &value))
                count++;
    }
    return count;
}

static bool read_plan(str request, toolcore_json_iter_t *events, toolcore_inflight_opts_t *opts)
{
    size_t events_len;
    str json;
    memset(&plan, 0, sizeof plan);
    plan.opts = (toolcore_answer_opts_t)TOOLCORE_ANSWER_OPTS_INIT;
    if (!only(request, "the request",
              "op dialect tools events grace_ms side_by_side timeout_ms max_calls result_limit lenient") ||
        !get_dialect(request, &plan.dialect) || !get_array(request, "events", events, &events_len) ||
        !get_u64(request, "grace_ms", UINT64_MAX, &opts->grace_ms) ||
        !get_u32(request, "side_by_side", &opts->side_by_side) || !read_answer_opts(request, &plan.opts) ||
        !add_tools(request, &plan.registry))
        return false;
    if (opts->grace_ms == 0 && has(request, "grace_ms", &json))
        opts->flags = TOOLCORE_INFLIGHT_NO_GRACE;
    size_t len = count_calls(*events);
    plan.turns = allocate_array(events_len, sizeof *plan.turns);
    plan.calls = allocate_array(len, sizeof *plan.calls);
    plan.flights = allocate_array(len, sizeof *plan.flights);
    return plan.turns != NULL && plan.calls != NULL && plan.flights != NULL &&
           start_flights(plan.flights, len, opts, true);
}

bool op_schedule(str request)
{
    toolcore_inflight_opts_t opts = TOOLCORE_INFLIGHT_OPTS_INIT;
    toolcore_json_iter_t events;
    if (!read_plan(request, &events, &opts))
        return false;
    put_key("log");
    toolcore_json_writer_array_start(&out);
    bool done = run_events(&events);
    while (done && turn_is_open())
        done = advance(UINT64_MAX) && end_turn();
    if (!done || !run_flights(UINT64_MAX))
        return false;
    toolcore_json_writer_array_end(&out);
    if (plan.begun <= 1) {
        put_output("messages", plan.dialect, plan.begun == 1 ? plan.turns[0].messages : TOOLCORE_STR(""));
    } else {
        put_key("messages");
        toolcore_json_writer_array_start(&out);
        for (size_t i = 0; i < plan.begun; i++)
            put_output_value(plan.dialect, plan.turns[i].messages);
        toolcore_json_writer_array_end(&out);
    }
    put_outcomes();
    bool counted = put_counts();
    end_flights();
    toolcore_registry_deinit(plan.registry);
    return counted;
}

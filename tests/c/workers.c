/* Tools that block, on worker threads: their callers are free at the deadline, and user_data is let go of once, when the
 * last call has ended. Meant for the thread sanitizer too. */
#define _POSIX_C_SOURCE 200112L
#include <pthread.h>
#include <time.h>

#include "tools.h"

static uint64_t now_ms(void *user_data)
{
    struct timespec now;
    (void)user_data;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static const toolcore_clock_t host_clock = { sizeof(toolcore_clock_t), NULL, now_ms };

static void sleep_ms(long millis)
{
    struct timespec time = { millis / 1000, millis % 1000 * 1000000 };
    nanosleep(&time, NULL);
}

/* A gate that tools wait at. */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int gate_open, at_gate, most_at_gate, dropped;

static void set_gate(int is_open)
{
    pthread_mutex_lock(&lock);
    gate_open = is_open;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static int read_locked(const int *value)
{
    int read;
    pthread_mutex_lock(&lock);
    read = *value;
    pthread_mutex_unlock(&lock);
    return read;
}

static toolcore_status_t wait_at_gate(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    (void)user_data;
    pthread_mutex_lock(&lock);
    if (++at_gate > most_at_gate)
        most_at_gate = at_gate;
    pthread_cond_broadcast(&changed);
    while (!gate_open)
        pthread_cond_wait(&changed, &lock);
    at_gate--;
    pthread_mutex_unlock(&lock);
    return toolcore_result_json(result, toolcore_call_arguments(call));
}

static void count_drop(void *user_data)
{
    (void)user_data;
    pthread_mutex_lock(&lock);
    dropped++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static toolcore_status_t answer_later(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    (void)user_data;
    (void)call;
    (void)result;
    return TOOLCORE_PENDING;
}

static toolcore_registry_t *tools;
static toolcore_workers_t *workers;

static void open_all(size_t max_threads, uint64_t timeout_ms)
{
    toolcore_workers_opts_t opts = TOOLCORE_WORKERS_OPTS_INIT;
    toolcore_tool_t added = tool("gate", NULL);
    opts.max_threads = max_threads;
    opts.clock = &host_clock;
    CHECK_STATUS(toolcore_workers_init(&opts, block(toolcore_workers_mem_size()), toolcore_workers_mem_size(), &workers),
                 TOOLCORE_OK);
    tools = registry(4, 0, 0);
    added.schema = text("{\"type\":\"object\"}");
    added.run = wait_at_gate;
    added.drop = count_drop;
    added.timeout_ms = timeout_ms;
    added.workers = workers;
    CHECK_STATUS(toolcore_registry_add(tools, &added, NULL), TOOLCORE_OK);
    gate_open = at_gate = most_at_gate = dropped = 0;
}

static char scratch[65536], out[8192];
static size_t out_len;

#define CALL(id) "{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"gate\",\"input\":{\"n\":" id "}}"
#define RESULT(id, content) "{\"type\":\"tool_result\",\"tool_use_id\":\"" id "\",\"content\":\"" content "\""
#define TIMED_OUT "[TOOL_TIMEOUT] Tool 'gate' timed out after 0.03s"

static uint64_t answer(const char *reply)
{
    toolcore_answer_opts_t opts = TOOLCORE_ANSWER_OPTS_INIT;
    uint64_t start = now_ms(NULL);
    opts.clock = &host_clock;
    CHECK_STATUS(toolcore_answer(tools, TOOLCORE_DIALECT_ANTHROPIC, text(reply), &opts, scratch, sizeof scratch, out,
                                 sizeof out, &out_len, NULL, NULL),
                 TOOLCORE_OK);
    return now_ms(NULL) - start;
}

static toolcore_workers_stats_t stats(void)
{
    toolcore_workers_stats_t stats = TOOLCORE_WORKERS_STATS_INIT;
    CHECK_STATUS(toolcore_workers_stats(workers, &stats), TOOLCORE_OK);
    return stats;
}

TEST(an_answer_waits_for_a_tool_that_ends_in_time)
{
    open_all(0, 20000);
    set_gate(1);
    answer("{\"content\":[" CALL("1") "," CALL("2") "]}");
    CHECK_TEXT(out, out_len,
               "[{\"role\":\"user\",\"content\":[" RESULT("1", "{\\\"n\\\":1}") "}," RESULT("2", "{\\\"n\\\":2}") "}]}]");
    toolcore_registry_deinit(tools);
    CHECK(read_locked(&dropped) == 1);
    size_t running = 9;
    toolcore_workers_deinit(workers, &running);
    CHECK_SIZE(running, 0);
    toolcore_workers_deinit(workers, &running);
    toolcore_workers_deinit(NULL, NULL);
}

TEST(the_caller_is_free_at_the_deadline_and_the_call_is_abandoned)
{
    uint64_t took = 0;
    open_all(0, 30);
    /* A machine under load wakes late: the best of a few tries counts. */
    for (int tries = 0; tries < 7; tries++) {
        took = answer("{\"content\":[" CALL("1") "]}");
        CHECK_TEXT(out, out_len, "[{\"role\":\"user\",\"content\":[" RESULT("1", TIMED_OUT) ",\"is_error\":true}]}]");
        CHECK(took >= 30);
        if (took <= 36)
            break;
    }
    CHECK(took <= 36);
    CHECK(stats().abandoned >= 1 && stats().abandoned_total == stats().abandoned);
    for (int tries = 0; tries < 8 && stats().abandoned < 8; tries++)
        answer("{\"content\":[" CALL("1") "]}");
    CHECK(stats().warning == 1);
    /* The tool and the pool go, the calls still run. */
    toolcore_registry_deinit(tools);
    size_t running = 0;
    toolcore_workers_deinit(workers, &running);
    CHECK(running >= 8);
    CHECK(read_locked(&dropped) == 0);
    set_gate(1);
    pthread_mutex_lock(&lock);
    while (dropped == 0)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    sleep_ms(20);
    CHECK(read_locked(&dropped) == 1);
}

TEST(the_calls_of_a_turn_run_side_by_side)
{
    static char reply_memory[4096], turn_memory[16384];
    toolcore_inflight_t *inflight = NULL;
    toolcore_reply_t *reply = NULL;
    toolcore_answer_opts_t opts = TOOLCORE_ANSWER_OPTS_INIT;
    size_t need = toolcore_inflight_mem_size(NULL), received = 0, all = 0;
    uint64_t next = 0;
    opts.clock = &host_clock;
    open_all(3, 20000);
    CHECK_STATUS(toolcore_inflight_init(NULL, block(need), need, &inflight), TOOLCORE_OK);
    CHECK_STATUS(toolcore_reply_parse(TOOLCORE_DIALECT_ANTHROPIC,
                                      text("{\"content\":[" CALL("1") "," CALL("2") "," CALL("3") "," CALL("4") "]}"),
                                      NULL, reply_memory, sizeof reply_memory, &reply, NULL),
                 TOOLCORE_OK);
    CHECK_STATUS(toolcore_start(inflight, tools, reply, &opts, turn_memory, sizeof turn_memory, now_ms(NULL), NULL),
                 TOOLCORE_OK);
    pthread_mutex_lock(&lock);
    while (at_gate < 3)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    CHECK(!toolcore_workers_wait(workers, 0));
    CHECK_SIZE(stats().queued, 1);
    set_gate(1);
    while (!toolcore_done(inflight)) {
        CHECK_STATUS(toolcore_poll(inflight, now_ms(NULL), &next, NULL), TOOLCORE_OK);
        CHECK(toolcore_workers_wait(workers, UINT64_MAX));
        CHECK_STATUS(toolcore_workers_receive(inflight, workers, now_ms(NULL), &received), TOOLCORE_OK);
        all += received;
    }
    CHECK_SIZE(all, 4);
    CHECK(read_locked(&most_at_gate) == 3);
    CHECK_STATUS(toolcore_finish(inflight, now_ms(NULL), out, sizeof out, &out_len, NULL, NULL), TOOLCORE_OK);
    CHECK_TEXT(out, out_len,
               "[{\"role\":\"user\",\"content\":[" RESULT("1", "{\\\"n\\\":1}") "}," RESULT("2", "{\\\"n\\\":2}") "}," RESULT(
                   "3", "{\\\"n\\\":3}") "}," RESULT("4", "{\\\"n\\\":4}") "}]}]");

    /* Cancelled while it runs: abandoned at once, and discarded when it ends. */
    set_gate(0);
    CHECK_STATUS(toolcore_reply_parse(TOOLCORE_DIALECT_ANTHROPIC, text("{\"content\":[" CALL("5") "]}"), NULL,
                                      reply_memory, sizeof reply_memory, &reply, NULL),
                 TOOLCORE_OK);
    CHECK_STATUS(toolcore_start(inflight, tools, reply, &opts, turn_memory, sizeof turn_memory, now_ms(NULL), NULL),
                 TOOLCORE_OK);
    pthread_mutex_lock(&lock);
    while (at_gate < 1)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    CHECK_STATUS(toolcore_finish(inflight, now_ms(NULL), out, sizeof out, &out_len, NULL, NULL), TOOLCORE_OK);
    CHECK_TEXT(out, out_len,
               "[{\"role\":\"user\",\"content\":[" RESULT("5", "Tool error: Tool 'gate' was cancelled") ",\"is_error\":true}]}]");
    toolcore_inflight_stats_t counted = TOOLCORE_INFLIGHT_STATS_INIT;
    CHECK_STATUS(toolcore_inflight_stats(inflight, &counted), TOOLCORE_OK);
    CHECK(counted.in_flight == 0 && counted.abandoned == 1 && counted.late == 0);
    set_gate(1);
    CHECK(toolcore_workers_wait(workers, 20000));
    CHECK_STATUS(toolcore_workers_receive(inflight, workers, now_ms(NULL), &received), TOOLCORE_OK);
    CHECK_STATUS(toolcore_inflight_stats(inflight, &counted), TOOLCORE_OK);
    CHECK(counted.late == 1);

    toolcore_inflight_deinit(inflight);
    toolcore_registry_deinit(tools);
    toolcore_workers_deinit(workers, NULL);
    CHECK(read_locked(&dropped) == 1);
}

TEST(what_cannot_run_on_a_thread_says_so)
{
    toolcore_tool_t added = tool("later", NULL);
    open_all(1, 1000);
    added.run = answer_later;
    added.workers = workers;
    CHECK_STATUS(toolcore_registry_add(tools, &added, NULL), TOOLCORE_OK);
    answer("{\"content\":[{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"later\",\"input\":{}}]}");
    CHECK_TEXT(out, out_len,
               "[{\"role\":\"user\",\"content\":[" RESULT(
                   "1", "Tool error: the tool runs on a worker thread, and cannot answer later") ",\"is_error\":true}]}]");
    toolcore_workers_deinit(workers, NULL);
    /* A tool of a pool that has ended fails; none can be added with it. */
    set_gate(1);
    answer("{\"content\":[" CALL("1") "]}");
    CHECK(strstr(out, "Tool error") != NULL);
    int drops = 0;
    added = tool("another", &drops);
    added.workers = workers;
    CHECK_STATUS(toolcore_registry_add(tools, &added, NULL), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK(drops == 1);
    toolcore_registry_deinit(tools);
    CHECK(read_locked(&dropped) == 1);
    CHECK_STATUS(toolcore_workers_init(NULL, block(1), 1, &workers), TOOLCORE_ERR_NO_SPACE);
    CHECK(!toolcore_workers_wait(NULL, 0));
}

TEST(nothing_is_received_where_the_tools_have_ended)
{
    static char reply_memory[4096], turn_memory[16384];
    toolcore_inflight_t *inflight = NULL;
    toolcore_reply_t *reply = NULL;
    toolcore_answer_opts_t opts = TOOLCORE_ANSWER_OPTS_INIT;
    size_t need = toolcore_inflight_mem_size(NULL), received = 9;
    opts.clock = &host_clock;
    open_all(1, 20000);
    set_gate(1);
    CHECK_STATUS(toolcore_inflight_init(NULL, block(need), need, &inflight), TOOLCORE_OK);
    CHECK_STATUS(toolcore_reply_parse(TOOLCORE_DIALECT_ANTHROPIC, text("{\"content\":[" CALL("1") "]}"), NULL,
                                      reply_memory, sizeof reply_memory, &reply, NULL),
                 TOOLCORE_OK);
    CHECK_STATUS(toolcore_start(inflight, tools, reply, &opts, turn_memory, sizeof turn_memory, now_ms(NULL), NULL),
                 TOOLCORE_OK);
    CHECK(toolcore_workers_wait(workers, 20000));
    toolcore_registry_deinit(tools);
    CHECK_STATUS(toolcore_workers_receive(inflight, workers, now_ms(NULL), &received), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_SIZE(received, 9);
    CHECK(toolcore_workers_wait(workers, 0));
    toolcore_inflight_deinit(inflight);
    toolcore_workers_deinit(workers, NULL);
    CHECK(read_locked(&dropped) == 1);
}

int main(void)
{
    RUN(an_answer_waits_for_a_tool_that_ends_in_time);
    RUN(the_caller_is_free_at_the_deadline_and_the_call_is_abandoned);
    RUN(the_calls_of_a_turn_run_side_by_side);
    RUN(what_cannot_run_on_a_thread_says_so);
    RUN(nothing_is_received_where_the_tools_have_ended);
    return check_end();
}

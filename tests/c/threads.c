/* Eight threads answer over one const registry, each with scratch and output of its own: they get the bytes that
 * one thread gets. Meant for valgrind's helgrind and the thread sanitizer too. */
#define _POSIX_C_SOURCE 200112L
#include <pthread.h>

#include "check.h"

#define THREADS 8
#define ROUNDS 40

static toolcore_status_t echo(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    (void)user_data;
    return toolcore_result_json(result, toolcore_call_arguments(call));
}

static toolcore_status_t fail(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    (void)user_data;
    (void)call;
    return toolcore_result_error(result, text("no"));
}

static uint64_t now_ms(void *user_data)
{
    return *(const uint64_t *)user_data;
}

static const char *const replies[] = {
    "{\"content\":[{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"echo\",\"input\":{\"a\":[1,2.50,\"\\u00e9\"]}},"
    "{\"type\":\"tool_use\",\"id\":\"2\",\"name\":\"fail\",\"input\":{}}]}",
    "{\"content\":[{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"echo\",\"input\":{\"b\":\"x\"}},"
    "{\"type\":\"tool_use\",\"id\":\"2\",\"name\":\"nope\",\"input\":{}},"
    "{\"type\":\"tool_use\",\"id\":\"3\",\"name\":\"slow\",\"input\":{}}]}",
    "{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}",
};
#define REPLIES (sizeof replies / sizeof replies[0])

static const toolcore_registry_t *shared;
static char expected[REPLIES][4096], expected_tools[8192];
static size_t expected_len[REPLIES], expected_tools_len;

struct worker {
    char scratch[8192], out[4096], rendered[8192];
    uint64_t now;
    int wrong;
};

/* How a tool finds the worker whose thread it runs in. */
static pthread_key_t worker_key;

/* Takes 200 ms of its worker's own time. */
static toolcore_status_t slow(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    struct worker *worker = pthread_getspecific(worker_key);
    (void)user_data;
    (void)call;
    worker->now += 200;
    return toolcore_result_text(result, text("late"));
}

/* Each turn once: renders the tools, answers each reply. */
static void work(struct worker *worker, int first)
{
    const toolcore_clock_t clock = { sizeof clock, &worker->now, now_ms };
    toolcore_answer_opts_t opts = TOOLCORE_ANSWER_OPTS_INIT;
    size_t len = 0;
    opts.clock = &clock;
    worker->now = 0;
    if (toolcore_tools_render(shared, TOOLCORE_DIALECT_ANTHROPIC, NULL, worker->rendered, sizeof worker->rendered, &len,
                              NULL) != TOOLCORE_OK)
        worker->wrong++;
    if (first) {
        memcpy(expected_tools, worker->rendered, len);
        expected_tools_len = len;
    } else if (len != expected_tools_len || memcmp(worker->rendered, expected_tools, len) != 0) {
        worker->wrong++;
    }
    for (size_t i = 0; i < REPLIES; i++) {
        if (toolcore_answer(shared, TOOLCORE_DIALECT_ANTHROPIC, text(replies[i]), &opts, worker->scratch,
                            sizeof worker->scratch, worker->out, sizeof worker->out, &len, NULL, NULL) != TOOLCORE_OK)
            worker->wrong++;
        if (first) {
            memcpy(expected[i], worker->out, len);
            expected_len[i] = len;
        } else if (len != expected_len[i] || memcmp(worker->out, expected[i], len) != 0) {
            worker->wrong++;
        }
    }
}

static void *thread(void *argument)
{
    struct worker *worker = argument;
    pthread_setspecific(worker_key, worker);
    for (int round = 0; round < ROUNDS; round++)
        work(worker, 0);
    return NULL;
}

TEST(eight_threads_get_the_bytes_that_one_gets)
{
    static char mem[16384];
    static struct worker alone, workers[THREADS];
    pthread_t threads[THREADS];
    toolcore_registry_t *tools = NULL;
    toolcore_tool_t tool = TOOLCORE_TOOL_INIT;
    CHECK(pthread_key_create(&worker_key, NULL) == 0);
    CHECK_STATUS(toolcore_registry_init(NULL, mem, sizeof mem, &tools), TOOLCORE_OK);
    tool.schema = text("{\"type\":\"object\",\"properties\":{\"b\":{\"type\":\"string\"}}}");
    tool.name = text("echo");
    tool.run = echo;
    CHECK_STATUS(toolcore_registry_add(tools, &tool, NULL), TOOLCORE_OK);
    tool.name = text("fail");
    tool.run = fail;
    CHECK_STATUS(toolcore_registry_add(tools, &tool, NULL), TOOLCORE_OK);
    tool.name = text("slow");
    tool.run = slow;
    tool.timeout_ms = 100;
    CHECK_STATUS(toolcore_registry_add(tools, &tool, NULL), TOOLCORE_OK);
    shared = tools;

    CHECK(pthread_setspecific(worker_key, &alone) == 0);
    work(&alone, 1);
    CHECK_SIZE(alone.wrong, 0);
    CHECK(contains(expected[0], expected_len[0], "2.50") && contains(expected[0], expected_len[0], "Tool error: no"));
    CHECK(contains(expected[1], expected_len[1], "[TOOL_TIMEOUT] Tool 'slow' timed out after 0.1s"));
    CHECK_SIZE(expected_len[2], 0);

    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, thread, &workers[i]) == 0);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK_SIZE(workers[i].wrong, 0);
    }
    toolcore_registry_deinit(tools);
    CHECK(pthread_key_delete(worker_key) == 0);
}

int main(void)
{
    RUN(eight_threads_get_the_bytes_that_one_gets);
    return check_end();
}

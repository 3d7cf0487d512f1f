/* Calls in flight that are completed through a mailbox: from a thread, from a signal handler, from where they are; and
 * a counter of 32 bits as the clock. Meant for the thread sanitizer too. */
#define _POSIX_C_SOURCE 200112L
#include <pthread.h>
#include <signal.h>

#include "tools.h"

#define CALLS 3
#define TURNS 400

static const char reply_text[] =
    "{\"content\":[{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"later\",\"input\":{}},"
    "{\"type\":\"tool_use\",\"id\":\"2\",\"name\":\"later\",\"input\":{}},"
    "{\"type\":\"tool_use\",\"id\":\"3\",\"name\":\"later\",\"input\":{}}]}";

static uint64_t tickets[CALLS];
static size_t tickets_len;
static uint64_t now;

static toolcore_status_t later(void *user_data, const toolcore_call_t *call, toolcore_result_t *result)
{
    (void)user_data;
    (void)result;
    tickets[tickets_len++ % CALLS] = toolcore_call_ticket(call);
    return TOOLCORE_PENDING;
}

static uint64_t now_ms(void *user_data)
{
    (void)user_data;
    return now;
}

static toolcore_registry_t *tools;
static toolcore_inflight_t *inflight;
static toolcore_mailbox_t *mailbox;
static char reply_memory[4096], turn_memory[8192], out[4096];
static size_t out_len;

static void open_all(size_t messages, size_t text_bytes)
{
    size_t need = toolcore_inflight_mem_size(NULL);
    now = 0;
    tools = registry(4, 0, 0);
    toolcore_tool_t pending = tool("later", NULL);
    pending.run = later;
    pending.timeout_ms = 100;
    CHECK_STATUS(toolcore_registry_add(tools, &pending, NULL), TOOLCORE_OK);
    CHECK_STATUS(toolcore_inflight_init(NULL, block(need), need, &inflight), TOOLCORE_OK);
    need = toolcore_mailbox_mem_size(messages, text_bytes);
    CHECK_STATUS(toolcore_mailbox_init(block(need), need, &mailbox), TOOLCORE_OK);
}

static void begin(void)
{
    toolcore_clock_t clock = TOOLCORE_CLOCK_INIT;
    toolcore_answer_opts_t opts = TOOLCORE_ANSWER_OPTS_INIT;
    toolcore_reply_t *reply = NULL;
    clock.now_ms = now_ms;
    opts.clock = &clock;
    tickets_len = 0;
    CHECK_STATUS(toolcore_reply_parse(TOOLCORE_DIALECT_ANTHROPIC, text(reply_text), NULL, reply_memory,
                                      sizeof reply_memory, &reply, NULL),
                 TOOLCORE_OK);
    static toolcore_clock_t kept_clock;
    kept_clock = clock;
    opts.clock = &kept_clock;
    CHECK_STATUS(toolcore_start(inflight, tools, reply, &opts, turn_memory, sizeof turn_memory, now, NULL),
                 TOOLCORE_OK);
    CHECK_SIZE(tickets_len, CALLS);
}

static void end(void)
{
    CHECK_STATUS(toolcore_finish(inflight, now, out, sizeof out, &out_len, NULL, NULL), TOOLCORE_OK);
}

static void close_all(void)
{
    toolcore_mailbox_deinit(mailbox);
    toolcore_inflight_deinit(inflight);
    toolcore_registry_deinit(tools);
}

static size_t receive(void)
{
    size_t received = 99;
    CHECK_STATUS(toolcore_receive(inflight, mailbox, now, &received), TOOLCORE_OK);
    return received;
}

#define RESULT(id, content) "{\"type\":\"tool_result\",\"tool_use_id\":\"" id "\",\"content\":" content

TEST(messages_complete_fail_and_move_on_their_calls)
{
    open_all(8, 32);
    begin();
    CHECK(toolcore_mailbox_is_empty(mailbox));
    CHECK_STATUS(toolcore_mailbox_progress(mailbox, tickets[0], 1, 1, 2), TOOLCORE_OK);
    CHECK_STATUS(toolcore_mailbox_complete_json(mailbox, tickets[2], 2, text("{\"a\":1}")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_mailbox_fail(mailbox, tickets[1], 3, text("no such line")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_mailbox_complete_text(mailbox, tickets[0], 4, text("21 C")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_mailbox_complete_text(mailbox, tickets[0], 5, text("22 C")), TOOLCORE_OK);
    CHECK(!toolcore_mailbox_is_empty(mailbox));
    CHECK_SIZE(receive(), 5);
    CHECK_SIZE(receive(), 0);
    CHECK(toolcore_done(inflight));
    end();
    CHECK_TEXT(out, out_len,
               "[{\"role\":\"user\",\"content\":[" RESULT("1", "\"21 C\"") "}," RESULT(
                   "2", "\"Tool error: no such line\"") ",\"is_error\":true}," RESULT("3", "\"{\\\"a\\\":1}\"") "}]}]");
    toolcore_inflight_stats_t stats = TOOLCORE_INFLIGHT_STATS_INIT;
    CHECK_STATUS(toolcore_inflight_stats(inflight, &stats), TOOLCORE_OK);
    CHECK(stats.completed == 3 && stats.doubled == 1 && stats.in_flight == 0);
    close_all();
}

TEST(a_message_that_was_sent_in_time_is_in_time_also_if_it_is_received_later)
{
    open_all(8, 32);
    begin();
    CHECK_STATUS(toolcore_mailbox_complete_text(mailbox, tickets[0], 100, text("in time")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_mailbox_complete_text(mailbox, tickets[1], 101, text("late")), TOOLCORE_OK);
    now = 500;
    CHECK_SIZE(receive(), 2);
    CHECK_STATUS(toolcore_poll(inflight, now, NULL, NULL), TOOLCORE_OK);
    CHECK(toolcore_done(inflight));
    end();
    CHECK_TEXT(out, out_len,
               "[{\"role\":\"user\",\"content\":[" RESULT("1", "\"in time\"") "}," RESULT(
                   "2", "\"[TOOL_TIMEOUT] Tool 'later' timed out after 0.1s\"") ",\"is_error\":true}," RESULT(
                   "3", "\"[TOOL_TIMEOUT] Tool 'later' timed out after 0.1s\"") ",\"is_error\":true}]}]");
    close_all();
}

TEST(each_message_is_judged_by_its_own_time_and_a_wrong_one_spoils_no_other)
{
    open_all(8, 32);
    begin();
    CHECK_STATUS(toolcore_mailbox_progress(mailbox, 7, UINT64_MAX, 0, 0), TOOLCORE_OK);
    CHECK_STATUS(toolcore_mailbox_complete_text(mailbox, tickets[1], UINT64_MAX - 1, text("late")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_mailbox_complete_text(mailbox, tickets[0], 100, text("in time")), TOOLCORE_OK);
    now = 500;
    CHECK_STATUS(toolcore_progress(inflight, 7, now, 0, 0, text("")), TOOLCORE_ERR_NOT_FOUND);
    CHECK_SIZE(receive(), 3);
    end();
    CHECK_TEXT(out, out_len,
               "[{\"role\":\"user\",\"content\":[" RESULT("1", "\"in time\"") "}," RESULT(
                   "2", "\"[TOOL_TIMEOUT] Tool 'later' timed out after 0.1s\"") ",\"is_error\":true}," RESULT(
                   "3", "\"[TOOL_TIMEOUT] Tool 'later' timed out after 0.1s\"") ",\"is_error\":true}]}]");
    /* Deadlines bind as before. */
    begin();
    now = 601;
    CHECK_STATUS(toolcore_poll(inflight, now, NULL, NULL), TOOLCORE_OK);
    CHECK(toolcore_done(inflight));
    end();
    close_all();
}

TEST(what_does_not_fit_is_refused_whole)
{
    char longer[TOOLCORE_MAILBOX_TEXT_MAX + 1];
    memset(longer, 'x', sizeof longer);
    toolcore_str_t too_long = { longer, sizeof longer }, most = { longer, TOOLCORE_MAILBOX_TEXT_MAX };
    open_all(1, TOOLCORE_MAILBOX_TEXT_MAX);
    begin();
    CHECK_STATUS(toolcore_mailbox_complete_text(mailbox, tickets[0], 1, too_long), TOOLCORE_ERR_OUT_OF_RANGE);
    CHECK(toolcore_mailbox_is_empty(mailbox));
    CHECK_STATUS(toolcore_mailbox_complete_text(mailbox, tickets[0], 1, most), TOOLCORE_OK);
    CHECK_STATUS(toolcore_mailbox_complete_text(mailbox, tickets[1], 1, text("y")), TOOLCORE_ERR_FULL);
    CHECK_SIZE(receive(), 1);
    CHECK_STATUS(toolcore_mailbox_complete_text(mailbox, tickets[1], 1, text("y")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_mailbox_complete_text(mailbox, tickets[1], 1, text("\xFF")), TOOLCORE_ERR_INVALID_UTF8);
    CHECK_SIZE(receive(), 1);
    end();
    /* After the turn, what comes is discarded. */
    CHECK_STATUS(toolcore_mailbox_complete_text(mailbox, tickets[2], 1, text("z")), TOOLCORE_OK);
    CHECK_SIZE(receive(), 1);
    toolcore_inflight_stats_t stats = TOOLCORE_INFLIGHT_STATS_INIT;
    CHECK_STATUS(toolcore_inflight_stats(inflight, &stats), TOOLCORE_OK);
    CHECK(stats.late == 1 && stats.in_flight == 0);
    close_all();
}

TEST(a_mailbox_takes_memory_of_any_alignment_and_says_what_is_too_small)
{
    size_t need = toolcore_mailbox_mem_size(2, 20);
    for (size_t at = 0; at < 16; at++) {
        char *memory = block(need + 16);
        CHECK_STATUS(toolcore_mailbox_init(memory + at, need, &mailbox), TOOLCORE_OK);
        for (int i = 0; i < 2; i++)
            CHECK_STATUS(toolcore_mailbox_complete_text(mailbox, 1, 1, text("01234567890123456789")), TOOLCORE_OK);
        toolcore_mailbox_deinit(mailbox);
        CHECK_STATUS(toolcore_mailbox_complete_text(mailbox, 1, 1, text("")), TOOLCORE_ERR_INVALID_ARGUMENT);
    }
    need = toolcore_mailbox_mem_size(1, 0);
    CHECK_STATUS(toolcore_mailbox_init(NULL, need, &mailbox), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_mailbox_init(block(need), need - 1, &mailbox), TOOLCORE_ERR_NO_SPACE);
    CHECK(mailbox == NULL);
    CHECK_SIZE(toolcore_mailbox_mem_size((size_t)-1, 1), (size_t)-1);
    CHECK(toolcore_mailbox_is_empty(NULL));
}

/* From a thread. */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t handed[CALLS];
static size_t handed_len;
static int stop;

/* Completes what it is handed, and tries again where there is no room. */
static void *complete_all(void *user_data)
{
    (void)user_data;
    for (;;) {
        uint64_t mine[CALLS];
        size_t len;
        int last;
        pthread_mutex_lock(&lock);
        last = stop;
        len = handed_len;
        memcpy(mine, handed, sizeof mine);
        handed_len = 0;
        pthread_mutex_unlock(&lock);
        for (size_t i = 0; i < len; i++) {
            toolcore_str_t answer = TOOLCORE_STR("from a thread");
            while (toolcore_mailbox_complete_text(mailbox, mine[i], 0, answer) == TOOLCORE_ERR_FULL)
                continue;
        }
        if (last && len == 0)
            return NULL;
    }
}

TEST(a_thread_completes_calls_while_the_main_loop_receives)
{
    pthread_t thread;
    open_all(2, 16);
    stop = 0;
    CHECK(pthread_create(&thread, NULL, complete_all, NULL) == 0);
    for (int turn = 0; turn < TURNS; turn++) {
        begin();
        pthread_mutex_lock(&lock);
        memcpy(handed, tickets, sizeof handed);
        handed_len = CALLS;
        pthread_mutex_unlock(&lock);
        while (!toolcore_done(inflight))
            receive();
        end();
    }
    pthread_mutex_lock(&lock);
    stop = 1;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    toolcore_inflight_stats_t stats = TOOLCORE_INFLIGHT_STATS_INIT;
    CHECK_STATUS(toolcore_inflight_stats(inflight, &stats), TOOLCORE_OK);
    CHECK(stats.completed == TURNS * CALLS && stats.in_flight == 0);
    CHECK(stats.late == 0 && stats.doubled == 0 && stats.stale == 0 && stats.unknown == 0);
    close_all();
}

/* From a signal handler, which may come in the middle of anything. */

static volatile sig_atomic_t fired;

static void on_signal(int signal_number)
{
    (void)signal_number;
    if (fired < CALLS && toolcore_mailbox_complete_text(mailbox, tickets[fired], 0, text("from an interrupt")) == TOOLCORE_OK)
        fired++;
}

TEST(a_signal_handler_completes_calls)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigaction(SIGUSR1, &action, NULL);
    open_all(1, 32);
    begin();
    fired = 0;
    while (!toolcore_done(inflight)) {
        raise(SIGUSR1);
        raise(SIGUSR1);
        receive();
    }
    CHECK(fired == CALLS);
    end();
    action.sa_handler = SIG_DFL;
    sigaction(SIGUSR1, &action, NULL);
    close_all();
}

TEST(a_counter_of_32_bits_goes_on_where_it_wraps)
{
    toolcore_ticks32_t ticks = { 0, 0, 0 };
    CHECK(toolcore_ticks32_extend(&ticks, UINT32_MAX) == UINT32_MAX);
    CHECK(toolcore_ticks32_extend(&ticks, 4) == (UINT64_C(1) << 32) + 4);
    CHECK(toolcore_ticks32_extend(&ticks, 1) == (UINT64_C(1) << 32) + 4);
    CHECK(toolcore_ticks32_extend(&ticks, UINT32_C(0x80000000)) == UINT64_C(0x180000000));
    /* Half a round ahead cannot be told from half a round back. */
    CHECK(toolcore_ticks32_extend(&ticks, 2) == UINT64_C(0x180000000));
    CHECK(toolcore_ticks32_extend(NULL, 7) == 0);
}

int main(void)
{
    RUN(messages_complete_fail_and_move_on_their_calls);
    RUN(a_message_that_was_sent_in_time_is_in_time_also_if_it_is_received_later);
    RUN(each_message_is_judged_by_its_own_time_and_a_wrong_one_spoils_no_other);
    RUN(what_does_not_fit_is_refused_whole);
    RUN(a_mailbox_takes_memory_of_any_alignment_and_says_what_is_too_small);
    RUN(a_thread_completes_calls_while_the_main_loop_receives);
    RUN(a_signal_handler_completes_calls);
    RUN(a_counter_of_32_bits_goes_on_where_it_wraps);
    return check_end();
}

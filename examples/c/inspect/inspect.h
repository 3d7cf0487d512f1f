/* Shared by the sources of the desk tool. */
#ifndef INSPECT_H
#define INSPECT_H

#include "toolcore.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef toolcore_str_t str;

/* Ops. They write members of the answer, and return false after refuse(): then what they wrote is discarded.
 * What they made is not ended in that case, as it owns nothing but memory that is free when the answer is out. */

bool op_json(str request);
bool op_validate(str request);
bool op_resources(str request);
bool op_render(str request);
bool op_parse(str request);
bool op_stream(str request);
bool op_answer(str request);
bool op_schedule(str request);
bool op_results(str request);
bool op_context(str request);
bool op_version(str request);

/* Refusals (support.c). `why` is what the library said last. */

extern struct problem { const char *kind; char kind_text[32], message[512]; str tool, path; } problem;
extern toolcore_detail_t why;

bool refuse(const char *kind, const char *format, ...);
bool refuse_status(toolcore_status_t status);
bool refuse_schema(toolcore_status_t status);
void put_json_error(void);
bool ok(toolcore_status_t status);

/* What a schema by itself takes (validate.c), for --stats; zero in other ops. */

extern struct sizes { size_t mem, schema, scratch; } sizes;

/* Memory: pieces of one arena, free again when the answer is out, but for what is kept at its start. NULL after
 * refuse(). */

extern char *arena;
extern size_t arena_size, arena_used, arena_kept, pool_used;

size_t arena_left(void);
void *allocate(size_t size);
void *allocate_array(size_t count, size_t size);
bool copy(str text, str *copied);

/* Writing. The writer keeps its first failure until the end, so that no call of it is checked. */

extern toolcore_json_writer_t out;

void put_key(const char *name);
void put_text(const char *name, str text);
void put_u64(const char *name, uint64_t number);
void put_bool(const char *name, bool value);
void put_json(const char *name, str json);
void put_output(const char *name, uint32_t dialect, str text);
void put_output_value(uint32_t dialect, str text);
void put_id(const toolcore_tool_call_t *call);
void put_nullable(const char *name, str text, bool is_there);

/* Reading (request.c). Names come from this program, as they stand in messages. Without such a member need() and
 * get_array() refuse, and the other get functions leave what they would read as it was. */

struct word { const char *name; uint32_t value; };

str text_of(const char *text);
bool has(str object, const char *name, str *value);
bool need(str object, const char *name, str *value);
bool only(str object, const char *what, const char *names);
bool decode(str json, const char *name, str *text);
bool get_text(str object, const char *name, str *text);
bool get_u64(str object, const char *name, uint64_t max, uint64_t *number);
bool get_timeout(str object, uint64_t *ms);
bool get_size(str object, const char *name, size_t *number);
bool get_u32(str object, const char *name, uint32_t *number);
bool get_bool(str object, const char *name, bool *value);
bool get_flag(str object, const char *name, uint32_t flag, uint32_t *flags);
bool find_word(str json, const char *name, const struct word *words, size_t count, uint32_t *value);
bool get_word(str object, const char *name, const struct word *words, size_t count, uint32_t *value);
bool get_words(str object, const char *name, const struct word *words, size_t count, uint32_t *flags);
bool get_array(str object, const char *name, toolcore_json_iter_t *iter, size_t *count);
bool decode_hex(str json, const char *name, str *bytes);
bool get_bytes(str request, str *bytes);
bool get_base64(str object, const char *name, const void **data, size_t *len);
bool get_dialect(str request, uint32_t *dialect);
bool get_reply(str request, str *reply);
bool none_of(str object, const char *const *names, size_t count);

/* Replies (reply.c, stream.c). */

bool read_call(str json, toolcore_tool_call_t *call);
bool parse_reply(uint32_t dialect, str json, const toolcore_reply_opts_t *opts, toolcore_reply_t **reply);
bool put_reply(str request, uint32_t dialect, const toolcore_reply_t *reply);
bool read_stream(str request, uint32_t dialect, toolcore_reply_t **reply);

/* What a tool answers, and what results are made of (content.c): parts, or a failure; `echo` if a request said
 * neither. */

struct content { bool echo, failed; str error; toolcore_part_t *parts; size_t len; };

bool read_content(str object, struct content *content);
toolcore_status_t append(toolcore_result_t *result, const struct content *content);

/* Tools (tools.c). One that answers `later` does so `after_ms` after its call, or never by itself if that is UINT64_MAX;
 * one that is `stubborn` does so even if it is asked to end. */

struct behaviour { struct content content; uint64_t busy_ms, after_ms; bool later, stubborn; };

bool add_tools(str request, toolcore_registry_t **registry);
extern bool some_tool_answers_later;

/* Their manual clock; 0 when a request begins. */

extern uint64_t clock_ms;
extern const toolcore_clock_t manual_clock;

/* Calls in flight (flight.c), of all turns in their order. */

struct flight {
    str id, name;
    bool has_id;
    uint32_t kind;
    uint64_t ticket, due_ms;
    const struct behaviour *behaviour;
    str arguments;
};

toolcore_status_t keep_flight(const struct behaviour *behaviour, const toolcore_call_t *call);
toolcore_status_t cancel_flight(void *user_data, uint64_t ticket);
bool start_flights(struct flight *flights, size_t len, toolcore_inflight_opts_t *opts, bool logged);
bool start_turn(const toolcore_registry_t *registry, const toolcore_reply_t *reply, const toolcore_answer_opts_t *opts,
                size_t first);
bool turn_is_open(void);
bool turn_is_done(void);
bool finish_turn(str *messages);
bool run_flights(uint64_t limit_ms);
bool poll_flights(void);
bool cancel_calls(size_t index);
bool complete_flight(struct flight *flight, const struct content *content);
bool progress_flight(const struct flight *flight, uint64_t done, uint64_t total, str message);
void put_outcomes(void);
bool put_counts(void);
void end_flights(void);

/* What holds for a turn (answer.c). */

bool read_answer_opts(str request, toolcore_answer_opts_t *opts);

#endif

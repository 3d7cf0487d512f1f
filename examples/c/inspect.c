/* The library on a desk: reads one JSON request a line, writes one JSON answer a line, in order.
 *
 * cargo build -p toolcore-ffi
 * cc -std=c99 -Iinclude -o inspect examples/c/inspect.c examples/c/inspect/[a-z]*.c target/debug/libtoolcore.a \
 *    -lpthread -ldl -lm -lgcc_s
 * echo '{"op":"json","text":"[1,]"}' | ./inspect */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/inspect.h"

static const char help[] =
    "inspect [--mem BYTES] [--stats] < requests > answers\n"
    "\n"
    "  --mem BYTES  memory, allocated once: a quarter for a request, a quarter for its answer, the rest for\n"
    "               what the library needs; 16777216 if left out, at least 65536\n"
    "  --stats      append to each answer the bytes of objects and decoded strings (memory) and of the\n"
    "               registry's pool (pool); not the peak use of scratch memory, which the library does not tell.\n"
    "               For validate also what the functions of these names tell of the schema: mem_size, schema_size,\n"
    "               scratch_size\n"
    "\n"
    "One JSON request a line; a tool echoes its arguments unless it has a \"behaviour\", such as {\"text\":T}.\n"
    "  {\"op\":\"json\",\"text\":T}\n"
    "  {\"op\":\"validate\",\"schema\":SCHEMA,\"instance\":JSON}, or \"text\":T or \"hex\":T in place of the instance\n"
    "  {\"op\":\"resources\",\"set\":{URI:SCHEMA}}, documents for the lines that follow\n"
    "  {\"op\":\"render\",\"dialect\":D,\"tools\":[{\"name\":T,\"description\":T,\"parameters\":SCHEMA}],\"choice\":…}\n"
    "  {\"op\":\"parse\",\"dialect\":D,\"reply\":JSON,\"replay\":true}, which adds the turn that goes back\n"
    "  {\"op\":\"stream\",\"dialect\":D,\"chunks\":[T]}, or \"hex_chunks\":[T] or \"events\":[JSON]\n"
    "  {\"op\":\"answer\",\"dialect\":D,\"tools\":[…],\"reply\":JSON,\"max_calls\":N,\"result_limit\":N}\n"
    "  {\"op\":\"schedule\",\"dialect\":D,\"tools\":[…],\"events\":[{\"at_ms\":N,\"call\":{\"id\":T,\"name\":T}}],\"grace_ms\":N}\n"
    "  {\"op\":\"results\",\"dialect\":D,\"calls\":[{\"id\":T,\"name\":T}],\"results\":[{\"id\":T,\"text\":T}]}\n"
    "  {\"op\":\"context\",\"blocks\":[…],\"budget\":N,\"format\":\"plain\"|\"xml\"|\"markdown\"}\n"
    "  {\"op\":\"version\"}\n"
    "D is one of the features that the op version tells. An answer may be to a stream, as above. In them:\n"
    "\n"
    "to validate  \"default_draft\":\"2020-12\"|\"7\" \"formats\":true (asserts them) \"lenient\":true (repairs what is\n"
    "             nearly JSON) \"last_wins\":true (of members with the same key) \"coerce\":true (converts what\n"
    "             nearly fits), which a tool may have, too\n"
    "a part       {\"text\":T} {\"json\":JSON} {\"uri\":T,\"name\":T}\n"
    "             {\"type\":\"image\"|\"audio\",\"data\":BASE64,\"mimeType\":T}\n"
    "a behaviour  {\"echo\":true} or what a part has or {\"parts\":[…]} or {\"error\":T}; beside it \"busy_ms\":N (the clock\n"
    "             moves first) \"pending_ms\":N (answers N ms later, ends when asked to) \"stubborn_ms\":N (does not); null in\n"
    "             place of N is never\n"
    "an event     \"call\":{\"id\":T,\"name\":T,\"arguments\":{…}} or a list of them \"complete\":ID or {\"id\":T,\"text\":T}\n"
    "             \"progress\":{\"id\":T,\"done\":N,\"total\":N,\"message\":T} \"cancel\":ID or true for all\n"
    "             \"poll\":true \"finish\":true; calls of one time are one turn, and the next one waits for its end\n"
    "for schedule also \"side_by_side\":N, and \"timeout_ms\":N \"max_calls\":N as for answer\n"
    "a choice     \"auto\" \"none\" \"required\" {\"tool\":NAME} {\"allowed\":[NAME],\"required\":true}\n"
    "to render    also \"parallel\":false \"category\":T \"cache\":true \"alias\":false \"refuse_dropped\":true\n"
    "             \"native\":[\"web_search\",{\"kind\":\"code_execution\",\"allow\":true,\"config\":{…}}]\n"
    "cancelled    [ID], beside the results\n"
    "a block      {\"content\":T,\"category\":T,\"label\":T,\"source\":T,\"priority\":N,\"min_tokens\":N,\n"
    "             \"flags\":[\"pinned\",\"whole\",\"cut_tail\",\"cut_head\",\"cut_middle\"]}\n"
    "for context  beside the blocks also \"reserve\":N \"policy\":\"greedy\"|\"strict\"\n"
    "             \"show\":[\"category\",\"label\",\"source\"]\n";

static const struct { const char *name; bool (*run)(str request); } ops[] = {
    { "json", op_json },     { "validate", op_validate }, { "render", op_render },   { "parse", op_parse },
    { "answer", op_answer }, { "results", op_results },   { "context", op_context }, { "version", op_version },
    { "resources", op_resources }, { "stream", op_stream }, { "schedule", op_schedule }, { "mcp", NULL },
    { "tokens", NULL },
};

static bool run(str request)
{
    str op;
    toolcore_status_t status = toolcore_json_validate(request, NULL, &why);
    if (status != TOOLCORE_OK)
        return refuse("request", "the line is not JSON: %s", why.message);
    if (toolcore_json_kind(request) != TOOLCORE_JSON_OBJECT)
        return refuse("request", "the line is not an object");
    if (!need(request, "op", &op))
        return false;
    for (size_t i = 0; i < COUNT(ops); i++)
        if (toolcore_json_string_is(op, text_of(ops[i].name)))
            return ops[i].run != NULL ? ops[i].run(request)
                                      : refuse("unsupported", "the op '%s' is not supported yet", ops[i].name);
    char known[256] = "";
    for (size_t i = 0, len = 0; i < COUNT(ops) && len < sizeof known; i++)
        if (ops[i].run != NULL)
            len += (size_t)snprintf(known + len, sizeof known - len, "%s%s", i > 0 ? ", " : "", ops[i].name);
    return op.len > 100 ? refuse("request", "there is no such op; there are: %s", known)
                        : refuse("request", "there is no op %.*s; there are: %s", (int)op.len, op.ptr, known);
}

/* More constants than there are dialects. */
#define DIALECTS_END 64

/* What is compiled in: the dialects, and keywords of schemas that could be left out. */
bool op_version(str request)
{
    static const struct word keywords[] = { { "pattern", TOOLCORE_FEATURE_PATTERN },
                                            { "format", TOOLCORE_FEATURE_FORMAT },
                                            { "unevaluated", TOOLCORE_FEATURE_UNEVALUATED } };
    if (!only(request, "the request", "op"))
        return false;
    put_text("version", toolcore_version());
    put_key("features");
    toolcore_json_writer_array_start(&out);
    for (uint32_t dialect = 1; dialect < DIALECTS_END; dialect++)
        if (toolcore_dialect_name(dialect).len > 0)
            toolcore_json_writer_string(&out, toolcore_dialect_name(dialect));
    for (size_t i = 0; i < COUNT(keywords); i++)
        if (toolcore_features() & keywords[i].value)
            toolcore_json_writer_string(&out, text_of(keywords[i].name));
    toolcore_json_writer_array_end(&out);
    return true;
}

static void put_problem(void)
{
    put_key("error");
    toolcore_json_writer_object_start(&out);
    put_text("kind", text_of(problem.kind));
    if (problem.tool.ptr != NULL)
        put_text("tool", problem.tool);
    if (problem.path.ptr != NULL)
        put_text("path", problem.path);
    put_text("message", text_of(problem.message));
    toolcore_json_writer_object_end(&out);
}

/* Room for an error that names something as long as the request. */
#define ERROR_ROOM 8192

static struct { char *line, *answer; size_t size; bool stats; } desk;

static void start(bool done)
{
    toolcore_json_writer_init(&out, desk.answer, desk.size + (done ? 0 : ERROR_ROOM));
    toolcore_json_writer_object_start(&out);
    put_bool("ok", done);
}

/* Ends the answer and gives its length, or 0 if it does not fit. */
static size_t finish(void)
{
    size_t len = 0;
    if (desk.stats) {
        put_key("stats");
        toolcore_json_writer_object_start(&out);
        put_u64("memory", arena_used);
        put_u64("pool", pool_used);
        if (sizes.mem > 0) {
            put_u64("mem_size", sizes.mem);
            put_u64("schema_size", sizes.schema);
            put_u64("scratch_size", sizes.scratch);
        }
        toolcore_json_writer_object_end(&out);
    }
    toolcore_json_writer_object_end(&out);
    return toolcore_json_writer_end(&out, &len) == TOOLCORE_OK ? len : 0;
}

static void answer(str request, bool whole)
{
    memset(&problem, 0, sizeof problem);
    why = (toolcore_detail_t)TOOLCORE_DETAIL_INIT;
    arena_used = arena_kept;
    pool_used = 0;
    memset(&sizes, 0, sizeof sizes);
    clock_ms = 0;
    start(true);
    bool done = whole ? run(request)
                      : refuse("no-space", "the line is longer than %zu bytes; see --mem", desk.size);
    size_t len = done ? finish() : 0;
    if (len == 0) {
        if (done)
            refuse("no-space", "the answer is longer than %zu bytes; see --mem", desk.size);
        start(false);
        put_problem();
        len = finish();
    }
    if (len == 0)
        len = (size_t)sprintf(desk.answer, "{\"ok\":false,\"error\":"
                                           "{\"kind\":\"internal\",\"message\":\"no answer\"}}");
    /* JSON has line ends only between its tokens, where a blank is as good. */
    for (size_t i = 0; i < len; i++)
        if (desk.answer[i] == '\n' || desk.answer[i] == '\r')
            desk.answer[i] = ' ';
    fwrite(desk.answer, 1, len, stdout);
    putchar('\n');
    fflush(stdout);
}

/* Reads a line and answers it; false at the end of the input. */
static bool answer_line(FILE *input)
{
    size_t len = 0;
    int c;
    while ((c = getc(input)) != EOF && c != '\n')
        if (len++ < desk.size)
            desk.line[len - 1] = (char)c;
    if (c == EOF && len == 0)
        return false;
    answer((str){ desk.line, len }, len <= desk.size);
    return true;
}

int main(int argc, char **argv)
{
    unsigned long long memory = 1 << 24;
    for (int i = 1; i < argc; i++) {
        char *end = NULL;
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(help, stdout);
            return 0;
        }
        if (strcmp(argv[i], "--mem") == 0 && i + 1 < argc)
            memory = strtoull(argv[++i], &end, 10);
        else if (strcmp(argv[i], "--stats") == 0)
            desk.stats = true;
        else
            memory = 0;
        if (memory < 1 << 16 || memory > SIZE_MAX / 2 || (end != NULL && *end != '\0')) {
            fputs(help, stderr);
            return 2;
        }
    }
    desk.size = (size_t)memory / 4;
    desk.line = malloc(desk.size);
    desk.answer = malloc(desk.size + ERROR_ROOM);
    arena_size = desk.size * 2;
    arena = malloc(arena_size);
    if (desk.line == NULL || desk.answer == NULL || arena == NULL) {
        fprintf(stderr, "inspect: no memory of %llu bytes\n", memory);
        return 1;
    }
    while (answer_line(stdin))
        continue;
    free(arena);
    free(desk.answer);
    free(desk.line);
    return 0;
}

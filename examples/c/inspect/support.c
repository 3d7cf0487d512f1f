/* What all ops use: refusals, memory, and writing the answer. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "inspect.h"

/* What went wrong, for the answer. */

struct problem problem;
toolcore_detail_t why;

bool refuse(const char *kind, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem.message, sizeof problem.message, format, arguments);
    va_end(arguments);
    problem.kind = kind;
    return false;
}

/* A status as an answer: its name in kebab case, but for the kinds that have a name of their own. */
bool refuse_status(toolcore_status_t status)
{
    const char *name = toolcore_status_name(status);
    size_t i;
    for (i = 0; name[i] != '\0' && i + 1 < sizeof problem.kind_text; i++)
        problem.kind_text[i] = (char)(name[i] == ' ' ? '-' : name[i]);
    problem.kind_text[i] = '\0';
    const char *kind = status == TOOLCORE_ERR_BAD_JSON ? "json"
                     : status == TOOLCORE_ERR_BAD_SCHEMA ? "schema"
                     : status == TOOLCORE_ERR_INVALID_UTF8 ? "invalid-utf8"
                     : status == TOOLCORE_ERR_STRICT ? "strict" : problem.kind_text;
    return refuse(kind, "%s", why.status == status && why.message_len > 0 ? why.message : name);
}

bool ok(toolcore_status_t status)
{
    return status == TOOLCORE_OK || refuse_status(status);
}

struct sizes sizes;

/* Memory. */

char *arena;
size_t arena_size, arena_used, arena_kept, pool_used;

size_t arena_left(void)
{
    return arena_size - arena_used;
}

/* A piece of the arena, or NULL after a refusal. */
void *allocate(size_t size)
{
    if (size > arena_left()) {
        refuse("no-space", "%zu bytes are needed and %zu are left; see --mem", size, arena_left());
        return NULL;
    }
    void *piece = arena + arena_used;
    size_t rounded = (size + 15) / 16 * 16;
    arena_used += rounded < arena_left() ? rounded : arena_left();
    return piece;
}

void *allocate_array(size_t count, size_t size)
{
    void *array = allocate(count > SIZE_MAX / size ? SIZE_MAX : count * size);
    return array != NULL ? memset(array, 0, count * size) : NULL;
}

bool copy(str text, str *copied)
{
    void *piece = allocate(text.len);
    *copied = (str){ piece, text.len };
    return piece != NULL && (text.len == 0 || memcpy(piece, text.ptr, text.len) != NULL);
}

/* Writing answers. The writer keeps its first failure until the end, so that no call of it is checked here. */

toolcore_json_writer_t out;

void put_key(const char *name)
{
    toolcore_json_writer_key(&out, text_of(name));
}

void put_text(const char *name, str text)
{
    put_key(name);
    toolcore_json_writer_string(&out, text);
}

void put_nullable(const char *name, str text, bool is_there)
{
    if (is_there)
        put_text(name, text);
    else
        put_json(name, TOOLCORE_STR("null"));
}

void put_u64(const char *name, uint64_t number)
{
    put_key(name);
    toolcore_json_writer_u64(&out, number);
}

void put_bool(const char *name, bool value)
{
    put_key(name);
    toolcore_json_writer_bool(&out, value);
}

void put_json(const char *name, str json)
{
    put_key(name);
    toolcore_json_writer_raw(&out, json);
}

/* What goes to a provider: JSON, an empty list for nothing; in the text forms of local models a text. */
void put_output_value(uint32_t dialect, str text)
{
    if (dialect == TOOLCORE_DIALECT_HERMES || dialect == TOOLCORE_DIALECT_LLAMA3 || dialect == TOOLCORE_DIALECT_MISTRAL)
        toolcore_json_writer_string(&out, text);
    else
        toolcore_json_writer_raw(&out, text.len > 0 ? text : TOOLCORE_STR("[]"));
}

void put_output(const char *name, uint32_t dialect, str text)
{
    put_key(name);
    put_output_value(dialect, text);
}

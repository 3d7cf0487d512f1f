/* Reading requests. */
#include <stdio.h>
#include <string.h>

#include "inspect.h"

str text_of(const char *text)
{
    return (str){ text, strlen(text) };
}

bool has(str object, const char *name, str *value)
{
    str found;
    if (toolcore_json_get(object, text_of(name), &found) != TOOLCORE_OK)
        return false;
    *value = found;
    return true;
}

bool need(str object, const char *name, str *value)
{
    return has(object, name, value) || refuse("request", "'%s' is missing", name);
}

/* Refuses a member that is not among `names`, words with a blank between them. */
bool only(str object, const char *what, const char *names)
{
    toolcore_json_iter_t iter;
    str key, value;
    if (toolcore_json_kind(object) != TOOLCORE_JSON_OBJECT || toolcore_json_iter_init(&iter, object) != TOOLCORE_OK)
        return refuse("request", "%s is not an object", what);
    while (toolcore_json_iter_next(&iter, &key, &value)) {
        bool known = false;
        for (const char *name = names; !known && *name != '\0';) {
            size_t len = strcspn(name, " ");
            known = toolcore_json_string_is(key, (str){ name, len });
            name += len + (name[len] == ' ');
        }
        if (!known && key.len > 100)
            return refuse("request", "%s has a member with a name of %zu bytes; known are: %s", what, key.len - 2,
                          names);
        if (!known)
            return refuse("request", "%s has a member %.*s, which is not known; known are: %s", what, (int)key.len,
                          key.ptr, names);
    }
    return true;
}

bool decode(str json, const char *name, str *text)
{
    char *buffer = allocate(json.len);
    if (buffer == NULL)
        return false;
    if (toolcore_json_string(json, buffer, json.len, &text->len) != TOOLCORE_OK)
        return refuse("request", "'%s' is not a string", name);
    text->ptr = buffer;
    return true;
}

bool get_text(str object, const char *name, str *text)
{
    str json;
    return !has(object, name, &json) || decode(json, name, text);
}

bool get_u64(str object, const char *name, uint64_t max, uint64_t *number)
{
    str json;
    uint64_t value;
    if (!has(object, name, &json))
        return true;
    if (toolcore_json_u64(json, &value) != TOOLCORE_OK || value > max)
        return refuse("request", "'%s' is not an integer from 0 to %llu", name, (unsigned long long)max);
    *number = value;
    return true;
}

bool get_timeout(str object, uint64_t *ms)
{
    str json;
    return get_u64(object, "timeout_ms", UINT64_MAX, ms) &&
           (*ms > 0 || !has(object, "timeout_ms", &json) ||
            refuse("request", "'timeout_ms' is 0; leave it out for none"));
}

bool get_size(str object, const char *name, size_t *number)
{
    uint64_t value = *number;
    bool done = get_u64(object, name, SIZE_MAX, &value);
    *number = (size_t)value;
    return done;
}

bool get_u32(str object, const char *name, uint32_t *number)
{
    uint64_t value = *number;
    bool done = get_u64(object, name, UINT32_MAX, &value);
    *number = (uint32_t)value;
    return done;
}

bool get_bool(str object, const char *name, bool *value)
{
    str json;
    return !has(object, name, &json) || toolcore_json_bool(json, value) == TOOLCORE_OK ||
           refuse("request", "'%s' is neither true nor false", name);
}

/* A flag that is set in `flags` if the member is true. */
bool get_flag(str object, const char *name, uint32_t flag, uint32_t *flags)
{
    bool value = false;
    bool done = get_bool(object, name, &value);
    *flags |= value ? flag : 0;
    return done;
}

/* A word may be a number, too: 7 for "7". */
bool find_word(str json, const char *name, const struct word *words, size_t count, uint32_t *value)
{
    char known[256] = "";
    for (size_t i = 0, len = 0; i < count; i++) {
        str word = text_of(words[i].name);
        bool as_it_is = json.len == word.len && memcmp(json.ptr, word.ptr, word.len) == 0;
        if (as_it_is || toolcore_json_string_is(json, word)) {
            *value = words[i].value;
            return true;
        }
        if (len < sizeof known)
            len += (size_t)snprintf(known + len, sizeof known - len, "%s%s", i > 0 ? ", " : "", word.ptr);
    }
    return refuse("request", "'%s' holds a word that is not known; known are: %s", name, known);
}

bool get_word(str object, const char *name, const struct word *words, size_t count, uint32_t *value)
{
    str json;
    return !has(object, name, &json) || find_word(json, name, words, count, value);
}

bool get_array(str object, const char *name, toolcore_json_iter_t *iter, size_t *count)
{
    str json, item;
    if (!need(object, name, &json))
        return false;
    if (toolcore_json_kind(json) != TOOLCORE_JSON_ARRAY || toolcore_json_iter_init(iter, json) != TOOLCORE_OK)
        return refuse("request", "'%s' is not an array", name);
    toolcore_json_iter_t counter = *iter;
    for (*count = 0; toolcore_json_iter_next(&counter, NULL, &item);)
        ++*count;
    return true;
}

/* The sum of the flags that an array of words names. */
bool get_words(str object, const char *name, const struct word *words, size_t count, uint32_t *flags)
{
    toolcore_json_iter_t iter;
    size_t len;
    str item;
    uint32_t flag;
    if (!has(object, name, &item))
        return true;
    if (!get_array(object, name, &iter, &len))
        return false;
    while (toolcore_json_iter_next(&iter, NULL, &item)) {
        if (!find_word(item, name, words, count, &flag))
            return false;
        *flags |= flag;
    }
    return true;
}

/* Refuses what the library cannot do yet, unless it is false or null. */
bool none_of(str object, const char *const *names, size_t count)
{
    str json;
    bool value;
    for (size_t i = 0; i < count; i++)
        if (has(object, names[i], &json) && toolcore_json_kind(json) != TOOLCORE_JSON_NULL &&
            (toolcore_json_bool(json, &value) != TOOLCORE_OK || value))
            return refuse("unsupported", "'%s' is not supported yet", names[i]);
    return true;
}

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *digit = memchr(digits, c, sizeof digits - 1);
    return digit == NULL ? -1 : digit - digits < 16 ? (int)(digit - digits) : (int)(digit - digits) - 6;
}

/* The bytes that a string of hexadecimal digits spells. */
bool decode_hex(str json, const char *name, str *bytes)
{
    str hex;
    if (!decode(json, name, &hex))
        return false;
    /* In place: a byte takes less room than its digits. */
    char *decoded = (char *)(uintptr_t)hex.ptr;
    for (size_t i = 0; i < hex.len / 2; i++) {
        int high = hex_digit(hex.ptr[2 * i]), low = hex_digit(hex.ptr[2 * i + 1]);
        if (high < 0 || low < 0)
            return refuse("request", "'%s' holds something else at %zu", name, 2 * i);
        decoded[i] = (char)(high * 16 + low);
    }
    *bytes = (str){ decoded, hex.len / 2 };
    return hex.len % 2 == 0 || refuse("request", "'%s' has an odd length", name);
}

/* The bytes of `text` or `hex`. */
bool get_bytes(str request, str *bytes)
{
    str json;
    if (has(request, "text", &json))
        return decode(json, "text", bytes);
    return has(request, "hex", &json) ? decode_hex(json, "hex", bytes)
                                      : refuse("request", "there is neither 'text' nor 'hex'");
}

bool get_base64(str object, const char *name, const void **data, size_t *len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    str text, json;
    if (!need(object, name, &json) || !decode(json, name, &text))
        return false;
    unsigned char *decoded = allocate(text.len);
    if (decoded == NULL)
        return false;
    unsigned long bits = 0;
    unsigned held = 0;
    *data = decoded;
    *len = 0;
    while (text.len > 0 && text.ptr[text.len - 1] == '=')
        text.len--;
    for (size_t i = 0; i < text.len; i++) {
        const char *digit = memchr(digits, text.ptr[i], sizeof digits - 1);
        if (digit == NULL)
            return refuse("request", "'%s' is not base64", name);
        bits = (bits << 6 | (unsigned long)(digit - digits)) & 0xffff;
        held += 6;
        if (held >= 8) {
            held -= 8;
            decoded[(*len)++] = (unsigned char)(bits >> held & 0xff);
        }
    }
    return true;
}

bool get_dialect(str request, uint32_t *dialect)
{
    str json, name;
    if (!need(request, "dialect", &json) || !decode(json, "dialect", &name))
        return false;
    *dialect = toolcore_dialect_from_name(name);
    return *dialect != 0 || refuse("unsupported", "the dialect is not known");
}

/* A reply: JSON, or a string that holds the text of one. */
bool get_reply(str request, str *reply)
{
    return need(request, "reply", reply) &&
           (toolcore_json_kind(*reply) != TOOLCORE_JSON_STRING || decode(*reply, "reply", reply));
}

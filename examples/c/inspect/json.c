/* The ops json and validate. */
#include <string.h>

#include "inspect.h"

/* `why` as the place and the reason of an error in a text that is not JSON. */
static void put_json_error(void)
{
    put_text("reason", text_of(toolcore_json_reason_name(why.reason)));
    put_u64("offset", why.offset);
}

bool op_json(str request)
{
    str text;
    if (!get_bytes(request, &text))
        return false;
    toolcore_status_t status = toolcore_json_validate(text, NULL, &why);
    if (status != TOOLCORE_OK && status != TOOLCORE_ERR_BAD_JSON)
        return refuse_status(status);
    put_bool("valid", status == TOOLCORE_OK);
    if (status == TOOLCORE_ERR_BAD_JSON)
        put_json_error();
    return true;
}

static void put_violation(void *user_data, str path, str keyword, str message)
{
    (void)user_data;
    toolcore_json_writer_object_start(&out);
    put_text("path", path);
    put_text("keyword", keyword);
    put_text("message", message);
    toolcore_json_writer_object_end(&out);
}

/* The refusal of a schema begins with the place, unless that is the root. */
bool refuse_schema(toolcore_status_t status)
{
    const char *end = why.message[0] == '/' ? strstr(why.message, ": ") : NULL;
    refuse_status(status);
    if (status != TOOLCORE_ERR_BAD_SCHEMA)
        return false;
    problem.path = (str){ why.message, end != NULL ? (size_t)(end - why.message) : 0 };
    return end != NULL ? refuse(problem.kind, "%s", end + 2) : false;
}

bool op_validate(str request)
{
    static const char *const later[] = { "lenient", "coerce", "formats" };
    static const struct word drafts[] = { { "2020-12", 0 }, { "draft2020-12", 0 }, { "7", 1 }, { "draft7", 1 } };
    str json, instance;
    uint32_t draft = 0;
    size_t size;
    toolcore_schema_t *schema;
    bool valid;
    if (!need(request, "schema", &json) || !none_of(request, later, COUNT(later)) ||
        !get_word(request, "default_draft", drafts, COUNT(drafts), &draft) ||
        (!has(request, "instance", &instance) && !get_bytes(request, &instance)))
        return false;
    if (draft != 0)
        return refuse("unsupported", "only draft 2020-12 is supported yet");
    toolcore_status_t status = toolcore_schema_mem_size(json, NULL, &size, &why);
    if (status != TOOLCORE_OK)
        return refuse_schema(status);
    void *memory = allocate(size);
    if (memory == NULL)
        return false;
    /* References that lead nowhere show only here. */
    status = toolcore_schema_init(json, NULL, memory, size, &schema, &why);
    if (status != TOOLCORE_OK)
        return refuse_schema(status);
    toolcore_check_opts_t opts = TOOLCORE_CHECK_OPTS_INIT;
    void *scratch = arena + arena_used;
    status = toolcore_schema_check(schema, instance, &opts, scratch, arena_left(), &valid, &why);
    if (status != TOOLCORE_OK && status != TOOLCORE_ERR_BAD_JSON)
        return refuse_status(status);
    put_bool("valid", valid);
    if (status == TOOLCORE_ERR_BAD_JSON) {
        put_key("error");
        toolcore_json_writer_object_start(&out);
        put_text("kind", TOOLCORE_STR("json"));
        put_json_error();
        toolcore_json_writer_object_end(&out);
    } else if (valid) {
        put_json("value", instance);
        put_json("changes", TOOLCORE_STR("[]"));
    } else {
        opts.violation = put_violation;
        put_key("errors");
        toolcore_json_writer_array_start(&out);
        status = toolcore_schema_check(schema, instance, &opts, scratch, arena_left(), &valid, &why);
        toolcore_json_writer_array_end(&out);
    }
    toolcore_schema_deinit(schema);
    return status == TOOLCORE_ERR_BAD_JSON || ok(status);
}

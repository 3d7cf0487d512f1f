/* The ops validate and resources: a schema by itself, and the documents that it may refer to. */
#include "inspect.h"

/* Documents that schemas may refer to, at the start of the arena until the next set. */
static toolcore_resources_t *resources;

bool op_resources(str request)
{
    toolcore_json_iter_t iter;
    str json, key;
    size_t count = 0;
    if (!only(request, "the request", "op set") || !need(request, "set", &json))
        return false;
    if (toolcore_json_kind(json) != TOOLCORE_JSON_OBJECT || toolcore_json_iter_init(&iter, json) != TOOLCORE_OK)
        return refuse("request", "'set' is not an object");
    for (toolcore_json_iter_t counter = iter; toolcore_json_iter_next(&counter, NULL, &json);)
        count++;
    /* The set before is gone from here on, also if this one is refused. */
    resources = NULL;
    arena_used = arena_kept = 0;
    size_t size = toolcore_resources_mem_size(count);
    void *memory = allocate(size);
    toolcore_resource_t *list = memory != NULL ? allocate_array(count, sizeof *list) : NULL;
    if (list == NULL)
        return false;
    for (size_t i = 0; i < count && toolcore_json_iter_next(&iter, &key, &json); i++) {
        list[i].struct_size = sizeof *list;
        if (!decode(key, "set", &list[i].uri) || !copy(json, &list[i].text))
            return false;
    }
    if (!ok(toolcore_resources_init(list, count, memory, size, &resources, &why)))
        return false;
    arena_kept = arena_used;
    put_u64("count", count);
    return true;
}

/* Compiles the request's schema. With resources the size that is told is far more than is needed as a rule, so it
 * gets half of the memory at most. */
static bool compile(str request, toolcore_schema_t **schema)
{
    static const struct word drafts[] = {
        { "2020-12", TOOLCORE_DRAFT_2020_12 }, { "draft2020-12", TOOLCORE_DRAFT_2020_12 },
        { "7", TOOLCORE_DRAFT_7 }, { "draft7", TOOLCORE_DRAFT_7 },
    };
    toolcore_schema_opts_t opts = TOOLCORE_SCHEMA_OPTS_INIT;
    str json;
    size_t size;
    opts.resources = resources;
    if (!need(request, "schema", &json) ||
        !get_flag(request, "formats", TOOLCORE_SCHEMA_ASSERT_FORMATS, &opts.flags) ||
        !get_word(request, "default_draft", drafts, COUNT(drafts), &opts.default_draft))
        return false;
    toolcore_status_t status = toolcore_schema_mem_size(json, &opts, &size, &why);
    if (status != TOOLCORE_OK)
        return refuse_schema(status);
    sizes.mem = size;
    if (resources != NULL && size > arena_left() / 2)
        size = arena_left() / 2;
    void *memory = allocate(size);
    if (memory == NULL)
        return false;
    /* References that lead nowhere show only here. */
    status = toolcore_schema_init(json, &opts, memory, size, schema, &why);
    return status == TOOLCORE_OK || refuse_schema(status);
}

/* Changes are told while the verdict is not known yet, so they wait in a text of their own. */
static toolcore_json_writer_t changes;

static void put_change(void *user_data, str path, str rule)
{
    toolcore_json_writer_t answer = out;
    (void)user_data;
    out = changes;
    toolcore_json_writer_object_start(&out);
    put_text("path", path);
    put_text("rule", rule);
    toolcore_json_writer_object_end(&out);
    changes = out;
    out = answer;
}

/* The instance, repaired and made to fit as far as the request asks for it: `coerce_flags` without
 * TOOLCORE_COERCE_KEEP_VALUES converts values. */
static toolcore_status_t prepare(const toolcore_schema_t *schema, bool lenient, uint32_t coerce_flags,
                                 uint32_t json_flags, str *instance)
{
    toolcore_status_t status = TOOLCORE_OK;
    if (lenient) {
        toolcore_json_opts_t opts = TOOLCORE_JSON_OPTS_INIT;
        uint32_t repairs;
        char *buffer = arena + arena_used;
        opts.flags = json_flags;
        status = toolcore_json_repair(*instance, &opts, buffer, arena_left(), &instance->len, &repairs, &why);
        if (status != TOOLCORE_OK)
            return status;
        instance->ptr = allocate(instance->len);
        for (uint32_t repair = 1; repair <= repairs; repair <<= 1)
            if (repairs & repair)
                put_change(NULL, TOOLCORE_STR(""), text_of(toolcore_repair_name(repair)));
    }
    if (coerce_flags != TOOLCORE_COERCE_KEEP_VALUES) {
        toolcore_coerce_opts_t opts = TOOLCORE_COERCE_OPTS_INIT;
        opts.flags = json_flags | coerce_flags;
        size_t size = toolcore_schema_coerce_scratch_size(schema, &opts);
        void *scratch = allocate(size);
        if (scratch == NULL)
            return TOOLCORE_ERR_NO_SPACE;
        char *buffer = arena + arena_used;
        opts.changed = put_change;
        status = toolcore_schema_coerce(schema, *instance, &opts, scratch, size, buffer, arena_left(), &instance->len,
                                        &why);
        if (status == TOOLCORE_OK)
            instance->ptr = allocate(instance->len);
    }
    return status;
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

/* The answer about a text that is not JSON. */
static bool not_json(void)
{
    put_bool("valid", false);
    put_key("error");
    toolcore_json_writer_object_start(&out);
    put_text("kind", TOOLCORE_STR("json"));
    put_json_error();
    toolcore_json_writer_object_end(&out);
    return true;
}

bool op_validate(str request)
{
    toolcore_check_opts_t opts = TOOLCORE_CHECK_OPTS_INIT;
    toolcore_schema_t *schema;
    bool lenient = false, coerce = false, valid;
    uint32_t coerce_flags = 0;
    str instance, list;
    if (!only(request, "the request",
              "op schema instance text hex lenient coerce last_wins formats default_draft"))
        return false;
    if (!has(request, "instance", &instance) && !has(request, "text", &instance) && !has(request, "hex", &instance))
        return refuse("request", "there is no 'instance', and neither 'text' nor 'hex' in place of it");
    if ((!has(request, "instance", &instance) && !get_bytes(request, &instance)) ||
        !get_bool(request, "lenient", &lenient) || !get_bool(request, "coerce", &coerce) ||
        !get_flag(request, "last_wins", TOOLCORE_COERCE_LAST_WINS, &coerce_flags) || !compile(request, &schema))
        return false;
    opts.flags = lenient ? TOOLCORE_JSON_REPLACE_SURROGATES : 0;
    sizes.schema = toolcore_schema_size(schema);
    sizes.scratch = toolcore_schema_scratch_size(schema, &opts);
    size_t piece = arena_left() / 4;
    char *list_buffer = allocate(piece);
    list.ptr = list_buffer;
    toolcore_json_writer_init(&changes, list_buffer, piece);
    toolcore_json_writer_array_start(&changes);
    toolcore_status_t status =
        prepare(schema, lenient, coerce_flags | (coerce ? 0 : TOOLCORE_COERCE_KEEP_VALUES), opts.flags, &instance);
    if (status == TOOLCORE_ERR_BAD_JSON)
        return not_json();
    if (problem.kind != NULL || !ok(status))
        return false;
    toolcore_json_writer_array_end(&changes);
    if (!ok(toolcore_json_writer_end(&changes, &list.len)))
        return false;
    void *scratch = arena + arena_used;
    status = toolcore_schema_check(schema, instance, &opts, scratch, arena_left(), &valid, &why);
    if (status == TOOLCORE_ERR_BAD_JSON)
        return not_json();
    if (!ok(status))
        return false;
    put_bool("valid", valid);
    if (valid) {
        put_json("value", instance);
        put_json("changes", list);
    } else {
        opts.violation = put_violation;
        put_key("errors");
        toolcore_json_writer_array_start(&out);
        status = toolcore_schema_check(schema, instance, &opts, scratch, arena_left(), &valid, &why);
        toolcore_json_writer_array_end(&out);
        if (list.len > 2)
            put_json("changes", list);
    }
    toolcore_schema_deinit(schema);
    return ok(status);
}

/* The op json, and what a schema or a text is refused with. */
#include "inspect.h"

/* `why` as the place and the reason of an error in a text that is not JSON. */
void put_json_error(void)
{
    put_text("reason", text_of(toolcore_json_reason_name(why.reason)));
    put_u64("offset", why.offset);
}

bool op_json(str request)
{
    str text;
    if (!only(request, "the request", "op text hex") || !get_bytes(request, &text))
        return false;
    toolcore_status_t status = toolcore_json_validate(text, NULL, &why);
    if (status != TOOLCORE_OK && status != TOOLCORE_ERR_BAD_JSON)
        return refuse_status(status);
    put_bool("valid", status == TOOLCORE_OK);
    if (status == TOOLCORE_ERR_BAD_JSON)
        put_json_error();
    return true;
}

/* The refusal of a schema begins with the place, unless that is the root. */
bool refuse_schema(toolcore_status_t status)
{
    refuse_status(status);
    if (status != TOOLCORE_ERR_BAD_SCHEMA)
        return false;
    problem.path = (str){ why.message, why.place_len };
    size_t rest = why.place_len + 2;
    return why.place_len > 0 && rest < why.message_len ? refuse(problem.kind, "%s", why.message + rest) : false;
}

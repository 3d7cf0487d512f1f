/* What results are made of, as requests say it. */
#include "inspect.h"

static bool read_part(str json, toolcore_part_t *part)
{
    static const struct word media[] = { { "image", TOOLCORE_PART_IMAGE }, { "audio", TOOLCORE_PART_AUDIO } };
    str value;
    part->struct_size = sizeof *part;
    if (has(json, "text", &value)) {
        part->kind = TOOLCORE_PART_TEXT;
        return decode(value, "text", &part->text);
    }
    if (has(json, "json", &part->text)) {
        part->kind = TOOLCORE_PART_JSON;
        return true;
    }
    if (has(json, "uri", &value)) {
        part->kind = TOOLCORE_PART_LINK;
        return decode(value, "uri", &part->text) && get_text(json, "name", &part->name);
    }
    return need(json, "type", &value) && find_word(value, "type", media, COUNT(media), &part->kind) &&
           get_text(json, "mimeType", &part->name) && get_base64(json, "data", &part->data, &part->data_len);
}

/* Reads `text`, `json`, `error` or `parts`; without any of them the content is an echo. */
bool read_content(str object, struct content *content)
{
    toolcore_json_iter_t iter;
    str value;
    content->failed = has(object, "error", &value);
    if (content->failed)
        return decode(value, "error", &content->error);
    bool one = has(object, "text", &value) || has(object, "json", &value), many = has(object, "parts", &value);
    content->echo = !one && !many;
    content->len = one ? 1 : 0;
    if (!one && many && !get_array(object, "parts", &iter, &content->len))
        return false;
    content->parts = allocate_array(content->len, sizeof *content->parts);
    if (content->parts == NULL || one)
        return content->parts != NULL && read_part(object, content->parts);
    for (size_t i = 0; i < content->len && toolcore_json_iter_next(&iter, NULL, &value); i++)
        if (!only(value, "a part", "text json uri name type data mimeType") || !read_part(value, &content->parts[i]))
            return false;
    return true;
}

static toolcore_status_t append_part(toolcore_result_t *result, const toolcore_part_t *part)
{
    switch (part->kind) {
    case TOOLCORE_PART_TEXT:
        return toolcore_result_text(result, part->text);
    case TOOLCORE_PART_JSON:
        return toolcore_result_json(result, part->text);
    case TOOLCORE_PART_IMAGE:
        return toolcore_result_image(result, part->name, part->data, part->data_len);
    case TOOLCORE_PART_AUDIO:
        return toolcore_result_audio(result, part->name, part->data, part->data_len);
    default:
        return toolcore_result_link(result, part->name, part->text);
    }
}

toolcore_status_t append(toolcore_result_t *result, const struct content *content)
{
    toolcore_status_t status = TOOLCORE_OK;
    if (content->failed)
        return toolcore_result_error(result, content->error);
    for (size_t i = 0; status == TOOLCORE_OK && i < content->len; i++)
        status = append_part(result, &content->parts[i]);
    return status;
}

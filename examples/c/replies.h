/* What two models could have answered, for host.c. */
#ifndef REPLIES_H
#define REPLIES_H

#include "toolcore.h"

static const toolcore_str_t openai_chat_reply = TOOLCORE_STR_INIT(
    "{\"choices\":[{\"index\":0,\"finish_reason\":\"tool_calls\","
    "\"message\":{\"role\":\"assistant\",\"content\":null,\"tool_calls\":["
    "{\"id\":\"call_1\",\"type\":\"function\",\"function\":{\"name\":\"read_sensor\",\"arguments\":\"{}\"}},"
    "{\"id\":\"call_2\",\"type\":\"function\",\"function\":{\"name\":\"set_light\","
    "\"arguments\":\"{\\\"color\\\":{\\\"hue\\\":30,\\\"percent\\\":80}}\"}},"
    "{\"id\":\"call_3\",\"type\":\"function\",\"function\":{\"name\":\"set_light\","
    "\"arguments\":\"{\\\"color\\\":{\\\"hue\\\":\\\"red\\\"}}\"}}]}}]}");

static const toolcore_str_t anthropic_reply = TOOLCORE_STR_INIT(
    "{\"type\":\"message\",\"role\":\"assistant\",\"stop_reason\":\"tool_use\",\"content\":["
    "{\"type\":\"text\",\"text\":\"I test the device first.\"},"
    "{\"type\":\"tool_use\",\"id\":\"toolu_1\",\"name\":\"self_test\",\"input\":{\"deep\":true}}]}");

#endif

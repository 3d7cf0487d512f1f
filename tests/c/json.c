/* JSON by itself: checking, reading values in place, walking, writing. */
#include "check.h"

static char buf[4096];
static size_t len;

TEST(json_is_checked_strictly_and_the_place_is_named)
{
    static const struct { const char *json; uint32_t reason; size_t offset; } rows[] = {
        { ":{}", TOOLCORE_JSON_ERR_EXPECTED_VALUE, 0 },
        { ",{}", TOOLCORE_JSON_ERR_EXPECTED_VALUE, 0 },
        { "{},", TOOLCORE_JSON_ERR_TRAILING_DATA, 2 },
        { "[1,]", TOOLCORE_JSON_ERR_EXPECTED_VALUE, 3 },
        { "[,1]", TOOLCORE_JSON_ERR_EXPECTED_VALUE, 1 },
        { "{\"a\":1,}", TOOLCORE_JSON_ERR_EXPECTED_KEY, 7 },
        { "{\"a\"}", TOOLCORE_JSON_ERR_EXPECTED_COLON, 4 },
        { "{a:1}", TOOLCORE_JSON_ERR_EXPECTED_KEY, 1 },
        { "[1 2]", TOOLCORE_JSON_ERR_EXPECTED_COMMA, 3 },
        { "\"\\x41\"", TOOLCORE_JSON_ERR_BAD_ESCAPE, 1 },
        { "\"a\nb\"", TOOLCORE_JSON_ERR_CONTROL_CHARACTER, 2 },
        { "tru", TOOLCORE_JSON_ERR_UNEXPECTED_END, 3 },
        { "nul1", TOOLCORE_JSON_ERR_BAD_LITERAL, 3 },
        { "\xEF\xBB\xBF{}", TOOLCORE_JSON_ERR_BYTE_ORDER_MARK, 0 },
        { "", TOOLCORE_JSON_ERR_UNEXPECTED_END, 0 },
        { "\"\\ud83d\\u0041\"", TOOLCORE_JSON_ERR_LONE_SURROGATE, 1 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
        AT(rows[i].json);
        CHECK_STATUS(toolcore_json_validate(exact(rows[i].json), NULL, &why), TOOLCORE_ERR_BAD_JSON);
        CHECK_SIZE(why.reason, rows[i].reason);
        CHECK_SIZE(why.offset, rows[i].offset);
        /* The readers below take a lone surrogate: who gave the text out has decided about it. */
        CHECK_SIZE(toolcore_json_kind(exact(rows[i].json)),
                   rows[i].reason == TOOLCORE_JSON_ERR_LONE_SURROGATE ? TOOLCORE_JSON_STRING : 0);
    }
    /* Whatever the reason is called: these are not JSON either. */
    static const char *const others[] = { "01", "1.", "+1", "\xC2\xA0" "1", "-", "1e", "{\"x\":NaN}", "{\"x\":-Infinity}", "{\"a\":1 \"b\":2}", "'a'" };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        AT(others[i]);
        CHECK_STATUS(toolcore_json_validate(exact(others[i]), NULL, NULL), TOOLCORE_ERR_BAD_JSON);
    }
    static const char *const good[] = { "{}", " [ ] ", "1e999", "-0", "\"\\u0000\"", "\"\\ud83d\\ude00\"", "null", "\t1\r\n" };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        AT(good[i]);
        CHECK_STATUS(toolcore_json_validate(exact(good[i]), NULL, NULL), TOOLCORE_OK);
    }
}

TEST(text_that_ends_in_the_middle_is_not_read_beyond)
{
    static const char *const cut[] = { "\"\\", "\"a\\u", "\"\\ud83d", "-", "1e", "tru", "\"\xE2\x82", "[1,", "{\"a\":", "{\"a" };
    for (size_t i = 0; i < sizeof cut / sizeof cut[0]; i++) {
        toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
        AT(cut[i]);
        CHECK_STATUS(toolcore_json_validate(exact(cut[i]), NULL, &why), TOOLCORE_ERR_BAD_JSON);
        CHECK(why.offset <= strlen(cut[i]));
    }
}

TEST(nesting_is_limited_and_costs_no_stack)
{
    const size_t deep = 100000;
    char *brackets = block(deep * 5);
    toolcore_detail_t why = TOOLCORE_DETAIL_INIT;
    toolcore_json_opts_t opts = TOOLCORE_JSON_OPTS_INIT;
    memset(brackets, '[', deep);
    CHECK_STATUS(toolcore_json_validate((toolcore_str_t){ brackets, deep }, NULL, &why), TOOLCORE_ERR_BAD_JSON);
    CHECK(why.reason == TOOLCORE_JSON_ERR_DEPTH_LIMIT && why.offset == 128);
    for (size_t i = 0; i < deep; i++)
        memcpy(brackets + i * 5, "{\"a\":", 5);
    CHECK_STATUS(toolcore_json_validate((toolcore_str_t){ brackets, deep * 5 }, NULL, &why), TOOLCORE_ERR_BAD_JSON);
    CHECK_SIZE(why.reason, TOOLCORE_JSON_ERR_DEPTH_LIMIT);
    memset(brackets, '[', 128);
    memset(brackets + 128, ']', 128);
    CHECK_STATUS(toolcore_json_validate((toolcore_str_t){ brackets, 256 }, NULL, &why), TOOLCORE_OK);
    opts.max_depth = 2;
    CHECK_STATUS(toolcore_json_validate(text("[[1]]"), &opts, &why), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_validate(text("[[[1]]]"), &opts, &why), TOOLCORE_ERR_BAD_JSON);
    CHECK(why.reason == TOOLCORE_JSON_ERR_DEPTH_LIMIT && why.offset == 2);
}

TEST(a_lone_surrogate_is_an_error_or_replaced)
{
    toolcore_json_opts_t opts = TOOLCORE_JSON_OPTS_INIT;
    opts.flags = TOOLCORE_JSON_REPLACE_SURROGATES;
    static const char *const lone[] = { "\"\\ud83d\"", "\"\\ude00\"", "\"\\ud83d\\ud83d\"", "\"\\ud83dx\"", "\"\\ud83d\\n\"" };
    for (size_t i = 0; i < sizeof lone / sizeof lone[0]; i++) {
        AT(lone[i]);
        CHECK_STATUS(toolcore_json_validate(exact(lone[i]), NULL, NULL), TOOLCORE_ERR_BAD_JSON);
        CHECK_STATUS(toolcore_json_validate(exact(lone[i]), &opts, NULL), TOOLCORE_OK);
    }
}

TEST(values_are_found_by_name_or_path)
{
    static const char json[] = " {\"a\":1, \"calls\":[{\"name\":\"x\"}, 2.50 ], \"k/v\":true, \"/x\":8, \"\":null, \"\\u0065sc\":\"e\","
                               "\"a\":9, \"~\":{\"m~n\":[[7]]}} ";
    static const struct { const char *path, *expected; } rows[] = {
        { "a", "1" },              { "/a", "1" },           { "/calls/0/name", "\"x\"" }, { "/calls/1", "2.50" },
        { "calls", "[{\"name\":\"x\"}, 2.50 ]" }, { "k/v", "true" }, { "/k~1v", "true" }, { "/~1x", "8" },
        { "", "null" },            { "/", "null" },         { "esc", "\"e\"" },           { "/~0/m~0n/0/0", "7" },
    };
    static const char *const missing[] = { "b", "/b", "/calls/2", "/calls/01", "/calls/-", "/calls/-1", "/calls/x", "/a/0",
                                           "/calls/0/name/0", "calls/0", "/calls/18446744073709551616", "/k/v" };
    const toolcore_str_t whole = exact(json);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        toolcore_str_t got = TOOLCORE_STR("before");
        AT(rows[i].path);
        CHECK_STATUS(toolcore_json_get(whole, exact(rows[i].path), &got), TOOLCORE_OK);
        CHECK_TEXT(got.ptr, got.len, rows[i].expected);
        CHECK(got.ptr >= whole.ptr && got.ptr + got.len <= whole.ptr + whole.len);
    }
    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++) {
        toolcore_str_t got = TOOLCORE_STR("before");
        AT(missing[i]);
        CHECK_STATUS(toolcore_json_get(whole, exact(missing[i]), &got), TOOLCORE_ERR_NOT_FOUND);
        CHECK_SIZE(got.len, 0);
    }
    AT(NULL);
    toolcore_str_t got = TOOLCORE_STR("before");
    CHECK_STATUS(toolcore_json_get(text("{\"a\":1} x"), text("a"), &got), TOOLCORE_ERR_BAD_JSON);
    CHECK_SIZE(got.len, 0);
    CHECK_STATUS(toolcore_json_get(text("[1]"), text("a"), &got), TOOLCORE_ERR_NOT_FOUND);
    CHECK_STATUS(toolcore_json_get(text("7"), text("/0"), &got), TOOLCORE_ERR_NOT_FOUND);
}

TEST(kinds_are_told)
{
    CHECK_SIZE(toolcore_json_kind(exact(" {} ")), TOOLCORE_JSON_OBJECT);
    CHECK_SIZE(toolcore_json_kind(exact("[]")), TOOLCORE_JSON_ARRAY);
    CHECK_SIZE(toolcore_json_kind(exact("\"\"")), TOOLCORE_JSON_STRING);
    CHECK_SIZE(toolcore_json_kind(exact("-1.5e3")), TOOLCORE_JSON_NUMBER);
    CHECK_SIZE(toolcore_json_kind(exact("false")), TOOLCORE_JSON_BOOLEAN);
    CHECK_SIZE(toolcore_json_kind(exact("null")), TOOLCORE_JSON_NULL);
    CHECK_SIZE(toolcore_json_kind(exact("nope")), 0);
    CHECK_SIZE(toolcore_json_kind(exact("")), 0);
}

TEST(strings_are_decoded_and_compared)
{
    CHECK_STATUS(toolcore_json_string(exact(" \"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\" "), buf, sizeof buf, &len), TOOLCORE_OK);
    CHECK_TEXT(buf, len, "a\"\\/\b\f\n\r\t\xC3\xA9\xF0\x9F\x98\x80");
    CHECK_STATUS(toolcore_json_string(exact("\"\""), buf, sizeof buf, &len), TOOLCORE_OK);
    CHECK_SIZE(len, 0);
    CHECK_STATUS(toolcore_json_string(exact("\"a\\u0000b\""), buf, sizeof buf, &len), TOOLCORE_OK);
    CHECK(len == 3 && memcmp(buf, "a\0b", 4) == 0);
    CHECK_STATUS(toolcore_json_string(exact("1"), buf, sizeof buf, &len), TOOLCORE_ERR_WRONG_TYPE);
    CHECK_SIZE(len, 0);
    CHECK_STATUS(toolcore_json_string(exact("\"a"), buf, sizeof buf, &len), TOOLCORE_ERR_BAD_JSON);
    CHECK_STATUS(toolcore_json_string(exact("\"a\\ud83d\\u0041\""), buf, sizeof buf, &len), TOOLCORE_OK);
    CHECK_TEXT(buf, len, "a\xEF\xBF\xBD" "A");
    CHECK(toolcore_json_string_is(exact("\"\\u0074ype\""), exact("type")));
    CHECK(!toolcore_json_string_is(exact("\"type\""), exact("typ")));
    CHECK(!toolcore_json_string_is(exact("\"type\""), exact("types")));
    CHECK(!toolcore_json_string_is(exact("1"), exact("1")));
}

TEST(numbers_are_exact_or_out_of_range)
{
    static const struct { const char *json; toolcore_status_t status; int64_t value; } signed_rows[] = {
        { "0", TOOLCORE_OK, 0 }, { "-0", TOOLCORE_OK, 0 }, { "5.0", TOOLCORE_OK, 5 }, { "1e2", TOOLCORE_OK, 100 },
        { "9223372036854775807", TOOLCORE_OK, INT64_MAX }, { "-9223372036854775808", TOOLCORE_OK, INT64_MIN },
        { "9007199254740993", TOOLCORE_OK, INT64_C(9007199254740993) }, { "120e-1", TOOLCORE_OK, 12 },
        { "9223372036854775808", TOOLCORE_ERR_OUT_OF_RANGE, 0 }, { "-9223372036854775809", TOOLCORE_ERR_OUT_OF_RANGE, 0 },
        { "1e999999999999", TOOLCORE_ERR_OUT_OF_RANGE, 0 }, { "5.5", TOOLCORE_ERR_WRONG_TYPE, 0 },
        { "1e-1", TOOLCORE_ERR_WRONG_TYPE, 0 }, { "\"5\"", TOOLCORE_ERR_WRONG_TYPE, 0 }, { "true", TOOLCORE_ERR_WRONG_TYPE, 0 },
        { "05", TOOLCORE_ERR_BAD_JSON, 0 }, { "", TOOLCORE_ERR_BAD_JSON, 0 },
    };
    for (size_t i = 0; i < sizeof signed_rows / sizeof signed_rows[0]; i++) {
        int64_t got = 77;
        AT(signed_rows[i].json);
        CHECK_STATUS(toolcore_json_i64(exact(signed_rows[i].json), &got), signed_rows[i].status);
        CHECK(got == (signed_rows[i].status == TOOLCORE_OK ? signed_rows[i].value : 77));
    }
    AT(NULL);
    uint64_t u = 77;
    CHECK_STATUS(toolcore_json_u64(exact("18446744073709551615"), &u), TOOLCORE_OK);
    CHECK(u == UINT64_MAX);
    u = 77;
    CHECK_STATUS(toolcore_json_u64(exact("18446744073709551616"), &u), TOOLCORE_ERR_OUT_OF_RANGE);
    CHECK_STATUS(toolcore_json_u64(exact("-1"), &u), TOOLCORE_ERR_OUT_OF_RANGE);
    CHECK(u == 77);
    CHECK_STATUS(toolcore_json_u64(exact("-0"), &u), TOOLCORE_OK);
    CHECK(u == 0);
    double f = 0.5;
    CHECK_STATUS(toolcore_json_f64(exact("1e999"), &f), TOOLCORE_ERR_OUT_OF_RANGE);
    CHECK(f > 0.4 && f < 0.6);
    CHECK_STATUS(toolcore_json_f64(exact("0.1"), &f), TOOLCORE_OK);
    CHECK(memcmp(&f, &(double){ 0.1 }, sizeof f) == 0);
    CHECK_STATUS(toolcore_json_f64(exact("-1.7976931348623157e308"), &f), TOOLCORE_OK);
    CHECK(memcmp(&f, &(double){ -1.7976931348623157e308 }, sizeof f) == 0);
    CHECK_STATUS(toolcore_json_f64(exact("1e-999"), &f), TOOLCORE_OK);
    CHECK(memcmp(&f, &(double){ 0.0 }, sizeof f) == 0);
    bool b = false;
    CHECK_STATUS(toolcore_json_bool(exact(" true"), &b), TOOLCORE_OK);
    CHECK(b);
    CHECK_STATUS(toolcore_json_bool(exact("1"), &b), TOOLCORE_ERR_WRONG_TYPE);
    CHECK(b);
}

TEST(objects_and_arrays_are_walked_in_order)
{
    toolcore_json_iter_t iter, copy;
    toolcore_str_t key, value;
    static const char *const keys[] = { "\"a\"", "\"b\\n\"", "\"a\"" }, *const values[] = { "1", "[2, {}]", "null" };
    CHECK_STATUS(toolcore_json_iter_init(&iter, exact(" { \"a\" : 1 , \"b\\n\":[2, {}],\"a\":null } ")), TOOLCORE_OK);
    for (size_t i = 0; i < 3; i++) {
        CHECK(toolcore_json_iter_next(&iter, &key, &value));
        CHECK_TEXT(key.ptr, key.len, keys[i]);
        CHECK_TEXT(value.ptr, value.len, values[i]);
        if (i == 0)
            copy = iter;
    }
    CHECK(!toolcore_json_iter_next(&iter, &key, &value));
    CHECK(!toolcore_json_iter_next(&iter, &key, &value));
    CHECK(toolcore_json_iter_next(&copy, NULL, &value));
    CHECK_TEXT(value.ptr, value.len, "[2, {}]");
    CHECK_STATUS(toolcore_json_iter_init(&iter, exact("[1,\"\xE2\x82\xAC\"]")), TOOLCORE_OK);
    CHECK(toolcore_json_iter_next(&iter, &key, &value));
    CHECK_SIZE(key.len, 0);
    CHECK_TEXT(value.ptr, value.len, "1");
    CHECK(toolcore_json_iter_next(&iter, NULL, &value));
    CHECK_TEXT(value.ptr, value.len, "\"\xE2\x82\xAC\"");
    CHECK(!toolcore_json_iter_next(&iter, NULL, &value));
    CHECK_STATUS(toolcore_json_iter_init(&iter, exact("{}")), TOOLCORE_OK);
    CHECK(!toolcore_json_iter_next(&iter, &key, &value));
    CHECK_STATUS(toolcore_json_iter_init(&iter, exact("7")), TOOLCORE_ERR_WRONG_TYPE);
    CHECK(!toolcore_json_iter_next(&iter, &key, &value));
    CHECK_STATUS(toolcore_json_iter_init(&iter, exact("[1")), TOOLCORE_ERR_BAD_JSON);
    CHECK(!toolcore_json_iter_next(&iter, &key, &value));
}

TEST(a_writer_puts_commas_and_escapes)
{
    toolcore_json_writer_t writer;
    CHECK_STATUS(toolcore_json_writer_init(&writer, buf, sizeof buf), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_object_start(&writer), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_key(&writer, exact("a\"\\")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_array_start(&writer), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_i64(&writer, INT64_MIN), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_u64(&writer, UINT64_MAX), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_bool(&writer, 1), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_bool(&writer, 0), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_null(&writer), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_array_start(&writer), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_array_end(&writer), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_array_end(&writer), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_key(&writer, exact("\n")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_raw(&writer, exact("{\"x\":[1.50]}")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_key(&writer, exact("")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_string(&writer, exact("\x01\x1F\x7F\xC3\xA9\xE2\x80\xA8/")), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_object_end(&writer), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_end(&writer, &len), TOOLCORE_OK);
    CHECK_TEXT(buf, len,
               "{\"a\\\"\\\\\":[-9223372036854775808,18446744073709551615,true,false,null,[]],\"\\n\":{\"x\":[1.50]},"
               "\"\":\"\\u0001\\u001f\x7F\xC3\xA9\xE2\x80\xA8/\"}");
}

TEST(a_writer_keeps_its_first_failure)
{
    toolcore_json_writer_t writer;
    CHECK_STATUS(toolcore_json_writer_init(&writer, buf, sizeof buf), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_array_start(&writer), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_raw(&writer, exact("[1,]")), TOOLCORE_ERR_BAD_JSON);
    CHECK_STATUS(toolcore_json_writer_string(&writer, exact("\xFF")), TOOLCORE_ERR_BAD_JSON);
    CHECK_STATUS(toolcore_json_writer_array_end(&writer), TOOLCORE_ERR_BAD_JSON);
    CHECK_STATUS(toolcore_json_writer_end(&writer, &len), TOOLCORE_ERR_BAD_JSON);
    CHECK_SIZE(len, 0);
}

TEST(a_text_that_is_not_whole_is_not_ended)
{
    toolcore_json_writer_t writer;
    CHECK_STATUS(toolcore_json_writer_init(&writer, buf, sizeof buf), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_end(&writer, &len), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_json_writer_init(&writer, buf, sizeof buf), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_object_start(&writer), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_end(&writer, &len), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_json_writer_init(&writer, buf, sizeof buf), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_null(&writer), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_end(&writer, &len), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_null(&writer), TOOLCORE_ERR_INVALID_ARGUMENT);
}

/* One letter for each piece: { } [ ] k a key, v a value, r raw JSON. Gives what the last one gives. */
static toolcore_status_t write_pieces(toolcore_json_writer_t *writer, const char *pieces)
{
    toolcore_status_t status = TOOLCORE_OK;
    for (const char *piece = pieces; *piece != 0; piece++) {
        switch (*piece) {
        case '{': status = toolcore_json_writer_object_start(writer); break;
        case '}': status = toolcore_json_writer_object_end(writer); break;
        case '[': status = toolcore_json_writer_array_start(writer); break;
        case ']': status = toolcore_json_writer_array_end(writer); break;
        case 'k': status = toolcore_json_writer_key(writer, exact("k")); break;
        case 'v': status = toolcore_json_writer_i64(writer, 1); break;
        default: status = toolcore_json_writer_raw(writer, exact("{\"r\":[]}")); break;
        }
        if (piece[1] != 0)
            CHECK_STATUS(status, TOOLCORE_OK);
    }
    return status;
}

TEST(a_writer_never_ends_well_on_what_is_not_json)
{
    static const char *const misplaced[] = { "{]", "[}", "}", "]", "vv", "v[", "{}v", "{}}", "{v", "{r", "{[", "{k}", "{kk", "{kvv",
                                             "k", "[k", "[vk", "vk", "{k[k", "[{kv]", "{k[}" };
    static const char *const whole[] = { "v", "r", "[]", "{}", "[v{kvkr}[]r]", "{k{k[{}]}kv}" };
    for (size_t i = 0; i < sizeof misplaced / sizeof misplaced[0]; i++) {
        toolcore_json_writer_t writer;
        AT(misplaced[i]);
        CHECK_STATUS(toolcore_json_writer_init(&writer, buf, sizeof buf), TOOLCORE_OK);
        CHECK_STATUS(write_pieces(&writer, misplaced[i]), TOOLCORE_ERR_INVALID_ARGUMENT);
        CHECK_STATUS(toolcore_json_writer_array_end(&writer), TOOLCORE_ERR_INVALID_ARGUMENT);
        CHECK_STATUS(toolcore_json_writer_key(&writer, exact("k")), TOOLCORE_ERR_INVALID_ARGUMENT);
        CHECK_STATUS(toolcore_json_writer_null(&writer), TOOLCORE_ERR_INVALID_ARGUMENT);
        CHECK_STATUS(toolcore_json_writer_end(&writer, &len), TOOLCORE_ERR_INVALID_ARGUMENT);
        CHECK_SIZE(len, 0);
    }
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        toolcore_json_writer_t writer;
        AT(whole[i]);
        CHECK_STATUS(toolcore_json_writer_init(&writer, buf, sizeof buf), TOOLCORE_OK);
        CHECK_STATUS(write_pieces(&writer, whole[i]), TOOLCORE_OK);
        CHECK_STATUS(toolcore_json_writer_end(&writer, &len), TOOLCORE_OK);
        CHECK_STATUS(toolcore_json_validate((toolcore_str_t){ buf, len }, NULL, NULL), TOOLCORE_OK);
    }
}

TEST(a_text_is_not_written_or_decoded_over_itself)
{
    toolcore_json_writer_t writer;
    char *place = block(32);
    memcpy(place, "\"a\\nb\"", 6);
    CHECK_STATUS(toolcore_json_string((toolcore_str_t){ place, 6 }, place, 32, &len), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_SIZE(len, 0);
    CHECK_TEXT(place, 6, "\"a\\nb\"");
    CHECK_STATUS(toolcore_json_writer_init(&writer, place, 32), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_array_start(&writer), TOOLCORE_OK);
    CHECK_STATUS(toolcore_json_writer_string(&writer, (toolcore_str_t){ place, 1 }), TOOLCORE_ERR_INVALID_ARGUMENT);
    CHECK_STATUS(toolcore_json_writer_end(&writer, &len), TOOLCORE_ERR_INVALID_ARGUMENT);
}

TEST(a_double_is_written_so_that_it_reads_back_the_same)
{
    static const double values[] = { 0.0, 1.0, -2.5, 0.1, 1.0 / 3.0, 1e21, 1e-7, 1.7976931348623157e308, 5e-324, 123456789012345680.0 };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        toolcore_json_writer_t writer;
        double back = 0.5;
        CHECK_STATUS(toolcore_json_writer_init(&writer, buf, sizeof buf), TOOLCORE_OK);
        CHECK_STATUS(toolcore_json_writer_f64(&writer, values[i]), TOOLCORE_OK);
        CHECK_STATUS(toolcore_json_writer_end(&writer, &len), TOOLCORE_OK);
        AT(buf);
        CHECK_STATUS(toolcore_json_f64((toolcore_str_t){ buf, len }, &back), TOOLCORE_OK);
        CHECK(memcmp(&back, &values[i], sizeof back) == 0);
        back = strtod(buf, NULL);
        CHECK(memcmp(&back, &values[i], sizeof back) == 0);
    }
    AT(NULL);
    const double zero = 0.0, none[] = { zero / zero, 1.0 / zero, -1.0 / zero };
    for (size_t i = 0; i < 3; i++) {
        toolcore_json_writer_t writer;
        CHECK_STATUS(toolcore_json_writer_init(&writer, buf, sizeof buf), TOOLCORE_OK);
        CHECK_STATUS(toolcore_json_writer_f64(&writer, none[i]), TOOLCORE_ERR_OUT_OF_RANGE);
    }
}

int main(void)
{
    RUN(json_is_checked_strictly_and_the_place_is_named);
    RUN(text_that_ends_in_the_middle_is_not_read_beyond);
    RUN(nesting_is_limited_and_costs_no_stack);
    RUN(a_lone_surrogate_is_an_error_or_replaced);
    RUN(values_are_found_by_name_or_path);
    RUN(kinds_are_told);
    RUN(strings_are_decoded_and_compared);
    RUN(numbers_are_exact_or_out_of_range);
    RUN(objects_and_arrays_are_walked_in_order);
    RUN(a_writer_puts_commas_and_escapes);
    RUN(a_writer_keeps_its_first_failure);
    RUN(a_text_that_is_not_whole_is_not_ended);
    RUN(a_writer_never_ends_well_on_what_is_not_json);
    RUN(a_text_is_not_written_or_decoded_over_itself);
    RUN(a_double_is_written_so_that_it_reads_back_the_same);
    return check_end();
}

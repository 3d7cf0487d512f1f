/* Checks named as claims, for the C tests of libtoolcore.
 *
 * A program is a list of claims: TEST(a_claim) { ... CHECK(...); ... }, which main runs with RUN(a_claim) and
 * ends with `return check_end();`. A claim that fails is named with the line; the others still run.
 *
 * block() and exact() hand out memory of exactly the size that was asked for, so that valgrind and the address
 * sanitizer see a byte that is read or written beyond it. All of it is freed by check_end(). */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "toolcore.h"

#define TEST(claim) static void claim(void)
#define RUN(claim) check_run(#claim, claim)
#define CHECK(condition) check_that((condition) ? 1 : 0, #condition, __FILE__, __LINE__)
#define CHECK_STATUS(call, expected) check_status((call), (expected), #call, __FILE__, __LINE__)
#define CHECK_TEXT(pointer, length, expected) \
    check_text((pointer), (length), (expected), #pointer, __FILE__, __LINE__)
#define CHECK_SIZE(got, expected) check_size((size_t)(got), (size_t)(expected), #got, __FILE__, __LINE__)
/* Adds a word to the failures that follow: which row of a table it is. NULL takes it away. */
#define AT(text) (check_row = (text))

static const char *check_claim = "";
static const char *check_row = NULL;
static int check_claims = 0, check_checks = 0, check_failed = 0;
static void *check_blocks[4096];
static size_t check_blocks_len = 0;

static inline void check_failure(const char *file, int line)
{
    check_failed++;
    fprintf(stderr, "%s:%d: %s", file, line, check_claim);
    if (check_row != NULL)
        fprintf(stderr, " [%s]", check_row);
    fputs(": ", stderr);
}

static inline void check_that(int holds, const char *what, const char *file, int line)
{
    check_checks++;
    if (!holds) {
        check_failure(file, line);
        fprintf(stderr, "%s\n", what);
    }
}

static inline void check_status(toolcore_status_t got, toolcore_status_t expected, const char *what,
                                const char *file, int line)
{
    check_checks++;
    if (got != expected) {
        check_failure(file, line);
        fprintf(stderr, "%s: %s, expected %s\n", what, toolcore_status_name(got), toolcore_status_name(expected));
    }
}

static inline void check_size(size_t got, size_t expected, const char *what, const char *file, int line)
{
    check_checks++;
    if (got != expected) {
        check_failure(file, line);
        fprintf(stderr, "%s: %lu, expected %lu\n", what, (unsigned long)got, (unsigned long)expected);
    }
}

static inline void check_text(const char *got, size_t len, const char *expected, const char *what,
                              const char *file, int line)
{
    check_checks++;
    if (len != strlen(expected) || (len > 0 && memcmp(got, expected, len) != 0)) {
        check_failure(file, line);
        fprintf(stderr, "%s:\n      got %.*s\n expected %s\n", what, (int)(got == NULL ? 0 : len),
                got == NULL ? "" : got, expected);
    }
}

static inline void check_free(void)
{
    while (check_blocks_len > 0)
        free(check_blocks[--check_blocks_len]);
}

static inline void check_run(const char *claim, void (*test)(void))
{
    int before = check_failed;
    check_claim = claim;
    check_row = NULL;
    check_claims++;
    test();
    check_free();
    printf("%s %s\n", check_failed == before ? "ok    " : "FAILED", claim);
}

/* The last line of main. */
static inline int check_end(void)
{
    printf("%d claims, %d checks, %d failed\n", check_claims, check_checks, check_failed);
    return check_failed == 0 ? 0 : 1;
}

/* Memory of exactly this size, filled with 0xA5, until the claim ends. */
static inline void *block(size_t size)
{
    void *memory = malloc(size > 0 ? size : 1);
    if (memory == NULL || check_blocks_len == sizeof check_blocks / sizeof check_blocks[0]) {
        fprintf(stderr, "out of memory for %lu bytes\n", (unsigned long)size);
        exit(2);
    }
    check_blocks[check_blocks_len++] = memory;
    return memset(memory, 0xA5, size > 0 ? size : 1);
}

/* A text as the library takes it. */
static inline toolcore_str_t text(const char *literal)
{
    return (toolcore_str_t){ literal, strlen(literal) };
}

/* A copy of a text in memory of exactly its length, without a NUL. */
static inline toolcore_str_t exact(const char *literal)
{
    size_t len = strlen(literal);
    char *copy = block(len);
    memcpy(copy, literal, len);
    return (toolcore_str_t){ copy, len };
}

/* Whether a text has this piece. */
static inline int contains(const char *pointer, size_t len, const char *piece)
{
    size_t part = strlen(piece);
    for (size_t at = 0; at + part <= len; at++)
        if (memcmp(pointer + at, piece, part) == 0)
            return 1;
    return 0;
}

#endif

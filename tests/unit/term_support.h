/* What the tests of terms share: the variables in scope, a pool for each test, short ways to parse
 * and evaluate. */
#ifndef FT_TEST_TERM_SUPPORT_H
#define FT_TEST_TERM_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <z3.h>

#include "base/memory.h"
#include "term/term.h"

/* ---- variables of the tests ---- */

static const struct {
    const char *name;
    ft_sort sort;
} VARIABLES[] = {
    {"x", {FT_SORT_INT, 0}},     {"y", {FT_SORT_INT, 0}},           {"z", {FT_SORT_INT, 0}},
    {"b", {FT_SORT_BOOL, 0}},    {"c", {FT_SORT_BOOL, 0}},          {"v", {FT_SORT_BITVEC, 8}},
    {"w", {FT_SORT_BITVEC, 8}},  {"s", {FT_SORT_BITVEC, 5}},        {"t", {FT_SORT_BITVEC, 64}},
    {"u", {FT_SORT_BITVEC, 64}}, {"a[0].f|g\\h", {FT_SORT_INT, 0}}, {"let", {FT_SORT_INT, 0}},
    {"??1", {FT_SORT_INT, 0}},
};
enum { N_VARIABLES = sizeof VARIABLES / sizeof *VARIABLES, N_PLAIN = 10 };

static inline bool resolve(void *context, const char *name, size_t length, ft_symbol *symbol,
                           ft_sort *sort)
{
    (void)context;
    for (uint32_t i = 0; i < N_VARIABLES; i++) {
        if (strlen(VARIABLES[i].name) != length || memcmp(VARIABLES[i].name, name, length) != 0)
            continue;
        *symbol = FT_SYM_SHARED(i);
        *sort = VARIABLES[i].sort;
        return true;
    }
    return false;
}

static inline const char *name_of(void *context, ft_symbol symbol)
{
    (void)context;
    return VARIABLES[FT_SYM_INDEX(symbol)].name;
}

static const ft_scope SCOPE = {.resolve = resolve, .name = name_of};

/* Values by variable; `have` says which are known. */
typedef struct assignment {
    uint64_t bits[N_VARIABLES];
    bool have[N_VARIABLES];
} assignment;

static inline bool look_up(void *context, ft_symbol symbol, ft_value *value)
{
    const assignment *a = context;
    if (!a->have[symbol]) return false;
    *value = (ft_value){VARIABLES[symbol].sort, a->bits[symbol]};
    return true;
}

static ft_term_pool *pool;

static inline int set_up(void **state)
{
    (void)state;
    pool = ft_term_pool_new();
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    ft_term_pool_free(pool);
    return 0;
}

static inline ft_term parse(const char *text)
{
    ft_error err = FT_ERROR_INIT;
    ft_term term = FT_NO_TERM;
    if (ft_term_parse(pool, text, strlen(text), &SCOPE, &term, &err) != FT_OK)
        fail_msg("%s: column %d: %s", text, (int)err.column, err.message);
    assert_int_not_equal(term, FT_NO_TERM);
    return term;
}

static inline void expect_print(const char *text, const char *expected)
{
    ft_strbuf out = {0};
    ft_term_print(pool, parse(text), &SCOPE, &out);
    assert_string_equal(ft_strbuf_text(&out), expected);
    ft_strbuf_release(&out);
}

static inline void expect_error(const char *text, ft_status code, unsigned column, const char *part)
{
    ft_error err = FT_ERROR_INIT;
    ft_term term = 4711;
    ft_status status = ft_term_parse(pool, text, strlen(text), &SCOPE, &term, &err);
    if (status != code || err.column != column || !strstr(err.message, part))
        fail_msg("%s: got %d, column %d, `%s'; wanted %d, column %u, `%s'", text, status,
                 (int)err.column, err.message, code, column, part);
    assert_int_equal(err.line, 1);
    assert_int_equal(term, 4711);
}

/* x = 7, y = -7, z = 2, b = true; c unknown; v = 0x8c (-116), w = 3, s unknown, t = 2^63, u unknown
 */
static inline assignment usual(void)
{
    assignment a = {.bits = {7, (uint64_t)-7, 2, 1, 0, 0x8c, 3, 0, (uint64_t)1 << 63},
                    .have = {true, true, true, true, false, true, true, false, true}};
    return a;
}

static inline ft_eval_status eval(const char *text, ft_value *value)
{
    assignment a = usual();
    return ft_term_eval(pool, parse(text), look_up, &a, value);
}

static inline void expect_eval(const char *text, const char *expected)
{
    ft_value value = {{0, 0}, 0};
    ft_strbuf out = {0};
    ft_eval_status status = eval(text, &value);
    if (status != FT_EVAL_OK) fail_msg("%s: status %d", text, status);
    ft_value_print(value, &out);
    if (strcmp(ft_strbuf_text(&out), expected) != 0)
        fail_msg("%s is %s, not %s", text, ft_strbuf_text(&out), expected);
    ft_strbuf_release(&out);
}

static inline void expect_status(const char *text, ft_eval_status expected)
{
    ft_value value;
    ft_eval_status status = eval(text, &value);
    if (status != expected) fail_msg("%s: status %d, not %d", text, status, expected);
}

static const ft_sort INT __attribute__((unused)) = {FT_SORT_INT, 0};
static const ft_sort BOOL __attribute__((unused)) = {FT_SORT_BOOL, 0};

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif

/* Terms: whatever is read can be printed, read back as the same term, and evaluated. */
#include <stdlib.h>
#include <string.h>

#include "term/term.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
    const char *name;
    ft_sort sort;
} VARIABLES[] = {
    {"x", {FT_SORT_INT, 0}},    {"y", {FT_SORT_INT, 0}},     {"b", {FT_SORT_BOOL, 0}},
    {"v", {FT_SORT_BITVEC, 8}}, {"w", {FT_SORT_BITVEC, 64}}, {"?0", {FT_SORT_BITVEC, 64}},
};

static bool resolve(void *context, const char *name, size_t length, ft_symbol *symbol,
                    ft_sort *sort)
{
    (void)context;
    for (uint32_t i = 0; i < sizeof VARIABLES / sizeof *VARIABLES; i++) {
        if (strlen(VARIABLES[i].name) != length || memcmp(VARIABLES[i].name, name, length) != 0)
            continue;
        *symbol = i;
        *sort = VARIABLES[i].sort;
        return true;
    }
    return false;
}

static const char *name_of(void *context, ft_symbol symbol)
{
    (void)context;
    return VARIABLES[symbol].name;
}

/* b and v stay unknown. */
static bool look_up(void *context, ft_symbol symbol, ft_value *value)
{
    (void)context;
    *value = (ft_value){VARIABLES[symbol].sort, symbol == 1 ? (uint64_t)INT64_MIN : 3};
    return symbol != 2 && symbol != 3;
}

static void check(ft_term_pool *pool, ft_term term, const ft_scope *scope)
{
    ft_strbuf text = {0};
    ft_value value;
    ft_term again = FT_NO_TERM;
    ft_term_print(pool, term, scope, &text);
    ft_status status = ft_term_parse(pool, ft_strbuf_text(&text), text.len, scope, &again, NULL);
    if (status != FT_OK || again != term) abort();
    ft_eval_status evaluated = ft_term_eval(pool, term, look_up, NULL, &value);
    if (evaluated == FT_EVAL_OK && !ft_sort_equal(value.sort, ft_term_sort(pool, term))) abort();
    ft_strbuf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const ft_scope scope = {.resolve = resolve, .name = name_of};
    ft_term_pool *pool = ft_term_pool_new();
    ft_error err = FT_ERROR_INIT;
    ft_term term;
    ft_sort sort;
    ft_value value;
    if (ft_term_parse(pool, (const char *)data, size, &scope, &term, &err) == FT_OK)
        check(pool, term, &scope);
    else if (err.column < 1 || err.column > size + 1)
        abort();
    if (ft_sort_parse((const char *)data, size, &sort, NULL) == FT_OK)
        if (ft_value_parse("1", 1, sort, &value, NULL) == FT_OK && sort.kind == FT_SORT_BOOL)
            abort();
    for (uint32_t i = 0; i < 4; i++)
        if (ft_value_parse((const char *)data, size, VARIABLES[i].sort, &value, NULL) == FT_OK &&
            !ft_sort_equal(value.sort, VARIABLES[i].sort))
            abort();
    ft_term_pool_free(pool);
    return 0;
}

#include "program/instruction.h"

#include <string.h>

#include "base/contract.h"

static const ft_instruction_row ROWS[FT_CODES] = {
#define FT_ROW(symbol, name, attribute, operands, result, effect, meaning)                         \
    [FT_CODE_##                                                                                    \
        symbol] = {name, operands, meaning, result, FT_ATTRIBUTE_##attribute, FT_EFFECT_##effect},
    FT_INSTRUCTION_TABLE(FT_ROW)
#undef FT_ROW
};

static const struct {
    const char *name;
    bool acquires, releases;
} ORDERS[FT_ORDERS] = {
#define FT_ROW(symbol, name, acquires, releases) [FT_ORDER_##symbol] = {name, acquires, releases},
    FT_ORDER_TABLE(FT_ROW)
#undef FT_ROW
};

static const char *const UPDATES[FT_UPDATES] = {
#define FT_ROW(symbol, name, meaning) [FT_UPDATE_##symbol] = name,
    FT_UPDATE_TABLE(FT_ROW)
#undef FT_ROW
};

static const char *const MUTEXES[FT_MUTEXES] = {
#define FT_ROW(symbol, name, meaning) [FT_MUTEX_##symbol] = name,
    FT_MUTEX_TABLE(FT_ROW)
#undef FT_ROW
};

static const struct {
    const char *name, *meaning;
} ERRORS[FT_PROGRAM_ERRORS] = {[FT_ERROR_NONE] = {"none", "no error"},
#define FT_ROW(symbol, name, meaning) [FT_ERROR_##symbol] = {name, meaning},
                               FT_PROGRAM_ERROR_TABLE(FT_ROW)
#undef FT_ROW
};

const ft_instruction_row *ft_instruction_row_of(ft_code code)
{
    FT_REQUIRE(code < FT_CODES);
    return &ROWS[code];
}

bool ft_code_named(const char *name, ft_code *code)
{
    FT_REQUIRE(name && code);
    for (int i = 0; i < FT_CODES; i++)
        if (strcmp(ROWS[i].name, name) == 0) return *code = (ft_code)i, true;
    return false;
}

bool ft_code_has_width(ft_code code)
{
    const ft_instruction_row *row = ft_instruction_row_of(code);
    return row->result == 'w' || row->result == 'v' || strchr(row->operands, 'w');
}

bool ft_code_ends_block(ft_code code)
{
    static const bool ENDS[FT_CODES] = {
        [FT_CODE_JUMP] = true,   [FT_CODE_BRANCH] = true,      [FT_CODE_SWITCH] = true,
        [FT_CODE_RETURN] = true, [FT_CODE_UNREACHABLE] = true, [FT_CODE_END] = true,
        [FT_CODE_FAIL] = true,   [FT_CODE_EXIT] = true,
    };
    FT_REQUIRE(code < FT_CODES);
    return ENDS[code];
}

/* The index of the name, or n. */
static int find(const char *const *names, int n, const char *name)
{
    int i = 0;
    while (i < n && strcmp(names[i], name) != 0) i++;
    return i;
}

const char *ft_order_name(ft_order order)
{
    return order < FT_ORDERS ? ORDERS[order].name : NULL;
}

bool ft_order_named(const char *name, ft_order *order)
{
    for (int i = 0; i < FT_ORDERS; i++)
        if (strcmp(ORDERS[i].name, name) == 0) return *order = (ft_order)i, true;
    return false;
}

bool ft_order_acquires(ft_order order)
{
    FT_REQUIRE(order < FT_ORDERS);
    return ORDERS[order].acquires;
}

bool ft_order_releases(ft_order order)
{
    FT_REQUIRE(order < FT_ORDERS);
    return ORDERS[order].releases;
}

const char *ft_update_name(ft_update update)
{
    return update < FT_UPDATES ? UPDATES[update] : NULL;
}

bool ft_update_named(const char *name, ft_update *update)
{
    int i = find(UPDATES, FT_UPDATES, name);
    if (i < FT_UPDATES) *update = (ft_update)i;
    return i < FT_UPDATES;
}

const char *ft_mutex_kind_name(ft_mutex_kind kind)
{
    return kind < FT_MUTEXES ? MUTEXES[kind] : NULL;
}

bool ft_mutex_kind_named(const char *name, ft_mutex_kind *kind)
{
    int i = find(MUTEXES, FT_MUTEXES, name);
    if (i < FT_MUTEXES) *kind = (ft_mutex_kind)i;
    return i < FT_MUTEXES;
}

const char *ft_program_error_name(ft_program_error error)
{
    FT_REQUIRE(error < FT_PROGRAM_ERRORS);
    return ERRORS[error].name;
}

const char *ft_program_error_meaning(ft_program_error error)
{
    FT_REQUIRE(error < FT_PROGRAM_ERRORS);
    return ERRORS[error].meaning;
}

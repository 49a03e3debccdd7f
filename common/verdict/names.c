#include "verdict/names.h"

#include <stddef.h>
#include <string.h>

#include "base/contract.h"

typedef struct row {
    const char *name, *doc;
} row;

#define FT_ROW(symbol, name, doc) {name, doc},
static const row CHECKS[] = {FT_CHECK_TABLE(FT_ROW)};
static const row MODELS[] = {FT_MODEL_TABLE(FT_ROW)};
static const row VERDICTS[] = {FT_VERDICT_TABLE(FT_ROW)};
static const row REASONS[] = {FT_REASON_TABLE(FT_ROW)};
static const row WAKEUPS[] = {FT_WAKEUPS_TABLE(FT_ROW)};
static const row SOLVERS[] = {FT_SOLVER_TABLE(FT_ROW)};
static const row DECIDERS[] = {FT_DECIDER_TABLE(FT_ROW)};
#undef FT_ROW

static bool find(const row *rows, size_t count, const char *name, size_t *index)
{
    FT_REQUIRE(name && index);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].name, name) != 0) continue;
        *index = i;
        return true;
    }
    return false;
}

#define FT_NAME_FUNCTIONS(type, rows)                                                              \
    const char *ft_##type##_name(ft_##type value)                                                  \
    {                                                                                              \
        FT_REQUIRE((size_t)value < sizeof rows / sizeof *rows);                                    \
        return rows[value].name;                                                                   \
    }                                                                                              \
    bool ft_##type##_parse(const char *name, ft_##type *value)                                     \
    {                                                                                              \
        size_t index;                                                                              \
        if (!find(rows, sizeof rows / sizeof *rows, name, &index)) return false;                   \
        *value = (ft_##type)index;                                                                 \
        return true;                                                                               \
    }

FT_NAME_FUNCTIONS(check, CHECKS)
FT_NAME_FUNCTIONS(model, MODELS)
FT_NAME_FUNCTIONS(verdict, VERDICTS)
FT_NAME_FUNCTIONS(reason, REASONS)
FT_NAME_FUNCTIONS(wakeups, WAKEUPS)
FT_NAME_FUNCTIONS(solver, SOLVERS)

const char *ft_decided_by_name(ft_decided_by decider)
{
    FT_REQUIRE(decider < FT_DECIDERS);
    return DECIDERS[decider].name;
}

const char *ft_reason_doc(ft_reason reason)
{
    FT_REQUIRE(reason < FT_REASONS);
    return REASONS[reason].doc;
}

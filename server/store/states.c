#include "store/states.h"

#include <stddef.h>
#include <string.h>

#include "base/contract.h"

typedef struct row {
    const char *name;
    bool final;
    const char *next;
} row;

#define FT_ROW(symbol, name, final, next) {name, final, next},
static const row JOB_STATES[] = {FT_JOB_STATE_TABLE(FT_ROW)};
static const row TASK_STATES[] = {FT_TASK_STATE_TABLE(FT_ROW)};
#undef FT_ROW

static const char *const KINDS[] = {
#define FT_ROW(symbol, name, stored, inputs, outputs) name,
    FT_TASK_KIND_TABLE(FT_ROW)
#undef FT_ROW
};

static bool listed(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = names; (at = strstr(at, name)) != NULL; at += length) {
        bool starts = at == names || at[-1] == ' ';
        if (starts && (at[length] == ' ' || at[length] == '\0')) return true;
    }
    return false;
}

static bool find(const row *rows, size_t count, const char *name, size_t *index)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].name, name) != 0) continue;
        *index = i;
        return true;
    }
    return false;
}

#define FT_STATE_FUNCTIONS(type, rows, count)                                                      \
    const char *ft_##type##_name(ft_##type state)                                                  \
    {                                                                                              \
        FT_REQUIRE(state < (count));                                                               \
        return rows[state].name;                                                                   \
    }                                                                                              \
    bool ft_##type##_parse(const char *name, ft_##type *state)                                     \
    {                                                                                              \
        size_t index;                                                                              \
        if (!find(rows, (count), name, &index)) return false;                                      \
        *state = (ft_##type)index;                                                                 \
        return true;                                                                               \
    }                                                                                              \
    bool ft_##type##_final(ft_##type state)                                                        \
    {                                                                                              \
        FT_REQUIRE(state < (count));                                                               \
        return rows[state].final;                                                                  \
    }                                                                                              \
    bool ft_##type##_may(ft_##type from, ft_##type to)                                             \
    {                                                                                              \
        FT_REQUIRE(from < (count) && to < (count));                                                \
        assert(!rows[from].final || !rows[from].next[0]); /* nothing follows a final state */      \
        return listed(rows[from].next, rows[to].name);                                             \
    }

FT_STATE_FUNCTIONS(job_state, JOB_STATES, FT_JOB_STATES)
FT_STATE_FUNCTIONS(task_state, TASK_STATES, FT_TASK_STATES)

const char *ft_task_kind_name(ft_task_kind kind)
{
    FT_REQUIRE(kind < FT_TASK_KINDS);
    return KINDS[kind];
}

bool ft_task_kind_parse(const char *name, ft_task_kind *kind)
{
    for (int i = 0; i < FT_TASK_KINDS; i++) {
        if (strcmp(KINDS[i], name) != 0) continue;
        *kind = (ft_task_kind)i;
        return true;
    }
    return false;
}

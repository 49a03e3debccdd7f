#include "oracle/generate.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "oracle/program.h"
#include "verdict/checker.h"

void ft_random_init(ft_random *random, uint64_t seed)
{
    random->state = seed * 0x9e3779b97f4a7c15u + 0x1234567u;
    if (!random->state) random->state = 1;
    for (int i = 0; i < 8; i++) (void)ft_random_below(random, 2);
}

/* xorshift64* (Vigna 2016). */
uint32_t ft_random_below(ft_random *random, uint32_t bound)
{
    random->state ^= random->state >> 12;
    random->state ^= random->state << 25;
    random->state ^= random->state >> 27;
    return (uint32_t)((random->state * 0x2545f4914f6cdd1du) >> 33) % bound;
}

bool ft_random_percent(ft_random *random, uint32_t percent)
{
    return ft_random_below(random, 100) < percent;
}

ft_grade ft_generate_grade(uint64_t seed)
{
    static const ft_grade grades[] = {FT_GRADE_SYMBOLIC, FT_GRADE_VALUED,   FT_GRADE_SYMBOLIC,
                                      FT_GRADE_OBSERVED, FT_GRADE_SYMBOLIC, FT_GRADE_MIXED,
                                      FT_GRADE_MIXED};
    return grades[seed % 7];
}

/* The same for every attempt, so that what often gets stuck is not left out. */
static ft_flavour flavour_of(uint64_t seed)
{
    static const ft_flavour flavours[] = {
        FT_FLAVOUR_DATA,       FT_FLAVOUR_DATA,       FT_FLAVOUR_DATA,       FT_FLAVOUR_LOCKS,
        FT_FLAVOUR_LOCKS,      FT_FLAVOUR_LOCKS,      FT_FLAVOUR_CONDITIONS, FT_FLAVOUR_CONDITIONS,
        FT_FLAVOUR_CONDITIONS, FT_FLAVOUR_SEMAPHORES, FT_FLAVOUR_BARRIERS,   FT_FLAVOUR_MEMORY,
        FT_FLAVOUR_ANY};
    ft_random random;
    ft_random_init(&random, seed ^ 0x666c6176u);
    return flavours[ft_random_below(&random, sizeof flavours / sizeof *flavours)];
}

/* Two in five programs have branches; the others are made as if there were none. */
static uint32_t branches_of(uint64_t seed)
{
    static const uint32_t shares[] = {0, 0, 0, 18, 35};
    ft_random random;
    ft_random_init(&random, seed ^ 0x6272616e6368u);
    return shares[ft_random_below(&random, sizeof shares / sizeof *shares)];
}

/* One program in four has accesses that are no candidates, one in ten is mostly of atomic updates;
 * one in five of those with terms, but without branches (what is unknown decides no if of a run),
 * variables without initial values. */
static void choose_rarities(ft_program *program, uint64_t seed)
{
    ft_random other;
    static const uint32_t shares[] = {0, 0, 0, 0, 0, 0, 15, 45};
    ft_random random;
    ft_random_init(&random, seed ^ 0x69676eu);
    program->ignored = shares[ft_random_below(&random, sizeof shares / sizeof *shares)];
    program->unborn = !program->branches && ft_random_percent(&random, 20);
    ft_random_init(&other, seed ^ 0x74656c6cu);
    program->tells = ft_random_percent(&other, 15);
    program->wide = ft_random_percent(&other, 20);
    program->rich = ft_random_percent(&other, 20);
    program->updates = ft_random_percent(&other, 10) ? FT_MANY_UPDATES : FT_FEW_UPDATES;
}

/* A program of the seed, run into its builder; which one, if its run got stuck, says `attempt`. */
static ft_program *make_and_run(uint64_t seed, uint32_t branches, uint32_t attempt, ft_run_end *end)
{
    ft_program *program = ft_calloc(1, sizeof *program);
    ft_random_init(&program->random, seed + ((uint64_t)attempt << 40));
    program->grade = ft_generate_grade(seed);
    program->flavour = flavour_of(seed);
    program->branches = branches;
    choose_rarities(program, seed);
    program->builder = ft_builder_new(FT_FORMAT_NDJSON);
    ft_program_make(program);
    *end = ft_program_run(program);
    return program;
}

#define ATTEMPTS 20

/* With branches a lock that is held at the end is no good: ingest puts a release before the next
 * acquire of another thread, also where that one is passed over. */
static bool will_do(const ft_program *program, ft_run_end end)
{
    if (program->tells && end != FT_RUN_COMPLETE)
        return !program->branches || end != FT_RUN_STUCK_HOLDING;
    if (end == FT_RUN_COMPLETE) return !program->tells;
    if (program->branches && end == FT_RUN_STUCK_HOLDING) return false;
    return program->flavour == FT_FLAVOUR_DATA;
}

static void discard(ft_program *program)
{
    ft_builder_free(program->builder);
    free(program);
}

/* The first attempt that will do, or the last one. */
static ft_program *best_of(uint64_t seed, uint32_t branches, ft_run_end *end)
{
    uint32_t attempt = 0;
    ft_program *program = make_and_run(seed, branches, attempt, end);
    while (!will_do(program, *end) && ++attempt < ATTEMPTS) {
        discard(program);
        program = make_and_run(seed, branches, attempt, end);
    }
    return program;
}

ft_trace *ft_generate(uint64_t seed)
{
    ft_run_end end;
    ft_program *program = best_of(seed, branches_of(seed), &end);
    if (program->branches && end == FT_RUN_STUCK_HOLDING) {
        discard(program);
        program = best_of(seed, 0, &end);
    }
    ft_trace *trace = NULL;
    ft_error err = FT_ERROR_INIT;
    ft_status status = ft_builder_finish(program->builder, &trace, &err);
    if (status != FT_OK) fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, err.message);
    assert(status == FT_OK);
    free(program);
    ft_observe_run(trace);
    return trace;
}

/* ---- properties ---- */

static uint32_t some_location(const ft_trace *trace, ft_random *random)
{
    for (uint32_t tries = 0; tries < 20; tries++) {
        uint32_t loc = trace->loc[ft_random_below(random, trace->n_events)];
        if (loc != FT_NO_LOC) return loc;
    }
    return FT_NO_LOC;
}

/* The comparison of a shared variable or local with a small value. */
static ft_term some_condition(ft_trace *trace, ft_random *random)
{
    uint32_t n = trace->shared.len + trace->locals.len;
    uint32_t v = ft_random_below(random, n);
    bool local = v >= trace->shared.len;
    if (local) v -= trace->shared.len;
    ft_sort sort = local ? trace->local_info[v].sort : trace->shared_info[v].sort;
    ft_value value = {sort, ft_random_below(random, sort.kind == FT_SORT_BOOL ? 2 : 4)};
    ft_term children[2] = {
        ft_term_symbol(trace->terms, local ? FT_SYM_LOCAL(v) : FT_SYM_SHARED(v), sort),
        ft_term_literal(trace->terms, value)};
    ft_op op = sort.kind == FT_SORT_INT && ft_random_percent(random, 60) ? FT_OP_LE : FT_OP_EQ;
    ft_term term = FT_NO_TERM, negated = FT_NO_TERM;
    ft_error err = FT_ERROR_INIT;
    ft_status status = ft_term_apply(trace->terms, op, children, 2, NULL, &term, &err);
    assert(status == FT_OK);
    if (ft_random_percent(random, op == FT_OP_LE ? 60 : 25)) return term;
    status = ft_term_apply(trace->terms, FT_OP_NOT, &term, 1, NULL, &negated, &err);
    assert(status == FT_OK);
    return negated;
}

/* Is there an event at `to` after each event at `from` in its thread? */
static bool every_from_closed(const ft_trace *trace, uint32_t from, uint32_t to)
{
    for (uint32_t a = 0; a < trace->n_events; a++) {
        bool closed = trace->loc[a] != from;
        for (uint32_t b = a + 1; b < trace->n_events; b++)
            closed |= trace->loc[b] == to && trace->thread[b] == trace->thread[a];
        if (!closed) return false;
    }
    return true;
}

static bool some_property(ft_trace *trace, ft_random *random, ft_oracle_property *property)
{
    uint32_t from = some_location(trace, random), to = some_location(trace, random);
    if (from == FT_NO_LOC || to == FT_NO_LOC) return false;
    *property = (ft_oracle_property){
        .kind = (ft_oracle_property_kind)ft_random_below(random, 4),
        .event = FT_NO_EVENT,
        .from = from,
        .to = to,
    };
    if (property->kind == FT_ORACLE_TRANSACTION_AT) return every_from_closed(trace, from, to);
    if (property->kind != FT_ORACLE_ASSERTION_AT) return true;
    property->condition = some_condition(trace, random);
    if (ft_random_percent(random, 50)) property->event = ft_random_below(random, trace->n_events);
    return true;
}

uint32_t ft_generate_properties(ft_trace *trace, uint64_t seed, ft_oracle_property *properties,
                                uint32_t max)
{
    ft_random random;
    ft_random_init(&random, seed ^ 0x70726f70u);
    uint32_t n = 0;
    for (uint32_t tries = 0; tries < 3 * max && n < max; tries++)
        if (some_property(trace, &random, &properties[n])) n++;
    return n;
}

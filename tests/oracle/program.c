#include "oracle/program.h"

#include <assert.h>
#include <string.h>

uint32_t ft_program_below(ft_program *program, uint32_t bound)
{
    return ft_random_below(&program->random, bound);
}

bool ft_program_percent(ft_program *program, uint32_t percent)
{
    return ft_random_percent(&program->random, percent);
}

/* Few locations, so that several events share one and locations group. */
static uint32_t random_location(ft_program *program)
{
    static const char *const texts[] = {"p.c:1", "p.c:2", "p.c:3", "p.c:4", "p.c:5", "p.c:6"};
    if (ft_program_percent(program, 15)) return FT_NO_LOC;
    return ft_builder_location(program->builder, texts[ft_program_below(program, 6)], 5, "f", 1);
}

ft_instruction *ft_program_add(ft_program *program, ft_event_kind kind, uint32_t object)
{
    uint32_t t = program->thread;
    if (program->n_ops[t] == FT_PROGRAM_OPS) return &program->ops[t][FT_PROGRAM_OPS - 1];
    ft_instruction *op = &program->ops[t][program->n_ops[t]++];
    *op = (ft_instruction){.kind = kind, .object = object, .loc = random_location(program)};
    if (program->budget) program->budget--;
    return op;
}

/* ---- accesses ---- */

static bool symbolic(const ft_program *program)
{
    return program->grade == FT_GRADE_SYMBOLIC || program->grade == FT_GRADE_MIXED;
}

static uint64_t random_bits(ft_program *program, ft_sort sort)
{
    return ft_program_below(program, sort.kind == FT_SORT_BOOL ? 2 : 3);
}

/* The first one more often, so that threads meet there. */
static uint32_t some_shared(ft_program *program)
{
    return ft_program_percent(program, 40) ? 0 : ft_program_below(program, program->n_shared);
}

static void set_target(ft_program *program, ft_instruction *op)
{
    ft_assignment *out = &op->assignments[op->n_assignments];
    uint32_t v = some_shared(program);
    bool local = program->plain[v] ||
                 (program->n_locals && op->n_assignments == 0 && ft_program_percent(program, 28));
    if (local && !program->n_locals) return;
    if (local) v = ft_program_below(program, program->n_locals);
    out->target = local ? FT_SYM_LOCAL(v) : FT_SYM_SHARED(v);
    if (op->n_assignments && op->assignments[0].target == out->target) return;
    ft_sort sort = local ? program->local_sort[v] : program->shared_sort[v];
    out->term = ft_program_term(program, sort);
    op->n_assignments++;
}

static void add_assign(ft_program *program)
{
    ft_instruction op = {.kind = FT_EVENT_ASSIGN};
    set_target(program, &op);
    if (op.n_assignments == 0) return;
    if (ft_program_percent(program, 15)) set_target(program, &op);
    if (ft_program_percent(program, 30)) op.guard = ft_program_condition(program, false);
    bool swap = op.guard != FT_NO_TERM; /* one that fails (ft_trace_failed_swap) */
    for (uint32_t i = 0; i < op.n_assignments; i++)
        swap &= FT_SYM_IS_LOCAL(op.assignments[i].target);
    if (ft_program_percent(program, swap ? 60 : 12)) op.flags = FT_FLAG_ATOMIC;
    ft_instruction *out = ft_program_add(program, FT_EVENT_ASSIGN, 0);
    op.loc = out->loc;
    *out = op;
}

void ft_program_add_local(ft_program *program)
{
    uint32_t v = ft_program_below(program, program->n_locals);
    ft_term term = ft_program_term(program, program->local_sort[v]);
    ft_instruction *op = ft_program_add(program, FT_EVENT_ASSIGN, 0);
    op->assignments[op->n_assignments++] = (ft_assignment){FT_SYM_LOCAL(v), term};
}

/* Among many updates values come again: two of them undo each other. */
void ft_program_add_update(ft_program *program, uint32_t v)
{
    ft_instruction *op = ft_program_add(program, FT_EVENT_RMW, v);
    op->bits = random_bits(program, program->shared_sort[v]);
    if (program->updates == FT_MANY_UPDATES && program->shared_sort[v].kind == FT_SORT_INT)
        op->bits = 2;
    op->valued = program->grade != FT_GRADE_OBSERVED && !program->plain[v];
    if (ft_program_percent(program, 40)) op->flags = FT_FLAG_TRY;
}

void ft_program_add_access(ft_program *program, uint32_t v, bool write)
{
    ft_instruction *op = ft_program_add(program, write ? FT_EVENT_WRITE : FT_EVENT_READ, v);
    op->bits = random_bits(program, program->shared_sort[v]);
    op->valued = program->grade != FT_GRADE_OBSERVED && !program->plain[v];
    if (!write && program->grade == FT_GRADE_MIXED && ft_program_percent(program, 15))
        op->valued = false;
    if (ft_program_percent(program, 12)) op->flags = FT_FLAG_ATOMIC;
}

static void add_access(ft_program *program)
{
    bool many = program->updates == FT_MANY_UPDATES;
    uint32_t v = ft_program_below(program, many ? 1 : program->n_shared);
    if (ft_program_percent(program, program->updates))
        ft_program_add_update(program, v);
    else
        ft_program_add_access(program, v, ft_program_percent(program, 45));
}

static void add_condition(ft_program *program)
{
    bool assertion = ft_program_percent(program, program->assertions);
    bool plain = program->grade == FT_GRADE_MIXED && ft_program_percent(program, 15);
    ft_term guard = ft_program_condition(program, plain);
    ft_instruction *op = ft_program_add(program, assertion ? FT_EVENT_ASSERT : FT_EVENT_ASSUME, 0);
    op->guard = guard;
    if (assertion && !plain && ft_program_percent(program, 92))
        op->pinned = 1 + some_shared(program);
    if (op->pinned && program->plain[op->pinned - 1]) op->pinned = 0;
    if (op->pinned && program->n_locals && ft_program_percent(program, 8))
        op->pinned = 1 + program->n_shared + ft_program_below(program, program->n_locals);
}

void ft_program_add_data(ft_program *program)
{
    uint32_t pick = ft_program_below(program, 100);
    uint32_t plain_accesses = program->grade == FT_GRADE_MIXED ? 40 : 12;
    if (!symbolic(program) || pick < plain_accesses)
        add_access(program);
    else if (pick < 75)
        add_assign(program);
    else
        add_condition(program);
}

/* ---- blocks ---- */

static void add_block(ft_program *program, uint32_t length, uint32_t depth);

static bool holds_any(const ft_program *program)
{
    for (uint32_t l = 0; l < program->n_locks; l++)
        if (program->held[l]) return true;
    return false;
}

static void add_section(ft_program *program, uint32_t lock, uint32_t length, uint32_t depth)
{
    if (program->held[lock] && program->lock_kind[lock] != FT_LOCK_RECURSIVE) {
        ft_program_add_data(program);
        return;
    }
    ft_program_add(program, FT_EVENT_ACQUIRE, lock);
    program->held[lock]++;
    add_block(program, length, depth + 1);
    if (program->held[lock] == 1 && ft_program_percent(program, 4)) {
        ft_program_add(program, FT_EVENT_RELEASE, lock)->flags = FT_FLAG_CONDITION;
        ft_program_add(program, FT_EVENT_ACQUIRE, lock)->flags = FT_FLAG_CONDITION;
        ft_program_add_data(program);
    }
    /* A release that ingest puts in may not come into an arm. */
    if (program->branches || ft_program_percent(program, 97)) {
        ft_program_add(program, FT_EVENT_RELEASE, lock);
        program->held[lock]--;
    }
}

static void add_transaction(ft_program *program, uint32_t length, uint32_t depth)
{
    ft_program_add(program, FT_EVENT_TX_BEGIN, 0);
    bool section = program->n_locks && ft_program_percent(program, program->discipline);
    if (section && !holds_any(program))
        add_section(program, 0, length, depth);
    else
        add_block(program, length, depth + 1);
    if (program->arms || ft_program_percent(program, 92))
        ft_program_add(program, FT_EVENT_TX_END, 0);
}

static void add_protected(ft_program *program, uint32_t depth)
{
    bool wants = program->n_locks && ft_program_percent(program, program->discipline);
    if (wants && !program->held[0])
        add_section(program, 0, 1 + ft_program_below(program, 3), depth);
    else
        ft_program_add_data(program);
}

static void add_source(ft_program *program, const char *name)
{
    uint32_t edge = ft_builder_edge(program->builder, name, strlen(name));
    assert(edge == program->n_edges);
    program->n_edges++;
    ft_program_add(program, FT_EVENT_EDGE_OUT, edge);
}

static void add_edge(ft_program *program)
{
    /* The first use of an edge is its source; every thread may then wait for it. */
    if (program->n_edges && ft_program_percent(program, 75)) {
        ft_program_add(program, FT_EVENT_EDGE_IN, ft_program_below(program, program->n_edges));
    } else if (program->n_edges == 0 && program->n_locks) {
        add_source(program, "process 1.1"); /* a fork, and what the forked process waits for */
        add_source(program, "process 1 locks l");
    } else if (program->n_edges < FT_PROGRAM_EDGES) {
        static const char *const names[FT_PROGRAM_EDGES] = {"e0", "e1", "e2"};
        add_source(program, names[program->n_edges]);
    }
}

/* What a local is behind the end-if depends on the arm that was taken (Wang et al. §8, phi). */
static void add_after_if(ft_program *program)
{
    if (!symbolic(program) || !ft_program_percent(program, 40)) return;
    ft_instruction *op = ft_program_add(program, FT_EVENT_ASSERT, 0);
    op->guard = ft_program_condition(program, false);
    if (program->n_locals && ft_program_percent(program, 70))
        op->pinned = 1 + program->n_shared + ft_program_below(program, program->n_locals);
    else if (!program->plain[0] && ft_program_percent(program, 80))
        op->pinned = 1;
}

/* An arm says more than its budget has left, so that few are empty. */
static void add_arm(ft_program *program, uint32_t depth)
{
    if (ft_program_percent(program, 12)) return;
    if (ft_program_percent(program, 60)) program->budget++;
    if (program->budget == 0) program->budget = 1;
    if (ft_program_percent(program, 35))
        ft_program_add_to_arm(program);
    else
        add_block(program, 1 + ft_program_below(program, 3), depth + 1);
}

/* An if without an else, with both, with an arm of nothing. */
static void add_if(ft_program *program, uint32_t depth)
{
    if (!ft_program_begin_if(program)) {
        ft_program_add_data(program);
        return;
    }
    add_arm(program, depth);
    if (ft_program_percent(program, 60)) {
        ft_program_add(program, FT_EVENT_ELSE, 0);
        add_arm(program, depth);
    }
    ft_program_end_if(program);
    add_after_if(program);
}

/* What an arm may not hold. */
static void add_outside(ft_program *program, uint32_t pick, uint32_t depth)
{
    if (program->arms)
        add_protected(program, depth);
    else if (pick >= 96)
        add_edge(program);
    else
        ft_program_add(program, FT_EVENT_RELEASE,
                       program->n_locks - 1); /* a stranger's: no effect */
}

static void add_item(ft_program *program, uint32_t depth)
{
    if (program->branches && depth < 3 && ft_program_percent(program, program->branches)) {
        add_if(program, depth);
        return;
    }
    uint32_t pick = ft_program_below(program, 100), length = 1 + ft_program_below(program, 4);
    if (depth < 2 && ft_program_percent(program, 60) && ft_program_add_special(program)) return;
    if (pick < 20 && depth < 2 && program->n_locks)
        add_section(program, ft_program_below(program, program->n_locks), length, depth);
    else if (pick < 20 + program->transactions && depth < 2)
        add_transaction(program, length + 1, depth);
    else if (pick >= 96)
        add_outside(program, pick, depth);
    else if (pick >= 86 && program->n_semaphores)
        ft_program_add(program, ft_program_percent(program, 50) ? FT_EVENT_POST : FT_EVENT_WAIT, 0);
    else if (pick == 85 && program->n_locks && !program->held[program->n_locks - 1])
        add_outside(program, pick, depth);
    else
        add_protected(program, depth);
}

static void add_block(ft_program *program, uint32_t length, uint32_t depth)
{
    for (uint32_t i = 0; i < length && program->budget; i++) add_item(program, depth);
}

/* The thread's trace ends with its last if open. */
static void cut_end_if(ft_program *program)
{
    uint32_t *n = &program->n_ops[program->thread];
    const ft_instruction *last = &program->ops[program->thread][*n ? *n - 1 : 0];
    bool first = program->ops[program->thread][0].kind == FT_EVENT_BEGIN;
    if (*n && last->kind == FT_EVENT_END_IF && !first && program->thread > 0) --*n;
}

/* In a rich program the first thread forks the second one, which forks the others. */
static void add_forks(ft_program *program, bool forks)
{
    bool second = program->rich && program->forks && program->thread == 1;
    if (!forks && !second) return;
    uint32_t last = forks && program->rich ? 2 : program->n_threads;
    for (uint32_t t = forks ? 1 : 2; t < last; t++) ft_program_add(program, FT_EVENT_FORK, t);
}

static void make_thread(ft_program *program, uint32_t thread, uint32_t budget, bool forks)
{
    program->thread = thread;
    program->budget = budget;
    for (uint32_t l = 0; l < FT_PROGRAM_LOCKS; l++)
        program->held[l] = program->held_shared[l] = false;
    bool marked = ft_program_percent(program, 20);
    if (marked) ft_program_add(program, FT_EVENT_BEGIN, 0);
    if (forks && ft_program_percent(program, 40)) ft_program_add_data(program);
    if (forks) ft_program_add_first(program);
    add_forks(program, forks);
    bool all = ft_program_percent(program, program->n_blocks && program->tidy ? 100 : 60);
    uint32_t joins = forks && all ? program->n_threads : 1;
    if (program->budget) ft_program_add_special(program);
    while (program->budget) {
        if (program->budget < 3 && program->next_join < joins)
            ft_program_add(program, FT_EVENT_JOIN, program->next_join++)->flags =
                ft_program_percent(program, 10) ? FT_FLAG_TRY : 0;
        else
            add_block(program, 1, 0);
    }
    if (program->branches && ft_program_percent(program, 25)) cut_end_if(program);
    if (forks && program->next_join == program->n_threads) ft_program_add_last(program);
    if (marked && ft_program_percent(program, 75)) ft_program_add(program, FT_EVENT_END, 0);
}

/* ---- the whole ---- */

static ft_sort random_sort(ft_program *program)
{
    uint32_t pick = ft_program_below(program, 10);
    static const uint8_t widths[] = {2, 8, 8, 16, 32, 64};
    if (program->wide && pick >= 2)
        return (ft_sort){FT_SORT_BITVEC, widths[ft_program_below(program, 6)]};
    if (pick < 6) return FT_INT_SORT;
    return pick == 6 ? FT_BOOL_SORT : (ft_sort){FT_SORT_BITVEC, (uint8_t)(pick < 9 ? 3 : 8)};
}

static void declare_shared(ft_program *program, uint32_t v)
{
    static const char *const names[FT_PROGRAM_SHARED] = {"x", "y", "z"};
    ft_sort sort = random_sort(program);
    bool last = v + 1 == program->n_shared && v > 0;
    program->plain[v] = program->grade == FT_GRADE_MIXED && last && ft_program_percent(program, 40);
    if (!symbolic(program)) sort = FT_INT_SORT;
    program->shared_sort[v] = sort;
    program->shared_initial[v] = random_bits(program, sort);
    if (program->n_conditions && v == 0) program->shared_initial[v] = 0; /* a flag to wait for */
    uint32_t id = ft_builder_shared(program->builder, names[v], 1, sort);
    bool may_be_silent = !symbolic(program) || program->unborn;
    bool silent = may_be_silent && ft_program_percent(program, program->n_blocks ? 75 : 40);
    program->declared[v] = !silent;
    if (silent) return;
    ft_builder_shared_initial(
        program->builder, id,
        ft_builder_value(program->builder, (ft_value){sort, program->shared_initial[v]}));
}

static void declare_local(ft_program *program, uint32_t v)
{
    static const char *const names[FT_PROGRAM_LOCALS] = {"a", "b"};
    ft_sort sort = random_sort(program);
    program->local_sort[v] = sort;
    program->local_initial[v] = random_bits(program, sort);
    uint32_t id = ft_builder_local(program->builder, names[v], 1, sort);
    ft_builder_local_initial(
        program->builder, id,
        ft_builder_value(program->builder, (ft_value){sort, program->local_initial[v]}));
}

static ft_lock_kind random_lock_kind(ft_program *program)
{
    uint32_t pick = ft_program_below(program, 100);
    ft_lock_kind readers = pick & 1 ? FT_LOCK_WRITER_PREFERRING : FT_LOCK_READ_WRITE;
    if (program->flavour == FT_FLAVOUR_DATA)
        return pick < 40 ? FT_LOCK_RECURSIVE : pick < 50 ? readers : FT_LOCK_MUTEX;
    return pick < 15                             ? FT_LOCK_RECURSIVE
           : pick < 30                           ? FT_LOCK_ERROR_CHECKING
           : pick < (program->tells ? 85u : 60u) ? readers
                                                 : FT_LOCK_MUTEX;
}

static void declare_sync(ft_program *program)
{
    static const char *const conditions[FT_PROGRAM_CONDITIONS] = {"c", "d"};
    uint32_t cells[FT_PROGRAM_SHARED], n_cells = 0;
    for (uint32_t c = 0; c < program->n_conditions; c++)
        ft_builder_condition(program->builder, conditions[c], 1);
    if (program->n_barriers) ft_builder_barrier(program->builder, "b", 1, program->barrier_count);
    if (program->n_onces) ft_builder_once(program->builder, "o", 1);
    for (uint32_t v = 0; v < program->n_shared; v++)
        if (v == 0 || ft_program_percent(program, 40)) cells[n_cells++] = v;
    if (program->n_blocks) ft_builder_block(program->builder, "k", 1, cells, n_cells);
    if (!program->rich || !program->n_blocks || n_cells == program->n_shared) return;
    uint32_t others[FT_PROGRAM_SHARED], n_others = 0;
    for (uint32_t v = 0, i = 0; v < program->n_shared; v++) {
        if (i < n_cells && cells[i] == v)
            i++;
        else
            others[n_others++] = v;
    }
    ft_builder_block(program->builder, "h", 1, others, n_others);
    program->n_blocks = 2;
}

static void declare_all(ft_program *program)
{
    static const char *const threads[FT_PROGRAM_THREADS] = {"T1", "T2", "T3", "T4"};
    static const char *const locks[FT_PROGRAM_LOCKS] = {"l", "m", "n"};
    static const char *const semaphores[FT_PROGRAM_SEMAPHORES] = {"s", "u"};
    for (uint32_t t = 0; t < program->n_threads; t++)
        ft_builder_thread(program->builder, threads[t], 2);
    for (uint32_t v = 0; v < program->n_shared; v++) declare_shared(program, v);
    for (uint32_t v = 0; v < program->n_locals; v++) declare_local(program, v);
    for (uint32_t l = 0; l < program->n_locks; l++) {
        program->lock_kind[l] = random_lock_kind(program);
        ft_builder_lock(program->builder, locks[l], 1, (ft_lock_kind)program->lock_kind[l]);
    }
    for (uint32_t i = 0; i < program->n_semaphores; i++) {
        program->semaphore_initial[i] = ft_program_below(program, 3);
        ft_builder_semaphore(program->builder, semaphores[i], 1, program->semaphore_initial[i]);
    }
    declare_sync(program);
}

/* What the flavour needs, and how careful the program is. */
static void choose_flavour(ft_program *program)
{
    static const uint32_t shares[] = {0, 30, 70, 100};
    bool any = program->flavour == FT_FLAVOUR_ANY;
    program->ordered = shares[ft_program_below(program, 4)];
    program->guarded = ft_program_percent(program, 25) ? 100 : 0;
    program->careful = shares[ft_program_below(program, 4)];
    program->tidy = ft_program_percent(program, 60);
    if (program->flavour == FT_FLAVOUR_LOCKS || any)
        program->n_locks = 2 + ft_program_below(program, 2);
    if (program->flavour == FT_FLAVOUR_CONDITIONS && !program->n_locks) program->n_locks = 1;
    if (program->flavour == FT_FLAVOUR_CONDITIONS || any)
        program->n_conditions = 1 + ft_program_percent(program, 15);
    if (program->flavour == FT_FLAVOUR_SEMAPHORES || any)
        program->n_semaphores = 1 + ft_program_percent(program, 50);
    if (program->flavour == FT_FLAVOUR_BARRIERS && !program->n_locks)
        program->n_locks = ft_program_percent(program, 80);
    program->n_barriers = program->flavour == FT_FLAVOUR_BARRIERS || any;
    program->n_onces = program->n_barriers;
    program->barrier_count = ft_program_percent(program, 15) ? 2 : program->n_threads;
    program->n_blocks = program->flavour == FT_FLAVOUR_MEMORY || any;
    if (program->n_blocks && !program->n_semaphores && ft_program_percent(program, 50))
        program->n_semaphores = 1;
    if (program->tells && !program->n_semaphores) program->n_semaphores = 1;
}

void ft_program_make(ft_program *program)
{
    static const uint32_t disciplines[] = {0, 40, 85, 100, 100};
    program->n_threads = 2 + ft_program_below(program, 2) + ft_program_percent(program, 15);
    program->n_shared = 1 + ft_program_below(program, FT_PROGRAM_SHARED);
    program->n_locals = symbolic(program) ? ft_program_below(program, FT_PROGRAM_LOCALS + 1) : 0;
    program->n_locks = ft_program_below(program, 4) ? 1 + ft_program_below(program, 2) : 0;
    program->n_semaphores = ft_program_percent(program, 40);
    program->discipline = disciplines[ft_program_below(program, 5)];
    program->transactions = ft_program_percent(program, 45) ? 40 : 0;
    program->assertions = 70;
    choose_flavour(program);
    declare_all(program);
    program->next_join = 1;
    bool forks = ft_program_percent(program, program->n_blocks && program->tidy ? 100 : 45);
    program->forks = forks;
    uint32_t total = 9 + ft_program_below(program, 8) + (program->branches ? 4 : 0);
    for (uint32_t t = 0; t < program->n_threads; t++) {
        uint32_t share =
            total / program->n_threads + (t == 0 && forks ? program->n_threads - 1 : 0);
        make_thread(program, t, share, forks && t == 0);
    }
}

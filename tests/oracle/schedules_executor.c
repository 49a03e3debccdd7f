/* The executor of a program of oracle/schedules.h. */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "oracle/schedules_internal.h"

typedef struct started {
    bool is;
    FT_VEC(ft_x_pick) prefix;
    uint32_t avoid[FT_X_THREADS];
    bool has_ended; /* with the run: several threads search */
    ft_x_run run;
} started;

struct schedule_executor {
    const schedule_program *p;
    ft_x_operation first[FT_X_THREADS];
    uint32_t width, n_first;
    uint64_t random;
    uint32_t bound; /* steps of a run; 0: none. With it, states have fingerprints */
    started *slots;
};

static ft_status start_run(void *context, uint32_t slot, const ft_x_task *task, ft_error *err)
{
    (void)err;
    schedule_executor *e = context;
    started *s = &e->slots[slot];
    assert(!s->is);
    s->is = true;
    s->prefix.len = 0;
    for (size_t i = 0; i < task->n; i++) ft_vec_push(&s->prefix, task->prefix[i]);
    memcpy(s->avoid, task->avoid, sizeof s->avoid);
    return FT_OK;
}

/* The thread that goes on by itself: the running one while it can and is not to be left alone. */
static bool pick(const schedule_executor *e, const started *s, const machine *m,
                 const uint32_t *steps, uint32_t *running)
{
    uint64_t list[FT_X_THREADS];
    uint32_t n = e->p->n_threads, avoided = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t t = (*running + i) % n;
        if (!ft_schedules_variants(e->p, m, t, list)) continue;
        if (s->avoid[t] != steps[t] + 1) return *running = t, true;
        if (avoided == UINT32_MAX) avoided = t;
    }
    if (avoided == UINT32_MAX) return false;
    *running = avoided;
    return true;
}

/* ---- fingerprints: the xor of hashes of everything with its value. Those of a step are the
 * event's where what it changes is changed by dependent actions alone. */

static uint64_t fragment(uint32_t kind, uint32_t index, int64_t value)
{
    uint64_t words[] = {(uint64_t)kind << 32 | index, (uint64_t)value};
    return value ? ft_hash_bytes(words, sizeof words, 5) : 0;
}

static uint64_t fingerprint_of_thread(const machine *m, uint32_t t)
{
    uint64_t print = fragment(1, t, m->at[t]) ^ fragment(2, t, m->waiting[t]) ^
                     fragment(3, t, m->condition[t]) ^ fragment(4, t, m->failed[t]) ^
                     fragment(5, t, m->created[t]);
    for (uint32_t i = 0; i < SCHEDULE_REGISTERS; i++)
        print ^= fragment(6 + i, t, m->registers[t][i]);
    return print ^ fragment(10, t, m->add[t][0]) ^ fragment(11, t, m->add[t][1]);
}

static uint64_t fingerprint(const schedule_program *p, const machine *m)
{
    uint64_t print = fragment(20, m->over, m->failure) ^ fragment(21, 0, m->over);
    for (uint32_t i = 0; i < SCHEDULE_OBJECTS; i++)
        print ^= fragment(22, i, m->value[i]) ^ fragment(23, i, m->holder[i] + 1) ^
                 fragment(24, i, m->gone[i]) ^ fragment(25, i, m->more[i][0]) ^
                 fragment(26, i, m->more[i][1]);
    for (uint32_t i = 0; i < SCHEDULE_GLOBALS; i++) print ^= fragment(27, i, m->globals[i]);
    for (uint32_t t = 0; t < p->n_threads; t++) print ^= fingerprint_of_thread(m, t);
    return print;
}

/* The machine but for what it notes of its past. */
static ft_x_name name_of(const machine *m)
{
    ft_x_name name = {1, 2};
#define FT_ADD(part)                                                                               \
    (name.a = ft_hash_bytes(&m->part, sizeof m->part, name.a),                                     \
     name.b = ft_hash_bytes(&m->part, sizeof m->part, ~name.b))
    FT_ADD(at);
    FT_ADD(registers);
    FT_ADD(add);
    FT_ADD(globals);
    FT_ADD(value);
    FT_ADD(holder);
    FT_ADD(gone);
    FT_ADD(more);
    FT_ADD(waiting);
    FT_ADD(condition);
    FT_ADD(failed);
    FT_ADD(created);
    FT_ADD(over);
    FT_ADD(failure);
#undef FT_ADD
    return name;
}

static ft_status state(void *context, const ft_x_pick *picks, size_t n, ft_x_name *name,
                       bool *known, ft_error *err)
{
    (void)err;
    const schedule_executor *e = context;
    machine *m = ft_alloc(sizeof *m);
    ft_schedules_begin(e->p, m);
    for (size_t i = 0; i < n; i++) ft_schedules_step(e->p, m, picks[i].thread, picks[i].variant);
    *name = name_of(m);
    *known = true;
    free(m);
    return FT_OK;
}

/* ---- runs */

static void run_program(const schedule_executor *e, const started *s, ft_x_run *run)
{
    machine *m = ft_alloc(sizeof *m);
    uint32_t steps[FT_X_THREADS] = {0}, running = 0;
    uint64_t list[FT_X_THREADS];
    ft_schedules_begin(e->p, m);
    run->end = FT_X_DONE;
    for (size_t i = 0;; i++) {
        uint64_t variant = 0;
        if (i < s->prefix.len) {
            running = s->prefix.data[i].thread;
            variant = s->prefix.data[i].variant;
            if (!ft_schedules_variants(e->p, m, running, list)) run->end = FT_X_STRAYED;
        } else if (!pick(e, s, m, steps, &running)) {
            break;
        }
        if (run->end == FT_X_STRAYED) break;
        if (i >= s->prefix.len && ft_schedules_variants(e->p, m, running, list)) variant = list[0];
        if (e->bound && i == e->bound) run->end = FT_X_CUT;
        if (run->end == FT_X_CUT) break;
        steps[running]++;
        uint64_t before = e->bound ? fingerprint(e->p, m) : 0;
        ft_vec_push(&run->steps, ft_schedules_step(e->p, m, running, variant));
        if (e->bound) ft_vec_push(&run->prints, before ^ fingerprint(e->p, m));
    }
    for (uint32_t t = 0; t < e->p->n_threads; t++) {
        run->pending[t] = ft_schedules_pending(e->p, m, t);
        if (run->end == FT_X_DONE && !m->over && m->created[t] &&
            ft_schedules_pending(e->p, m, t).kind != FT_X_NONE)
            run->end = FT_X_STUCK;
    }
    run->result = m->over && m->failure;
    free(m);
}

static ft_status finish_run(void *context, uint32_t *slot, ft_x_run *run, ft_error *err)
{
    (void)err;
    schedule_executor *e = context;
    do {
        e->random = e->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        *slot = (uint32_t)(e->random >> 33) % e->width;
    } while (!e->slots[*slot].is);
    e->slots[*slot].is = false;
    run_program(e, &e->slots[*slot], run);
    return FT_OK;
}

static ft_status await_run(void *context, uint32_t first, uint32_t step, uint32_t *slot,
                           ft_error *err)
{
    (void)err;
    schedule_executor *e = context;
    for (*slot = first; *slot < e->width && !e->slots[*slot].is;) *slot += step;
    assert(*slot < e->width);
    started *s = &e->slots[*slot];
    s->run = (ft_x_run){0};
    run_program(e, s, &s->run);
    s->has_ended = true;
    return FT_OK;
}

static ft_status collect_run(void *context, uint32_t slot, ft_x_run *run, ft_error *err)
{
    (void)err;
    schedule_executor *e = context;
    assert(e->slots[slot].has_ended);
    *run = e->slots[slot].run;
    e->slots[slot].is = e->slots[slot].has_ended = false;
    return FT_OK;
}

schedule_executor *ft_schedules_executor(const schedule_program *p, uint32_t width, uint64_t seed)
{
    schedule_executor *e = ft_calloc(1, sizeof *e);
    machine *m = ft_alloc(sizeof *m);
    *e = (schedule_executor){.p = p, .width = width, .random = seed};
    e->slots = ft_calloc(width, sizeof *e->slots);
    ft_schedules_begin(p, m);
    /* Threads that are created later are not of the world: they come last. */
    for (uint32_t t = 0; t < p->n_threads && m->created[t]; t++)
        e->first[e->n_first++] = ft_schedules_pending(p, m, t);
    free(m);
    return e;
}

ft_x_executor ft_schedules_interface(schedule_executor *e)
{
    return (ft_x_executor){.context = e,
                           .world = {.n_threads = e->n_first,
                                     .first = e->first,
                                     .n_objects = SCHEDULE_OBJECTS,
                                     .initial = e->p->initial,
                                     .watches = ft_schedules_watches()},
                           .width = e->width,
                           .start = start_run,
                           .finish = finish_run,
                           .await = await_run,
                           .collect = collect_run,
                           .state = e->bound ? state : NULL};
}

void ft_schedules_bound(schedule_executor *e, uint32_t steps)
{
    e->bound = steps;
}

void ft_schedules_executor_free(schedule_executor *e)
{
    for (uint32_t i = 0; i < e->width; i++) ft_vec_release(&e->slots[i].prefix);
    free(e->slots);
    free(e);
}

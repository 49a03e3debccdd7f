/* From the search's task to a slot, and from the slot's log to the search's run. */
#include <string.h>

#include "base/contract.h"
#include "native/inside.h"

/* ---- names */

static bool same_name(const ft_exploring_name *a, const ft_exploring_name *b)
{
    return a->space == b->space && a->maker == b->maker && a->number == b->number &&
           a->offset == b->offset && a->generation == b->generation && a->class == b->class;
}

/* Makers are threads, whose numbers are the explorer's. */
uint32_t ft_native_object(ft_native *n, const ft_exploring_name *name)
{
    const uint64_t words[] = {(uint64_t)name->space << 48 | (uint64_t)name->maker << 32 |
                                  name->number,
                              name->offset, (uint64_t)name->generation << 32 | name->class};
    uint64_t key = ft_hash_bytes(words, sizeof words, 3);
    for (;; key++) {
        bool inserted;
        uint64_t *slot = ft_map_slot(&n->by_name, key, n->objects.len, &inserted);
        if (inserted) ft_vec_push(&n->objects, *name);
        if (inserted || same_name(&n->objects.data[*slot], name)) return (uint32_t)*slot;
    }
}

static uint32_t thread_number(ft_native *n, const ft_exploring_thread *t)
{
    for (uint32_t i = 0; i < n->threads.len; i++)
        if (n->threads.data[i].parent == t->parent && n->threads.data[i].number == t->number)
            return i;
    ft_vec_push(&n->threads, *t);
    return (uint32_t)n->threads.len - 1;
}

bool ft_native_name_threads(ft_native *n, const ft_exploring_thread *all, size_t many)
{
    if (many < n->threads.len || many > FT_X_THREADS) return false;
    for (size_t i = 0; i < many; i++) {
        if (i && all[i].parent >= i) return false;
        if (thread_number(n, &all[i]) != i) return false;
    }
    return true;
}

/* ---- a task */

void ft_native_task(ft_native *n, uint32_t slot, const ft_x_task *task)
{
    ft_exploring_slot *s = ft_exploring_slot_at(n->shared, slot);
    FT_REQUIRE(task->n <= n->options.run.max_steps && n->threads.len <= FT_X_THREADS);
    if (task->n) memcpy(ft_exploring_prefix(s), task->prefix, task->n * sizeof *task->prefix);
    s->n_prefix = (uint32_t)task->n;
    memcpy(s->avoid, task->avoid, sizeof s->avoid);
    s->n_threads = s->all_threads = (uint32_t)n->threads.len;
    memcpy(s->threads, n->threads.data, n->threads.len * sizeof *s->threads);
    s->n_steps = s->n_races = s->n_objects = s->n_watches = s->n_attempts = 0;
    s->wide_points = 0;
    s->is_complete = s->hangs = s->output_size = 0;
    s->status = 0;
    s->result = (ft_exploring_result){0};
    s->strayed[0] = s->refused[0] = 0;
    memset(s->pending, 0, sizeof s->pending);
}

/* ---- a run */

typedef struct names {
    uint32_t threads[FT_X_THREADS]; /* by the run's number: the explorer's */
    const uint32_t *objects;        /* the same of all objects; NULL: they are looked up */
    ft_native *n;
    const ft_exploring_slot *s;
} names;

static ft_exploring_name named(const names *by, uint32_t object)
{
    ft_exploring_name name = by->s->objects[object].name;
    bool by_thread = name.space == FT_EXPLORING_HEAP || name.space == FT_EXPLORING_STACK;
    if (by_thread && name.maker < FT_X_THREADS) name.maker = (uint16_t)by->threads[name.maker];
    if (name.space == FT_EXPLORING_MODEL && name.maker && name.maker <= FT_X_THREADS)
        name.maker = (uint16_t)(by->threads[name.maker - 1] + 1);
    return name;
}

static uint32_t object_of(const names *by, uint32_t object)
{
    if (object >= by->s->n_objects) return 0;
    if (by->objects) return by->objects[object];
    ft_exploring_name name = named(by, object);
    return ft_native_object(by->n, &name);
}

static ft_x_operation translated(const names *by, const ft_x_operation *o)
{
    ft_x_operation made = *o;
    if (o->kind >= FT_X_KINDS) return (ft_x_operation){.kind = FT_X_NONE};
    ft_x_class class = ft_x_kind_class((ft_x_kind)o->kind);
    if (class == FT_X_THREAD)
        made.object = o->object < FT_X_THREADS ? by->threads[o->object] : FT_X_THREADS;
    else if (class != FT_X_NO_OBJECT && class != FT_X_PROCESS)
        made.object = object_of(by, o->object);
    if (o->kind == FT_X_WAIT || o->kind == FT_X_WAKE) made.other = object_of(by, o->other);
    return made;
}

static bool is_poll(ft_x_kind kind)
{
    return kind == FT_X_AWAIT || kind == FT_X_READY || kind == FT_X_LINGER;
}

/* The explorer's watch of the same attempts. */
static ft_x_operation watched(const names *by, const ft_x_operation *o)
{
    ft_x_attempt attempts[FT_EXPLORING_MOST_WATCHED];
    const ft_exploring_slot *s = by->s;
    ft_exploring_watch w = {0};
    if (o->value >= 0 && o->value < FT_EXPLORING_WATCHES) w = s->watches[o->value];
    if (w.n > FT_EXPLORING_MOST_WATCHED || w.first + w.n > FT_EXPLORING_ATTEMPTS) w.n = 0;
    for (uint32_t i = 0; i < w.n; i++)
        attempts[i] =
            (ft_x_attempt){.operation = translated(by, &s->attempts[w.first + i].operation),
                           .result = s->attempts[w.first + i].result};
    ft_x_operation made = ft_x_watch(by->n->watches, (ft_x_kind)o->kind, attempts, w.n);
    made.other = o->other;
    return made;
}

static ft_x_operation translated_any(const names *by, const ft_x_operation *o)
{
    return is_poll((ft_x_kind)o->kind) ? watched(by, o) : translated(by, o);
}

ft_x_operation ft_native_operation(ft_native *n, const ft_exploring_slot *s,
                                   const ft_x_operation *o)
{
    names by = {.n = n, .s = s};
    for (uint32_t t = 0; t < FT_X_THREADS; t++) by.threads[t] = t;
    return translated(&by, o);
}

/* The bits of threads. */
static uint64_t translated_bits(const names *by, uint64_t bits)
{
    uint64_t made = 0;
    for (uint32_t t = 0; t < FT_X_THREADS; t++)
        if (bits >> t & 1) made |= UINT64_C(1) << by->threads[t];
    return made;
}

/* A limit that does not pass early any more: the thread waited there in vain too often. */
static bool waits_late(const ft_native *n, const ft_x_operation *o)
{
    int64_t bits = o->kind == FT_X_READY ? o->other : o->value;
    bool waits = o->kind == FT_X_LOCK || o->kind == FT_X_WAKE || o->kind == FT_X_TAKE ||
                 o->kind == FT_X_READ_LOCK || o->kind == FT_X_WRITE_LOCK || o->kind == FT_X_JOIN ||
                 o->kind == FT_X_READY;
    return n->options.run.early && waits && (bits & FT_X_TIMED) && !(bits & FT_X_EARLY);
}

/* Places at which threads lingered: each once. */
static void note_lingering(ft_native *n, const ft_x_operation *o, uint64_t pc)
{
    if (o->kind != FT_X_LINGER && !waits_late(n, o)) return;
    for (size_t i = 0; i < n->lingering.len; i++)
        if (n->lingering.data[i] == pc) return;
    ft_vec_push(&n->lingering, pc);
}

static void take_pending(const names *by, uint32_t t, ft_x_run *run)
{
    run->pending[by->threads[t]] = translated_any(by, &by->s->pending[t]);
    by->n->pending_pcs[by->threads[t]] =
        by->s->pending[t].kind == FT_X_NONE ? 0 : by->s->pending_pc[t];
    note_lingering(by->n, &by->s->pending[t], by->s->pending_pc[t]);
}

static void take_step(const names *by, const ft_exploring_step *step, ft_x_run *run)
{
    ft_x_action a = step->action;
    a.operation = translated_any(by, &step->action.operation);
    note_lingering(by->n, &step->action.operation, step->pc);
    a.thread = (uint16_t)by->threads[a.thread % FT_X_THREADS];
    if (a.operation.kind == FT_X_SIGNAL && a.variant)
        a.variant = by->threads[(a.variant - 1) % FT_X_THREADS] + 1;
    if (a.operation.kind == FT_X_BROADCAST) a.outcome = translated_bits(by, a.outcome);
    ft_vec_push(&run->steps, a);
    ft_vec_push(&by->n->origins,
                ((ft_native_origin){.pc = step->pc, .call = step->call, .in_call = step->in_call}));
    ft_vec_push(&by->n->delays, (ft_native_delay){.ms = step->delay_ms,
                                                  .is_limit = step->delay_is_limit,
                                                  .pc = step->delay_pc});
    ft_native_delay d = by->n->delays.data[by->n->delays.len - 1];
    ft_vec_push(&run->delays, 2 * (uint64_t)d.ms + d.is_limit);
}

/* Threads come behind their parents. False: there are more than the search serves. */
static bool number_threads(names *by)
{
    for (uint32_t t = 0; t < by->s->all_threads && t < FT_X_THREADS; t++) {
        ft_exploring_thread thread = by->s->threads[t];
        thread.parent = by->threads[thread.parent % FT_X_THREADS];
        by->threads[t] = thread_number(by->n, &thread);
        if (by->threads[t] >= FT_X_THREADS) return false;
    }
    return true;
}

static void take_objects(names *by, ft_x_run *run)
{
    ft_native *n = by->n;
    n->numbers.len = 0;
    for (uint32_t i = 0; i < by->s->n_objects && i < FT_EXPLORING_OBJECTS; i++) {
        ft_x_initial initial = {.object = object_of(by, i), .state = by->s->objects[i].initial};
        ft_vec_push(&run->initial, initial);
        ft_vec_push(&n->numbers, initial.object);
    }
    by->objects = n->numbers.data;
}

/* A process that died did so in the thread that ran, as if it had ended it there and then. */
static void complete(ft_native *n, const ft_exploring_slot *s, bool hangs, ft_x_run *run)
{
    if (hangs) {
        run->end = FT_X_CUT;
        return;
    }
    ft_x_action exit = {
        .operation = {.kind = FT_X_EXIT, .value = FT_EXPLORING_FAILED_SIGNAL, .value2 = s->status},
        .thread = (uint16_t)(s->running % FT_X_THREADS)};
    ft_vec_push(&run->steps, exit);
    ft_vec_push(&n->delays, (ft_native_delay){0});
    ft_vec_push(&run->delays, 0);
    run->end = FT_X_DONE;
}

/* How much was seen so far that a caller may ask about. */
static size_t n_facts(const ft_native *n)
{
    return n->failures.len + n->races.len + n->lingering.len + n->wide_points +
           (n->refused[0] != 0);
}

void ft_native_run(ft_native *n, uint32_t slot, ft_x_run *run)
{
    const ft_exploring_slot *s = ft_exploring_slot_at(n->shared, slot);
    const ft_exploring_step *steps =
        ft_exploring_steps(ft_exploring_slot_at(n->shared, slot), n->options.run.max_steps);
    names by = {.n = n, .s = s};
    size_t known = n_facts(n);
    n->origins.len = n->delays.len = 0;
    memset(n->pending_pcs, 0, sizeof n->pending_pcs);
    bool served = number_threads(&by);
    ft_vec_reserve(&run->steps, s->n_steps + 1);
    ft_vec_reserve(&run->delays, s->n_steps + 1);
    ft_vec_reserve(&run->initial, s->n_objects + 1);
    take_objects(&by, run);
    for (uint32_t i = 0; i < s->n_steps && served; i++) take_step(&by, &steps[i], run);
    for (uint32_t t = 0; t < s->all_threads && served; t++) take_pending(&by, t, run);
    run->end = s->end < FT_X_ENDS ? (ft_x_end)s->end : FT_X_STRAYED;
    bool hangs = s->hangs || n->slots[slot].hangs;
    if (!s->is_complete) complete(n, s, hangs, run);
    if (!served) run->end = FT_X_CUT;
    run->result = ft_native_note(n, s, hangs);
    bool passed = !run->result && run->end == FT_X_DONE;
    if (n->options.run.keeps_output) run->output = ft_native_note_output(n, s, passed);
    run->races = ft_native_note_races(n, s);
    run->is_news = n_facts(n) > known;
}

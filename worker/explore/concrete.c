#include "explore/concrete.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

/* An object's number in all runs: of an address, and of its initialisation in the run. */
typedef struct named {
    uint64_t address;
    uint32_t life;
} named;

/* What a run knows of an object, beside what the interpreter does. */
typedef struct tracked {
    bool met;
    uint64_t arrivals; /* at a barrier */
    int64_t content;   /* of an atomic, as its last action left it */
} tracked;

struct ft_concrete {
    const ft_program *program;
    ft_interpreter_options options;
    uint64_t max_steps;
    ft_map objects; /* hash of `named` -> number */
    FT_VEC(named) names;
    ft_map children; /* parent and which of its children -> number */
    uint32_t n_threads;
    ft_x_operation first;
    ft_interpreter_error error;
    FT_VEC(ft_x_pick) steps; /* of the newest run, as the interpreter has them */
    struct {
        bool is;
        FT_VEC(ft_x_pick) prefix;
        uint32_t avoid[FT_X_THREADS];
    } task;
};

typedef struct running {
    ft_concrete *c;
    ft_interpreter *m;
    ft_x_run *run;
    ft_map lives;                /* address -> initialisations so far */
    FT_VEC(tracked) objects;     /* by number */
    uint32_t made[FT_X_THREADS]; /* children so far */
    uint32_t steps[FT_X_THREADS];
    int64_t round[FT_X_THREADS]; /* of the barrier at which it arrived last */
    ft_error *err;
} running;

enum { SECTIONS = 0 }; /* the object of atomic sections */

ft_concrete *ft_concrete_new(const ft_program *program, const ft_interpreter_options *options,
                             uint64_t max_steps)
{
    FT_REQUIRE(program);
    ft_concrete *c = ft_calloc(1, sizeof *c);
    c->program = program;
    if (options) c->options = *options;
    c->max_steps = max_steps ? max_steps : 100000;
    c->n_threads = 1;
    c->first = (ft_x_operation){.kind = FT_X_STEP};
    ft_vec_push(&c->names, (named){0, 0}); /* SECTIONS */
    return c;
}

void ft_concrete_free(ft_concrete *concrete)
{
    if (!concrete) return;
    ft_map_release(&concrete->objects);
    ft_map_release(&concrete->children);
    ft_vec_release(&concrete->names);
    ft_vec_release(&concrete->task.prefix);
    ft_vec_release(&concrete->steps);
    free(concrete);
}

const ft_interpreter_error *ft_concrete_error(const ft_concrete *concrete)
{
    return &concrete->error;
}

const ft_x_pick *ft_concrete_steps(const ft_concrete *concrete, size_t *n)
{
    *n = concrete->steps.len;
    return concrete->steps.data;
}

/* ---- numbers ---- */

/* The same in all runs: the address is, and how often it was initialised. */
static uint32_t object_of(running *r, uint64_t address)
{
    uint64_t life = 0;
    bool fresh;
    ft_map_get(&r->lives, address, &life);
    uint64_t key = ft_hash_u64(address ^ (life << 56));
    uint64_t *number = ft_map_slot(&r->c->objects, key, r->c->names.len, &fresh);
    if (fresh) ft_vec_push(&r->c->names, (named){address, (uint32_t)life});
    assert(r->c->names.data[*number].address == address);
    while (r->objects.len <= *number) ft_vec_push(&r->objects, (tracked){0});
    return (uint32_t)*number;
}

static uint32_t child_of(running *r, uint32_t parent)
{
    bool fresh;
    uint64_t key = (uint64_t)parent << 32 | r->made[parent];
    uint64_t *number = ft_map_slot(&r->c->children, key, r->c->n_threads, &fresh);
    r->c->n_threads += fresh;
    return (uint32_t)*number;
}

static int64_t sized(uint64_t bits, uint8_t width)
{
    return (int64_t)(bits << (64 - width)) >> (64 - width);
}

/* ---- operations ---- */

static ft_status refuse(running *r, const ft_interpreter_operation *o, const char *what)
{
    const ft_function *f = ft_program_function(r->c->program, o->place.function);
    ft_position at = f->instructions.data[o->place.instruction].position;
    const char *file = at.file == FT_NO_FILE ? "?" : r->c->program->files.names[at.file];
    return ft_error_set(r->err, FT_UNSUPPORTED, "%s:%" PRIu32 ", in %s: %s", file, at.line,
                        ft_program_symbol_name(r->c->program, o->place.function), what);
}

static ft_x_operation plain(ft_x_kind kind)
{
    return (ft_x_operation){.kind = (uint16_t)kind};
}

static ft_x_operation on(running *r, ft_x_kind kind, uint64_t address)
{
    return (ft_x_operation){.kind = (uint16_t)kind, .object = object_of(r, address)};
}

static ft_interpreter_object state_of(const running *r, const ft_interpreter_operation *o)
{
    return ft_interpreter_object_at(r->m, o->object);
}

/* Retaking a mutex that the thread holds concerns no other thread, unless it waits forever. (The
 * answer may not depend on whether the process has ended meanwhile.) */
static ft_x_operation mutex_operation(running *r, uint32_t t, const ft_interpreter_operation *o)
{
    ft_interpreter_object s = state_of(r, o);
    bool waits = o->code == FT_CODE_LOCK && s.kind == FT_MUTEX_NORMAL;
    if (s.owner == t + 1 && !waits) return plain(FT_X_STEP);
    return on(r, o->code == FT_CODE_LOCK ? FT_X_LOCK : FT_X_TRY_LOCK, o->object);
}

/* So does releasing it, unless it is free then. */
static ft_x_operation unlock(running *r, uint32_t t, const ft_interpreter_operation *o)
{
    ft_interpreter_object s = state_of(r, o);
    bool releases = s.owner == t + 1 && s.count == 1;
    return releases ? on(r, FT_X_UNLOCK, o->object) : plain(FT_X_STEP);
}

static ft_x_operation rw_unlock(running *r, uint32_t t, const ft_interpreter_operation *o)
{
    ft_interpreter_object s = state_of(r, o);
    if (s.owner == t + 1) return on(r, FT_X_WRITE_UNLOCK, o->object);
    return s.readers >> t & 1 ? on(r, FT_X_READ_UNLOCK, o->object) : plain(FT_X_STEP);
}

static ft_x_operation rw_lock(running *r, uint32_t t, const ft_interpreter_operation *o)
{
    bool mine = state_of(r, o).owner == t + 1;
    ft_x_kind kind = o->code == FT_CODE_READ_LOCK ? FT_X_READ_LOCK : FT_X_WRITE_LOCK;
    return mine ? plain(FT_X_STEP) : on(r, kind, o->object);
}

/* kind: in the table; NONE: a function below decides, or it is not taken. */
static const uint16_t SIMPLE[FT_CODES] = {
    [FT_CODE_FENCE] = FT_X_STEP,
    [FT_CODE_DETACH] = FT_X_STEP,
    [FT_CODE_YIELD] = FT_X_STEP,
    [FT_CODE_MUTEX_INIT] = FT_X_STEP,
    [FT_CODE_MUTEX_DESTROY] = FT_X_STEP,
    [FT_CODE_RW_INIT] = FT_X_STEP,
    [FT_CODE_RW_DESTROY] = FT_X_STEP,
    [FT_CODE_COND_INIT] = FT_X_STEP,
    [FT_CODE_COND_DESTROY] = FT_X_STEP,
    [FT_CODE_SEM_INIT] = FT_X_STEP,
    [FT_CODE_SEM_DESTROY] = FT_X_STEP,
    [FT_CODE_BARRIER_INIT] = FT_X_STEP,
    [FT_CODE_BARRIER_DESTROY] = FT_X_STEP,
    [FT_CODE_SIGNAL] = FT_X_SIGNAL,
    [FT_CODE_BROADCAST] = FT_X_BROADCAST,
    [FT_CODE_SEM_WAIT] = FT_X_TAKE,
    [FT_CODE_SEM_TRY] = FT_X_TRY_TAKE,
    [FT_CODE_SEM_TIMED] = FT_X_TRY_TAKE,
    [FT_CODE_SEM_POST] = FT_X_POST,
    [FT_CODE_SEM_COUNT] = FT_X_COUNT,
    [FT_CODE_TRY_READ_LOCK] = FT_X_TRY_READ_LOCK,
    [FT_CODE_TRY_WRITE_LOCK] = FT_X_TRY_WRITE_LOCK,
    [FT_CODE_ATOMIC_LOAD] = FT_X_LOAD,
    [FT_CODE_ATOMIC_STORE] = FT_X_STORE,
    [FT_CODE_ATOMIC_SWAP] = FT_X_SWAP,
    [FT_CODE_ATOMIC_UPDATE] = FT_X_UPDATE,
};

static const uint8_t UPDATES[FT_UPDATES] = {
    [FT_UPDATE_ADD] = FT_X_PLUS,          [FT_UPDATE_SUB] = FT_X_MINUS,
    [FT_UPDATE_AND] = FT_X_AND,           [FT_UPDATE_OR] = FT_X_OR,
    [FT_UPDATE_XOR] = FT_X_XOR,           [FT_UPDATE_NAND] = FT_X_NAND,
    [FT_UPDATE_SMAX] = FT_X_MAX,          [FT_UPDATE_SMIN] = FT_X_MIN,
    [FT_UPDATE_UMAX] = FT_X_UNSIGNED_MAX, [FT_UPDATE_UMIN] = FT_X_UNSIGNED_MIN,
};

/* An exchange depends on what a store does. */
static void add_operands(running *r, uint32_t t, const ft_instruction *in, ft_x_operation *x)
{
    uint8_t width = in->width;
    bool exchange = in->code == FT_CODE_ATOMIC_UPDATE && in->attribute == FT_UPDATE_EXCHANGE;
    if (exchange) x->kind = FT_X_STORE;
    if (x->kind == FT_X_STORE)
        x->value = sized(ft_interpreter_operand(r->m, t, exchange ? 1 : 0), width);
    if (x->kind == FT_X_UPDATE || x->kind == FT_X_SWAP)
        x->value = sized(ft_interpreter_operand(r->m, t, 1), width);
    if (x->kind == FT_X_SWAP) x->value2 = sized(ft_interpreter_operand(r->m, t, 2), width);
    if (x->kind == FT_X_UPDATE) x->value2 = FT_X_UPDATE_OF(UPDATES[in->attribute], width / 8);
}

static const ft_instruction *instruction_of(const running *r, const ft_interpreter_operation *o)
{
    const ft_function *f = ft_program_function(r->c->program, o->place.function);
    return &f->instructions.data[o->place.instruction];
}

/* LEAVE names its round, from 1. */
static ft_x_operation barrier(running *r, uint32_t t, const ft_interpreter_operation *o)
{
    ft_x_operation x = on(r, o->second ? FT_X_LEAVE : FT_X_ARRIVE, o->object);
    x.value = (int64_t)state_of(r, o).total;
    if (o->second) x.value2 = r->round[t];
    return x;
}

static ft_x_operation simple(running *r, uint32_t t, const ft_interpreter_operation *o)
{
    ft_x_operation x = plain(SIMPLE[o->code]);
    if (x.kind == FT_X_STEP) return x;
    x.object = object_of(r, o->object);
    if (ft_x_kind_class(x.kind) == FT_X_ATOMIC) add_operands(r, t, instruction_of(r, o), &x);
    return x;
}

static ft_x_operation wait(running *r, const ft_interpreter_operation *o)
{
    ft_x_operation x = on(r, o->second ? FT_X_WAKE : FT_X_WAIT, o->object);
    x.other = object_of(r, o->other);
    if (o->second && o->code == FT_CODE_TIMED_WAIT) x.value = FT_X_TIMED | FT_X_EARLY;
    return x;
}

static ft_x_operation of_thread(ft_x_kind kind, uint64_t thread)
{
    return (ft_x_operation){.kind = (uint16_t)kind, .object = (uint32_t)thread};
}

/* What the thread stands before, as the search has it. */
static ft_status operation(running *r, uint32_t t, const ft_interpreter_operation *o,
                           ft_x_operation *x)
{
    switch (o->code) {
    case FT_CODES:
        *x = plain(FT_X_STEP);
        break;
    case FT_CODE_FAIL:
        *x = (ft_x_operation){.kind = FT_X_EXIT, .value = 1};
        break;
    case FT_CODE_EXIT:
        *x = (ft_x_operation){.kind = FT_X_EXIT, .value = (int32_t)o->other};
        break;
    case FT_CODE_LOCK:
    case FT_CODE_TRY_LOCK:
    case FT_CODE_TIMED_LOCK:
        *x = mutex_operation(r, t, o);
        break;
    case FT_CODE_UNLOCK:
        *x = unlock(r, t, o);
        break;
    case FT_CODE_RW_UNLOCK:
        *x = rw_unlock(r, t, o);
        break;
    case FT_CODE_READ_LOCK:
    case FT_CODE_WRITE_LOCK:
        *x = rw_lock(r, t, o);
        break;
    case FT_CODE_WAIT:
    case FT_CODE_TIMED_WAIT:
        *x = wait(r, o);
        break;
    case FT_CODE_BARRIER_WAIT:
        *x = barrier(r, t, o);
        break;
    case FT_CODE_ONCE:
        *x = on(r, o->second ? FT_X_ONCE_END : FT_X_ONCE_BEGIN, o->object);
        break;
    case FT_CODE_CREATE:
        *x = of_thread(FT_X_CREATE, child_of(r, t));
        break;
    case FT_CODE_JOIN:
        *x = of_thread(FT_X_JOIN, o->object);
        break;
    case FT_CODE_ATOMIC_BEGIN:
        *x = (ft_x_operation){.kind = FT_X_STORE, .object = SECTIONS};
        break;
    default:
        if (!SIMPLE[o->code]) return refuse(r, o, "this instruction is not explored yet");
        *x = simple(r, t, o);
    }
    if (x->kind == FT_X_JOIN && x->object >= FT_X_THREADS) *x = plain(FT_X_STEP);
    if (x->kind == FT_X_CREATE && x->object >= FT_X_THREADS)
        return refuse(r, o, "the program has more than 64 threads");
    return FT_OK;
}

/* ---- one step ---- */

/* Bits of the threads that a broadcast notifies. */
static uint64_t waiters_of(const running *r, uint64_t condition)
{
    uint64_t bits = 0;
    ft_interpreter_operation o;
    for (uint32_t t = 0; t < ft_interpreter_thread_count(r->m); t++)
        if (ft_interpreter_stands_before(r->m, t, &o) && o.waits && o.object == condition)
            bits |= UINT64_C(1) << t;
    return bits;
}

/* The outcome that the search has for the action, before it is carried out. */
static uint64_t outcome_of(const running *r, const ft_interpreter_operation *o,
                           const ft_x_operation *x)
{
    ft_interpreter_object s = state_of(r, o);
    switch (x->kind) {
    case FT_X_TRY_LOCK:
        return !s.owner;
    case FT_X_TRY_READ_LOCK:
        return !s.owner;
    case FT_X_TRY_WRITE_LOCK:
        return !s.owner && !s.readers;
    case FT_X_TRY_TAKE:
        return s.count > 0;
    case FT_X_SWAP:
        return r->objects.data[x->object].content == x->value;
    case FT_X_BROADCAST:
        return waiters_of(r, o->object);
    case FT_X_ONCE_BEGIN:
        return !s.count;
    default:
        return 0;
    }
}

static void meet(running *r, uint32_t object, int64_t content)
{
    tracked *k = &r->objects.data[object];
    if (!k->met && content)
        ft_vec_push(&r->run->initial, (ft_x_initial){object, {.value = content}});
    k->met = true;
    k->content = content;
}

/* What the object holds where a run meets it first. Later: that nothing else changed it. */
static ft_status check_content(running *r, const ft_interpreter_operation *o,
                               const ft_x_operation *x)
{
    ft_x_class class = ft_x_kind_class(x->kind);
    tracked *k = &r->objects.data[x->object];
    if (class == FT_X_SEMAPHORE) meet(r, x->object, (int64_t)state_of(r, o).count);
    if (class != FT_X_ATOMIC || x->object == SECTIONS) return FT_OK;
    const ft_instruction *in = instruction_of(r, o);
    uint64_t bits = 0;
    if (!ft_interpreter_read(r->m, o->object, in->width / 8u, &bits)) return FT_OK; /* an error */
    int64_t content = sized(bits, in->width);
    if (k->met && content != k->content)
        return refuse(r, o, "a plain write changed what atomic instructions use");
    meet(r, x->object, content);
    return FT_OK;
}

static bool initialises(ft_code code)
{
    return code == FT_CODE_MUTEX_INIT || code == FT_CODE_RW_INIT || code == FT_CODE_COND_INIT ||
           code == FT_CODE_SEM_INIT || code == FT_CODE_BARRIER_INIT;
}

/* What the action changes of what the run knows. */
static void track(running *r, uint32_t t, const ft_interpreter_operation *o, const ft_x_action *a)
{
    const ft_x_operation *x = &a->operation;
    tracked *k = &r->objects.data[x->object];
    if (initialises(o->code)) ++*ft_map_slot(&r->lives, o->object, 0, NULL);
    switch (x->kind) {
    case FT_X_ARRIVE:
        r->round[t] = (int64_t)k->arrivals++ / x->value + 1;
        break;
    case FT_X_CREATE:
        r->made[t]++;
        break;
    case FT_X_STORE:
        k->content = x->value;
        break;
    case FT_X_UPDATE:
        k->content = ft_x_updated(k->content, x->value, x->value2);
        break;
    case FT_X_SWAP:
        if (a->outcome) k->content = x->value2;
        break;
    default:
        break;
    }
}

/* The interpreter's variant for that of the search, or, by itself, its first. */
static bool variant_of(running *r, uint32_t t, const ft_x_operation *x, const ft_x_pick *pick,
                       uint64_t *variant)
{
    uint64_t variants[FT_INTERPRETER_THREADS];
    uint32_t n = ft_interpreter_choices(r->m, t, variants);
    if (!n) return false;
    *variant = x->kind == FT_X_CREATE ? x->object + 1u : variants[0];
    if (!pick || (x->kind != FT_X_SIGNAL && x->kind != FT_X_WAKE)) return true;
    for (uint32_t i = 0; i < n; i++)
        if (variants[i] == pick->variant) return *variant = pick->variant, true;
    return false;
}

/* Carries out the thread's next action. FT_CONFLICT: it cannot be. */
static ft_status step(running *r, uint32_t t, const ft_x_pick *pick)
{
    ft_interpreter_operation o;
    ft_x_action a = {.thread = (uint16_t)t};
    uint64_t variant;
    if (t >= ft_interpreter_thread_count(r->m) || !ft_interpreter_stands_before(r->m, t, &o))
        return FT_CONFLICT;
    ft_status status = operation(r, t, &o, &a.operation);
    if (status != FT_OK) return status;
    if (!variant_of(r, t, &a.operation, pick, &variant)) return FT_CONFLICT;
    status = check_content(r, &o, &a.operation);
    if (status != FT_OK) return status;
    bool chosen = a.operation.kind == FT_X_SIGNAL || a.operation.kind == FT_X_WAKE;
    a.variant = chosen ? variant : 0;
    a.outcome = outcome_of(r, &o, &a.operation);
    ft_vec_push(&r->c->steps, (ft_x_pick){(uint16_t)t, variant});
    ft_interpreter_step(r->m, t, variant);
    track(r, t, &o, &a);
    r->steps[t]++;
    ft_vec_push(&r->run->steps, a);
    return FT_OK;
}

/* ---- runs ---- */

/* The thread that goes on by itself: the running one while it can and is not to be left alone. */
static bool choose(const running *r, uint32_t *thread)
{
    uint64_t variants[FT_INTERPRETER_THREADS];
    uint32_t n = ft_interpreter_thread_count(r->m), avoided = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t t = (*thread + i) % n;
        if (!ft_interpreter_choices(r->m, t, variants)) continue;
        if (r->c->task.avoid[t] != r->steps[t] + 1) return *thread = t, true;
        if (avoided == UINT32_MAX) avoided = t;
    }
    *thread = avoided;
    return avoided != UINT32_MAX;
}

static ft_status go(running *r)
{
    uint32_t thread = 0;
    r->run->end = FT_X_DONE;
    for (size_t i = 0; ft_interpreter_state_of(r->m) == FT_INTERPRETER_GOING; i++) {
        const ft_x_pick *pick = i < r->c->task.prefix.len ? &r->c->task.prefix.data[i] : NULL;
        if (i >= r->c->max_steps) return r->run->end = FT_X_CUT, FT_OK;
        if (pick)
            thread = pick->thread;
        else if (!choose(r, &thread))
            break;
        ft_status status = step(r, thread, pick);
        if (status == FT_CONFLICT) return r->run->end = FT_X_STRAYED, FT_OK;
        if (status != FT_OK) return status;
    }
    if (ft_interpreter_state_of(r->m) == FT_INTERPRETER_STOPPED) r->run->end = FT_X_CUT;
    return FT_OK;
}

/* What each thread stands before at the end. */
static ft_status note_pending(running *r)
{
    bool stuck = ft_interpreter_state_of(r->m) == FT_INTERPRETER_FAILED &&
                 ft_interpreter_error_of(r->m)->kind == FT_ERROR_DEADLOCK;
    if (stuck) r->run->end = FT_X_STUCK;
    for (uint32_t t = 0; t < ft_interpreter_thread_count(r->m); t++) {
        ft_interpreter_operation o;
        if (!ft_interpreter_stands_before(r->m, t, &o)) continue;
        ft_status status = operation(r, t, &o, &r->run->pending[t]);
        if (status != FT_OK) return status;
    }
    return FT_OK;
}

static uint64_t packed(const ft_interpreter *m)
{
    ft_interpreter_state state = ft_interpreter_state_of(m);
    bool error = state == FT_INTERPRETER_FAILED || state == FT_INTERPRETER_STOPPED;
    uint64_t code = state == FT_INTERPRETER_EXITED ? (uint32_t)ft_interpreter_exit_code(m) : 0;
    return (uint64_t)state | (uint64_t)(error ? ft_interpreter_error_of(m)->kind : 0) << 8 |
           code << 32;
}

ft_concrete_result ft_concrete_result_of(uint64_t result)
{
    return (ft_concrete_result){(ft_interpreter_state)(result & 255),
                                (ft_program_error)(result >> 8 & 255), (int32_t)(result >> 32)};
}

static ft_status start(void *context, uint32_t slot, const ft_x_task *task, ft_error *err)
{
    (void)err;
    ft_concrete *c = context;
    FT_REQUIRE(slot == 0 && !c->task.is);
    c->task.is = true;
    c->task.prefix.len = 0;
    for (size_t i = 0; i < task->n; i++) ft_vec_push(&c->task.prefix, task->prefix[i]);
    memcpy(c->task.avoid, task->avoid, sizeof c->task.avoid);
    return FT_OK;
}

static ft_status finish(void *context, uint32_t *slot, ft_x_run *run, ft_error *err)
{
    ft_concrete *c = context;
    FT_REQUIRE(c->task.is);
    c->task.is = false;
    c->steps.len = 0;
    *slot = 0;
    running r = {.c = c, .run = run, .err = err, .m = ft_interpreter_new(c->program, &c->options)};
    ft_vec_push(&r.objects, (tracked){0});
    ft_status status = go(&r);
    if (status == FT_OK) status = note_pending(&r);
    if (status == FT_OK) run->result = packed(r.m);
    if (run->result >> 8 & 255) c->error = *ft_interpreter_error_of(r.m);
    ft_interpreter_free(r.m);
    ft_map_release(&r.lives);
    ft_vec_release(&r.objects);
    return status;
}

ft_x_executor ft_concrete_executor(ft_concrete *concrete)
{
    FT_REQUIRE(concrete);
    return (ft_x_executor){.context = concrete,
                           .world = {.n_threads = 1, .first = &concrete->first},
                           .width = 1,
                           .start = start,
                           .finish = finish};
}

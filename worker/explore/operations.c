#include <inttypes.h>

#include "base/contract.h"
#include "explore/running.h"

/* ---- numbers ---- */

static begun *life_of(running *r, uint64_t address)
{
    for (size_t i = 0; i < r->lives.len; i++)
        if (r->lives.data[i].address == address) return &r->lives.data[i];
    return NULL;
}

/* The same in all runs: the address is, and how often and with what it was initialised. */
static uint64_t name_of(running *r, uint64_t address)
{
    const begun *life = life_of(r, address);
    const uint64_t words[] = {address, life ? life->n : 0, life ? life->count : 0};
    return ft_hash_bytes(words, sizeof words, 1);
}

static uint32_t object_of(running *r, uint64_t address)
{
    uint64_t name = name_of(r, address);
    uint64_t *number = ft_map_slot(&r->c->objects, name, r->c->n_objects, NULL);
    if (*number == r->c->n_objects) {
        r->c->n_objects++;
        ft_vec_push(&r->c->names, name);
    }
    assert(*number >= FIRST_OBJECT && *number < r->c->n_objects); /* not a section, not NEVER */
    while (r->objects.len <= *number) ft_vec_push(&r->objects, (tracked){0});
    return (uint32_t)*number;
}

uint32_t ft_running_child(ft_symbolic *c, uint32_t parent, uint32_t child)
{
    bool fresh;
    uint64_t key = (uint64_t)parent << 32 | child;
    uint64_t *number = ft_map_slot(&c->children, key, c->n_threads, &fresh);
    if (fresh) ft_vec_push(&c->makers, (ft_symbolic_maker){parent, child});
    c->n_threads += fresh;
    return (uint32_t)*number;
}

static uint32_t child_of(running *r, uint32_t parent)
{
    return ft_running_child(r->c, parent, r->made[parent]);
}

static int64_t sized(uint64_t bits, uint8_t width)
{
    return (int64_t)(bits << (64 - width)) >> (64 - width);
}

/* ---- operations ---- */

static const ft_instruction *instruction_of(const running *r, const ft_sym_operation *o)
{
    const ft_function *f = ft_program_function(r->c->program, o->place.function);
    return &f->instructions.data[o->place.instruction];
}

static ft_status refuse(running *r, const ft_sym_operation *o, const char *what, ft_error *err)
{
    ft_position at = instruction_of(r, o)->position;
    ft_strbuf place = {0};
    if (at.file != FT_NO_FILE) /* models of the C library have none */
        ft_strbuf_printf(&place, "%s:%" PRIu32 ", ", r->c->program->files.names[at.file], at.line);
    ft_error_set(err, FT_UNSUPPORTED, "%sin %s: %s", ft_strbuf_text(&place),
                 ft_program_symbol_name(r->c->program, o->place.function), what);
    ft_strbuf_release(&place);
    return FT_UNSUPPORTED;
}

static ft_x_operation plain(ft_x_kind kind)
{
    return (ft_x_operation){.kind = (uint16_t)kind};
}

static ft_x_operation on(running *r, ft_x_kind kind, uint64_t address)
{
    return (ft_x_operation){.kind = (uint16_t)kind, .object = object_of(r, address)};
}

static ft_sym_object state_of(const running *r, const ft_sym_operation *o)
{
    return ft_sym_object_at(r->m, o->object);
}

/* Retaking a mutex that the thread holds concerns no other thread, unless it waits forever. */
static ft_x_operation mutex_operation(running *r, uint32_t t, const ft_sym_operation *o)
{
    ft_sym_object s = state_of(r, o);
    bool waits = o->code == FT_CODE_LOCK && s.kind == FT_MUTEX_NORMAL;
    if (s.owner == t + 1 && !waits) return plain(FT_X_STEP);
    return on(r, o->code == FT_CODE_LOCK ? FT_X_LOCK : FT_X_TRY_LOCK, o->object);
}

static ft_x_operation unlock(running *r, uint32_t t, const ft_sym_operation *o)
{
    ft_sym_object s = state_of(r, o);
    bool releases = s.owner == t + 1 && s.count == 1;
    return releases ? on(r, FT_X_UNLOCK, o->object) : plain(FT_X_STEP);
}

static ft_x_operation rw_unlock(running *r, uint32_t t, const ft_sym_operation *o)
{
    ft_sym_object s = state_of(r, o);
    if (s.owner == t + 1) return on(r, FT_X_WRITE_UNLOCK, o->object);
    return s.readers >> t & 1 ? on(r, FT_X_READ_UNLOCK, o->object) : plain(FT_X_STEP);
}

static ft_x_operation rw_lock(running *r, uint32_t t, const ft_sym_operation *o)
{
    bool mine = state_of(r, o).owner == t + 1;
    ft_x_kind kind = o->code == FT_CODE_READ_LOCK ? FT_X_READ_LOCK : FT_X_WRITE_LOCK;
    return mine ? plain(FT_X_STEP) : on(r, kind, o->object);
}

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

/* *number false: inputs decide it. */
static int64_t operand(const running *r, uint32_t t, uint32_t i, uint8_t width, bool *number)
{
    uint64_t bits = 0;
    *number &= ft_sym_operand(r->m, t, i, &bits);
    return sized(bits, width);
}

static ft_x_operation counted(ft_x_operation x)
{
    x.kind = x.kind == FT_X_LOAD ? FT_X_READ : FT_X_WRITE;
    return x;
}

/* An exchange depends on what a store does. False: inputs decide a value. */
static bool add_operands(running *r, uint32_t t, const ft_instruction *in, ft_x_operation *x)
{
    uint8_t width = in->width;
    bool exchange = in->code == FT_CODE_ATOMIC_UPDATE && in->attribute == FT_UPDATE_EXCHANGE;
    bool numbers = true;
    if (exchange) x->kind = FT_X_STORE;
    if (x->kind == FT_X_STORE) x->value = operand(r, t, exchange ? 1 : 0, width, &numbers);
    if (x->kind == FT_X_UPDATE || x->kind == FT_X_SWAP)
        x->value = operand(r, t, 1, width, &numbers);
    if (x->kind == FT_X_SWAP) x->value2 = operand(r, t, 2, width, &numbers);
    if (x->kind == FT_X_UPDATE) x->value2 = FT_X_UPDATE_OF(UPDATES[in->attribute], width / 8);
    return numbers;
}

/* LEAVE names its round, from 1; ARRIVE says whether its place among the others counts. */
static ft_x_operation barrier(running *r, uint32_t t, const ft_sym_operation *o)
{
    if (!state_of(r, o).total) return plain(FT_X_STEP); /* an error: it was not initialised */
    ft_x_operation x = on(r, o->second ? FT_X_LEAVE : FT_X_ARRIVE, o->object);
    x.value = (int64_t)state_of(r, o).total;
    x.value2 = o->second ? r->round[t] : r->c->orders_arrivals;
    return x;
}

static ft_status simple(running *r, uint32_t t, const ft_sym_operation *o, ft_x_operation *x,
                        ft_error *err)
{
    *x = plain((ft_x_kind)SIMPLE[o->code]);
    if (x->kind == FT_X_STEP) return FT_OK;
    x->object = object_of(r, o->object);
    if (ft_x_kind_class((ft_x_kind)x->kind) != FT_X_ATOMIC) return FT_OK;
    if (r->c->counts_atomics) return *x = counted(*x), FT_OK;
    if (add_operands(r, t, instruction_of(r, o), x)) return FT_OK;
    return refuse(r, o, "inputs decide what an atomic instruction writes", err);
}

static ft_x_operation wait(running *r, const ft_sym_operation *o)
{
    ft_x_operation x = on(r, o->second ? FT_X_WAKE : FT_X_WAIT, o->object);
    x.other = object_of(r, o->other);
    if (o->second && o->code == FT_CODE_TIMED_WAIT) x.value = FT_X_TIMED | FT_X_EARLY;
    return x;
}

static ft_x_operation section(const running *r, uint32_t t, ft_code code)
{
    bool mine = ft_sym_section(r->m) == t + 1;
    if (code == FT_CODE_ATOMIC_BEGIN && !mine)
        return (ft_x_operation){FT_X_LOCK, SECTIONS, 0, 0, 0};
    if (code == FT_CODE_ATOMIC_END && mine) return (ft_x_operation){FT_X_UNLOCK, SECTIONS, 0, 0, 0};
    return plain(FT_X_STEP); /* an error */
}

/* An error waits for nothing, whether the other thread has ended or not. */
static ft_x_operation join(const running *r, uint32_t t, uint64_t thread)
{
    if (thread >= ft_sym_thread_count(r->m) || thread == t ||
        ft_sym_is_detached(r->m, (uint32_t)thread))
        return plain(FT_X_STEP);
    return (ft_x_operation){.kind = FT_X_JOIN, .object = (uint32_t)thread};
}

static bool may_be_in_section(ft_code code)
{
    return code == FT_CODES || code == FT_CODE_EXIT || code == FT_CODE_ATOMIC_BEGIN ||
           ft_instruction_row_of(code)->effect != FT_EFFECT_VISIBLE;
}

ft_status ft_running_operation(running *r, uint32_t t, const ft_sym_operation *o, ft_x_operation *x,
                               ft_error *err)
{
    if (o->arms) return *x = (ft_x_operation){.kind = FT_X_BRANCH, .value = o->arms}, FT_OK;
    if (o->stands) return *x = (ft_x_operation){.kind = FT_X_TAKE, .object = NEVER}, FT_OK;
    if (o->circles) return *x = ft_x_watch(r->c->watches, FT_X_AWAIT, NULL, 0), FT_OK;
    if (ft_running_poll(r, t)) return *x = *ft_running_poll(r, t), FT_OK;
    if (ft_sym_section(r->m) == t + 1 && !may_be_in_section(o->code))
        return refuse(r, o, "this instruction is not explored within an atomic section", err);
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
        *x = (ft_x_operation){.kind = FT_X_CREATE, .object = child_of(r, t)};
        if (x->object >= FT_X_THREADS) {
            r->c->too_many_threads = true;
            return refuse(r, o, "the program has more than 64 threads", err);
        }
        break;
    case FT_CODE_JOIN:
        *x = join(r, t, o->object);
        break;
    case FT_CODE_ATOMIC_BEGIN:
    case FT_CODE_ATOMIC_END:
        *x = section(r, t, o->code);
        break;
    default:
        if (!SIMPLE[o->code]) return *x = plain(FT_X_STEP), FT_OK; /* a step that a bound cut */
        return simple(r, t, o, x, err);
    }
    return FT_OK;
}

/* ---- what the run knows ---- */

static uint64_t waiters_of(const running *r, uint64_t condition)
{
    uint64_t bits = 0;
    ft_sym_operation o;
    for (uint32_t t = 0; t < ft_sym_thread_count(r->m); t++)
        if (ft_sym_stands_before(r->m, t, &o) && o.waits && o.object == condition)
            bits |= UINT64_C(1) << t;
    return bits;
}

uint64_t ft_running_outcome(const running *r, const ft_sym_operation *o, const ft_x_operation *x)
{
    ft_sym_object s = state_of(r, o);
    switch (x->kind) {
    case FT_X_TRY_LOCK:
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
    if (!k->met) k->first = content;
    k->met = true;
    k->content = content;
}

/* How many bytes atomic instructions of this run use at the address. */
static uint32_t bytes_at(running *r, uint64_t address)
{
    uint64_t number;
    bool known = ft_map_get(&r->c->objects, name_of(r, address), &number);
    return known && number < r->objects.len ? r->objects.data[number].bytes : 0;
}

static bool overlaps(running *r, uint64_t address, uint32_t bytes)
{
    enum { LARGEST = 8 };
    for (uint32_t d = 1; d < LARGEST; d++)
        if (bytes_at(r, address - d) > d || (d < bytes && bytes_at(r, address + d))) return true;
    return false;
}

/* Atomics at different addresses are objects that do not depend on each other: if they share bytes,
 * their orders are not all tried. */
static void note_overlap(running *r, const ft_sym_operation *o, uint32_t object)
{
    tracked *k = &r->objects.data[object];
    uint32_t bytes = (instruction_of(r, o)->width + 7u) / 8;
    if (bytes <= k->bytes) return;
    if (overlaps(r, o->object, bytes) && r->c->overlap.function == FT_NO_SYMBOL)
        r->c->overlap = o->place;
    k->bytes = (uint8_t)bytes;
}

ft_status ft_running_check_content(running *r, const ft_sym_operation *o, const ft_x_operation *x,
                                   ft_error *err)
{
    ft_x_class class = ft_x_kind_class((ft_x_kind)x->kind);
    if (class == FT_X_ATOMIC || class == FT_X_MEMORY) note_overlap(r, o, x->object);
    if (class == FT_X_SEMAPHORE && x->object != NEVER)
        meet(r, x->object, (int64_t)state_of(r, o).count);
    if (class != FT_X_ATOMIC) return FT_OK;
    const tracked *k = &r->objects.data[x->object];
    const ft_instruction *in = instruction_of(r, o);
    uint64_t bits = 0;
    if (!ft_sym_read(r->m, o->object, in->width / 8u, &bits)) {
        if (!ft_sym_world_has_inputs(r->c->world)) return FT_OK; /* an error */
        return refuse(r, o, "inputs decide what atomic instructions use", err);
    }
    int64_t content = sized(bits, in->width);
    if (k->met && content != k->content)
        return refuse(r, o, "a plain write changed what atomic instructions use", err);
    meet(r, x->object, content);
    return FT_OK;
}

static bool initialises(ft_code code)
{
    return code == FT_CODE_MUTEX_INIT || code == FT_CODE_RW_INIT || code == FT_CODE_COND_INIT ||
           code == FT_CODE_SEM_INIT || code == FT_CODE_BARRIER_INIT;
}

static void begin_life(running *r, const ft_sym_operation *o)
{
    uint64_t count = o->code == FT_CODE_SEM_INIT ? state_of(r, o).count : 0;
    begun *life = life_of(r, o->object);
    if (!life) {
        ft_vec_push(&r->lives, (begun){o->object, 0, 0});
        life = &r->lives.data[r->lives.len - 1];
    }
    life->n++;
    life->count = count;
}

void ft_running_track(running *r, uint32_t t, const ft_sym_operation *o, const ft_x_action *a)
{
    const ft_x_operation *x = &a->operation;
    while (r->objects.len <= x->object) ft_vec_push(&r->objects, (tracked){0});
    tracked *k = &r->objects.data[x->object];
    if (!o->arms && initialises(o->code)) begin_life(r, o);
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
    case FT_X_WRITE:
        k->content++;
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

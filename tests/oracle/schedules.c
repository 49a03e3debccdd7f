#include "oracle/schedules_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"

/* ---- semantics */

/* ---- polling: with the program's `polls`, a thread that does the same again stands before AWAIT
 * or LINGER */

/* Of all programs: equal watches have equal numbers in all that is compared. */
static ft_x_watches *watches;

static void forget_round(const schedule_program *p, machine *m, uint32_t t)
{
    if (p->polls && t < SCHEDULE_POLLERS) m->rounds[t].n = 0;
}

static bool is_as_it_was(const machine *m, uint32_t t, const struct schedule_visit *v)
{
    return v->at == m->at[t] && !m->add[t][0] && !m->add[t][1] &&
           !memcmp(v->registers, m->registers[t], sizeof v->registers);
}

static bool has_equal_attempt(const ft_x_attempt *a, const ft_x_attempt *b)
{
    return a->result == b->result && a->operation.kind == b->operation.kind &&
           a->operation.object == b->operation.object && a->operation.value == b->operation.value;
}

/* How many rounds in a row, up to now, ended at this place with the results of the last one, which
 * begins at *first. */
static uint32_t equal_rounds(const schedule_round *r, uint32_t at, uint32_t *first)
{
    uint32_t length = 0, rounds = 0, i = r->n;
    while (i && r->visits[i - 1].at != at) i--;
    if (!i) return 0;
    *first = i - 1;
    length = r->n - *first;
    for (uint32_t end = r->n; end >= length; end -= length, rounds++)
        for (uint32_t k = 0; k < length; k++)
            if (!has_equal_attempt(&r->visits[*first + k].attempt,
                                   &r->visits[end - length + k].attempt))
                return rounds;
    return rounds;
}

static void stand_before_poll(machine *m, uint32_t t, ft_x_kind kind, uint32_t first)
{
    ft_x_attempt attempts[SCHEDULE_VISITS];
    schedule_round *r = &m->rounds[t];
    for (uint32_t i = first; i < r->n; i++) attempts[i - first] = r->visits[i].attempt;
    if (!watches) watches = ft_x_watches_new();
    r->poll = ft_x_watch(watches, kind, attempts, r->n - first);
}

/* The thread has done what is in its round and stands before its next operation. */
static void look_for_poll(const schedule_program *p, machine *m, uint32_t t)
{
    schedule_round *r = &m->rounds[t];
    uint32_t first = 0;
    if (m->failed[t] || m->at[t] >= p->length[t]) return;
    for (uint32_t i = r->n; i-- > 0;)
        if (is_as_it_was(m, t, &r->visits[i])) return stand_before_poll(m, t, FT_X_AWAIT, i);
    if (equal_rounds(r, m->at[t], &first) >= p->polls) stand_before_poll(m, t, FT_X_LINGER, first);
}

static void visit(machine *m, uint32_t t, const machine *before, const ft_x_action *a)
{
    schedule_round *r = &m->rounds[t];
    if (r->n == SCHEDULE_VISITS) memmove(r->visits, r->visits + 1, --r->n * sizeof *r->visits);
    struct schedule_visit *v = &r->visits[r->n++];
    *v = (struct schedule_visit){.at = before->at[t]};
    memcpy(v->registers, before->registers[t], sizeof v->registers);
    bool number = a->operation.kind == FT_X_LOAD || a->operation.kind == FT_X_SWAP;
    v->attempt.operation = a->operation;
    v->attempt.result = number ? before->value[a->operation.object] : (int64_t)a->outcome;
}

static int64_t is_ready(const machine *m, const ft_x_operation *o)
{
    int64_t bits = 0, in = m->value[o->object], room = (o->value2 >> 20) - in;
    uint8_t gone = m->gone[o->object]; /* 1: readers, 2: writers */
    if (in || gone & 2) bits |= FT_X_READABLE;
    if (room >= o->value2 % (1 << 20) || gone & 1) bits |= FT_X_WRITABLE;
    if (gone & 2) bits |= FT_X_ENDED;
    if (gone & 1) bits |= FT_X_BROKEN;
    bits &= o->value;
    return o->value & FT_X_ARRIVALS ? bits | m->arrivals[o->object] << FT_X_ARRIVALS_SHIFT : bits;
}

/* Would one of the attempts turn out otherwise? */
static bool would_differ(const machine *m, const ft_x_operation *poll)
{
    size_t n;
    const ft_x_attempt *a = ft_x_watched(watches, poll, &n);
    for (size_t i = 0; i < n; i++) {
        uint32_t x = a[i].operation.object;
        ft_x_kind k = a[i].operation.kind;
        int64_t now = k == FT_X_TEST       ? is_ready(m, &a[i].operation)
                      : k == FT_X_TRY_LOCK ? m->holder[x] < 0
                      : k == FT_X_TRY_TAKE ? m->value[x] > 0
                                           : m->value[x];
        if (now != a[i].result) return true;
    }
    return false;
}

static void run_local(const schedule_program *p, machine *m, uint32_t t)
{
    for (; m->at[t] < p->length[t] && p->code[t][m->at[t]].kind >= FT_X_KINDS && !m->failed[t];
         m->at[t]++) {
        const ft_x_operation *i = &p->code[t][m->at[t]];
        int64_t *r = &m->registers[t][i->other];
        if (i->kind == LOCAL_SET) m->globals[i->object] = i->value;
        if (i->kind == LOCAL_PUT) m->globals[i->object] = *r + i->value;
        if (i->kind == LOCAL_GET) *r = m->globals[i->object];
        if (i->kind == LOCAL_ADD) *r += i->value;
        if (i->kind == LOCAL_SET || i->kind == LOCAL_PUT) forget_round(p, m, t);
        if (i->kind == LOCAL_COPY) *r = m->registers[t][0];
        if (i->kind == LOCAL_USE) m->add[t][i->value] = *r;
        if (i->kind == LOCAL_NEED && *r != i->value) m->failed[t] = true;
        bool equal = *r == i->value;
        if ((i->kind == LOCAL_SKIP_IF && equal) || (i->kind == LOCAL_SKIP_UNLESS && !equal))
            m->at[t] = (uint32_t)((int64_t)m->at[t] + i->value2);
    }
}

static bool is_created_by_program(const schedule_program *p, uint32_t thread)
{
    for (uint32_t t = 0; t < p->n_threads; t++)
        for (uint32_t i = 0; i < p->length[t]; i++)
            if (p->code[t][i].kind == FT_X_CREATE && p->code[t][i].object == thread) return true;
    return false;
}

static void begin(const schedule_program *p, machine *m)
{
    memset(m, 0, sizeof *m);
    memset(m->holder, -1, sizeof m->holder);
    for (uint32_t i = 0; i < SCHEDULE_OBJECTS; i++) m->value[i] = p->initial[i];
    for (uint32_t t = 0; t < p->n_threads; t++) m->created[t] = !is_created_by_program(p, t);
    for (uint32_t t = 0; t < p->n_threads; t++)
        if (m->created[t]) run_local(p, m, t);
}

/* In programs READY has its channels, `other` 0: one, and its events as TEST has them. */
static ft_x_operation wait_for_channels(const ft_x_operation *o)
{
    ft_x_attempt attempts[2];
    for (int i = 0; i < 2; i++) {
        attempts[i] = (ft_x_attempt){.operation = *o};
        attempts[i].operation.kind = FT_X_TEST;
        attempts[i].operation.object = i ? o->other : o->object;
        attempts[i].operation.other = 0;
    }
    if (!watches) watches = ft_x_watches_new();
    return ft_x_watch(watches, FT_X_READY, attempts, o->other ? 2 : 1);
}

static ft_x_operation pending(const schedule_program *p, const machine *m, uint32_t t)
{
    if (!m->created[t]) return (ft_x_operation){.kind = FT_X_NONE};
    if (m->failed[t]) return (ft_x_operation){.kind = FT_X_EXIT, .value = 1};
    if (m->at[t] >= p->length[t]) return (ft_x_operation){.kind = FT_X_NONE};
    if (t < SCHEDULE_POLLERS && m->rounds[t].poll.kind) return m->rounds[t].poll;
    ft_x_operation o = p->code[t][m->at[t]];
    if (o.kind == FT_X_READY) return wait_for_channels(&o);
    o.value += m->add[t][0];
    o.value2 += m->add[t][1];
    return o;
}

static bool has_ended(const schedule_program *p, const machine *m, uint32_t t)
{
    return m->created[t] && pending(p, m, t).kind == FT_X_NONE;
}

static bool can_go_on(const schedule_program *p, const machine *m, uint32_t t)
{
    ft_x_operation o = pending(p, m, t);
    if (m->over || o.kind == FT_X_NONE) return false;
    if (o.kind == FT_X_JOIN) return has_ended(p, m, o.object);
    if (o.kind == FT_X_LOCK) return m->holder[o.object] < 0;
    if (o.kind == FT_X_WAKE)
        return m->holder[o.other] < 0 &&
               (m->waiting[t] == 2 || o.value & (FT_X_EARLY | FT_X_SPURIOUS));
    if (o.kind == FT_X_TAKE) return m->value[o.object] > 0;
    if (o.kind == FT_X_RECEIVE) return m->value[o.object] > 0 || m->gone[o.object] & 2;
    if (o.kind == FT_X_READ_LOCK)
        return m->holder[o.object] < 0 &&
               (o.value & FT_X_PREFERS_WRITERS ? !m->more[o.object][0] : true);
    if (o.kind == FT_X_WRITE_LOCK) return m->holder[o.object] < 0 && m->value[o.object] == 0;
    if (o.kind == FT_X_LEAVE) return m->value[o.object] >= o.value * o.value2;
    if (o.kind == FT_X_ONCE_BEGIN) return m->holder[o.object] < 0;
    if (o.kind == FT_X_AWAIT || o.kind == FT_X_READY || o.kind == FT_X_LINGER)
        return would_differ(m, &o);
    if (o.kind == FT_X_SEND)
        return m->value[o.object] + o.value <= o.value2 || m->gone[o.object] & 1;
    return true;
}

/* Has it a time limit that passes late? */
static bool is_limited(const ft_x_operation *o)
{
    bool waits = o->kind == FT_X_LOCK || o->kind == FT_X_WAKE || o->kind == FT_X_TAKE ||
                 o->kind == FT_X_READ_LOCK || o->kind == FT_X_WRITE_LOCK || o->kind == FT_X_JOIN;
    return waits && (o->value & (FT_X_TIMED | FT_X_EARLY)) == FT_X_TIMED;
}

/* Where no thread can go on: a thread that may go on late. */
static bool can_go_on_late(const schedule_program *p, const machine *m, uint32_t t)
{
    for (uint32_t i = 0; i < p->n_threads; i++)
        if (can_go_on(p, m, i)) return false;
    ft_x_operation o = pending(p, m, t);
    return !m->over && (o.kind == FT_X_LINGER || (is_limited(&o) && m->waiting[t] != 2 &&
                                                  (o.kind != FT_X_WAKE || m->holder[o.other] < 0)));
}

/* The variants of a thread that can go on. */
static uint32_t variants(const schedule_program *p, const machine *m, uint32_t t,
                         uint64_t list[FT_X_THREADS])
{
    uint32_t n = 0;
    ft_x_operation o = pending(p, m, t);
    if (!can_go_on(p, m, t)) return list[0] = 1, can_go_on_late(p, m, t);
    if (o.kind == FT_X_CHOOSE)
        for (; n < o.value; n++) list[n] = n;
    if (o.kind == FT_X_SIGNAL)
        for (uint32_t w = 0; w < p->n_threads; w++)
            if (m->waiting[w] == 1 && m->condition[w] == o.object) list[n++] = w + 1;
    if (o.kind == FT_X_WAKE && m->waiting[t] == 1 && o.value & FT_X_EARLY) list[n++] = 1;
    if (o.kind == FT_X_WAKE && m->waiting[t] == 1 && o.value & FT_X_SPURIOUS) list[n++] = 2;
    if (!n) list[n++] = 0;
    return n;
}

/* ---- dependence, by what commutes */

static bool only_looks(const ft_x_action *a)
{
    ft_x_kind k = a->operation.kind;
    return k == FT_X_LOAD || k == FT_X_TEST || k == FT_X_COUNT || (k == FT_X_SEND && a->outcome) ||
           k == FT_X_QUEUE || (k == FT_X_TRY_RECEIVE && a->outcome == FT_X_WOULD_WAIT) ||
           ((k == FT_X_SWAP || k == FT_X_TRY_LOCK || k == FT_X_TRY_TAKE ||
             k == FT_X_TRY_READ_LOCK || k == FT_X_TRY_WRITE_LOCK || k == FT_X_TRY_SEND ||
             k == FT_X_RECEIVE || k == FT_X_TRY_RECEIVE) &&
            !a->outcome);
}

static uint64_t wakes(const ft_x_action *a)
{
    if (a->operation.kind == FT_X_BROADCAST) return a->outcome;
    return a->variant ? UINT64_C(1) << (a->variant - 1) : 0;
}

static int order_of_kind(ft_x_kind k)
{
    return k == FT_X_WAIT ? 0 : k == FT_X_WAKE ? 1 : k == FT_X_SIGNAL ? 2 : 3;
}

static bool on_condition(const ft_x_action *a, const ft_x_action *b)
{
    int x = order_of_kind(a->operation.kind), y = order_of_kind(b->operation.kind);
    if (x > y) return on_condition(b, a);
    bool to_a = wakes(b) >> a->thread & 1;
    if (x <= 1 && y <= 1) return false;
    if (x == 1 && a->variant) x = 0; /* it leaves as it came */
    if (x == 0) return y == 3 || wakes(b) == 0 || to_a;
    if (x == 1) return to_a;
    if (x == 2 && y == 2) return wakes(a) && wakes(b) ? wakes(a) == wakes(b) : wakes(a) != wakes(b);
    return wakes(a) != 0 || wakes(b) != 0;
}

static bool uses_mutex(const ft_x_operation *o, uint32_t *mutex)
{
    bool waits = o->kind == FT_X_WAIT || o->kind == FT_X_WAKE;
    *mutex = waits ? o->other : o->object;
    return waits || o->kind == FT_X_LOCK || o->kind == FT_X_UNLOCK || o->kind == FT_X_TRY_LOCK;
}

static bool one_of(ft_x_kind k, ft_x_kind from, ft_x_kind to)
{
    return k >= from && k <= to;
}

static bool is_poll(const ft_x_action *a)
{
    return a->operation.kind >= FT_X_AWAIT && a->operation.kind <= FT_X_LINGER;
}

/* May b change what the poll a watches? */
static bool matters_to_poll(const ft_x_action *a, const ft_x_action *b)
{
    size_t n;
    uint32_t mutex;
    ft_x_kind kb = b->operation.kind;
    const ft_x_attempt *all = ft_x_watched(watches, &a->operation, &n);
    if (is_poll(b) || only_looks(b)) return false;
    bool plain = !one_of(kb, FT_X_NONE, FT_X_STEP) && !one_of(kb, FT_X_CREATE, FT_X_EXIT);
    for (size_t i = 0; i < n; i++) {
        uint32_t x = all[i].operation.object;
        if (plain &&
            (b->operation.object == x || (uses_mutex(&b->operation, &mutex) && mutex == x)))
            return true;
    }
    return false;
}

static bool is_late(const ft_x_action *a)
{
    return a->variant == 1 && (a->operation.kind == FT_X_LINGER || is_limited(&a->operation));
}

static bool depend(const ft_x_action *a, const ft_x_action *b)
{
    uint32_t ma, mb;
    ft_x_kind ka = a->operation.kind, kb = b->operation.kind;
    if (is_late(a) || is_late(b)) return true;
    if (a->thread == b->thread || ka == FT_X_EXIT || kb == FT_X_EXIT) return true;
    if (one_of(ka, FT_X_CREATE, FT_X_TRY_JOIN) && a->operation.object == b->thread) return true;
    if (one_of(kb, FT_X_CREATE, FT_X_TRY_JOIN) && b->operation.object == a->thread) return true;
    if (a->thread != b->thread && is_poll(a)) return matters_to_poll(a, b);
    if (a->thread != b->thread && is_poll(b)) return matters_to_poll(b, a);
    if (uses_mutex(&a->operation, &ma) && uses_mutex(&b->operation, &mb) && ma == mb)
        return !(only_looks(a) && only_looks(b));
    if (a->operation.object != b->operation.object) return false;
    if (one_of(ka, FT_X_WAIT, FT_X_BROADCAST) && one_of(kb, FT_X_WAIT, FT_X_BROADCAST))
        return on_condition(a, b);
    if (one_of(ka, FT_X_TAKE, FT_X_POST) && one_of(kb, FT_X_TAKE, FT_X_POST))
        return !(only_looks(a) && only_looks(b)) && !(ka == FT_X_POST && kb == FT_X_POST);
    if (one_of(ka, FT_X_LOAD, FT_X_UPDATE) && one_of(kb, FT_X_LOAD, FT_X_UPDATE))
        return !(only_looks(a) && only_looks(b));
    if (ka == FT_X_QUEUE || kb == FT_X_QUEUE)
        return (ka == FT_X_READ_LOCK && a->operation.value & FT_X_PREFERS_WRITERS) ||
               (kb == FT_X_READ_LOCK && b->operation.value & FT_X_PREFERS_WRITERS);
    bool reads = ka == FT_X_READ_LOCK || ka == FT_X_READ_UNLOCK || ka == FT_X_TRY_READ_LOCK;
    bool reads_too = kb == FT_X_READ_LOCK || kb == FT_X_READ_UNLOCK || kb == FT_X_TRY_READ_LOCK;
    if (one_of(ka, FT_X_READ_LOCK, FT_X_WRITE_UNLOCK) &&
        one_of(kb, FT_X_READ_LOCK, FT_X_WRITE_UNLOCK))
        return !(reads && reads_too) && !(only_looks(a) && only_looks(b));
    if (one_of(ka, FT_X_READ, FT_X_WRITE) && one_of(kb, FT_X_READ, FT_X_WRITE))
        return ka == FT_X_WRITE || kb == FT_X_WRITE;
    if (one_of(ka, FT_X_ARRIVE, FT_X_LEAVE) && one_of(kb, FT_X_ARRIVE, FT_X_LEAVE))
        return ka != kb || (ka == FT_X_ARRIVE && (a->operation.value2 || b->operation.value2));
    if (one_of(ka, FT_X_ONCE_BEGIN, FT_X_ONCE_END) && one_of(kb, FT_X_ONCE_BEGIN, FT_X_ONCE_END))
        return true;
    return one_of(ka, FT_X_SEND, FT_X_CLOSE) && one_of(kb, FT_X_SEND, FT_X_CLOSE) &&
           !(only_looks(a) && only_looks(b));
}

/* ---- steps */

/* Operations of waiters: conditions. */
static void carry_out_wait(const schedule_program *p, machine *m, uint32_t t, ft_x_action *a)
{
    const ft_x_operation *o = &a->operation;
    switch (o->kind) {
    case FT_X_WAIT:
        m->holder[o->other] = -1;
        m->waiting[t] = 1;
        m->condition[t] = (uint8_t)o->object;
        break;
    case FT_X_WAKE:
        m->holder[o->other] = (int8_t)t;
        m->waiting[t] = 0;
        break;
    case FT_X_SIGNAL:
        if (a->variant) m->waiting[a->variant - 1] = 2;
        break;
    default:
        for (uint32_t w = 0; w < p->n_threads; w++)
            if (m->waiting[w] == 1 && m->condition[w] == o->object) {
                m->waiting[w] = 2;
                a->outcome |= UINT64_C(1) << w;
            }
    }
}

/* Operations on what is one number; the result. */
static int64_t carry_out_count(machine *m, ft_x_action *a)
{
    const ft_x_operation *o = &a->operation;
    int64_t *value = &m->value[o->object], old = *value;
    switch (o->kind) {
    case FT_X_TAKE:
    case FT_X_READ_UNLOCK:
        --*value;
        break;
    case FT_X_POST:
    case FT_X_ARRIVE:
    case FT_X_READ_LOCK:
        ++*value;
        break;
    case FT_X_TRY_TAKE:
        a->outcome = old > 0;
        *value -= (int64_t)a->outcome;
        break;
    case FT_X_STORE:
        *value = o->value;
        break;
    case FT_X_ADD:
        *value += o->value;
        return old;
    case FT_X_UPDATE: /* two operators are enough here, and sizes that small numbers fit into */
        *value = o->value2 / 16 == FT_X_PLUS ? old + o->value : old ^ o->value;
        return old;
    case FT_X_SWAP:
        a->outcome = old == o->value;
        if (a->outcome) *value = o->value2;
        break;
    case FT_X_LOAD:
    case FT_X_COUNT:
        return old;
    default:
        break;
    }
    if (o->kind == FT_X_ARRIVE && o->value2) return *value % o->value == 0;
    return (int64_t)a->outcome;
}

static int64_t carry_out_channel(machine *m, ft_x_action *a)
{
    const ft_x_operation *o = &a->operation;
    int64_t *in = &m->value[o->object], room = (o->value2 >> 20) - *in, n = 0;
    uint8_t *gone = &m->gone[o->object];
    switch (o->kind) {
    case FT_X_SEND:
        a->outcome = *gone & 1;
        if (!a->outcome) *in += o->value;
        m->arrivals[o->object] += !a->outcome;
        break;
    case FT_X_TRY_SEND:
        n = room < o->value ? room : o->value;
        if (*gone & 1 || room < o->value2 % (1 << 20)) n = 0;
        *in += n;
        m->arrivals[o->object] += n > 0;
        a->outcome = (uint64_t)n;
        break;
    case FT_X_RECEIVE:
    case FT_X_TRY_RECEIVE:
        n = *in < o->value ? *in : o->value;
        a->outcome = *in || *gone & 2 ? (uint64_t)n : FT_X_WOULD_WAIT;
        *in -= n;
        break;
    case FT_X_TEST:
        a->outcome = (uint64_t)is_ready(m, o);
        break;
    default:
        for (int end = 0; end < 2; end++) {
            if (!(o->value >> end & 1)) continue;
            if (o->kind == FT_X_OPEN)
                m->more[o->object][end]++;
            else if (m->more[o->object][end])
                m->more[o->object][end]--;
            else
                *gone |= (uint8_t)(1 << end);
            if (end == 1 && *gone & 2) m->arrivals[o->object] += o->kind == FT_X_CLOSE;
        }
    }
    return (int64_t)a->outcome;
}

static int64_t carry_out(const schedule_program *p, machine *m, uint32_t t, ft_x_action *a)
{
    const ft_x_operation *o = &a->operation;
    int8_t *holder = &m->holder[o->object];
    if (one_of(o->kind, FT_X_SEND, FT_X_CLOSE)) return carry_out_channel(m, a);
    if (o->kind == FT_X_WRITE_LOCK && o->value & FT_X_PREFERS_WRITERS) m->more[o->object][0]--;
    if (is_late(a) && o->kind != FT_X_WAKE) return 1;
    switch (o->kind) {
    case FT_X_QUEUE:
        m->more[o->object][0]++;
        break;
    case FT_X_CHOOSE:
        return (int64_t)a->variant;
    case FT_X_TRY_JOIN:
        a->outcome = has_ended(p, m, o->object);
        break;
    case FT_X_TRY_WRITE_LOCK:
        a->outcome = *holder < 0 && m->value[o->object] == 0;
        if (a->outcome) *holder = (int8_t)t;
        break;
    case FT_X_TRY_READ_LOCK:
        a->outcome = *holder < 0;
        m->value[o->object] += (int64_t)a->outcome;
        break;
    case FT_X_LOCK:
    case FT_X_WRITE_LOCK:
        *holder = (int8_t)t;
        break;
    case FT_X_UNLOCK:
    case FT_X_WRITE_UNLOCK:
        *holder = -1;
        break;
    case FT_X_TRY_LOCK:
        a->outcome = *holder < 0;
        if (a->outcome) *holder = (int8_t)t;
        break;
    case FT_X_WAIT:
    case FT_X_WAKE:
    case FT_X_SIGNAL:
    case FT_X_BROADCAST:
        carry_out_wait(p, m, t, a);
        if (o->kind == FT_X_WAKE) return (int64_t)a->variant;
        break;
    case FT_X_LEAVE: /* the result is known since the thread arrived */
        return m->registers[t][0];
    case FT_X_ONCE_BEGIN:
        a->outcome = !m->value[o->object];
        if (a->outcome) *holder = (int8_t)t;
        break;
    case FT_X_ONCE_END:
        *holder = -1;
        m->value[o->object] = 1;
        break;
    case FT_X_CREATE:
        m->created[o->object] = true;
        break;
    case FT_X_EXIT:
        m->over = true;
        m->failure = o->value != 0;
        break;
    default:
        return carry_out_count(m, a);
    }
    return (int64_t)a->outcome;
}

static uint32_t name_event(ft_intern *names, const machine *m, const ft_x_action *a)
{
    ft_strbuf text = {0};
    ft_strbuf_printf(&text, "%u %u %u %u %lld %llu %llu:", a->thread, a->operation.kind,
                     a->operation.object, a->operation.other, (long long)a->operation.value,
                     (unsigned long long)a->variant, (unsigned long long)a->outcome);
    FT_VEC(uint32_t) causes = {0};
    for (uint32_t i = 0; i < m->n_events; i++)
        if (depend(&m->events[i].action, a)) ft_vec_push(&causes, m->events[i].name);
    for (size_t i = 1; i < causes.len; i++) /* sorted: few */
        for (size_t k = i; k && causes.data[k] < causes.data[k - 1]; k--) {
            uint32_t x = causes.data[k];
            causes.data[k] = causes.data[k - 1];
            causes.data[k - 1] = x;
        }
    for (size_t i = 0; i < causes.len; i++) ft_strbuf_printf(&text, " %u", causes.data[i]);
    uint32_t name = ft_intern_add(names, ft_strbuf_text(&text), strlen(ft_strbuf_text(&text)));
    ft_vec_release(&causes);
    ft_strbuf_release(&text);
    return name;
}

/* AWAIT and LINGER leave the thread where it is. A late one's round goes on. */
static void after_poll(const schedule_program *p, machine *m, uint32_t t, const ft_x_action *a)
{
    if (a->operation.kind == FT_X_READY) {
        m->at[t]++;
        run_local(p, m, t);
        return;
    }
    m->rounds[t].poll.kind = FT_X_NONE;
    if (!a->variant) m->rounds[t].n = 0;
}

static void after_operation(const schedule_program *p, machine *m, uint32_t t,
                            const machine *before, const ft_x_action *a)
{
    bool polls = p->polls && t < SCHEDULE_POLLERS;
    if (!only_looks(a)) forget_round(p, m, t);
    if (polls && only_looks(a)) visit(m, t, before, a);
    m->add[t][0] = m->add[t][1] = 0;
    m->at[t]++;
    if (!m->over) run_local(p, m, t);
    if (polls && !m->over) look_for_poll(p, m, t);
    if (a->operation.kind == FT_X_CREATE) run_local(p, m, a->operation.object);
}

/* names: of events, NULL: none are wanted. */
static ft_x_action step(const schedule_program *p, machine *m, uint32_t t, uint64_t variant,
                        ft_intern *names)
{
    machine *before = p->polls ? ft_alloc(sizeof *before) : NULL;
    if (before) *before = *m;
    ft_x_action a = {.operation = pending(p, m, t), .thread = (uint16_t)t, .variant = variant};
    if (!is_poll(&a)) m->registers[t][0] = carry_out(p, m, t, &a);
    if (names) {
        assert(m->n_events < sizeof m->events / sizeof *m->events);
        uint32_t name = name_event(names, m, &a);
        m->events[m->n_events].action = a;
        m->events[m->n_events++].name = name;
    }
    if (is_poll(&a))
        after_poll(p, m, t, &a);
    else
        after_operation(p, m, t, before, &a);
    free(before);
    return a;
}

/* ---- enumeration */

/* One line for a set of events. */
static char *name_set(const machine *m)
{
    uint32_t sorted[256];
    ft_strbuf text = {0};
    for (uint32_t i = 0; i < m->n_events; i++) {
        uint32_t k = i;
        for (; k && sorted[k - 1] > m->events[i].name; k--) sorted[k] = sorted[k - 1];
        sorted[k] = m->events[i].name;
    }
    ft_strbuf_puts(&text, "");
    for (uint32_t i = 0; i < m->n_events; i++) ft_strbuf_printf(&text, "%u ", sorted[i]);
    char *name = ft_strdup(ft_strbuf_text(&text));
    ft_strbuf_release(&text);
    return name;
}

/* Names of events are numbers by first appearance, so all that is compared has to share them. */
static ft_intern event_names;
static const schedule_program *named;

static void share_names(const schedule_program *p)
{
    if (named == p) return;
    ft_intern_release(&event_names);
    event_names = (ft_intern){0};
    named = p;
}

typedef struct enumeration {
    const schedule_program *p;
    schedule_classes *found;
    ft_intern configurations, ends;
    uint64_t limit;
} enumeration;

static void note_end(enumeration *e, const machine *m)
{
    ft_strbuf text = {0};
    bool stuck = false;
    for (uint32_t t = 0; t < e->p->n_threads; t++)
        stuck = stuck || (!m->over && m->created[t] && !has_ended(e->p, m, t));
    e->found->classes++;
    e->found->stuck += stuck;
    e->found->failing += m->over && m->failure;
    char *name = name_set(m);
    ft_intern_add(&e->found->names, name, strlen(name));
    free(name);
    if (stuck || (m->over && m->failure)) return;
    for (uint32_t i = 0; i < SCHEDULE_OBJECTS; i++)
        ft_strbuf_printf(&text, "%lld ", (long long)m->value[i]);
    for (uint32_t i = 0; i < SCHEDULE_GLOBALS; i++)
        ft_strbuf_printf(&text, "%lld ", (long long)m->globals[i]);
    ft_intern_add(&e->ends, ft_strbuf_text(&text), strlen(ft_strbuf_text(&text)));
    ft_strbuf_release(&text);
}

static bool enumerate(enumeration *e, const machine *m)
{
    bool any = false;
    for (uint32_t t = 0; t < e->p->n_threads; t++) {
        uint64_t list[FT_X_THREADS];
        uint32_t n = variants(e->p, m, t, list);
        for (uint32_t i = 0; i < n; i++) {
            machine *next = ft_alloc(sizeof *next);
            *next = *m;
            any = true;
            step(e->p, next, t, list[i], &event_names);
            char *name = name_set(next);
            uint32_t seen = e->configurations.len;
            ft_intern_add(&e->configurations, name, strlen(name));
            free(name);
            bool go = seen == e->configurations.len || enumerate(e, next);
            free(next);
            if (!go || e->configurations.len > e->limit) return false;
        }
    }
    if (!any) note_end(e, m);
    return true;
}

bool ft_schedules_enumerate(const schedule_program *p, uint64_t limit, schedule_classes *found)
{
    *found = (schedule_classes){0};
    enumeration e = {.p = p, .found = found, .limit = limit};
    machine *m = ft_alloc(sizeof *m);
    share_names(p);
    begin(p, m);
    bool whole = enumerate(&e, m);
    found->ends = e.ends.len;
    free(m);
    ft_intern_release(&e.configurations);
    ft_intern_release(&e.ends);
    return whole;
}

typedef struct counting {
    const schedule_program *p;
    uint64_t n, limit;
    uint32_t preemptions;
    ft_intern *names;
} counting;

static void count_from(counting *c, const machine *m, uint32_t running, uint32_t used)
{
    bool any = false;
    uint64_t list[FT_X_THREADS];
    bool goes_on = running < c->p->n_threads && can_go_on(c->p, m, running);
    for (uint32_t t = 0; t < c->p->n_threads && c->n <= c->limit; t++) {
        uint32_t n = variants(c->p, m, t, list), cost = used + (goes_on && t != running);
        any = any || n;
        for (uint32_t i = 0; i < n && cost <= c->preemptions; i++) {
            machine *next = ft_alloc(sizeof *next);
            *next = *m;
            step(c->p, next, t, list[i], c->names ? &event_names : NULL);
            count_from(c, next, t, cost);
            free(next);
        }
    }
    if (any) return;
    c->n++;
    if (!c->names) return;
    char *name = name_set(m);
    ft_intern_add(c->names, name, strlen(name));
    free(name);
}

uint64_t ft_schedules_count(const schedule_program *p, uint32_t preemptions, uint64_t limit,
                            ft_intern *names)
{
    counting c = {.p = p, .limit = limit, .preemptions = preemptions, .names = names};
    machine *m = ft_alloc(sizeof *m);
    share_names(p);
    begin(p, m);
    count_from(&c, m, UINT32_MAX, 0);
    free(m);
    return c.n > limit ? UINT64_MAX : c.n;
}

void ft_schedules_release(schedule_classes *found)
{
    ft_intern_release(&found->names);
}

char *ft_schedules_name(const schedule_program *p, const ft_x_action *steps, size_t n)
{
    machine *m = ft_alloc(sizeof *m);
    share_names(p);
    begin(p, m);
    for (size_t i = 0; i < n; i++) {
        uint64_t list[FT_X_THREADS];
        if (!variants(p, m, steps[i].thread, list)) return free(m), NULL;
        step(p, m, steps[i].thread, steps[i].variant, &event_names);
    }
    char *name = name_set(m);
    free(m);
    return name;
}

/* ---- for the other files of the oracle */

ft_x_watches *ft_schedules_watches(void)
{
    if (!watches) watches = ft_x_watches_new();
    return watches;
}

void ft_schedules_begin(const schedule_program *p, machine *m)
{
    begin(p, m);
}

ft_x_operation ft_schedules_pending(const schedule_program *p, const machine *m, uint32_t t)
{
    return pending(p, m, t);
}

uint32_t ft_schedules_variants(const schedule_program *p, const machine *m, uint32_t t,
                               uint64_t list[FT_X_THREADS])
{
    return variants(p, m, t, list);
}

ft_x_action ft_schedules_step(const schedule_program *p, machine *m, uint32_t t, uint64_t variant)
{
    return step(p, m, t, variant, NULL);
}

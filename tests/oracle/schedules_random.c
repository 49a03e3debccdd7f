/* Random programs for oracle/schedules.h: nested sections, waits under their mutex, attempts whose
 * outcome decides a branch, data under locks, and orders of locks that deadlock. */
#include "oracle/schedules.h"

#include <string.h>

#include "base/contract.h"

/* Objects by class: the numbers are apart, as an executor's are. */
enum {
    MUTEXES = 0,
    CONDITIONS = 3,
    SEMAPHORES = 5,
    ATOMICS = 7,
    RWLOCKS = 9,
    BARRIERS = 10,
    ONCES = 11,
    CHANNELS = 12, /* two */
    MEMORY = 14
};

typedef struct maker {
    schedule_program *p;
    uint64_t random;
    uint32_t thread, budget;
    bool held[3];
    bool only_locks; /* mutexes and conditions */
} maker;

static uint32_t draw(maker *m, uint32_t n)
{
    m->random = m->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)((m->random >> 33) % n);
}

static void emit(maker *m, uint32_t kind, uint32_t object, uint32_t other, int64_t value,
                 int64_t value2)
{
    uint32_t *n = &m->p->length[m->thread];
    assert(*n < SCHEDULE_CODE);
    m->p->code[m->thread][(*n)++] = (ft_x_operation){
        .kind = (uint16_t)kind, .object = object, .other = other, .value = value, .value2 = value2};
    if (kind < FT_X_KINDS && m->budget) m->budget--;
}

static bool has_room(const maker *m)
{
    return m->budget && m->p->length[m->thread] + 16 < SCHEDULE_CODE;
}

static void block(maker *m, uint32_t depth);

/* The instructions in between, unless (or if) register 0 is the value. */
static void branch(maker *m, uint32_t kind, int64_t value, uint32_t depth)
{
    uint32_t at = m->p->length[m->thread];
    emit(m, kind, 0, 0, value, 0);
    block(m, depth + 1);
    m->p->code[m->thread][at].value2 = m->p->length[m->thread] - at - 1;
}

static void section(maker *m, uint32_t mutex, uint32_t depth)
{
    emit(m, FT_X_LOCK, MUTEXES + mutex, 0, 0, 0);
    m->held[mutex] = true;
    block(m, depth + 1);
    m->held[mutex] = false;
    emit(m, FT_X_UNLOCK, MUTEXES + mutex, 0, 0, 0);
}

static void attempt(maker *m, uint32_t mutex)
{
    bool timed = draw(m, 3) == 0; /* then 1 means that the limit passed */
    emit(m, timed ? FT_X_LOCK : FT_X_TRY_LOCK, MUTEXES + mutex, 0, timed ? FT_X_TIMED : 0, 0);
    emit(m, LOCAL_SKIP_IF, 0, 0, timed, draw(m, 2) ? 1 : 2);
    emit(m, FT_X_UNLOCK, MUTEXES + mutex, 0, 0, 0);
    emit(m, LOCAL_SET, 3 + m->thread, 0, 7, 0); /* its own: no data races */
}

static void on_condition(maker *m)
{
    uint32_t c = draw(m, 2), mutex = c;
    uint32_t what = draw(m, 3);
    if (what == 0 && m->held[mutex]) {
        emit(m, FT_X_WAIT, CONDITIONS + c, MUTEXES + mutex, 0, 0);
        static const int64_t ENDS[] = {0, 0, 0, FT_X_TIMED, FT_X_TIMED | FT_X_EARLY, FT_X_SPURIOUS};
        emit(m, FT_X_WAKE, CONDITIONS + c, MUTEXES + mutex, ENDS[draw(m, 6)], 0);
    } else if (what != 0) {
        emit(m, what == 1 ? FT_X_SIGNAL : FT_X_BROADCAST, CONDITIONS + c, 0, 0, 0);
    }
}

static void on_semaphore(maker *m, uint32_t depth)
{
    static const uint32_t KINDS[] = {FT_X_TAKE, FT_X_TRY_TAKE, FT_X_POST, FT_X_COUNT};
    uint32_t kind = KINDS[draw(m, 4)];
    bool timed = kind == FT_X_TAKE && draw(m, 3) == 0;
    emit(m, kind, SEMAPHORES + draw(m, 2), 0, timed ? FT_X_TIMED : 0, 0);
    if ((timed || kind == FT_X_TRY_TAKE || kind == FT_X_COUNT) && draw(m, 2))
        branch(m, LOCAL_SKIP_IF, draw(m, 2), depth);
}

static void on_atomic(maker *m, uint32_t depth)
{
    static const uint32_t KINDS[] = {FT_X_LOAD, FT_X_LOAD, FT_X_STORE,
                                     FT_X_ADD,  FT_X_SWAP, FT_X_UPDATE};
    uint32_t kind = KINDS[draw(m, 6)];
    int64_t value = draw(m, 3), value2 = draw(m, 3);
    if (kind == FT_X_UPDATE) value2 = FT_X_UPDATE_OF(value2 ? FT_X_PLUS : FT_X_XOR, 4);
    emit(m, kind, ATOMICS + draw(m, 2), 0, value, value2);
    if (kind != FT_X_STORE && draw(m, 2)) branch(m, LOCAL_SKIP_UNLESS, draw(m, 2), depth);
}

static void on_rwlock(maker *m, uint32_t depth)
{
    bool writes = draw(m, 2);
    if (draw(m, 3) == 0) {
        emit(m, writes ? FT_X_TRY_WRITE_LOCK : FT_X_TRY_READ_LOCK, RWLOCKS, 0, 0, 0);
        emit(m, LOCAL_SKIP_IF, 0, 0, 0, 1);
        emit(m, writes ? FT_X_WRITE_UNLOCK : FT_X_READ_UNLOCK, RWLOCKS, 0, 0, 0);
        return;
    }
    int64_t behind = draw(m, 2) ? FT_X_PREFERS_WRITERS : 0;
    bool timed = writes && draw(m, 4) == 0; /* then 1 means that the limit passed */
    if (writes && behind) emit(m, FT_X_QUEUE, RWLOCKS, 0, 0, 0);
    emit(m, writes ? FT_X_WRITE_LOCK : FT_X_READ_LOCK, RWLOCKS, 0,
         behind | (timed ? FT_X_TIMED : 0), 0);
    if (timed) {
        emit(m, LOCAL_SKIP_IF, 0, 0, 1, 1);
        emit(m, FT_X_WRITE_UNLOCK, RWLOCKS, 0, 0, 0);
        return;
    }
    if (draw(m, 2)) block(m, depth + 1);
    emit(m, writes ? FT_X_WRITE_UNLOCK : FT_X_READ_UNLOCK, RWLOCKS, 0, 0, 0);
}

static void on_once(maker *m)
{
    if (draw(m, 3) == 0) {
        emit(m, draw(m, 2) ? FT_X_READ : FT_X_WRITE, MEMORY, 0, 0, 0);
        return;
    }
    emit(m, FT_X_ONCE_BEGIN, ONCES, 0, 0, 0);
    emit(m, LOCAL_SKIP_IF, 0, 0, 0, 1);
    emit(m, FT_X_ONCE_END, ONCES, 0, 0, 0);
}

static void on_channel(maker *m, uint32_t depth)
{
    static const uint32_t KINDS[] = {FT_X_SEND, FT_X_SEND,        FT_X_RECEIVE, FT_X_RECEIVE,
                                     FT_X_OPEN, FT_X_CLOSE,       FT_X_CLOSE,   FT_X_TRY_SEND,
                                     FT_X_TEST, FT_X_TRY_RECEIVE, FT_X_READY};
    uint32_t kind = KINDS[draw(m, sizeof KINDS / sizeof *KINDS)], channel = CHANNELS + draw(m, 2);
    int64_t value = 1 + draw(m, 2), value2 = 3;
    if (kind == FT_X_TRY_SEND) value2 = FT_X_ROOM(3, 1 + draw(m, 2));
    if (kind == FT_X_TEST || kind == FT_X_READY) value = 1 + draw(m, 31), value2 = FT_X_ROOM(3, 1);
    emit(m, kind, channel, kind == FT_X_READY && draw(m, 2) ? CHANNELS + 1 : 0, value, value2);
    if (kind != FT_X_SEND && kind != FT_X_READY && draw(m, 2))
        branch(m, LOCAL_SKIP_IF, draw(m, 3), depth);
}

static void on_data(maker *m, uint32_t depth)
{
    for (uint32_t mutex = 0; mutex < 3; mutex++) {
        if (!m->held[mutex]) continue;
        if (draw(m, 2)) {
            emit(m, LOCAL_SET, mutex, 0, draw(m, 2), 0);
        } else {
            emit(m, LOCAL_GET, mutex, 0, 0, 0);
            branch(m, LOCAL_SKIP_UNLESS, draw(m, 2), depth);
        }
        return;
    }
}

static void statement(maker *m, uint32_t depth)
{
    uint32_t mutex = draw(m, 3);
    switch (draw(m, m->only_locks ? 8 : 16)) {
    case 0:
    case 1:
    case 2:
        if (!m->held[mutex] || draw(m, 12) == 0) section(m, mutex, depth);
        break;
    case 3:
    case 4:
    case 5:
        on_condition(m);
        break;
    case 6:
        on_data(m, depth);
        break;
    case 7:
        emit(m, FT_X_CHOOSE, 0, 0, 2, 0);
        branch(m, LOCAL_SKIP_IF, 0, depth);
        break;
    case 8:
        attempt(m, mutex);
        break;
    case 9:
    case 10:
        on_semaphore(m, depth);
        break;
    case 11:
    case 12:
        on_atomic(m, depth);
        break;
    case 13:
        on_rwlock(m, depth);
        break;
    case 14:
        on_once(m);
        break;
    case 15:
        on_channel(m, depth);
        break;
    default:
        break;
    }
}

static void block(maker *m, uint32_t depth)
{
    for (uint32_t n = 1 + draw(m, 3); n && depth < 4 && has_room(m); n--) statement(m, depth);
}

/* `looks`: the last one to arrive may do more than the others. */
static void at_barrier(maker *m, bool looks)
{
    emit(m, FT_X_ARRIVE, BARRIERS, 0, m->p->n_threads, looks);
    emit(m, FT_X_LEAVE, BARRIERS, 0, m->p->n_threads, 1);
    m->budget++;
    if (looks) branch(m, LOCAL_SKIP_UNLESS, 1, 3);
}

schedule_program ft_schedules_random(uint64_t seed)
{
    schedule_program p = {0};
    maker m = {.p = &p, .random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
    for (int i = 0; i < 3; i++) (void)draw(&m, 2);
    p.n_threads = 2 + draw(&m, 2) + (draw(&m, 6) == 0);
    m.only_locks = draw(&m, 3) == 0;
    uint32_t size = p.n_threads == 2 ? 10 : p.n_threads == 3 ? 7 : 5;
    p.initial[SEMAPHORES] = draw(&m, 2);
    bool barrier = !m.only_locks && draw(&m, 5) == 0, looks = barrier && draw(&m, 2);
    for (m.thread = 0; m.thread < p.n_threads; m.thread++) {
        m.budget = 1 + draw(&m, size);
        memset(m.held, 0, sizeof m.held);
        block(&m, 0);
        if (barrier) at_barrier(&m, looks);
    }
    /* The first thread may create, join and outlive the last one, or end the process. */
    uint32_t last = p.n_threads - 1;
    m.thread = 0;
    if (draw(&m, 4) == 0) {
        memmove(p.code[0] + 1, p.code[0], (SCHEDULE_CODE - 1) * sizeof *p.code[0]);
        p.length[0]++;
        p.code[0][0] = (ft_x_operation){.kind = FT_X_CREATE, .object = last};
    }
    uint32_t joins = draw(&m, 12);
    if (joins < 3) emit(&m, FT_X_JOIN, last, 0, joins == 2 ? FT_X_TIMED : 0, 0);
    if (joins == 3) emit(&m, FT_X_TRY_JOIN, last, 0, 0, 0);
    if (joins > 1 && joins < 4) branch(&m, LOCAL_SKIP_IF, 1, 3);
    if (draw(&m, 6) == 0) emit(&m, FT_X_EXIT, 0, 0, 0, 0);
    return p;
}

/* ---- programs that poll */

static uint32_t place(const maker *m)
{
    return m->p->length[m->thread];
}

/* Until register 0 is the value: back to the start. A loop that counts, in a register of its own,
 * gives up after so many tries: it fails, or goes on behind what begins at *given_up. */
static void until(maker *m, int64_t value, uint32_t start, uint32_t counter, uint32_t tries,
                  uint32_t *given_up)
{
    *given_up = UINT32_MAX;
    if (!tries) {
        emit(m, LOCAL_SKIP_UNLESS, 0, 0, value, (int64_t)start - place(m) - 1);
        return;
    }
    emit(m, LOCAL_SKIP_IF, 0, 0, value, 5);
    emit(m, LOCAL_ADD, 0, counter, 1, 0);
    emit(m, LOCAL_SKIP_UNLESS, 0, counter, tries, (int64_t)start - place(m) - 1);
    emit(m, LOCAL_NEED, 0, counter, draw(m, 2) ? (int64_t)tries : -1, 0);
    emit(m, LOCAL_SET, 3 + m->thread, 0, 9, 0);
    *given_up = place(m);
    emit(m, LOCAL_SKIP_IF, 0, counter, tries, 0);
}

static void behind(maker *m, uint32_t given_up)
{
    if (given_up == UINT32_MAX) return;
    m->p->code[m->thread][given_up].value2 = (int64_t)place(m) - given_up - 1;
}

static void spin(maker *m, uint32_t counter, uint32_t tries)
{
    uint32_t start = place(m), given_up, either = UINT32_MAX;
    int64_t value = 1 + draw(m, 2);
    if (draw(m, 3) == 0) { /* one of two */
        emit(m, FT_X_LOAD, ATOMICS + draw(m, 2), 0, 0, 0);
        either = place(m);
        emit(m, LOCAL_SKIP_IF, 0, 0, value, 0);
    }
    emit(m, FT_X_LOAD, ATOMICS + draw(m, 2), 0, 0, 0);
    until(m, value, start, counter, tries, &given_up);
    behind(m, given_up);
    behind(m, either);
}

static void spin_lock(maker *m, uint32_t counter, uint32_t tries)
{
    static const uint32_t KINDS[] = {FT_X_SWAP, FT_X_TRY_LOCK, FT_X_TRY_TAKE},
                          GIVES[] = {FT_X_STORE, FT_X_UNLOCK, FT_X_POST},
                          OBJECTS[] = {ATOMICS + 1, MUTEXES, SEMAPHORES};
    uint32_t which = draw(m, 3), start = place(m), given_up;
    emit(m, KINDS[which], OBJECTS[which], 0, 0, 1);
    until(m, 1, start, counter, tries, &given_up);
    if (draw(m, 2)) emit(m, FT_X_ADD, ATOMICS, 0, 1, 0);
    emit(m, GIVES[which], OBJECTS[which], 0, 0, 0);
    behind(m, given_up);
}

schedule_program ft_schedules_random_polls(uint64_t seed, bool counted)
{
    schedule_program p = {.polls = 3};
    maker m = {.p = &p, .random = seed * UINT64_C(0xd1342543de82ef95) + 7};
    for (int i = 0; i < 3; i++) (void)draw(&m, 2);
    p.n_threads = 2 + (draw(&m, 3) == 0);
    p.initial[SEMAPHORES] = 1;
    for (m.thread = 0; m.thread < p.n_threads; m.thread++) {
        m.budget = 30;
        for (uint32_t n = 1 + draw(&m, p.n_threads == 2 ? 3 : 2); n; n--) {
            uint32_t tries = counted && draw(&m, 2) ? 1 + draw(&m, 6) : 0;
            uint32_t counter = 1 + n % 3;
            switch (draw(&m, 6)) {
            case 0:
            case 1:
                spin(&m, counter, tries);
                break;
            case 2:
            case 3:
                spin_lock(&m, counter, tries);
                break;
            case 4:
                emit(&m, FT_X_STORE, ATOMICS + draw(&m, 2), 0, draw(&m, 3), 0);
                break;
            default:
                emit(&m, FT_X_ADD, ATOMICS + draw(&m, 2), 0, 1, 0);
            }
        }
    }
    return p;
}

void ft_schedules_print(const schedule_program *p, ft_strbuf *out)
{
    static const char *const LOCAL[] = {"set", "put",  "get", "skip-if", "skip-unless",
                                        "add", "copy", "use", "need"};
    for (uint32_t t = 0; t < p->n_threads; t++) {
        ft_strbuf_printf(out, "thread %u\n", t);
        for (uint32_t i = 0; i < p->length[t]; i++) {
            const ft_x_operation *o = &p->code[t][i];
            const char *name = o->kind < FT_X_KINDS ? ft_x_kind_name((ft_x_kind)o->kind)
                                                    : LOCAL[o->kind - FT_X_KINDS];
            ft_strbuf_printf(out, "  %2u %s %u %u %lld %lld\n", i, name, o->object, o->other,
                             (long long)o->value, (long long)o->value2);
        }
    }
}

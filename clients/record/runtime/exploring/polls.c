/* Threads that poll: a thread that comes back to a place as it was, and did nothing in between but
 * attempts that changed nothing, would do the same again (explore/watch.h). It stands before AWAIT
 * then, and before LINGER where it does not come back as it was but had the same results for some
 * rounds.
 *
 * As it was: its registers, the memory of its stack that is in use, its thread-local memory; and no
 * write of instrumented code elsewhere. */
#include <string.h>
#include <unwind.h>

#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"

enum { VISITS = 64, PLAIN_READS = 1000 };

typedef struct visit {
    const void *pc;
    uint64_t state; /* a hash of the thread's */
    ft_x_attempt attempt;
} visit;

/* Of each thread: what it did since it last changed anything. */
static struct poller {
    visit visits[VISITS];
    uint32_t n;
    uint64_t state; /* at its attempt at hand */
    int64_t before; /* what the atomic held before that */
    /* loops of plain reads alone */
    uint32_t reads;   /* since its last action or write */
    const void *pc;   /* a place to which it came back */
    uint64_t was;     /* and its state there */
    uint32_t late_at; /* steps of the run when it went on late for nothing; 0: it did not */
} pollers[FT_X_THREADS];

static struct poller *own(void)
{
    return &pollers[ft_rt_x_self->number];
}

/* ---- the state of a thread */

static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 32;
}

/* The caller's frame in the program: what its call keeps, and where its stack begins. */
typedef struct caller {
    uintptr_t pc, stack;
    uint64_t registers;
} caller;

/* Numbers of rbx, rbp and r12 to r15 as debug information has them; the others a call may change.
 */
static _Unwind_Reason_Code find_caller(struct _Unwind_Context *frame, void *context)
{
    static const int KEPT[] = {3, 6, 12, 13, 14, 15};
    caller *c = context;
    if (_Unwind_GetIP(frame) != c->pc) return _URC_NO_REASON;
    c->stack = _Unwind_GetCFA(frame);
    for (size_t i = 0; i < sizeof KEPT / sizeof *KEPT; i++)
        c->registers = mix(c->registers, _Unwind_GetGR(frame, KEPT[i]));
    return _URC_END_OF_STACK;
}

/* A hash of the thread's state; 0: unknown. The unwinder's own locks are left out. */
static uint64_t state_at(const void *pc)
{
    ft_rt_x_thread *self = ft_rt_x_self;
    caller c = {.pc = (uintptr_t)pc, .registers = 1};
    ft_rt_x_self = NULL;
    _Unwind_Backtrace(find_caller, &c);
    ft_rt_x_self = self;
    uintptr_t end = self->stack_end ? self->stack_end : self->pointer;
    if (!c.stack || c.stack > end || end - c.stack > self->stack) return 0;
    const uint64_t *from = (const uint64_t *)(c.stack & ~(uintptr_t)7);
    size_t n = (end - (uintptr_t)from) / sizeof *from;
    uint64_t h = mix(c.registers, n);
    for (size_t i = 0; i < n; i++) h = mix(h, from[i]);
    return h | 1;
}

/* ---- rounds */

static bool is_attempt(const ft_x_operation *o)
{
    ft_x_kind kind = (ft_x_kind)o->kind;
    if (kind == FT_X_READ && o->value == FT_RT_X_OF_FILE)
        return false; /* the kernel's state changes */
    return ft_x_kind_class(kind) == FT_X_ATOMIC || kind == FT_X_TRY_LOCK || kind == FT_X_TRY_TAKE ||
           kind == FT_X_TRY_READ_LOCK || kind == FT_X_TRY_WRITE_LOCK || kind == FT_X_TEST ||
           kind == FT_X_TRY_RECEIVE || kind == FT_X_TRY_SEND || kind == FT_X_READ;
}

static bool same_operation(const ft_x_operation *a, const ft_x_operation *b)
{
    return a->kind == b->kind && a->object == b->object && a->value == b->value &&
           a->value2 == b->value2;
}

static bool same_attempt(const ft_x_attempt *a, const ft_x_attempt *b)
{
    return a->result == b->result && a->operation.kind == b->operation.kind &&
           a->operation.object == b->operation.object && a->operation.value == b->operation.value &&
           a->operation.value2 == b->operation.value2;
}

/* How many rounds in a row, up to now, ended at this place with the results of the last one, which
 * begins at *first. */
static uint32_t equal_rounds(const struct poller *p, const void *pc, uint32_t *first)
{
    uint32_t rounds = 0, last = p->n;
    while (last && p->visits[last - 1].pc != pc) last--;
    if (!last) return 0;
    *first = last - 1;
    uint32_t length = p->n - *first;
    for (uint32_t end = p->n; end >= length; end -= length, rounds++)
        for (uint32_t i = 0; i < length; i++)
            if (p->visits[end - length + i].pc != p->visits[*first + i].pc ||
                !same_attempt(&p->visits[end - length + i].attempt, &p->visits[*first + i].attempt))
                return rounds;
    return rounds;
}

/* The operation that watches the attempts from the first one on, logged for the explorer. */
static ft_x_operation watch(const struct poller *p, ft_x_kind kind, uint32_t first)
{
    ft_exploring_slot *s = ft_rt_x.slot;
    uint32_t n = p->n - first;
    if (s->n_watches == FT_EXPLORING_WATCHES || s->n_attempts + n > FT_EXPLORING_ATTEMPTS)
        ft_rt_x_refuse("more rounds of polling than one run may have", p->visits[first].pc);
    s->watches[s->n_watches] = (ft_exploring_watch){.first = s->n_attempts, .n = n};
    for (uint32_t i = 0; i < n; i++) s->attempts[s->n_attempts++] = p->visits[first + i].attempt;
    return (ft_x_operation){.kind = (uint16_t)kind, .value = s->n_watches++};
}

const ft_x_attempt *ft_x_watched(const ft_x_watches *w, const ft_x_operation *poll, size_t *n)
{
    const ft_exploring_slot *s = ft_rt_x.slot;
    (void)w;
    assert(poll->value >= 0 && poll->value < s->n_watches);
    *n = s->watches[poll->value].n;
    return &s->attempts[s->watches[poll->value].first];
}

/* Before the first choice nobody else is there to make it come. */
static bool is_there(const ft_x_attempt *attempts, uint32_t n, const void *pc)
{
    ft_x_choice choices[FT_X_THREADS];
    for (uint32_t i = 0; i < n; i++)
        if (ft_x_choices(&ft_rt_x.state, ft_rt_x_number(), &attempts[i].operation, choices) &&
            (int64_t)choices[0].outcome != attempts[i].result)
            return true;
    ft_rt_x_refuse("a wait without end before the first thread is created", pc);
}

bool ft_rt_x_wait_for(const ft_x_attempt *attempts, uint32_t n, int ms, const void *pc)
{
    bool limited = ms >= 0;
    struct poller p = {.n = n < VISITS ? n : VISITS};
    if (n > VISITS) ft_rt_x_refuse("a wait for more than 64 channels at once", pc);
    for (uint32_t i = 0; i < n; i++) p.visits[i] = (visit){.pc = pc, .attempt = attempts[i]};
    if (!ft_rt_x.begun && limited) return false;
    if (!ft_rt_x.begun) return is_there(attempts, n, pc);
    ft_x_operation ready = watch(&p, FT_X_READY, 0);
    ready.other = limited ? FT_X_TIMED : 0;
    ft_rt_x_self->limit = limited ? (uint32_t)ms : 0;
    return ft_rt_x_announce(&ready, pc).variant == FT_X_IN_TIME;
}

static void forget(struct poller *p)
{
    p->n = p->reads = p->late_at = 0;
}

bool ft_rt_x_polls(const ft_x_operation *o, const void *pc, ft_x_operation *poll)
{
    struct poller *p = own();
    uint32_t first = 0;
    p->reads = 0;
    if (!is_attempt(o) || !ft_rt_x.begun) return forget(p), false;
    p->state = state_at(pc);
    for (uint32_t i = p->n; i-- > 0 && p->state;) {
        if (p->visits[i].pc != pc || p->visits[i].state != p->state) continue;
        if (!same_operation(&p->visits[i].attempt.operation, o)) continue;
        *poll = watch(p, FT_X_AWAIT, i);
        return true;
    }
    if (equal_rounds(p, pc, &first) < ft_rt_x_header->options.polls) return false;
    *poll = watch(p, FT_X_LINGER, first);
    return true;
}

/* Another action of the same call: the thread is where it was because it has not left. */
void ft_rt_x_goes_on(void)
{
    struct poller *p = own();
    p->reads = 0;
    p->state = 0;
}

void ft_rt_x_polled(const ft_x_choice *choice)
{
    if (!choice->variant) forget(own()); /* after a late one its round goes on */
}

void ft_rt_x_attempts(const ft_x_operation *o)
{
    if (ft_x_kind_class((ft_x_kind)o->kind) == FT_X_ATOMIC)
        pollers[ft_rt_x.running->number].before = ft_rt_x_state(o->object)->value;
}

/* The result of the attempt; false: the attempt changed something. */
static bool result_of(const struct poller *p, const ft_x_operation *o, const ft_x_choice *choice,
                      int64_t *result)
{
    if (o->kind == FT_X_READ) {
        *result = ft_rt_x_state(o->object)->value;
        return true;
    }
    if (ft_x_kind_class((ft_x_kind)o->kind) == FT_X_ATOMIC) {
        *result = p->before;
        return ft_rt_x_state(o->object)->value == p->before;
    }
    *result = (int64_t)choice->outcome;
    return o->kind == FT_X_TEST || !choice->outcome || choice->outcome == FT_X_WOULD_WAIT;
}

void ft_rt_x_attempted(const ft_x_operation *o, const void *pc, const ft_x_choice *choice)
{
    struct poller *p = own();
    int64_t result;
    if (!is_attempt(o) || !ft_rt_x.begun) return;
    if (!result_of(p, o, choice, &result)) return forget(p);
    if (p->n == VISITS) memmove(p->visits, p->visits + 1, --p->n * sizeof *p->visits);
    p->visits[p->n++] =
        (visit){.pc = pc, .state = p->state, .attempt = {.operation = *o, .result = result}};
}

/* ---- plain accesses */

void ft_rt_x_wrote(uintptr_t address)
{
    struct poller *p = own();
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    const ft_rt_x_thread *self = ft_rt_x_self;
    uintptr_t end = self->stack_end ? self->stack_end : self->pointer;
    if (address < here || address >= end || end - here > self->stack) forget(p);
}

/* A loop of plain reads has no action, so its thread lingers with nothing to watch. Where it went
 * on late and came here again without any other step, it waits for ever. */
static void spin(struct poller *p, const void *pc)
{
    bool in_vain = p->late_at == ft_rt_x.slot->n_steps;
    p->n = 0;
    ft_x_operation o = watch(p, in_vain ? FT_X_AWAIT : FT_X_LINGER, 0);
    ft_rt_x_announce(&o, pc);
    *p = (struct poller){.late_at = ft_rt_x.slot->n_steps};
}

void ft_rt_x_read(const void *pc)
{
    struct poller *p = own();
    if (++p->reads < PLAIN_READS || !ft_rt_x.begun) return;
    uint64_t state = state_at(pc);
    if (p->pc == pc && state && p->was == state) return spin(p, pc);
    if (p->pc != pc && p->reads % PLAIN_READS) return; /* a place among them, for a while */
    p->pc = pc;
    p->was = state;
}

/* Time and random numbers of an exploration. Both depend on what the thread has behind it alone, so
 * that equal histories have equal inputs in every run.
 *
 * Time stands still but for *ticks*: looks at a clock, sleeps, limits that passed. A clock shows
 * what it showed at the first choice, and the ticks in the causal past of the thread that looks: it
 * never goes back from a cause to its effect. Looks without an action between them are farther and
 * farther apart, so that a loop that waits for a time ends. */
#include <time.h>

#include "exploring/run.h"
#include "libc/contract.h"
#include "libc/libc.h"

enum { TICKS = 4096, CLOCKS = 12, SECOND = 1000000000, MS = 1000000, LOOK = 1000, DOUBLINGS = 32 };

static struct timespec bases[CLOCKS]; /* at the first choice */

static struct inputs {
    struct tick {
        uint32_t thread, at; /* steps of the run that were done */
        int64_t ns;
    } ticks[TICKS];
    uint32_t n_ticks;
    uint32_t looks[FT_X_THREADS], steps[FT_X_THREADS]; /* by thread: since its so many-th step */
    uint64_t drawn[FT_X_THREADS];                      /* random numbers */
} inputs;

/* ---- time */

void ft_rt_x_inputs_begin(void)
{
    for (clockid_t c = 0; c < CLOCKS; c++)
        if (FT_REAL(clock_gettime)(c, &bases[c])) bases[c] = (struct timespec){0};
}

/* Adds to the last tick where no step of the run has come since. */
void ft_rt_x_passes(int64_t ns)
{
    uint32_t self = ft_rt_x_number(), now = ft_rt_x.slot ? ft_rt_x.slot->n_steps : 0;
    struct tick *last = inputs.n_ticks ? &inputs.ticks[inputs.n_ticks - 1] : NULL;
    if (!ft_rt_x.begun || ns <= 0) return;
    if (last && last->thread == self && last->at == now) {
        last->ns += ns;
        return;
    }
    if (inputs.n_ticks == TICKS) ft_rt_x_refuse("more looks at clocks than one run may have", NULL);
    inputs.ticks[inputs.n_ticks++] = (struct tick){.thread = self, .at = now, .ns = ns};
}

void ft_rt_x_sleeps(int64_t ns, const void *pc)
{
    ft_rt_x_thread *self = ft_rt_x_self;
    int64_t ms = ns / MS;
    ft_rt_x_passes(ns);
    if (!ft_rt_x.begun || ms <= 0) return;
    uint32_t most = UINT32_MAX / 4, n = ms < most ? (uint32_t)ms : most;
    if (n > self->longest) {
        self->longest = n;
        self->slept_at = pc;
    }
    self->slept = self->slept < most ? self->slept + n : most;
}

uint32_t ft_rt_x_now(void)
{
    return ft_rt_x.begun ? ft_rt_x.slot->n_steps : 0;
}

/* By thread: the steps of the run up to its last one in the causal past of the calling thread. */
static void find_past(uint32_t past[FT_X_THREADS])
{
    static uint32_t causes[FT_X_THREADS * 64];
    uint32_t n = 0, self = ft_rt_x_number();
    for (uint32_t t = 0; t < FT_X_THREADS; t++) past[t] = 0;
    for (uint32_t i = ft_rt_x.slot->n_steps; i-- > 0;) {
        const ft_x_action *a = &ft_rt_x.steps[i].action;
        bool is_cause = a->thread == self || past[a->thread];
        for (uint32_t k = 0; k < n && !is_cause; k++)
            is_cause = ft_x_dependent(a, &ft_rt_x.steps[causes[k]].action);
        if (!is_cause) continue;
        if (!past[a->thread]) past[a->thread] = i + 1;
        if (n < sizeof causes / sizeof *causes) causes[n++] = i;
    }
}

static int64_t elapsed(void)
{
    uint32_t past[FT_X_THREADS], self = ft_rt_x_number();
    int64_t ns = 0;
    if (!inputs.n_ticks) return 0;
    find_past(past);
    for (uint32_t i = 0; i < inputs.n_ticks; i++) {
        const struct tick *t = &inputs.ticks[i];
        if (t->thread == self || past[t->thread] > t->at) ns += t->ns;
    }
    return ns;
}

static void look(void)
{
    ft_rt_x_thread *self = ft_rt_x_self;
    uint32_t *looks = &inputs.looks[self->number];
    if (inputs.steps[self->number] != self->steps) *looks = 0;
    inputs.steps[self->number] = self->steps;
    ft_rt_x_passes((int64_t)LOOK << (*looks < DOUBLINGS ? (*looks)++ : DOUBLINGS));
}

int ft_rt_x_time(clockid_t clock, struct timespec *t)
{
    if (!ft_rt_x.begun || clock < 0 || clock >= CLOCKS) return FT_REAL(clock_gettime)(clock, t);
    look();
    int64_t ns = bases[clock].tv_nsec + elapsed();
    *t = (struct timespec){.tv_sec = bases[clock].tv_sec + ns / SECOND, .tv_nsec = ns % SECOND};
    return 0;
}

/* ---- random numbers: by who draws, and how often he did */

static uint64_t name_of(const ft_rt_x_thread *t)
{
    uint64_t name = t->nth + 1;
    for (; t->number; t = &ft_rt_x.threads[t->parent])
        name = name * UINT64_C(0x9E3779B97F4A7C15) + ft_rt_x.threads[t->parent].nth;
    return name;
}

uint64_t ft_rt_x_random(void)
{
    ft_rt_x_thread *self = ft_rt_x_self;
    uint64_t x = name_of(self) ^ ++inputs.drawn[self->number] * UINT64_C(0xD1342543DE82EF95);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9); /* splitmix64 */
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

void ft_rt_x_random_bytes(void *to, size_t n)
{
    unsigned char *bytes = to;
    for (size_t i = 0; i < n; i++) bytes[i] = (unsigned char)(ft_rt_x_random() >> 32);
}

ft_raw_unset *ft_rt_x_unset_inputs(void)
{
    return ft_rt_x_header->unset;
}

int ft_rt_x_pid(void)
{
    return (int)ft_rt_x_header->server;
}

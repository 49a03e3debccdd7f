/* Timers, and objects of the kernel that pass content between threads besides descriptors: message
 * queues and System V semaphores. */
#include <errno.h>
#include <mqueue.h>
#include <signal.h>
#include <string.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "accesses/accesses.h"
#include "inputs/channels.h"
#include "inputs/inputs.h"
#include "libc/contract.h"
#include "libc/libc.h"
#include "log/log.h"
#include "process/process.h"
#include "raw/raw.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"
#include "world/world.h"

#define CODE __builtin_return_address(0)

/* ---- timers. The C library runs the function of a SIGEV_THREAD timer on threads that it creates
 * for itself; here one thread that the recorder sees runs it. */

enum { TIMERS = 256, ALARMS = 1 << 16 };

typedef struct clockwork {
    struct sigevent event;
    clockid_t clock;
    timer_t timer;
    int result, error; /* of timer_create; result -2: not there yet */
    pid_t tid;
    bool deleted;
    bool used;
} clockwork;

static clockwork clockworks[TIMERS];

/* Which signal each timer sends. With the baton. */
static struct {
    struct {
        timer_t timer;
        int number;
    } * all;
    uint32_t n;
} alarms;

static uint32_t find_alarm(timer_t timer)
{
    uint32_t i = 0;
    while (i < alarms.n && alarms.all[i].timer != timer) i++;
    return i;
}

static void add_alarm(timer_t timer, int number)
{
    if (!alarms.all) alarms.all = ft_rt_map(ALARMS * sizeof *alarms.all);
    uint32_t i = find_alarm(timer);
    if (i == ALARMS) return;
    alarms.all[i].timer = timer;
    alarms.all[i].number = number;
    if (i == alarms.n) alarms.n++;
}

static void remove_alarm(timer_t timer)
{
    uint32_t i = find_alarm(timer);
    assert(alarms.n <= ALARMS);
    if (i < alarms.n) alarms.all[i] = alarms.all[--alarms.n];
}

/* In every schedule the creator goes on after the first steps of its timer's thread. */
static void tell_start(const clockwork *w, uint32_t direction)
{
    ft_rt_channel(FT_RAW_CHANNEL_TAKEN | (uintptr_t)w, direction,
                  (const char *)(uintptr_t)w->event.sigev_notify_function + 1);
}

static void wake_creator(clockwork *w)
{
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    tell_start(w, FT_RAW_CHANNEL_OUT);
    ft_rt_wake_all(w);
    ft_rt_leave(self);
}

static int next_tick(const sigset_t *set)
{
    ft_rt_thread *self = ft_rt_enter();
    int number;
    if (self) ft_rt_outside(self);
    do number = FT_REAL(sigwaitinfo)(set, NULL);
    while (number < 0 && errno == EINTR);
    return number;
}

static void tick(const clockwork *w)
{
    ft_rt_thread *self = ft_rt_enter();
    if (self) {
        ft_rt_signal_channel(SIGRTMAX, true,
                             (const char *)(uintptr_t)w->event.sigev_notify_function + 1);
        ft_rt_leave(self);
    }
    w->event.sigev_notify_function(w->event.sigev_value);
}

static void *run_clockwork(void *argument)
{
    clockwork *w = argument;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMAX};
    sigset_t all, ours;
    sigfillset(&all);
    FT_REAL(pthread_sigmask)(SIG_SETMASK, &all, NULL);
    w->tid = event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    w->result = FT_REAL(timer_create)(w->clock, &event, &w->timer);
    w->error = errno;
    wake_creator(w);
    sigemptyset(&ours);
    sigaddset(&ours, SIGRTMAX);
    while (!w->result && next_tick(&ours) > 0 && !w->deleted) tick(w);
    w->used = false;
    return NULL;
}

static clockwork *free_clockwork(void)
{
    for (int i = 0; i < TIMERS; i++)
        if (!clockworks[i].used) return &clockworks[i];
    return NULL;
}

static int start_clockwork(ft_rt_thread *self, clockwork *w, const void *pc)
{
    pthread_t handle;
    pthread_attr_t attributes;
    FT_REQUIRE(self == ft_rt_self && self->inside);
    assert(w->used && w->result == -2); /* no other thread takes it, and its own has not run */
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    self->inside = false;
    int result = ft_rt_create_from(&handle, &attributes, run_clockwork, w,
                                   (const void *)(uintptr_t)w->event.sigev_notify_function, pc);
    ft_rt_enter();
    pthread_attr_destroy(&attributes);
    while (!result && w->result == -2) ft_rt_block(self, w, NULL);
    if (!result) tell_start(w, FT_RAW_CHANNEL_IN);
    if (!result && !w->result) return 0;
    errno = result ? EAGAIN : w->error;
    w->used = false;
    return -1;
}

/* The program names the thread that gets the signal by the number that it knows. */
static int create(clockid_t clock, const struct sigevent *event, timer_t *timer)
{
    struct sigevent own;
    if (event) own = *event;
    if (event && event->sigev_notify == SIGEV_THREAD_ID)
        own._sigev_un._tid = ft_rt_task(event->_sigev_un._tid);
    return FT_REAL(timer_create)(clock, event ? &own : NULL, timer);
}

int timer_create(clockid_t clock, struct sigevent *restrict event, timer_t *restrict timer)
{
    ft_rt_world_refuse(FT_RT_WORLD_TIMER, "timer_create", CODE);
    ft_rt_thread *self = ft_rt_enter();
    bool runs = self && event && event->sigev_notify == SIGEV_THREAD;
    clockwork *w = runs ? free_clockwork() : NULL;
    if (runs && !w)
        ft_rt_say(
            "more than 256 timers with functions (SIGEV_THREAD): the functions of the others are "
            "not recorded");
    int result, number = event ? event->sigev_signo : SIGALRM;
    timer_t made;
    ft_rt_timers = true;
    if (w) {
        *w = (clockwork){.event = *event, .clock = clock, .result = -2, .used = true};
        result = start_clockwork(self, w, CODE);
        number = SIGRTMAX;
        made = w->timer;
    } else {
        result = create(clock, event, &made);
    }
    if (self && !result) add_alarm(made, number);
    if (self) ft_rt_leave(self);
    if (result) return result;
    ft_rt_write_range(timer, sizeof *timer, CODE);
    *timer = made;
    return 0;
}

int timer_settime(timer_t timer, int flags, const struct itimerspec *restrict when,
                  struct itimerspec *restrict old)
{
    ft_rt_thread *self = ft_rt_enter();
    if (self) {
        uint32_t i = find_alarm(timer);
        if (i < alarms.n) ft_rt_signal_channel(alarms.all[i].number, false, CODE);
        self->inside = false; /* as in put_signal (process/signals.c) */
    }
    int result = FT_REAL(timer_settime)(timer, flags, when, old);
    if (!result && old) ft_rt_write_range(old, sizeof *old, CODE);
    return result;
}

int timer_delete(timer_t timer)
{
    ft_rt_thread *self = ft_rt_enter();
    int result = FT_REAL(timer_delete)(timer);
    if (self && !result) remove_alarm(timer);
    if (self) ft_rt_leave(self);
    for (int i = 0; i < TIMERS && !result; i++) {
        clockwork *w = &clockworks[i];
        if (!w->used || w->result || w->timer != timer) continue;
        w->deleted = true;
        syscall(SYS_tgkill, syscall(SYS_getpid), w->tid, SIGRTMAX);
    }
    return result;
}

/* ---- message queues and System V semaphores. All earlier calls decide which message a thread
 * gets, and whether there is one, so the calls keep their order. A replay does not feed them. */

static void pass(uint64_t kind, int id, const void *pc)
{
    uint64_t flags = FT_RAW_CHANNEL_IN | FT_RAW_CHANNEL_OUT, site = ft_rt_site(pc);
    FT_RT_LOG(CHANNEL, flags, FT_RAW_CHANNEL_OF(kind, (uint64_t)(unsigned)id), site);
}

/* The call may sleep. */
static void begin(uint64_t kind, int id, bool gives, const void *pc)
{
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    if (gives) pass(kind, id, pc);
    if (gives && kind == FT_RAW_CHANNEL_QUEUE) ft_rt_unknown_out(pc); /* others may poll it */
    ft_rt_outside(self);
}

static void end(uint64_t kind, int id, bool takes, const void *pc)
{
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return;
    if (takes) pass(kind, id, pc);
    ft_rt_leave(self);
}

static void came(void *to, ssize_t n, unsigned *priority, const void *pc)
{
    if (n < 0) return;
    ft_rt_settle(2);
    ft_rt_write_range(to, (size_t)n, pc);
    if (priority) ft_rt_write_range(priority, sizeof *priority, pc);
}

/* ...: records the results that the call leaves in the program's memory. */
#define PASSES(kind, gives, takes, result_type, name, parameters, arguments, id, ...)              \
    result_type name parameters                                                                    \
    {                                                                                              \
        ft_rt_world_refuse(FT_RT_WORLD_SHARED, #name, CODE);                                       \
        begin(FT_RAW_CHANNEL_##kind, (id), (gives), CODE);                                         \
        result_type result = (result_type)FT_REAL(name) arguments;                                 \
        int error = errno;                                                                         \
        end(FT_RAW_CHANNEL_##kind, (id), (takes), CODE);                                           \
        __VA_ARGS__;                                                                               \
        errno = error;                                                                             \
        return result;                                                                             \
    }
PASSES(QUEUE, true, false, int, mq_send, (mqd_t q, const char *from, size_t n, unsigned priority),
       (q, from, n, priority), q)
PASSES(QUEUE, true, false, int, mq_timedsend,
       (mqd_t q, const char *from, size_t n, unsigned priority, const struct timespec *until),
       (q, from, n, priority, until), q)
PASSES(QUEUE, false, true, ssize_t, mq_receive,
       (mqd_t q, char *restrict to, size_t n, unsigned *restrict priority), (q, to, n, priority), q,
       came(to, result, priority, CODE))
PASSES(QUEUE, false, true, ssize_t, mq_timedreceive,
       (mqd_t q, char *restrict to, size_t n, unsigned *restrict priority,
        const struct timespec *restrict until),
       (q, to, n, priority, until), q, came(to, result, priority, CODE))
PASSES(SETS, true, true, int, semop, (int set, struct sembuf *operations, size_t n),
       (set, operations, n), set)
PASSES(SETS, true, true, int, semtimedop,
       (int set, struct sembuf *operations, size_t n, const struct timespec *time),
       (set, operations, n, time), set)
PASSES(MESSAGES, true, false, int, msgsnd, (int q, const void *from, size_t n, int flags),
       (q, from, n, flags), q)
PASSES(MESSAGES, false, true, ssize_t, msgrcv, (int q, void *to, size_t n, long type, int flags),
       (q, to, n, type, flags), q,
       came(to, result < 0 ? -1 : result + (ssize_t)sizeof(long), NULL, CODE))

/* Inputs: results of calls that bring something from outside (raw/inputs.h), kept while recording
 * and given again while replaying.
 *
 *   ft_rt_input in;
 *   if (!ft_rt_input_begin(&in, FT_INPUT_READ, pc)) return FT_REAL(read)(fd, to, n);
 *   if (!in.fed) FT_RT_LIVE(&in, FT_RT_SLEEPS, FT_REAL(read)(fd, to, n));
 *   ft_rt_input_piece(&in, to, in.result > 0 ? (size_t)in.result : 0);
 *   return (ssize_t)ft_rt_input_end(&in);
 *
 * The thread has the baton between begin and the first piece. An input that is fed comes from the
 * recording: the system is not called, and the thread does not sleep.
 *   channels.h  what threads pass each other through a descriptor, and the order of that
 *   mirror.h    descriptors that a replay really opens
 *
 * Imports: accesses, exploring, libc, log, raw, replay, scheduling, state, world. */
#ifndef FT_RECORD_RUNTIME_INPUT_H
#define FT_RECORD_RUNTIME_INPUT_H

#include <errno.h>
#include <time.h>

#include "inputs/channels.h"
#include "inputs/mirror.h"
#include "raw/inputs.h"
#include "raw/schedule.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"

#pragma GCC visibility push(hidden)

enum { FT_RT_PIECES = 64 };

typedef struct ft_rt_piece {
    void *memory;
    size_t size;
    bool own; /* memory of the runtime, which the program does not access */
} ft_rt_piece;

struct ft_rt_input {
    ft_rt_thread *self;
    ft_input_call call;
    const void *pc;
    uint64_t takes; /* channel of a source that other threads take from too, 0: none */
    int through;    /* descriptor of a stream between threads; -1: none */
    bool fed;
    int64_t result;
    int error;
    const ft_schedule_input *given; /* fed: the recording's input */
    const unsigned char *content;   /* fed: the rest of its content, `left` bytes */
    size_t left;
    bool stays;        /* its limit has passed: it does not wait */
    uint32_t n_pieces; /* live, and in a recording: memory whose content is kept */
    ft_rt_piece pieces[FT_RT_PIECES];
    uint64_t numbers[FT_RT_PIECES]; /* memory of the pieces that are numbers */
};

/* Opens the hook. False: nothing is recorded or replayed here, and the real call alone is done. */
bool ft_rt_input_begin(ft_rt_input *in, ft_input_call call, const void *pc);
void ft_rt_input_ask(ft_rt_input *in); /* takes the recording's next answer to the call */
void ft_rt_input_outside(ft_rt_input *in, bool sleeps);
void ft_rt_input_did(ft_rt_input *in, int64_t result); /* after the real call */
/* The call wrote that memory of the program: its content is kept, or comes from the recording. */
void ft_rt_input_piece(ft_rt_input *in, void *memory, size_t size);
/* The same for memory of the runtime. */
void ft_rt_input_own(ft_rt_input *in, void *memory, size_t size);
/* A number that a replay needs again: returns it, or the recording's. */
uint64_t ft_rt_input_number(ft_rt_input *in, uint64_t number);
int64_t ft_rt_input_end(ft_rt_input *in); /* leaves the hook; sets errno, returns the result */

/* The thread during the real call: */
enum {
    FT_RT_STAYS,  /* with the baton, in the runtime */
    FT_RT_SLEEPS, /* outside: other threads run */
    FT_RT_OPEN    /* with the baton, but as the program: allocations of the call are recorded */
};
#define FT_RT_LIVE(in, how, call)                                                                  \
    do {                                                                                           \
        if ((how) != FT_RT_STAYS) ft_rt_input_outside((in), (how) == FT_RT_SLEEPS);                \
        ft_rt_input_did((in), (int64_t)(call));                                                    \
    } while (0)
/* Live, or fed. In a recording that is fed the other threads still go on where this one would have
 * slept, and streams of files are really read, so that the C library uses its buffers as before. */
#define FT_RT_GET(in, how, call)                                                                   \
    do {                                                                                           \
        int get_how = ft_rt_input_way((in), (how));                                                \
        if (!(in)->fed) {                                                                          \
            FT_RT_LIVE((in), get_how, (call));                                                     \
        } else if (ft_rt_input_given((in), get_how)) {                                             \
            (void)(call);                                                                          \
            ft_rt_enter();                                                                         \
        }                                                                                          \
        ft_rt_channel((in)->takes, FT_RAW_CHANNEL_IN | FT_RAW_CHANNEL_OUT, (in)->pc);              \
        if ((in)->through >= 0) ft_rt_fd_in((in)->through, (in)->pc);                              \
    } while (0)
/* For FT_RT_GET: the thread's state in the call; is the real call made although it is fed? */
int ft_rt_input_way(ft_rt_input *in, int how);
bool ft_rt_input_given(ft_rt_input *in, int how);

/* A whole call that returns a number and writes at most one piece of memory. */
#define FT_RT_INPUT(number, how, call, memory, size)                                               \
    ({                                                                                             \
        ft_rt_input in;                                                                            \
        bool open = ft_rt_input_begin(&in, (number), __builtin_return_address(0));                 \
        __typeof__(call) got;                                                                      \
        if (!open) {                                                                               \
            got = (call);                                                                          \
        } else {                                                                                   \
            FT_RT_GET(&in, (how), (call));                                                         \
            ft_rt_input_piece(&in, (memory), (size));                                              \
            got = (__typeof__(call))ft_rt_input_end(&in);                                          \
        }                                                                                          \
        got;                                                                                       \
    })

/* The same on descriptor `fd` (-1: none). After its last input a virtual descriptor has no more
 * content: FT_RT_ASK waits `ms` in vain (-1: forever), and FT_RT_TELL discards the content. */
#define FT_RT_ASK(in, fd, ms, call)                                                                \
    do {                                                                                           \
        ft_rt_mirror_asked((in), (fd), (ms));                                                      \
        if (!(in)->fed && ft_rt_input_is_silent(fd))                                               \
            FT_RT_LIVE((in), FT_RT_SLEEPS, ft_rt_input_silence((in), (ms)));                       \
        else                                                                                       \
            FT_RT_GET((in), ft_rt_fd_may_sleep(fd) ? FT_RT_SLEEPS : FT_RT_STAYS, call);            \
    } while (0)
#define FT_RT_TELL(in, fd, all, call)                                                              \
    do {                                                                                           \
        if (ft_rt_mirror_tells((in), (fd))) {                                                      \
            int tell_flags = ft_rt_mirror_begin(fd);                                               \
            (void)(call);                                                                          \
            ft_rt_mirror_end((fd), tell_flags);                                                    \
        }                                                                                          \
        if (!(in)->fed && ft_rt_input_is_silent(fd))                                               \
            ft_rt_input_did((in), (int64_t)(all));                                                 \
        else                                                                                       \
            FT_RT_GET((in), ft_rt_fd_may_sleep(fd) ? FT_RT_SLEEPS : FT_RT_STAYS, call);            \
    } while (0)
bool ft_rt_input_is_silent(int fd);
/* A call that waits for descriptors and has found nothing yet: does its limit pass before another
 * thread goes on (scheduling/passing.c)? Then the trace knows, and the call keeps the baton: it is
 * not to wait. */
bool ft_rt_input_passes(ft_rt_input *in, int ms);
int64_t ft_rt_input_silence(ft_rt_input *in, int ms); /* waits in vain; 0 */

/* ---- environment.c */
/* Kept with the first input: the names of the environment's variables, and their lengths. */
void ft_rt_environment_keep(ft_rt_input *in);
/* The real process or thread that the program means by that number. A program that is fed knows
 * itself, its parent and its threads by their numbers in the recording. */
pid_t ft_rt_process(pid_t pid);
pid_t ft_rt_task(pid_t tid);

/* ---- clock.c */
/* A deadline of any clock of the program as one of the machine's CLOCK_MONOTONIC. */
struct timespec ft_rt_deadline(clockid_t clock, const struct timespec *until);
/* The same as one of the machine's clock of that kind. */
struct timespec ft_rt_machine_time(clockid_t clock, const struct timespec *until);

#pragma GCC visibility pop

#endif

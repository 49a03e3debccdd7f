/* Inputs (raw/inputs.h): kept while recording, given again while replaying.
 *
 *   ft_rt_input in;
 *   if (!ft_rt_input_begin(&in, FT_INPUT_READ, pc)) return FT_REAL(read)(fd, to, n);
 *   if (!in.fed) FT_RT_LIVE(&in, FT_RT_SLEEPS, FT_REAL(read)(fd, to, n));
 *   ft_rt_input_piece(&in, to, in.result > 0 ? (size_t)in.result : 0);
 *   return (ssize_t)ft_rt_input_end(&in);
 *
 * Between begin and the first piece the thread has the baton. What is fed was not asked of the
 * system: nothing is read, nobody sleeps. */
#ifndef FT_RECORD_RUNTIME_INPUT_H
#define FT_RECORD_RUNTIME_INPUT_H

#include <errno.h>
#include <sys/socket.h>

#include "raw/inputs.h"
#include "raw/schedule.h"
#include "state/thread.h"

enum { FT_RT_PIECES = 64 };

typedef struct ft_rt_piece {
    void *memory;
    size_t size;
    bool own; /* the runtime's: nothing that the program accesses */
} ft_rt_piece;

typedef struct ft_rt_input {
    ft_rt_thread *self;
    ft_input_call call;
    const void *pc;
    uint64_t takes; /* channel of what others take content from too, 0: none */
    int through;    /* a stream's descriptor, where threads send each other something; -1: none */
    bool fed;
    int64_t result;
    int error;
    const ft_schedule_input *given; /* fed */
    const unsigned char *content;   /* fed: what is left of it */
    size_t left;
    uint32_t n_pieces; /* live, and in a recording: what is to be kept */
    ft_rt_piece pieces[FT_RT_PIECES];
    uint64_t numbers[FT_RT_PIECES]; /* behind pieces that are one */
} ft_rt_input;

/* False: nothing is recorded or replayed here, the call is done plainly. */
bool ft_rt_input_begin(ft_rt_input *in, ft_input_call call, const void *pc);
void ft_rt_input_ask(ft_rt_input *in); /* for the next answer that the recording has to it */
void ft_rt_input_outside(ft_rt_input *in, bool sleeps);
void ft_rt_input_did(ft_rt_input *in, int64_t result); /* behind the real call */
/* The call wrote that memory of the program: it is kept, or filled. */
void ft_rt_input_piece(ft_rt_input *in, void *memory, size_t size);
/* The same for memory of the runtime's own. */
void ft_rt_input_own(ft_rt_input *in, void *memory, size_t size);
/* A number that the runtime wants to know again: returns it, or the recording's. */
uint64_t ft_rt_input_number(ft_rt_input *in, uint64_t number);
int64_t ft_rt_input_end(ft_rt_input *in); /* sets errno; the result */

/* How the thread is during the real call. */
enum {
    FT_RT_STAYS,  /* with the baton, in the runtime */
    FT_RT_SLEEPS, /* outside: others run */
    FT_RT_OPEN    /* with the baton, but as the program: what the call allocates is recorded */
};
#define FT_RT_LIVE(in, how, call)                                                                  \
    do {                                                                                           \
        if ((how) != FT_RT_STAYS) ft_rt_input_outside((in), (how) == FT_RT_SLEEPS);                \
        ft_rt_input_did((in), (int64_t)(call));                                                    \
    } while (0)
/* Live, or fed. A recording is as before then: who would have slept lets others go on, and streams
 * of files are read, so that the C library does with its buffers what it did. */
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
int ft_rt_input_way(ft_rt_input *in, int how);
bool ft_rt_input_given(ft_rt_input *in, int how); /* true: do the call all the same, and enter */

/* ---- descriptor.c: flags as in raw.h, CHANNEL */
void ft_rt_channel(uint64_t channel, uint32_t flags, const void *pc); /* channel 0: none */

/* A whole call that gives a number and writes at most one piece of memory. */
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

/* The same on descriptor `fd` (-1: none). Behind its last input a virtual descriptor has no more to
 * say: who asks waits `ms` for nothing (-1: for ever), what is told it is swallowed. */
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

/* ---- mirror.c: descriptors that a replay makes as the recording did, since nobody outside has to
 * do with them */
/* What it makes is made here too. Behind the schedule's end it is made here alone, with the numbers
 * that there are. */
bool ft_rt_mirrors(ft_rt_input *in);
bool ft_rt_mirror_is_live(const ft_rt_input *in); /* in a replay, and made here alone */
/* Before an answer from the descriptor, or from a set in which it is: taken from it here too.
 * Behind the schedule's end the answer is the descriptor's own. */
void ft_rt_mirror_asked(ft_rt_input *in, int fd, int ms);
/* Whether the call is to be done here too, which is not to wait: between these two. */
bool ft_rt_mirror_tells(ft_rt_input *in, int fd);
int ft_rt_mirror_begin(int fd); /* what end wants to know */
void ft_rt_mirror_end(int fd, int flags);
void ft_rt_mirror_answers(ft_rt_input *in);   /* what is there now, whatever the recording says */
void ft_rt_mirror_watches(int epoll, int fd); /* the one is in the other's set from here on */
struct pollfd;
int ft_rt_mirror_poll(struct pollfd *fds, unsigned long n, int ms); /* of what is there really */
int64_t ft_rt_input_silence(ft_rt_input *in, int ms);               /* 0 */

/* ---- environment.c */
/* Kept with the first input: the names of its variables, and how long they are. */
void ft_rt_environment_keep(ft_rt_input *in);
void ft_rt_environment_tell(void); /* a replay went another way: those that differ, if any */

/* ---- replay.c */
/* Where that is: the offset in a module of the schedule; the address, and NONE, elsewhere. */
uint64_t ft_rt_place(const void *pc, uint32_t *module);
void ft_rt_give_up(uint32_t outcome)
    __attribute__((noreturn)); /* ends the replay and the process */

/* ---- feed.c */
void ft_rt_feed_start(ft_schedule *schedule, const ft_schedule_actor *actors,
                      const ft_schedule_input *inputs);
/* A descriptor cannot have the number that the recording says: like another input. */
void ft_rt_feed_number(ft_rt_thread *self, ft_input_call call, const void *pc);
/* The thread's next input, NULL: it is not fed, or no longer. Another one than asked for ends a
 * replay before its schedule's end, and the feeding of this thread behind it and in a recording. */
const ft_schedule_input *ft_rt_feed_input(ft_rt_thread *self, ft_input_call call, const void *pc,
                                          const unsigned char **content);
bool ft_rt_feed_is_behind(void); /* of the schedule's end: nobody looks whose turn it is */
void ft_rt_feed_outside(void);   /* behind the schedule's end somebody outside has a part in it */
void ft_rt_feed_virtual(void);   /* a descriptor was made that nothing stands behind */
/* In a recording: waits until the channel is as it was; its name in the other run. */
uint64_t ft_rt_feed_channel(ft_rt_thread *self, uint64_t channel, uint32_t flags);
void ft_rt_feed_starve(ft_rt_thread *self) __attribute__((noreturn)); /* nothing comes any more */

/* ---- descriptor.c: what stands behind a file descriptor */
typedef enum ft_rt_fd {
    FT_RT_FD_OTHER, /* inherited, or not known */
    FT_RT_FD_FILE,
    FT_RT_FD_PIPE, /* or a socket pair; from here on: virtual in a replay, which says what the
                      recording says. Behind them stands /dev/null or, mirrored, another one */
    FT_RT_FD_SOCKET,
    FT_RT_FD_EVENT,
    FT_RT_FD_EPOLL,
    FT_RT_FD_SIGNAL
} ft_rt_fd;

ft_rt_fd ft_rt_fd_kind(int fd);
static inline bool ft_rt_fd_is_virtual(int fd)
{
    return ft_rt_fd_kind(fd) >= FT_RT_FD_PIPE;
}
bool ft_rt_fd_is_mirrored(int fd); /* virtual, but there is one (mirror.c) */
bool ft_rt_fd_is_mixed(int fd);    /* a set, mirrored, with virtual ones that are not */
void ft_rt_fd_mirror(int fd, bool there);
void ft_rt_fd_mix(int fd);
int ft_rt_fd_step_aside(int real); /* the same under a number far above, or as it is */
bool ft_rt_fd_may_sleep(int fd);
void ft_rt_fd_set(int fd, ft_rt_fd kind); /* both its channels are one of its own */
uint64_t ft_rt_fd_new_channel(void);
/* Takes from there, puts there; 0: its own. So the steps are those of a replay, which joins none.
 */
void ft_rt_fd_join(int fd, uint64_t in, uint64_t out);
bool ft_rt_fd_is_joined(int fd);
void ft_rt_fd_copy(int from, int to);
void ft_rt_fd_close(int fd, const void *pc);
/* The call gave that descriptor (or -1): behind whoever closed the number before. Fed: it is made
 * so, `real` (-1: /dev/null) behind it. */
void ft_rt_fd_made(ft_rt_input *in, int number, int real);
/* The same for what is really opened, fed or not: the order of that, and its number then. */
int ft_rt_fd_numbered(ft_rt_input *in, int number, int real);
void ft_rt_fd_freed(int number, const void *pc); /* the order of that alone */
/* What a call has just opened, or -1, under a number that no other thread closed last, where there
 * is one: to be called before anybody knows the number. errno stays. */
int ft_rt_fd_apart(int fd);
/* The numbers that a thread closed last are the other's, who joined it. */
void ft_rt_fd_inherit(uint32_t from, uint32_t to);
void ft_rt_fd_keeps_locks(void); /* the program locks files by fcntl: no copies from here on */
void ft_rt_fd_start(void);       /* before the program opens anything */
/* What threads send each other through it is an order between them: something (or its end) was
 * taken; it could be, and was not; nothing was there, so what is sent comes later; it is put in. */
void ft_rt_fd_takes(int fd, const void *pc); /* before that: there will be room */
void ft_rt_fd_in(int fd, const void *pc);
void ft_rt_fd_took(const ft_rt_input *in, int fd); /* one of these, as the call's result says */
void ft_rt_fd_last(int fd, const void *pc);        /* it watches less from here on */
void ft_rt_fd_ends(int fd, const void *pc);        /* nothing more can be taken */
void ft_rt_fd_ready(int fd, const void *pc);
void ft_rt_fd_empty(int fd, const void *pc);
/* The place in a file is asked for, or set; before the program writes there. */
void ft_rt_fd_sought(int fd, const void *pc);
void ft_rt_fd_moves(int fd, const void *pc);
void ft_rt_fd_out(int fd, const void *pc);
/* A lock on the file: taken, or about to be given up. */
void ft_rt_fd_locked(int fd, bool taken, const void *pc);
/* Before so many bytes are put in: they may have to wait for those who take; and they have. */
bool ft_rt_fd_fills(int fd, size_t size);
void ft_rt_fd_room(int fd, const void *pc);

/* ---- sockets.c */
/* Its channels, once its addresses are known. */
void ft_rt_sockets_settle(int fd);
/* Sent to that address by a socket that may be connected to none. */
void ft_rt_sockets_to(int fd, const struct sockaddr *to, socklen_t length, const void *pc);
/* Every descriptor that it watches may be ready. */
void ft_rt_epoll_ready(int epoll, const void *pc);

#endif

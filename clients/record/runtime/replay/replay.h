/* Replay: following a schedule (raw/schedule.h), and feeding a run the inputs of another run.
 *
 * A replayed program records nothing. Each hook compares itself with the thread's next step in the
 * schedule, waits until it is that thread's turn, and does the step. Feeding gives each thread the
 * inputs that it got in the recording, in a replay as in a new recording under another order.
 *
 * Imports: libc, log, raw, scheduling, state, common/explore, common/trace. */
#ifndef FT_RECORD_REPLAY_H
#define FT_RECORD_REPLAY_H

#include "raw/inputs.h"
#include "raw/schedule.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"

#pragma GCC visibility push(hidden)

/* ---- replay.c */
void ft_rt_replay_start(void *schedule); /* raw/schedule.h */
/* Does the witness end before the calling thread's next step? Called without the baton. */
bool ft_rt_replay_ends(void);
/* The thread that handles that signal next, NULL: none. */
ft_rt_thread *ft_rt_replay_handler(int number);
void ft_rt_replay_exit(void); /* the program ends */
/* Of the code at `pc`: the offset in a module of the schedule; elsewhere the address, and
 * FT_SCHEDULE_NONE. */
uint64_t ft_rt_place(const void *pc, uint32_t *module);
void ft_rt_give_up(uint32_t outcome) __attribute__((noreturn)); /* ends replay and process */

/* The hook that begins now, for the schedule to compare before it is done. */
static inline void ft_rt_about(uint32_t kind, const void *pc)
{
    if ((!ft_rt_replaying && !ft_rt_following) || !ft_rt_self || ft_rt_self->inside) return;
    ft_rt_self->kind = kind;
    ft_rt_self->pc = pc;
    ft_rt_self->size = 0;
    ft_rt_self->atomic = false;
}

/* In place of an object: */
enum { FT_RT_CREATES = 1, FT_RT_JOINS };
/* The same of a call on an object. */
static inline void ft_rt_about_object(const void *object, const void *pc)
{
    ft_rt_about(FT_RT_ANY, pc);
    if (ft_rt_following && ft_rt_self && !ft_rt_self->inside)
        ft_rt_self->object = (uintptr_t)object;
}

/* Of a call whose place a schedule does not have, but an order of actions may. */
static inline void ft_rt_about_followed(const void *object, const void *pc)
{
    if (ft_rt_following) ft_rt_about_object(object, pc);
}

static inline void ft_rt_about_access(uint32_t kind, const void *pc, const volatile void *memory,
                                      uint64_t size)
{
    if ((!ft_rt_replaying && !ft_rt_following) || !ft_rt_self || ft_rt_self->inside) return;
    ft_rt_about(kind, pc);
    ft_rt_self->address = (uintptr_t)memory;
    ft_rt_self->size = size;
}

static inline void ft_rt_about_atomic(uint32_t kind, const void *pc, const volatile void *memory,
                                      uint64_t size)
{
    if ((!ft_rt_replaying && !ft_rt_following) || !ft_rt_self || ft_rt_self->inside) return;
    ft_rt_about_access(kind, pc, memory, size);
    ft_rt_self->atomic = true;
}

/* ---- follow.c: a recording under an order of actions (raw/follow.h) */
/* As ft_rt_enter, of a call on a descriptor, which may be an action there. */
static inline ft_rt_thread *ft_rt_enter_call(const void *pc)
{
    if (ft_rt_following && ft_rt_self && !ft_rt_self->inside) {
        ft_rt_self->pc = pc;
        ft_rt_self->on_descriptor = true;
    }
    return ft_rt_enter();
}
/* Of the call on a futex that was just entered so: all of it was done in the order, so that no
 * thread waits in the kernel for it; LATE: its time limit passed. */
typedef enum ft_rt_followed {
    FT_RT_NOT_FOLLOWED,
    FT_RT_FOLLOWED,
    FT_RT_FOLLOWED_LATE
} ft_rt_followed;
ft_rt_followed ft_rt_follow_futex(void);
void ft_rt_follow_start(void *order);
void ft_rt_follow_begins(ft_rt_thread *self); /* the calling thread, before its function */
/* The next value of the input in the order, for the calling thread; false: it has none. */
bool ft_rt_follow_input(const ft_rt_thread *self, const char *name, uint64_t *value);
/* The thread is back from its end, or comes to it: the process ends when it is its turn. */
void ft_rt_follow_exit(ft_rt_thread *self);
/* The thread is inside a call that has all of its next actions at that place. */
void ft_rt_follow_call(ft_rt_thread *self, const void *pc);
/* The thread is about to end; or it does, and unlocks a robust mutex that it holds. */
void ft_rt_follow_end(ft_rt_thread *self);
/* The thread created another one, which comes to its first action before its creator goes on. */
void ft_rt_follow_created(ft_rt_thread *self, ft_rt_thread *child);

/* ---- feed.c */
enum { FT_RT_STOPPED = 89 }; /* exit status of a program that the runtime ends */

void ft_rt_feed_start(ft_schedule *schedule, const ft_schedule_actor *actors,
                      const ft_schedule_input *inputs);
/* A descriptor cannot have the number that the recording says: treated as a different input. */
void ft_rt_feed_number(ft_rt_thread *self, ft_input_call call, const void *pc);
/* The thread's next input, NULL: it is not fed, or no longer. An input of another call ends a
 * replay that is before its schedule's end; after it, and in a recording, it ends the feeding of
 * this thread. */
const ft_schedule_input *ft_rt_feed_input(ft_rt_thread *self, ft_input_call call, const void *pc,
                                          const unsigned char **content);
bool ft_rt_feed_is_behind(void); /* a replay past the end of its schedule: threads run freely */
void ft_rt_feed_outside(void);   /* past the schedule's end another process takes part */
void ft_rt_feed_virtual(void);   /* a descriptor was made that nothing stands behind */
/* In a recording: waits until the channel is as it was; its name in the other run. */
uint64_t ft_rt_feed_channel(ft_rt_thread *self, uint64_t channel, uint32_t flags);
void ft_rt_feed_starve(ft_rt_thread *self) __attribute__((noreturn)); /* no more input comes */

#pragma GCC visibility pop

#endif

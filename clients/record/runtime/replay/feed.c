/* Feeding: the inputs of another run (raw/schedule.h), given to the threads of a replay, or of a
 * recording under another order. In a recording a thread may ask for an input that it did not ask
 * for then; it gets a live one. */
#include <sys/syscall.h>
#include <unistd.h>

#include "libc/contract.h"
#include "libc/libc.h"
#include "log/log.h"
#include "raw/inputs.h"
#include "raw/raw.h"
#include "raw/schedule.h"
#include "replay/needs.h"
#include "replay/replay.h"
#include "scheduling/needs.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"

bool ft_rt_feeding;

static struct {
    ft_schedule *schedule;
    const ft_schedule_actor *actors;
    const ft_schedule_input *inputs;
    const ft_schedule_channel *channels;
    const unsigned char *contents;
    uint32_t *passed;  /* by channel: steps that put something in */
    bool virtual;      /* virtual descriptors were made (inputs/channels.h) */
    const char nobody; /* a thread that waits for it waits forever, unless a channel goes on */
} feed;

void ft_rt_feed_start(ft_schedule *schedule, const ft_schedule_actor *actors,
                      const ft_schedule_input *inputs)
{
    assert(!feed.schedule);
    feed.schedule = schedule;
    feed.actors = actors;
    feed.inputs = inputs;
    feed.channels = (const ft_schedule_channel *)(inputs + schedule->inputs);
    feed.contents = (const unsigned char *)(feed.channels + schedule->channels);
    feed.passed = ft_rt_map(schedule->channels * sizeof *feed.passed + 1);
    ft_rt_feeding = schedule->feed;
    if (ft_rt_feeding) ft_rt_fd_start();
}

static bool is_recorded(void)
{
    return !ft_rt_header->replay;
}

bool ft_rt_feed_records(void)
{
    return ft_rt_feeding && is_recorded();
}

bool ft_rt_feed_is_behind(void)
{
    return ft_rt_feeding && ft_rt_header->replay && !ft_rt_replaying;
}

/* ---- inputs that the recording does not have */

/* A recording reports the first one. */
static void tell(const ft_rt_thread *self, ft_input_call call, const void *pc,
                 ft_schedule_outcome why)
{
    if (is_recorded() && feed.schedule->live++) return;
    feed.schedule->outcome = why;
    feed.schedule->kind = call;
    feed.schedule->offset = ft_rt_place(pc, &feed.schedule->module);
    feed.schedule->actor = self->actor;
    feed.schedule->input = self->actor == FT_RT_NOBODY ? FT_SCHEDULE_NONE : self->inputs + 1;
}

void ft_rt_feed_ends(void)
{
    ft_rt_say("every thread waits for input that the recording does not have");
    ft_rt_log_end(FT_RAW_END_INPUTS);
    syscall(SYS_exit_group, FT_RT_STOPPED);
    __builtin_unreachable();
}

/* The thread gets live inputs from here on; virtual descriptors have none to give. */
static void leave(ft_rt_thread *self, ft_input_call call, const void *pc, ft_schedule_outcome why)
{
    bool asked = !self->live;
    self->live = true;
    if (is_recorded() || ft_rt_replaying) tell(self, call, pc, why);
    if (ft_rt_replaying) ft_rt_give_up(why);
    if (asked && is_recorded() && feed.virtual) ft_rt_feed_ends();
}

void ft_rt_feed_number(ft_rt_thread *self, ft_input_call call, const void *pc)
{
    FT_REQUIRE(self->inputs);
    self->inputs--;
    leave(self, call, pc, FT_SCHEDULE_NUMBER_OUTCOME);
    self->inputs++;
}

/* ---- inputs */

static bool is_call(const ft_schedule_input *input, ft_input_call call, const void *pc)
{
    uint32_t module;
    uint64_t offset = ft_rt_place(pc, &module);
    if (input->call != call) return false;
    return input->module == FT_SCHEDULE_NONE || module == FT_SCHEDULE_NONE ||
           (module == input->module && offset == input->offset);
}

/* How often a program asks for the time depends on the order: a waiting loop does so. */
static bool is_surrounding(uint32_t call)
{
    return call <= FT_INPUT_SIGNALS;
}

/* May the thread skip that input? After a schedule's end content between threads comes in other
 * pieces (inputs/mirror.c). */
static bool may_skip(const ft_schedule_input *input, uint32_t skipped)
{
    enum { NEAR = 64 };
    return is_recorded() ? is_surrounding(input->call) : ft_rt_feed_is_behind() && skipped < NEAR;
}

/* The thread's next input, or a later one after inputs that it may skip. */
static const ft_schedule_input *next_input(ft_rt_thread *self, ft_input_call call, const void *pc)
{
    assert(self->actor < feed.schedule->actors);
    const ft_schedule_actor *actor = &feed.actors[self->actor];
    assert(self->inputs <= actor->inputs);
    const ft_schedule_input *all = &feed.inputs[actor->first_input];
    for (uint32_t i = self->inputs; i < actor->inputs; i++) {
        if (is_call(&all[i], call, pc)) {
            self->inputs = i + 1;
            return &all[i];
        }
        if (!may_skip(&all[i], i - self->inputs)) break;
    }
    return NULL;
}

const ft_schedule_input *ft_rt_feed_input(ft_rt_thread *self, ft_input_call call, const void *pc,
                                          const unsigned char **content)
{
    bool known = self->actor != FT_RT_NOBODY;
    if (!ft_rt_feeding || (!is_recorded() && (self->live || !known))) return NULL;
    if (known && !self->live) {
        const ft_schedule_input *input = next_input(self, call, pc);
        if (input) {
            feed.schedule->fed++;
            *content = feed.contents + input->at;
            return input;
        }
        if (is_recorded() && is_surrounding(call)) {
            tell(self, call, pc, FT_SCHEDULE_INPUT_OUTCOME);
            return NULL;
        }
        if (self->inputs < feed.actors[self->actor].inputs) {
            leave(self, call, pc, FT_SCHEDULE_INPUT_OUTCOME);
            return NULL;
        }
    }
    self->live = true;
    if (is_recorded()) tell(self, call, pc, FT_SCHEDULE_INPUT_OUTCOME);
    return NULL;
}

void ft_rt_feed_virtual(void)
{
    feed.virtual = true;
}

void ft_rt_feed_outside(void)
{
    feed.schedule->outside = 1;
}

/* ---- channels: content comes out after the steps that preceded it in the recording, and goes in
 * in the recording's order. So the content that a thread gets was sent before. */

static const ft_schedule_channel *next_passage(ft_rt_thread *self, uint32_t flags)
{
    if (self->live || self->actor == FT_RT_NOBODY) return NULL;
    assert(self->actor < feed.schedule->actors);
    const ft_schedule_actor *actor = &feed.actors[self->actor];
    assert(self->passages <= actor->channels);
    const ft_schedule_channel *next = &feed.channels[actor->first_channel + self->passages];
    if (self->passages == actor->channels || next->flags != flags) return NULL;
    self->passages++;
    return next;
}

uint64_t ft_rt_feed_channel(ft_rt_thread *self, uint64_t channel, uint32_t flags)
{
    FT_REQUIRE(self == ft_rt_self && ft_rt_feed_records());
    const ft_schedule_channel *next = next_passage(self, flags);
    if (!next) return channel;
    assert(next->number < feed.schedule->channels);
    while (feed.passed[next->number] < next->before) ft_rt_block(self, &feed.nobody, NULL);
    if (flags & FT_RAW_CHANNEL_OUT) {
        feed.passed[next->number]++;
        ft_rt_wake_all(&feed.nobody);
    }
    return next->channel;
}

void ft_rt_feed_starve(ft_rt_thread *self)
{
    for (;;) ft_rt_block(self, &feed.nobody, NULL);
}

bool ft_rt_feed_starves(const ft_rt_thread *thread)
{
    return thread->state == FT_RT_BLOCKED && thread->waits_for == &feed.nobody;
}

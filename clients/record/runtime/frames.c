/* The calls that a thread is in. The compilers' hooks at the start and the end of each function
 * only keep them in memory of the thread; the log learns of what changed when the thread's next
 * event comes, so that functions without events cost next to nothing.
 *
 * longjmp, and whatever else leaves functions without their last hook, is found by the addresses of
 * frames: the stack grows down, so a frame below the one at hand is gone. */
#include "hot.h"

enum { DEEPEST = 1 << 16, NEAR = 1 << 24 };

void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);

void ft_rt_frames_start(ft_rt_thread *self)
{
    self->frames = ft_rt_map(DEEPEST * sizeof *self->frames);
    self->entered = ft_rt_map(DEEPEST * sizeof *self->entered);
    self->follows = &self->first;
}

void ft_rt_frames_end(ft_rt_thread *self)
{
    ft_rt_unmap(self->frames, DEEPEST * sizeof *self->frames);
    ft_rt_unmap(self->entered, DEEPEST * sizeof *self->entered);
    self->frames = NULL;
}

/* The frame of the function that calls the hook whose own frame that is: the address saved there,
 * where it is one. */
static inline uintptr_t frame_of(const void *own)
{
    uintptr_t saved = *(const uintptr_t *)own;
    return saved - (uintptr_t)own < NEAR ? saved : (uintptr_t)own;
}

static inline void leave_to(ft_rt_thread *self, uint32_t depth)
{
    self->depth = depth;
    if (depth < self->least) self->least = depth;
    self->moved = true;
}

void __tsan_func_entry(void *caller)
{
    ft_rt_thread *self = ft_rt_self;
    if (!self || !self->frames) return;
    uintptr_t frame = frame_of(__builtin_frame_address(0));
    uint32_t depth = self->depth;
    while (depth && self->frames[depth - 1].frame <= frame) depth--;
    if (depth != self->depth) leave_to(self, depth);
    if (depth == DEEPEST) {
        self->over++;
        return;
    }
    self->frames[depth] = (ft_rt_frame){(uintptr_t)caller, frame};
    self->depth = depth + 1;
    self->moved = true;
}

void __tsan_func_exit(void)
{
    ft_rt_thread *self = ft_rt_self;
    if (!self || !self->frames) return;
    if (self->over) {
        self->over--;
        return;
    }
    uintptr_t frame = frame_of(__builtin_frame_address(0));
    uint32_t depth = self->depth;
    while (depth && self->frames[depth - 1].frame < frame) depth--;
    if (depth && self->frames[depth - 1].frame == frame) depth--;
    leave_to(self, depth);
}

void ft_rt_follow_calls(ft_rt_thread *self)
{
    self->moved = false;
    if (!self->frames || !ft_rt_logging || ft_rt_replaying || !ft_rt_may_emit(self)) return;
    while (self->written > self->least) {
        uint32_t *after = &ft_rt_out.sites[self->entered[--self->written]].after;
        ft_rt_emit_call(self, FT_RAW_LEAVE_SITE, after);
    }
    while (self->written < self->depth) {
        const void *place = (const void *)self->frames[self->written].place;
        ft_raw_site *site = ft_rt_site_behind(self->follows, ft_rt_key(place, FT_RAW_ENTER));
        if (!site) return;
        self->entered[self->written++] = (uint32_t)(site - ft_rt_out.sites);
        ft_rt_emit_call(self, (uint32_t)(site - ft_rt_out.sites), &site->next);
    }
    self->least = self->depth;
}

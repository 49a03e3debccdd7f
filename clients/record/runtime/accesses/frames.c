/* Function entries and exits: the compilers' hooks that give each access its stack. */
#include "libc/contract.h"
#include "log/hot.h"
#include "raw/raw.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"

enum { NEAR = 1 << 24 };

void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);

/* From the hook's own frame: the frame of the function that called the hook. That is the saved
 * frame pointer, if it is one. */
static FT_RT_INLINE uintptr_t frame_of(const void *own)
{
    uintptr_t saved = *(const uintptr_t *)own;
    return saved - (uintptr_t)own < NEAR ? saved : (uintptr_t)own;
}

/* A pending write happened before the call; the usual one already has its record in the right
 * place. */
static __attribute__((noinline)) void log_call_long(uint64_t key, uintptr_t frame)
{
    ft_rt_thread *self = ft_rt_self;
    if (!self || self->inside || ft_rt_replaying || !ft_rt_logging) return;
    if (!ft_rt_enter_within()) return; /* no hook that the watchdog sees: a loop of calls spins */
    if (ft_rt_logging && ft_rt_may_emit(self)) {
        uint32_t site = ft_rt_site_of(key);
        assert(!self->late.value); /* enter_within has logged it */
        self->late.size = 0;
        if (site) ft_rt_emit(site, frame, 0, 0);
    }
    self->inside = false;
}

/* The last write may be into the frame that is left, and the next called function may overwrite it
 * before the next hook: its value is read now. */
static FT_RT_INLINE bool settle_left(ft_rt_thread *self, bool leaves)
{
    return !leaves || !self->late.value || ft_rt_settle_late(&self->late);
}

static FT_RT_INLINE void log_call(uint64_t key, uintptr_t frame, bool leaves)
{
    ft_rt_thread *self = ft_rt_enter_hot();
    const ft_rt_site_slot *site = ft_rt_slot(key);
    uint64_t *at = ft_rt_out.at;
    if (FT_RT_UNLIKELY(!self)) {
        log_call_long(key, frame);
        return;
    }
    if (FT_RT_UNLIKELY(site->key != key || frame & FT_RT_HIGH || at >= ft_rt_out.enough ||
                       !settle_left(self, leaves))) {
        ft_rt_leave_call(self);
        log_call_long(key, frame);
        return;
    }
    self->late.size = 0;
    *at = site->word + 2 * frame;
    ft_rt_out.at = at + 1;
    if (leaves) ft_rt_publish(at + 1); /* no hook may follow, and no value is to come */
    ft_rt_leave_call(self);
}

void __tsan_func_entry(void *caller)
{
    log_call(ft_rt_key(caller, FT_RAW_ENTER), frame_of(__builtin_frame_address(0)), false);
}

void __tsan_func_exit(void)
{
    log_call(ft_rt_key(NULL, FT_RAW_LEAVE), frame_of(__builtin_frame_address(0)), true);
}

#include "trace/sections.h"
#include "base/contract.h"

bool ft_lock_event_is(const ft_trace *trace, uint32_t e)
{
    if (ft_trace_is_blocked(trace, e)) return false;
    return trace->kind[e] == FT_EVENT_ACQUIRE || trace->kind[e] == FT_EVENT_ACQUIRE_SHARED ||
           trace->kind[e] == FT_EVENT_RELEASE;
}

ft_lock_event ft_lock_event_of(const ft_trace *trace, uint32_t e)
{
    FT_REQUIRE(ft_lock_event_is(trace, e) && trace->object[e] < trace->locks.len);
    ft_lock_kind lock = (ft_lock_kind)trace->lock_kind[trace->object[e]];
    bool shared = trace->kind[e] == FT_EVENT_ACQUIRE_SHARED;
    bool release = trace->kind[e] == FT_EVENT_RELEASE, readers = ft_lock_kind_has_readers(lock);
    return (ft_lock_event){.lock = lock,
                           .acquire = !release,
                           .shared = shared,
                           .nests = lock == FT_LOCK_RECURSIVE || (readers && (shared || release)),
                           .waits = !readers && trace->flags[e] & FT_FLAG_CONDITION,
                           .tries = trace->flags[e] & FT_FLAG_TRY};
}

uint8_t ft_hold_acquire(ft_hold *h, uint32_t e, ft_lock_event event)
{
    FT_REQUIRE(event.acquire);
    bool held = h->depth > 0, nested = held && event.nests && h->shared == event.shared;
    if (held && event.lock == FT_LOCK_ERROR_CHECKING && !event.tries) return FT_FLAG_STRANGER;
    if (!held) h->opened = e;
    if (nested)
        h->depth++;
    else
        h->depth = event.waits && h->saved ? h->saved : 1;
    assert(h->depth);
    h->shared = event.shared;
    h->saved = 0;
    return nested ? FT_FLAG_NESTED : 0;
}

uint8_t ft_hold_release(ft_hold *h, ft_lock_event event)
{
    FT_REQUIRE(!event.acquire);
    if (h->depth == 0) return FT_FLAG_STRANGER;
    if (event.waits) {
        h->saved = h->depth;
        h->depth = 0;
        return 0;
    }
    return --h->depth ? FT_FLAG_NESTED : 0;
}

void ft_sections_note_stranger(ft_builder *b, uint32_t e, uint32_t thread, uint32_t lock,
                               bool acquire)
{
    const char *who = ft_trace_thread_name(b->trace, thread), *what = b->trace->locks.names[lock];
    if (acquire)
        ft_builder_note(b, "failed-acquire", e,
                        "%s takes the error-checking mutex %s, which it holds; the acquire fails "
                        "and has no effect",
                        who, what);
    else
        ft_builder_note(b, "stranger-release", e,
                        "%s releases %s, which it does not hold; the release has no effect", who,
                        what);
}

void ft_sections_note_unclosed(ft_builder *b, uint32_t e, uint32_t thread, uint32_t lock,
                               uint32_t count)
{
    FT_REQUIRE(count);
    ft_builder_note(b, "unclosed-section", e,
                    "%s never releases %s; it holds it to the end of the trace",
                    ft_trace_thread_name(b->trace, thread), b->trace->locks.names[lock]);
    ft_builder_add_note(b, "unclosed-section", e, count - 1, "");
}

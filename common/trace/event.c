#include "trace/event.h"
#include "base/contract.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name, *doc;
    ft_object_class object;
} KINDS[FT_EVENT_KINDS] = {
#define FT_EVENT_ROW(symbol, name, object, doc)                                                    \
    [FT_EVENT_##symbol] = {name, doc, FT_OBJECT_##object},
    FT_EVENT_TABLE(FT_EVENT_ROW)
#undef FT_EVENT_ROW
};

const char *ft_event_kind_name(ft_event_kind kind)
{
    FT_REQUIRE(kind < FT_EVENT_KINDS);
    return KINDS[kind].name;
}

const char *ft_event_kind_doc(ft_event_kind kind)
{
    FT_REQUIRE(kind < FT_EVENT_KINDS);
    return KINDS[kind].doc;
}

ft_object_class ft_event_kind_object(ft_event_kind kind)
{
    return KINDS[kind].object;
}

bool ft_event_kind_waits(ft_event_kind kind)
{
    static const bool WAITS[FT_EVENT_KINDS] = {
        [FT_EVENT_ACQUIRE] = true,   [FT_EVENT_ACQUIRE_SHARED] = true,
        [FT_EVENT_WAIT] = true,      [FT_EVENT_JOIN] = true,
        [FT_EVENT_COND_WAKE] = true, [FT_EVENT_BARRIER_LEAVE] = true,
        [FT_EVENT_ONCE_PASS] = true};
    assert(kind < FT_EVENT_KINDS);
    return WAITS[kind];
}

bool ft_event_kind_may_stand_aside(ft_event_kind kind)
{
    return ft_event_kind_object(kind) == FT_OBJECT_VARIABLE || kind == FT_EVENT_ASSIGN ||
           kind == FT_EVENT_ASSUME;
}

bool ft_event_kind_parse(const char *name, ft_event_kind *kind)
{
    for (int i = 0; i < FT_EVENT_KINDS; i++) {
        if (strcmp(KINDS[i].name, name) != 0) continue;
        *kind = (ft_event_kind)i;
        return true;
    }
    return false;
}

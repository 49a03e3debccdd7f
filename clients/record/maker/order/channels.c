#include "maker/order/channels.h"

#include <stdlib.h>

#include "base/contract.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "raw/raw.h"
#include "trace/trace.h"

/* A thread's last put into a channel. */
typedef struct put {
    uint64_t channel;
    uint32_t thread, edge;
    uint32_t before; /* the put of another thread into the same channel, NONE */
    uint32_t event;  /* events of the trace by then */
} put;

#define NONE UINT32_MAX
#define MANY UINT32_MAX

struct ft_channels {
    FT_VEC(put) puts;
    ft_map latest;  /* channel -> one of its puts */
    ft_map own;     /* number of the channel << 16 | thread -> its put */
    ft_map seen;    /* edge << 16 | thread -> it was taken */
    ft_map numbers; /* channel -> counted from 0 */
    ft_map users;   /* channel -> the thread that uses it, MANY; of those of FT_RAW_CHANNEL_TAKEN */
    ft_map behind;  /* taker << 16 | putter -> event */
    ft_map taken;   /* channel -> 1: some thread takes from it */
    FT_VEC(uint64_t) names; /* of those of FT_RAW_CHANNEL_TAKEN, record by record */
    size_t followed;        /* of these */
    uint32_t unknown, first_unknown,
        first_place; /* edges of FT_RAW_CHANNEL_UNKNOWN that were taken */
    uint64_t edges;  /* made so far: each put has one of its own */
};

ft_channels *ft_channels_new(void)
{
    return ft_calloc(1, sizeof(ft_channels));
}

void ft_channels_free(ft_channels *channels)
{
    if (!channels) return;
    ft_vec_release(&channels->puts);
    ft_map_release(&channels->latest);
    ft_map_release(&channels->own);
    ft_map_release(&channels->seen);
    ft_map_release(&channels->numbers);
    ft_map_release(&channels->users);
    ft_map_release(&channels->taken);
    ft_map_release(&channels->behind);
    ft_vec_release(&channels->names);
    free(channels);
}

/* A stream is named by its address and its block: another stream may lie there later. */
static uint64_t name_of(uint64_t channel, uint32_t block)
{
    uint64_t name = channel;
    if (block != UINT32_MAX)
        name = (channel ^ ((uint64_t)block << 32)) * UINT64_C(0x9E3779B97F4A7C15);
    return (name & ~FT_RAW_CHANNEL_SIGNAL) | FT_RAW_CHANNEL_TAKEN;
}

void ft_channels_meet(ft_channels *channels, uint32_t thread, const uint64_t *operands,
                      uint32_t block)
{
    FT_REQUIRE(operands[0]);
    uint64_t channel = operands[1];
    bool taken = channel & FT_RAW_CHANNEL_TAKEN;
    if (taken) {
        channel = name_of(channel, block);
        ft_vec_push(&channels->names, channel);
        uint64_t *user = ft_map_slot(&channels->users, channel, thread, NULL);
        if (*user != thread) *user = MANY;
    }
    if (!(operands[0] & FT_RAW_CHANNEL_PUT)) ft_map_put(&channels->taken, channel, 1);
}

static bool is_none(const ft_channels *c, uint64_t channel)
{
    uint64_t user;
    if (!ft_map_get(&c->taken, channel, NULL)) return true;
    return ft_map_get(&c->users, channel, &user) && user != MANY;
}

static void take(ft_channels *c, ft_builder *builder, uint32_t thread, uint64_t channel,
                 uint32_t loc)
{
    uint64_t at;
    bool told = !(channel & FT_RAW_CHANNEL_SIGNAL); /* a replay needs an event for a signal */
    if (!ft_map_get(&c->latest, channel, &at)) return;
    for (uint32_t p = (uint32_t)at; p != NONE; p = c->puts.data[p].before) {
        const put *one = &c->puts.data[p];
        assert(one->channel == channel && (one->before == NONE || one->before < p));
        uint64_t key = (uint64_t)one->edge << 16 | thread;
        if (one->thread == thread || ft_map_get(&c->seen, key, NULL)) continue;
        ft_map_put(&c->seen, key, 1);
        uint64_t *behind =
            ft_map_slot(&c->behind, (uint64_t)thread << 16 | one->thread, one->event, NULL);
        if (*behind < one->event) *behind = one->event;
        ft_builder_event(builder, FT_EVENT_EDGE_IN, thread, one->edge, loc, FT_NO_VALUE, 0);
        if (channel == FT_RAW_CHANNEL_UNKNOWN && !c->unknown++) {
            c->first_unknown = ft_builder_count(builder) - 1;
            c->first_place = loc;
        }
        told = true;
    }
    uint32_t latest = c->puts.data[at].edge;
    if (!told) ft_builder_event(builder, FT_EVENT_EDGE_IN, thread, latest, loc, FT_NO_VALUE, 0);
}

/* The kind of channel and its number, for names; descriptors are numbered as they come. */
static const char *kind_of(const ft_channels *c, uint64_t channel, uint64_t *number)
{
    static const char *const kinds[] = {
        [0] = FT_SIGNAL_EDGE,
        [FT_RAW_CHANNEL_QUEUE] = "queue",
        [FT_RAW_CHANNEL_SETS] = "semaphores",
        [FT_RAW_CHANNEL_MESSAGES] = "messages",
        [FT_RAW_CHANNEL_COUNTED] = "count of semaphore",
        [FT_RAW_CHANNEL_LOOKED] = "look at semaphore",
        [FT_RAW_CHANNEL_HEALTH] = "owner of mutex",
        [FT_RAW_CHANNEL_LOCKED] = "lock of mutex",
        [FT_RAW_CHANNEL_RUNS] = "run of thread",
        [FT_RAW_CHANNEL_FORKS] = FT_EDGE_PROCESS,
    };
    uint64_t told = channel - FT_RAW_CHANNEL_SIGNAL, kind = told >> FT_RAW_CHANNEL_KIND_SHIFT;
    if (channel == FT_RAW_CHANNEL_UNKNOWN) {
        *number = 0;
        return "unknown object";
    }
    if (channel <= FT_RAW_CHANNEL_SIGNAL || kind >= sizeof kinds / sizeof *kinds) {
        ft_map_get(&c->numbers, channel, number);
        ++*number;
        return "channel";
    }
    *number = told & ((UINT64_C(1) << FT_RAW_CHANNEL_KIND_SHIFT) - 1);
    return kinds[kind];
}

static uint32_t new_edge(ft_channels *c, ft_builder *builder, uint64_t channel)
{
    ft_strbuf name = {0};
    uint64_t number = 0;
    ft_map_slot(&c->numbers, channel, c->numbers.len, NULL);
    const char *kind = kind_of(c, channel, &number);
    ft_strbuf_printf(&name, "%s %llu.%llu", kind, (unsigned long long)number,
                     (unsigned long long)++c->edges);
    uint32_t id = ft_builder_edge(builder, name.text, name.len);
    assert(id + 1 == ft_builder_peek(builder)->edges.len); /* each put has its own */
    ft_strbuf_release(&name);
    return id;
}

static void put_in(ft_channels *c, ft_builder *builder, uint32_t thread, uint64_t channel,
                   uint32_t loc)
{
    uint64_t before = NONE, edge = new_edge(c, builder, channel);
    uint64_t number = *ft_map_slot(&c->numbers, channel, c->numbers.len, NULL);
    uint64_t *own = ft_map_slot(&c->own, number << 16 | thread, NONE, NULL);
    ft_builder_event(builder, FT_EVENT_EDGE_OUT, thread, (uint32_t)edge, loc, FT_NO_VALUE, 0);
    uint32_t event = ft_builder_count(builder);
    if (*own != NONE) {
        assert(c->puts.data[*own].thread == thread && c->puts.data[*own].channel == channel);
        c->puts.data[*own].edge = (uint32_t)edge;
        c->puts.data[*own].event = event;
        return;
    }
    *own = c->puts.len;
    ft_map_get(&c->latest, channel, &before);
    ft_map_put(&c->latest, channel, c->puts.len);
    ft_vec_push(&c->puts, (put){channel, thread, (uint32_t)edge, (uint32_t)before, event});
}

uint32_t ft_channels_unknown(const ft_channels *c, uint32_t *first, uint32_t *loc)
{
    *first = c->first_unknown;
    *loc = c->first_place;
    return c->unknown;
}

uint32_t ft_channels_behind(const ft_channels *c, uint32_t thread, uint32_t other)
{
    uint64_t event = 0;
    ft_map_get(&c->behind, (uint64_t)thread << 16 | other, &event);
    return (uint32_t)event;
}

void ft_channels_follow(ft_channels *channels, ft_builder *builder, uint32_t thread,
                        const uint64_t *operands, uint32_t loc)
{
    uint64_t channel = operands[1];
    assert(!(channel & FT_RAW_CHANNEL_TAKEN) || channels->followed < channels->names.len);
    if (channel & FT_RAW_CHANNEL_TAKEN) channel = channels->names.data[channels->followed++];
    if (is_none(channels, channel)) return;
    if (operands[0] & FT_RAW_CHANNEL_IN) take(channels, builder, thread, channel, loc);
    if (operands[0] & FT_RAW_CHANNEL_OUT) put_in(channels, builder, thread, channel, loc);
}

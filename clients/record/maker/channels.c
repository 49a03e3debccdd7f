#include "maker/channels.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "raw/raw.h"

enum { IN = 1, OUT = 2 };

/* What a thread put into a channel last. */
typedef struct put {
    uint64_t channel;
    uint32_t thread, edge;
    uint32_t before; /* the put of another thread into the same channel, NONE */
} put;

#define NONE UINT32_MAX
#define MANY UINT32_MAX

struct ft_channels {
    FT_VEC(put) puts;
    ft_map latest;  /* channel -> one of its puts */
    ft_map own;     /* number of the channel << 16 | thread -> its put */
    ft_map seen;    /* edge << 16 | thread -> it was taken */
    ft_map numbers; /* channel -> counted from 0 */
    ft_map takers;  /* channel -> the thread that takes from it, MANY */
    uint64_t edges; /* so many were made: each put has one of its own */
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
    ft_map_release(&channels->takers);
    free(channels);
}

void ft_channels_meet(ft_channels *channels, uint32_t thread, const uint64_t *operands)
{
    if (!(operands[1] & FT_RAW_CHANNEL_TAKEN)) return;
    uint64_t *taker = ft_map_slot(&channels->takers, operands[1], thread, NULL);
    if (*taker != thread) *taker = MANY;
}

static bool is_of_one(const ft_channels *c, uint64_t channel)
{
    uint64_t taker;
    return ft_map_get(&c->takers, channel, &taker) && taker != MANY;
}

static void take(ft_channels *c, ft_builder *builder, uint32_t thread, uint64_t channel,
                 uint32_t loc)
{
    uint64_t at;
    bool told = !(channel & FT_RAW_CHANNEL_SIGNAL); /* a replay looks for the step */
    if (!ft_map_get(&c->latest, channel, &at)) return;
    for (uint32_t p = (uint32_t)at; p != NONE; p = c->puts.data[p].before) {
        const put *one = &c->puts.data[p];
        uint64_t key = (uint64_t)one->edge << 16 | thread;
        if (one->thread == thread || ft_map_get(&c->seen, key, NULL)) continue;
        ft_map_put(&c->seen, key, 1);
        ft_builder_event(builder, FT_EVENT_EDGE_IN, thread, one->edge, loc, FT_NO_VALUE, 0);
        told = true;
    }
    uint32_t latest = c->puts.data[at].edge;
    if (!told) ft_builder_event(builder, FT_EVENT_EDGE_IN, thread, latest, loc, FT_NO_VALUE, 0);
}

static uint32_t new_edge(ft_channels *c, ft_builder *builder, uint64_t channel)
{
    ft_strbuf name = {0};
    uint64_t *number = ft_map_slot(&c->numbers, channel, c->numbers.len, NULL);
    ft_strbuf_printf(&name, "channel %llu.%llu", (unsigned long long)*number + 1,
                     (unsigned long long)++c->edges);
    uint32_t id = ft_builder_edge(builder, name.text, name.len);
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
    if (*own != NONE) {
        c->puts.data[*own].edge = (uint32_t)edge;
        return;
    }
    *own = c->puts.len;
    ft_map_get(&c->latest, channel, &before);
    ft_map_put(&c->latest, channel, c->puts.len);
    ft_vec_push(&c->puts, (put){channel, thread, (uint32_t)edge, (uint32_t)before});
}

void ft_channels_follow(ft_channels *channels, ft_builder *builder, uint32_t thread,
                        const uint64_t *operands, uint32_t loc)
{
    if (is_of_one(channels, operands[1])) return;
    if (operands[0] & IN) take(channels, builder, thread, operands[1], loc);
    if (operands[0] & OUT) put_in(channels, builder, thread, operands[1], loc);
}

#include "maker/replay/inputs.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "raw/raw.h"

enum { LONGEST = 70, CALL_BITS = 8, CHANNEL_LENGTH = 8 };

static unsigned char *put(unsigned char *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    *at++ = (unsigned char)value;
    return at;
}

void ft_inputs_add(ft_builder *builder, uint32_t thread, const uint64_t *operands, uint32_t module,
                   uint64_t offset)
{
    FT_REQUIRE(thread < ft_builder_peek(builder)->threads.len);
    unsigned char head[LONGEST], *at = head;
    const uint64_t numbers[] = {thread,
                                operands[0] & ((1u << CALL_BITS) - 1),
                                operands[0] >> CALL_BITS,
                                module,
                                offset,
                                operands[2],
                                operands[3]};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) at = put(at, numbers[i]);
    assert(at - head <= LONGEST);
    ft_builder_inputs(builder, head, (size_t)(at - head));
}

void ft_inputs_add_channel(ft_builder *builder, uint32_t thread, const uint64_t *operands)
{
    FT_REQUIRE(operands[0]); /* it is put in, taken out or both */
    const uint64_t input[] = {FT_INPUT_CHANNEL, 0, operands[0] << 1, CHANNEL_LENGTH};
    ft_inputs_add(builder, thread, input, 0, 0);
    ft_builder_inputs(builder, &operands[1], CHANNEL_LENGTH);
}

/* ---- reading them back */

typedef struct cursor {
    const unsigned char *at, *end;
    bool bad;
} cursor;

static uint64_t get(cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (c->at == c->end) break;
        unsigned char byte = *c->at++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return value;
    }
    c->bad = true;
    return 0;
}

/* One input; false: there is none any more. One that is cut short was the last thing recorded. */
static bool next(cursor *c, const ft_trace *trace, uint32_t *thread, ft_schedule_input *input)
{
    if (c->at == c->end) return false;
    uint64_t numbers[7];
    for (int i = 0; i < 7; i++) numbers[i] = get(c);
    if (c->bad || numbers[0] >= trace->threads.len || numbers[1] >= FT_INPUT_CALLS) {
        c->bad = true;
        return false;
    }
    if (numbers[6] > (uint64_t)(c->end - c->at)) return false;
    *thread = (uint32_t)numbers[0];
    *input = (ft_schedule_input){
        .call = (uint32_t)numbers[1],
        .module = numbers[3] ? (uint32_t)numbers[3] - 1 : FT_SCHEDULE_NONE,
        .offset = numbers[4],
        .result = (int64_t)(numbers[5] >> 1) ^ -(int64_t)(numbers[5] & 1),
        .error = (uint32_t)numbers[2],
        .length = (uint32_t)numbers[6],
        .at = (uint64_t)(c->at - trace->inputs),
    };
    c->at += numbers[6];
    return true;
}

/* The bytes and messages sent into the channels so far. */
typedef struct passed {
    ft_map numbers; /* channel -> its number */
    FT_VEC(uint32_t) puts;
} passed;

static ft_schedule_channel passage(passed *p, const ft_trace *trace, const ft_schedule_input *input)
{
    ft_schedule_channel c = {.flags = (uint32_t)input->result};
    memcpy(&c.channel, trace->inputs + input->at, sizeof c.channel);
    c.number = (uint32_t)*ft_map_slot(&p->numbers, c.channel, p->puts.len, NULL);
    if (c.number == p->puts.len) ft_vec_push(&p->puts, 0);
    assert(c.number < p->puts.len);
    c.before = p->puts.data[c.number];
    if (c.flags & FT_RAW_CHANNEL_OUT) p->puts.data[c.number]++;
    return c;
}

/* Counts them (inputs NULL), then puts each behind those of its thread. */
static bool walk(const ft_trace *trace, uint32_t *slots, uint32_t *channel_slots, ft_inputs *inputs)
{
    cursor c = {trace->inputs, trace->inputs + trace->n_inputs, false};
    ft_schedule_input input;
    uint32_t thread;
    passed p = {0};
    while (next(&c, trace, &thread, &input)) {
        bool channel = input.call == FT_INPUT_CHANNEL;
        if (channel && input.length != CHANNEL_LENGTH) c.bad = true;
        if (c.bad) break;
        uint32_t *slot = &(channel ? channel_slots : slots)[thread];
        if (inputs && channel) inputs->channels.data[*slot] = passage(&p, trace, &input);
        if (inputs && !channel) inputs->all.data[*slot] = input;
        ++*slot;
    }
    ft_map_release(&p.numbers);
    ft_vec_release(&p.puts);
    return !c.bad;
}

/* From how many each thread has to where its own begin; returns how many there are. */
static uint32_t lay_out(uint32_t *slots, uint32_t threads)
{
    uint32_t all = 0;
    for (uint32_t t = 0; t <= threads; t++) {
        uint32_t count = slots[t];
        slots[t] = all;
        all += count;
    }
    return all;
}

ft_status ft_inputs_read(const ft_trace *trace, ft_inputs *inputs, ft_error *err)
{
    uint32_t n = trace->threads.len;
    uint32_t *slots = ft_calloc((size_t)n + 1, sizeof *slots);
    uint32_t *channel_slots = ft_calloc((size_t)n + 1, sizeof *channel_slots);
    *inputs = (ft_inputs){.all = {0}};
    bool whole = walk(trace, slots, channel_slots, NULL);
    uint32_t all = lay_out(slots, n), channels = lay_out(channel_slots, n);
    for (uint32_t t = 0; t <= n; t++) {
        ft_vec_push(&inputs->first, slots[t]);
        ft_vec_push(&inputs->first_channel, channel_slots[t]);
    }
    ft_vec_reserve(&inputs->all, (size_t)all + 1);
    ft_vec_reserve(&inputs->channels, (size_t)channels + 1);
    inputs->all.len = all;
    inputs->channels.len = channels;
    if (whole) whole = walk(trace, slots, channel_slots, inputs);
    assert(!n || !whole || slots[n - 1] == all); /* the second walk found the same inputs */
    free(slots);
    free(channel_slots);
    if (whole) return FT_OK;
    return ft_error_set(err, FT_INPUT, "the inputs that the trace keeps are damaged");
}

void ft_inputs_release(ft_inputs *inputs)
{
    ft_vec_release(&inputs->all);
    ft_vec_release(&inputs->first);
    ft_vec_release(&inputs->channels);
    ft_vec_release(&inputs->first_channel);
}

#include "maker/inputs.h"

#include <stdlib.h>

#include "base/strbuf.h"

enum { LONGEST = 70, CALL_BITS = 8 };

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
    unsigned char head[LONGEST], *at = head;
    const uint64_t numbers[] = {thread,
                                operands[0] & ((1u << CALL_BITS) - 1),
                                operands[0] >> CALL_BITS,
                                module,
                                offset,
                                operands[2],
                                operands[3]};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) at = put(at, numbers[i]);
    ft_builder_inputs(builder, head, (size_t)(at - head));
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

static bool walk(const ft_trace *trace, uint32_t *slots, ft_schedule_input *all)
{
    cursor c = {trace->inputs, trace->inputs + trace->n_inputs, false};
    ft_schedule_input input;
    uint32_t thread;
    while (next(&c, trace, &thread, &input)) {
        if (all) all[slots[thread]] = input;
        slots[thread]++;
    }
    return !c.bad;
}

/* Counts them, then puts each behind those of its thread. */
ft_status ft_inputs_read(const ft_trace *trace, ft_inputs *inputs, ft_error *err)
{
    uint32_t n = trace->threads.len, all = 0;
    uint32_t *slots = ft_calloc((size_t)n + 1, sizeof *slots);
    *inputs = (ft_inputs){.all = {0}};
    bool whole = walk(trace, slots, NULL);
    for (uint32_t t = 0; t <= n; t++) {
        uint32_t count = slots[t];
        ft_vec_push(&inputs->first, all);
        slots[t] = all;
        all += count;
    }
    ft_vec_reserve(&inputs->all, (size_t)all + 1);
    inputs->all.len = all;
    if (whole) walk(trace, slots, inputs->all.data);
    free(slots);
    if (whole) return FT_OK;
    return ft_error_set(err, FT_INPUT, "the inputs that the trace keeps are damaged");
}

void ft_inputs_release(ft_inputs *inputs)
{
    ft_vec_release(&inputs->all);
    ft_vec_release(&inputs->first);
}

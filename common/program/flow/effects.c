#include <stdlib.h>
#include <string.h>

#include "program/flow/internal.h"

bool ft_code_releases(ft_code code)
{
    switch (code) {
    case FT_CODE_LOCK:
    case FT_CODE_TRY_LOCK:
    case FT_CODE_TIMED_LOCK:
    case FT_CODE_READ_LOCK:
    case FT_CODE_WRITE_LOCK:
    case FT_CODE_TRY_READ_LOCK:
    case FT_CODE_TRY_WRITE_LOCK:
    case FT_CODE_ATOMIC_LOAD:
    case FT_CODE_JOIN:
    case FT_CODE_YIELD:
        return false;
    case FT_CODE_ATOMIC_END:
        return true;
    default:
        return ft_instruction_row_of(code)->effect == FT_EFFECT_VISIBLE;
    }
}

static bool may_end(ft_code code)
{
    return code == FT_CODE_END || code == FT_CODE_EXIT || code == FT_CODE_FAIL ||
           code == FT_CODE_UNREACHABLE || code == FT_CODE_ASSERT || code == FT_CODE_ASSUME;
}

/* The operands that are addresses of what is read, or written: a bit each. */
static uint8_t addresses(ft_code code, bool writes)
{
    switch (code) {
    case FT_CODE_LOAD:
    case FT_CODE_ATOMIC_LOAD:
        return writes ? 0 : 1;
    case FT_CODE_STORE:
    case FT_CODE_ATOMIC_STORE:
        return writes ? 2 : 0;
    case FT_CODE_ATOMIC_UPDATE:
    case FT_CODE_ATOMIC_SWAP:
        return 1;
    case FT_CODE_COPY:
    case FT_CODE_MOVE:
        return writes ? 1 : 2;
    case FT_CODE_FILL:
    case FT_CODE_FREE:
        return writes ? 1 : 0;
    case FT_CODE_OUTPUT:
        return writes ? 0 : 2;
    default:
        return 0;
    }
}

void ft_flow_accesses(const ft_flow *flow, uint32_t function, uint32_t instruction, bool writes,
                      uint64_t *bits)
{
    const ft_function *f = flow_function(flow, function);
    const ft_instruction *in = &f->instructions.data[instruction];
    uint8_t which = addresses((ft_code)in->code, writes);
    memset(bits, 0, flow->words * sizeof *bits);
    for (uint32_t i = 0; i < in->n_operands && i < 8; i++)
        if (which >> i & 1)
            ft_bits_join(bits,
                         ft_flow_points_to(flow, function, &f->operands.data[in->operands + i]),
                         flow->words);
}

static void find_own(ft_flow *flow, uint32_t f, uint64_t *scratch)
{
    ft_effects *e = &flow->effects[f];
    const ft_function *function = flow_function(flow, f);
    ft_bits_add(e->callees, f);
    for (uint32_t i = 0; i < function->instructions.len; i++) {
        ft_code code = (ft_code)function->instructions.data[i].code;
        e->synchronises |= ft_instruction_row_of(code)->effect == FT_EFFECT_VISIBLE;
        e->releases |= ft_code_releases(code);
        e->creates |= code == FT_CODE_CREATE;
        e->may_end |= may_end(code);
        ft_flow_accesses(flow, f, i, false, scratch);
        ft_bits_join(e->reads, scratch, flow->words);
        ft_flow_accesses(flow, f, i, true, scratch);
        ft_bits_join(e->writes, scratch, flow->words);
    }
}

/* Of a call; what a created thread does is not its creator's. */
static bool add_callee(ft_flow *flow, uint32_t f, uint32_t callee)
{
    ft_effects *e = &flow->effects[f];
    const ft_effects *c = &flow->effects[callee];
    bool fresh = ft_bits_join(e->reads, c->reads, flow->words);
    fresh |= ft_bits_join(e->writes, c->writes, flow->words);
    fresh |= ft_bits_join(e->callees, c->callees, flow->function_words);
    fresh |= (c->synchronises && !e->synchronises) || (c->releases && !e->releases) ||
             (c->creates && !e->creates) || (c->may_end && !e->may_end);
    e->synchronises |= c->synchronises;
    e->releases |= c->releases;
    e->creates |= c->creates;
    e->may_end |= c->may_end;
    return fresh;
}

static bool add_callees(ft_flow *flow, uint32_t f)
{
    bool changed = false;
    for (uint32_t i = 0; i < flow_function(flow, f)->instructions.len; i++) {
        uint32_t n;
        if (flow_function(flow, f)->instructions.data[i].code == FT_CODE_CREATE) continue;
        const uint32_t *targets = ft_flow_targets(flow, f, i, &n);
        for (uint32_t t = 0; t < n; t++) changed |= add_callee(flow, f, targets[t]);
    }
    return changed;
}

static bool calls_itself(const ft_flow *flow, uint32_t f)
{
    for (uint32_t i = 0; i < flow_function(flow, f)->instructions.len; i++) {
        uint32_t n;
        if (flow_function(flow, f)->instructions.data[i].code == FT_CODE_CREATE) continue;
        const uint32_t *targets = ft_flow_targets(flow, f, i, &n);
        for (uint32_t t = 0; t < n; t++)
            if (ft_bits_has(flow->effects[targets[t]].callees, f)) return true;
    }
    return false;
}

void flow_find_effects(ft_flow *flow)
{
    uint64_t *scratch = ft_calloc(flow->words, sizeof *scratch);
    flow->function_words = ft_bits_words(flow->n_functions);
    flow->effects = ft_calloc(flow->n_functions + 1, sizeof *flow->effects);
    for (uint32_t f = 0; f < flow->n_functions; f++) {
        flow->effects[f].reads = ft_calloc(flow->words, sizeof(uint64_t));
        flow->effects[f].writes = ft_calloc(flow->words, sizeof(uint64_t));
        flow->effects[f].callees = ft_calloc(flow->function_words, sizeof(uint64_t));
        find_own(flow, f, scratch);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t f = 0; f < flow->n_functions; f++) changed |= add_callees(flow, f);
    }
    for (uint32_t f = 0; f < flow->n_functions; f++)
        flow->effects[f].recursive = calls_itself(flow, f);
    free(scratch);
}

void flow_release_effects(ft_flow *flow)
{
    for (uint32_t f = 0; f < flow->n_functions; f++) {
        free(flow->effects[f].reads);
        free(flow->effects[f].writes);
        free(flow->effects[f].callees);
    }
    free(flow->effects);
}

const ft_effects *ft_flow_effects(const ft_flow *flow, uint32_t function)
{
    FT_REQUIRE(function < flow->n_functions);
    return &flow->effects[function];
}

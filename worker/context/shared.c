#include <stdlib.h>
#include <string.h>

#include "context/internal.h"

/* A loop that goes round more often has no bound here. */
enum { MOST_TRIPS = 4096 };

static const ft_function *function_of(const ctx *c, uint32_t f)
{
    return &c->program->functions.data[f];
}

/* ---- where things are ---- */

static void find_blocks(ctx *c, uint32_t f)
{
    const ft_function *function = function_of(c, f);
    c->block_of[f] = ft_calloc(function->registers.len + 1, sizeof **c->block_of);
    c->place_of[f] = ft_calloc(function->instructions.len + 1, sizeof **c->place_of);
    c->makers[f] = ft_calloc(ft_bits_words((uint32_t)function->registers.len), sizeof(uint64_t));
    for (uint32_t b = 0; b < function->blocks.len; b++) {
        const ft_block *block = &function->blocks.data[b];
        for (uint32_t i = 0; i < block->n_parameters; i++)
            c->block_of[f][block->parameters + i] = b;
        for (uint32_t i = 0; i < block->n_instructions; i++) {
            uint32_t number = block->instructions + i;
            uint32_t result = function->instructions.data[number].result;
            uint8_t code = function->instructions.data[number].code;
            c->place_of[f][number] = b;
            if (code == FT_CODE_STACK || code == FT_CODE_ALLOC) ft_bits_add(c->makers[f], result);
            if (result != FT_NO_REGISTER) c->block_of[f][result] = b;
        }
    }
}

bool ctx_in_circle(const ctx *c, uint32_t function, uint32_t block)
{
    return ft_graph_leads(ft_flow_graph(c->flow, function), block, block);
}

/* ---- threads ---- */

static uint32_t main_function(const ctx *c)
{
    uint32_t symbol = ft_intern_find(&c->program->names, "main", 4);
    return c->program->symbols.data[symbol].index;
}

const ctx_thread_function *ctx_root_of(const ctx *c, uint32_t function)
{
    for (size_t i = 0; i < c->roots.len; i++)
        if (c->roots.data[i].function == function) return &c->roots.data[i];
    return NULL;
}

static bool add_root(ctx *c, uint32_t function)
{
    if (ctx_root_of(c, function)) return false;
    uint64_t *functions = ft_calloc(ft_bits_words((uint32_t)c->program->functions.len), 8);
    memcpy(functions, ft_flow_effects(c->flow, function)->callees,
           ft_bits_words((uint32_t)c->program->functions.len) * sizeof *functions);
    ft_vec_push(&c->roots, (ctx_thread_function){function, NO_TIME, functions});
    return true;
}

/* The functions of threads that reachable functions create. */
static void find_roots(ctx *c)
{
    uint32_t words = ft_bits_words((uint32_t)c->program->functions.len);
    (void)add_root(c, main_function(c));
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t r = 0; r < c->roots.len; r++)
            ft_bits_join(c->reachable, c->roots.data[r].functions, words);
        for (uint32_t f = 0; f < c->program->functions.len; f++) {
            for (uint32_t i = 0;
                 ft_bits_has(c->reachable, f) && i < function_of(c, f)->instructions.len; i++) {
                uint32_t n;
                if (function_of(c, f)->instructions.data[i].code != FT_CODE_CREATE) continue;
                const uint32_t *targets = ft_flow_targets(c->flow, f, i, &n);
                for (uint32_t t = 0; t < n; t++) changed |= add_root(c, targets[t]);
            }
        }
    }
}

/* ---- how often ---- */

static bool literal_operand(const ctx *c, const ft_function *f, const ft_operand *o, uint64_t *bits,
                            bool follow)
{
    if (o->kind == FT_OPERAND_LITERAL) return *bits = o->value, true;
    for (uint32_t i = 0; follow && o->kind == FT_OPERAND_REGISTER && i < f->instructions.len; i++) {
        const ft_instruction *in = &f->instructions.data[i];
        if (in->result != o->index) continue;
        const ft_operand *from = &f->operands.data[in->operands];
        if (in->code == FT_CODE_LOAD && from->kind == FT_OPERAND_ADDRESS)
            return ctx_constant_at(c, from->index, from->value, in->width, bits);
        if ((in->code != FT_CODE_ZEXT && in->code != FT_CODE_SEXT) ||
            !literal_operand(c, f, from, bits, true))
            return false;
        return in->code == FT_CODE_ZEXT || *bits >> (from->width - 1) == 0;
    }
    return false;
}

/* The parameter of the head that counts: its first value, and what is added each time round. */
typedef struct counter {
    uint64_t first, step;
    uint8_t width;
} counter;

static const ft_instruction *maker_of(const ft_function *f, uint32_t index)
{
    for (uint32_t i = 0; i < f->instructions.len; i++)
        if (f->instructions.data[i].result == index) return &f->instructions.data[i];
    return NULL;
}

bool ctx_steps_by(const ft_function *f, const ft_operand *o, uint32_t parameter, uint64_t *step)
{
    const ft_instruction *in = o->kind == FT_OPERAND_REGISTER ? maker_of(f, o->index) : NULL;
    if (!in || (in->code != FT_CODE_ADD && in->code != FT_CODE_SUB)) return false;
    const ft_operand *a = &f->operands.data[in->operands], *b = a + 1;
    if (a->kind != FT_OPERAND_REGISTER || a->index != parameter || b->kind != FT_OPERAND_LITERAL)
        return false;
    *step = in->code == FT_CODE_ADD ? b->value : -b->value;
    return true;
}

/* Does parameter k of the head count with literals? */
static bool find_counter(const ctx *c, uint32_t f, uint32_t head, const uint64_t *loop, uint32_t k,
                         counter *found)
{
    bool before = false, behind = false;
    const ft_function *function = function_of(c, f);
    const ft_block *h = &function->blocks.data[head];
    found->width = function->registers.data[h->parameters + k].width;
    for (uint32_t b = 0; b < function->blocks.len; b++) {
        uint32_t n;
        const ft_target *targets = ft_block_targets(function, b, &n);
        for (uint32_t t = 0; t < n; t++) {
            uint64_t v;
            if (targets[t].block != head) continue;
            const ft_operand *o = &function->operands.data[targets[t].operands + k];
            if (ft_bits_has(loop, b)) {
                if (!ctx_steps_by(function, o, h->parameters + k, &v) ||
                    (behind && v != found->step))
                    return false;
                found->step = v;
                behind = true;
            } else {
                if (o->kind != FT_OPERAND_LITERAL || (before && o->value != found->first))
                    return false;
                found->first = o->value;
                before = true;
            }
        }
    }
    return before && behind;
}

static bool compares(ft_code code, uint8_t width, uint64_t a, uint64_t b)
{
    int64_t x = (int64_t)(a << (64 - width)), y = (int64_t)(b << (64 - width));
    switch (code) {
    case FT_CODE_NE:
        return a != b;
    case FT_CODE_ULT:
        return a < b;
    case FT_CODE_ULE:
        return a <= b;
    case FT_CODE_SLT:
        return x < y;
    case FT_CODE_SLE:
        return x <= y;
    default:
        return false;
    }
}

/* How often a counter goes round while the condition holds. */
static uint32_t count_trips(const counter *k, ft_code code, uint64_t bound)
{
    uint64_t v = k->first;
    for (uint32_t n = 0; n < MOST_TRIPS; n++) {
        if (!compares(code, k->width, v, bound)) return n;
        v = (v + k->step) & ft_width_mask(k->width);
    }
    return NO_TIME;
}

/* By a test at the end of the head: a counter against a number, true inside of the loop. */
uint32_t ctx_trips(const ctx *c, uint32_t f, uint32_t head)
{
    uint32_t n, trips = NO_TIME;
    const ft_function *function = function_of(c, f);
    const ft_graph *g = ft_flow_graph(c->flow, f);
    const ft_target *targets = ft_block_targets(function, head, &n);
    const ft_block *h = &function->blocks.data[head];
    const ft_instruction *last =
        &function->instructions.data[h->instructions + h->n_instructions - 1];
    uint64_t *loop = ft_calloc(g->words, sizeof *loop), bound;
    if (last->code == FT_CODE_BRANCH && ft_graph_loop(g, function, head, loop) &&
        ft_bits_has(loop, targets[0].block) && !ft_bits_has(loop, targets[1].block)) {
        const ft_operand *o = &function->operands.data[last->operands];
        const ft_instruction *test =
            o->kind == FT_OPERAND_REGISTER ? maker_of(function, o->index) : NULL;
        const ft_operand *a =
            test && test->n_operands == 2 ? &function->operands.data[test->operands] : NULL;
        counter k = {0};
        if (a && a->kind == FT_OPERAND_REGISTER && a->index >= h->parameters &&
            a->index < h->parameters + h->n_parameters &&
            literal_operand(c, function, a + 1, &bound, true) &&
            find_counter(c, f, head, loop, a->index - h->parameters, &k))
            trips = count_trips(&k, (ft_code)test->code, bound);
    }
    free(loop);
    return trips;
}

static uint32_t times(uint32_t a, uint32_t b)
{
    uint64_t n = (uint64_t)a * b;
    if (!a || !b) return 0;
    return a == NO_TIME || b == NO_TIME || n >= NO_TIME ? NO_TIME : (uint32_t)n;
}

/* Is the block in a circle that has an edge backwards which is not a natural loop's? Such a circle
 * may be inside of a loop whose rounds are counted, and has no bound itself. */
static bool is_in_other_circle(const ctx *c, uint32_t f, uint32_t block)
{
    const ft_graph *g = ft_flow_graph(c->flow, f);
    const ft_dominators *d = &g->dominators;
    for (uint32_t b = 0; b < g->n; b++) {
        uint32_t n;
        const ft_target *targets = ft_block_targets(function_of(c, f), b, &n);
        if (!ft_is_reached(d, b) || !ft_graph_leads(g, block, b)) continue;
        for (uint32_t t = 0; t < n; t++) {
            uint32_t to = targets[t].block;
            if (d->order[to] <= d->order[b] && !ft_graph_is_back(g, b, to) &&
                (to == block || ft_graph_leads(g, to, block)))
                return true;
        }
    }
    return false;
}

/* How often the block is executed in one call of its function, at most: every circle through it
 * goes once round a natural loop that it is in. The head of one is executed once more. */
static uint32_t times_in_call(const ctx *c, uint32_t f, uint32_t block)
{
    uint32_t n = 1;
    const ft_graph *g = ft_flow_graph(c->flow, f);
    if (!ft_graph_leads(g, block, block)) return 1;
    if (is_in_other_circle(c, f, block)) return NO_TIME;
    uint64_t *loop = ft_calloc(g->words, sizeof *loop);
    for (uint32_t head = 0; head < g->n; head++)
        if (ft_graph_loop(g, function_of(c, f), head, loop) && ft_bits_has(loop, block))
            n = times(n, head == block ? NO_TIME : ctx_trips(c, f, head));
    free(loop);
    return n;
}

static uint32_t times_called(const ctx *c, uint32_t f, uint32_t depth)
{
    uint64_t n = 0;
    const ctx_thread_function *r = ctx_root_of(c, f);
    if (depth > 32 || ft_flow_effects(c->flow, f)->recursive) return NO_TIME;
    if (r) n = r->most;
    for (uint32_t g = 0; g < c->program->functions.len && n < NO_TIME; g++) {
        for (uint32_t i = 0;
             ft_bits_has(c->reachable, g) && i < function_of(c, g)->instructions.len; i++) {
            uint32_t many;
            if (function_of(c, g)->instructions.data[i].code == FT_CODE_CREATE) continue;
            const uint32_t *targets = ft_flow_targets(c->flow, g, i, &many);
            for (uint32_t t = 0; t < many; t++)
                if (targets[t] == f)
                    n += times(times_in_call(c, g, c->place_of[g][i]),
                               times_called(c, g, depth + 1));
        }
    }
    return n >= NO_TIME ? NO_TIME : (uint32_t)n;
}

uint32_t ctx_times(const ctx *c, uint32_t function, uint32_t instruction)
{
    return times(times_in_call(c, function, c->place_of[function][instruction]),
                 times_called(c, function, 0));
}

/* From no bound at all downwards would be wrong for threads that create themselves; so from the
 * first, whose number is known, in the order in which they are found, until nothing changes. */
static void count_roots(ctx *c)
{
    for (size_t r = 0; r < c->roots.len; r++) c->roots.data[r].most = r ? NO_TIME : 1;
    for (size_t round = 0; round < c->roots.len; round++) {
        for (size_t r = 1; r < c->roots.len; r++) {
            uint64_t n = 0;
            for (uint32_t f = 0; f < c->program->functions.len && n < NO_TIME; f++) {
                for (uint32_t i = 0;
                     ft_bits_has(c->reachable, f) && i < function_of(c, f)->instructions.len; i++) {
                    uint32_t many;
                    if (function_of(c, f)->instructions.data[i].code != FT_CODE_CREATE) continue;
                    const uint32_t *targets = ft_flow_targets(c->flow, f, i, &many);
                    for (uint32_t t = 0; t < many; t++)
                        if (targets[t] == c->roots.data[r].function) n += ctx_times(c, f, i);
                }
            }
            c->roots.data[r].most = n >= NO_TIME ? NO_TIME : (uint32_t)n;
        }
    }
}

/* ---- what may come after a create ---- */

static bool mark_from(ctx *c, uint32_t f, uint32_t instruction)
{
    const ft_function *function = function_of(c, f);
    const ft_graph *g = ft_flow_graph(c->flow, f);
    uint32_t block = c->place_of[f][instruction];
    const ft_block *b = &function->blocks.data[block];
    bool changed = false;
    for (uint32_t i = instruction + 1; i < b->instructions + b->n_instructions; i++)
        changed |= ft_bits_add(c->after[f], i);
    for (uint32_t to = 0; to < g->n; to++) {
        if (!ft_graph_leads(g, block, to)) continue;
        const ft_block *t = &function->blocks.data[to];
        for (uint32_t i = 0; i < t->n_instructions; i++)
            changed |= ft_bits_add(c->after[f], t->instructions + i);
    }
    return changed;
}

static bool mark_all(ctx *c, uint32_t f)
{
    bool changed = false;
    for (uint32_t i = 0; i < function_of(c, f)->instructions.len; i++)
        changed |= ft_bits_add(c->after[f], i);
    return changed;
}

static bool mark_function(ctx *c, uint32_t f)
{
    bool changed = false;
    for (uint32_t i = 0; i < function_of(c, f)->instructions.len; i++) {
        uint32_t n;
        ft_code code = (ft_code)function_of(c, f)->instructions.data[i].code;
        const uint32_t *targets = ft_flow_targets(c->flow, f, i, &n);
        bool creates = code == FT_CODE_CREATE;
        for (uint32_t t = 0; t < n; t++) {
            creates |= ft_flow_effects(c->flow, targets[t])->creates;
            if (code == FT_CODE_CREATE || ft_bits_has(c->after[f], i))
                changed |= mark_all(c, targets[t]);
        }
        if (creates) changed |= mark_from(c, f, i);
    }
    return changed;
}

static void find_after(ctx *c)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t f = 0; f < c->program->functions.len; f++)
            if (ft_bits_has(c->reachable, f)) changed |= mark_function(c, f);
    }
}

/* ---- memory ---- */

static void find_writes(ctx *c)
{
    uint32_t words = ft_flow_words(c->flow);
    uint64_t *late = ft_calloc(words, sizeof *late), *bits = ft_calloc(words, sizeof *bits);
    for (uint32_t f = 0; f < c->program->functions.len; f++) {
        if (!ft_bits_has(c->reachable, f)) continue;
        ft_bits_join(c->written, ft_flow_effects(c->flow, f)->writes, words);
        for (uint32_t i = 0; i < function_of(c, f)->instructions.len; i++) {
            const ft_instruction *in = &function_of(c, f)->instructions.data[i];
            ft_flow_accesses(c->flow, f, i, true, bits);
            if (ft_bits_has(c->after[f], i) && !ctx_fault_is(CTX_FAULT_LATE_WRITE))
                ft_bits_join(late, bits, words);
            c->recursive_mutexes |=
                in->code == FT_CODE_MUTEX_INIT && in->attribute == FT_MUTEX_RECURSIVE;
            c->checking_mutexes |=
                in->code == FT_CODE_MUTEX_INIT && in->attribute == FT_MUTEX_CHECKING;
        }
    }
    for (uint32_t w = 0; w < words; w++) c->kept[w] = ~late[w];
    free(late);
    free(bits);
}

/* Globals, what threads are given, and what is stored in such. */
static void find_escapes(ctx *c)
{
    uint32_t words = ft_flow_words(c->flow), n = ft_flow_abstracts(c->flow);
    for (uint32_t a = 0; a < n; a++) {
        const ft_abstract *o = ft_flow_abstract(c->flow, a);
        if (o->kind == FT_ABSTRACT_GLOBAL && !c->program->objects.data[o->index].by_thread)
            ft_bits_add(c->escaped, a);
    }
    for (uint32_t f = 0; f < c->program->functions.len; f++) {
        const ft_function *function = function_of(c, f);
        for (uint32_t i = 0; i < function->instructions.len; i++) {
            const ft_instruction *in = &function->instructions.data[i];
            bool given =
                in->code == FT_CODE_CREATE || in->code == FT_CODE_END || in->code == FT_CODE_RETURN;
            if (in->code == FT_CODE_RETURN && !ctx_root_of(c, f)) continue;
            for (uint32_t k = 0; given && k < in->n_operands; k++)
                ft_bits_join(
                    c->escaped,
                    ft_flow_points_to(c->flow, f, &function->operands.data[in->operands + k]),
                    words);
        }
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t a = 0; a < n; a++)
            if (ft_bits_has(c->escaped, a))
                changed |= ft_bits_join(c->escaped, ft_flow_content(c->flow, a), words);
    }
}

static void find_owners(ctx *c)
{
    uint32_t n = ft_flow_abstracts(c->flow);
    enum { SEVERAL = UINT32_MAX };
    for (size_t r = 0; r < c->roots.len; r++) {
        const ft_effects *e = ft_flow_effects(c->flow, c->roots.data[r].function);
        for (uint32_t a = 0; a < n; a++) {
            if (!ft_bits_has(e->reads, a) && !ft_bits_has(e->writes, a)) continue;
            bool first = !c->owner[a] && c->roots.data[r].most <= 1;
            c->owner[a] = first ? (uint32_t)r + 1 : SEVERAL;
        }
    }
}

void ctx_find_sharing(ctx *c)
{
    uint32_t n = (uint32_t)c->program->functions.len, words = ft_flow_words(c->flow);
    c->block_of = ft_calloc(n + 1, sizeof *c->block_of);
    c->place_of = ft_calloc(n + 1, sizeof *c->place_of);
    c->after = ft_calloc(n + 1, sizeof *c->after);
    c->makers = ft_calloc(n + 1, sizeof *c->makers);
    c->reachable = ft_calloc(ft_bits_words(n), sizeof(uint64_t));
    uint64_t **sets[] = {&c->escaped, &c->kept, &c->written};
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
        *sets[i] = ft_calloc(words, sizeof(uint64_t));
    c->owner = ft_calloc(ft_flow_abstracts(c->flow) + 1, sizeof *c->owner);
    for (uint32_t f = 0; f < n; f++) {
        find_blocks(c, f);
        c->after[f] = ft_calloc(ft_bits_words((uint32_t)function_of(c, f)->instructions.len),
                                sizeof(uint64_t));
    }
    find_roots(c);
    find_after(c);
    find_writes(c);
    count_roots(c);
    find_escapes(c);
    find_owners(c);
}

void ctx_release_sharing(ctx *c)
{
    for (uint32_t f = 0; f < c->program->functions.len; f++) {
        free(c->block_of[f]);
        free(c->place_of[f]);
        free(c->after[f]);
        free(c->makers[f]);
    }
    for (size_t r = 0; r < c->roots.len; r++) free(c->roots.data[r].functions);
    ft_vec_release(&c->roots);
    free(c->block_of);
    free(c->place_of);
    free(c->makers);
    free(c->after);
    free(c->reachable);
    free(c->escaped);
    free(c->kept);
    free(c->written);
    free(c->owner);
}

bool ctx_is_shared(const ctx *c, const uint64_t *objects, uint32_t root_function)
{
    if (!ctx_uses(c, FT_CONTEXT_CONFLICT_FREE)) return true;
    bool any = false;
    for (uint32_t a = 0; a < ft_flow_abstracts(c->flow); a++) {
        if (!ft_bits_has(objects, a)) continue;
        any = true;
        uint32_t owner = c->owner[a];
        bool own = owner && owner <= c->roots.len &&
                   (c->roots.data[owner - 1].function == root_function ||
                    ctx_fault_is(CTX_FAULT_NO_OWNER));
        if (ft_bits_has(c->escaped, a) && !ft_bits_has(c->kept, a) && !own) return true;
    }
    return !any;
}

bool ctx_is_handed(const ctx *c, const uint64_t *objects, uint32_t root_function)
{
    bool any = false;
    if (!ctx_uses(c, FT_CONTEXT_CONFLICT_FREE)) return false;
    for (uint32_t a = 0; a < ft_flow_abstracts(c->flow); a++) {
        uint32_t owner = c->owner[a];
        if (!ft_bits_has(objects, a)) continue;
        bool own = owner && owner <= c->roots.len &&
                   (c->roots.data[owner - 1].function == root_function ||
                    ctx_fault_is(CTX_FAULT_NO_OWNER));
        if (!ft_bits_has(c->kept, a) && !own) return false;
        any = true;
    }
    return any;
}

static bool part_at(const ctx *c, const ft_object *o, uint64_t at, uint8_t *byte)
{
    for (uint32_t i = 0; i < o->n_initial; i++) {
        const ft_initial *p = &c->program->initials.data[o->initial + i];
        uint64_t n = p->symbol != FT_NO_SYMBOL ? 8 : c->program->texts.lengths[p->text];
        if (at < p->offset || at - p->offset >= n) continue;
        if (p->symbol != FT_NO_SYMBOL)
            *byte = (uint8_t)((c->base[p->symbol] + p->addend) >> 8 * (at - p->offset));
        else
            *byte = (uint8_t)c->program->texts.names[p->text][at - p->offset];
        return true;
    }
    *byte = 0;
    return true;
}

bool ctx_initial_at(const ctx *c, uint32_t symbol, uint64_t at, uint8_t width, uint64_t *bits)
{
    const ft_object *o = ft_program_object(c->program, symbol);
    uint32_t n = (width + 7u) / 8;
    if (!o || o->by_thread || at > o->size || n > o->size - at) return false;
    *bits = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t byte;
        (void)part_at(c, o, at + i, &byte);
        *bits |= (uint64_t)byte << 8 * i;
    }
    *bits &= ft_width_mask(width);
    return true;
}

bool ctx_constant_at(const ctx *c, uint32_t symbol, uint64_t at, uint8_t width, uint64_t *bits)
{
    uint32_t a = ft_flow_global(c->flow, symbol);
    return a != FT_NO_ABSTRACT && !ft_bits_has(c->written, a) &&
           ctx_initial_at(c, symbol, at, width, bits);
}

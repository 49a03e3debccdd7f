#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/flow/graph.h"
#include "symbolic/epoch.h"
#include "symbolic/internal.h"

/* The heap's objects that are older than an epoch; what thread n makes starts at (n + 1) * 2^40. */
#define OLD (UINT64_C(1) << 39)

/* ---- registers that are read later ---- */

static uint32_t words_of(const ft_function *f)
{
    return ft_bits_words((uint32_t)f->registers.len + 1);
}

static void drop_bit(uint64_t *bits, uint32_t i)
{
    bits[i / 64] &= ~(UINT64_C(1) << i % 64);
}

static void use_all(const ft_function *f, uint32_t from, uint32_t n, uint64_t *bits)
{
    for (uint32_t i = from; i < from + n; i++)
        if (f->operands.data[i].kind == FT_OPERAND_REGISTER)
            ft_bits_add(bits, f->operands.data[i].index);
}

/* Makes of the registers that are read behind the instruction those that are read from it on. */
static void step_back(const ft_function *f, const ft_instruction *in, uint64_t *bits)
{
    if (in->result != FT_NO_REGISTER) drop_bit(bits, in->result);
    use_all(f, in->operands, in->n_operands, bits);
    for (uint32_t k = 0; k < in->n_targets; k++) {
        const ft_target *t = &f->targets.data[in->targets + k];
        use_all(f, t->operands, t->n_operands, bits);
    }
}

/* Those that are read from instruction `at` of the block on; `in`: by block, from its beginning. */
static void read_from(const ft_function *f, const uint64_t *in, uint32_t block, uint32_t at,
                      uint64_t *bits)
{
    uint32_t words = words_of(f), n;
    const ft_block *b = &f->blocks.data[block];
    const ft_target *targets = ft_block_targets(f, block, &n);
    memset(bits, 0, words * sizeof *bits);
    for (uint32_t k = 0; k < n; k++) ft_bits_join(bits, in + targets[k].block * words, words);
    for (uint32_t i = b->instructions + b->n_instructions; i-- > at;)
        step_back(f, &f->instructions.data[i], bits);
}

static uint64_t *find_lives(const ft_function *f)
{
    uint32_t words = words_of(f), n = (uint32_t)f->blocks.len;
    uint64_t *in = ft_calloc((size_t)(n + 1) * words, sizeof *in), *bits = in + n * words;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = n; b-- > 0;) {
            const ft_block *block = &f->blocks.data[b];
            read_from(f, in, b, block->instructions, bits);
            for (uint32_t i = 0; i < block->n_parameters; i++)
                drop_bit(bits, block->parameters + i);
            changed |= ft_bits_join(in + b * words, bits, words);
        }
    }
    return in;
}

static const uint64_t *lives_of(ft_sym_world *w, const ft_function *f)
{
    if (!w->lives) w->lives = ft_calloc(w->program->functions.len + 1, sizeof *w->lives);
    uint64_t **lives = &w->lives[w->program->symbols.data[f->symbol].index];
    if (!*lives) *lives = find_lives(f);
    return *lives;
}

void sym_free_lives(ft_sym_world *w)
{
    for (size_t i = 0; w->lives && i < w->program->functions.len; i++) free(w->lives[i]);
    free(w->lives);
}

static uint32_t block_around(const ft_function *f, uint32_t at)
{
    uint32_t b = 0;
    while (at - f->blocks.data[b].instructions >= f->blocks.data[b].n_instructions) b++;
    return b;
}

uint64_t *sym_live_registers(ft_sym_world *w, const frame *f, bool calls)
{
    const ft_function *function = f->function;
    uint64_t *bits = ft_alloc(words_of(function) * sizeof *bits);
    uint32_t at = f->at + calls;
    read_from(function, lives_of(w, function), block_around(function, f->at), at, bits);
    if (calls && function->instructions.data[f->at].result != FT_NO_REGISTER)
        drop_bit(bits, function->instructions.data[f->at].result);
    return bits;
}

/* Registers that are never read again lose their content. */
static void forget_registers(ft_sym_world *w, sym_thread *th, const frame *f, bool calls)
{
    uint64_t *bits = sym_live_registers(w, f, calls);
    for (uint32_t i = 0; i < f->function->registers.len; i++)
        if (!ft_bits_has(bits, i)) th->values.data[f->registers + i] = (value){0};
    free(bits);
}

/* ---- objects get new numbers and addresses ---- */

typedef struct arriving {
    ft_sym_state *m;
    const uint32_t *threads; /* by new number: the old one */
    uint32_t n_threads;
    uint32_t thread[FT_SYM_THREADS]; /* by old number: the new one + 1; 0: it is dropped */
    uint32_t *number;                /* by old object: its new number + 1; 0: it is dropped */
    uint64_t *moved;                 /* by old object: what is added to its addresses */
    FT_VEC(object) objects;
    uint32_t unknowns; /* so far */
    ft_error *err;
    ft_status status;
} arriving;

static void refuse(arriving *a, const char *what)
{
    if (a->status == FT_OK)
        a->status = ft_error_set(a->err, FT_UNSUPPORTED, "an epoch cannot begin where %s", what);
}

/* The caller's list of threads does not match those of the state. */
static void mismatch(arriving *a, const char *what)
{
    if (a->status == FT_OK) a->status = ft_error_set(a->err, FT_INPUT, "%s", what);
}

static void keep(arriving *a, uint32_t old, uint64_t *next_base, uint64_t align)
{
    object o = a->m->objects.data[old];
    uint64_t base = o.base;
    if (next_base) {
        if (align < 16) align = 16;
        base = (*next_base + align - 1) & ~(align - 1);
        *next_base = base + o.size + 64;
    }
    if (o.bytes) refuse(a, "inputs decide the size of an object");
    a->moved[old] = base - o.base;
    o.base = base;
    o.read = o.written = 0;
    ft_vec_push(&a->objects, o);
    a->number[old] = (uint32_t)a->objects.len;
}

static int by_base(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The heap by age: what is older than the epoch comes first, then thread by thread. */
static void keep_heap(arriving *a)
{
    struct aged {
        uint64_t base;
        uint32_t old;
    };
    FT_VEC(struct aged) all = {0};
    uint64_t next = OLD;
    for (uint32_t i = 0; i < a->m->objects.len; i++)
        if (a->m->objects.data[i].heap && !a->m->objects.data[i].freed)
            ft_vec_push(&all, (struct aged){a->m->objects.data[i].base, i});
    if (all.len) qsort(all.data, all.len, sizeof *all.data, by_base);
    for (size_t i = 0; i < all.len; i++) keep(a, all.data[i].old, &next, 16);
    ft_vec_release(&all);
}

static uint64_t align_of(const ft_sym_state *m, const object *o)
{
    const ft_function *f = ft_program_function(m->world->program, o->maker.function);
    return UINT64_C(1) << f->instructions.data[o->maker.instruction].attribute;
}

static void keep_threads(arriving *a)
{
    ft_sym_state *m = a->m;
    const ft_program *p = m->world->program;
    for (uint32_t t = 0; t < m->threads.len; t++) {
        sym_thread *th = sym_thread_of(m, t);
        th->next_base = (uint64_t)(t + 1) << 40;
        for (uint32_t i = 0; th->own && i < p->objects.len; i++)
            if (th->own[i]) keep(a, th->own[i] - 1, &th->next_base, p->objects.data[i].align);
    }
}

static void keep_stacks(arriving *a)
{
    ft_sym_state *m = a->m;
    for (uint32_t t = 0; t < m->threads.len; t++) {
        sym_thread *th = sym_thread_of(m, t);
        for (size_t i = 0; i < th->stack.len; i++)
            keep(a, th->stack.data[i], &th->next_base,
                 align_of(m, &m->objects.data[th->stack.data[i]]));
    }
}

static void number_objects(arriving *a)
{
    for (uint32_t i = 0; i < a->m->world->program->objects.len; i++)
        if (!a->m->world->program->objects.data[i].by_thread) keep(a, a->m->globals[i], NULL, 0);
    keep_threads(a);
    keep_heap(a);
    keep_stacks(a);
}

/* ---- what refers to objects ---- */

/* Each is another one: two that are left behind need not be equal. */
static value unknown_address(arriving *a)
{
    char name[32];
    snprintf(name, sizeof name, "freed.%u", a->unknowns++);
    ft_symbol symbol = ft_sym_world_unknown(a->m->world, name, 64);
    return (value){.term =
                       ft_term_symbol(a->m->world->pool, symbol, (ft_sort){FT_SORT_BITVEC, 64})};
}

/* A thread's number, as join and detach have it; a number that was computed from it is none. */
static value moved_handle(arriving *a, value v)
{
    uint32_t old = sym_handle(v), new = old < FT_SYM_THREADS ? a->thread[old] : 0;
    if (v.term || v.bits != old) refuse(a, "a thread's handle was computed with");
    return new ? (value){.bits = new - 1, .object = SYM_HANDLE | new} : unknown_address(a);
}

static value moved(arriving *a, value v)
{
    uint32_t number;
    if (v.object & SYM_HANDLE) return moved_handle(a, v);
    if (!v.object) {
        if (!v.term && v.bits >= OLD && ft_sym_object_around(a->m, v.bits, &number))
            refuse(a, "the address of an object of the heap or a stack is kept as a number");
        return v;
    }
    if (!a->number[v.object - 1]) return unknown_address(a);
    if (v.term) refuse(a, "inputs decide which place of an object an address is of");
    v.bits += a->moved[v.object - 1];
    v.object = a->number[v.object - 1];
    return v;
}

/* A place of memory at a multiple of 8. */
static void move_cell(arriving *a, uint32_t number, uint64_t at)
{
    value v = sym_cell(a->m, number, at, 64), to = moved(a, v);
    if (v.object && (to.object != v.object || to.bits != v.bits || to.term != v.term))
        sym_set_cell(a->m, number, at, 64, to);
}

static void move_memory(arriving *a)
{
    for (uint32_t i = 0; i < a->m->objects.len; i++) {
        const object *o = &a->m->objects.data[i];
        if (!a->number[i] || o->constant || !o->content) continue;
        for (uint32_t p = 0; p < o->content->n; p++)
            for (uint32_t k = 0; o->content->pages[p] && k + 8 <= o->content->pages[p]->size;
                 k += 8)
                move_cell(a, i, (uint64_t)p * PAGE + k);
    }
}

/* The new address of what was at an address; 0: of a dropped object. */
static uint64_t moved_address(const arriving *a, uint64_t address)
{
    uint32_t number;
    if (!ft_sym_object_around(a->m, address, &number) || !a->number[number]) return 0;
    return address + a->moved[number];
}

/* ---- threads ---- */

static bool stands_at_operation(const ft_sym_state *m, uint32_t t)
{
    const sym_thread *th = sym_thread_of(m, t);
    ft_sym_operation o;
    ft_node_kind kind;
    if (th->open || th->failing || th->returned || th->stands || th->circles || !th->begun)
        return false;
    return ft_sym_stands_before(m, t, &o) && ft_node_kind_of(o.code, o.second, &kind);
}

/* It has ended, and nothing can be done with it any more. */
static bool is_gone(const ft_sym_state *m, uint32_t t)
{
    const sym_thread *th = sym_thread_of(m, t);
    return !th->exists || (th->ended && (th->joined || th->detached));
}

static void settle_registers(arriving *a, sym_thread *th)
{
    for (size_t i = 0; i < th->frames.len; i++) {
        if (th->frames.data[i].once) refuse(a, "a function is called once");
        forget_registers(a->m->world, th, &th->frames.data[i], i + 1 < th->frames.len);
    }
    if (th->finishes) refuse(a, "a function was called once");
}

static void settle_thread(arriving *a, uint32_t t)
{
    sym_thread *th = sym_thread_of(a->m, t);
    if (!th->exists) return;
    if (!th->ended && !stands_at_operation(a->m, t)) refuse(a, "a thread is within a step");
    if (a->status != FT_OK) return;
    settle_registers(a, th);
    if (!th->ended && a->status == FT_OK) sym_sync_settle(a->m, t);
    if (is_gone(a->m, t)) {
        th->joined = false;
        th->detached = true;
        th->result = (value){0};
    }
    th->inputs.len = 0;
    th->changes = th->steps = 0;
    th->decided = (decisions){0};
    th->clock = (ft_sym_clock){{0}};
    if (!th->second) th->outcome = 0;
}

/* Gives threads their new numbers. */
static void order_threads(arriving *a)
{
    ft_sym_state *m = a->m;
    sym_thread *all = ft_calloc(a->n_threads + 1, sizeof *all);
    for (uint32_t i = 0; i < a->n_threads; i++) {
        all[i] = m->threads.data[a->threads[i]];
        a->thread[a->threads[i]] = i + 1;
    }
    for (uint32_t t = 0; t < m->threads.len; t++)
        if (!a->thread[t]) sym_thread_release(&m->threads.data[t]);
    m->threads.len = 0;
    for (uint32_t i = 0; i < a->n_threads; i++) {
        ft_vec_push(&m->threads, all[i]);
        for (size_t k = 0; k < all[i].stack.len; k++)
            m->objects.data[all[i].stack.data[k]].stack_of = i + 1;
    }
    free(all);
}

static uint64_t moved_bits(const arriving *a, uint64_t bits)
{
    uint64_t new = 0;
    for (uint32_t t = 0; t < FT_SYM_THREADS; t++)
        if (bits >> t & 1 && a->thread[t]) new |= UINT64_C(1) << (a->thread[t] - 1);
    return new;
}

static void move_users(arriving *a, sync_object *s)
{
    sync_object old = *s;
    if (s->owner && !a->thread[s->owner - 1]) refuse(a, "a thread has ended and holds a lock");
    if (s->owner) s->owner = a->thread[s->owner - 1];
    s->readers = moved_bits(a, s->readers);
    s->waiters = moved_bits(a, s->waiters);
    s->notified = moved_bits(a, s->notified);
    memset(s->reads, 0, sizeof s->reads);
    for (uint32_t t = 0; t < FT_SYM_THREADS; t++)
        if (a->thread[t]) s->reads[a->thread[t] - 1] = old.reads[t];
}

static bool is_blank(const sync_object *s)
{
    bool made = s->kind == SYNC_SEMAPHORE || s->kind == SYNC_BARRIER;
    return !made && !s->destroyed && !s->owner && !s->count && !s->readers && !s->waiters &&
           !s->notified && s->mutex_kind == FT_MUTEX_NORMAL;
}

static int by_address(const void *a, const void *b)
{
    const sync_object *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static void move_syncs(arriving *a)
{
    ft_sym_state *m = a->m;
    size_t kept = 0;
    for (size_t i = 0; i < m->syncs.len; i++) {
        sync_object s = m->syncs.data[i];
        s.address = moved_address(a, s.address);
        move_users(a, &s);
        if (s.address && !is_blank(&s)) m->syncs.data[kept++] = s;
    }
    m->syncs.len = kept;
    if (kept) qsort(m->syncs.data, kept, sizeof *m->syncs.data, by_address);
}

static void move_thread(arriving *a, uint32_t t)
{
    sym_thread *th = sym_thread_of(a->m, t);
    for (size_t i = 0; i < th->values.len; i++) th->values.data[i] = moved(a, th->values.data[i]);
    if (th->ended) th->result = moved(a, th->result);
}

static void renumber_objects(arriving *a, uint32_t t)
{
    sym_thread *th = sym_thread_of(a->m, t);
    for (uint32_t i = 0; th->own && i < a->m->world->program->objects.len; i++)
        if (th->own[i]) th->own[i] = a->number[th->own[i] - 1];
    for (size_t i = 0; i < th->stack.len; i++) th->stack.data[i] = a->number[th->stack.data[i]] - 1;
}

/* ---- arrivals ---- */

static void put_objects(arriving *a)
{
    ft_sym_state *m = a->m;
    for (uint32_t i = 0; i < m->objects.len; i++) {
        if (a->number[i])
            a->objects.data[a->number[i] - 1].content = m->objects.data[i].content;
        else
            sym_object_drop(&m->objects.data[i]);
    }
    for (uint32_t i = 0; i < m->world->program->objects.len; i++)
        if (!m->world->program->objects.data[i].by_thread)
            m->globals[i] = a->number[m->globals[i]] - 1;
    ft_vec_release(&m->objects);
    m->bytes = 0;
    for (size_t i = 0; i < a->objects.len; i++) {
        ft_vec_push(&m->objects, a->objects.data[i]);
        m->bytes += a->objects.data[i].size;
    }
}

/* Only threads that are gone may be dropped, and @main is never. */
static void check_dropped(arriving *a)
{
    bool kept[FT_SYM_THREADS] = {false};
    for (uint32_t i = 0; i < a->n_threads; i++) {
        if (a->threads[i] >= a->m->threads.len || kept[a->threads[i]] ||
            !a->m->threads.data[a->threads[i]].exists)
            return mismatch(a, "a thread does not exist, or is there twice");
        kept[a->threads[i]] = true;
    }
    for (uint32_t t = 0; t < a->m->threads.len; t++)
        if (!kept[t] && (!t || !is_gone(a->m, t)))
            mismatch(a, "a thread is left out that has not ended");
    if (a->threads[0] != 0) mismatch(a, "the first thread is not @main's");
}

static void forget_way(ft_sym_state *m)
{
    m->old = (uint32_t)m->objects.len;
    m->constraints.len = m->inputs.len = m->accesses.len = 0;
    m->instructions = 0;
    m->reads = 0;
    m->unknown = false;
}

static void move_all(arriving *a)
{
    order_threads(a);
    number_objects(a);
    for (uint32_t t = 0; t < a->m->threads.len; t++) move_thread(a, t);
    move_syncs(a);
    move_memory(a);
    for (uint32_t t = 0; t < a->m->threads.len; t++) renumber_objects(a, t);
    put_objects(a);
    forget_way(a->m);
}

/* How a thread stands, whatever its number is, for the order of threads. */
static void print_standing(const ft_sym_state *m, uint32_t t, ft_strbuf *out)
{
    const sym_thread *th = sym_thread_of(m, t);
    uint64_t bit = UINT64_C(1) << t;
    ft_strbuf_printf(out, "%d %d %d", th->ended, th->detached, th->second);
    for (size_t i = 0; i < th->frames.len; i++)
        ft_strbuf_printf(out, " %" PRIu32 ":%" PRIu32, th->frames.data[i].function->symbol,
                         th->frames.data[i].at);
    for (size_t i = 0; i < m->syncs.len; i++) {
        const sync_object *s = &m->syncs.data[i];
        int use = (s->owner == t + 1) + 2 * !!(s->readers & bit) + 4 * !!(s->waiters & bit) +
                  8 * !!(s->notified & bit);
        if (use) ft_strbuf_printf(out, " %" PRIx64 ":%d", s->address, use);
    }
}

typedef struct standing {
    ft_strbuf text;
    uint32_t thread;
} standing;

static int by_text(const void *a, const void *b)
{
    const standing *x = a, *y = b;
    int order = strcmp(x->text.text, y->text.text);
    return order ? order : (x->thread > y->thread) - (x->thread < y->thread);
}

uint32_t ft_sym_match(const ft_sym_state *m, bool ordered, uint32_t threads[FT_SYM_THREADS])
{
    FT_VEC(standing) all = {0};
    for (uint32_t t = 1; t < m->threads.len; t++) {
        if (is_gone(m, t)) continue;
        standing s = {.thread = t};
        if (!ordered) print_standing(m, t, &s.text);
        ft_strbuf_puts(&s.text, "");
        ft_vec_push(&all, s);
    }
    if (all.len && !ordered) qsort(all.data, all.len, sizeof *all.data, by_text);
    threads[0] = 0;
    for (size_t i = 0; i < all.len; i++) {
        threads[i + 1] = all.data[i].thread;
        ft_strbuf_release(&all.data[i].text);
    }
    uint32_t n = (uint32_t)all.len + 1;
    ft_vec_release(&all);
    return n;
}

ft_status ft_sym_arrive(const ft_sym_state *state, const uint32_t *threads, uint32_t n_threads,
                        ft_sym_state **arrival, ft_error *err)
{
    FT_REQUIRE(state && threads && n_threads && arrival);
    arriving a = {.m = ft_sym_copy(state), .threads = threads, .n_threads = n_threads, .err = err};
    size_t n = state->objects.len + 1;
    a.number = ft_calloc(n, sizeof *a.number);
    a.moved = ft_calloc(n, sizeof *a.moved);
    if (state->section) refuse(&a, "a thread is within an atomic section");
    for (uint32_t t = 0; t < a.m->threads.len; t++) settle_thread(&a, t);
    check_dropped(&a);
    if (a.status == FT_OK) move_all(&a);
    free(a.number);
    free(a.moved);
    ft_vec_release(&a.objects);
    if (a.status == FT_OK)
        *arrival = a.m;
    else
        ft_sym_free(a.m);
    return a.status;
}

/* ---- names ---- */

void sym_stack_place(const ft_sym_state *m, uint32_t t, size_t at, ft_strbuf *place)
{
    const sym_thread *th = sym_thread_of(m, t);
    size_t d = th->frames.len;
    while (th->frames.data[d - 1].objects > at) d--;
    const frame *f = &th->frames.data[d - 1];
    uint32_t maker = m->objects.data[th->stack.data[at]].maker.instruction, newer = 1;
    size_t end = d < th->frames.len ? th->frames.data[d].objects : th->stack.len;
    for (size_t i = at + 1; i < end; i++)
        newer += m->objects.data[th->stack.data[i]].maker.instruction == maker;
    uint32_t result = f->function->instructions.data[maker].result;
    const char *name = result == FT_NO_REGISTER ? "unused" : ft_register_name(f->function, result);
    ft_strbuf_printf(place, "stack:%" PRIu32 "/%zu%%%s", t, d - 1, name);
    if (newer > 1) ft_strbuf_printf(place, "#%" PRIu32, newer);
}

static bool print_heap_place(const ft_sym_state *m, uint32_t number, ft_strbuf *place)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i <= number; i++) k += m->objects.data[i].heap;
    if (m->objects.data[number].heap) ft_strbuf_printf(place, "heap:#%" PRIu32, k);
    return m->objects.data[number].heap;
}

void sym_object_place(const ft_sym_state *m, uint32_t number, ft_strbuf *place)
{
    ft_sym_made made = ft_sym_object_made(m, number);
    if (made.symbol != FT_NO_SYMBOL) {
        if (made.thread != FT_NO_ID) ft_strbuf_printf(place, "%" PRIu32, made.thread);
        ft_strbuf_printf(place, "@%s", ft_program_symbol_name(m->world->program, made.symbol));
        return;
    }
    if (print_heap_place(m, number, place)) return;
    for (uint32_t t = 0; t < m->threads.len; t++)
        for (size_t i = 0; i < m->threads.data[t].stack.len; i++)
            if (m->threads.data[t].stack.data[i] == number) return sym_stack_place(m, t, i, place);
}

ft_symbol ft_sym_world_unknown(ft_sym_world *w, const char *place, uint8_t width)
{
    uint32_t name = ft_intern_add(&w->places, place, strlen(place));
    return sym_symbol_of(w, (sym_input){FT_NO_ID, name, 0, width});
}

bool ft_sym_call(const ft_sym_state *m, uint32_t t, uint32_t depth, ft_sym_place *place)
{
    const sym_thread *th = sym_thread_of(m, t);
    if (depth >= th->frames.len) return false;
    const frame *f = &th->frames.data[th->frames.len - 1 - depth];
    *place = (ft_sym_place){f->function->symbol, f->at};
    return true;
}

bool ft_sym_is_second(const ft_sym_state *m, uint32_t t)
{
    const sym_thread *th = sym_thread_of(m, t);
    return th->second || th->finishes;
}

ft_sym_place ft_sym_maker(const ft_sym_state *m, uint32_t number)
{
    const object *o = &m->objects.data[number];
    if (!o->heap && !o->stack_of) return (ft_sym_place){FT_NO_SYMBOL, 0};
    return o->maker;
}

uint32_t ft_sym_old_objects(const ft_sym_state *m)
{
    return m->old;
}

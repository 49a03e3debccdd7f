#include "cover/trace.h"

#include <stdlib.h>

#include "base/contract.h"
#include "symbolic/epoch.h"

void cover_trace_release(cover_trace *t)
{
    ft_vec_release(&t->entries);
    ft_vec_release(&t->frames);
    ft_vec_release(&t->accesses);
    ft_vec_release(&t->terms);
    ft_vec_release(&t->operations);
    ft_vec_release(&t->edges);
    ft_vec_release(&t->abstracts);
}

static cover_entry entry_at(const cover_thread *th, uint32_t thread, uint32_t instruction)
{
    return (cover_entry){.thread = thread,
                         .frame = th->frame,
                         .instruction = instruction,
                         .target = FT_NO_ID,
                         .callee = FT_NO_ID,
                         .peer = FT_NO_ID};
}

/* The instruction at which a frame is, of one that a `once` called the `once`. */
static uint32_t call_at(const ft_program *p, const ft_sym_place *place, bool calls)
{
    const ft_instruction *in =
        &ft_program_function(p, place->function)->instructions.data[place->instruction];
    bool is_call = in->code == FT_CODE_CALL || in->code == FT_CODE_CALL_AT;
    return place->instruction - (calls && !is_call);
}

/* The calls of a thread that stands in the middle, and its operation. */
static void begin_thread(cover_trace *t, const ft_sym_state *state, uint32_t thread)
{
    cover_thread *th = &t->threads[thread];
    uint32_t depth = 0;
    ft_sym_place place;
    ft_sym_operation o;
    if (!ft_sym_stands_before(state, thread, &o) || o.code == FT_CODES) return;
    while (ft_sym_call(state, thread, depth, &place)) depth++;
    for (uint32_t d = depth; d-- > 0 && ft_sym_call(state, thread, d, &place);) {
        cover_frame f = {.thread = thread,
                         .function = t->control->program->symbols.data[place.function].index,
                         .parent = th->frame,
                         .call = th->next.instruction,
                         .depth = depth - d};
        if (th->frame == FT_NO_ID) th->base = (uint32_t)t->frames.len;
        th->frame = (uint32_t)t->frames.len;
        ft_vec_push(&t->frames, f);
        bool calls = d || (o.code == FT_CODE_ONCE && o.second);
        th->next = entry_at(th, thread, call_at(t->control->program, &place, calls));
    }
    if (!ft_sym_is_second(state, thread)) return;
    th->begun = th->next;
    th->next.instruction = FT_NO_ID;
}

static void begin_objects(cover_trace *t, const ft_sym_state *state)
{
    const ft_program *p = t->control->program;
    for (uint32_t i = 0; i < ft_sym_old_objects(state); i++) {
        ft_sym_place maker = ft_sym_maker(state, i);
        uint32_t a = FT_NO_ABSTRACT;
        if (maker.function != FT_NO_SYMBOL)
            a = ft_flow_made_by(t->control->flow, p->symbols.data[maker.function].index,
                                maker.instruction);
        ft_vec_push(&t->abstracts, a);
    }
}

void cover_trace_begin(cover_trace *t, const cover_control *control, const ft_sym_state *state)
{
    t->control = control;
    t->entries.len = t->frames.len = t->accesses.len = t->terms.len = 0;
    t->operations.len = t->edges.len = t->abstracts.len = 0;
    t->n_threads = 1;
    t->endless = false;
    for (int i = 0; i < FT_SYM_THREADS; i++)
        t->threads[i] = (cover_thread){.frame = FT_NO_ID,
                                       .base = FT_NO_ID,
                                       .next.instruction = FT_NO_ID,
                                       .begun.instruction = FT_NO_ID};
    if (!ft_sym_old_objects(state)) return;
    begin_objects(t, state);
    t->n_threads = ft_sym_thread_count(state);
    for (uint32_t i = 0; i < t->n_threads; i++) begin_thread(t, state, i);
}

/* ---- frames ---- */

static void enter(cover_trace *t, const ft_sym_note *note)
{
    cover_thread *th = &t->threads[note->thread];
    uint32_t number = (uint32_t)t->frames.len;
    const ft_program *p = t->control->program;
    cover_frame f = {.thread = note->thread,
                     .function = p->symbols.data[note->place.function].index,
                     .parent = th->frame,
                     .depth = note->depth};
    if (th->frame == FT_NO_ID) {
        th->base = number;
    } else {
        cover_entry *call = &t->entries.data[th->last - 1];
        call->callee = number;
        f.call = call->instruction;
    }
    th->frame = number;
    ft_vec_push(&t->frames, f);
}

/* Calls and returns show in the depth at the next instruction. */
static void follow_depth(cover_trace *t, const ft_sym_note *note)
{
    cover_thread *th = &t->threads[note->thread];
    while (th->frame != FT_NO_ID && t->frames.data[th->frame].depth > note->depth)
        th->frame = t->frames.data[th->frame].parent;
    if (th->frame == FT_NO_ID || t->frames.data[th->frame].depth < note->depth) enter(t, note);
}

/* ---- entries ---- */

static const ft_instruction *instruction_of(const cover_trace *t, uint32_t frame, uint32_t i)
{
    uint32_t f = t->frames.data[frame].function;
    return &t->control->program->functions.data[f].instructions.data[i];
}

static cover_entry *newest(cover_trace *t, uint32_t thread)
{
    cover_thread *th = &t->threads[thread];
    if (th->next.instruction != FT_NO_ID) return &th->next;
    assert(th->last);
    return &t->entries.data[th->last - 1];
}

static void come_to(cover_trace *t, const ft_sym_note *note)
{
    cover_thread *th = &t->threads[note->thread];
    if (th->open) { /* done anew: what it decided stays */
        th->open = false;
        return;
    }
    follow_depth(t, note);
    cover_entry e = {.thread = note->thread,
                     .frame = th->frame,
                     .instruction = note->place.instruction,
                     .terms = (uint32_t)t->terms.len,
                     .accesses = (uint32_t)t->accesses.len,
                     .target = FT_NO_ID,
                     .callee = FT_NO_ID,
                     .peer = FT_NO_ID};
    ft_code code = (ft_code)instruction_of(t, th->frame, e.instruction)->code;
    if (ft_instruction_row_of(code)->effect == FT_EFFECT_VISIBLE) {
        th->next = e;
        return;
    }
    th->next.instruction = FT_NO_ID;
    ft_vec_push(&t->entries, e);
    th->last = (uint32_t)t->entries.len;
}

static void add_access(cover_trace *t, const ft_sym_note *note)
{
    cover_entry *e = newest(t, note->thread);
    if (e->kind == COVER_STEP && !e->n_accesses) e->accesses = (uint32_t)t->accesses.len;
    ft_vec_push(&t->accesses, (cover_access){note->object, note->writes, note->term != FT_NO_TERM,
                                             note->at, note->n});
    e->n_accesses++;
}

/* The abstract object of a new one: of the instruction, or of the call of a function that does
 * nothing but allocate. */
static void add_object(cover_trace *t, const ft_sym_note *note)
{
    const cover_entry *e = newest(t, note->thread);
    const cover_frame *f = &t->frames.data[e->frame];
    uint32_t a = ft_flow_made_by(t->control->flow, f->function, e->instruction);
    if (a == FT_NO_ABSTRACT && f->parent != FT_NO_ID)
        a = ft_flow_made_by(t->control->flow, t->frames.data[f->parent].function, f->call);
    while (t->abstracts.len <= note->object) ft_vec_push(&t->abstracts, FT_NO_ABSTRACT);
    t->abstracts.data[note->object] = a;
}

void cover_trace_follow(cover_trace *t, const ft_sym_state *state, const ft_sym_note *note)
{
    (void)state;
    switch (note->kind) {
    case FT_SYM_AT:
        come_to(t, note);
        break;
    case FT_SYM_OPEN:
        t->threads[note->thread].open = true;
        break;
    case FT_SYM_ARM: {
        cover_entry *e = newest(t, note->thread);
        if (!e->n_terms) e->terms = (uint32_t)t->terms.len;
        ft_vec_push(&t->terms, note->term);
        e->n_terms++;
        break;
    }
    case FT_SYM_ACCESS:
        add_access(t, note);
        break;
    case FT_SYM_MADE:
        add_object(t, note);
        break;
    case FT_SYM_LOOP:
        newest(t, note->thread)->kind = COVER_LOOP;
        newest(t, note->thread)->peer = note->object;
        break;
    case FT_SYM_TARGET:
        newest(t, note->thread)->target = note->target;
        break;
    }
}

/* Behind the function that a `once` calls, the `once` is at the call. */
static cover_entry second_step(const cover_trace *t, const cover_thread *th)
{
    cover_entry e = th->operation ? t->entries.data[th->operation - 1] : th->begun;
    const cover_frame *f = &t->frames.data[th->frame];
    if (e.frame == th->frame || f->parent == FT_NO_ID) return e;
    e.frame = f->parent;
    e.instruction = f->call;
    e.n_terms = 0;
    return e;
}

cover_entry *cover_trace_operation(cover_trace *t, uint32_t thread, cover_entry_kind kind)
{
    cover_thread *th = &t->threads[thread];
    bool second = th->next.instruction == FT_NO_ID;
    FT_REQUIRE(!second || th->operation || th->begun.instruction != FT_NO_ID);
    cover_entry e = second ? second_step(t, th) : th->next;
    e.kind = (uint8_t)kind;
    e.accesses = (uint32_t)t->accesses.len;
    e.n_accesses = 0;
    e.callee = e.peer = FT_NO_ID;
    ft_vec_push(&t->entries, e);
    th->last = th->operation = (uint32_t)t->entries.len;
    th->next.instruction = FT_NO_ID;
    return &t->entries.data[th->last - 1];
}

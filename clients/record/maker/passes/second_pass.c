/* The second pass: reads the log once more and appends the trace's events. */
#include <string.h>

#include "base/contract.h"
#include "maker/passes/passes.h"
#include "maker/replay/inputs.h"

static uint32_t next_block(ft_maker *m)
{
    assert(m->memory.born.len < m->inventory.allocations.len);
    ft_vec_push(&m->memory.born, m->now);
    return (uint32_t)m->memory.born.len - 1;
}

static void allocate(ft_maker *m, const ft_raw_record *r)
{
    uint32_t index = next_block(m);
    ft_lives_begin(&m->memory.lives, r->operands[1], r->operands[2]);
    uint32_t block = m->memory.blocks.data[index];
    ft_map_put(&m->memory.live, r->operands[1], index);
    if (block == FT_NO_ID) return;
    m->memory.uses.data[block].made = ft_builder_count(m->builder);
    /* Without a told content the system or uninstrumented code filled the block: synthetic. */
    bool told = ft_cells_extent_of(m->cells, index).told;
    ft_maker_event(m, FT_EVENT_ALLOC, r, block, r->operands[0], FT_NO_VALUE,
                   told ? 0 : FT_FLAG_SYNTHETIC);
}

static void release(ft_maker *m, const ft_raw_record *r)
{
    uint64_t index;
    if (!ft_map_get(&m->memory.live, r->operands[1], &index)) return;
    uint32_t block = m->memory.blocks.data[index];
    if (block != FT_NO_ID)
        ft_maker_event(m, FT_EVENT_FREE, r, block, r->operands[0], FT_NO_VALUE, 0);
}

/* The source text of the assertion at that site. */
static uint32_t keep_expression(ft_maker *m, const ft_raw_record *r)
{
    uint32_t loc = ft_names_location(&m->names, r->operands[0]);
    if (loc != FT_NO_LOC && r->length)
        ft_builder_assertion(m->builder, loc, (const char *)r->text, r->length);
    return loc;
}

static void asserted(ft_maker *m, const ft_raw_record *r)
{
    keep_expression(m, r);
}

/* An assertion that failed in the run: its condition is false, whatever it was. */
static void failed(ft_maker *m, const ft_raw_record *r)
{
    uint32_t loc = keep_expression(m, r);
    ft_term never =
        ft_term_literal(ft_builder_terms(m->builder), (ft_value){.sort = FT_BOOL_SORT, .bits = 0});
    ft_builder_action(m->builder, FT_EVENT_ASSERT, ft_names_thread(&m->names, r->thread), loc,
                      never, NULL, 0, FT_FLAG_FAILED);
}

static void end_thread(ft_maker *m, const ft_raw_record *r)
{
    ft_running_thread *a = &m->threads.all.data[r->thread];
    if (a->gives || ft_cells_late(m->cells, r->thread)) {
        a->last_edge = ft_maker_edge(m);
        ft_maker_edge_event(m, FT_EVENT_EDGE_OUT, r->thread, a->last_edge);
    }
    ft_maker_event(m, FT_EVENT_END, r, 0, UINT64_MAX, FT_NO_VALUE, 0);
    a->ended = true;
}

/* In a deadlock of the run: the request that the thread was blocked in. */
static void blocked(ft_maker *m, const ft_raw_record *r)
{
    const uint64_t *o = r->operands;
    ft_event_kind kind = (ft_event_kind)o[0];
    uint32_t target = kind == FT_EVENT_JOIN ? ft_names_thread(&m->names, (uint32_t)o[2])
                                            : ft_names_object(&m->names, o[2]);
    ft_maker_event(m, kind, r, target, o[3], FT_NO_VALUE, (uint8_t)(o[1] | FT_FLAG_BLOCKED));
}

static void keep_input(ft_maker *m, const ft_raw_record *r)
{
    uint64_t site = r->operands[1],
             pc = site < m->inventory.sites.len ? m->inventory.sites.data[site] : 0;
    const ft_inventory_module *from = ft_inventory_module_at(&m->inventory, pc);
    ft_inputs_add(m->builder, ft_names_thread(&m->names, r->thread), r->operands,
                  from ? ft_names_module(&m->names, from) + 1 : 0, from ? pc - from->base : 0);
}

/* New memory has no terms; what a thread has is published before others are ordered after it. */
static void tell_terms(ft_maker *m, const ft_raw_record *r)
{
    const uint64_t *o = r->operands;
    if (!m->terms) return;
    if (r->operation == FT_RAW_ALLOC) ft_terms_forget(m->terms, o[1], o[2]);
    if (r->operation == FT_RAW_BEGIN) ft_terms_forget(m->terms, o[0], o[1]);
    if (r->operation == FT_RAW_FORK || r->operation == FT_RAW_END) ft_maker_publish(m, r);
}

static void fork_thread(ft_maker *m, const ft_raw_record *r)
{
    uint32_t child = ft_names_thread(&m->names, (uint32_t)r->operands[1]);
    assert(m->threads.all.data[r->operands[1]].forked == UINT64_MAX); /* forked once */
    m->threads.all.data[r->operands[1]].forked = m->now;
    m->threads.all.data[r->operands[1]].forked_at = ft_names_location(&m->names, r->operands[0]);
    ft_maker_event(m, FT_EVENT_FORK, r, child, r->operands[0], FT_NO_VALUE, 0);
}

static void meet_function(ft_maker *m, const ft_raw_record *r)
{
    m->threads.all.data[r->operands[1]].function = r->operands[0];
}

static void join_thread(ft_maker *m, const ft_raw_record *r)
{
    uint32_t child = ft_names_thread(&m->names, (uint32_t)r->operands[1]);
    ft_maker_event(m, FT_EVENT_JOIN, r, child, r->operands[0], FT_NO_VALUE,
                   (uint8_t)r->operands[2]);
}

static void begin_thread(ft_maker *m, const ft_raw_record *r)
{
    ft_cells_extent stack = ft_cells_extent_of(m->cells, next_block(m));
    if (stack.size) ft_lives_begin(&m->memory.lives, stack.address, stack.size);
    ft_running_thread *self = &m->threads.all.data[r->thread];
    uint64_t site = self->function ? self->function : UINT64_MAX;
    ft_maker_event(m, FT_EVENT_BEGIN, r, 0, site, FT_NO_VALUE, 0);
    self->begun = true;
}

/* Edges around a change of a semaphore's count, where some thread reads the count; not a step. */
static void keep_count(ft_maker *m, const ft_raw_record *r, uint64_t flag, uint64_t channel)
{
    const uint64_t operands[] = {flag, channel};
    ft_event_kind kind = (ft_event_kind)r->operands[0];
    if (kind != FT_EVENT_POST && kind != FT_EVENT_WAIT) return;
    ft_builder_hook(m->builder, 0);
    ft_channels_follow(m->channels, m->builder, ft_names_thread(&m->names, r->thread), operands,
                       FT_NO_LOC);
    ft_builder_hook(m->builder, m->step);
}

/* Edges of a library lock's section (order/library_locks.h). */
static void keep_section(ft_maker *m, const ft_raw_record *r, uint64_t flag)
{
    const uint64_t operands[] = {flag, FT_RAW_CHANNEL_SECTIONS | r->operands[2]};
    ft_builder_hook(m->builder, 0);
    ft_channels_follow(m->channels, m->builder, ft_names_thread(&m->names, r->thread), operands,
                       FT_NO_LOC);
    ft_builder_hook(m->builder, m->step);
}

static void keep_handed(ft_maker *m, const ft_raw_record *r)
{
    const uint64_t *o = r->operands;
    bool acquires = o[0] == FT_EVENT_ACQUIRE || o[0] == FT_EVENT_ACQUIRE_SHARED;
    if (acquires && ft_library_locks_is(m->locks, o[2])) keep_section(m, r, FT_RAW_CHANNEL_IN);
}

static void hand_on(ft_maker *m, const ft_raw_record *r)
{
    const uint64_t *o = r->operands;
    if (o[0] == FT_EVENT_RELEASE && ft_library_locks_hands_on(m->locks, o[2]))
        keep_section(m, r, FT_RAW_CHANNEL_OUT);
}

/* Edges go around the step's own events: nothing comes between the use of an object and its event
 * (replay/plan.c, deed). */
static void synchronise(ft_maker *m, const ft_raw_record *r)
{
    const uint64_t *o = r->operands;
    uint32_t id = ft_names_object(&m->names, o[2]);
    hand_on(m, r);
    keep_count(m, r, FT_RAW_CHANNEL_IN, FT_RAW_CHANNEL_OF(FT_RAW_CHANNEL_LOOKED, o[2]));
    ft_maker_use_object(m, r);
    ft_maker_event(m, (ft_event_kind)o[0], r, id, o[3], FT_NO_VALUE, (uint8_t)o[1]);
    keep_count(m, r, FT_RAW_CHANNEL_OUT, FT_RAW_CHANNEL_OF(FT_RAW_CHANNEL_COUNTED, o[2]));
    keep_handed(m, r);
}

static void mark(ft_maker *m, const ft_raw_record *r)
{
    m->summary->transactions += r->operands[0] == FT_EVENT_TX_BEGIN;
    ft_maker_event(m, (ft_event_kind)r->operands[0], r, 0, r->operands[1], FT_NO_VALUE, 0);
}

static void follow_terms(ft_maker *m, const ft_raw_record *r)
{
    if (m->terms) ft_terms_follow(m->terms, ft_maker_place(m, r, UINT64_MAX), r);
}

static void assert_term(ft_maker *m, const ft_raw_record *r)
{
    const uint64_t *o = r->operands;
    if (m->terms) ft_terms_assert(m->terms, ft_maker_place(m, r, o[0]), o[1]);
}

static void ignore(ft_maker *m, const ft_raw_record *r)
{
    m->threads.all.data[r->thread].ignored = r->operands[0];
}

static void declare_benign(ft_maker *m, const ft_raw_record *r)
{
    ft_maker_benign(m, r->operands[0], r->operands[1]);
}

static void keep_piece(ft_maker *m, const ft_raw_record *r)
{
    ft_builder_inputs(m->builder, r->text, r->length);
}

/* A lock that a forked process waits for (common/trace/trace.h, FT_EDGE_PROCESS). */
static bool pass_want(ft_maker *m, const ft_raw_record *r)
{
    uint64_t first = FT_RAW_CHANNEL_OF(FT_RAW_CHANNEL_WANTS, 0), want = r->operands[1] - first;
    if (r->operands[1] < first || want >> FT_RAW_CHANNEL_KIND_SHIFT) return false;
    uint64_t object = want % FT_RAW_FORKS / 2;
    if (object >= m->inventory.objects.len) return true;
    ft_raw_class class = m->inventory.objects.data[object].class;
    if (class != FT_RAW_CLASS_MUTEX && class != FT_RAW_CLASS_RWLOCK) return true;
    ft_strbuf name = {0};
    uint32_t lock = ft_names_object(&m->names, object);
    ft_strbuf_printf(&name, FT_EDGE_PROCESS " %llu %s %s",
                     (unsigned long long)(want / FT_RAW_FORKS), want & 1 ? "reads" : "locks",
                     ft_builder_peek(m->builder)->locks.names[lock]);
    uint32_t edge = ft_builder_edge(m->builder, name.text, name.len);
    ft_strbuf_release(&name);
    ft_builder_event(m->builder, FT_EVENT_EDGE_OUT, ft_names_thread(&m->names, r->thread), edge,
                     ft_names_locate(&m->names, r->operands[2]), FT_NO_VALUE, 0);
    return true;
}

static void pass_channel(ft_maker *m, const ft_raw_record *r)
{
    const uint64_t *o = r->operands;
    if (pass_want(m, r)) return;
    uint32_t thread = ft_names_thread(&m->names, r->thread);
    ft_channels_follow(m->channels, m->builder, thread, o, ft_names_locate(&m->names, o[2]));
    bool fed = !(o[1] & (FT_RAW_CHANNEL_SIGNAL | FT_RAW_CHANNEL_TAKEN));
    if (fed) ft_inputs_add_channel(m->builder, thread, o);
}

static void meet_limit(ft_maker *m, const ft_raw_record *r)
{
    uint64_t site = r->operands[0], ns = r->operands[1];
    for (size_t i = 0; i < m->limits.len; i++) {
        ft_maker_limit *limit = &m->limits.data[i];
        if (limit->site != site) continue;
        if (limit->longest < ns) limit->longest = ns;
        return;
    }
    if (m->limits.len < FT_MAKER_LIMITS) ft_vec_push(&m->limits, (ft_maker_limit){site, ns});
}

/* Other operations were for the first pass, or are for the cells. */
static void (*const followers[FT_RAW_OPERATIONS])(ft_maker *, const ft_raw_record *) = {
    [FT_RAW_FORK] = fork_thread,
    [FT_RAW_FUNCTION] = meet_function,
    [FT_RAW_SHOWN] = ft_maker_show,
    [FT_RAW_JOIN] = join_thread,
    [FT_RAW_BEGIN] = begin_thread,
    [FT_RAW_END] = end_thread,
    [FT_RAW_SYNC] = synchronise,
    [FT_RAW_MARK] = mark,
    [FT_RAW_ALLOC] = allocate,
    [FT_RAW_FREE] = release,
    [FT_RAW_FAILED] = failed,
    [FT_RAW_ASSERTED] = asserted,
    [FT_RAW_TERMS] = follow_terms,
    [FT_RAW_ASSERT] = assert_term,
    [FT_RAW_BLOCKED] = blocked,
    [FT_RAW_IGNORE] = ignore,
    [FT_RAW_BENIGN] = declare_benign,
    [FT_RAW_INPUT] = keep_input,
    [FT_RAW_PIECE] = keep_piece,
    [FT_RAW_CHANNEL] = pass_channel,
    [FT_RAW_INITIALISED] = ft_maker_initialise_object,
    [FT_RAW_DESTROYED] = ft_maker_destroy_object,
    [FT_RAW_RECLAIMED] = ft_maker_reclaim_object,
    [FT_RAW_EXPIRED] = meet_limit,
};

static void follow_operation(ft_maker *m, const ft_raw_record *r)
{
    tell_terms(m, r);
    if (followers[r->operation]) followers[r->operation](m, r);
}

static uint32_t next_step(ft_running_thread *a)
{
    a->steps++;
    if (!a->swapped) return a->steps;
    return a->swapped-- == 2 ? a->steps + 1 : a->steps - 1;
}

/* The record's step number in its thread, in the order of the hooks; 0: it is not a step. */
static uint32_t step_of(ft_maker *m, const ft_raw_record *r)
{
    bool memory = !r->access && (r->operation == FT_RAW_ALLOC || r->operation == FT_RAW_FREE);
    if (memory && ft_names_site_is(&m->names, r->operands[0], FT_SITE_OWN_MEMORY)) return 0;
    ft_running_thread *a = &m->threads.all.data[r->thread];
    if (!r->access && r->operation == FT_RAW_SWAPPED) a->swapped = 2;
    if (!r->access && !(FT_RAW_STEPS >> r->operation & 1)) return 0;
    return next_step(a);
}

static void follow_record(ft_maker *m, const ft_raw_record *r)
{
    m->now++;
    ft_cells_follow(m->cells, r);
    bool begins = !r->access && r->operation == FT_RAW_BEGIN;
    if (!begins) ft_maker_fence(m, r->thread);
    m->threads.all.data[r->thread].ran = m->now;
    m->step = step_of(m, r);
    ft_builder_hook(m->builder, m->step);
    ft_names_enter(&m->names, ft_stacks_context(m->names.stacks, r->thread));
    ft_builder_aside(m->builder, m->threads.all.data[r->thread].ignored);
    if (r->access)
        ft_maker_access(m, r);
    else
        follow_operation(m, r);
    if (begins) ft_maker_fence(m, r->thread);
}

/* Events one by one: in recordings with terms, or when hooks came out of order. */
static void follow_singly(ft_maker *m, const ft_raw_record *r)
{
    ft_raw_record one;
    ft_running_thread *a = &m->threads.all.data[r->thread];
    for (uint32_t i = 0; i < r->n_events; i++) {
        const ft_raw_event *e = &r->events[i];
        if (e->code >= FT_RAW_ENTER) {
            ft_stacks_follow(m->names.stacks, r->thread, e);
            continue;
        }
        a->ran = ++m->now;
        m->step = next_step(a);
        ft_builder_hook(m->builder, m->step);
        ft_names_enter(&m->names, ft_stacks_context(m->names.stacks, r->thread));
        ft_raw_record_of(e, r->thread, &one);
        ft_maker_access(m, &one);
    }
}

/* No event of the batch accesses a cell. */
static void pass_events(ft_maker *m, const ft_raw_record *r)
{
    uint32_t accesses = r->n_events - r->sum->calls;
    ft_stacks_pass(m->names.stacks, r->thread, r->sum);
    m->threads.all.data[r->thread].steps += accesses;
    m->now += accesses;
}

/* Does the next batch of events, if one comes, have to be read event by event? */
static bool wants_events(const ft_maker *m, uint32_t thread)
{
    return m->terms || m->threads.all.data[thread].swapped || ft_cells_wants(m->cells);
}

static void follow_events(ft_maker *m, const ft_raw_record *r)
{
    FT_REQUIRE(r->n_events <= FT_RAW_BATCH && r->thread < m->threads.all.len);
    ft_running_thread *a = &m->threads.all.data[r->thread];
    ft_cells_turn(m->cells, r->thread);
    ft_maker_fence(m, r->thread);
    ft_builder_aside(m->builder, a->ignored);
    if (!r->events)
        pass_events(m, r);
    else if (m->terms || a->swapped)
        follow_singly(m, r);
    else
        ft_maker_keep_events(m, r);
    a->ran = m->now;
}

/* A lock inside a library is a channel: each release puts something in, each acquire takes it. */
static void declare_library_locks(ft_maker *m)
{
    for (uint64_t o = 0; o < m->inventory.objects.len; o++) {
        const uint64_t operands[] = {FT_RAW_CHANNEL_IN, FT_RAW_CHANNEL_SECTIONS | o};
        if (ft_library_locks_is(m->locks, o))
            ft_channels_meet(m->channels, 0, operands, FT_NO_ALLOCATION);
    }
}

static uint32_t location_at(void *maker, uint64_t pc)
{
    ft_maker *m = maker;
    return ft_names_location_at(&m->names, pc);
}

static bool is_target(void *maker, uint32_t thread, uint64_t address, uint64_t size,
                      uint32_t *variable)
{
    return ft_maker_is_target(maker, thread, address, size, variable);
}

_Static_assert((int)FT_TARGETS_MOST == (int)FT_TERMS_VALUES,
               "a set fits into what the terms ask for");
static uint32_t values_in(void *maker, uint64_t address, uint64_t *values)
{
    const ft_maker *m = maker;
    const ft_target_set *set = ft_pointer_targets_values(&m->targets, address);
    if (set) memcpy(values, set->items, set->n * sizeof *values);
    return set ? set->n : 0;
}

/* Everything that events refer to is declared in the builder before the first of them. */
static void declare(ft_maker *m)
{
    const ft_terms_surroundings around = {m, location_at, ft_maker_is_ordered, is_target,
                                          values_in};
    ft_names_start(&m->names, m->builder);
    ft_running_threads_init(&m->threads, m->inventory.parents.len);
    m->memory.addresses_read = ft_addresses_read_new();
    m->summary->terms.on = ft_raw_log_header(m->log)->symbolic;
    if (m->summary->terms.on) m->terms = ft_terms_new(m->builder, &m->summary->terms, &around);
    if (m->inventory.modules.len) ft_names_module(&m->names, m->inventory.modules.data);
    ft_maker_declare_memory(m);
    ft_maker_declare_objects(m);
    declare_library_locks(m);
}

/* A run that was ended because it hung mostly repeats itself: its first events are enough. */
static bool is_enough(const ft_maker *m)
{
    enum { HANG_EVENTS = 1000000 };
    bool hangs = m->failure_kind &&
                 (!strcmp(m->failure_kind, "hang") || !strcmp(m->failure_kind, "live-lock"));
    return hangs && ft_builder_count(m->builder) >= HANG_EVENTS;
}

/* The last of the newest events that is a step of the program, which a replay can stop at: an order
 * that was added is not. The location, because the trace may be on its way already. */
static void see(ft_maker *m, uint32_t thread, uint32_t newest)
{
    ft_running_thread *a = &m->threads.all.data[thread];
    const ft_trace *trace = ft_builder_peek(m->builder);
    uint32_t last = 0;
    while (last + 1 < newest && last + 1 < trace->n_events &&
           !trace->hook[trace->n_events - 1 - last])
        last++;
    a->seen = ft_builder_count(m->builder) - 1 - last;
    if (last < trace->n_events) a->seen_at = trace->loc[trace->n_events - 1 - last];
}

/* The log of a program that was killed, or ended from outside, may do so. */
static bool ends_inside_turn(const ft_maker *m)
{
    uint32_t end = ft_raw_log_header(m->log)->end;
    return end == FT_RAW_END_OPEN || end == FT_RAW_END_LATE || end == FT_RAW_END_LIVE_LOCK ||
           end == FT_RAW_END_ENDLESS;
}

void ft_maker_second_pass(ft_maker *m)
{
    FT_REQUIRE(m->builder && !m->memory.shadows);
    ft_raw_record r = {0};
    declare(m);
    FT_CHECK(ft_maker_is_sound(m));
    ft_raw_log_rewind(m->log);
    bool whole = true;
    while (whole) {
        ft_raw_log_pass_over(m->log, !wants_events(m, r.thread));
        if (!ft_raw_log_next(m->log, &r, NULL)) break;
        uint32_t events = ft_builder_count(m->builder);
        if (r.n_events) follow_events(m, &r);
        if (r.access || !r.n_events) follow_record(m, &r);
        uint32_t newest = ft_builder_count(m->builder) - events;
        if (newest) see(m, r.thread, newest);
        m->threads.last = r.thread;
        whole = !is_enough(m);
    }
    assert(!whole || m->memory.born.len == m->inventory.allocations.len);
    if (whole && !ends_inside_turn(m)) ft_cells_end(m->cells);
    FT_CHECK(ft_maker_is_sound(m));
}

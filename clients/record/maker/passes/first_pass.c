/* The first pass: reads the log while the program runs, and learns what is in it. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/contract.h"
#include "maker/passes/passes.h"

enum { PAUSE = 1000000, SECOND = 1000000000 }; /* ns */

/* ---- records */

static void meet_module(ft_maker *m, const ft_raw_record *r)
{
    (void)r;
    ft_names_add_module(&m->names);
}

static void meet_allocation(ft_maker *m, const ft_raw_record *r)
{
    ft_vec_push(&m->inventory.allocations,
                ft_names_allocation(&m->names, r->thread, (uint32_t)r->operands[0]));
}

/* A thread's stack counts as an allocation (cells/cells.h), without a site. */
static void meet_begin(ft_maker *m, const ft_raw_record *r)
{
    (void)r;
    ft_vec_push(&m->inventory.allocations, (ft_inventory_allocation){0});
}

static uint32_t frame_at(void *of, uint32_t thread, uint64_t address)
{
    ft_maker *m = of;
    ft_raw_frame frame;
    if (!ft_raw_log_frame_at(m->log, thread, address, &frame) || !frame.site) return 0;
    ft_vec_push(&m->inventory.frames, frame);
    return (uint32_t)m->inventory.frames.len;
}

static uint32_t since(void *of, uint32_t thread, uint64_t address)
{
    const ft_maker *m = of;
    ft_raw_frame frame;
    return ft_raw_log_frame_at(m->log, thread, address, &frame) ? frame.since : 0;
}

static void meet_object(ft_maker *m, const ft_raw_record *r)
{
    const uint64_t *o = r->operands;
    uint64_t start = o[1];
    uint32_t block = ft_cells_block_at(m->cells, o[1], &start), frame = 0;
    if (block == FT_NO_ALLOCATION) {
        uint32_t thread = ft_cells_stack_at(m->cells, o[1]);
        if (thread != FT_NO_OWNER) frame = frame_at(m, thread, o[1]);
    }
    ft_vec_push(&m->inventory.objects, (ft_inventory_object){.class = (ft_raw_class)o[0],
                                                             .address = o[1],
                                                             .kind = o[2],
                                                             .allocation = block,
                                                             .frame = frame,
                                                             .offset = (uint32_t)(o[1] - start)});
}

static void meet_channel(ft_maker *m, const ft_raw_record *r)
{
    uint64_t start = 0, address = r->operands[1] & ~FT_RAW_CHANNEL_TAKEN;
    bool stream = r->operands[1] & FT_RAW_CHANNEL_TAKEN;
    uint32_t block = stream ? ft_cells_block_at(m->cells, address, &start) : FT_NO_ALLOCATION;
    ft_channels_meet(m->channels, r->thread, r->operands, block);
}

static void meet_sync(ft_maker *m, const ft_raw_record *r)
{
    const uint64_t *o = r->operands;
    bool shared = m->inventory.objects.data[o[2]].class == FT_RAW_CLASS_RWLOCK;
    if (o[0] == FT_EVENT_ACQUIRE || o[0] == FT_EVENT_ACQUIRE_SHARED)
        ft_library_locks_acquire(m->locks, r->thread, o[2],
                                 ft_names_site_is(&m->names, o[3], FT_SITE_INSTRUMENTED));
    else if (o[0] == FT_EVENT_RELEASE)
        ft_library_locks_release(m->locks, r->thread, o[2],
                                 ft_names_site_is(&m->names, o[3], FT_SITE_INSTRUMENTED), shared);
}

static void meet_unseen(ft_maker *m, const ft_raw_record *r)
{
    (void)r;
    m->summary->unseen++;
}

static void meet_doing(ft_maker *m, const ft_raw_record *r)
{
    const uint64_t *o = r->operands;
    ft_maker_doing doing = {(uint32_t)o[0], (ft_raw_doing)o[1], (ft_event_kind)o[2], o[3]};
    ft_vec_push(&m->doing, doing);
}

/* Other operations are for the inventory, the cells or the second pass. */
static void (*const meetings[FT_RAW_OPERATIONS])(ft_maker *, const ft_raw_record *) = {
    [FT_RAW_BEGIN] = meet_begin,      [FT_RAW_MODULE] = meet_module,
    [FT_RAW_ALLOC] = meet_allocation, [FT_RAW_OBJECT] = meet_object,
    [FT_RAW_CHANNEL] = meet_channel,  [FT_RAW_SYNC] = meet_sync,
    [FT_RAW_UNSEEN] = meet_unseen,    [FT_RAW_DOING] = meet_doing,
};

static void meet(ft_maker *m, const ft_raw_record *r)
{
    ft_inventory_add(&m->inventory, r);
    if (meetings[r->operation]) meetings[r->operation](m, r);
    ft_maker_meet_object(m, r);
}

/* An access by instrumented code while its thread holds a lock makes that lock one of the program's
 * (order/library_locks.h). Hooks of the C library (write, read) may come from uninstrumented code.
 */
static void look_into_sections(ft_maker *m, const ft_raw_record *r)
{
    if (!ft_library_locks_holds(m->locks, r->thread)) return;
    const ft_raw_event *events = ft_raw_log_shown(m->log, r);
    bool any = r->access && ft_names_site_is(&m->names, r->site, FT_SITE_INSTRUMENTED);
    for (uint32_t i = 0; i < r->n_events && !any; i++)
        any = events[i].code < FT_RAW_ENTER &&
              ft_names_site_is(&m->names, events[i].site, FT_SITE_INSTRUMENTED);
    if (any) ft_library_locks_access(m->locks, r->thread);
}

static void count_events(ft_maker *m, const ft_raw_record *r)
{
    assert(r->sum->calls <= r->n_events);
    m->summary->accesses += r->n_events - r->sum->calls;
    ft_cells_end_batch(m->cells, r->thread);
}

static void collect_record(ft_maker *m, const ft_raw_record *r)
{
    uint32_t allocation = (uint32_t)m->inventory.allocations.len;
    uint64_t start;
    if (r->operation == FT_RAW_FREE)
        allocation = ft_cells_block_at(m->cells, r->operands[1], &start);
    ft_pointer_targets_meet(&m->targets, r, allocation);
}

/* Before the record is counted: what a FREE ends is still there. */
static void collect_targets(ft_maker *m, const ft_raw_record *r)
{
    const ft_raw_event *events = r->n_events ? ft_raw_log_shown(m->log, r) : NULL;
    for (uint32_t i = 0; i < r->n_events; i++)
        if (events[i].code < FT_RAW_ENTER)
            ft_pointer_targets_event(&m->targets, r->thread, &events[i]);
    if (r->access)
        ft_pointer_targets_access(&m->targets, r);
    else if (!r->n_events)
        collect_record(m, r);
}

/* Reads as much of the log as the program has written by now. */
static void count_log(ft_maker *m, ft_error *damage)
{
    ft_raw_record r;
    bool symbolic = ft_raw_log_header(m->log)->symbolic;
    while (ft_raw_log_next(m->log, &r, damage)) {
        if (!ft_inventory_accepts(&m->inventory, &r)) {
            ft_error_set(damage, FT_INPUT, "the recording is damaged");
            return;
        }
        if (symbolic) collect_targets(m, &r);
        if (r.n_events || r.access) look_into_sections(m, &r);
        if (r.n_events) count_events(m, &r);
        if (r.access)
            m->summary->accesses++;
        else if (!r.n_events)
            meet(m, &r);
        if (r.access || !r.n_events) ft_cells_count(m->cells, &r);
    }
}

/* ---- the program that writes them */

struct ft_running_program {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ended; /* under the lock */
};

ft_running_program *ft_running_program_new(void)
{
    ft_running_program *p = ft_calloc(1, sizeof *p);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    return p;
}

void ft_running_program_free(ft_running_program *p)
{
    if (!p) return;
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static bool has_ended(ft_running_program *p)
{
    pthread_mutex_lock(&p->lock);
    bool ended = p->ended;
    pthread_mutex_unlock(&p->lock);
    return ended;
}

/* Waits a millisecond, or until the program ends. */
static void wait_for(ft_running_program *p)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += PAUSE;
    until.tv_sec += until.tv_nsec / SECOND;
    until.tv_nsec %= SECOND;
    pthread_mutex_lock(&p->lock);
    if (!p->ended) pthread_cond_timedwait(&p->changed, &p->lock, &until);
    pthread_mutex_unlock(&p->lock);
}

void ft_running_program_end(ft_running_program *p)
{
    pthread_mutex_lock(&p->lock);
    p->ended = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

ft_status ft_maker_first_pass(ft_maker *m, ft_running_program *running, ft_error *err)
{
    FT_REQUIRE(m->log && m->summary && !m->builder);
    ft_error damage = FT_ERROR_INIT;
    const ft_raw_header *header = ft_raw_log_header(m->log);
    if (header->keeps_ordered) ft_cells_keep_ordered(m->cells);
    if (header->symbolic) ft_cells_tell_ordered(m->cells);
    if (ft_raw_log_has_batches(m->log)) ft_cells_in_batches(m->cells);
    m->frames = (ft_cells_frames){m, frame_at, since};
    ft_cells_know_frames(m->cells, &m->frames);
    m->taker = (ft_raw_taker){m->cells, ft_cells_turn_now(m->cells), ft_cells_take_run,
                              ft_cells_take_other};
    ft_raw_log_show(m->log, &m->taker);
    for (bool over = false;;) {
        count_log(m, &damage);
        if (over || damage.code != FT_OK) break;
        over = !running || has_ended(running);
        if (!ft_raw_log_look(m->log) && !over) wait_for(running);
    }
    if (damage.code != FT_OK) {
        ft_raw_log_abandon(m->log);
        *err = damage;
    }
    FT_CHECK(ft_inventory_is_sound(&m->inventory));
    return damage.code;
}

#include "maker/maker.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "maker/maker_internal.h"

enum { CHUNK = 1 << 14, PAUSE = 1000000, HOT = 1000 };

/* ---- first pass: what is there */

static void meet_thread(ft_maker *m, uint32_t child, uint32_t parent)
{
    while (m->parents.len <= child) {
        ft_vec_push(&m->parents, 0);
        ft_vec_push(&m->children, 0);
        ft_vec_push(&m->threads, 0);
        ft_vec_push(&m->actors, (ft_maker_actor){.last_edge = FT_NO_ID});
    }
    m->parents.data[child] = parent;
}

static void meet(ft_maker *m, const ft_raw_record *r)
{
    char *path;
    const uint64_t *o = r->operands;
    switch (r->operation) {
    case FT_RAW_MODULE:
        path = ft_strndup((const char *)r->text, r->length);
        ft_symbols_module(m->symbols, path, o[0]);
        ft_vec_push(&m->modules, (ft_maker_module){.path = path, .base = o[0]});
        break;
    case FT_RAW_SITE:
        ft_vec_push(&m->sites, o[0]);
        break;
    case FT_RAW_FORK:
        meet_thread(m, (uint32_t)o[1], r->thread);
        break;
    case FT_RAW_ALLOC:
        ft_vec_push(&m->makers, (uint32_t)o[0]);
        break;
    case FT_RAW_OBJECT:
        ft_vec_push(&m->objects,
                    (ft_maker_object){.class = (ft_raw_class)o[0], .address = o[1], .kind = o[2]});
        break;
    case FT_RAW_UNSEEN:
        m->summary->unseen++;
        break;
    case FT_RAW_NOTHING:
    case FT_RAW_TURN:
    case FT_RAW_BEGIN:
    case FT_RAW_END:
    case FT_RAW_JOIN:
    case FT_RAW_SYNC:
    case FT_RAW_MARK:
    case FT_RAW_ZERO:
    case FT_RAW_MEMORY:
    case FT_RAW_FREE:
    case FT_RAW_FAILED:
    case FT_RAW_SWAPPED:
    case FT_RAW_RUN:
    case FT_RAW_INPUT:
    case FT_RAW_PIECE:
    case FT_RAW_CHANNEL:
    case FT_RAW_IGNORE:
    case FT_RAW_BENIGN:
    case FT_RAW_BLOCKED:
    case FT_RAW_TERMS:
    case FT_RAW_ASSERT:
    case FT_RAW_OPERATIONS:
        break;
    }
}

static void count_events(ft_maker *m, const ft_raw_record *r)
{
    while (m->counts.len < m->sites.len) ft_vec_push(&m->counts, 0);
    for (uint32_t i = 0; i < r->n_events; i++) {
        m->counts.data[r->events[i].site]++;
        m->summary->accesses += r->events[i].code < FT_RAW_ENTER;
    }
    ft_cells_count_events(m->cells, r->thread, r->events, r->n_events);
}

/* What is there of the log by now. */
static void count_log(ft_maker *m, ft_error *damage)
{
    ft_raw_record r;
    while (ft_raw_log_next(m->log, &r, damage)) {
        if (r.n_events) count_events(m, &r);
        if (r.access)
            m->summary->accesses++;
        else if (!r.n_events)
            meet(m, &r);
        if (r.access || !r.n_events) ft_cells_count(m->cells, &r);
    }
}

/* Follows the log until *ended, if the program may still write. */
static ft_status first_pass(ft_maker *m, const bool *ended, ft_error *err)
{
    const struct timespec pause = {.tv_nsec = PAUSE};
    ft_error damage = FT_ERROR_INIT;
    meet_thread(m, 0, 0);
    ft_vec_push(&m->sites, 0); /* they are counted from 1 */
    for (bool over = false;;) {
        count_log(m, &damage);
        if (over || damage.code != FT_OK) break;
        over = !ended || __atomic_load_n(ended, __ATOMIC_ACQUIRE);
        if (!ft_raw_log_look(m->log, over) && !over) nanosleep(&pause, NULL);
    }
    if (damage.code != FT_OK) *err = damage;
    return damage.code;
}

/* ---- the whole */

static void add_hot(ft_maker *m, uint32_t loc, uint64_t n)
{
    ft_record_hot hot = {.loc = loc, .n = n};
    for (uint32_t i = 0; i < FT_RECORD_HOT; i++) {
        ft_record_hot *at = &m->summary->hot[i], before = *at;
        if (at->n >= hot.n) continue;
        *at = hot;
        hot = before;
    }
}

/* Events are counted by site; what is told of is lines. */
static void find_hot(ft_maker *m)
{
    uint32_t n = ft_builder_peek(m->builder)->n_locations;
    uint64_t *counts = ft_calloc(n + m->counts.len + 1, sizeof *counts);
    for (size_t s = 2; s < m->counts.len; s++) /* behind the returns' */
        if (m->counts.data[s] >= HOT) counts[ft_maker_location(m, s)] += m->counts.data[s];
    n = ft_builder_peek(m->builder)->n_locations;
    for (uint32_t loc = 1; loc < n; loc++) add_hot(m, loc, counts[loc]);
    free(counts);
}

static void summarise(ft_maker *m)
{
    find_hot(m);
    const ft_raw_header *header = ft_raw_log_header(m->log);
    m->summary->bytes = ft_raw_used(header->mark);
    m->summary->granules = ft_cells_granules(m->cells);
    m->summary->cells = ft_cells_count_of(m->cells);
    m->summary->threads = header->threads;
    m->summary->ignored = header->ignored;
    m->summary->end = header->end;
}

static void release_maker(ft_maker *m)
{
    ft_raw_log_close(m->log);
    ft_cells_free(m->cells);
    ft_symbols_free(m->symbols);
    ft_stacks_free(m->stacks);
    ft_vec_release(&m->counts);
    ft_map_release(&m->code);
    ft_terms_free(m->terms);
    ft_map_release(&m->places);
    ft_channels_free(m->channels);
    for (size_t i = 0; i < m->modules.len; i++) free(m->modules.data[i].path);
    ft_vec_release(&m->modules);
    ft_vec_release(&m->sites);
    ft_vec_release(&m->locations);
    ft_vec_release(&m->objects);
    ft_vec_release(&m->parents);
    ft_vec_release(&m->children);
    ft_vec_release(&m->threads);
    ft_vec_release(&m->actors);
    ft_map_release(&m->ordered);
    ft_vec_release(&m->born);
    ft_vec_release(&m->makers);
    ft_vec_release(&m->blocks);
    ft_vec_release(&m->variables);
    ft_vec_release(&m->uses);
    ft_map_release(&m->live);
    ft_intern_release(&m->names);
    free(m->shadows);
}

bool ft_record_hash(const char *path, char hash[FT_DIGEST_HEX + 1])
{
    unsigned char bytes[CHUNK];
    FILE *file = fopen(path, "rb");
    if (!file) return false;
    ft_digest digest;
    ft_digest_init(&digest);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, file)) > 0;)
        ft_digest_update(&digest, bytes, n);
    bool whole = !ferror(file);
    fclose(file);
    ft_digest_hex(&digest, hash);
    return whole;
}

static void open_maker(ft_maker *m, ft_record_summary *summary)
{
    *summary = (ft_record_summary){0};
    m->summary = summary;
    m->cells = ft_cells_new();
    m->symbols = ft_symbols_new();
    m->channels = ft_channels_new();
}

static ft_status finish_maker(ft_maker *m, ft_trace **trace, ft_error *err)
{
    ft_cells_settle(m->cells);
    m->builder = ft_builder_new(FT_FORMAT_BINARY);
    ft_maker_follow(m);
    summarise(m);
    if (m->terms) ft_terms_note(m->terms);
    ft_status status = ft_builder_finish(m->builder, trace, err);
    if (status != FT_OK || !m->summary->terms.damaged) return status;
    ft_trace_free(*trace);
    *trace = NULL;
    return ft_error_set(err, FT_INPUT, "the terms of the recording are damaged");
}

struct ft_recording {
    char *path;
    ft_maker maker;
    ft_record_summary summary;
    ft_status status; /* of the first pass */
    ft_error err;
    bool follows; /* a thread does the first pass */
    bool ended;   /* atomic: the program has */
    pthread_t thread;
};

static void *follow_program(void *context)
{
    ft_recording *r = context;
    r->status = first_pass(&r->maker, &r->ended, &r->err);
    return NULL;
}

/* Signals are for the thread that waits for the program. */
static void start_thread(ft_recording *r)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    r->follows = !pthread_create(&r->thread, NULL, follow_program, r);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

ft_recording *ft_record_begin(const char *path)
{
    ft_recording *r = ft_calloc(1, sizeof *r);
    ft_error err = FT_ERROR_INIT;
    r->path = ft_strdup(path);
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2) return r;
    if (ft_raw_log_follow(path, &r->maker.log, &err) != FT_OK) return r;
    r->err = (ft_error)FT_ERROR_INIT;
    open_maker(&r->maker, &r->summary);
    start_thread(r);
    return r;
}

static void join_follower(ft_recording *r)
{
    if (!r->follows) return;
    __atomic_store_n(&r->ended, true, __ATOMIC_RELEASE);
    pthread_join(r->thread, NULL);
}

void ft_record_drop(ft_recording *r)
{
    if (!r) return;
    join_follower(r);
    release_maker(&r->maker);
    free(r->path);
    free(r);
}

static ft_status read_all(ft_recording *r, ft_error *err)
{
    ft_status status = ft_raw_log_open(r->path, &r->maker.log, err);
    if (status != FT_OK) return status;
    open_maker(&r->maker, &r->summary);
    return first_pass(&r->maker, NULL, err);
}

ft_status ft_record_end(ft_recording *r, ft_trace **trace, ft_record_summary *summary,
                        ft_error *err)
{
    join_follower(r);
    ft_status status = r->follows ? r->status : read_all(r, err);
    if (r->follows && status != FT_OK) *err = r->err;
    if (status == FT_OK) status = finish_maker(&r->maker, trace, err);
    *summary = r->summary;
    r->follows = false;
    ft_record_drop(r);
    return status;
}

ft_status ft_record_make(const char *path, ft_trace **trace, ft_record_summary *summary,
                         ft_error *err)
{
    ft_recording *r = ft_calloc(1, sizeof *r);
    r->path = ft_strdup(path);
    return ft_record_end(r, trace, summary, err);
}

#include "maker/maker.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "maker/maker_internal.h"
#include "trace/binary_stream.h"

enum { CHUNK = 1 << 16, PAUSE = 1000000, SECOND = 1000000000, HOT = 1000 };

/* ---- first pass: what is there */

static void add_thread(ft_maker *m, uint32_t child, uint32_t parent)
{
    while (m->parents.len <= child) {
        ft_vec_push(&m->parents, 0);
        ft_vec_push(&m->children, 0);
        ft_vec_push(&m->threads, 0);
        ft_vec_push(&m->actors, (ft_maker_actor){.forked = UINT64_MAX, .last_edge = FT_NO_ID});
    }
    m->parents.data[child] = parent;
}

static void meet_thread(ft_maker *m, const ft_raw_record *r)
{
    add_thread(m, (uint32_t)r->operands[1], r->thread);
}

static void meet_module(ft_maker *m, const ft_raw_record *r)
{
    char *path = ft_strndup((const char *)r->text, r->length);
    ft_symbols_module(m->symbols, path, r->operands[0]);
    ft_vec_push(&m->modules, (ft_maker_module){.path = path, .base = r->operands[0]});
    /* The executable is wanted in any case; now the program still runs beside. */
    if (m->modules.len == 1) ft_maker_hash(&m->modules.data[0]);
}

/* That the program had other ones than we have needs to be said. */
static bool is_own_setting(const char *word)
{
    static const char name[] = "LD_LIBRARY_PATH";
    const char *own = getenv(name);
    size_t n = sizeof name - 1;
    return own && !strncmp(word, name, n) && word[n] == '=' && !strcmp(word + n + 1, own);
}

static void meet_arguments(ft_maker *m, const ft_raw_record *r)
{
    const char *at = (const char *)r->text, *end = at + r->length, *zero = memchr(at, 0, r->length);
    if (zero && is_own_setting(at)) at = zero + 1;
    for (; at < end && (zero = memchr(at, 0, (size_t)(end - at))); at = zero + 1)
        ft_vec_push(&m->words, ft_strndup(at, (size_t)(zero - at)));
}

static void meet_site(ft_maker *m, const ft_raw_record *r)
{
    ft_vec_push(&m->sites, r->operands[0]);
    m->calls |= r->operands[1] == FT_RAW_ENTER;
}

static void meet_allocation(ft_maker *m, const ft_raw_record *r)
{
    bool library;
    uint32_t site = ft_maker_asking_site(m, r->thread, (uint32_t)r->operands[0], &library);
    ft_vec_push(&m->makers, site);
    ft_vec_push(&m->of_library, library);
}

/* Its stack counts as an allocation (maker/cells/cells.h), without a name. */
static void meet_begin(ft_maker *m, const ft_raw_record *r)
{
    (void)r;
    ft_vec_push(&m->makers, 0);
    ft_vec_push(&m->of_library, false);
}

static uint32_t frame_at(void *of, uint32_t thread, uint64_t address)
{
    ft_maker *m = of;
    ft_raw_frame frame;
    if (!ft_raw_log_frame_at(m->log, thread, address, &frame) || !frame.site) return 0;
    ft_vec_push(&m->frames, frame);
    return (uint32_t)m->frames.len;
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
    ft_vec_push(&m->objects, (ft_maker_object){.class = (ft_raw_class)o[0],
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
    bool shared = m->objects.data[o[2]].class == FT_RAW_CLASS_RWLOCK;
    if (o[0] == FT_EVENT_ACQUIRE || o[0] == FT_EVENT_ACQUIRE_SHARED)
        ft_hidden_acquire(m->hidden, r->thread, o[2], ft_maker_is_hooked(m, o[3]));
    else if (o[0] == FT_EVENT_RELEASE)
        ft_hidden_release(m->hidden, r->thread, o[2], ft_maker_is_hooked(m, o[3]), shared);
}

static void meet_unseen(ft_maker *m, const ft_raw_record *r)
{
    (void)r;
    m->summary->unseen++;
}

/* The others are of the second pass, or of the cells. */
static void (*const meetings[FT_RAW_OPERATIONS])(ft_maker *, const ft_raw_record *) = {
    [FT_RAW_BEGIN] = meet_begin,      [FT_RAW_FORK] = meet_thread,
    [FT_RAW_MODULE] = meet_module,    [FT_RAW_SITE] = meet_site,
    [FT_RAW_ALLOC] = meet_allocation, [FT_RAW_OBJECT] = meet_object,
    [FT_RAW_UNSEEN] = meet_unseen,    [FT_RAW_CHANNEL] = meet_channel,
    [FT_RAW_SYNC] = meet_sync,        [FT_RAW_ARGUMENTS] = meet_arguments,
};

static void meet(ft_maker *m, const ft_raw_record *r)
{
    if (meetings[r->operation]) meetings[r->operation](m, r);
    ft_maker_meet_object(m, r);
}

/* Accesses of the program where it holds what may be a hidden lock; the C library has some of its
 * own for code without hooks (write, read). */
static void look_into_sections(ft_maker *m, const ft_raw_record *r)
{
    if (!ft_hidden_holds(m->hidden, r->thread)) return;
    const ft_raw_event *events = ft_raw_log_shown(m->log, r);
    bool any = r->access && ft_maker_is_hooked(m, r->site);
    for (uint32_t i = 0; i < r->n_events && !any; i++)
        any = events[i].code < FT_RAW_ENTER && ft_maker_is_hooked(m, events[i].site);
    if (any) ft_hidden_access(m->hidden, r->thread);
}

static void count_events(ft_maker *m, const ft_raw_record *r)
{
    m->summary->accesses += r->n_events - r->sum->calls;
    ft_cells_end_batch(m->cells, r->thread);
}

/* What is there of the log by now. */
static void count_log(ft_maker *m, ft_error *damage)
{
    ft_raw_record r;
    while (ft_raw_log_next(m->log, &r, damage)) {
        if (!ft_maker_is_sound(m, &r)) {
            ft_error_set(damage, FT_INPUT, "the recording is damaged");
            return;
        }
        if (r.n_events || r.access) look_into_sections(m, &r);
        if (r.n_events) count_events(m, &r);
        if (r.access)
            m->summary->accesses++;
        else if (!r.n_events)
            meet(m, &r);
        if (r.access || !r.n_events) ft_cells_count(m->cells, &r);
    }
}

/* A program that may still write. */
typedef struct program {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool ended; /* under the lock */
} program;

static bool has_ended(program *p)
{
    pthread_mutex_lock(&p->lock);
    bool ended = p->ended;
    pthread_mutex_unlock(&p->lock);
    return ended;
}

/* For a while, but no longer than it runs. */
static void wait_for(program *p)
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

static void end_program(program *p)
{
    pthread_mutex_lock(&p->lock);
    p->ended = true;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

/* Follows the log until the program has ended; NULL: it has. */
static ft_status first_pass(ft_maker *m, program *running, ft_error *err)
{
    ft_error damage = FT_ERROR_INIT;
    const ft_raw_header *header = ft_raw_log_header(m->log);
    if (header->keeps_ordered) ft_cells_keep_ordered(m->cells);
    if (header->symbolic) ft_cells_tell_ordered(m->cells);
    if (ft_raw_log_has_batches(m->log)) ft_cells_in_batches(m->cells);
    m->stack_frames = (ft_cells_frames){m, frame_at, since};
    ft_cells_know_frames(m->cells, &m->stack_frames);
    m->taker = (ft_raw_taker){m->cells, ft_cells_turn_now(m->cells), ft_cells_take_run,
                              ft_cells_take_other};
    ft_raw_log_show(m->log, &m->taker);
    add_thread(m, 0, 0);
    m->actors.data[0].forked = 0;
    ft_vec_push(&m->sites, 0); /* they are counted from 1 */
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
    const uint64_t *by_site = ft_raw_log_counts(m->log);
    uint64_t *counts = ft_calloc(n + m->sites.len + 1, sizeof *counts);
    for (size_t s = 2; s < m->sites.len; s++) /* behind the returns' */
        if (by_site[s] >= HOT) counts[ft_maker_location(m, s)] += by_site[s];
    n = ft_builder_peek(m->builder)->n_locations;
    for (uint32_t loc = 1; loc < n; loc++) add_hot(m, loc, counts[loc]);
    for (uint32_t i = 0; i < FT_RECORD_HOT && m->summary->hot[i].n; i++)
        snprintf(m->summary->hot[i].place, FT_RECORD_TEXT, "%s",
                 ft_builder_peek(m->builder)->locations[m->summary->hot[i].loc].text);
    free(counts);
}

static void summarise(ft_maker *m)
{
    find_hot(m);
    const ft_raw_header *header = ft_raw_log_header(m->log);
    m->summary->bytes = header->mark;
    m->summary->granules = ft_cells_granules(m->cells);
    m->summary->cells = ft_builder_peek(m->builder)->shared.len;
    m->summary->threads = header->threads;
    m->summary->ignored = header->ignored;
    m->summary->signals = header->signals;
    m->summary->end = header->end;
}

static void release_maker(ft_maker *m)
{
    ft_raw_log_close(m->log);
    ft_cells_free(m->cells);
    ft_symbols_free(m->symbols);
    ft_source_lines_free(m->lines);
    ft_stacks_free(m->stacks);
    ft_map_release(&m->code);
    ft_terms_free(m->terms);
    ft_map_release(&m->places);
    ft_channels_free(m->channels);
    ft_hidden_free(m->hidden);
    ft_known_free(m->known);
    ft_vec_release(&m->used);
    for (size_t i = 0; i < m->modules.len; i++) free(m->modules.data[i].path);
    ft_vec_release(&m->modules);
    for (size_t i = 0; i < m->words.len; i++) free(m->words.data[i]);
    ft_vec_release(&m->words);
    ft_vec_release(&m->sites);
    ft_vec_release(&m->frames);
    ft_vec_release(&m->locations);
    ft_vec_release(&m->own_memory);
    ft_vec_release(&m->hooked);
    ft_vec_release(&m->library);
    ft_vec_release(&m->allocators);
    ft_vec_release(&m->library_locations);
    ft_map_release(&m->askers);
    ft_map_release(&m->asked);
    ft_map_release(&m->shown);
    ft_vec_release(&m->objects);
    ft_vec_release(&m->parents);
    ft_vec_release(&m->children);
    ft_vec_release(&m->threads);
    ft_vec_release(&m->actors);
    ft_map_release(&m->ordered);
    ft_vec_release(&m->born);
    ft_vec_release(&m->makers);
    ft_vec_release(&m->of_library);
    ft_vec_release(&m->blocks);
    ft_map_release(&m->uses);
    ft_map_release(&m->live);
    ft_lives_release(&m->lives);
    for (size_t t = 0; t < m->unpublished.len; t++) ft_vec_release(&m->unpublished.data[t]);
    ft_vec_release(&m->unpublished);
    free(m->handed);
    free(m->births);
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
    m->lines = ft_source_lines_new();
    m->channels = ft_channels_new();
    m->hidden = ft_hidden_new();
    m->known = ft_known_new();
}

/* For the user who records, who sees no report yet. */
static void tell_notes(ft_maker *m)
{
    const ft_trace *trace = ft_builder_peek(m->builder);
    ft_maker_foreign(m);
    for (uint32_t i = 0; i < trace->n_notes; i++) {
        const char *code = trace->notes[i].code;
        bool forked = !strcmp(code, FT_RECORD_FORKED);
        char *to = forked ? m->summary->forked : m->summary->foreign;
        if (forked || !strcmp(code, FT_RECORD_FOREIGN) || !strcmp(code, FT_RECORD_NO_CALLS))
            snprintf(to, FT_RECORD_TEXT, "%s", trace->notes[i].text);
    }
}

/* The second pass, into the builder. */
static void make_events(ft_maker *m)
{
    ft_maker_follow(m);
    summarise(m);
    tell_notes(m);
}

/* What compilers count executions in (--coverage, -fprofile-...) has hooks. What it holds decides
 * nothing, and no thread has to find there what it found in the run. */
static bool is_counter(void *symbols, uint64_t address)
{
    static const char *const beginnings[] = {"__gcov", "__llvm_gcov", "__profc_"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (ft_symbols_is_in(symbols, address, beginnings[i])) return true;
    return false;
}

static void settle(ft_maker *m)
{
    ft_cells_leave_out(m->cells, is_counter, m->symbols);
    ft_cells_settle(m->cells);
}

/* The command that replays it: what the program itself was started with, where that is known. */
static void tell_command(ft_maker *m, const char *const *given, size_t n)
{
    bool known = m->words.len;
    const char *const *words = known ? (const char *const *)m->words.data : given;
    ft_builder_commands(m->builder, words, known ? m->words.len : n);
}

static ft_status finish_maker(ft_maker *m, ft_trace **trace, ft_error *err)
{
    settle(m);
    m->builder = ft_builder_new(FT_FORMAT_BINARY);
    tell_command(m, NULL, 0);
    make_events(m);
    if (m->terms) ft_terms_note(m->terms);
    ft_status status = ft_builder_finish(m->builder, trace, err);
    if (status == FT_OK) m->summary->events = (*trace)->n_events;
    if (status != FT_OK || !m->summary->terms.damaged) return status;
    ft_trace_free(*trace);
    *trace = NULL;
    return ft_error_set(err, FT_INPUT, "the terms of the recording are damaged");
}

/* What is written: the command that was given, and where to. */
typedef struct target {
    const char *const *command;
    size_t n_command;
    ft_sink sink;
    void *context;
} target;

static ft_status write_trace(ft_maker *m, const target *to, ft_error *err)
{
    settle(m);
    m->builder = ft_builder_new(FT_FORMAT_BINARY);
    tell_command(m, to->command, to->n_command);
    ft_binary_stream *stream = ft_binary_stream_open(m->builder, to->sink, to->context);
    make_events(m);
    ft_status status = ft_binary_stream_close(stream, &m->summary->events, err);
    ft_builder_free(m->builder);
    return status;
}

struct ft_recording {
    char *path;
    const ft_annotations *annotations;
    ft_maker maker;
    ft_record_summary summary;
    ft_status status; /* of the first pass */
    ft_error err;
    bool follows; /* a thread does the first pass */
    program program;
    pthread_t thread;
};

static void *follow_program(void *context)
{
    ft_recording *r = context;
    r->status = first_pass(&r->maker, &r->program, &r->err);
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

ft_recording *ft_record_begin(const char *path, const ft_annotations *annotations)
{
    ft_recording *r = ft_calloc(1, sizeof *r);
    ft_error err = FT_ERROR_INIT;
    r->path = ft_strdup(path);
    r->annotations = annotations;
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2) return r;
    if (ft_raw_log_follow(path, ft_raw_log_memory(), &r->maker.log, &err) != FT_OK) return r;
    r->err = (ft_error)FT_ERROR_INIT;
    pthread_mutex_init(&r->program.lock, NULL);
    pthread_cond_init(&r->program.changed, NULL);
    open_maker(&r->maker, &r->summary);
    start_thread(r);
    if (!r->follows) { /* then nobody takes from a ring: the log is read at the end */
        release_maker(&r->maker);
        r->maker = (ft_maker){0};
    }
    return r;
}

static void join_follower(ft_recording *r)
{
    if (!r->follows) return;
    end_program(&r->program);
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

/* After the first pass. */
static ft_status end_recording(ft_recording *r, const target *to, ft_trace **trace,
                               ft_record_summary *summary, ft_error *err)
{
    join_follower(r);
    ft_status status = r->follows ? r->status : read_all(r, err);
    if (r->follows && status != FT_OK) *err = r->err;
    r->maker.annotations = r->annotations;
    if (status == FT_OK && to) status = write_trace(&r->maker, to, err);
    if (status == FT_OK && trace) status = finish_maker(&r->maker, trace, err);
    *summary = r->summary;
    r->follows = false;
    ft_record_drop(r);
    return status;
}

ft_status ft_record_end(ft_recording *r, ft_trace **trace, ft_record_summary *summary,
                        ft_error *err)
{
    return end_recording(r, NULL, trace, summary, err);
}

ft_status ft_record_write(ft_recording *r, const char *const *command, size_t n_command,
                          ft_sink sink, void *context, ft_record_summary *summary, ft_error *err)
{
    const target to = {command, n_command, sink, context};
    return end_recording(r, &to, NULL, summary, err);
}

ft_status ft_record_make(const char *path, ft_trace **trace, ft_record_summary *summary,
                         ft_error *err)
{
    ft_recording *r = ft_calloc(1, sizeof *r);
    r->path = ft_strdup(path);
    return ft_record_end(r, trace, summary, err);
}

/* From the schedules of a set to the file that a native program follows (raw/constrained.h). */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "maker/symbols/line_ranges.h"
#include "program/binary.h"
#include "programs/constrained.h"
#include "programs/programs.h"
#include "programs/selectors.h"
#include "raw/constrained.h"
#include "schedules/foresee.h"
#include "schedules/schedules.h"

/* Statements of headers of the system may be placed some lines later. */
enum { STATEMENT = 3 };

/* A schedule that a run may follow. */
typedef struct listed {
    uint32_t epoch;
    const ft_schedule *schedule;
} listed;

struct ft_constrained_set {
    ft_schedule_set *set;
    const ft_schedule *schedule; /* of the entry; NULL: none covers the inputs */
    FT_VEC(listed) all;          /* as in the file: that one, and those of the epochs behind it */
    FT_VEC(uint32_t) first;      /* by epoch: its first schedule in `all` */
    ft_foreseen_path foreseen;   /* of a set that needs what loops compute; else empty */
    ft_constrained_given given;
};

typedef struct building {
    const ft_constrained_set *from;
    const ft_schedule_set *set;
    FT_VEC(ft_constrained_schedule) schedules;
    FT_VEC(ft_constrained_thread) threads;
    FT_VEC(ft_constrained_node) nodes;
    FT_VEC(ft_constrained_edge) edges;
    FT_VEC(ft_constrained_range) ranges;
    FT_VEC(ft_constrained_number) bound;
    FT_VEC(ft_constrained_number) foreseen;
    FT_VEC(ft_source_line) lines;
    ft_selectors selectors;
    ft_map objects; /* text -> object */
    uint32_t n_objects, n_globals;
    /* of the schedule at hand */
    listed at;
    const ft_schedule *s;
    uint32_t *number;                     /* by node: its number in its thread, from 1 */
    uint32_t *before;                     /* by node and thread: count_before */
    uint32_t native[FT_SCHEDULE_THREADS]; /* by thread: its number in the file */
    uint32_t n_threads;
} building;

/* Detaching has no hook, and orders nothing for a program that follows its schedule. */
static const struct {
    ft_node_kind kind;
    ft_constrained_operation operation;
} OPERATIONS[] = {
#define ROW(kind, operation)                                                                       \
    {                                                                                              \
        FT_NODE_##kind, FT_CONSTRAINED_##operation##_OPERATION                                     \
    }
    ROW(BEGIN, BEGIN),
    ROW(END, END),
    ROW(EXIT, EXIT),
    ROW(CREATE, CREATE),
    ROW(JOIN, JOIN),
    ROW(MUTEX_INIT, INIT),
    ROW(MUTEX_DESTROY, DESTROY),
    ROW(LOCK, LOCK),
    ROW(TRY_LOCK, TRY_LOCK),
    ROW(TIMED_LOCK, LOCK),
    ROW(UNLOCK, UNLOCK),
    ROW(RW_INIT, INIT),
    ROW(RW_DESTROY, DESTROY),
    ROW(READ_LOCK, READ_LOCK),
    ROW(WRITE_LOCK, WRITE_LOCK),
    ROW(TRY_READ_LOCK, TRY_READ_LOCK),
    ROW(TRY_WRITE_LOCK, TRY_WRITE_LOCK),
    ROW(RW_UNLOCK, RW_UNLOCK),
    ROW(COND_INIT, INIT),
    ROW(COND_DESTROY, DESTROY),
    ROW(WAIT, WAIT),
    ROW(WAKE, WAKE),
    ROW(TIMED_WAIT, WAIT),
    ROW(TIMED_WAKE, WAKE),
    ROW(SIGNAL, SIGNAL),
    ROW(BROADCAST, BROADCAST),
    ROW(SEM_INIT, INIT),
    ROW(SEM_DESTROY, DESTROY),
    ROW(SEM_WAIT, TAKE),
    ROW(SEM_TRY, TRY_TAKE),
    ROW(SEM_TIMED, TAKE),
    ROW(SEM_POST, POST),
    ROW(SEM_COUNT, COUNT),
    ROW(BARRIER_INIT, INIT),
    ROW(BARRIER_DESTROY, DESTROY),
    ROW(ARRIVE, ARRIVE),
    ROW(LEAVE, LEAVE),
    ROW(ONCE, ONCE),
    ROW(ONCE_DONE, ONCE_DONE),
    ROW(ATOMIC_LOAD, LOAD),
    ROW(ATOMIC_STORE, STORE),
    ROW(ATOMIC_UPDATE, UPDATE),
    ROW(ATOMIC_SWAP, SWAP),
#undef ROW
};

/* A static initialiser of the program's source is an operation of the program as data, without a
 * place; natively it is the object's first content. */
static bool operation_of(const ft_schedule_set *set, const ft_node *n, uint32_t *operation)
{
    if (n->kind == FT_NODE_MUTEX_INIT && !*ft_schedule_text_of(set, n->file)) return false;
    for (size_t i = 0; i < sizeof OPERATIONS / sizeof *OPERATIONS; i++)
        if (OPERATIONS[i].kind == n->kind) return *operation = OPERATIONS[i].operation, true;
    return false;
}

/* ---- threads: "0.2" is the second that "0" creates; the epoch's own come first */

static const char *thread_name(const ft_schedule_set *set, const ft_schedule *s, uint32_t thread)
{
    return ft_schedule_text_of(set, s->threads.data[thread]);
}

static const char *name_of(const building *b, uint32_t thread)
{
    return thread_name(b->set, b->s, thread);
}

/* By thread of the schedule: its number in the file. Returns how many the file has. */
static uint32_t number_threads(const ft_schedule_set *set, listed at, uint32_t *native)
{
    const ft_epoch *e = &set->epochs.data[at.epoch];
    uint32_t n = e->stands.len ? (uint32_t)e->stands.len : 1;
    for (uint32_t t = 0; t < at.schedule->threads.len; t++) {
        const char *name = thread_name(set, at.schedule, t);
        native[t] = strchr(name, '.') ? n++ : (uint32_t)strtoul(name, NULL, 10);
    }
    return n;
}

/* The thread whose name is the first `length` bytes. */
static uint32_t parent_of(const building *b, const char *name, size_t length)
{
    for (uint32_t t = 0; t < b->s->threads.len; t++)
        if (strlen(name_of(b, t)) == length && strncmp(name_of(b, t), name, length) == 0)
            return b->native[t];
    return FT_CONSTRAINED_NONE;
}

static void add_threads(building *b)
{
    size_t first = b->threads.len;
    for (uint32_t t = 0; t < b->n_threads; t++)
        ft_vec_push(&b->threads, (ft_constrained_thread){.parent = FT_CONSTRAINED_NONE});
    for (uint32_t t = 0; t < b->s->threads.len; t++) {
        const char *name = name_of(b, t), *dot = strrchr(name, '.');
        if (!dot) continue;
        ft_constrained_thread *thread = &b->threads.data[first + b->native[t]];
        thread->nth = (uint32_t)strtoul(dot + 1, NULL, 10);
        thread->parent = parent_of(b, name, (size_t)(dot - name));
    }
}

/* ---- objects: globals are the same in every epoch, others have names of their own in each */

static bool is_global(const char *name)
{
    return *name == '@';
}

static void list_objects(building *b, bool globals)
{
    for (size_t k = 0; k < b->from->all.len; k++) {
        const ft_schedule *s = b->from->all.data[k].schedule;
        for (size_t o = 0; o < s->objects.len; o++) {
            uint32_t text = s->objects.data[o];
            bool fresh;
            if (is_global(ft_schedule_text_of(b->set, text)) != globals) continue;
            (void)ft_map_slot(&b->objects, text, b->n_objects + 1, &fresh);
            b->n_objects += fresh;
        }
    }
    if (globals) b->n_globals = b->n_objects;
}

static uint32_t object_of(const building *b, uint32_t object)
{
    uint64_t number = 0;
    if (object == FT_NO_ID) return 0;
    bool known = ft_map_get(&b->objects, b->s->objects.data[object], &number);
    FT_REQUIRE(known);
    return (uint32_t)number;
}

/* ---- places */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The line's number in `lines`; FT_NO_ID: the node has no place. */
static uint32_t line_of(building *b, const ft_node *n)
{
    const char *path = ft_schedule_text_of(b->set, n->file);
    uint32_t last = n->line + (strncmp(path, "/usr/", 5) == 0 ? STATEMENT : 0);
    if (!*path || !n->line || n->kind == FT_NODE_EXIT) return FT_NO_ID; /* exit has no call */
    for (uint32_t i = 0; i < b->lines.len; i++)
        if (b->lines.data[i].line == n->line && strcmp(b->lines.data[i].file, base_name(path)) == 0)
            return i;
    ft_vec_push(&b->lines,
                (ft_source_line){.file = base_name(path), .line = n->line, .last = last});
    return (uint32_t)b->lines.len - 1;
}

static ft_status find_code(building *b, const char *program, ft_error *err)
{
    for (size_t k = 0; k < b->from->all.len; k++) {
        const ft_schedule *s = b->from->all.data[k].schedule;
        for (size_t i = 0; i < s->nodes.len; i++) (void)line_of(b, &s->nodes.data[i]);
    }
    ft_status status = ft_line_ranges_find(program, b->lines.data, b->lines.len, err);
    for (size_t i = 0; i < b->lines.len && status == FT_OK; i++)
        if (!b->lines.data[i].code.len)
            status = ft_error_set(err, FT_INPUT,
                                  "%s has no code for %s:%u: build it from the same source with -g",
                                  program, b->lines.data[i].file, b->lines.data[i].line);
    return status;
}

static void add_place(building *b, const ft_node *from, ft_constrained_node *to)
{
    uint32_t line = line_of(b, from);
    to->first_range = (uint32_t)b->ranges.len;
    if (line == FT_NO_ID) return;
    const ft_line_ranges *code = &b->lines.data[line].code;
    to->n_ranges = (uint32_t)code->len;
    for (size_t i = 0; i < code->len; i++)
        ft_vec_push(&b->ranges, (ft_constrained_range){code->data[i].from, code->data[i].to});
}

/* ---- nodes */

static void number_nodes(building *b)
{
    uint32_t *next = ft_calloc(b->s->threads.len + 1, sizeof *next), operation;
    for (size_t i = 0; i < b->s->nodes.len; i++) {
        const ft_node *n = &b->s->nodes.data[i];
        /* one that has no hook counts as the node before it */
        b->number[i] = next[n->thread] += operation_of(b->set, n, &operation);
    }
    free(next);
}

/* By node and thread: how many of the thread's nodes come before it, with itself. */
static uint32_t *count_before(const ft_schedule *s)
{
    size_t n = s->threads.len;
    uint32_t *before = ft_calloc((s->nodes.len + 1) * (n + 1), sizeof *before);
    uint32_t *newest = ft_calloc(n + 1, sizeof *newest); /* by thread: its newest node, + 1 */
    for (size_t i = 0; i < s->nodes.len; i++) {
        const ft_node *node = &s->nodes.data[i];
        uint32_t *own = before + i * n, last = newest[node->thread];
        if (last) memcpy(own, before + (last - 1) * n, n * sizeof *own);
        for (uint32_t e = 0; e < node->n_edges; e++) {
            const uint32_t *other = before + s->edges.data[node->edges + e] * n;
            for (size_t t = 0; t < n; t++)
                if (own[t] < other[t]) own[t] = other[t];
        }
        own[node->thread]++;
        newest[node->thread] = (uint32_t)i + 1;
    }
    free(newest);
    return before;
}

static bool is_arrival(const building *b, size_t i, const ft_node *leave)
{
    const ft_node *n = &b->s->nodes.data[i];
    return n->kind == FT_NODE_ARRIVE && n->object == leave->object;
}

/* Did the thread arrive last of the round that it leaves? It may have in an earlier epoch. Arrivals
 * of one round are not ordered, and those of a later one come behind them. */
static bool arrived_last(const building *b, size_t leave)
{
    const ft_node *n = &b->s->nodes.data[leave], *nodes = b->s->nodes.data;
    const ft_epoch *e = &b->set->epochs.data[b->at.epoch];
    uint32_t thread = b->native[n->thread];
    size_t own = leave, threads = b->s->threads.len;
    if (b->number[leave] == 1 && thread < e->stands.len) return e->stands.data[thread].last;
    while (own && !(nodes[own].thread == n->thread && is_arrival(b, own, n))) own--;
    const uint32_t *of_own = b->before + own * threads;
    for (size_t i = own + 1; i < leave; i++) {
        const uint32_t *of_other = b->before + i * threads;
        if (is_arrival(b, i, n) && of_other[n->thread] < of_own[n->thread]) return false;
    }
    return true;
}

static void add_edges(building *b, const ft_node *from, ft_constrained_node *to)
{
    to->first_edge = (uint32_t)b->edges.len;
    for (uint32_t e = 0; e < from->n_edges; e++) {
        uint32_t before = b->s->edges.data[from->edges + e];
        ft_constrained_edge edge = {b->native[b->s->nodes.data[before].thread], b->number[before]};
        if (edge.n) ft_vec_push(&b->edges, edge);
    }
    to->n_edges = (uint32_t)b->edges.len - to->first_edge;
}

static void add_node(building *b, size_t i)
{
    const ft_node *from = &b->s->nodes.data[i];
    ft_constrained_node to = {.object = object_of(b, from->object),
                              .peer = from->peer == FT_NO_ID ? FT_CONSTRAINED_NONE
                                                             : b->native[from->peer],
                              .timed_out = from->timed_out};
    if (!operation_of(b->set, from, &to.operation)) return;
    if (from->kind == FT_NODE_LEAVE) to.timed_out = arrived_last(b, i);
    add_edges(b, from, &to);
    add_place(b, from, &to);
    ft_vec_push(&b->nodes, to);
}

static void add_nodes(building *b)
{
    ft_constrained_thread *own = b->threads.data + b->threads.len - b->n_threads;
    for (uint32_t t = 0; t < b->n_threads; t++) {
        own[t].first = (uint32_t)b->nodes.len;
        for (size_t i = 0; i < b->s->nodes.len; i++)
            if (b->native[b->s->nodes.data[i].thread] == t) add_node(b, i);
        own[t].n = (uint32_t)b->nodes.len - own[t].first;
    }
}

/* ---- schedules */

static void add_next(building *b, ft_constrained_schedule *to)
{
    to->next = FT_CONSTRAINED_NONE;
    if (b->s->end != FT_SCHEDULE_EPOCH) return;
    to->next = ft_schedule_epoch_named(b->set, b->s->next);
    const ft_epoch *next = &b->set->epochs.data[to->next];
    to->first_bound = (uint32_t)b->bound.len;
    to->n_bound = (uint32_t)b->s->bound.len;
    for (size_t i = 0; i < b->s->bound.len; i++) {
        ft_vec_push(&b->bound, b->native[b->s->bound.data[i]]);
        to->awaited += next->stands.data[i].kind != FT_STANDING_ENDED;
    }
}

/* Of a schedule that ends blocked: all threads that have not ended wait. */
static uint32_t count_blocked(const building *b)
{
    const ft_epoch *e = &b->set->epochs.data[b->at.epoch];
    const ft_constrained_thread *own = b->threads.data + b->threads.len - b->n_threads;
    uint32_t n = 0;
    for (uint32_t t = 0; t < b->n_threads; t++) {
        uint32_t last = own[t].first + own[t].n - 1;
        bool ended = own[t].n ? b->nodes.data[last].operation == FT_CONSTRAINED_END_OPERATION
                              : t < e->stands.len && e->stands.data[t].kind == FT_STANDING_ENDED;
        n += !ended;
    }
    return n;
}

static void add_schedule(building *b)
{
    b->s = b->at.schedule;
    b->number = ft_calloc(b->s->nodes.len + 1, sizeof *b->number);
    b->before = count_before(b->s);
    b->n_threads = number_threads(b->set, b->at, b->native);
    ft_constrained_schedule made = {.first_thread = (uint32_t)b->threads.len,
                                    .n_threads = b->n_threads};
    add_threads(b);
    number_nodes(b);
    add_nodes(b);
    add_next(b, &made);
    if (b->s->end == FT_SCHEDULE_BLOCKED) made.awaited = count_blocked(b);
    ft_vec_push(&b->schedules, made);
    free(b->before);
    free(b->number);
}

/* ---- the set */

static bool value_of(void *context, const ft_schedule_input *input, const char *name,
                     const char *thread, uint64_t *value)
{
    const ft_constrained_given *given = context;
    (void)input;
    (void)thread;
    return *value = given->value(given->context, name), true;
}

/* Behind a schedule that ends the run there is no other epoch. */
static void list_schedules(ft_constrained_set *set)
{
    ft_vec_push(&set->all, (listed){0, set->schedule});
    ft_vec_push(&set->first, 0);
    if (set->schedule->end != FT_SCHEDULE_EPOCH) return;
    for (uint32_t e = 1; e < set->set->epochs.len; e++) {
        const ft_epoch *epoch = &set->set->epochs.data[e];
        ft_vec_push(&set->first, (uint32_t)set->all.len);
        for (size_t i = 0; i < epoch->schedules.len; i++)
            ft_vec_push(&set->all, (listed){e, &epoch->schedules.data[i]});
    }
}

/* What a loop computes is known when its thread has left it: nothing of a native program shows
 * that. NULL: the set needs nothing of that kind. */
static const ft_schedule_input *loop_of(const ft_schedule_set *set)
{
    for (size_t i = 0; i < set->inputs.len; i++)
        if (set->inputs.data[i].loop) return &set->inputs.data[i];
    return NULL;
}

/* NULL: it is not given. */
static ft_status read_program(const ft_constrained_set *set, ft_program **program, ft_error *err)
{
    ft_options given = {.command = FT_COMMANDS};
    ft_error why = FT_ERROR_INIT;
    if (!set->given.program) return FT_OK;
    ft_vec_push(&given.arguments, set->given.program);
    ft_status status = ft_lowering_read(&given, program, &why);
    ft_vec_release(&given.arguments);
    if (status == FT_OK) return FT_OK;
    return *why.message
               ? ft_error_set(err, status, "--program: %s: %s", set->given.program, why.message)
               : ft_error_set(err, status, "%s", ""); /* foretell-lower has said why */
}

static ft_status check_program(const ft_schedule_set *set, const ft_program *program, ft_error *err)
{
    char hash[FT_DIGEST_HEX + 1];
    const ft_schedule_input *loop = loop_of(set);
    if (!program && loop)
        return ft_error_set(err, FT_USAGE,
                            "the set needs what a loop of the program computes (%s): give the "
                            "program or its source with --program, or make the set without "
                            "--loops summarise",
                            ft_schedule_text_of(set, loop->name));
    if (!program || set->program == FT_NO_ID) return FT_OK;
    ft_program_hash(program, hash);
    if (strcmp(hash, ft_schedule_text_of(set, set->program)) == 0) return FT_OK;
    return ft_error_set(err, FT_INPUT,
                        "the set was made for another program than that of --program (the names of "
                        "its sources, as they are given, count as well)");
}

/* *chosen: of the entry. */
static ft_status choose(ft_constrained_set *set, const ft_program *program, uint32_t *chosen,
                        ft_error *err)
{
    ft_foresee_options how = {.value = set->given.value, .context = set->given.context};
    if (!loop_of(set->set))
        return ft_schedule_select(set->set, 0, value_of, &set->given, chosen, err);
    ft_status status = ft_schedules_foresee(program, set->set, &how, &set->foreseen, err);
    if (status == FT_OK) *chosen = set->foreseen.data[0].schedule;
    return status;
}

static ft_status select_one(ft_constrained_set *set, ft_error *err)
{
    uint32_t chosen = FT_NO_SCHEDULE;
    ft_program *program = NULL;
    ft_status status = read_program(set, &program, err);
    if (status == FT_OK) status = check_program(set->set, program, err);
    if (status == FT_OK) status = choose(set, program, &chosen, err);
    ft_program_free(program);
    if (status || chosen == FT_NO_SCHEDULE) return status;
    set->schedule = &set->set->epochs.data[0].schedules.data[chosen];
    list_schedules(set);
    return FT_OK;
}

ft_status ft_constrained_open(const char *text, size_t length, const ft_constrained_given *given,
                              ft_constrained_set **set, ft_error *err)
{
    ft_constrained_set *made = ft_calloc(1, sizeof *made);
    made->given = *given;
    ft_status status = ft_schedule_set_read(text, length, &made->set, err);
    if (status == FT_OK) status = select_one(made, err);
    if (status == FT_OK)
        *set = made;
    else
        ft_constrained_close(made);
    return status;
}

void ft_constrained_close(ft_constrained_set *set)
{
    if (!set) return;
    ft_schedule_set_free(set->set);
    ft_vec_release(&set->all);
    ft_vec_release(&set->first);
    ft_vec_release(&set->foreseen);
    free(set);
}

const char *ft_constrained_name(const ft_constrained_set *set)
{
    return set->schedule ? ft_schedule_text_of(set->set, set->schedule->name) : NULL;
}

bool ft_constrained_is_stuck(const ft_constrained_set *set)
{
    return set->schedule && set->schedule->end == FT_SCHEDULE_BLOCKED;
}

/* ---- the file */

static void print(const building *b, ft_constrained_way way, ft_strbuf *out)
{
    const ft_selectors *s = &b->selectors;
    const struct {
        const void *data;
        size_t n, size;
        size_t offset; /* of its count in the header */
    } parts[] = {
#define PART(from, name)                                                                           \
    {(from)->name.data, (from)->name.len, sizeof *(from)->name.data,                               \
     offsetof(ft_constrained_header, name)}
        PART(b, nodes),     PART(b, ranges),  PART(s, locals), PART(s, terms),
        PART(b, schedules), PART(b, threads), PART(b, edges),  PART(b, bound),
        PART(s, epochs),    PART(s, choices), PART(s, kids),   PART(b, foreseen),
#undef PART
    };
    ft_constrained_header head = {.bytes = sizeof head,
                                  .objects = b->n_objects,
                                  .globals = b->n_globals,
                                  .stops = way.stops,
                                  .prefix = b->set->prefix,
                                  .notes = way.delays != 0,
                                  .delays = way.delays};
    memcpy(head.magic, FT_CONSTRAINED_MAGIC, sizeof head.magic);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        uint32_t n = (uint32_t)parts[i].n;
        memcpy((char *)&head + parts[i].offset, &n, sizeof n);
        head.bytes += parts[i].n * parts[i].size;
    }
    ft_strbuf_add(out, (const char *)&head, sizeof head);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].n) ft_strbuf_add(out, parts[i].data, parts[i].n * parts[i].size);
}

static ft_status add_selectors(building *b, const char *program, ft_error *err)
{
    ft_selectors_from from = {.set = b->set,
                              .program = program,
                              .value = value_of,
                              .context = (void *)&b->from->given,
                              .first = b->from->first.data};
    if (b->from->schedule->end != FT_SCHEDULE_EPOCH) return FT_OK;
    return ft_selectors_make(&b->selectors, &from, err);
}

/* The schedules of the epochs behind the first, as the file numbers them. */
static void add_foreseen(building *b)
{
    for (size_t i = 1; i < b->from->foreseen.len; i++) {
        ft_foreseen f = b->from->foreseen.data[i];
        bool covered = f.schedule != FT_NO_SCHEDULE;
        ft_vec_push(&b->foreseen,
                    covered ? b->from->first.data[f.epoch] + f.schedule : FT_CONSTRAINED_NONE);
    }
}

static void release(building *b)
{
    for (size_t i = 0; i < b->lines.len; i++) ft_vec_release(&b->lines.data[i].code);
    ft_vec_release(&b->lines);
    ft_vec_release(&b->schedules);
    ft_vec_release(&b->threads);
    ft_vec_release(&b->nodes);
    ft_vec_release(&b->edges);
    ft_vec_release(&b->ranges);
    ft_vec_release(&b->bound);
    ft_vec_release(&b->foreseen);
    ft_selectors_release(&b->selectors);
    ft_map_release(&b->objects);
}

ft_status ft_constrained_make(const ft_constrained_set *set, const char *program,
                              ft_constrained_way way, ft_strbuf *out, ft_error *err)
{
    FT_REQUIRE(set->schedule);
    building b = {.from = set, .set = set->set};
    ft_status status = find_code(&b, program, err);
    if (status == FT_OK) status = add_selectors(&b, program, err);
    if (status == FT_OK) {
        list_objects(&b, true);
        list_objects(&b, false);
        for (size_t i = 0; i < set->all.len; i++) {
            b.at = set->all.data[i];
            add_schedule(&b);
        }
        add_foreseen(&b);
        print(&b, way, out);
    }
    release(&b);
    return status;
}

/* ---- afterwards */

static ft_constrained_header *head_of(char *file)
{
    return (ft_constrained_header *)(void *)file;
}

static bool is_schedule_kept(const ft_constrained_tables *t, const ft_constrained_schedule *s)
{
    const ft_constrained_thread *threads = t->threads + s->first_thread;
    for (uint32_t k = 0; k < s->n_threads; k++)
        for (uint32_t i = 0; i < threads[k].n; i++) {
            const ft_constrained_node *n = &t->nodes[threads[k].first + i];
            for (uint32_t e = 0; n->when && e < n->n_edges; e++) {
                ft_constrained_edge edge = t->edges[n->first_edge + e];
                const ft_constrained_node *before =
                    &t->nodes[threads[edge.thread].first + edge.n - 1];
                if (!before->when || before->when >= n->when) return false;
            }
        }
    return true;
}

bool ft_constrained_kept(char *file)
{
    const ft_constrained_header *head = head_of(file);
    ft_constrained_tables t = ft_constrained_tables_of(head_of(file));
    for (uint32_t s = 0; s < head->schedules; s++)
        if (!is_schedule_kept(&t, &t.schedules[s])) return false;
    return !head->disorder;
}

/* The schedule's node that is that one of the file; thread: of the schedule. */
static uint32_t node_of(const ft_schedule_set *set, const ft_schedule *s, uint32_t thread,
                        uint32_t left)
{
    uint32_t operation;
    for (uint32_t i = 0; i < s->nodes.len; i++)
        if (s->nodes.data[i].thread == thread && operation_of(set, &s->nodes.data[i], &operation) &&
            left-- == 0)
            return i;
    return FT_NO_ID;
}

/* Where the run left the schedule. */
static void print_place(const ft_constrained_set *set, char *file, ft_strbuf *out)
{
    static const char *const operations[FT_CONSTRAINED_OPERATIONS] = {
#define FT_ROW(symbol, name) name,
        FT_CONSTRAINED_OPERATION_TABLE(FT_ROW)
#undef FT_ROW
    };
    const ft_constrained_header *head = head_of(file);
    ft_constrained_tables t = ft_constrained_tables_of(head_of(file));
    listed at = set->all.data[head->schedule];
    uint32_t native[FT_SCHEDULE_THREADS], thread = 0;
    (void)number_threads(set->set, at, native);
    while (thread < at.schedule->threads.len && native[thread] != head->thread) thread++;
    bool named = thread < at.schedule->threads.len; /* else the thread has no node there */
    if (head->found >= FT_CONSTRAINED_OPERATIONS) return;
    bool blocked = head->outcome == FT_CONSTRAINED_BLOCKED_OUTCOME;
    ft_strbuf_puts(out, blocked ? "; last: thread " : ": thread ");
    if (named)
        ft_strbuf_puts(out, thread_name(set->set, at.schedule, thread));
    else
        ft_strbuf_printf(out, "%u", head->thread);
    ft_strbuf_printf(out, ": %s", operations[head->found]);
    if (!named || head->node == FT_CONSTRAINED_NONE) return;
    uint32_t first = t.threads[t.schedules[head->schedule].first_thread + head->thread].first;
    uint32_t node = node_of(set->set, at.schedule, thread, head->node - first);
    if (node == FT_NO_ID) return;
    const ft_node *n = &at.schedule->nodes.data[node];
    ft_strbuf_puts(out, "; the schedule has: ");
    ft_node_print(set->set, at.schedule, node, out);
    if (n->line)
        ft_strbuf_printf(out, " at %s:%u", base_name(ft_schedule_text_of(set->set, n->file)),
                         n->line);
}

void ft_constrained_print(const ft_constrained_set *set, char *file, ft_strbuf *out)
{
    static const char *const outcomes[FT_CONSTRAINED_OUTCOMES] = {
#define FT_ROW(symbol, meaning) meaning,
        FT_CONSTRAINED_OUTCOME_TABLE(FT_ROW)
#undef FT_ROW
    };
    const ft_constrained_header *head = head_of(file);
    FT_REQUIRE(head->outcome < FT_CONSTRAINED_OUTCOMES && head->schedule < set->all.len);
    ft_strbuf_puts(out, outcomes[head->outcome]);
    if (head->outcome > FT_CONSTRAINED_FOLLOWED_OUTCOME) print_place(set, file, out);
    if (!head->begun) return;
    listed at = set->all.data[head->schedule];
    ft_strbuf_printf(
        out, "; %" PRIu32 " epochs, the last with schedule %s of %s (path %016" PRIx64 ")",
        head->begun + 1, ft_schedule_text_of(set->set, at.schedule->name),
        ft_schedule_text_of(set->set, set->set->epochs.data[at.epoch].name), head->path);
}

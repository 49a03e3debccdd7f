/* From a schedule of a set to the file that a native program follows (raw/constrained.h). */
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "maker/symbols/line_ranges.h"
#include "programs/constrained.h"
#include "raw/constrained.h"
#include "schedules/schedules.h"

/* Statements of headers of the system may be placed some lines later. */
enum { STATEMENT = 3 };

struct ft_constrained_set {
    ft_schedule_set *set;
    const ft_schedule *schedule; /* NULL: none covers the inputs */
};

typedef struct building {
    const ft_schedule_set *set;
    const ft_schedule *s;
    FT_VEC(ft_constrained_thread) threads;
    FT_VEC(ft_constrained_node) nodes;
    FT_VEC(ft_constrained_edge) edges;
    FT_VEC(ft_constrained_range) ranges;
    FT_VEC(ft_source_line) lines;
    uint32_t *number; /* by node of the schedule: its number in its thread, from 1 */
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

static bool operation_of(const ft_node *n, uint32_t *operation)
{
    for (size_t i = 0; i < sizeof OPERATIONS / sizeof *OPERATIONS; i++)
        if (OPERATIONS[i].kind == n->kind) return *operation = OPERATIONS[i].operation, true;
    return false;
}

/* ---- threads: "0.2" is the second that "0" creates */

static const char *name_of(const building *b, uint32_t thread)
{
    return ft_schedule_text_of(b->set, b->s->threads.data[thread]);
}

static void add_threads(building *b)
{
    for (uint32_t t = 0; t < b->s->threads.len; t++) {
        const char *name = name_of(b, t), *dot = strrchr(name, '.');
        ft_constrained_thread thread = {.parent = FT_CONSTRAINED_NONE,
                                        .nth = dot ? (uint32_t)strtoul(dot + 1, NULL, 10) : 0};
        for (uint32_t p = 0; dot && p < t; p++)
            if (strlen(name_of(b, p)) == (size_t)(dot - name) &&
                strncmp(name_of(b, p), name, (size_t)(dot - name)) == 0)
                thread.parent = p;
        ft_vec_push(&b->threads, thread);
    }
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
    for (size_t i = 0; i < b->s->nodes.len; i++) (void)line_of(b, &b->s->nodes.data[i]);
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
        b->number[i] = next[n->thread] += operation_of(n, &operation);
    }
    free(next);
}

/* Did the thread arrive last of the round that it leaves? */
static bool arrived_last(const building *b, size_t leave)
{
    const ft_node *n = &b->s->nodes.data[leave];
    for (size_t i = leave; i-- > 0;) {
        const ft_node *before = &b->s->nodes.data[i];
        if (before->object == n->object && before->kind == FT_NODE_ARRIVE)
            return before->thread == n->thread;
    }
    return false;
}

static void add_edges(building *b, const ft_node *from, ft_constrained_node *to)
{
    to->first_edge = (uint32_t)b->edges.len;
    for (uint32_t e = 0; e < from->n_edges; e++) {
        uint32_t before = b->s->edges.data[from->edges + e];
        ft_constrained_edge edge = {b->s->nodes.data[before].thread, b->number[before]};
        if (edge.n) ft_vec_push(&b->edges, edge);
    }
    to->n_edges = (uint32_t)b->edges.len - to->first_edge;
}

static void add_node(building *b, size_t i)
{
    const ft_node *from = &b->s->nodes.data[i];
    ft_constrained_node to = {.object = from->object == FT_NO_ID ? 0 : from->object + 1,
                              .peer = from->peer,
                              .timed_out = from->timed_out};
    if (!operation_of(from, &to.operation)) return;
    if (from->kind == FT_NODE_LEAVE) to.timed_out = arrived_last(b, i);
    add_edges(b, from, &to);
    add_place(b, from, &to);
    ft_vec_push(&b->nodes, to);
}

static void add_nodes(building *b)
{
    for (uint32_t t = 0; t < b->threads.len; t++) {
        b->threads.data[t].first = (uint32_t)b->nodes.len;
        for (size_t i = 0; i < b->s->nodes.len; i++)
            if (b->s->nodes.data[i].thread == t) add_node(b, i);
        b->threads.data[t].n = (uint32_t)b->nodes.len - b->threads.data[t].first;
    }
}

/* ---- the set */

typedef struct asking {
    ft_constrained_value value;
    void *context;
} asking;

static bool value_of(void *context, const ft_schedule_input *input, const char *name,
                     const char *thread, uint64_t *value)
{
    const asking *a = context;
    (void)input;
    (void)thread;
    return a->value(a->context, name, value);
}

static ft_status select_one(ft_constrained_set *set, asking *a, ft_error *err)
{
    uint32_t chosen;
    ft_status status = ft_schedule_select(set->set, 0, value_of, a, &chosen, err);
    if (status || chosen == FT_NO_SCHEDULE) return status;
    set->schedule = &set->set->epochs.data[0].schedules.data[chosen];
    if (set->schedule->end != FT_SCHEDULE_EPOCH) return FT_OK;
    return ft_error_set(err, FT_USAGE,
                        "schedule %s goes on in another epoch, which native runs do not have",
                        ft_constrained_name(set));
}

ft_status ft_constrained_open(const char *text, size_t length, ft_constrained_value value,
                              void *context, ft_constrained_set **set, ft_error *err)
{
    asking a = {value, context};
    ft_constrained_set *made = ft_calloc(1, sizeof *made);
    ft_status status = ft_schedule_set_read(text, length, &made->set, err);
    if (status == FT_OK) status = select_one(made, &a, err);
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
    const struct {
        const void *data;
        size_t size;
    } parts[] = {{b->threads.data, b->threads.len * sizeof *b->threads.data},
                 {b->nodes.data, b->nodes.len * sizeof *b->nodes.data},
                 {b->edges.data, b->edges.len * sizeof *b->edges.data},
                 {b->ranges.data, b->ranges.len * sizeof *b->ranges.data}};
    ft_constrained_header head = {.bytes = sizeof head,
                                  .threads = (uint32_t)b->threads.len,
                                  .nodes = (uint32_t)b->nodes.len,
                                  .edges = (uint32_t)b->edges.len,
                                  .ranges = (uint32_t)b->ranges.len,
                                  .objects = (uint32_t)b->s->objects.len,
                                  .stops = way.stops,
                                  .prefix = b->set->prefix,
                                  .notes = way.delays != 0,
                                  .delays = way.delays};
    memcpy(head.magic, FT_CONSTRAINED_MAGIC, sizeof head.magic);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) head.bytes += parts[i].size;
    ft_strbuf_add(out, (const char *)&head, sizeof head);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].size) ft_strbuf_add(out, parts[i].data, parts[i].size);
}

ft_status ft_constrained_make(const ft_constrained_set *set, const char *program,
                              ft_constrained_way way, ft_strbuf *out, ft_error *err)
{
    FT_REQUIRE(set->schedule);
    building b = {.set = set->set, .s = set->schedule};
    b.number = ft_calloc(b.s->nodes.len + 1, sizeof *b.number);
    ft_status status = find_code(&b, program, err);
    if (status == FT_OK) {
        add_threads(&b);
        number_nodes(&b);
        add_nodes(&b);
        print(&b, way, out);
    }
    for (size_t i = 0; i < b.lines.len; i++) ft_vec_release(&b.lines.data[i].code);
    ft_vec_release(&b.lines);
    ft_vec_release(&b.threads);
    ft_vec_release(&b.nodes);
    ft_vec_release(&b.edges);
    ft_vec_release(&b.ranges);
    free(b.number);
    return status;
}

/* ---- afterwards */

static const ft_constrained_header *head_of(const char *file)
{
    return (const ft_constrained_header *)(const void *)file;
}

static const ft_constrained_thread *threads_of(const char *file)
{
    return (const ft_constrained_thread *)(const void *)(head_of(file) + 1);
}

bool ft_constrained_kept(const char *file)
{
    const ft_constrained_header *head = head_of(file);
    const ft_constrained_thread *threads = threads_of(file);
    const ft_constrained_node *nodes =
        (const ft_constrained_node *)(const void *)(threads + head->threads);
    const ft_constrained_edge *edges =
        (const ft_constrained_edge *)(const void *)(nodes + head->nodes);
    for (uint32_t n = 0; n < head->nodes; n++)
        for (uint32_t e = 0; nodes[n].when && e < nodes[n].n_edges; e++) {
            ft_constrained_edge edge = edges[nodes[n].first_edge + e];
            const ft_constrained_node *before = &nodes[threads[edge.thread].first + edge.n - 1];
            if (!before->when || before->when >= nodes[n].when) return false;
        }
    return true;
}

/* The schedule's node that is that one of the file. */
static uint32_t node_of(const ft_schedule *s, const char *file, uint32_t thread, uint32_t node)
{
    uint32_t left = node - threads_of(file)[thread].first, operation;
    for (uint32_t i = 0; i < s->nodes.len; i++)
        if (s->nodes.data[i].thread == thread && operation_of(&s->nodes.data[i], &operation) &&
            left-- == 0)
            return i;
    return FT_NO_ID;
}

void ft_constrained_print(const ft_constrained_set *set, const char *file, ft_strbuf *out)
{
    const ft_schedule *s = set->schedule;
    static const char *const outcomes[FT_CONSTRAINED_OUTCOMES] = {
#define FT_ROW(symbol, meaning) meaning,
        FT_CONSTRAINED_OUTCOME_TABLE(FT_ROW)
#undef FT_ROW
    };
    static const char *const operations[FT_CONSTRAINED_OPERATIONS] = {
#define FT_ROW(symbol, name) name,
        FT_CONSTRAINED_OPERATION_TABLE(FT_ROW)
#undef FT_ROW
    };
    const ft_constrained_header *head = head_of(file);
    FT_REQUIRE(head->outcome < FT_CONSTRAINED_OUTCOMES);
    ft_strbuf_puts(out, outcomes[head->outcome]);
    if (head->outcome <= FT_CONSTRAINED_FOLLOWED_OUTCOME || head->thread >= s->threads.len) return;
    uint32_t node =
        head->node == FT_CONSTRAINED_NONE ? FT_NO_ID : node_of(s, file, head->thread, head->node);
    ft_strbuf_printf(out, ": thread %s: %s",
                     ft_schedule_text_of(set->set, s->threads.data[head->thread]),
                     head->found < FT_CONSTRAINED_OPERATIONS ? operations[head->found] : "?");
    if (node == FT_NO_ID) return;
    const ft_node *n = &s->nodes.data[node];
    ft_strbuf_puts(out, "; the schedule has: ");
    ft_node_print(set->set, s, node, out);
    if (n->line)
        ft_strbuf_printf(out, " at %s:%u", base_name(ft_schedule_text_of(set->set, n->file)),
                         n->line);
}

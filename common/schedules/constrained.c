#include "schedules/constrained.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "schedules/arrival.h"
#include "schedules/dynamic.h"

const char *ft_constrained_look_name(ft_constrained_look look)
{
    static const char *const NAMES[] = {
#define FT_ROW(symbol, name, meaning) name,
        FT_CONSTRAINED_TABLE(FT_ROW)
#undef FT_ROW
    };
    FT_REQUIRE(look < FT_CONSTRAINED_LOOKS);
    return NAMES[look];
}

const char *ft_constrained_end_name(ft_constrained_end end)
{
    static const char *const NAMES[] = {
#define FT_ROW(symbol, name, meaning) name,
        FT_CONSTRAINED_END_TABLE(FT_ROW)
#undef FT_ROW
    };
    FT_REQUIRE(end < FT_CONSTRAINED_ENDS);
    return NAMES[end];
}

/* ---- threads and nodes ---- */

static void add_name(const ft_constrained *c, uint32_t thread, ft_strbuf *name)
{
    uint32_t chain[FT_INTERPRETER_THREADS], n = 0;
    for (; c->parent[thread] != FT_NO_ID; thread = c->parent[thread]) chain[n++] = c->nth[thread];
    if (c->nth[thread] == FT_NO_ID)
        ft_strbuf_puts(name, "?"); /* nobody's name */
    else
        ft_strbuf_printf(name, "%" PRIu32, c->nth[thread]);
    while (n) ft_strbuf_printf(name, ".%" PRIu32, chain[--n]);
}

static uint32_t named(const ft_constrained *c, const char *name)
{
    for (uint32_t i = 0; i < c->schedule->threads.len; i++)
        if (strcmp(ft_schedule_text_of(c->set, c->schedule->threads.data[i]), name) == 0) return i;
    return FT_NO_ID;
}

static void name_thread(ft_constrained *c, uint32_t thread)
{
    ft_strbuf name = {0};
    add_name(c, thread, &name);
    c->names[thread] = named(c, name.text);
    ft_strbuf_release(&name);
}

static void list_nodes(ft_constrained *c)
{
    const ft_schedule *s = c->schedule;
    uint32_t at = 0;
    c->first = ft_calloc(s->threads.len + 1, sizeof *c->first);
    c->following = ft_calloc(s->nodes.len + 1, sizeof *c->following);
    c->number = ft_calloc(s->nodes.len + 1, sizeof *c->number);
    for (uint32_t t = 0; t < s->threads.len; t++) {
        c->first[t] = at;
        for (uint32_t i = 0; i < s->nodes.len; i++) {
            if (s->nodes.data[i].thread != t) continue;
            c->number[i] = at - c->first[t];
            c->following[at++] = i;
        }
    }
    c->first[s->threads.len] = at;
}

void ft_constrained_init(ft_constrained *run, const ft_program *program, const ft_schedule_set *set,
                         const ft_schedule *schedule)
{
    FT_REQUIRE(run && program && set && schedule);
    *run = (ft_constrained){.set = set, .schedule = schedule, .program = program};
    list_nodes(run);
    run->bound = ft_calloc(schedule->objects.len + 1, sizeof *run->bound);
    for (int t = 0; t < FT_INTERPRETER_THREADS; t++)
        run->names[t] = run->parent[t] = run->nth[t] = FT_NO_ID;
    run->nth[0] = 0;
    name_thread(run, 0);
}

/* ---- dynamic inputs ---- */

typedef struct learning {
    const ft_constrained *c;
    const ft_interpreter *m;   /* NULL: no thread has run in the epoch yet */
    const ft_arrival *arrival; /* of a later epoch, while it begins: has the unknowns */
    ft_schedule_value value;   /* NULL: what was given before */
    void *context;
    bool begins;
} learning;

static const ft_epoch *epoch_of(const ft_constrained *c)
{
    return &c->set->epochs.data[c->epoch];
}

/* The interpreter's thread of that name; FT_NO_ID: it has none yet. */
static uint32_t thread_named(const learning *l, const char *wanted)
{
    uint32_t found = FT_NO_ID;
    for (uint32_t t = 0; l->m && t < ft_interpreter_thread_count(l->m) && found == FT_NO_ID; t++) {
        ft_strbuf name = {0};
        add_name(l->c, t, &name);
        if (strcmp(name.text, wanted) == 0) found = t;
        ft_strbuf_release(&name);
    }
    return found;
}

static bool learn(void *context, const ft_schedule_input *in, const char *name, const char *thread,
                  uint64_t *value)
{
    learning *l = context;
    size_t number = (size_t)(in - l->c->set->inputs.data);
    if (in->dynamic) {
        uint32_t t = thread_named(l, thread);
        return t != FT_NO_ID && ft_interpreter_input(l->m, l->c->reads, t, name, in->n, value);
    }
    if (!l->begins) return *value = l->c->given[number], true;
    bool known = in->n ? l->value && l->value(l->context, in, name, thread, value)
                       : ft_arrival_read(l->arrival, name, in->width, value);
    if (known) l->c->given[number] = *value;
    return known;
}

/* The first schedule that is possible is the one at hand; false: none is. */
static bool take_first(ft_constrained *c)
{
    const ft_epoch *e = epoch_of(c);
    uint32_t i = 0;
    while (i < e->schedules.len && !c->possible[i]) i++;
    if (i == e->schedules.len) return false;
    c->schedule = &e->schedules.data[i];
    return true;
}

/* Finds the schedules that are possible when the epoch begins, and takes the first. FT_NOT_FOUND:
 * none is, or what is not dynamic is not known. */
static ft_status begin_tree(ft_constrained *c, learning *l, ft_error *err)
{
    uint32_t n = (uint32_t)epoch_of(c)->schedules.len;
    c->possible = ft_calloc(n + 1, sizeof *c->possible);
    c->given = ft_calloc(c->set->inputs.len + 1, sizeof *c->given);
    c->schedules = n;
    ft_status status = ft_schedule_possible(c->set, c->epoch, learn, l, c->possible, err);
    if (status == FT_OK && !take_first(c))
        status = ft_error_set(err, FT_NOT_FOUND, "no schedule covers the inputs");
    if (status == FT_OK) return FT_OK;
    free(c->possible);
    free(c->given);
    c->possible = NULL;
    c->given = NULL;
    return status;
}

ft_status ft_constrained_begin(ft_constrained *run, const ft_program *program,
                               const ft_schedule_set *set, ft_schedule_value value, void *context,
                               ft_error *err)
{
    FT_REQUIRE(run && program && set && value);
    ft_constrained first = {.set = set};
    learning l = {.c = &first, .value = value, .context = context, .begins = true};
    ft_status status = begin_tree(&first, &l, err);
    if (status != FT_OK) return status;
    ft_constrained_init(run, program, set, first.schedule);
    run->possible = first.possible;
    run->given = first.given;
    run->schedules = first.schedules;
    return FT_OK;
}

/* Another schedule of which all that was done is part: names stay. */
static void change_schedule(ft_constrained *c, const ft_schedule *to)
{
    ft_constrained next;
    ft_constrained_init(&next, c->program, c->set, to);
    memcpy(next.parent, c->parent, sizeof next.parent);
    memcpy(next.nth, c->nth, sizeof next.nth);
    memcpy(next.created, c->created, sizeof next.created);
    for (uint32_t t = 0; t < FT_INTERPRETER_THREADS; t++)
        if (c->nth[t] != FT_NO_ID) name_thread(&next, t);
    for (uint32_t t = 0; t < c->schedule->threads.len; t++)
        for (uint32_t k = 0; k < to->threads.len; k++)
            if (c->schedule->threads.data[t] == to->threads.data[k]) next.done[k] = c->done[t];
    for (uint32_t o = 0; o < c->schedule->objects.len; o++)
        for (uint32_t k = 0; k < to->objects.len; k++)
            if (c->schedule->objects.data[o] == to->objects.data[k]) next.bound[k] = c->bound[o];
    next.epoch = c->epoch;
    next.old = c->old;
    next.reads = c->reads;
    next.possible = c->possible;
    next.given = c->given;
    next.schedules = c->schedules;
    c->possible = NULL;
    c->given = NULL;
    ft_constrained_release(c);
    *c = next;
}

/* What the threads have read since: fewer schedules may be possible. */
static void settle(ft_constrained *c, const ft_interpreter *m)
{
    learning l = {.c = c, .m = m};
    if (!c->possible) return;
    ft_status status = ft_schedule_possible(c->set, c->epoch, learn, &l, c->possible, NULL);
    assert(status == FT_OK);
    (void)status;
    if (c->possible[c->schedule - epoch_of(c)->schedules.data]) return;
    const ft_schedule *before = c->schedule;
    if (!take_first(c)) return; /* none covers the inputs: what is left diverges */
    const ft_schedule *to = c->schedule;
    c->schedule = before;
    change_schedule(c, to);
}

/* Do all possible schedules have the same next node of the thread? */
static bool all_agree(const ft_constrained *c, uint32_t thread)
{
    const ft_epoch *e = epoch_of(c);
    uint32_t own = c->names[thread], done = own == FT_NO_ID ? 0 : c->done[own];
    ft_strbuf name = {0};
    if (!c->possible) return true;
    add_name(c, thread, &name);
    uint32_t text = ft_intern_find(&c->set->texts, name.text, name.len);
    bool agree = true;
    for (uint32_t i = 0; i < c->schedules && agree && text != FT_NO_ID; i++)
        agree = !c->possible[i] ||
                ft_schedules_agree(c->schedule, &e->schedules.data[i], text, done + 1);
    ft_strbuf_release(&name);
    return agree;
}

static void *copied(const void *from, size_t n)
{
    void *to = ft_alloc(n);
    memcpy(to, from, n);
    return to;
}

void ft_constrained_copy(ft_constrained *to, const ft_constrained *from)
{
    const ft_schedule *s = from->schedule;
    *to = *from;
    to->first = copied(from->first, (s->threads.len + 1) * sizeof *to->first);
    to->following = copied(from->following, (s->nodes.len + 1) * sizeof *to->following);
    to->number = copied(from->number, (s->nodes.len + 1) * sizeof *to->number);
    to->bound = copied(from->bound, (s->objects.len + 1) * sizeof *to->bound);
    if (!from->possible) return;
    to->possible = copied(from->possible, (from->schedules + 1) * sizeof *to->possible);
    to->given = copied(from->given, (from->set->inputs.len + 1) * sizeof *to->given);
}

void ft_constrained_release(ft_constrained *run)
{
    free(run->first);
    free(run->following);
    free(run->number);
    free(run->bound);
    free(run->possible);
    free(run->given);
}

/* The thread's next node; NULL: there is none. */
static const ft_node *next_node(const ft_constrained *c, uint32_t thread)
{
    uint32_t own = c->names[thread];
    if (own == FT_NO_ID || c->first[own] + c->done[own] >= c->first[own + 1]) return NULL;
    return &c->schedule->nodes.data[c->following[c->first[own] + c->done[own]]];
}

static bool is_ready(const ft_constrained *c, const ft_node *node)
{
    for (uint32_t i = 0; i < node->n_edges; i++) {
        uint32_t other = c->schedule->edges.data[node->edges + i];
        if (c->done[c->schedule->nodes.data[other].thread] <= c->number[other]) return false;
    }
    return true;
}

/* ---- does an operation match its node? ---- */

/* The name that the object has in schedules; of heap and stack without its number. */
static void object_name(const ft_constrained *c, const ft_interpreter *m, uint64_t address,
                        ft_strbuf *name)
{
    enum { FIRST_OF_THREADS = 40 };
    ft_interpreter_location at;
    if (!ft_interpreter_locate(m, address, &at)) return;
    bool made = at.symbol == FT_NO_SYMBOL, old = made && at.object < c->old;
    bool own = !made && ft_program_object(c->program, at.symbol)->by_thread;
    if (made) ft_strbuf_puts(name, at.heap ? "heap:" : "stack:");
    if ((made && !old) || own) add_name(c, (uint32_t)(address >> FIRST_OF_THREADS) - 1, name);
    if (made)
        ft_strbuf_puts(name, "#");
    else
        ft_strbuf_printf(name, "@%s", ft_program_symbol_name(c->program, at.symbol));
    ft_strbuf_printf(name, "+%" PRIu64, at.offset);
}

/* heap:0.1#2+8 and heap:0.1#+8 */
static bool is_name_of(const char *name, const char *own)
{
    const char *hash = strchr(own, '#');
    if (!hash) return strcmp(name, own) == 0;
    size_t head = (size_t)(hash - own) + 1;
    if (strncmp(name, own, head) != 0) return false;
    const char *plus = strchr(name + head, '+');
    return plus && strcmp(plus, hash + 1) == 0;
}

static bool object_matches(const ft_constrained *c, const ft_interpreter *m, uint32_t object,
                           uint64_t address)
{
    if (c->bound[object]) return c->bound[object] == address;
    for (size_t i = 0; i < c->schedule->objects.len; i++)
        if (c->bound[i] == address) return false;
    ft_strbuf own = {0};
    object_name(c, m, address, &own);
    bool fits =
        own.len &&
        is_name_of(ft_schedule_text_of(c->set, c->schedule->objects.data[object]), own.text);
    ft_strbuf_release(&own);
    return fits;
}

static uint64_t object_address(const ft_node *node, uint64_t address)
{
    bool atomic = node->kind >= FT_NODE_ATOMIC_LOAD && node->kind <= FT_NODE_ATOMIC_SWAP;
    return atomic ? address & ~UINT64_C(7) : address;
}

/* Where the source has it: the innermost call with a place there. */
static ft_position position_of(const ft_constrained *c, const ft_interpreter *m, uint32_t thread)
{
    enum { MOST = 32 };
    ft_interpreter_place places[MOST];
    uint32_t n = ft_interpreter_stack(m, thread, places, MOST);
    for (uint32_t i = 0; i < n && i < MOST; i++) {
        const ft_function *f = ft_program_function(c->program, places[i].function);
        const ft_position *at = &f->instructions.data[places[i].instruction].position;
        if (at->file != FT_NO_FILE) return *at;
    }
    return (ft_position){FT_NO_FILE, 0, 0};
}

static bool place_matches(const ft_constrained *c, const ft_interpreter *m, const ft_node *node,
                          uint32_t thread, const ft_interpreter_place *place)
{
    if (node->function == FT_NO_ID) return true;
    if (node->file != FT_NO_ID) {
        ft_position at = position_of(c, m, thread);
        if (at.file == FT_NO_FILE || at.line != node->line || at.column != node->column ||
            strcmp(c->program->files.names[at.file], ft_schedule_text_of(c->set, node->file)) != 0)
            return false;
    }
    return place->function != FT_NO_SYMBOL && place->instruction == node->instruction &&
           strcmp(ft_program_symbol_name(c->program, place->function),
                  ft_schedule_text_of(c->set, node->function)) == 0;
}

static bool kind_matches(const ft_node *node, const ft_interpreter_operation *o)
{
    ft_node_kind kind;
    if (o->code == FT_CODES) return node->kind == FT_NODE_BEGIN;
    if (o->code == FT_CODE_FAIL) return node->kind == FT_NODE_EXIT;
    return ft_node_kind_of(o->code, o->second, &kind) && kind == node->kind;
}

/* The thread that a create will make, that a join or detach is about. */
static bool peer_matches(const ft_constrained *c, const ft_node *node, uint32_t thread,
                         const ft_interpreter_operation *o)
{
    if (node->kind == FT_NODE_CREATE) {
        ft_strbuf name = {0};
        add_name(c, thread, &name);
        ft_strbuf_printf(&name, ".%" PRIu32, c->created[thread] + 1);
        bool same = named(c, name.text) == node->peer;
        ft_strbuf_release(&name);
        return same;
    }
    if (node->kind != FT_NODE_JOIN && node->kind != FT_NODE_DETACH) return true;
    return o->object < FT_INTERPRETER_THREADS && c->names[o->object] == node->peer;
}

static bool matches(const ft_constrained *c, const ft_interpreter *m, uint32_t thread,
                    const ft_node *node, const ft_interpreter_operation *o)
{
    if (!kind_matches(node, o) || !place_matches(c, m, node, thread, &o->place)) return false;
    if (!peer_matches(c, node, thread, o)) return false;
    if (node->object != FT_NO_ID &&
        !object_matches(c, m, node->object, object_address(node, o->object)))
        return false;
    return node->other == FT_NO_ID || object_matches(c, m, node->other, o->other);
}

/* ---- steps ---- */

/* The interpreter's number of a thread of the schedule; FT_NO_ID: it has none yet. */
static uint32_t number_of(const ft_constrained *c, uint32_t own)
{
    for (uint32_t t = 0; t < FT_INTERPRETER_THREADS; t++)
        if (c->names[t] == own) return t;
    return FT_NO_ID;
}

static ft_constrained_look choose(const ft_constrained *c, const ft_node *node,
                                  const uint64_t *variants, uint32_t n, uint64_t *variant)
{
    uint64_t wanted = node->timed_out;
    if (!n) return FT_CONSTRAINED_WAITS;
    if (node->kind == FT_NODE_SIGNAL && node->peer != FT_NO_ID) {
        uint32_t peer = number_of(c, node->peer);
        wanted = peer == FT_NO_ID ? UINT64_MAX : peer + 1;
    }
    for (uint32_t i = 0; i < n; i++)
        if (variants[i] == wanted) return *variant = wanted, FT_CONSTRAINED_FOLLOWS;
    /* A time limit that is not to pass, or not yet; a waiter that is not there. */
    return node->kind == FT_NODE_SIGNAL ? FT_CONSTRAINED_DIVERGES : FT_CONSTRAINED_WAITS;
}

static bool ends_process(const ft_interpreter_operation *o)
{
    return o->code == FT_CODE_EXIT || o->code == FT_CODE_FAIL;
}

/* It came back to a place as it was, within a step. */
static bool is_endless(const ft_interpreter_operation *o)
{
    return o->code != FT_CODES && o->code != FT_CODE_FAIL &&
           ft_instruction_row_of(o->code)->effect != FT_EFFECT_VISIBLE;
}

ft_constrained_look ft_constrained_next(const ft_constrained *c, const ft_interpreter *m,
                                        uint32_t thread, uint64_t *variant)
{
    ft_interpreter_operation o;
    uint64_t variants[FT_INTERPRETER_THREADS];
    if (!ft_interpreter_stands_before(m, thread, &o)) return FT_CONSTRAINED_GONE;
    if (is_endless(&o)) return FT_CONSTRAINED_ENDLESS;
    uint32_t n = ft_interpreter_choices(m, thread, variants);
    ft_node_kind kind;
    bool ordered =
        o.code == FT_CODES || ends_process(&o) || ft_node_kind_of(o.code, o.second, &kind);
    if (!ordered) /* a fence, a yield */
        return n ? (*variant = variants[0], FT_CONSTRAINED_FOLLOWS) : FT_CONSTRAINED_WAITS;
    const ft_node *node = next_node(c, thread);
    if (!all_agree(c, thread)) {
        bool may_exit = c->set->prefix && ends_process(&o);
        return may_exit ? (*variant = 0, FT_CONSTRAINED_EXITS) : FT_CONSTRAINED_WAITS;
    }
    if (node && matches(c, m, thread, node, &o))
        return is_ready(c, node) ? choose(c, node, variants, n, variant) : FT_CONSTRAINED_WAITS;
    if (c->set->prefix && ends_process(&o)) return *variant = 0, FT_CONSTRAINED_EXITS;
    return node ? FT_CONSTRAINED_DIVERGES : FT_CONSTRAINED_AT_END;
}

static void bind(ft_constrained *c, const ft_node *node, const ft_interpreter_operation *o)
{
    if (node->object != FT_NO_ID) c->bound[node->object] = object_address(node, o->object);
    if (node->other != FT_NO_ID) c->bound[node->other] = o->other;
}

/* Also where no thread can: the interpreter calls that an error. */
static bool is_going(const ft_interpreter *m)
{
    ft_interpreter_state state = ft_interpreter_state_of(m);
    ft_program_error error = ft_interpreter_error_of(m)->kind;
    return state == FT_INTERPRETER_GOING ||
           (state == FT_INTERPRETER_FAILED &&
            (error == FT_ERROR_DEADLOCK || error == FT_ERROR_LIVE_LOCK));
}

ft_constrained_look ft_constrained_step(ft_constrained *c, ft_interpreter *m, uint32_t thread,
                                        uint64_t variant)
{
    ft_interpreter_operation o;
    bool stands = ft_interpreter_stands_before(m, thread, &o);
    FT_REQUIRE(stands);
    const ft_node *node = next_node(c, thread);
    if (node && matches(c, m, thread, node, &o)) {
        bind(c, node, &o);
        c->done[c->names[thread]]++;
    }
    uint32_t child = ft_interpreter_thread_count(m);
    ft_interpreter_step(m, thread, variant);
    if (o.code == FT_CODE_CREATE && ft_interpreter_thread_count(m) > child) {
        c->parent[child] = thread;
        c->nth[child] = ++c->created[thread];
        name_thread(c, child);
    }
    settle(c, m);
    if (ft_interpreter_stands_before(m, thread, &o)) return FT_CONSTRAINED_FOLLOWS;
    node = next_node(c, thread); /* it has ended */
    if (!node || node->kind != FT_NODE_END) return FT_CONSTRAINED_DIVERGES;
    c->done[c->names[thread]]++;
    return FT_CONSTRAINED_FOLLOWS;
}

bool ft_constrained_is_done(const ft_constrained *c)
{
    for (uint32_t t = 0; t < c->schedule->threads.len; t++)
        if (c->first[t] + c->done[t] < c->first[t + 1]) return false;
    return true;
}

/* Does a thread go round for ever, while none is kept from ending the process? */
static bool is_endless_run(const ft_interpreter *m)
{
    ft_interpreter_operation o;
    bool any = false, ends = false;
    for (uint32_t t = 0; t < ft_interpreter_thread_count(m); t++) {
        if (!ft_interpreter_stands_before(m, t, &o)) continue;
        any |= is_endless(&o);
        ends |= ends_process(&o);
    }
    return any && !ends;
}

bool ft_constrained_awaits_input(const ft_constrained *c, const ft_interpreter *m)
{
    ft_interpreter_operation o;
    uint64_t variants[FT_INTERPRETER_THREADS];
    for (uint32_t t = 0; t < ft_interpreter_thread_count(m); t++)
        if (ft_interpreter_stands_before(m, t, &o) && !all_agree(c, t) &&
            ft_interpreter_choices(m, t, variants))
            return true;
    return false;
}

ft_constrained_end ft_constrained_end_of(const ft_constrained *c, const ft_interpreter *m,
                                         uint32_t *thread)
{
    uint64_t variant;
    ft_interpreter_state state = ft_interpreter_state_of(m);
    *thread = FT_NO_ID;
    if (state == FT_INTERPRETER_DISCARDED) return FT_CONSTRAINED_DISCARDED;
    if (state == FT_INTERPRETER_STOPPED) return FT_CONSTRAINED_STOPPED;
    if (state == FT_INTERPRETER_GOING)
        for (uint32_t t = 0; t < ft_interpreter_thread_count(m); t++)
            if (ft_constrained_next(c, m, t, &variant) == FT_CONSTRAINED_DIVERGES)
                return *thread = t, FT_CONSTRAINED_DIVERGED;
    if (is_going(m) && is_endless_run(m)) return FT_CONSTRAINED_ENDLESS_RUN;
    if (state == FT_INTERPRETER_GOING && ft_constrained_awaits_input(c, m))
        return FT_CONSTRAINED_STUCK;
    bool goes_on = c->schedule->end == FT_SCHEDULE_EPOCH;
    if (goes_on && ft_constrained_is_done(c) && state == FT_INTERPRETER_GOING)
        return FT_CONSTRAINED_EPOCH;
    if (!goes_on && ft_constrained_is_done(c)) return FT_CONSTRAINED_SAME;
    return is_going(m) ? FT_CONSTRAINED_STUCK : FT_CONSTRAINED_PREFIX;
}

/* ---- epochs ---- */

/* By thread of the next epoch: that of the interpreter. False: one is not there, or a thread that
 * has not ended is none of them. */
static bool bind_threads(const ft_constrained *c, const ft_interpreter *m, uint32_t *threads)
{
    ft_interpreter_operation o;
    uint64_t bound = 0;
    for (size_t i = 0; i < c->schedule->bound.len; i++) {
        threads[i] = number_of(c, c->schedule->bound.data[i]);
        if (threads[i] == FT_NO_ID) return false;
        bound |= UINT64_C(1) << threads[i];
    }
    for (uint32_t t = 0; t < ft_interpreter_thread_count(m); t++)
        if (!(bound >> t & 1) && ft_interpreter_stands_before(m, t, &o)) return false;
    return true;
}

/* Takes over `tree`, which has the schedule and, with dynamic inputs, all that are possible. */
static void begin_epoch(ft_constrained *c, const ft_interpreter *m, const ft_constrained *tree,
                        const uint32_t *threads)
{
    ft_constrained next;
    ft_constrained_init(&next, c->program, c->set, tree->schedule);
    next.epoch = tree->epoch;
    next.old = ft_interpreter_objects(m);
    next.reads = ft_interpreter_reads(m);
    next.nth[0] = FT_NO_ID;
    next.possible = tree->possible;
    next.given = tree->given;
    next.schedules = tree->schedules;
    for (uint32_t i = 0; i < epoch_of(&next)->stands.len; i++) next.nth[threads[i]] = i;
    for (uint32_t t = 0; t < ft_interpreter_thread_count(m); t++) name_thread(&next, t);
    ft_constrained_release(c);
    *c = next;
}

/* The schedule that the epoch's selector takes, or the first that is possible. */
static ft_status select_next(const ft_arrival *arrival, ft_constrained *next,
                             ft_schedule_value value, void *context, ft_error *err)
{
    learning l = {
        .c = next, .arrival = arrival, .value = value, .context = context, .begins = true};
    uint32_t schedule;
    if (ft_schedule_is_tree(next->set, next->epoch)) return begin_tree(next, &l, err);
    ft_status status = ft_arrival_select(arrival, value, context, &schedule, err);
    if (status == FT_OK && schedule == FT_NO_SCHEDULE)
        status = ft_error_set(err, FT_NOT_FOUND, "no schedule of epoch %s covers the state",
                              ft_schedule_text_of(next->set, epoch_of(next)->name));
    if (status == FT_OK) next->schedule = &epoch_of(next)->schedules.data[schedule];
    return status;
}

ft_constrained_end ft_constrained_go_on(ft_constrained *c, const ft_interpreter *m,
                                        ft_schedule_value value, void *context, ft_error *err)
{
    FT_REQUIRE(c->schedule->end == FT_SCHEDULE_EPOCH && ft_constrained_is_done(c));
    uint32_t threads[FT_SCHEDULE_THREADS];
    ft_constrained next = {.set = c->set,
                           .epoch = ft_schedule_epoch_named(c->set, c->schedule->next)};
    ft_arrival arrival;
    if (!bind_threads(c, m, threads)) {
        (void)ft_error_set(err, FT_INPUT, "epoch %s has other threads",
                           ft_schedule_text_of(c->set, c->schedule->next));
        return FT_CONSTRAINED_OUTSIDE;
    }
    ft_arrival_init(&arrival, c->program, c->set, next.epoch, m, threads);
    ft_constrained_end end = FT_CONSTRAINED_EPOCH;
    if (ft_arrival_check(&arrival, value, context, err) != FT_OK)
        end = FT_CONSTRAINED_OUTSIDE;
    else if (select_next(&arrival, &next, value, context, err) != FT_OK)
        end = FT_CONSTRAINED_UNCOVERED;
    ft_arrival_release(&arrival);
    if (end == FT_CONSTRAINED_EPOCH) begin_epoch(c, m, &next, threads);
    return end;
}

/* ---- deadlocks ---- */

/* Threads that could wake the waiting thread, ended ones among them. */
static uint64_t wakers(const ft_interpreter *m, uint32_t thread)
{
    ft_interpreter_operation o;
    uint64_t all = UINT64_MAX & ~(UINT64_C(1) << thread);
    if (!ft_interpreter_stands_before(m, thread, &o)) return 0;
    ft_interpreter_object at = ft_interpreter_object_at(m, o.object);
    switch (o.code) {
    case FT_CODE_JOIN:
        return o.object < FT_INTERPRETER_THREADS ? UINT64_C(1) << o.object : 0;
    case FT_CODE_LOCK:
        return at.owner ? UINT64_C(1) << (at.owner - 1) : all;
    case FT_CODE_WAIT:
    case FT_CODE_TIMED_WAIT:
        if (o.waits) return all;
        at = ft_interpreter_object_at(m, o.other); /* woken, and the mutex is taken */
        return at.owner ? UINT64_C(1) << (at.owner - 1) : all;
    case FT_CODE_READ_LOCK:
    case FT_CODE_WRITE_LOCK:
        return (at.owner ? UINT64_C(1) << (at.owner - 1) : 0) | at.readers;
    default:
        return all;
    }
}

uint64_t ft_constrained_deadlock(const ft_interpreter *m)
{
    uint64_t waiting = 0, live = 0, variants[FT_INTERPRETER_THREADS];
    ft_interpreter_operation o;
    for (uint32_t t = 0; t < ft_interpreter_thread_count(m); t++) {
        if (!ft_interpreter_stands_before(m, t, &o)) continue;
        live |= UINT64_C(1) << t;
        if (!is_endless(&o) && !ends_process(&o) && !ft_interpreter_choices(m, t, variants))
            waiting |= UINT64_C(1) << t;
    }
    for (bool more = true; more;) {
        more = false;
        for (uint32_t t = 0; t < FT_INTERPRETER_THREADS; t++)
            if (waiting >> t & 1 && wakers(m, t) & live & ~waiting) {
                waiting &= ~(UINT64_C(1) << t);
                more = true;
            }
    }
    return waiting;
}

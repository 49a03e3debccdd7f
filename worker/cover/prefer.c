#include "cover/prefer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "program/witness/witness.h"

/* A witness becomes a set of one schedule, of which order, threads and waiters count. */
struct cover_preference {
    ft_schedule_set *set;
    const ft_schedule *schedule;           /* of the path at hand; NULL: none */
    ft_map nodes;                          /* thread of the world and number -> node */
    uint32_t numbers[FT_SCHEDULE_THREADS]; /* by thread of the schedule: that of the world */
    bool has[FT_NODE_KINDS];               /* by group: some node of the set is of it */
    uint32_t done[FT_SYM_THREADS];         /* by thread of the world: operations that count */
};

/* Kinds that recordings do not tell apart count as one. */
static ft_node_kind group_of(ft_node_kind kind)
{
    static const ft_node_kind groups[FT_NODE_KINDS] = {[FT_NODE_TRY_LOCK] = FT_NODE_LOCK,
                                                       [FT_NODE_TIMED_LOCK] = FT_NODE_LOCK,
                                                       [FT_NODE_READ_LOCK] = FT_NODE_LOCK,
                                                       [FT_NODE_WRITE_LOCK] = FT_NODE_LOCK,
                                                       [FT_NODE_TRY_READ_LOCK] = FT_NODE_LOCK,
                                                       [FT_NODE_TRY_WRITE_LOCK] = FT_NODE_LOCK,
                                                       [FT_NODE_RW_UNLOCK] = FT_NODE_UNLOCK,
                                                       [FT_NODE_TIMED_WAIT] = FT_NODE_WAIT,
                                                       [FT_NODE_TIMED_WAKE] = FT_NODE_WAKE,
                                                       [FT_NODE_SEM_TRY] = FT_NODE_SEM_WAIT,
                                                       [FT_NODE_SEM_TIMED] = FT_NODE_SEM_WAIT,
                                                       [FT_NODE_ATOMIC_STORE] = FT_NODE_ATOMIC_LOAD,
                                                       [FT_NODE_ATOMIC_UPDATE] =
                                                           FT_NODE_ATOMIC_LOAD,
                                                       [FT_NODE_ATOMIC_SWAP] = FT_NODE_ATOMIC_LOAD};
    return groups[kind] ? groups[kind] : kind;
}

static void find_groups(cover_preference *p)
{
    for (size_t e = 0; e < p->set->epochs.len; e++)
        for (size_t i = 0; i < p->set->epochs.data[e].schedules.len; i++) {
            const ft_schedule *s = &p->set->epochs.data[e].schedules.data[i];
            for (size_t k = 0; k < s->nodes.len; k++)
                p->has[group_of((ft_node_kind)s->nodes.data[k].kind)] = true;
        }
}

/* ---- witnesses ---- */

typedef struct following {
    const ft_program *program;
    const ft_execution *execution;
    ft_interpreter *m;
    size_t read; /* inputs so far */
    uint32_t names[FT_INTERPRETER_THREADS], created[FT_INTERPRETER_THREADS];
    ft_schedule_set *set;
    ft_schedule schedule;
} following;

static bool next_input(void *context, const char *name, uint8_t width, uint64_t *value)
{
    following *f = context;
    (void)name;
    (void)width;
    if (f->read == f->execution->inputs.len) return false;
    return *value = f->execution->inputs.data[f->read++].value, true;
}

static void name_child(following *f, uint32_t parent, uint32_t child)
{
    ft_strbuf name = {0};
    const char *own = ft_schedule_text_of(f->set, f->schedule.threads.data[f->names[parent]]);
    ft_strbuf_printf(&name, "%s.%" PRIu32, own, ++f->created[parent]);
    f->names[child] = (uint32_t)f->schedule.threads.len;
    ft_vec_push(&f->schedule.threads, ft_schedule_text(f->set, name.text));
    ft_strbuf_release(&name);
}

static bool is_point(const following *f, ft_interpreter_place place)
{
    for (size_t i = 0; i < f->execution->points.len; i++) {
        ft_interpreter_place at = f->execution->points.data[i].place, own = place;
        if (!ft_points_original(&f->execution->points, &own)) return true;
        if (at.function == own.function && at.instruction == own.instruction) return true;
    }
    return false;
}

static void add_node(following *f, uint32_t thread, const ft_interpreter_operation *o,
                     uint64_t variant)
{
    ft_node_kind kind = FT_NODE_BEGIN;
    if (o->code == FT_CODE_FAIL || is_point(f, o->place)) return;
    if (o->code != FT_CODES && !ft_node_kind_of(o->code, o->second, &kind)) return;
    bool wakes = kind == FT_NODE_SIGNAL && variant && variant <= FT_INTERPRETER_THREADS;
    ft_node node = {.kind = (uint8_t)kind,
                    .thread = f->names[thread],
                    .object = FT_NO_ID,
                    .other = FT_NO_ID,
                    .peer = wakes ? f->names[variant - 1] : FT_NO_ID,
                    .timed_out =
                        variant && (kind == FT_NODE_TIMED_LOCK || kind == FT_NODE_SEM_TIMED ||
                                    kind == FT_NODE_TIMED_WAKE),
                    .function = FT_NO_ID,
                    .file = FT_NO_ID};
    ft_vec_push(&f->schedule.nodes, node);
}

/* False: the interpreter does not take the step. */
static bool take(following *f, ft_schedule_step step)
{
    ft_interpreter_operation o;
    uint64_t variants[FT_INTERPRETER_THREADS];
    uint32_t count = ft_interpreter_thread_count(f->m);
    if (ft_interpreter_state_of(f->m) != FT_INTERPRETER_GOING || step.thread >= count ||
        !ft_interpreter_stands_before(f->m, step.thread, &o))
        return false;
    uint32_t n = ft_interpreter_choices(f->m, step.thread, variants);
    bool creates = o.code == FT_CODE_CREATE, may = creates && n;
    for (uint32_t i = 0; i < n; i++) may |= variants[i] == step.variant;
    uint32_t child = creates && step.variant ? (uint32_t)step.variant - 1 : count;
    if (!may || (creates && child >= FT_INTERPRETER_THREADS)) return false;
    if (creates && f->names[child] != FT_NO_ID) return false;
    add_node(f, step.thread, &o, step.variant);
    if (creates) name_child(f, step.thread, child);
    ft_interpreter_step(f->m, step.thread, step.variant);
    return true;
}

static ft_status follow(following *f, ft_error *err)
{
    ft_program *points = ft_program_with_points(f->program, &f->execution->points);
    ft_interpreter_options options = {.input = next_input, .context = f};
    ft_status status = FT_OK;
    f->m = ft_interpreter_new(points, &options);
    for (int t = 0; t < FT_INTERPRETER_THREADS; t++) f->names[t] = FT_NO_ID;
    f->names[0] = 0;
    ft_vec_push(&f->schedule.threads, ft_schedule_text(f->set, "0"));
    for (size_t i = 0; i < f->execution->schedule.len && status == FT_OK; i++)
        if (!take(f, f->execution->schedule.data[i]))
            status = ft_error_set(err, FT_INPUT,
                                  "the program does not follow the witness at step %zu", i + 1);
    ft_interpreter_free(f->m);
    ft_program_free(points);
    return status;
}

static void keep(following *f)
{
    ft_epoch epoch = {.name = ft_schedule_text(f->set, "entry")};
    f->schedule.name = ft_schedule_text(f->set, "s1");
    ft_vec_push(&epoch.schedules, f->schedule);
    ft_vec_push(&epoch.choices, (ft_choice){.term = FT_NO_TERM, .schedule = 0});
    ft_vec_push(&f->set->epochs, epoch);
}

static ft_status read_witness(const ft_program *program, const json_t *witness,
                              ft_schedule_set *set, ft_error *err)
{
    ft_program *numbered = ft_program_numbered(program);
    ft_execution execution = {0};
    following f = {.program = numbered, .execution = &execution, .set = set};
    ft_status status = ft_execution_read(witness, numbered, &execution, err);
    if (status == FT_OK) status = follow(&f, err);
    if (status == FT_CONFLICT) status = FT_INPUT;
    keep(&f);
    ft_execution_release(&execution);
    ft_program_free(numbered);
    return status;
}

/* ---- the whole ---- */

static bool is_json(const char *text, size_t length)
{
    while (length && strchr(" \t\r\n", *text)) text++, length--;
    return length && *text == '{';
}

static ft_status read_json(const ft_program *program, const char *text, size_t length,
                           ft_schedule_set **set, ft_error *err)
{
    json_error_t wrong;
    json_t *document = json_loadb(text, length, 0, &wrong);
    if (!document)
        return ft_error_set(err, FT_INPUT, "line %d, column %d: %s", wrong.line, wrong.column,
                            wrong.text);
    *set = ft_schedule_set_new();
    ft_status status = ft_execution_is_one(document)
                           ? read_witness(program, document, *set, err)
                           : ft_error_set(err, FT_INPUT, "it is not a witness of a program");
    json_decref(document);
    if (status != FT_OK) ft_schedule_set_free(*set);
    return status;
}

ft_status cover_preference_read(const ft_program *program, const char *text, size_t length,
                                cover_preference **preference, ft_error *err)
{
    FT_REQUIRE(program && text && preference);
    ft_schedule_set *set = NULL;
    ft_status status = is_json(text, length) ? read_json(program, text, length, &set, err)
                                             : ft_schedule_set_read(text, length, &set, err);
    if (status != FT_OK) return status;
    *preference = ft_calloc(1, sizeof **preference);
    (*preference)->set = set;
    find_groups(*preference);
    return FT_OK;
}

void cover_preference_free(cover_preference *p)
{
    if (!p) return;
    ft_schedule_set_free(p->set);
    ft_map_release(&p->nodes);
    free(p);
}

/* ---- paths ---- */

typedef struct at_hand {
    cover_world *world;
    const ft_sym_state *state;
} at_hand;

static bool value_of(void *context, const ft_schedule_input *in, const char *name,
                     const char *thread, uint64_t *value)
{
    at_hand *a = context;
    uint32_t number = cover_world_thread(a->world, thread);
    ft_symbol symbol = number == FT_NO_ID ? FT_NO_ID
                                          : ft_sym_world_symbol(a->world->world, number, name,
                                                                in->n - 1, in->width);
    *value = symbol == FT_NO_ID ? 0 : ft_sym_input_at_hand(a->state, symbol);
    return true;
}

void cover_preference_begin(cover_preference *p, cover_world *world, const ft_sym_state *state)
{
    uint32_t counts[FT_SCHEDULE_THREADS] = {0}, number = FT_NO_SCHEDULE;
    at_hand a = {world, state};
    if (!p) return;
    ft_map_release(&p->nodes);
    p->nodes = (ft_map){0};
    memset(p->done, 0, sizeof p->done);
    p->schedule = NULL;
    if (ft_schedule_select(p->set, 0, value_of, &a, &number, NULL) != FT_OK) return;
    if (number == FT_NO_SCHEDULE) return;
    const ft_schedule *s = p->schedule = &p->set->epochs.data[0].schedules.data[number];
    for (uint32_t t = 0; t < s->threads.len; t++)
        p->numbers[t] = cover_world_thread(world, ft_schedule_text_of(p->set, s->threads.data[t]));
    for (uint32_t i = 0; i < s->nodes.len; i++) {
        uint32_t t = s->nodes.data[i].thread;
        if (p->numbers[t] != FT_NO_ID)
            ft_map_put(&p->nodes, (uint64_t)p->numbers[t] << 32 | ++counts[t], i);
    }
}

void cover_preference_note(cover_preference *p, uint32_t thread, ft_node_kind kind)
{
    if (p) p->done[thread] += p->has[group_of(kind)];
}

cover_wish cover_preference_of(const cover_preference *p, uint32_t thread)
{
    cover_wish wish = {.at = UINT64_MAX, .peer = FT_NO_ID};
    if (!p || !p->schedule ||
        !ft_map_get(&p->nodes, (uint64_t)thread << 32 | (p->done[thread] + 1), &wish.at))
        return wish;
    const ft_node *node = &p->schedule->nodes.data[wish.at];
    if (node->kind == FT_NODE_SIGNAL && node->peer != FT_NO_ID) wish.peer = p->numbers[node->peer];
    wish.timed_out = node->timed_out;
    return wish;
}

#include "cover/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "schedules/constrained.h"
#include "schedules/dynamic.h"

enum { THREAD_NAME = 400 }; /* a name of FT_INTERPRETER_THREADS numbers fits */

/* An access of the epoch at hand, as in a leaf (constrained.h). */
typedef struct touch {
    uint32_t thread, from, to; /* thread: of the schedule */
    uint64_t at, n;
    bool writes, atomic;
} touch;

typedef struct replaying {
    const cover_replay_of *of;
    const cover_given *given; /* n_given inputs that have a value */
    size_t n_given;
    uint64_t attempt; /* 0: the others are 0; else by chance */
    ft_constrained run;
    ft_interpreter *m;
    uint32_t thread; /* of the interpreter, which takes a step */
    /* By thread of the interpreter: its creator, and the how manieth of it it is; how many it has
     * created. */
    uint32_t parent[FT_INTERPRETER_THREADS], nth[FT_INTERPRETER_THREADS],
        created[FT_INTERPRETER_THREADS];
    ft_map counts; /* thread and name -> how often it was read */
    FT_VEC(touch) touches;
    cover_shown *shown;
} replaying;

/* ---- names ---- */

static void name_thread(const replaying *r, uint32_t thread, char name[THREAD_NAME])
{
    uint32_t chain[FT_INTERPRETER_THREADS], n = 0;
    for (; thread; thread = r->parent[thread]) chain[n++] = r->nth[thread];
    size_t at = (size_t)snprintf(name, THREAD_NAME, "0");
    while (n && at < THREAD_NAME)
        at += (size_t)snprintf(name + at, THREAD_NAME - at, ".%" PRIu32, chain[--n]);
}

static uint64_t *count_of(replaying *r, const char *thread, const char *name)
{
    uint64_t key = ft_hash_bytes(name, strlen(name), 7);
    return ft_map_slot(&r->counts, ft_hash_bytes(thread, strlen(thread), key), 0, NULL);
}

/* ---- inputs ---- */

static bool of_model(const replaying *r, const char *name, uint8_t width, uint64_t *value)
{
    for (size_t i = 0; i < r->of->n; i++) {
        ft_sym_name in = ft_sym_world_input(r->of->world->world, r->of->model[i].symbol);
        if (in.thread == FT_NO_ID || in.width != width || strcmp(in.name, name) != 0) continue;
        *value = r->of->model[i].bits;
        return true;
    }
    return false;
}

/* Of the attempt: first the model's, then by chance small ones, the model's, and any. */
static uint64_t by_chance(const replaying *r, const char *thread, const char *name, uint64_t n,
                          uint8_t width)
{
    enum { SMALL = 4 };
    const uint64_t words[] = {r->attempt, ft_hash_bytes(thread, strlen(thread), 2),
                              ft_hash_bytes(name, strlen(name), 1), n};
    uint64_t hash = ft_hash_bytes(words, sizeof words, 9), value = 0;
    bool models = r->attempt == 1 || hash % 3 == 0;
    if (models && of_model(r, name, width, &value)) return value;
    if (r->attempt == 1) return 0;
    value = hash >> 8;
    if (hash % 3 == 1 || r->attempt % 2) value %= SMALL;
    return value & ft_width_mask(width);
}

/* The n-th value (from 0) that the thread reads of the name. */
static uint64_t value_of(const replaying *r, const char *thread, const char *name, uint64_t n,
                         uint8_t width)
{
    for (size_t i = 0; i < r->n_given; i++) {
        const cover_given *g = &r->given[i];
        if (g->n == n && g->width == width && strcmp(g->name, name) == 0 &&
            strcmp(g->thread, thread) == 0)
            return g->bits;
    }
    return r->attempt ? by_chance(r, thread, name, n, width) : 0;
}

static bool next_input(void *context, const char *name, uint8_t width, uint64_t *value)
{
    replaying *r = context;
    char thread[THREAD_NAME];
    name_thread(r, r->thread, thread);
    uint64_t n = (*count_of(r, thread, name))++;
    *value = value_of(r, thread, name, n, width);
    cover_read read = {ft_strdup(thread), ft_strdup(name), (uint32_t)n, width, *value};
    ft_vec_push(&r->shown->reads, read);
    ft_vec_push(&r->shown->execution.inputs, (ft_input_value){ft_strdup(name), width, *value});
    return true;
}

static bool value_at_entry(void *context, const ft_schedule_input *in, const char *name,
                           const char *thread, uint64_t *value)
{
    return *value = value_of(context, thread, name, in->n - 1, in->width), true;
}

/* The interpreter's thread that is the root of the name in the next epoch. */
static uint32_t root_of(const replaying *r, const char *name, char **rest)
{
    unsigned long root = strtoul(name, rest, 10);
    const ft_schedule *s = r->run.schedule;
    for (uint32_t i = 0; root < s->bound.len && i < FT_INTERPRETER_THREADS; i++)
        if (r->run.names[i] == s->bound.data[root]) return i;
    return FT_NO_ID;
}

/* What a thread of the next epoch reads there, one that it creates among them. */
static bool value_at_next(void *context, const ft_schedule_input *in, const char *name,
                          const char *thread, uint64_t *value)
{
    replaying *r = context;
    char *rest, whole[THREAD_NAME * 2];
    uint32_t root = root_of(r, thread, &rest);
    if (root == FT_NO_ID) return false;
    name_thread(r, root, whole);
    uint64_t before = *rest ? 0 : *count_of(r, whole, name);
    if (*rest) {
        unsigned long child = strtoul(rest + 1, &rest, 10) + r->created[root];
        size_t at = strlen(whole);
        snprintf(whole + at, sizeof whole - at, ".%lu%s", child, rest);
    }
    *value = value_of(r, whole, name, before + in->n - 1, in->width);
    return true;
}

/* ---- races, by the schedule's order ---- */

static bool is_operation(const replaying *r, const ft_interpreter_place *place)
{
    const ft_function *f = ft_program_function(r->of->world->program, place->function);
    ft_code code = f->instructions.data[place->instruction].code;
    return ft_instruction_row_of(code)->effect == FT_EFFECT_VISIBLE;
}

static void on_access(void *context, const ft_interpreter_access *a)
{
    enum { MOST = 4000 };
    replaying *r = context;
    uint32_t own = r->run.names[a->thread];
    if (own == FT_NO_ID || r->touches.len >= MOST) return;
    uint32_t done = r->run.done[own];
    bool atomic = a->atomic || is_operation(r, &a->place);
    touch t = {own, done, atomic ? done : done + 1, a->address, a->bytes, a->writes, atomic};
    ft_vec_push(&r->touches, t);
}

static bool is_before(const ft_schedule *s, const ft_schedule_order *order, const touch *a,
                      const touch *b)
{
    for (uint32_t i = 0; b->from && i < order->n; i++)
        if (s->nodes.data[i].thread == b->thread && order->number[i] == b->from)
            return order->clocks[i * order->threads + a->thread] >= a->to;
    return false;
}

static bool conflict(const touch *a, const touch *b)
{
    return a->thread != b->thread && (a->writes || b->writes) && !(a->atomic && b->atomic) &&
           a->at < b->at + b->n && b->at < a->at + a->n;
}

static bool races(const replaying *r)
{
    const ft_schedule *s = r->run.schedule;
    bool found = false;
    ft_schedule_order order;
    ft_schedule_order_init(&order, s);
    for (size_t i = 0; i < r->touches.len; i++)
        for (size_t k = i + 1; k < r->touches.len && !found; k++) {
            const touch *a = &r->touches.data[i], *b = &r->touches.data[k];
            found = conflict(a, b) && !is_before(s, &order, a, b) && !is_before(s, &order, b, a);
        }
    ft_schedule_order_release(&order);
    return found;
}

/* ---- a run ---- */

/* The lowest thread that follows; the process ends last. False: none follows, or one has left the
 * schedule, which no end of the process undoes. */
static bool choose(const replaying *r, uint32_t *thread, uint64_t *variant)
{
    ft_interpreter_operation o;
    uint32_t first = FT_NO_ID, last = FT_NO_ID;
    uint64_t v, first_variant = 0, last_variant = 0;
    for (uint32_t t = 0; t < ft_interpreter_thread_count(r->m); t++) {
        ft_constrained_look look = ft_constrained_next(&r->run, r->m, t, &v);
        if (look == FT_CONSTRAINED_DIVERGES) return false;
        if (look != FT_CONSTRAINED_FOLLOWS && look != FT_CONSTRAINED_EXITS) continue;
        bool ends = ft_interpreter_stands_before(r->m, t, &o) &&
                    (o.code == FT_CODE_EXIT || o.code == FT_CODE_FAIL);
        if (!ends ? first != FT_NO_ID : last != FT_NO_ID && o.code != FT_CODE_FAIL) continue;
        *(ends ? &last : &first) = t;
        *(ends ? &last_variant : &first_variant) = v;
    }
    *thread = first != FT_NO_ID ? first : last;
    *variant = first != FT_NO_ID ? first_variant : last_variant;
    return *thread != FT_NO_ID;
}

/* False: the thread has ended where the schedule has no end of it. */
static bool step(replaying *r, uint64_t variant)
{
    uint32_t t = r->thread, child = ft_interpreter_thread_count(r->m);
    ft_vec_push(&r->shown->execution.schedule, (ft_schedule_step){t, variant});
    ft_constrained_look look = ft_constrained_step(&r->run, r->m, t, variant);
    if (ft_interpreter_thread_count(r->m) > child) {
        r->parent[child] = t;
        r->nth[child] = ++r->created[t];
    }
    return look != FT_CONSTRAINED_DIVERGES;
}

/* Up to the end of the epoch or of the run. */
static ft_constrained_end run_epoch(replaying *r)
{
    uint64_t variant;
    uint32_t thread;
    while (ft_interpreter_state_of(r->m) == FT_INTERPRETER_GOING && choose(r, &r->thread, &variant))
        if (!step(r, variant)) return FT_CONSTRAINED_DIVERGED;
    return ft_constrained_end_of(&r->run, r->m, &thread);
}

/* ---- what it shows ---- */

static bool fails(const replaying *r)
{
    ft_program_error error = ft_interpreter_error_of(r->m)->kind;
    return ft_interpreter_state_of(r->m) == FT_INTERPRETER_FAILED && error != FT_ERROR_DEADLOCK &&
           error != FT_ERROR_LIVE_LOCK;
}

static bool has_choice(const replaying *r, uint32_t thread)
{
    uint64_t variants[FT_INTERPRETER_THREADS];
    return ft_interpreter_choices(r->m, thread, variants) > 0;
}

/* A thread could go on; `idle`: and has had no turn, so that the epoch leaves it behind. */
static bool leaves_behind(const replaying *r, bool idle)
{
    for (uint32_t t = 0; t < ft_interpreter_thread_count(r->m); t++) {
        uint32_t own = r->run.names[t];
        if (has_choice(r, t) && (!idle || own == FT_NO_ID || !r->run.done[own])) return true;
    }
    return false;
}

static bool leaves(const replaying *r, ft_constrained_end end)
{
    bool exits = ft_interpreter_state_of(r->m) == FT_INTERPRETER_EXITED;
    return end == FT_CONSTRAINED_DIVERGED || end == FT_CONSTRAINED_STUCK ||
           (end == FT_CONSTRAINED_PREFIX && !r->of->set->prefix) ||
           (exits && r->run.schedule->end == FT_SCHEDULE_FAILED);
}

/* The run has come to an end, or to that of an epoch. */
static bool shows(const replaying *r, ft_constrained_end end)
{
    bool goes_on = r->run.schedule->end == FT_SCHEDULE_EPOCH;
    switch (r->of->kind) {
    case COVER_CHECK_SCHEDULE:
        return leaves(r, end);
    case COVER_CHECK_RACE:
        return races(r);
    case COVER_CHECK_DEADLOCK:
        return ft_constrained_deadlock(r->m) != 0 ||
               (end == FT_CONSTRAINED_EPOCH && leaves_behind(r, true));
    case COVER_CHECK_CLOSED: /* where an epoch begins: is_outside */
        return !goes_on && end == FT_CONSTRAINED_SAME && leaves_behind(r, false);
    case COVER_CHECK_FAILURE:
        return fails(r);
    case COVER_CHECK_DIVERGENCE:
        return end == FT_CONSTRAINED_ENDLESS_RUN;
    default:
        return false;
    }
}

/* Is the run where the certificate's subject is? */
static bool is_there(const replaying *r)
{
    const cover_subject *s = &r->of->subject;
    const ft_epoch *e = &r->of->set->epochs.data[s->epoch];
    if (s->schedule == FT_NO_SCHEDULE || r->run.epoch != s->epoch) return false;
    return r->run.possible || r->run.schedule == &e->schedules.data[s->schedule];
}

/* The next epoch's begin: it does not have the state, or no schedule for it. */
static bool shows_between(const replaying *r, ft_constrained_end end, bool was_there, uint32_t next)
{
    if (r->of->kind == COVER_CHECK_CLOSED) return was_there && end == FT_CONSTRAINED_OUTSIDE;
    return r->of->kind == COVER_CHECK_COVER && end == FT_CONSTRAINED_UNCOVERED &&
           next == r->of->subject.epoch;
}

static bool run_on(replaying *r)
{
    enum { MOST_EPOCHS = 400 };
    for (int epochs = 0; epochs < MOST_EPOCHS; epochs++) {
        ft_error err = FT_ERROR_INIT;
        r->touches.len = 0;
        ft_constrained_end end = run_epoch(r);
        bool there = is_there(r);
        if (there && shows(r, end)) return true;
        bool stuck = ft_constrained_deadlock(r->m) != 0;
        if (end != FT_CONSTRAINED_EPOCH || stuck) return false;
        uint32_t next = ft_schedule_epoch_named(r->of->set, r->run.schedule->next);
        end = ft_constrained_go_on(&r->run, r->m, value_at_next, r, &err);
        if (end != FT_CONSTRAINED_EPOCH) return shows_between(r, end, there, next);
    }
    return false;
}

/* False: no schedule covers the inputs. */
static bool begin(replaying *r)
{
    const cover_replay_of *of = r->of;
    ft_error err = FT_ERROR_INIT;
    uint32_t schedule = of->subject.epoch ? FT_NO_SCHEDULE : of->subject.schedule;
    if (ft_schedule_is_tree(of->set, 0))
        return ft_constrained_begin(&r->run, of->world->program, of->set, value_at_entry, r,
                                    &err) == FT_OK;
    if (schedule == FT_NO_SCHEDULE &&
        ft_schedule_select(of->set, 0, value_at_entry, r, &schedule, &err) != FT_OK)
        return false;
    if (schedule == FT_NO_SCHEDULE) return false;
    ft_constrained_init(&r->run, of->world->program, of->set,
                        &of->set->epochs.data[0].schedules.data[schedule]);
    return true;
}

/* ---- as a witness of the program ---- */

/* The judge looks for races too, and the execution ends with the first error. */
typedef struct judging {
    const ft_execution *execution;
    size_t inputs;
} judging;

static bool same_input(void *context, const char *name, uint8_t width, uint64_t *value)
{
    judging *j = context;
    (void)name;
    if (j->inputs == j->execution->inputs.len) return false;
    *value = j->execution->inputs.data[j->inputs++].value & ft_width_mask(width);
    return true;
}

static void cut(ft_execution *x, size_t steps, size_t inputs)
{
    x->schedule.len = steps;
    while (x->inputs.len > inputs) free(x->inputs.data[--x->inputs.len].name);
}

/* The thread has run into a race: it would end the process next. */
static bool has_raced(const ft_interpreter *m, uint32_t thread)
{
    ft_interpreter_operation o;
    return ft_interpreter_state_of(m) == FT_INTERPRETER_GOING &&
           ft_interpreter_stands_before(m, thread, &o) && o.code == FT_CODE_FAIL &&
           ft_interpreter_error_of(m)->kind == FT_ERROR_RACE;
}

/* The execution up to its first race, or as it ended; it claims that, or an endless run. */
static void claim(const ft_program *program, ft_execution *x)
{
    judging j = {x, 0};
    ft_interpreter_options options = {.races = true, .input = same_input, .context = &j};
    ft_interpreter *m = ft_interpreter_new(program, &options);
    size_t steps = 0;
    while (steps < x->schedule.len && ft_interpreter_state_of(m) == FT_INTERPRETER_GOING) {
        ft_schedule_step s = x->schedule.data[steps++];
        ft_interpreter_step(m, s.thread, s.variant);
        if (!has_raced(m, s.thread)) continue;
        x->schedule.len = steps;
        ft_vec_push(&x->schedule, (ft_schedule_step){s.thread, 0});
    }
    bool failed = ft_interpreter_state_of(m) == FT_INTERPRETER_FAILED;
    x->error = failed ? ft_interpreter_error_of(m)->kind : FT_ERROR_LIVE_LOCK;
    x->thread = failed ? ft_interpreter_error_of(m)->thread : 0;
    cut(x, steps, j.inputs);
    ft_interpreter_free(m);
}

static bool is_claim_of(cover_certificate_kind kind, ft_program_error error)
{
    switch (kind) {
    case COVER_CHECK_RACE:
        return error == FT_ERROR_RACE;
    case COVER_CHECK_DEADLOCK:
        return error == FT_ERROR_DEADLOCK;
    case COVER_CHECK_DIVERGENCE:
        return error == FT_ERROR_LIVE_LOCK;
    case COVER_CHECK_FAILURE:
        return error != FT_ERROR_RACE && error != FT_ERROR_DEADLOCK && error != FT_ERROR_LIVE_LOCK;
    default:
        return false;
    }
}

static void make_witness(const cover_replay_of *of, cover_shown *shown)
{
    ft_error err = FT_ERROR_INIT;
    ft_execution *x = &shown->execution;
    if (of->kind == COVER_CHECK_SCHEDULE || of->kind == COVER_CHECK_CLOSED ||
        of->kind == COVER_CHECK_COVER)
        return;
    claim(of->world->program, x);
    shown->witness =
        is_claim_of(of->kind, x->error) && ft_execution_check(of->world->program, x, &err) == FT_OK;
}

/* ---- the whole ---- */

static cover_shown *replay(replaying *r)
{
    ft_interpreter_options options = {.loops = r->of->world->loops,
                                      .input = next_input,
                                      .access = r->of->kind == COVER_CHECK_RACE ? on_access : NULL,
                                      .context = r};
    if (!begin(r)) return NULL;
    r->shown = ft_calloc(1, sizeof *r->shown);
    r->m = ft_interpreter_new(r->of->world->program, &options);
    bool shown = run_on(r);
    ft_interpreter_free(r->m);
    ft_constrained_release(&r->run);
    ft_map_release(&r->counts);
    ft_vec_release(&r->touches);
    if (shown) return make_witness(r->of, r->shown), r->shown;
    cover_shown_free(r->shown);
    return NULL;
}

bool cover_replay_is_needed(const cover_replay_of *of)
{
    if (of->subject.schedule == FT_NO_SCHEDULE) return false;
    return of->kind == COVER_CHECK_SCHEDULE || of->kind == COVER_CHECK_FAILURE ||
           of->kind == COVER_CHECK_DIVERGENCE ||
           of->world->loops; /* the values of loops may be none that the program computes */
}

cover_shown *cover_replay_given(const cover_replay_of *of, const cover_given *given, size_t n)
{
    replaying r = {.of = of, .given = given, .n_given = n};
    return replay(&r);
}

cover_shown *cover_replay_at_entry(const cover_replay_of *of)
{
    FT_REQUIRE(!of->subject.epoch);
    if (of->subject.schedule == FT_NO_SCHEDULE) return NULL;
    cover_given *given = ft_calloc(of->n + 1, sizeof *given);
    ft_strbuf *names = ft_calloc(of->n + 1, sizeof *names);
    for (size_t i = 0; i < of->n; i++) {
        ft_sym_name in = ft_sym_world_input(of->world->world, of->model[i].symbol);
        cover_world_thread_name(of->world, in.thread, &names[i]);
        given[i] = (cover_given){names[i].text, in.name, in.n, in.width, of->model[i].bits};
    }
    cover_shown *shown = cover_replay_given(of, given, of->n);
    for (size_t i = 0; i < of->n; i++) ft_strbuf_release(&names[i]);
    free(names);
    free(given);
    return shown;
}

cover_shown *cover_replay_by_trial(const cover_replay_of *of)
{
    enum { ATTEMPTS = 60 };
    cover_shown *shown = NULL;
    const cover_world *w = of->world;
    for (uint64_t attempt = 0; attempt < ATTEMPTS && !shown; attempt++) {
        if (w->should_stop && w->should_stop(w->context) && attempt) break;
        replaying r = {.of = of, .attempt = attempt};
        shown = replay(&r);
    }
    return shown;
}

void cover_shown_free(cover_shown *shown)
{
    if (!shown) return;
    for (size_t i = 0; i < shown->reads.len; i++) {
        free(shown->reads.data[i].thread);
        free(shown->reads.data[i].name);
    }
    ft_vec_release(&shown->reads);
    ft_execution_release(&shown->execution);
    free(shown);
}

uint64_t *cover_model_of_set(cover_translation *t, const cover_input *model, size_t n)
{
    ft_schedule_set *set = t->set;
    FT_VEC(uint32_t) inputs = {0};
    for (size_t i = 0; i < n; i++) { /* inputs that no selector has are added */
        ft_sym_name in = ft_sym_world_input(t->world->world, model[i].symbol);
        ft_sort sort = in.width == 1 ? FT_BOOL_SORT : (ft_sort){FT_SORT_BITVEC, in.width};
        ft_term made = cover_to_set(t, ft_term_symbol(t->world->pool, model[i].symbol, sort));
        ft_vec_push(&inputs, ft_term_get(set->pool, made).symbol);
    }
    uint64_t *values = ft_calloc(set->inputs.len + 1, sizeof *values);
    for (size_t i = 0; i < n; i++) values[inputs.data[i]] = model[i].bits;
    ft_vec_release(&inputs);
    return values;
}

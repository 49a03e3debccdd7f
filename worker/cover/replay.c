#include "cover/replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "schedules/dynamic.h"

/* The interpreter asks for the inputs of the thread that takes the step at hand. */
typedef struct feed {
    const cover_world *world;
    const cover_input *model;
    size_t n;
    const ft_constrained *run;
    uint32_t thread; /* of the interpreter */
    ft_map counts;   /* thread and name -> how often it was read */
} feed;

/* The number that a thread of the interpreter has in the world. */
static uint32_t world_thread(const feed *f, uint32_t thread)
{
    if (!thread) return 0;
    uint32_t parent = world_thread(f, f->run->parent[thread]);
    for (uint32_t t = 1; t < f->world->n_threads; t++)
        if (f->world->names[t].parent == parent && f->world->names[t].nth == f->run->nth[thread])
            return t;
    return FT_NO_ID;
}

/* Of the model; what it leaves out is 0. */
static bool value_of(void *context, const ft_schedule_input *input, const char *name,
                     const char *thread, uint64_t *value)
{
    const feed *f = context;
    ft_strbuf own = {0};
    *value = 0;
    for (size_t i = 0; i < f->n; i++) {
        ft_sym_name in = ft_sym_world_input(f->world->world, f->model[i].symbol);
        ft_strbuf_clear(&own);
        cover_world_thread_name(f->world, in.thread, &own);
        if (in.n + 1 == input->n && in.width == input->width && strcmp(in.name, name) == 0 &&
            strcmp(own.text, thread) == 0)
            *value = f->model[i].bits;
    }
    ft_strbuf_release(&own);
    return true;
}

static bool next_input(void *context, const char *name, uint8_t width, uint64_t *value)
{
    feed *f = context;
    uint32_t thread = world_thread(f, f->thread);
    uint64_t key = ft_hash_bytes(name, strlen(name), f->thread);
    uint64_t n = (*ft_map_slot(&f->counts, key, 0, NULL))++;
    *value = 0;
    for (size_t i = 0; i < f->n; i++) {
        ft_sym_name in = ft_sym_world_input(f->world->world, f->model[i].symbol);
        if (in.thread == thread && in.n == n && in.width == width && strcmp(in.name, name) == 0)
            *value = f->model[i].bits;
    }
    return true;
}

/* The lowest thread that follows; the process ends last. False: none follows, or one has left the
 * schedule, which no end of the process undoes. */
static bool choose(const ft_constrained *c, const ft_interpreter *m, uint32_t *thread,
                   uint64_t *variant)
{
    ft_interpreter_operation o;
    uint32_t first = FT_NO_ID, last = FT_NO_ID;
    uint64_t v, first_variant = 0, last_variant = 0;
    for (uint32_t t = 0; t < ft_interpreter_thread_count(m); t++) {
        ft_constrained_look look = ft_constrained_next(c, m, t, &v);
        if (look == FT_CONSTRAINED_DIVERGES) return false;
        if (look != FT_CONSTRAINED_FOLLOWS && look != FT_CONSTRAINED_EXITS) continue;
        bool ends = ft_interpreter_stands_before(m, t, &o) &&
                    (o.code == FT_CODE_EXIT || o.code == FT_CODE_FAIL);
        if (!ends ? first != FT_NO_ID : last != FT_NO_ID && o.code != FT_CODE_FAIL) continue;
        *(ends ? &last : &first) = t;
        *(ends ? &last_variant : &first_variant) = v;
    }
    *thread = first != FT_NO_ID ? first : last;
    *variant = first != FT_NO_ID ? first_variant : last_variant;
    return *thread != FT_NO_ID;
}

static bool shows(cover_certificate_kind kind, const ft_constrained *c, const ft_interpreter *m,
                  bool diverged)
{
    uint32_t thread;
    ft_constrained_end end = ft_constrained_end_of(c, m, &thread);
    ft_interpreter_state state = ft_interpreter_state_of(m);
    ft_program_error error = ft_interpreter_error_of(m)->kind;
    switch (kind) {
    case COVER_CHECK_SCHEDULE:
        return diverged || end == FT_CONSTRAINED_DIVERGED || end == FT_CONSTRAINED_STUCK ||
               (end == FT_CONSTRAINED_PREFIX && !c->set->prefix);
    case COVER_CHECK_DEADLOCK:
        return state == FT_INTERPRETER_FAILED && error == FT_ERROR_DEADLOCK;
    case COVER_CHECK_FAILURE:
        return state == FT_INTERPRETER_FAILED && error != FT_ERROR_DEADLOCK &&
               error != FT_ERROR_LIVE_LOCK;
    case COVER_CHECK_DIVERGENCE:
        return end == FT_CONSTRAINED_ENDLESS_RUN;
    default:
        return true;
    }
}

cover_replayed cover_replay(cover_world *world, ft_schedule_set *set, const ft_schedule *schedule,
                            cover_certificate_kind kind, const cover_input *model, size_t n)
{
    cover_replayed r = {.needs = kind == COVER_CHECK_SCHEDULE || kind == COVER_CHECK_FAILURE ||
                                 kind == COVER_CHECK_DIVERGENCE};
    if (!schedule) return r;
    if (world->loops) { /* the values of loops may be none that the program computes */
        r.needs = true;
        if (kind == COVER_CHECK_RACE || kind == COVER_CHECK_CLOSED) return r;
    }
    feed f = {.world = world, .model = model, .n = n};
    ft_constrained run;
    if (!ft_schedule_is_tree(set, 0))
        ft_constrained_init(&run, world->program, set, schedule);
    else if (ft_constrained_begin(&run, world->program, set, value_of, &f, NULL) != FT_OK)
        return r;
    f.run = &run;
    ft_interpreter_options options = {.loops = world->loops, .input = next_input, .context = &f};
    ft_interpreter *m = ft_interpreter_new(world->program, &options);
    uint64_t variant;
    bool diverged = false;
    while (ft_interpreter_state_of(m) == FT_INTERPRETER_GOING && !diverged &&
           choose(&run, m, &f.thread, &variant))
        diverged = ft_constrained_step(&run, m, f.thread, variant) == FT_CONSTRAINED_DIVERGES;
    r.shows = shows(kind, &run, m, diverged);
    ft_interpreter_free(m);
    ft_constrained_release(&run);
    ft_map_release(&f.counts);
    return r;
}

/* ---- from the entry, through epochs ---- */

typedef struct trial {
    const cover_world *world;
    const ft_schedule_set *set;
    const cover_input *model;
    size_t n;
    uint64_t attempt;
    const ft_constrained *run;
    uint32_t thread; /* of the interpreter, which takes a step */
    ft_map counts;   /* thread and name -> how often it was read */
} trial;

static bool of_model(const trial *t, const char *name, uint8_t width, uint64_t *value)
{
    for (size_t i = 0; i < t->n; i++) {
        ft_sym_name in = ft_sym_world_input(t->world->world, t->model[i].symbol);
        if (in.thread == FT_NO_ID || in.width != width || strcmp(in.name, name) != 0) continue;
        *value = t->model[i].bits;
        return true;
    }
    return false;
}

/* The n-th value (from 0) of a thread: at first 0, then the model's, then by chance small ones, the
 * model's, and any. */
static uint64_t value_of_trial(const trial *t, uint32_t thread, const char *name, uint64_t n,
                               uint8_t width)
{
    enum { SMALL = 4 };
    const uint64_t words[] = {t->attempt, thread, ft_hash_bytes(name, strlen(name), 1), n};
    uint64_t hash = ft_hash_bytes(words, sizeof words, 9), value = 0;
    if (!t->attempt) return 0;
    bool models = t->attempt == 1 || hash % 3 == 0;
    if (models && of_model(t, name, width, &value)) return value;
    if (t->attempt == 1) return 0;
    value = hash >> 8;
    if (hash % 3 == 1 || t->attempt % 2) value %= SMALL;
    return value & ft_width_mask(width);
}

static uint64_t *count_of(trial *t, uint32_t thread, const char *name)
{
    return ft_map_slot(&t->counts, ft_hash_bytes(name, strlen(name), thread), 0, NULL);
}

static bool next_of_trial(void *context, const char *name, uint8_t width, uint64_t *value)
{
    trial *t = context;
    uint64_t n = (*count_of(t, t->thread, name))++;
    *value = value_of_trial(t, t->thread, name, n, width);
    return true;
}

/* The interpreter's thread with the name: of the entry, or (`next`) of the epoch that follows. One
 * that is made later gets the number that is next then; its values are those of no thread. */
static uint32_t interpreter_thread(const trial *t, const char *name, bool next)
{
    char *end;
    unsigned long root = strtoul(name, &end, 10);
    if (!next) return *end || root ? FT_NO_ID : 0;
    if (*end || root >= t->run->schedule->bound.len) return FT_NO_ID;
    for (uint32_t i = 0; i < FT_INTERPRETER_THREADS; i++)
        if (t->run->names[i] == t->run->schedule->bound.data[root]) return i;
    return FT_NO_ID;
}

static uint64_t wanted(trial *t, const ft_schedule_input *in, const char *name, const char *thread,
                       bool next)
{
    uint32_t own = interpreter_thread(t, thread, next);
    uint64_t before = next && own != FT_NO_ID ? *count_of(t, own, name) : 0;
    return value_of_trial(t, own, name, before + in->n - 1, in->width);
}

static bool value_at_entry(void *context, const ft_schedule_input *in, const char *name,
                           const char *thread, uint64_t *value)
{
    return *value = wanted(context, in, name, thread, false), true;
}

static bool value_at_next(void *context, const ft_schedule_input *in, const char *name,
                          const char *thread, uint64_t *value)
{
    return *value = wanted(context, in, name, thread, true), true;
}

/* Does the run, which has come to an end or to an epoch's, show it? */
static bool shows_there(cover_certificate_kind kind, const ft_constrained *c,
                        const ft_interpreter *m, bool diverged, ft_constrained_end end)
{
    switch (kind) {
    case COVER_CHECK_COVER:
        return end == FT_CONSTRAINED_UNCOVERED;
    case COVER_CHECK_CLOSED:
        return end == FT_CONSTRAINED_OUTSIDE;
    case COVER_CHECK_DEADLOCK:
        return ft_constrained_deadlock(m) != 0;
    case COVER_CHECK_SCHEDULE:
    case COVER_CHECK_FAILURE:
    case COVER_CHECK_DIVERGENCE:
        return end != FT_CONSTRAINED_UNCOVERED && end != FT_CONSTRAINED_OUTSIDE &&
               shows(kind, c, m, diverged);
    default:
        return false;
    }
}

/* A thread could go on and has had no turn: the epoch leaves it behind. */
static bool leaves_behind(const ft_constrained *c, const ft_interpreter *m)
{
    uint64_t variants[FT_INTERPRETER_THREADS];
    for (uint32_t t = 0; t < ft_interpreter_thread_count(m); t++)
        if (ft_interpreter_choices(m, t, variants) &&
            (c->names[t] == FT_NO_ID || !c->done[c->names[t]]))
            return true;
    return false;
}

static bool try_inputs(trial *t, cover_certificate_kind kind)
{
    enum { MOST_EPOCHS = 200 };
    uint32_t schedule;
    ft_error err = FT_ERROR_INIT;
    if (ft_schedule_select(t->set, 0, value_at_entry, t, &schedule, &err) != FT_OK ||
        schedule == FT_NO_SCHEDULE)
        return false;
    ft_constrained run;
    ft_constrained_init(&run, t->world->program, t->set,
                        &t->set->epochs.data[0].schedules.data[schedule]);
    t->run = &run;
    ft_interpreter_options options = {.input = next_of_trial, .context = t};
    ft_interpreter *m = ft_interpreter_new(t->world->program, &options);
    bool diverged = false, shown = false;
    ft_constrained_end end = FT_CONSTRAINED_EPOCH;
    for (int epochs = 0; epochs < MOST_EPOCHS && end == FT_CONSTRAINED_EPOCH && !shown; epochs++) {
        uint64_t variant;
        uint32_t thread;
        while (ft_interpreter_state_of(m) == FT_INTERPRETER_GOING && !diverged &&
               choose(&run, m, &t->thread, &variant))
            diverged = ft_constrained_step(&run, m, t->thread, variant) == FT_CONSTRAINED_DIVERGES;
        end = diverged ? FT_CONSTRAINED_DIVERGED : ft_constrained_end_of(&run, m, &thread);
        shown =
            end == FT_CONSTRAINED_EPOCH && kind == COVER_CHECK_DEADLOCK && leaves_behind(&run, m);
        if (end == FT_CONSTRAINED_EPOCH && !ft_constrained_deadlock(m))
            end = ft_constrained_go_on(&run, m, value_at_next, t, &err);
        else if (end == FT_CONSTRAINED_EPOCH)
            end = FT_CONSTRAINED_STUCK;
        shown = shown || (end != FT_CONSTRAINED_EPOCH && shows_there(kind, &run, m, diverged, end));
    }
    ft_interpreter_free(m);
    ft_constrained_release(&run);
    ft_map_release(&t->counts);
    t->counts = (ft_map){0};
    return shown;
}

cover_replayed cover_replay_from_entry(cover_world *world, ft_schedule_set *set,
                                       cover_certificate_kind kind, const cover_input *model,
                                       size_t n)
{
    enum { ATTEMPTS = 60 };
    cover_replayed r = {.needs = true};
    trial t = {.world = world, .set = set, .model = model, .n = n};
    bool stop = kind == COVER_CHECK_RACE || kind == COVER_CHECK_ORDER;
    for (; t.attempt < ATTEMPTS && !r.shows && !stop; t.attempt++) {
        stop = world->should_stop && world->should_stop(world->context);
        r.shows = try_inputs(&t, kind);
    }
    return r;
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

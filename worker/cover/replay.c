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

cover_replayed cover_replay(cover_world *world, cover_translation *translation,
                            ft_schedule_set *set, const ft_schedule *schedule,
                            cover_certificate_kind kind, const cover_input *model, size_t n)
{
    (void)translation;
    cover_replayed r = {.needs = kind == COVER_CHECK_SCHEDULE || kind == COVER_CHECK_FAILURE ||
                                 kind == COVER_CHECK_DIVERGENCE};
    if (!schedule) return r;
    feed f = {.world = world, .model = model, .n = n};
    ft_constrained run;
    if (!ft_schedule_is_tree(set, 0))
        ft_constrained_init(&run, world->program, set, schedule);
    else if (ft_constrained_begin(&run, world->program, set, value_of, &f, NULL) != FT_OK)
        return r;
    f.run = &run;
    ft_interpreter_options options = {.input = next_input, .context = &f};
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

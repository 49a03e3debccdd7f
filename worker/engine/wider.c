/* Long traces whose model nobody chose have `observed`, which decides their candidates in seconds.
 * `maximal` allows more schedules, and takes minutes for some candidates and next to nothing for
 * most: of eight recordings of real programs with 26,000 to 166,000 events it decided those of six
 * in about the time that `observed` took, and found bugs in two that `observed` called safe. So
 * what is refuted first is looked at once more, for a time that is small beside the first look. */
#include <stdlib.h>

#include "base/contract.h"
#include "engine/internal.h"

/* Of longer traces a second closure takes too much memory. */
enum { MOST_EVENTS = 400000 };
/* In milliseconds, a worker: at least so long, half of the time that it looked before, at most so
 * long; and for one group. */
enum { LEAST_MS = 10000, MOST_MS = 20000, GROUP_MS = 4000 };

bool ft_engine_looks_wider(const ft_engine *engine)
{
    const ft_spec *spec = &engine->spec;
    return !spec->model_given && !spec->literal && engine->problem.model == FT_MODEL_OBSERVED &&
           ft_run_valued(engine->run) && engine->trace->n_events <= MOST_EVENTS;
}

void ft_engine_take_for_long(ft_engine *engine)
{
    ft_engine_release_model(engine);
    engine->spec.model_given = false;
    engine->problem.model = engine->context.model = FT_MODEL_OBSERVED;
    ft_engine_open_model(engine, NULL);
}

/* All that does not depend on the model is that engine's. */
static ft_engine *widened(ft_engine *engine)
{
    ft_engine *wider = ft_calloc(1, sizeof *wider);
    *wider = (ft_engine){.trace = engine->trace,
                         .trace_hash = engine->trace_hash,
                         .spec = engine->spec,
                         .order = engine->order,
                         .run = engine->run,
                         .problem = engine->problem,
                         .context = engine->context,
                         .candidates = engine->candidates};
    assert(engine->problem.model == FT_MODEL_OBSERVED);
    wider->problem.model = wider->context.model = FT_MODEL_MAXIMAL;
    wider->problem.causality = NULL;
    wider->problem.cube = NULL; /* it is asked about all schedules */
    wider->problem.domains = NULL;
    ft_engine_open_model(wider, engine->analyses);
    return wider;
}

ft_engine *ft_engine_wider(ft_engine *engine, double *ms)
{
    if (!ft_engine_looks_wider(engine)) return NULL;
    double all = engine->looked_ms / 2;
    if (all < LEAST_MS) all = LEAST_MS;
    if (all > MOST_MS) all = MOST_MS;
    double left = all - engine->wider_ms;
    if (*ms > left) *ms = left;
    if (*ms > GROUP_MS) *ms = GROUP_MS;
    if (*ms <= 0) return NULL;
    if (!engine->wider) engine->wider = widened(engine);
    return engine->wider;
}

void ft_engine_free_wider(ft_engine *engine)
{
    if (!engine->wider) return;
    ft_engine_release_model(engine->wider);
    ft_vec_release(&engine->wider->conditions);
    free(engine->wider);
    engine->wider = NULL;
}

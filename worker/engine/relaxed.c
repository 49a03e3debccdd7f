/* Broken traces: verdicts that do not depend on the break (doubt.h). */
#include <stdlib.h>

#include "base/contract.h"
#include "engine/internal.h"

/* Everything of its own but the job and its candidates. */
static ft_engine *relaxed_of(ft_engine *engine)
{
    ft_engine *relaxed = ft_calloc(1, sizeof *relaxed);
    ft_trace *trace = ft_doubt_relaxed(engine->doubt);
    *relaxed = (ft_engine){.trace = trace,
                           .trace_hash = engine->trace_hash,
                           .spec = engine->spec,
                           .order = ft_order_new(trace),
                           .run = ft_run_new(trace),
                           .problem = engine->problem,
                           .context = engine->context,
                           .candidates = engine->candidates};
    /* Claims name events of both traces. */
    assert(trace->n_events == engine->trace->n_events && trace->broken == FT_NO_EVENT);
    relaxed->problem.trace = trace;
    relaxed->problem.order = relaxed->order;
    relaxed->problem.run = relaxed->run;
    relaxed->problem.causality = NULL;
    relaxed->problem.cube = NULL; /* it is asked about all schedules */
    relaxed->problem.domains = NULL;
    ft_engine_open_model(relaxed, NULL);
    return relaxed;
}

ft_engine *ft_engine_relaxed(ft_engine *engine)
{
    if (!engine->doubt || engine->spec.literal) return NULL;
    if (!engine->relaxed) engine->relaxed = relaxed_of(engine);
    return engine->relaxed;
}

void ft_engine_free_relaxed(ft_engine *engine)
{
    ft_engine *relaxed = engine->relaxed;
    if (!relaxed) return;
    ft_engine_release_model(relaxed);
    ft_run_free(relaxed->run);
    ft_order_free(relaxed->order);
    ft_vec_release(&relaxed->conditions);
    free(relaxed);
    engine->relaxed = NULL;
}

bool ft_engine_is_certain_reason(const ft_engine *engine, ft_reason reason, uint32_t lock)
{
    if (!engine->doubt) return false;
    if (reason == FT_REASON_MUST_HAPPEN_BEFORE) return true;
    if (reason != FT_REASON_LOCKSET && reason != FT_REASON_ATOMIC_SECTION) return false;
    return lock != UINT32_MAX && !ft_doubt_locks(engine->doubt)[lock];
}

bool ft_engine_pruned_certainly(const ft_engine *engine, const ft_group *group)
{
    if (!engine->doubt || group->doubtful) return false;
    for (int i = 0; i < FT_REASONS; i++)
        if (group->pruned[i] && !ft_engine_is_certain_reason(engine, (ft_reason)i, group->lock))
            return false;
    return true;
}

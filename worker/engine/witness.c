/* Witnesses in linear time (witness/schedule.h), each confirmed by the checker in its last form
 * alone: long ones are executed once. */
#include "engine/internal.h"

static ft_schedules *schedules_for(ft_engine *engine, const ft_claim *claim)
{
    ft_schedules *schedules = ft_analyses_schedules(engine->analyses);
    return ft_schedules_serve(schedules, claim) ? schedules : NULL;
}

static ft_minimised gain_of(const ft_engine *engine, const ft_witness *before,
                            const ft_witness *after)
{
    return (ft_minimised){.members_before = before->n_steps,
                          .members = after->n_steps,
                          .switches_before = ft_witness_switches(engine->trace, before),
                          .switches = ft_witness_switches(engine->trace, after),
                          .complete = engine->problem.model == FT_MODEL_OBSERVED};
}

bool ft_engine_serves_schedules(ft_engine *engine, const ft_claim *claim)
{
    return schedules_for(engine, claim) != NULL;
}

bool ft_engine_accept(ft_engine *engine, const ft_claim *claim, uint32_t bound, ft_witness *witness,
                      ft_reading *reading, ft_minimised *minimised)
{
    if (!ft_schedules_accept(schedules_for(engine, claim), claim, witness)) return false;
    witness->wakeups = engine->problem.wakeups;
    witness->bound = bound;
    if (ft_checker_check(ft_analyses_checker(engine->analyses), witness, reading, NULL) != FT_OK) {
        ft_witness_release(witness);
        return false;
    }
    uint32_t switches = ft_witness_switches(engine->trace, witness);
    *minimised = (ft_minimised){.members_before = witness->n_steps,
                                .members = witness->n_steps,
                                .switches_before = switches,
                                .switches = switches,
                                .complete = engine->problem.model == FT_MODEL_OBSERVED};
    return true;
}

bool ft_engine_reduce(ft_engine *engine, ft_witness *witness, ft_reading *reading,
                      ft_minimised *minimised)
{
    ft_schedules *schedules = schedules_for(engine, &witness->claim);
    if (!schedules) return false;
    ft_witness less = *witness;
    ft_reading fresh = {0};
    if (!ft_schedules_reduce(schedules, &less)) return false;
    if (ft_checker_check(ft_analyses_checker(engine->analyses), &less, &fresh, NULL) != FT_OK) {
        ft_witness_release(&less);
        return false;
    }
    ft_reading_release(reading);
    *reading = fresh;
    *minimised = gain_of(engine, witness, &less);
    ft_witness_release(witness);
    *witness = less;
    return true;
}

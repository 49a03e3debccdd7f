/* The oracle against the independent checker: two of the three semantics, without an engine. */
#include "oracle/compare_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/state.h"
#include "verdict/checker.h"

#define MUTANTS 3

static ft_witness witness_of(const subject *s, const ft_oracle_answer *answer)
{
    ft_witness witness = {.model = s->job.model,
                          .wakeups = s->job.wakeups,
                          .bound = FT_NO_BOUND,
                          .claim = answer->claim,
                          .n_steps = answer->n_steps};
    witness.steps = ft_alloc((FT_ORACLE_EVENTS + 1u) * sizeof *witness.steps);
    for (uint32_t i = 0; i < answer->n_steps; i++) witness.steps[i] = answer->steps[i];
    return witness;
}

static void describe_steps(subject *s, const ft_witness *witness)
{
    ft_strbuf_puts(s->why, "schedule:");
    for (uint32_t i = 0; i < witness->n_steps; i++)
        ft_strbuf_printf(s->why, " %u", witness->steps[i] + 1);
    ft_strbuf_puts(s->why, "\n");
}

/* The checker may leave undecided what depends on an unknown value, and only that. */
static bool same_opinion(subject *s, ft_checker *checker, const ft_witness *witness,
                         ft_judgement judgement)
{
    static const char *const words[] = {"wrong", "right", "unknown"};
    ft_error err = FT_ERROR_INIT;
    ft_status status = ft_checker_check(checker, witness, NULL, &err);
    if (judgement == FT_JUDGED_UNKNOWN) return true;
    if (judgement == FT_JUDGED_RIGHT ? status == FT_OK : status != FT_OK) return true;
    describe_steps(s, witness);
    return ft_compare_differs(s, "checker", &witness->claim, words[judgement],
                              status == FT_OK ? "accepts it" : err.message);
}

/* One step swapped with its neighbour, dropped, or moved; or the end cut off. */
static void mutate(ft_witness *witness, ft_random *random)
{
    uint32_t n = witness->n_steps, *steps = witness->steps;
    if (n == 0) return;
    uint32_t at = ft_random_below(random, n), to = ft_random_below(random, n), moved = steps[at];
    switch (ft_random_below(random, 4)) {
    case 0:
        witness->n_steps = at;
        return;
    case 1:
        to = at + 1 < n ? at + 1 : at;
        break;
    case 2:
        to = n - 1;
        witness->n_steps--;
        break;
    default:
        break;
    }
    for (; at < to; at++) steps[at] = steps[at + 1];
    for (; at > to; at--) steps[at] = steps[at - 1];
    steps[to] = moved;
}

static bool mutants_agree(subject *s, ft_checker *checker, const ft_oracle_answer *answer,
                          ft_random *random)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < MUTANTS; i++) {
        ft_witness mutant = witness_of(s, answer);
        for (uint32_t k = ft_random_below(random, 3); k < 3; k++) mutate(&mutant, random);
        ok = same_opinion(s, checker, &mutant, ft_oracle_judge(s->trace, &mutant));
        ft_witness_release(&mutant);
    }
    return ok;
}

static bool schedule_agrees(subject *s, ft_checker *checker, const ft_oracle_answer *answer)
{
    ft_witness witness = witness_of(s, answer);
    bool ok = same_opinion(s, checker, &witness, FT_JUDGED_RIGHT);
    uint32_t switches = ft_witness_switches(s->trace, &witness);
    if (ok && s->job.switches && switches != answer->switches) {
        describe_steps(s, &witness);
        ft_strbuf_printf(s->why, "oracle: %u switches, ft_witness_switches: %u\n", answer->switches,
                         switches);
        ok = ft_compare_differs(s, "switches", &answer->claim, "as above", "as above");
    }
    ft_witness_release(&witness);
    return ok;
}

/* A random feasible schedule for a claim that has no witness at all. */
static bool walk_is_refused(subject *s, ft_checker *checker, const ft_oracle_answer *answer,
                            ft_random *random)
{
    ft_witness witness = witness_of(s, answer);
    ft_machine *machine = ft_alloc(sizeof *machine);
    ft_state state, next[FT_MACHINE_BRANCHES];
    ft_machine_init(machine, s->trace, s->job.model, s->job.wakeups);
    ft_machine_start(machine, &state);
    witness.n_steps = 0;
    for (uint32_t tries = ft_random_below(random, 2 * s->trace->n_events); tries > 0; tries--) {
        uint32_t t = ft_random_below(random, machine->n_threads);
        uint32_t count = ft_machine_step(machine, &FT_NO_MONITOR, &state, t, next);
        if (!count) continue;
        witness.steps[witness.n_steps++] = machine->events[t][state.pos[t]];
        state = next[ft_random_below(random, count)];
    }
    bool ok = same_opinion(s, checker, &witness, FT_JUDGED_WRONG);
    free(machine);
    ft_witness_release(&witness);
    return ok;
}

bool ft_compare_with_checker(subject *s)
{
    ft_random random;
    ft_checker *checker = ft_checker_new(s->trace);
    bool ok = true;
    ft_random_init(&random, s->seed ^ 0x636865636bu);
    for (size_t i = 0; ok && i < s->oracle.answers.len; i++) {
        const ft_oracle_answer *answer = &s->oracle.answers.data[i];
        if (answer->violated)
            ok = schedule_agrees(s, checker, answer) && mutants_agree(s, checker, answer, &random);
        else if (!answer->unknown)
            ok = walk_is_refused(s, checker, answer, &random);
    }
    ft_checker_free(checker);
    return ok;
}

/* Context bounds: for each bound the verdict is known from the fewest switches of every claim. */
#include "oracle/compare_internal.h"

#include <stdio.h>

/* A proof that did not find out that it needs no bound is no mistake, so that a claim without any
 * witness may be called bounded; one with a witness beyond the bound may never be called safe. */
typedef struct expected {
    uint64_t violation, bounded, safe, unknown;
    uint64_t open; /* beyond the bound for certain, within it with some value of an unknown */
} expected;

static void expect(const subject *s, uint32_t bound, expected want[FT_CHECKS])
{
    for (size_t i = 0; i < s->oracle.answers.len; i++) {
        const ft_oracle_answer *answer = &s->oracle.answers.data[i];
        expected *e = &want[answer->check];
        if (answer->violated && answer->switches <= bound)
            e->violation++;
        else if (answer->violated && answer->maybe_switches <= bound)
            e->open++;
        else if (answer->violated)
            e->bounded++;
        else if (answer->unknown)
            e->unknown++;
        else
            e->safe++;
    }
}

/* The verdict that a property must have within the bound; SAFE: that or bounded. */
static ft_verdict property_within(const subject *s, uint32_t property, uint32_t bound)
{
    bool beyond = false, unknown = false;
    for (size_t i = 0; i < s->oracle.answers.len; i++) {
        const ft_oracle_answer *answer = &s->oracle.answers.data[i];
        if (answer->property != property) continue;
        if (answer->violated && answer->switches <= bound) return FT_VERDICT_VIOLATION;
        beyond |= answer->violated;
        unknown |= answer->unknown || answer->maybe_switches <= bound;
    }
    return unknown ? FT_VERDICT_UNKNOWN : beyond ? FT_VERDICT_BOUNDED : FT_VERDICT_SAFE;
}

static bool properties_are_within(subject *s, const char *what, uint32_t bound,
                                  const ft_pipeline *pipeline)
{
    for (uint32_t p = 0; p < s->job.n_properties; p++) {
        const bool *has = pipeline->property[p];
        ft_verdict want = property_within(s, p, bound);
        bool ok = has[FT_VERDICT_VIOLATION] == (want == FT_VERDICT_VIOLATION);
        if (want == FT_VERDICT_BOUNDED) ok &= has[FT_VERDICT_BOUNDED];
        if (want != FT_VERDICT_UNKNOWN && want != FT_VERDICT_VIOLATION)
            ok &= !has[FT_VERDICT_UNKNOWN] || pipeline->timeouts[FT_CHECK_PROPERTY];
        if (s->stats) s->stats->bounded_properties[s->properties[p].kind]++;
        if (ok) continue;
        ft_strbuf_printf(s->why, "property %u, kind %d; records with", p, s->properties[p].kind);
        for (int v = 0; v < FT_VERDICTS; v++)
            if (has[v]) ft_strbuf_printf(s->why, " %s", ft_verdict_name((ft_verdict)v));
        ft_strbuf_puts(s->why, ": ");
        return ft_compare_differs(s, what, NULL, ft_verdict_name(want), "as said");
    }
    return true;
}

static bool findings_are_within(subject *s, const char *what, uint32_t bound,
                                const ft_pipeline *pipeline)
{
    uint64_t missing[FT_CHECKS] = {0};
    for (size_t i = 0; i < pipeline->violations.len; i++) {
        const ft_finding *finding = &pipeline->violations.data[i];
        const ft_oracle_answer *answer = ft_compare_answer(s, finding);
        if (answer && answer->violated && answer->switches <= bound) continue;
        return ft_compare_differs(s, what, &finding->claim, "none within the bound", "violation");
    }
    for (size_t i = 0; i < s->oracle.answers.len; i++) {
        const ft_oracle_answer *answer = &s->oracle.answers.data[i];
        if (answer->check != FT_CHECK_PROPERTY && answer->violated && answer->switches <= bound &&
            !ft_compare_found(pipeline, answer) &&
            ++missing[answer->check] > pipeline->timeouts[answer->check])
            return ft_compare_differs(s, what, &answer->claim, "violation within the bound",
                                      "none");
    }
    return true;
}

static bool counts_are_within(subject *s, const char *what, const expected *want, ft_check check,
                              const ft_pipeline *pipeline)
{
    const uint64_t *have = pipeline->count[check], late = pipeline->timeouts[check];
    uint64_t safe = have[FT_VERDICT_SAFE], bounded = have[FT_VERDICT_BOUNDED];
    if (have[FT_VERDICT_VIOLATION] <= want->violation &&
        have[FT_VERDICT_VIOLATION] + late >= want->violation && have[FT_VERDICT_ERROR] == 0 &&
        have[FT_VERDICT_UNKNOWN] <= want->unknown + want->open + late &&
        safe <= want->safe + want->unknown && bounded + late >= want->bounded) {
        if (s->stats) s->stats->lifted += safe;
        if (s->stats) s->stats->bounded += bounded;
        if (s->stats && bounded > want->bounded) s->stats->not_lifted += bounded - want->bounded;
        return true;
    }
    char oracle[96], engine[96];
    snprintf(oracle, sizeof oracle, "%u violations, %u bounded, %u safe, %u unknown",
             (unsigned)want->violation, (unsigned)want->bounded, (unsigned)want->safe,
             (unsigned)want->unknown);
    snprintf(engine, sizeof engine, "%u, %u, %u, %u", (unsigned)have[FT_VERDICT_VIOLATION],
             (unsigned)bounded, (unsigned)safe, (unsigned)have[FT_VERDICT_UNKNOWN]);
    ft_strbuf_printf(s->why, "%s: ", ft_check_name(check));
    return ft_compare_differs(s, what, NULL, oracle, engine);
}

static bool compare_bound(subject *s, const char *bound_text, uint32_t bound, const char *encoding)
{
    char what[48];
    expected want[FT_CHECKS] = {{0}};
    ft_pipeline pipeline;
    ft_pipeline_options options = {.per = "event", .encoding = encoding, .bound = bound_text};
    snprintf(what, sizeof what, "bound %s, %s", bound_text, encoding);
    expect(s, bound, want);
    bool ok = ft_compare_run(s, what, &options, &pipeline) &&
              findings_are_within(s, what, bound, &pipeline) &&
              properties_are_within(s, what, bound, &pipeline);
    for (int c = 0; ok && c < FT_CHECK_PROPERTY; c++)
        ok = counts_are_within(s, what, &want[c], (ft_check)c, &pipeline);
    ft_pipeline_release(&pipeline);
    return ok;
}

/* Auto goes on until nothing is left open: no claim stays bounded. A bound that it came to is the
 * first with a witness. */
static bool compare_auto(subject *s)
{
    expected want[FT_CHECKS] = {{0}};
    ft_pipeline pipeline;
    ft_pipeline_options options = {.per = "event", .encoding = "default", .bound = "auto"};
    expect(s, UINT32_MAX - 1, want);
    bool ok = ft_compare_run(s, "bound auto", &options, &pipeline) &&
              findings_are_within(s, "bound auto", UINT32_MAX - 1, &pipeline) &&
              properties_are_within(s, "bound auto", UINT32_MAX - 1, &pipeline);
    for (int c = 0; ok && c < FT_CHECK_PROPERTY; c++)
        ok = counts_are_within(s, "bound auto", &want[c], (ft_check)c, &pipeline) &&
             (pipeline.count[c][FT_VERDICT_BOUNDED] == 0 ||
              ft_compare_differs(s, "bound auto", NULL, "decided for all bounds", "bounded"));
    for (size_t i = 0; ok && i < pipeline.violations.len; i++) {
        const ft_finding *finding = &pipeline.violations.data[i];
        const ft_oracle_answer *answer = ft_compare_answer(s, finding);
        uint32_t fewest = answer->switches > 1 ? answer->switches : 1;
        ok = finding->bound == FT_NO_BOUND || finding->bound <= fewest ||
             ft_compare_differs(s, "bound auto", &finding->claim, "a witness within a lower bound",
                                "none there");
    }
    ft_pipeline_release(&pipeline);
    return ok;
}

bool ft_compare_bounds(subject *s)
{
    static const char *const texts[] = {"0", "1", "2", "3", "4"};
    ft_oracle_job job = s->job;
    ft_oracle_result unbounded = s->oracle;
    uint32_t bound = (uint32_t)(s->seed / 5 % 5);
    if (s->seed % 10 != 0) s->job.n_properties = 0; /* dear, so every other time */
    s->job.switches = true;
    ft_oracle_enumerate(s->trace, &s->job, &s->oracle);
    const char *encoding = s->seed % 3 ? "default" : "literal";
    bool ok = compare_bound(s, texts[bound], bound, encoding) && compare_auto(s);
    ft_oracle_release(&s->oracle);
    s->oracle = unbounded;
    s->job = job;
    return ok;
}

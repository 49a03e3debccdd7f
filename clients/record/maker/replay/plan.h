/* The plan of a replay: from a witness to the schedule that the program follows (raw/schedule.h).
 *
 * Entries name steps of the program by thread and number. Those of the witness's events are done in
 * its order; then the *finals* reach the state that the claim describes (two threads before their
 * accesses, a thread blocked in its request, ...). */
#ifndef FT_RECORD_MAKER_PLAN_H
#define FT_RECORD_MAKER_PLAN_H

#include "base/memory.h"
#include "base/strbuf.h"
#include "raw/schedule.h"
#include "verdict/claim.h"

typedef struct ft_plan {
    ft_schedule head;
    FT_VEC(ft_schedule_entry) entries;
    FT_VEC(uint32_t) events; /* by entry: its event */
    FT_VEC(ft_schedule_actor) actors;
    FT_VEC(ft_schedule_site) sites;
    FT_VEC(ft_schedule_module) modules;
    FT_VEC(ft_schedule_input) inputs;
    FT_VEC(ft_schedule_channel) channels;
    const unsigned char *contents; /* of the inputs: the trace's */
    size_t n_contents;
} ft_plan;

/* FT_INPUT: the trace is not a recording, or an event of the claim is not a step of the program.
 * The plan is to be released whatever the status. */
ft_status ft_plan_make(const ft_trace *trace, const ft_witness *witness, ft_plan *plan,
                       ft_error *err) FT_MUST_CHECK;
/* Does a step of the witness take content that another thread of the program has put in (a pipe, an
 * object that is not known), so that the recorded content is right only if that thread computes the
 * same again? */
bool ft_plan_takes_from_within(const ft_trace *trace, const ft_witness *witness);
/* The same without a witness: feeds another recording the inputs of this trace. */
ft_status ft_plan_feed(const ft_trace *trace, ft_plan *plan, ft_error *err) FT_MUST_CHECK;
void ft_plan_release(ft_plan *plan);

/* Appends all of it, as it stands in the file behind the header's page. */
void ft_plan_print(const ft_plan *plan, ft_strbuf *out);

/* Appends one sentence: how a run of the program at that path, which followed the plan, ended. */
void ft_plan_explain(const ft_plan *plan, const ft_trace *trace, const char *program,
                     const ft_schedule *run, ft_strbuf *out);
/* Appends the first input of a fed recording that the plan does not have; false: there is none. */
bool ft_plan_explain_live(const ft_plan *plan, const ft_trace *trace, const char *program,
                          const ft_schedule *run, ft_strbuf *out);

#endif

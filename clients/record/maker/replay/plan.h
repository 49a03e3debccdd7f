/* From a witness to the schedule that a replay follows (raw/schedule.h). */
#ifndef FT_RECORD_MAKER_SCHEDULE_H
#define FT_RECORD_MAKER_SCHEDULE_H

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

/* FT_INPUT: the trace was not recorded, or what the claim needs has no step in the program. The
 * plan is to be released whatever the status. */
ft_status ft_plan_make(const ft_trace *trace, const ft_witness *witness, ft_plan *plan,
                       ft_error *err) FT_MUST_CHECK;
/* The same without a witness: what feeds a recording the inputs of that one. */
ft_status ft_plan_feed(const ft_trace *trace, ft_plan *plan, ft_error *err) FT_MUST_CHECK;
void ft_plan_release(ft_plan *plan);

/* All of it, as it stands in the file behind the header's page. */
void ft_plan_print(const ft_plan *plan, ft_strbuf *out);

/* What a run of the program at that path, which followed the plan, says of itself: one sentence. */
void ft_plan_explain(const ft_plan *plan, const ft_trace *trace, const char *program,
                     const ft_schedule *run, ft_strbuf *out);
/* The first input of such a recording that was not in the other one; false: there is none. */
bool ft_plan_explain_live(const ft_plan *plan, const ft_trace *trace, const char *program,
                          const ft_schedule *run, ft_strbuf *out);

#endif

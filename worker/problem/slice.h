/* Slicing (Wang et al. §9): the reads whose value can matter to the feasibility of a schedule or to
 * a claim. Under `ctp` a symbolic read may return whatever the state holds, so one whose value
 * flows into no condition, no possibly undefined term and no value that a plain read must return is
 * a read of a dead variable: its source need not be encoded, and the writes it might read from need
 * not be in the cone on its account. In every other model each read is bound to the run, and all
 * are needed.
 *
 * Data flow is found by variable (locals per thread), regardless of order: a little coarser than
 * the program, sound, and linear in the trace. */
#ifndef FT_PROBLEM_SLICE_H
#define FT_PROBLEM_SLICE_H

#include "trace/trace.h"
#include "verdict/names.h"

typedef struct ft_slice ft_slice;

/* conditions: further terms that claims evaluate, at any event. NULL: the model needs all reads. */
ft_slice *ft_slice_new(const ft_trace *trace, ft_model model, const ft_term *conditions,
                       uint32_t n_conditions);
void ft_slice_free(ft_slice *slice); /* accepts NULL */

/* Can the value of event e's read of the variable matter? slice NULL: yes. */
bool ft_slice_needs(const ft_slice *slice, uint32_t e, uint32_t variable);
/* How many reads of the trace there are, and how many can matter. */
void ft_slice_count(const ft_slice *slice, uint64_t *reads, uint64_t *needed);

#endif

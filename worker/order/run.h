/* The observed run, executed once: what every access read or wrote, and from whom.
 *
 * A value identity (vid) is equal for two accesses exactly if their values are known to be equal:
 * known values are interned, an unknown value is equal only to itself (the same write, or the same
 * initial value). */
#ifndef FT_ORDER_RUN_H
#define FT_ORDER_RUN_H

#include "trace/trace.h"

typedef uint32_t ft_vid;
#define FT_VID_UNKNOWN     0x80000000u /* flag of an unknown value's identity */
#define FT_VID_IS_KNOWN(v) (((v)&FT_VID_UNKNOWN) == 0)

typedef struct ft_run ft_run;

ft_run *ft_run_new(const ft_trace *trace);
void ft_run_free(ft_run *run); /* accepts NULL */

/* The i-th access of event e, in the order of ft_trace_accesses. */
uint32_t ft_run_source(const ft_run *run, uint32_t e, uint32_t i); /* reads: write event, or
                                                                      FT_NO_EVENT: initial value; of
                                                                      a read that was passed over:
                                                                      the write before it */
ft_vid ft_run_vid(const ft_run *run, uint32_t e, uint32_t i);
ft_vid ft_run_initial_vid(const ft_run *run, uint32_t variable);
/* The value of a known vid. */
ft_value ft_run_value(const ft_run *run, ft_vid vid);
/* Position of variable's access in e's accesses: the read or the write; UINT32_MAX: none. */
uint32_t ft_run_find_access(const ft_trace *trace, uint32_t e, uint32_t variable, bool write);
/* Every read and write that the run executed has a known value. */
bool ft_run_valued(const ft_run *run);
uint32_t ft_run_unvalued(const ft_run *run); /* the first event that has not, or FT_NO_EVENT */
/* What the run passed over (Wang et al. §8) says what it computes: its events are symbolic, or
 * writes with a value. True without branches. */
bool ft_run_arms_computed(const ft_run *run);
/* At least one event is symbolic. */
bool ft_run_symbolic(const ft_run *run);

#endif

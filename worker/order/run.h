/* The observed run, executed once: the value of every access, and the write that a read returned.
 *
 * A value identity (vid) is equal for two accesses exactly if their values are known to be equal:
 * known values are interned, an unknown value is equal only to itself (the same write, or the same
 * initial value). */
#ifndef FT_ORDER_RUN_H
#define FT_ORDER_RUN_H

#include "base/contract.h"
#include "trace/trace.h"

typedef uint32_t ft_vid;
#define FT_VID_UNKNOWN     0x80000000u /* flag of an unknown value's identity */
#define FT_VID_IS_KNOWN(v) (((v)&FT_VID_UNKNOWN) == 0)

typedef struct ft_run ft_run;

ft_run *ft_run_new(const ft_trace *trace); /* the trace must outlive it */
void ft_run_free(ft_run *run);             /* accepts NULL */
/* Every read has an earlier write of its variable for source, or none; every write has itself.
 * Linear in the accesses, for FT_CHECK. */
bool ft_run_is_sound(const ft_run *run, const ft_trace *trace);

/* The i-th access of event e, in the order of ft_trace_accesses. The source of a read is the write
 * that it returned (FT_NO_EVENT: the initial value); of a read that was passed over, the write
 * before it; of a write, e itself. */
uint32_t ft_run_source(const ft_run *run, uint32_t e, uint32_t i);
ft_vid ft_run_vid(const ft_run *run, uint32_t e, uint32_t i);
ft_vid ft_run_initial_vid(const ft_run *run, uint32_t variable);
/* The value of a known vid, one of this run. */
ft_value ft_run_value(const ft_run *run, ft_vid vid);
/* Position of variable's access in e's accesses: the read or the write; UINT32_MAX: none. */
uint32_t ft_run_find_access(const ft_trace *trace, uint32_t e, uint32_t variable, bool write);
/* Every read and write that the run executed has a known value. */
bool ft_run_valued(const ft_run *run);
uint32_t ft_run_unvalued(const ft_run *run); /* the first event that has not, or FT_NO_EVENT */
/* Every event that the run passed over (Wang et al. §8) is symbolic or a write with a value, so
 * that its result can be computed. True without branches. */
bool ft_run_arms_computed(const ft_run *run);
/* At least one event is symbolic. */
bool ft_run_symbolic(const ft_run *run);

#endif

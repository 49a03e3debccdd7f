/* Pointer targets: the cells that an atomic access by a computed address reaches in other
 * schedules.
 *
 * An atomic access through a pointer or index that was itself read (`top->next`) goes elsewhere in
 * a schedule where that read returns something else. With the right cells at hand, its event has a
 * term over all of them (terms/access.c) and the address need not be held to that of the run.
 *
 * Such an event counts as an access to each of its targets, whichever one the address is. So that
 * no check reports an access that the program does not make, a target is *free*: each access to it
 * is atomic, outside of critical sections and marked transactions, or *quiet*, that is, made while
 * no other thread exists (forks and joins order it with everything that other threads do). Its
 * memory is allocated and freed quietly.
 *
 * Owner: first_pass.c collects, terms/ asks in the second pass (ft_terms_surroundings). */
#ifndef FT_RECORD_MAKER_POINTER_TARGETS_H
#define FT_RECORD_MAKER_POINTER_TARGETS_H

#include "base/map.h"
#include "base/memory.h"
#include "maker/log/log.h"

enum { FT_TARGETS_MOST = 32 /* that a set keeps: a larger one is never asked for */ };

typedef struct ft_target_set {
    uint32_t n; /* FT_TARGETS_MOST + 1: too many */
    uint64_t items[FT_TARGETS_MOST];
} ft_target_set;

/* Embedded: zero-initialise, then release. */
typedef struct ft_pointer_targets {
    ft_map loud;     /* granule -> 1: some access keeps it from being free */
    ft_map lasting;  /* allocation -> 1: made quietly and not freed otherwise */
    ft_map in_cells; /* address -> index in sets: values that atomic accesses wrote there */
    FT_VEC(ft_target_set) sets;
    FT_VEC(uint32_t) sections; /* by thread: critical sections and transactions that it is in */
    uint32_t others;           /* threads that were forked and not joined */
    bool too_large;            /* a long range was accessed: nothing is free */
} ft_pointer_targets;

void ft_pointer_targets_release(ft_pointer_targets *targets);

/* First pass, in the order of the log. */
void ft_pointer_targets_access(ft_pointer_targets *targets, const ft_raw_record *access);
void ft_pointer_targets_event(ft_pointer_targets *targets, uint32_t thread,
                              const ft_raw_event *access);
/* A record that is not an access. allocation: of an ALLOC or BEGIN record its number, of a FREE
 * record that of the block that it ends. */
void ft_pointer_targets_meet(ft_pointer_targets *targets, const ft_raw_record *record,
                             uint32_t allocation);

/* Second pass: is the granule of that address, in that allocation (FT_NO_ALLOCATION: none), free?
 */
bool ft_pointer_targets_are_free(const ft_pointer_targets *targets, uint64_t address,
                                 uint32_t allocation);
/* Second pass: the values that were written to the cell atomically. NULL: none, or too many. */
const ft_target_set *ft_pointer_targets_values(const ft_pointer_targets *targets, uint64_t address);

#endif

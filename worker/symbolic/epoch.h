/* States in which epochs begin (cover; Bergan §3.2.2): an *arrival*, a state that an epoch has
 * ended in, made independent of the way to it; and the *beginning* that stands for many arrivals,
 * in which a cell of memory or a register is a number that all arrivals have there, or an
 * *unknown*, a symbol that is named by its place.
 *
 * An arrival has no constraints, no freed objects, and no content in registers that is never read.
 * Objects have new numbers and addresses: globals, those of each thread, the heap by age, the
 * stacks. An address of what was freed is an unknown. The *key* of an arrival is all that is not
 * content: threads and their calls, objects and their sizes, synchronisation objects, and which
 * cells and registers hold the address of which object. Arrivals of one key may share a beginning.
 *
 * Programs whose behaviour depends on how addresses compare as numbers are not meant: addresses
 * differ between machines. */
#ifndef FT_SYMBOLIC_EPOCH_H
#define FT_SYMBOLIC_EPOCH_H

#include "schedules/schedules.h"
#include "symbolic/follow.h"

/* An order of the threads that are not gone (ended, and joined or detached) which is the same
 * whatever their numbers are, as far as they stand in different ways: the old numbers by new one,
 * @main's first. `ordered`: the old order. Returns how many. */
uint32_t ft_sym_match(const ft_sym_state *state, bool ordered, uint32_t threads[FT_SYM_THREADS]);
/* The arrival of a state in which every thread stands before an operation, or has ended; its thread
 * i is the state's threads[i]. FT_INPUT: those are not its
 * threads. FT_UNSUPPORTED: it cannot be one, for the reason in err. The caller frees it. */
ft_status ft_sym_arrive(const ft_sym_state *state, const uint32_t *threads, uint32_t n_threads,
                        ft_sym_state **arrival, ft_error *err) FT_MUST_CHECK;
void ft_sym_key(const ft_sym_state *arrival, ft_strbuf *key);
/* A beginning from an arrival: terms become unknowns. */
void ft_sym_begin(ft_sym_state *arrival);
/* Makes unknowns of the content that an arrival of the same key does not have, and different ones
 * of those that are not equal there; true: some. */
bool ft_sym_widen(ft_sym_state *beginning, const ft_sym_state *arrival);
/* Calls `differs` with the condition under which the arrival, of the same key, has other content
 * than the beginning knows: each time another place. */
void ft_sym_differs(const ft_sym_state *beginning, const ft_sym_state *arrival,
                    void (*differs)(void *context, ft_term condition, const char *place),
                    void *context);

/* A beginning as the epoch of a set, and the other way. Unknowns that are equal are different ones
 * in the set: the term, of the world, says which are equal; FT_NO_TERM: none. */
ft_term ft_sym_write_epoch(const ft_sym_state *beginning, ft_schedule_set *set, uint32_t number,
                           ft_epoch *epoch);
ft_status ft_sym_read_epoch(ft_sym_world *world, const ft_schedule_set *set, uint32_t epoch,
                            ft_sym_state **beginning, ft_error *err) FT_MUST_CHECK;

/* The content of a place, as a term (of width 1 a Bool); FT_NO_TERM: there is no such place. */
ft_term ft_sym_content(const ft_sym_state *state, const char *place, uint8_t width);

/* The calls of a thread, the innermost first; false: there is no such one. */
bool ft_sym_call(const ft_sym_state *state, uint32_t thread, uint32_t depth, ft_sym_place *place);
/* Stands the thread before the second step of its operation? */
bool ft_sym_is_second(const ft_sym_state *state, uint32_t thread);
/* How many objects it began with, of a state that began in the middle; else 0. */
uint32_t ft_sym_old_objects(const ft_sym_state *state);
/* The symbol of an unknown; its ft_sym_name has the place as name, and FT_NO_ID as thread. */
ft_symbol ft_sym_world_unknown(ft_sym_world *world, const char *place, uint8_t width);
/* The `stack` or `alloc` that made the object; FT_NO_SYMBOL: none is known. */
ft_sym_place ft_sym_maker(const ft_sym_state *state, uint32_t object);

#endif

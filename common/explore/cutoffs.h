/* Cutoffs: events behind which nothing new comes, because the state after them was met before.
 *
 * An event e is a cutoff if another event e' has state([e']) = state([e]) and [e'] comes before [e]
 * in the order below; the initial state is one of no events (POR-SE §3.8, notes §1). The search
 * does not go on behind a cutoff, and no alternative goes through one. So programs with endless
 * loops have finite searches, in which every state, end and deadlock is met that the program can
 * reach:
 *
 * Of the configurations that lead to a state, take the first in the order. None of its events is a
 * cutoff: from e' the rest could be done too, and the order keeps that first. So the search,
 * whatever it knows, never stops inside of it, and comes to it as without cutoffs (subtree.h). This
 * holds for any e' that exists, met or not, and whatever became of e': cut, given up, in another
 * task. So each search may use those that it has met itself: subtrees, threads and tasks need not
 * know of each other, and which event was a cutoff when is of no concern. What is lost are classes:
 * several that lead to one state may be met as one.
 *
 * The order (Esparza, Römer, Vogler 1996 §5: size, then Foata normal form) is the same in every
 * process: it is made of labels (ft_x_executor.label), never of numbers of events. Every label has
 * a weight, and a configuration that weighs less comes first; weights differ by so little that it
 * never has more events, below a million. Of those that weigh the same and have the same labels the
 * layers decide (an event's layer is one above the highest of its causes): in the first layer in
 * which they differ, the heavier one comes first. More events keep the order: weights add up; and
 * where the layers below are equal, so are their events, since a label and what was before it make
 * the event. An event that is added to one of those layers depends on nothing above it, and, since
 * both configurations have the same labels, nor does its twin.
 *
 * The executor says in its runs by how much each step changes the state's fingerprint
 * (ft_x_run.prints); that of [e] is the xor over the last events of threads in [e], of what each
 * thread changed. A fingerprint only says which states to compare: a cutoff counts when both states
 * have one name (ft_x_executor.state). State is all that the future depends on: memory, objects,
 * what threads stand before, path conditions, and what decides how threads and objects that are
 * made later are named. Where data races are looked for, it is also which of the earlier accesses
 * are ordered before what each thread and object does next: else a cutoff would hide a race. */
#ifndef FT_EXPLORE_CUTOFFS_H
#define FT_EXPLORE_CUTOFFS_H

#include "explore/executor.h"

typedef struct ft_x_cutoffs ft_x_cutoffs;

/* The executor, which has `state`, and the unfolding outlive it. */
ft_x_cutoffs *ft_x_cutoffs_new(const ft_unfolding *u, const ft_x_executor *executor);
void ft_x_cutoffs_free(ft_x_cutoffs *cutoffs); /* accepts NULL */
size_t ft_x_cutoffs_bytes(const ft_x_cutoffs *cutoffs);

/* The events of a run, one a step, with its prints. */
void ft_x_cutoffs_note(ft_x_cutoffs *cutoffs, const uint32_t *events, const ft_x_run *run);
/* Is the event a cutoff, as far as is known now? Not where no run had it yet. */
bool ft_x_cutoffs_has(ft_x_cutoffs *cutoffs, uint32_t event);
/* Does [a] come before [b]? Both were noted. */
bool ft_x_cutoffs_precedes(ft_x_cutoffs *cutoffs, uint32_t a, uint32_t b);
/* Did the executor fail to name states? Then nothing more is a cutoff. */
ft_status ft_x_cutoffs_status(const ft_x_cutoffs *cutoffs, ft_error *err) FT_MUST_CHECK;

#endif

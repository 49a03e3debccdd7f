/* Conflicting extensions: what else threads could have done within an execution's configuration.
 *
 * For each thread, and each of its places in the configuration C, with `et` the event before it:
 * the events of that thread whose history is a configuration H inside C that contains [et] and no
 * later event of the thread. Such an event that C does not hold either fits to C (it is enabled or
 * concurrent) or conflicts with it; the conflicting ones are where other executions branch off.
 *
 * The generic rule uses dependence and the states of objects alone, so that a new kind of action
 * needs no rule of its own (notes §2, "generic rule"): H is [et] with the causes of a set of events
 * that the operation may depend on. The answers for one ⟨H, thread⟩ are kept. */
#ifndef FT_EXPLORE_EXTENSIONS_H
#define FT_EXPLORE_EXTENSIONS_H

#include "explore/unfolding.h"

typedef struct ft_extensions ft_extensions;

/* generic: without the fast forms of the rule, which leave out histories in which a mutex is held,
 * and give the same. should_stop (may be NULL) is asked now and then while extensions are looked
 * for, which can take long: an action that depends on everything has as many histories as there are
 * configurations. */
ft_extensions *ft_extensions_new(ft_unfolding *u, bool generic, bool (*should_stop)(void *context),
                                 void *context);
/* It said so in the last call: not every extension was found. */
bool ft_extensions_stopped(const ft_extensions *x);
void ft_extensions_free(ft_extensions *x);
size_t ft_extensions_bytes(const ft_extensions *x); /* that it takes */

/* Remembers in the unfolding which events of C conflict with each conflicting extension of C. The n
 * events are those of C, causes first. With those before the first `fresh` ones alone it has been
 * done before. */
void ft_extensions_find(ft_extensions *x, const ft_configuration *c, const uint32_t *events,
                        size_t n, size_t fresh);

/* The events that the configuration enables, up to `room`; returns how many there are. */
size_t ft_extensions_enabled(ft_unfolding *u, const ft_configuration *c, uint32_t *events,
                             size_t room);

#endif

/* The unfolding: every event that the search has met, each once.
 *
 * An event is an action with its history: the events that it depends on, and theirs. Two executions
 * in which an action has the same history share the event, whatever order the rest had (POR-SE §3).
 * Events are numbered from 1 in the order in which they were met, so causes have smaller numbers.
 *
 * A *configuration* is a set of events that one execution can have: with an event all its causes,
 * and no two in conflict. It is written as the last event of each thread, since those of one thread
 * follow each other. The causes of an event are a configuration too: its *clock*.
 *
 * Conflicts between single events are kept as the search finds them (ft_unfolding_conflict);
 * whether two configurations exclude each other is decided from the actions. */
#ifndef FT_EXPLORE_UNFOLDING_H
#define FT_EXPLORE_UNFOLDING_H

#include <stddef.h>

#include "explore/objects.h"

enum { FT_X_NO_EVENT = 0 };

typedef struct ft_configuration {
    uint32_t last[FT_X_THREADS]; /* by thread: its last event; FT_X_NO_EVENT: none */
} ft_configuration;

/* The executor's declarations: what there is before the first action. */
typedef struct ft_x_world {
    uint32_t n_threads;          /* that exist from the start */
    const ft_x_operation *first; /* by thread: what it stands before */
    uint32_t n_objects;
    const int64_t *initial;      /* by object */
    const ft_x_watches *watches; /* the executor's, which outlives the search; NULL: none */
} ft_x_world;

typedef struct ft_unfolding ft_unfolding;

ft_unfolding *ft_unfolding_new(const ft_x_world *world); /* copies the world */
void ft_unfolding_free(ft_unfolding *u);
size_t ft_unfolding_events(const ft_unfolding *u);
uint32_t ft_unfolding_threads(const ft_unfolding *u); /* all that were seen have smaller numbers */
size_t ft_unfolding_bytes(const ft_unfolding *u);     /* that it takes */

ft_x_action ft_unfolding_action(const ft_unfolding *u, uint32_t event);
/* Of its action; valid until an event or an operation is added. */
const ft_x_operation *ft_unfolding_operation(const ft_unfolding *u, uint32_t event);
/* The causes of the event, itself among them. */
ft_configuration ft_unfolding_causes(const ft_unfolding *u, uint32_t event);
uint32_t ft_unfolding_before(const ft_unfolding *u, uint32_t event); /* in its thread */
uint32_t ft_unfolding_depth(const ft_unfolding *u, uint32_t event);  /* events before it there */
uint32_t ft_unfolding_thread(const ft_unfolding *u, uint32_t event);
/* The last event of the thread among the event's causes; FT_X_NO_EVENT: none. */
uint32_t ft_unfolding_last_cause(const ft_unfolding *u, uint32_t event, uint32_t thread);
/* Is a the event b, or one of b's causes? */
bool ft_unfolding_is_cause(const ft_unfolding *u, uint32_t a, uint32_t b);
/* Is it an event of that action? */
bool ft_unfolding_is(const ft_unfolding *u, uint32_t event, const ft_x_action *action);
/* May what the operation becomes depend on the event? (ft_x_may_depend) */
bool ft_unfolding_may_depend(const ft_unfolding *u, uint32_t thread,
                             const ft_x_operation *operation, uint32_t event);

/* What the thread stands before in the configuration; *known false: it has not been seen there. A
 * thread that was not created yet, or has ended, stands before NONE. */
ft_x_operation ft_unfolding_pending(const ft_unfolding *u, const ft_configuration *c,
                                    uint32_t thread, bool *known);
/* Says what the event's thread stands before after it; for CREATE also the new thread. Must be the
 * same every time; false: it was said otherwise before. */
bool ft_unfolding_say_next(ft_unfolding *u, uint32_t event, const ft_x_operation *next);
bool ft_unfolding_say_first(ft_unfolding *u, uint32_t event, const ft_x_operation *first);

/* Says what the object holds before the first action on it. Must be the same every time; false: it
 * was said otherwise before. */
bool ft_unfolding_say_initial(ft_unfolding *u, uint32_t object, const ft_x_object *state);
/* What executions begin with, by object, *n of them; the rest hold 0. The unfolding's. */
const ft_x_object *ft_unfolding_initial(const ft_unfolding *u, uint32_t *n);

/* The event of the action in the configuration, which must enable it; its history is what it
 * depends on there, perhaps less than the configuration. */
uint32_t ft_unfolding_event(ft_unfolding *u, const ft_configuration *c, const ft_x_action *action);

/* The same where the history is known: all of it is what the action depends on. */
uint32_t ft_unfolding_event_of(ft_unfolding *u, const ft_configuration *history,
                               const ft_x_action *action);

/* Who holds the event's mutex behind it (thread + 1; 0: nobody), as a run showed. Operations on one
 * mutex follow each other, so in every configuration in which it is the last one of them. False: it
 * was not said. */
void ft_unfolding_say_owner(ft_unfolding *u, uint32_t event, uint32_t owner);
bool ft_unfolding_owner(const ft_unfolding *u, uint32_t event, uint32_t *owner);

/* The late events (action.h) of the configuration, in which no thread can do anything else; up to
 * FT_X_THREADS; returns how many there are. */
uint32_t ft_unfolding_late(ft_unfolding *u, const ft_configuration *c,
                           uint32_t events[FT_X_THREADS]);

/* Is the event in the configuration? */
bool ft_unfolding_holds(const ft_unfolding *u, const ft_configuration *c, uint32_t event);
/* Is the event's history (without itself) the whole configuration? */
bool ft_unfolding_is_history(const ft_unfolding *u, uint32_t event, const ft_configuration *c);
/* Adds the causes of the event to a configuration that does not exclude them. */
void ft_unfolding_join(const ft_unfolding *u, ft_configuration *c, uint32_t event);
/* Is the configuration with the event's causes a configuration? */
bool ft_unfolding_fits(const ft_unfolding *u, const ft_configuration *c, uint32_t event);
/* The configuration's events, causes first, if there is room for all of them; returns how many
 * there are. */
size_t ft_unfolding_list(const ft_unfolding *u, const ft_configuration *c, uint32_t *events,
                         size_t room);
/* The state behind the configuration, in objects that the unfolding owns until the next call. */
ft_x_state ft_unfolding_state(ft_unfolding *u, const ft_configuration *c);

/* Two events in direct conflict, as far as the search has met them: remembers the pair, both ways.
 */
void ft_unfolding_conflict(ft_unfolding *u, uint32_t a, uint32_t b);
/* Walks the events that conflict with the event: *at begins as 0; FT_X_NO_EVENT at the end. */
uint32_t ft_unfolding_next_conflict(const ft_unfolding *u, uint32_t event, uint32_t *at);

/* The invariant: clocks contain the clocks of what they name, numbers grow along causes, equal
 * events have one number. */
bool ft_unfolding_is_sound(const ft_unfolding *u);

#endif

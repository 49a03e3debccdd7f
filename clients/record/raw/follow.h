/* An order of actions that a recording follows: `foretell explore` writes it behind the log's limit
 * and the feed (raw.h), the runtime records the program under it, and reports there how far it got.
 *
 *   ft_follow, ft_follow_entry[entries], ft_follow_actor[actors], ft_follow_module[modules]
 *
 * An entry is one action (common/explore/action.h) of a run that was explored. A thread runs from
 * an action of its own to the next one without another thread in between; a hook that stands at the
 * place of its thread's next entry waits until that entry's turn. Behind the last entry, or where
 * the program does something else, threads are scheduled as in any recording. */
#ifndef FT_RECORD_FOLLOW_H
#define FT_RECORD_FOLLOW_H

#include <stdint.h>

enum { FT_FOLLOW_PATH = 256, FT_FOLLOW_NONE = UINT32_MAX };

typedef struct ft_follow {
    uint32_t entries, actors, modules;
    /* written by the runtime */
    uint32_t at;       /* entries that were done */
    uint32_t diverged; /* 1: the thread of entry `at` could not go on there */
} ft_follow;

typedef struct ft_follow_entry {
    uint32_t actor, kind; /* ft_x_kind */
    uint32_t variant;     /* SIGNAL: the waiter's actor + 1 */
    uint32_t module;      /* NONE: the place is not known */
    uint64_t offset;      /* of the call's return address, from the module's load address */
    uint64_t call;        /* on a descriptor, which has hooks of accesses at the same place: equal
                             ones of an actor are actions of one call; 0: another kind of call */
} ft_follow_entry;

typedef struct ft_follow_actor {
    uint32_t parent, child; /* the child-th thread of that actor, from 1; the first: NONE */
    uint32_t module;        /* as of an entry: where it stands when the last entry is done */
    uint32_t on_descriptor; /* 1: before a call on one */
    uint32_t waits; /* 1: there for ever, in a cycle: it goes on into the call before EXIT */
    uint64_t offset;
} ft_follow_actor;

typedef struct ft_follow_module {
    char path[FT_FOLLOW_PATH]; /* as the dynamic linker has it; "": the program itself */
} ft_follow_module;

#endif

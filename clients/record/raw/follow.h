/* An order of actions that a recording follows: `foretell explore`, and `foretell replay` of a
 * program's witness, write it behind the log's limit and the feed (raw.h), the runtime records the
 * program under it, and reports there how far it got.
 *
 *   ft_follow, ft_follow_entry[entries], ft_follow_actor[actors], ft_follow_module[modules],
 *   ft_follow_range[ranges], ft_follow_input[inputs]
 *
 * An entry is one action (common/explore/action.h) of a run that was explored. A thread runs from
 * an action of its own to the next one without another thread in between; a hook that stands at the
 * place of its thread's next entry waits until that entry's turn. Behind the last entry, or where
 * the program does something else, threads are scheduled as in any recording.
 *
 * A place is a set of addresses: one call, where the order is of this very build, or all code of a
 * source line. Lines have hooks of several kinds; entries of lines therefore say which hook they
 * are, and of which object. Objects are numbers: the first entry of an object ties it to the
 * address that the hook has. */
#ifndef FT_RECORD_FOLLOW_H
#define FT_RECORD_FOLLOW_H

#include <stdint.h>

enum {
    FT_FOLLOW_PATH = 256,
    FT_FOLLOW_NAME = 64,
    FT_FOLLOW_NONE = UINT32_MAX,
    FT_FOLLOW_BEGIN = 1 << 16 /* a kind beside ft_x_kind: the thread begins its function */
};

typedef struct ft_follow {
    uint32_t entries, actors, modules, ranges, inputs, objects;
    /* written by the runtime */
    uint32_t at;       /* entries that were done */
    uint32_t diverged; /* 1: the thread of entry `at` could not go on there */
    uint32_t given;    /* inputs that the program took */
} ft_follow;

/* Code of a module: the return addresses behind it. */
typedef struct ft_follow_range {
    uint64_t from, to; /* from <= return address - 1 - load address < to */
} ft_follow_range;

typedef struct ft_follow_place {
    uint32_t module;   /* NONE: the place is not known */
    uint32_t first, n; /* its ranges */
} ft_follow_place;

typedef enum ft_follow_hook {
    FT_FOLLOW_ANY_HOOK,
    FT_FOLLOW_CALL,   /* not of an access */
    FT_FOLLOW_READ,   /* of a plain read */
    FT_FOLLOW_WRITE,  /* of a plain write */
    FT_FOLLOW_ATOMIC, /* of an atomic access */
    FT_FOLLOW_ACCESS  /* any access */
} ft_follow_hook;

typedef struct ft_follow_entry {
    uint32_t actor, kind; /* ft_x_kind, or FT_FOLLOW_BEGIN */
    uint32_t variant;     /* SIGNAL: the waiter's actor + 1 */
    uint32_t hook;        /* ft_follow_hook */
    uint32_t object;      /* from 1; 0: any */
    ft_follow_place place;
    uint64_t call; /* on a descriptor, which has hooks of accesses at the same place: equal ones of
                      an actor are actions of one call; 0: another kind of call */
} ft_follow_entry;

typedef struct ft_follow_actor {
    uint32_t parent, child; /* the child-th thread of that actor, from 1; the first: NONE */
    ft_follow_place place;  /* where it stands when the last entry is done */
    uint32_t hook;          /* ft_follow_hook, there */
    uint32_t on_descriptor; /* 1: before a call on one */
    uint32_t waits; /* 1: there for ever, in a cycle: it goes on into the call before EXIT */
    uint32_t idle;  /* 1: it does not begin its function before the last entry is done */
} ft_follow_actor;

typedef struct ft_follow_module {
    char path[FT_FOLLOW_PATH]; /* as the dynamic linker has it; "": the program itself */
} ft_follow_module;

/* A value that the actor reads of an input by name; those of one actor and name in their order. */
typedef struct ft_follow_input {
    char name[FT_FOLLOW_NAME];
    uint32_t actor;
    uint32_t taken; /* by the runtime: 1 */
    uint64_t value;
} ft_follow_input;

#endif

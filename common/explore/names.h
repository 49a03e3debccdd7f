/* Names of configurations without an unfolding: what two runs have in common, by hashes.
 *
 * An event's name is a hash of its action and of the names of its history's last events (POR-SE §3:
 * an event is its action and history); a configuration's is a hash of its threads' last events. Two
 * runs that reach a configuration in different orders compute the same name. Names have 128 bits,
 * from a fixed seed: in a search of 10^9 configurations two share one with a probability under
 * 10^-20. They mean the same in every process, so they may be stored.
 *
 * `ft_x_walk` goes along a run step by step, with the states of objects, and says at each place
 * which actions are enabled and how the configurations behind them are named. */
#ifndef FT_EXPLORE_NAMES_H
#define FT_EXPLORE_NAMES_H

#include "explore/executor.h"

/* A set of names, each with a small number. Embedded: zero-initialise. */
typedef struct ft_x_names {
    struct ft_x_named {
        ft_x_name name;
        uint32_t value; /* 0: a free slot; else the number + 1 */
    } * slots;
    size_t len, cap;
} ft_x_names;

/* The place of the name's number + 1, 0 where it is new; valid until the next call. */
uint32_t *ft_x_names_slot(ft_x_names *all, ft_x_name name);
bool ft_x_names_has(const ft_x_names *all, ft_x_name name);
size_t ft_x_names_bytes(const ft_x_names *all);
void ft_x_names_release(ft_x_names *all);

/* An action that is enabled, and the configuration behind it. */
typedef struct ft_x_branch {
    ft_x_action action;
    ft_x_name name;
} ft_x_branch;

/* Embedded: zero-initialise; a walk may begin again and again. */
typedef struct ft_x_walk {
    const ft_x_run *run;
    size_t at;          /* steps that are done */
    uint32_t n_threads; /* all numbers are below it */
    ft_x_state state;
    uint32_t last[FT_X_THREADS];       /* by thread: its last step, from 1 */
    ft_x_name names[FT_X_THREADS];     /* and that event's name */
    ft_x_operation next[FT_X_THREADS]; /* what it stands before; NONE before it is created */
    struct ft_x_walked *steps;         /* of the steps that are done */
    uint32_t *clocks;
    size_t cap, clock_cap;
    ft_x_object *objects;
    uint32_t object_cap;
    FT_VEC(uint32_t) following;   /* by step: the thread's next one, from 1; 0: none */
    uint32_t first[FT_X_THREADS]; /* by thread: its first step, from 1 */
} ft_x_walk;

void ft_x_walk_begin(ft_x_walk *walk, const ft_x_world *world, const ft_x_run *run);
void ft_x_walk_release(ft_x_walk *walk);
/* Is the next step possible in the state at hand? False also if there is none. */
bool ft_x_walk_fits(const ft_x_walk *walk);
void ft_x_walk_step(ft_x_walk *walk);            /* the next step has to fit */
ft_x_name ft_x_walk_name(const ft_x_walk *walk); /* of the configuration at hand */
/* Can the thread go on? */
bool ft_x_walk_enables(const ft_x_walk *walk, uint32_t thread);
/* The actions that are enabled, up to `room`; returns how many there are. */
size_t ft_x_walk_branches(const ft_x_walk *walk, ft_x_branch *branches, size_t room);

#endif

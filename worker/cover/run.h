/* Runs of a program for covering schedules: a world of symbolic states in which a thread has the
 * same number in every run, and one path of it under a deterministic scheduler.
 *
 * The scheduler prefers an order (trace.h, prefer.h), lets the process end only when no other
 * thread can go on, lets a timed operation time out only when no thread can do anything else, and
 * wakes the waiter that has waited longest. */
#ifndef FT_COVER_RUN_H
#define FT_COVER_RUN_H

#include "cover/trace.h"

typedef struct cover_preference cover_preference; /* prefer.h */

typedef struct cover_world {
    const ft_program *program;
    ft_flow *flow;
    cover_markers markers; /* none, if the program as a whole is one epoch */
    ft_loops *loops;       /* taken as functions; NULL: none is */
    cover_control control;
    ft_sym_world *world;
    ft_term_pool *pool; /* of the world */
    /* Follows the run at hand. NULL: nobody does. */
    void (*follow)(void *follower, const ft_sym_state *state, const ft_sym_note *note);
    void *follower;
    ft_map children;    /* parent and nth -> number */
    uint32_t n_threads; /* that have a number */
    uint32_t n_roots;   /* the first of them: those that the epoch at hand begins with */
    struct {
        uint32_t parent, nth;
    } names[FT_SYM_THREADS];
    bool orders_arrivals; /* the program looks at which thread comes to a barrier last */
    cover_order order;
    cover_preference *preference; /* NULL: none */
    uint64_t seed, max_operations;
    const char *const *dynamic; /* NULL: no input is */
    bool (*should_stop)(void *context);
    void *context;
} cover_world;

typedef struct cover_world_options {
    bool prefix;
    bool epochs; /* epochs end at markers (markers.h); else the program as a whole is one */
    bool loops;  /* take loops as functions where that is possible (program/flow/loops.h) */
    cover_order order;
    uint64_t seed;
    /* Names of inputs that are not known when the program begins (schedules/dynamic.h), up to a
     * NULL; "*" stands for all. The caller's; may be NULL. */
    const char *const *dynamic;
    cover_preference *preference; /* comes before `order`; the caller's. May be NULL */
    uint64_t max_operations;      /* of a path; 0: 100,000 */
    /* Inputs that are given, as in ft_sym_options. */
    bool (*input)(void *context, const char *name, uint8_t width, uint64_t *value);
    bool (*should_stop)(void *context); /* may be NULL */
    void *context;
} cover_world_options;

void cover_world_init(cover_world *world, const ft_program *program,
                      const cover_world_options *options);
void cover_world_release(cover_world *world);
/* Names threads anew, for an epoch that begins with n: "0" to "n - 1". */
void cover_world_begin(cover_world *world, uint32_t n);
/* The number of the thread that is the nth (from 1) of its creator; FT_NO_ID: there are too many.
 */
uint32_t cover_world_child(cover_world *world, uint32_t parent, uint32_t nth);
/* "0.1.2" */
void cover_world_thread_name(const cover_world *world, uint32_t thread, ft_strbuf *name);
/* The number of the thread of that name; FT_NO_ID: it is not a name, or there are too many. */
uint32_t cover_world_thread(cover_world *world, const char *name);

/* May the world's schedules part where something is read (schedules/dynamic.h)? */
bool cover_world_is_tree(const cover_world *world);
bool cover_world_is_dynamic(const cover_world *world, const char *input);

/* A step that the world's threads have numbers for. */
void cover_step(cover_world *world, ft_sym_state *state, uint32_t thread, uint64_t variant);

/* One path under the conditions, which `trace` follows, from the state on in which an epoch begins
 * (NULL: the entry). It ends when every thread has come to a marker, waits or has ended. FT_OK:
 * *end, and *state, which the caller frees, is as it ended. FT_NOT_FOUND: no input satisfies the
 * conditions. FT_LIMIT, FT_UNSUPPORTED, FT_BUDGET: the path was left (err). */
ft_status cover_run(cover_world *world, const ft_sym_state *begin, const ft_term *conditions,
                    size_t n, cover_trace *trace, ft_schedule_end *end, ft_sym_state **state,
                    ft_error *err) FT_MUST_CHECK;

#endif

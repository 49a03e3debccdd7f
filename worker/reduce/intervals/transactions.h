/* Transactions that are mutually atomic (Ganai and Wang §3.2, §4 and appendix A), and the control
 * states between which a schedule has to switch.
 *
 * The lattice of two threads is the pairs of their control states. A pair is reachable where locks
 * and the order between threads let the two get there. Steps p and q are *dependent* where they
 * conflict and the pair behind both, (p + 1, q + 1), is reachable.
 *
 * A MAT from (f_i, f_j) is a pair of transactions, up to steps l_i and l_j, of which only the last
 * pair is dependent. GenMAT takes for l_j the first step of j that any later step of i depends on,
 * and for l_i the first such step. GenMAT' takes a larger rectangle where one of the two serial
 * orders cannot run: the least feasible one in which no run has a conflict that a serial order has
 * not. Where there is none it keeps GenMAT's; where no step is dependent, both go up to the ends.
 *
 * Two threads (Theorem 1): a worklist of pairs, from the start; the switches are those from the end
 * of one transaction to the beginning of the other. Three and more, and any that wait for each
 * other: that is not enough. There the *boundaries* of each thread, its start, its end and those
 * that steps.h demands, are closed: from each pair of boundaries of two threads the MAT's ends are
 * boundaries too. Switches go from any boundary to any other.
 *
 * Why it is enough: from a state with all threads at boundaries let i be the first whose block, up
 * to its next boundary, is finished. The other threads have executed strict prefixes of theirs.
 * Nothing in those conflicts with i's block and came before it: a MAT ends no earlier than a block.
 * So the block moves to the front. What is left unfinished in the end is independent, too.
 *
 * A switch (c_i, c_j) is feasible where (c_i - 1, c_j), (c_i, c_j) and (c_i, c_j + 1) are
 * reachable. */
#ifndef FT_INTERVALS_TRANSACTIONS_H
#define FT_INTERVALS_TRANSACTIONS_H

#include "reduce/intervals/steps.h"

typedef enum ft_mat_kind {
    FT_MAT_NONE,    /* every step is a transaction: the plain graph */
    FT_MAT_FIRST,   /* GenMAT */
    FT_MAT_FEASIBLE /* GenMAT' */
} ft_mat_kind;

typedef struct ft_mat {
    uint32_t i, j;    /* threads, i < j */
    uint32_t from[2]; /* control states of i and j */
    uint32_t to[2];   /* behind the last steps */
    bool is_fallback; /* GenMAT': none is feasible */
    bool is_open;     /* nothing is dependent: up to the ends */
} ft_mat;

typedef struct ft_switch {
    uint32_t from, from_state, to, to_state; /* threads and control states */
} ft_switch;

typedef struct ft_transactions {
    const ft_stepping *steps;
    FT_VEC(ft_mat) mats;        /* in the order in which they were found */
    FT_VEC(ft_switch) switches; /* sorted; feasible ones */
    uint32_t n_switches;        /* before the rule of three lattice points */
    uint32_t **boundaries;      /* per thread: control states, ascending, from 0 to the end */
    uint32_t *n_boundaries;
    struct ft_lattice **lattices; /* of threads i < j at i * threads + j */
} ft_transactions;

typedef struct ft_transactions_options {
    ft_mat_kind kind;
    bool pairwise;    /* switches of the pairs alone even for three threads: not adequate */
    bool no_fallback; /* not adequate */
    bool no_ends;     /* nothing for a pair without dependent steps: not adequate without a dummy */
    uint64_t work;    /* looks at lattice points, at most */
} ft_transactions_options;

/* NULL: it would be more work than that. The steps must outlive them. */
ft_transactions *ft_transactions_new(const ft_stepping *steps,
                                     const ft_transactions_options *options);
void ft_transactions_free(ft_transactions *transactions); /* accepts NULL */

/* Can threads i and j be at these control states at once? */
bool ft_transactions_reach(const ft_transactions *transactions, uint32_t i, uint32_t p, uint32_t j,
                           uint32_t q);

/* Boundaries ascend from 0 to the end of each thread; switches lie between them. */
bool ft_transactions_are_sound(const ft_transactions *transactions);

#endif

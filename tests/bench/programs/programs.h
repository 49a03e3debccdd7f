/* The programs of the papers' tables, written anew after their descriptions, run by the machine of
 * sim.h. One source serves every size: those of the tables, and those small enough for the tests'
 * oracle. Each run passes; what it almost hit is for the predictor to find. */
#ifndef FT_BENCH_PROGRAMS_H
#define FT_BENCH_PROGRAMS_H

#include "trace/trace.h"

/* What each member means is said by the program's row. */
typedef struct ft_program_shape {
    uint32_t threads; /* main apart */
    uint32_t size, rounds;
    uint32_t variant; /* 0: the correct program, unless said otherwise */
} ft_program_shape;

/* name, what it is. `size`, `rounds` and variants in that order. */
#define FT_PROGRAM_TABLE(X)                                                                        \
    X(banking, "transfers between two accounts, whose sum main asserts after the joins; rounds: "  \
               "transfers a thread; variant 1: balance read and written in two sections")          \
    X(indexer,                                                                                     \
      "messages put into a hash table by compare-and-swap under the entry's lock; size: "          \
      "entries; rounds: messages a thread; main asserts what one entry holds; variant 1: "         \
      "before joining the threads")                                                                \
    X(atom001, "a log closed and opened again while another thread logs; variant 1: the logger "   \
               "waits for a flag")                                                                 \
    X(atom002, "a string put into a shared log buffer, its length updated at the end; size: its "  \
               "length; variant 1: the other writer waits for a flag")                             \
    X(bank, "transfers around a ring of accounts, each half a transaction that looks first; "      \
            "variant 0: as it is (av), 1: every other account reserved by a flag (sav), 2: all "   \
            "(nav)")                                                                               \
    X(buffer, "bounded buffer; size: slots; rounds: items a producer; variant 1: the count is "    \
              "updated without the lock")                                                          \
    X(philosophers, "dining philosophers with a doorman; rounds: meals; variant 1: everybody "     \
                    "takes the left fork first and there is no doorman")                           \
    X(barrier,                                                                                     \
      "cells written, then the neighbour's read, barriers between; rounds: phases; "               \
      "variant 1: no barrier after the reads, 2: the system's barrier instead of one made here")   \
    X(account, "each account pays into the next; main asserts the total; variant 1: the payee's "  \
               "lock is forgotten")                                                                \
    X(elevator, "lifts that poll and claim calls under each floor's lock; size: floors; rounds: "  \
                "steps a lift")                                                                    \
    X(tsp, "branch and bound with a shared best length, read without a lock; size: cities; "       \
           "rounds: tours a worker; variant 1: checked again before it is lowered, 0: not")        \
    X(sync, "counters under two nested locks; rounds: increments a thread")                        \
    X(nested, "two threads, each in a lock of its own after the other's; variant 1: one of them "  \
              "takes them one after the other")                                                    \
    X(agent, "two tasks that wake each other through counting events; rounds: of each; variant "   \
             "1: the count is looked at without the monitor")                                      \
    X(pool, "connections handed out by a monitor; size: connections; variant 1: given back "       \
            "before the last use")                                                                 \
    X(token, "a token that goes round a ring of monitors; rounds: laps; variant 1: what it "       \
             "guards is read again after it is gone")

#define FT_PROGRAM_DECLARE(name, doc) ft_trace *ft_program_##name(const ft_program_shape *shape);
FT_PROGRAM_TABLE(FT_PROGRAM_DECLARE)
#undef FT_PROGRAM_DECLARE

#endif

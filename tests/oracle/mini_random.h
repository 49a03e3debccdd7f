/* Random programs of the small language (mini.h), free of races: a shared variable gK is used
 * inside of lock K alone, arrays inside of lock 0, inputs are only read, the rest belongs to the
 * thread. */
#ifndef FT_TESTS_MINI_RANDOM_H
#define FT_TESTS_MINI_RANDOM_H

#include "base/strbuf.h"

typedef struct mini_features {
    bool arrays, loops, asserts, returns, computed_locks, conditions, barriers, children, endless,
        late, counting, rounds;
} mini_features;

/* The text of a program of two or three threads; inputs have one or two bits, four in all. */
void mini_random(uint64_t seed, mini_features features, ft_strbuf *text);
mini_features mini_random_features(uint64_t seed); /* some of them */

#endif

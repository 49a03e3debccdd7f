/* Contracts: how code states what must hold, and stops at once where it does not.
 *
 * Three kinds, so that they can be counted apart:
 *   FT_REQUIRE(condition)  the caller's part: an argument is not NULL, an index is in range
 *   assert(condition)      state: what an algorithm, a pass or a data structure relies on; O(1)
 *   FT_CHECK(condition)    the same where it costs more than O(1): a whole structure is walked
 *
 * FT_REQUIRE and assert stay in every build, release too. FT_CHECK runs in builds that define
 * FT_CHECKED (debug, sanitizers, fuzzing and the library with planted faults); elsewhere the
 * compiler type-checks its condition and drops it. A data structure's checker is a function
 * `bool ft_<module>_is_sound(const ft_<module> *)` that returns false at the first violation;
 * its module calls FT_CHECK(ft_<module>_is_sound(x)) on entry and exit of what changes x.
 *
 * A contract is for our own mistakes. What a user, a file or the network can cause is a status
 * (base/status.h), never a contract. */
#ifndef FT_BASE_CONTRACT_H
#define FT_BASE_CONTRACT_H

#include <assert.h>

#define FT_REQUIRE(condition) assert(condition)

#ifdef FT_CHECKED
#define FT_CHECK(condition) assert(condition)
#else
#define FT_CHECK(condition) ((void)sizeof((condition) ? 1 : 0))
#endif

#endif

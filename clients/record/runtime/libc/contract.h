/* Contracts of the runtime: the kinds of base/contract.h, with an end that fits a recorded program.
 *
 *   FT_REQUIRE(condition)  the caller's part: an argument is in range, it has the baton
 *   assert(condition)      state: what the runtime relies on; O(1)
 *   FT_CHECK(condition)    the same where it costs more, in builds that define FT_CHECKED
 *
 * A broken contract is an error of the recorder, never of the program. It prints the place and the
 * condition by the system call and ends the process: no function of the C library is called, so
 * none of the program's locks, handlers or hooks is involved. The short way (log/hot.h) has no
 * contracts but FT_CHECK.
 *
 * A forked child may return through hooks that its parent was in. It is not recorded and has no
 * baton, so contracts do not hold there, and are not checked. */
#ifndef FT_RECORD_CONTRACT_H
#define FT_RECORD_CONTRACT_H

#pragma GCC visibility push(hidden)

/* Ends the process with exit status FT_RT_BROKEN; returns in a forked child. */
void ft_rt_contract_broken(const char *what) __attribute__((cold));

#pragma GCC visibility pop

enum { FT_RT_BROKEN = 87 };

#define FT_RT_TEXT(x)   FT_RT_TEXT_1(x)
#define FT_RT_TEXT_1(x) #x

#undef assert
#define assert(condition)                                                                          \
    (__builtin_expect(!!(condition), 1)                                                            \
         ? (void)0                                                                                 \
         : ft_rt_contract_broken(__FILE_NAME__ ":" FT_RT_TEXT(__LINE__) ": " #condition))

#define FT_REQUIRE(condition) assert(condition)

#ifdef FT_CHECKED
#define FT_CHECK(condition) assert(condition)
#else
#define FT_CHECK(condition) ((void)sizeof((condition) ? 1 : 0))
#endif

#endif

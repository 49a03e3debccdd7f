/* Claims that are listed one by one: those of the checks lock, deadlock,
 * order and failure, which are few.
 *
 * Each belongs to the group of its check, kind and unordered locations, like the claims of the
 * other checks; with more than FT_MAX_LISTED_CLAIMS of them in a job the rest is reported as
 * undecided. */
#ifndef FT_CANDIDATE_LISTED_H
#define FT_CANDIDATE_LISTED_H

#include "candidate/candidate.h"

#define FT_MAX_LISTED_CLAIMS 200000u

/* Kinds of the groups of these checks: name, check. */
#define FT_LISTED_TABLE(X)                                                                         \
    X(DOUBLE_LOCK, "double-lock", LOCK)                                                            \
    X(DOUBLE_UNLOCK, "double-unlock", LOCK)                                                        \
    X(UNLOCK_BY_STRANGER, "unlock-by-stranger", LOCK)                                              \
    X(CYCLE, "cycle", DEADLOCK)                                                                    \
    X(LOST_WAKEUP, "lost-wakeup", DEADLOCK)                                                        \
    X(SEMAPHORE, "semaphore", DEADLOCK)                                                            \
    X(BARRIER, "barrier", DEADLOCK)                                                                \
    X(JOIN, "join", DEADLOCK)                                                                      \
    X(FORK, "fork", DEADLOCK)                                                                      \
    X(USE_AFTER_FREE, "use-after-free", ORDER)                                                     \
    X(DOUBLE_FREE, "double-free", ORDER)                                                           \
    X(UNINITIALISED, "uninitialised", ORDER)                                                       \
    X(EXIT_CODE, "exit-code", FAILURE)                                                             \
    X(SIGNAL, "signal", FAILURE)                                                                   \
    X(HANG, "hang", FAILURE)                                                                       \
    X(LIVE_LOCK, "live-lock", FAILURE)                                                             \
    X(ORACLE, "oracle", FAILURE)                                                                   \
    X(OUTPUT, "output", FAILURE)
typedef enum ft_listed_kind {
#define FT_ROW(symbol, name, check) FT_LISTED_##symbol,
    FT_LISTED_TABLE(FT_ROW)
#undef FT_ROW
        FT_LISTED_KINDS
} ft_listed_kind;
const char *ft_listed_kind_name(ft_listed_kind kind);

/* Accounts one claim: refuted for `reason` (with the lock that did it, or UINT32_MAX), or surviving
 * (FT_REASONS). Claims with an event at an ignored location are left out. */
void ft_candidates_list(ft_candidates *candidates, ft_listed_kind kind, const ft_claim *claim,
                        ft_reason reason, uint32_t lock);
/* Likewise a block of `count` claims at the same locations; `claim` is one of them. */
void ft_candidates_list_block(ft_candidates *candidates, ft_listed_kind kind, const ft_claim *claim,
                              ft_reason reason, uint32_t lock, uint64_t count, ft_block block);

#endif

/* The task of a run, and how a run ends: apart from executor.h, for programs that link nothing of
 * this library. */
#ifndef FT_EXPLORE_PICK_H
#define FT_EXPLORE_PICK_H

#include "explore/objects.h"

/* How a run ended. */
#define FT_X_END_TABLE(X)                                                                          \
    X(DONE, "done", "every thread has ended, or the process has")                                  \
    X(STUCK, "stuck", "some thread has not ended, and none can go on")                             \
    X(CUT, "cut", "the bound on steps was reached")                                                \
    X(STRAYED, "strayed", "the program did not follow the prefix")                                 \
    X(INFEASIBLE, "infeasible", "its last step is a branch that no input takes after the others")  \
    X(DISCARDED, "discarded", "an assumption of the program does not hold")

typedef enum ft_x_end {
#define FT_ROW(symbol, name, doc) FT_X_##symbol,
    FT_X_END_TABLE(FT_ROW)
#undef FT_ROW
        FT_X_ENDS
} ft_x_end;

typedef struct ft_x_pick {
    uint16_t thread;
    uint64_t variant;
} ft_x_pick;

#endif

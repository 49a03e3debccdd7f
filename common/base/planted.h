/* Planted faults, for the tests of the tests: mistakes behind a switch, each a row of its module's
 * table (faults.h), which a test must notice. */
#ifndef FT_BASE_PLANTED_H
#define FT_BASE_PLANTED_H

#include <stdbool.h>

/* For an enum <name>_kind: with FT_FAULTS the variable <name>, which the module defines, is the
 * fault that is planted, and <name>_is asks for one. Without it <name>_is is constantly false, and
 * the compiler drops the mistakes. */
#ifdef FT_FAULTS
#define FT_PLANTED(name)                                                                           \
    extern name##_kind name;                                                                       \
    static inline bool name##_is(name##_kind kind)                                                 \
    {                                                                                              \
        return name == kind;                                                                       \
    }
#else
#define FT_PLANTED(name)                                                                           \
    static inline bool name##_is(name##_kind kind)                                                 \
    {                                                                                              \
        (void)kind;                                                                                \
        return false;                                                                              \
    }
#endif

#endif

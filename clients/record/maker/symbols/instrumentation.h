/* What an ELF file says of its own instrumentation: whether it calls hooks, and how much inline
 * assembly foretell-as had to leave without them. */
#ifndef FT_RECORD_INSTRUMENTATION_H
#define FT_RECORD_INSTRUMENTATION_H

#include <stdbool.h>
#include <stdint.h>

#include "raw/assembly.h"

typedef struct ft_instrumentation {
    bool calls_hooks; /* a library that expects them from the program: its locks are recorded */
    uint64_t unseen;  /* instructions of inline assembly that order threads without a hook */
    char place[FT_ASSEMBLY_PLACE_ROOM]; /* of the first of them; "": not known */
} ft_instrumentation;

/* False: the file is not readable as ELF, and all of *found is zero. */
bool ft_instrumentation_read(const char *path, ft_instrumentation *found);

#endif

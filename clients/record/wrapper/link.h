/* What the wrapper adds to the link of a program or library.
 *
 * A program gets the recorder's runtime, as a whole. The calls of the C library's functions in
 * wrapped.h are linked away to the runtime (--wrap). Where the program or library defines a
 * function of such a name itself, its calls are its own: after the link, ft_link_see looks which of
 * the names the output defines, and the link is done again without those. */
#ifndef FT_WRAPPER_LINK_H
#define FT_WRAPPER_LINK_H

#include <stdbool.h>

#include "command.h"
#include "wrapped.h"

enum {
#define FT_ROW(name) FT_WRAPPED_##name,
    FT_WRAPPED_TABLE(FT_ROW)
#undef FT_ROW
        FT_WRAPPED_COUNT
};

typedef struct ft_link {
    const char *runtime;        /* the runtime's archive */
    const char *libc;           /* the archive by which it still calls the C library's functions
                                 * whose names the program defines (libc_names.c) */
    bool shared;                /* of a library, which has no runtime of its own */
    bool language;              /* an -x is in force where the runtime is added */
    bool chosen_libraries;      /* the C library is not linked by default */
    bool own[FT_WRAPPED_COUNT]; /* names that the program or library defines itself */
    bool any_own;
} ft_link;

void ft_link_add(const ft_link *link, ft_command *command);

/* Finds the names that the output of a link defines itself; true: there are some that were not
 * known before, so that it has to be linked again. A file that is not a 64-bit ELF file has none.
 */
bool ft_link_see(ft_link *link, const char *output);

#endif

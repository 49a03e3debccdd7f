/* foretell-cc --symbolic: clang to bitcode, foretell-instrument, clang to an object, file by file.
 */
#ifndef FT_WRAPPER_SYMBOLIC_H
#define FT_WRAPPER_SYMBOLIC_H

#include <stdbool.h>

#include "link.h"

typedef struct ft_build {
    const char *compiler, *folder; /* clang, and where the wrapper lies */
    const char *include;           /* the recorder's headers */
    const char *assembler;         /* the folder of its assembler */
    ft_link *link;                 /* of a program or library */
    bool links;                    /* the command line asks for one */
    bool strict;                   /* that has no undefined symbols */
    bool other;                    /* for nothing that is run (-E ...) */
    int argc;
    const char **argv; /* [1 ..] as given, without --symbolic, response files in full */
} ft_build;

/* Does what the command line asks for; the exit code. */
int ft_symbolic_build(const ft_build *build);

#endif

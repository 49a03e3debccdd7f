/* foretell-cc --symbolic: clang to bitcode, foretell-instrument, clang to an object, file by file.
 */
#ifndef FT_WRAPPER_SYMBOLIC_H
#define FT_WRAPPER_SYMBOLIC_H

#include <stdbool.h>

typedef struct ft_build {
    const char *compiler, *folder;            /* clang, and where the wrapper lies */
    const char *include;                      /* the recorder's headers */
    const char *assembler;                    /* the folder of its assembler */
    const char *runtime;                      /* its archive */
    const char *const *before, *const *after; /* what stands around the archive in a link */
    const char *const *needed; /* behind that, or NULL: the libraries are by default */
    const char *const *all;    /* what each link gets, of a library too */
    bool links, shared;        /* the command line asks for a program or library; for a library */
    bool strict;               /* that has no undefined symbols */
    bool other;                /* for nothing that is run (-E ...) */
    int argc;
    const char **argv; /* [1 ..] as given, without --symbolic, response files in full */
} ft_build;

/* Does what the command line asks for; the exit code. */
int ft_symbolic_build(const ft_build *build);

#endif

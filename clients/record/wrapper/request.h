/* What a compiler's command line asks for, as far as the wrapper needs to know.
 *
 * Only the last of contradicting options counts, as for the compiler. */
#ifndef FT_WRAPPER_REQUEST_H
#define FT_WRAPPER_REQUEST_H

#include <stdbool.h>

#include "command.h"

typedef struct ft_request {
    bool links;         /* a program or library is linked; not -c, -r, -E, precompiled headers */
    bool other;         /* the output is not code: -E, -fsyntax-only, ... */
    bool shared;        /* a library is linked */
    bool fixed;         /* linked without shared libraries */
    bool starts_itself; /* the C library's startup files are neither linked by default nor named */
    bool chosen_libraries; /* only named libraries are linked: -nodefaultlibs, ... */
    bool own_library;      /* the C++ library is part of the program: -static-libstdc++ */
    bool dialect;          /* the syntax of inline assembly is given: -masm=... */
    bool narrow;           /* the target has fewer than 64 bits */
    bool has_input;        /* files, or standard input */
    bool strict;           /* undefined symbols are errors in libraries too (-z defs) */
    bool language;         /* -x is in force at its end */
    bool lto;              /* link-time optimisation */
    bool assembles;        /* a source is assembler */
    const char *output;    /* -o, NULL: a.out */
    const char *sanitizer; /* a list with sanitizers other than the thread sanitizer, NULL: none */
} ft_request;

/* The arguments (argv[1 ..]) with the content of response files (@FILE); never freed. */
ft_command ft_request_expand(int argc, char **argv);
ft_request ft_request_understand(const ft_command *arguments);

#endif

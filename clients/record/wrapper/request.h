/* What a compiler's command line asks for, as far as it decides what the wrapper adds. */
#ifndef FT_WRAPPER_REQUEST_H
#define FT_WRAPPER_REQUEST_H

#include <stdbool.h>

#include "command.h"

typedef struct ft_request {
    bool links;            /* to a program or library; not -c, -r, -E, precompiled headers ... */
    bool other;            /* nothing that is run comes out: -E, -fsyntax-only, ... */
    bool shared;           /* to a library */
    bool fixed;            /* without shared libraries */
    bool starts_itself;    /* without the C library's startup files: neither by default nor named */
    bool chosen_libraries; /* with no library but those that are named: -nodefaultlibs ... */
    bool own_library;      /* a C++ library that is part of the program: -static-libstdc++ */
    bool dialect;          /* it says the syntax of inline assembly: -masm=... */
    bool narrow;           /* for processors or pointers of fewer than 64 bits */
    bool has_input;        /* files, or standard input */
    bool strict;           /* undefined symbols are errors in libraries too (-z defs) */
    bool language;         /* -x is in force at its end */
    bool lto;              /* link-time optimisation */
    bool assembles;        /* a source is one of assembler */
    const char *output;    /* -o, NULL: a.out */
    const char *sanitizer; /* a list with others than ours, NULL: none */
} ft_request;

/* The arguments (argv[1 ..]) with response files (@FILE) in full, for ever. */
ft_command ft_request_expand(int argc, char **argv);
ft_request ft_request_understand(const ft_command *arguments);

#endif

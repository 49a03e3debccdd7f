/* Variables of a program's file by name: global and static ones, and each thread's own, from its
 * symbol table (libelf). Of several with one name those count that its debug information has.
 *
 * A name may also be one of clang's and LLVM's: FUNCTION.NAME is a static variable of a function,
 * and a number behind another dot was added where something else had the name (`round.7`). These
 * the debug information has. */
#ifndef FT_RECORD_VARIABLES_H
#define FT_RECORD_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct ft_variable {
    const char *name; /* borrowed */
    bool own;         /* each thread has one */
    /* found: */
    uint32_t count;  /* how many have the name; 0: none, and the rest is not set */
    int64_t address; /* from the file's load address; own: from the thread pointer */
    uint64_t size;   /* of several the largest */
} ft_variable;

/* Fills what is found of each of the n variables. FT_INPUT: the file has no symbol table. */
ft_status ft_variables_find(const char *program, ft_variable *variables, size_t n,
                            ft_error *err) FT_MUST_CHECK;

#endif

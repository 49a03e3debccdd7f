/* The functions of a program, inlined ones included, by address (libdw). */
#ifndef FT_RECORD_FUNCTIONS_H
#define FT_RECORD_FUNCTIONS_H

#include <elfutils/libdw.h>
#include <stdbool.h>

typedef struct ft_functions ft_functions;

ft_functions *ft_functions_new(void);
void ft_functions_free(ft_functions *functions); /* accepts NULL */

/* The name of the innermost function of the compilation unit around the address, which is one of
 * the file; borrowed from its debug information. NULL: there is none that has a name. */
const char *ft_functions_at(ft_functions *functions, Dwarf_Die *unit, Dwarf_Addr address);
/* A line, and the function that it is in. */
typedef struct ft_code_line {
    const char *file, *function; /* borrowed from the debug information; function: may be NULL */
    int number;
} ft_code_line;

/* Where calls around the address are written that the compiler made no calls of: the innermost in a
 * file that `skips` (asked with its path) does not skip. False: there is none. */
bool ft_functions_written_at(ft_functions *functions, Dwarf_Die *unit, Dwarf_Addr address,
                             bool (*skips)(const char *file), ft_code_line *line);
/* That function's entry itself, which is not inlined; false: there is none. */
bool ft_functions_die(ft_functions *functions, Dwarf_Die *unit, Dwarf_Addr address,
                      Dwarf_Die *function);

#endif

/* Functions of a program by address, inlined ones included, from debug information (libdw). */
#ifndef FT_RECORD_FUNCTIONS_H
#define FT_RECORD_FUNCTIONS_H

#include <elfutils/libdw.h>
#include <stdbool.h>

typedef struct ft_functions ft_functions;

ft_functions *ft_functions_new(void);
void ft_functions_free(ft_functions *functions); /* accepts NULL */

/* The name of the innermost function around the address of the file, in that compilation unit;
 * borrowed from the debug information. NULL: none has a name. */
const char *ft_functions_at(ft_functions *functions, Dwarf_Die *unit, Dwarf_Addr address);

/* A source line, and the function that it is in. */
typedef struct ft_code_line {
    const char *file, *function; /* borrowed from the debug information; function: may be NULL */
    int number;
} ft_code_line;

/* Of the inlined calls around the address, finds the innermost one written in a file that `skips`
 * returns false for. False: there is none. */
bool ft_functions_written_at(ft_functions *functions, Dwarf_Die *unit, Dwarf_Addr address,
                             bool (*skips)(const char *file), ft_code_line *line);
/* The entry of the function around the address that is not inlined; false: there is none. */
bool ft_functions_die(ft_functions *functions, Dwarf_Die *unit, Dwarf_Addr address,
                      Dwarf_Die *function);

#endif

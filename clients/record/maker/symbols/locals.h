/* The variables that a function has in its frame, from debug information (libdw). */
#ifndef FT_RECORD_LOCALS_H
#define FT_RECORD_LOCALS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* The variable or parameter of the function, of that compilation unit, that lies `distance` bytes
 * from where its frame pointer points to, and how far into it that is. Of several that the compiler
 * put there the one of the innermost block around `pc` (an address of the file). False: there is
 * none with a name, or the function may have no frame pointer (gcc's, optimised). */
bool ft_locals_find(Dwarf_Die *unit, Dwarf_Die *function, Dwarf_Addr pc, int64_t distance,
                    Dwarf_Die *variable, uint64_t *offset);

#endif

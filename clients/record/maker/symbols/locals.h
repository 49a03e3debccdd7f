/* Locals: the variables of a function in its stack frame, from debug information (libdw). */
#ifndef FT_RECORD_LOCALS_H
#define FT_RECORD_LOCALS_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* Finds the variable or parameter of the function, in that compilation unit, that lies `distance`
 * bytes from the address in its frame pointer, and the offset in it. If several share the place,
 * the one of the innermost block around `pc` (an address of the file) counts. False: none has a
 * name, or the function may have no frame pointer (optimised by gcc). */
bool ft_locals_find(Dwarf_Die *unit, Dwarf_Die *function, Dwarf_Addr pc, int64_t distance,
                    Dwarf_Die *variable, uint64_t *offset);

#endif

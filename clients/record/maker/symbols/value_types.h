/* How people see the values of a variable (term/type.h), from the type that debug information gives
 * it (libdw): its sign, whether it is a pointer, a float, a truth value or a letter. */
#ifndef FT_RECORD_VALUE_TYPES_H
#define FT_RECORD_VALUE_TYPES_H

#include <elfutils/libdw.h>

#include "term/type.h"

/* Of a type without names and qualifiers (ft_members_type); FT_TYPE_NONE: a structure, or a number
 * of an unusual size. */
ft_type ft_value_types_of(Dwarf_Die *type);
/* The same for a variable of that name: an unsigned number that is called flags, mask or bits is
 * one of flags. */
ft_type ft_value_types_named(ft_type type, const char *name);

#endif

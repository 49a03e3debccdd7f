/* Names for what lies inside of a variable: members of structures, elements of arrays (libdw). */
#ifndef FT_RECORD_MEMBERS_H
#define FT_RECORD_MEMBERS_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

#include "base/strbuf.h"
#include "term/type.h"

typedef struct ft_members ft_members;

ft_members *ft_members_new(void);
void ft_members_free(ft_members *members); /* accepts NULL */

/* Adds ".next[3].count" for the byte at `offset` in the variable at `address` of the module, and
 * "+2" for what it knows no name for; nothing for the first byte of a plain variable. The type of
 * the value that begins at that byte; FT_TYPE_NONE: none does, or it is a part of one. */
ft_type ft_members_name(ft_members *members, Dwfl_Module *module, uint64_t address, uint64_t offset,
                        ft_strbuf *name);
/* The same of a variable that is known already. */
ft_type ft_members_inside(Dwarf_Die *variable, uint64_t offset, ft_strbuf *name);
/* The same of memory that begins with a value of that type. */
ft_type ft_members_of_type(Dwarf_Die *type, uint64_t offset, ft_strbuf *name);
/* The type of a variable or member, of what a pointer points to, or an array is made of: without
 * names and qualifiers. False: it has none. */
bool ft_members_type(Dwarf_Die *die, Dwarf_Die *type);
/* Adds "+2" alone; nothing for offset 0. */
void ft_members_offset(uint64_t offset, ft_strbuf *name);

#endif

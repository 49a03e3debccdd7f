/* Of which type a block of memory is, told by the line of its program that asks for it: that of
 * what is assigned there, or of what it takes the size of. The compiler's debug information does
 * not say it; the line and the block's size together rarely lie. (libdw)
 *
 *   struct queue *q = calloc(1, sizeof *q);     what q points to
 *   self->slots[i].first = malloc(n);           what the member points to
 *   return new Job(name);                       Job
 */
#ifndef FT_RECORD_POINTEES_H
#define FT_RECORD_POINTEES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct ft_pointees ft_pointees;

ft_pointees *ft_pointees_new(void);
void ft_pointees_free(ft_pointees *pointees); /* accepts NULL */

/* Where the block is asked for. */
typedef struct ft_asked_block {
    Dwarf_Die *unit, *function; /* that have the call */
    Dwarf_Addr address;         /* of the call, one of the file */
    const char *line;           /* the statement there, as text; not NULL */
    uint64_t size;              /* of the block, in bytes, with what nobody asked for at its end */
} ft_asked_block;

/* What lies in the block from its beginning on. */
typedef struct ft_pointee {
    Dwarf_Die type;
    uint64_t size; /* of the type */
    bool plain;    /* a number or a pointer */
    bool several;  /* one behind the other; else once, and what is behind it is not known */
} ft_pointee;

/* False: that cannot be told, or does not fit to the block's size. */
bool ft_pointees_find(ft_pointees *pointees, const ft_asked_block *block, ft_pointee *pointee);

#endif

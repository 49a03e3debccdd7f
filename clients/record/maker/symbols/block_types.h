/* Block types: the type of a heap block, from the source line that allocates it: the type that is
 * assigned to there, or whose size is taken. Debug information does not have it; the line and the
 * block's size together are rarely wrong. (libdw)
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

/* An allocation site. */
typedef struct ft_asked_block {
    Dwarf_Die *unit, *function; /* that have the call */
    Dwarf_Addr address;         /* of the call, one of the file */
    const char *line;           /* the statement there, as text; not NULL */
    uint64_t size;              /* of the block, in bytes, padding at its end included */
} ft_asked_block;

/* The type that a block begins with. */
typedef struct ft_pointee {
    Dwarf_Die type;
    uint64_t size; /* of the type */
    bool plain;    /* a number or a pointer */
    bool several;  /* an array of it; else one, and what follows it is not known */
} ft_pointee;

/* False: the line has no type, or one that does not fit the block's size. */
bool ft_pointees_find(ft_pointees *pointees, const ft_asked_block *block, ft_pointee *pointee);

#endif

/* Ordered cells (ft_cell.ordered) of a recording with terms: which thread's terms they hold, and
 * which terms threads have still to publish. Owner: ordered_cells.c. */
#ifndef FT_RECORD_MAKER_ORDERED_CELLS_H
#define FT_RECORD_MAKER_ORDERED_CELLS_H

#include "base/memory.h"

typedef struct ft_ordered_cell {
    uint32_t loc, context; /* of the write that is to be published */
    uint16_t holder;       /* the thread whose terms memory has there (terms/symbolic_memory.h) */
    uint16_t waits; /* the thread in whose list of unpublished cells it is, + 1; 0: in none */
    bool named;     /* it has a variable */
    bool published; /* the trace has the last write: it gave the cell a term */
} ft_ordered_cell;

typedef FT_VEC(uint32_t) ft_cell_list;

typedef struct ft_ordered_cells {
    ft_ordered_cell *all;             /* by cell; NULL: recorded without terms */
    FT_VEC(ft_cell_list) unpublished; /* by thread: cells that it may have to publish */
} ft_ordered_cells;

void ft_ordered_cells_release(ft_ordered_cells *cells);

#endif

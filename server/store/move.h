/* Moving a whole store to another database, of the same kind or the other one.
 *
 * Tables are copied one after the other, each in the order of its key, some rows in a transaction;
 * what was interrupted goes on behind the last row that is there. Then every row of both is read
 * and compared. Until that went well no daemon opens the new store. */
#ifndef FT_STORE_MOVE_H
#define FT_STORE_MOVE_H

#include <stdint.h>

#include "base/status.h"

/* Progress for people; one call a table and phase. */
typedef void (*ft_move_report)(void *data, const char *table, const char *what, int64_t rows);

/* Places: sqlite:FOLDER, or postgresql://... Nobody may use either (FT_CONFLICT). FT_USAGE: no
 * place. FT_CONFLICT: the target has another store's rows. FT_IO: a row of the target differs. */
ft_status ft_store_move(const char *from, const char *to, ft_move_report report, void *data,
                        ft_error *err) FT_MUST_CHECK;

#endif

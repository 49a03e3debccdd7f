/* Questions on inputs: can these conditions hold together?
 *
 * A question is cut to its slice: the conditions that share inputs with the one that is asked for,
 * directly or through others. (The others can hold, by themselves: the caller knows.) Then it is
 * looked up: the same question, one of the newest models that satisfies it, a core that it
 * contains. Z3 is asked last. The same question gets the same answer in the life of a path, also
 * UNKNOWN, so that executions repeat. */
#ifndef FT_SYMBOLIC_PATH_H
#define FT_SYMBOLIC_PATH_H

#include "solve/session.h"
#include "symbolic/state.h"

typedef struct sym_path sym_path;

typedef struct sym_assigned {
    ft_symbol symbol;
    uint64_t bits;
} sym_assigned;

typedef struct sym_reply {
    ft_answer answer;
    const sym_assigned *model; /* SAT: of the slice's inputs; valid until the next question */
    uint32_t n_model;
} sym_reply;

sym_path *sym_path_new(ft_term_pool *pool, uint32_t timeout_ms);
void sym_path_free(sym_path *p);
/* Declares an input: its width. Symbols are 0, 1, ... */
void sym_path_declare(sym_path *p, ft_symbol symbol, uint8_t width);
/* Can `asked` hold with the n conditions, which can hold? */
sym_reply sym_path_ask(sym_path *p, const ft_term *conditions, uint32_t n, ft_term asked);
/* Does the term hold for the inputs (by symbol, 0 behind n)? */
bool sym_path_holds(const sym_path *p, ft_term term, const uint64_t *inputs, size_t n);
uint64_t sym_path_eval(const sym_path *p, ft_term term, const uint64_t *inputs, size_t n);
/* The values that a BitVec term can have, ascending, at most `room`; *more: there are more, and
 * these are the smallest. False: unknown. */
bool sym_path_values(sym_path *p, const ft_term *conditions, uint32_t n, ft_term term,
                     uint64_t *values, uint32_t room, uint32_t few, uint32_t *count, bool *more);
ft_sym_counts sym_path_counts(const sym_path *p);
/* The n-th question (from 0) that was left open: its conditions, *count of them; NULL: no more. */
const ft_term *sym_path_open(const sym_path *p, size_t n, uint32_t *count);

#endif

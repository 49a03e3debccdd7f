/* Literals and answers, the same for every solver. A literal is a nonzero integer, v or -v for
 * variable v; FT_LIT_TRUE and its negation are constants. */
#ifndef FT_SOLVE_CDCL_LITERAL_H
#define FT_SOLVE_CDCL_LITERAL_H

#include <stdint.h>

typedef int32_t ft_lit;
#define FT_LIT_TRUE  1
#define FT_LIT_FALSE (-1)

typedef enum ft_answer { FT_ANSWER_SAT, FT_ANSWER_UNSAT, FT_ANSWER_UNKNOWN } ft_answer;

#endif

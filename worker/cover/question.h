/* Questions of certificates: a condition on inputs, or an order of a schedule's nodes, to a solver
 * session of their own, and as SMT-LIB text. */
#ifndef FT_COVER_QUESTION_H
#define FT_COVER_QUESTION_H

#include "cover/run.h"

typedef struct cover_input {
    ft_symbol symbol; /* of the world */
    uint64_t bits;
} cover_input;

typedef struct cover_question {
    cover_world *world;
    uint32_t ms;
    ft_term condition;
    FT_VEC(cover_input) model; /* SAT: the inputs of the condition */
} cover_question;

ft_answer cover_ask(cover_question *question);
void cover_question_print(const cover_question *question, const char *what, ft_strbuf *out);
void cover_question_release(cover_question *question);

/* Is there an order of the nodes, with threads and edges, in which the second of a pair comes
 * before the first one? */
typedef struct cover_pair {
    uint32_t a, b;
} cover_pair;
typedef struct cover_order_question {
    const ft_schedule *schedule;
    FT_VEC(cover_pair) pairs;
    uint32_t ms;
} cover_order_question;
ft_answer cover_order_ask(const cover_order_question *question, cover_pair *pair); /* SAT: which */
void cover_order_print(const cover_order_question *question, const char *what, ft_strbuf *out);

#endif

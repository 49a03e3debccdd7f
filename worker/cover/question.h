/* Questions of certificates: a condition on inputs, or an order of a schedule's nodes, to a solver
 * session of their own, and as SMT-LIB text. */
#ifndef FT_COVER_QUESTION_H
#define FT_COVER_QUESTION_H

#include "cover/run.h"

typedef struct cover_input {
    ft_symbol symbol; /* of the world, or of the question's pool */
    uint64_t bits;
} cover_input;

typedef FT_VEC(cover_input) cover_model;

/* A condition of any pool, whose symbols have these widths. */
typedef struct cover_asked_term {
    const ft_term_pool *pool;
    ft_term condition;
    uint32_t ms;
    uint8_t (*width)(const void *context, ft_symbol symbol);
    const void *context;
} cover_asked_term;
/* SAT: adds the values of its symbols to the model. */
ft_answer cover_ask_term(const cover_asked_term *asked, cover_model *model);

typedef struct cover_question {
    cover_world *world;
    uint32_t ms;
    ft_term condition;
    cover_model model; /* SAT: the inputs of the condition */
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

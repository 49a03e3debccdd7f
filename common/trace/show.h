/* Events as people read them: values as the types of their variables say, terms infix
 * (term/infix.h), an assertion as the program's source has it.
 *
 *   ft_trace_print_event, for machines         ft_show_event, for people
 *   write x = #x0000000000000064               write x = 100
 *   r1.64 := |a[1].balance|                    read a[1].balance
 *   a[1].balance := (bvadd r1.64 #x0a)         write a[1].balance (a[1].balance + 10)
 *   assert (= (bvadd #x5a r1.64) #x12c)        assert(s == 300)
 *
 * The locals of a recorded program are the recorder's registers, which nobody has named: in terms
 * the last assignment of such a local before the event stands in its place. Locals of other traces
 * keep their names. */
#ifndef FT_TRACE_SHOW_H
#define FT_TRACE_SHOW_H

#include "term/infix.h"
#include "trace/trace.h"

typedef struct ft_show ft_show;

ft_show *ft_show_new(const ft_trace *trace); /* borrows the trace; cheap until a term is shown */
void ft_show_free(ft_show *show);            /* accepts NULL */

/* A value of a shared variable. */
void ft_show_value(const ft_show *show, uint32_t variable, ft_value value, ft_strbuf *out);
/* A term as the thread of event e has it there. */
void ft_show_term(ft_show *show, uint32_t e, ft_term term, ft_rank rank, ft_strbuf *out);
/* The event with the values that the trace gives it. */
void ft_show_event(ft_show *show, uint32_t e, ft_strbuf *out);
/* The event as the step of a schedule, where its first access may have another value: without it.
 * "read x" and "write x (x + 10)" have room for " = 110" behind the name. */
void ft_show_step(ft_show *show, uint32_t e, ft_strbuf *out);
/* What makes a condition of e false, where its symbols have these values: " with x = 110 (320 ==
 * 300)", nothing where none of them is known. */
void ft_show_values(ft_show *show, uint32_t e, ft_term condition, const ft_symbol_value *symbols,
                    uint32_t n, ft_strbuf *out);

#endif

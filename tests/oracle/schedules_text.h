/* Programs of oracle/schedules.h as programs of the product's language, so that its interpreter is
 * held against the oracle's semantics. */
#ifndef FT_TEST_SCHEDULES_TEXT_H
#define FT_TEST_SCHEDULES_TEXT_H

#include "oracle/schedules.h"

/* Thread 0 is @main, which first creates those that no thread creates. False: the program has an
 * operation that the language lacks (channels, open choices, polls). */
bool ft_schedules_text(const schedule_program *p, ft_strbuf *out);
/* Likewise; a choice is an input of one bit. False also if it has none. */
bool ft_schedules_text_open(const schedule_program *p, ft_strbuf *out);

#endif

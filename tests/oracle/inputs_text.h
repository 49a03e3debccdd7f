/* The text of a random program for oracle/inputs.h while it is written, for the generators alone:
 * their `maker` has an inputs_text `to`, which draw, put, label and fresh mean. */
#ifndef FT_TEST_INPUTS_TEXT_H
#define FT_TEST_INPUTS_TEXT_H

#include "base/contract.h"
#include "oracle/inputs.h"

typedef struct inputs_text {
    uint64_t random;
    inputs_program *p;
    uint32_t next; /* of registers and labels */
} inputs_text;

/* A number below n. */
uint32_t ft_inputs_draw(inputs_text *to, uint32_t n);
/* A line of a function's body; 399 characters at most. */
void ft_inputs_put(inputs_text *to, const char *format, ...) FT_PRINTF(2, 3);
/* The beginning of the block l<n>. */
void ft_inputs_label(inputs_text *to, uint32_t n);
/* The number of a new register or label, from 1. */
uint32_t ft_inputs_fresh(inputs_text *to);

#define draw(m, n)  ft_inputs_draw(&(m)->to, n)
#define put(m, ...) ft_inputs_put(&(m)->to, __VA_ARGS__)
#define label(m, n) ft_inputs_label(&(m)->to, n)
#define fresh(m)    ft_inputs_fresh(&(m)->to)

#endif

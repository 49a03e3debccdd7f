/* Accesses to memory that compilers make without a call of -fsanitize=thread: gcc stores the
 * structure that a function returned, and both gcc and clang read one that is passed by value. The
 * sanitizer's calls stand before the accesses that they are for, so there are more accesses than
 * these calls
 *   - behind a call of another function, where the store is, with nothing that branches in between;
 *   - before one, where the read is. */
#ifndef FT_ASSEMBLER_BARE_H
#define FT_ASSEMBLER_BARE_H

#include "instruction.h"

typedef struct ft_asm_bare {
    bool hooked;       /* the function at hand has the sanitizer's calls */
    bool behind;       /* the last call is another function's */
    unsigned expected; /* accesses that had their call and did not come yet */
} ft_asm_bare;

/* Every line of the compiler's. */
void ft_asm_bare_see(ft_asm_bare *b, ft_asm_text line);
/* Is the line one, before it is seen? `rest` is the text behind it. Then *i says what it does; its
 * access NONE: it copies from rsi to rdi, rcx words of eight bytes. What it is of may well be the
 * thread's own memory. */
bool ft_asm_bare_is(const ft_asm_bare *b, ft_asm_text line, ft_asm_text rest,
                    ft_asm_instruction *i);

#endif

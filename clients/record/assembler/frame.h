/* Calls of -fsanitize=thread for memory of a function's own frame.
 *
 * Clang leaves out accesses to parts of local structures and arrays although other threads may have
 * their address: it asks whether the address of the part goes elsewhere, not that of the whole (so
 * up to LLVM 19). foretell-cc has it make calls for all locals (-capture-tracking-max-uses-to-
 * explore=0). Where no address of the frame goes elsewhere, these are for nobody, and most of what
 * an unoptimised loop does. */
#ifndef FT_ASSEMBLER_FRAME_H
#define FT_ASSEMBLER_FRAME_H

#include "instruction.h"

typedef struct ft_asm_frame {
    bool is_private; /* the function at hand: no address of its frame goes elsewhere */
    bool in_rdi;     /* an address in the frame is in rdi, for a call of the sanitizer */
} ft_asm_frame;

/* A function begins; `text` is what is behind its label, up to the end of the file. */
void ft_asm_frame_begin(ft_asm_frame *frame, ft_asm_text text);
/* Every line of the function, in order. True: it is a call that can go. */
bool ft_asm_frame_drops(ft_asm_frame *frame, ft_asm_text line);

#endif

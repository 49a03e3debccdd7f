/* An assembler file of a compiler, with calls to the recorder around what its inline assembly does
 * to memory, and around instructions of its own that are locked.
 *
 * Compilers put inline assembly between lines #APP and #NO_APP. Each instruction in it that reads
 * or writes memory (instruction.h) gets a call before it, to __foretell_asm_ACCESSn with the
 * address in rdi, and one to __foretell_asm_done behind it where it writes
 * (clients/record/runtime/assembly/assembly.c). The calls change no register and nothing within 128
 * bytes below the stack pointer.
 *
 * Imports: raw, common/base. */
#ifndef FT_ASSEMBLER_REWRITE_H
#define FT_ASSEMBLER_REWRITE_H

#include <stdbool.h>
#include <stddef.h>

#include "raw/assembly.h"

typedef struct ft_asm_buffer {
    char *data; /* the caller's to free */
    size_t n, room;
    bool failed; /* there was no memory */
} ft_asm_buffer;

typedef struct ft_asm_counts {
    unsigned seen;                      /* instructions that have calls now */
    unsigned gone;                      /* calls of the compiler's that are for nobody (frame.h) */
    unsigned orders;                    /* that order threads: locked ones and exchanges */
    unsigned unseen;                    /* of these, that could not get any */
    char place[FT_ASSEMBLY_PLACE_ROOM]; /* of the first of these, else of the first that orders; "":
                                           not known */
} ft_asm_counts;

/* Writes the text anew behind what `to` has. */
ft_asm_counts ft_asm_rewrite(const char *text, size_t n, ft_asm_buffer *to);
/* Appends notes to the object (raw/assembly.h) that say so many, and where the first is. */
void ft_asm_mark(ft_asm_buffer *to, unsigned unseen, const char *place);

#endif

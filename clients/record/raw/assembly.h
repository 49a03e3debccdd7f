/* What foretell-as gets from the wrapper, and what it leaves in an object for the maker: a note
 * (ELF) for each file with instructions that order threads, in inline assembly, and that no call
 * could be put around. */
#ifndef FT_RECORD_ASSEMBLY_H
#define FT_RECORD_ASSEMBLY_H

#define FT_ASSEMBLER_VARIABLE "FORETELL_ASSEMBLER" /* environment: the clang that assembles */

#define FT_ASSEMBLY_SECTION ".note.foretell.assembly"
#define FT_ASSEMBLY_OWNER   "Foretell"

/* The note's type; it holds how many these are, four bytes. */
enum { FT_ASSEMBLY_UNSEEN = 1 };

#endif

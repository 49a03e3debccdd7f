/* Between the wrapper, foretell-as and the maker: an environment variable, and an ELF note in each
 * object whose inline assembly has instructions that order threads and that got no calls. */
#ifndef FT_RECORD_ASSEMBLY_H
#define FT_RECORD_ASSEMBLY_H

#define FT_ASSEMBLER_VARIABLE "FORETELL_ASSEMBLER" /* environment: the clang that assembles */

#define FT_ASSEMBLY_SECTION ".note.foretell.assembly"
#define FT_ASSEMBLY_OWNER   "Foretell"

/* Types of notes. UNSEEN: its content is the number of such instructions, four bytes. PLACE: text,
 * where the first of them is: "list.c:40 in push". */
enum { FT_ASSEMBLY_UNSEEN = 1, FT_ASSEMBLY_PLACE, FT_ASSEMBLY_PLACE_ROOM = 160 };

#endif

/* Symbols: names and source lines for addresses of a recorded program, from its debug information
 * (libdw), its symbol tables and its source files.
 *
 * A module is an ELF file at its load address. Code addresses are return addresses: they name the
 * call before them. Functions (functions.h), variables on stacks (locals.h), members and elements
 * (members.h) and the types of heap blocks (block_types.h) come from debug information, what else
 * the linker knows from symbol tables (elf_symbols.h). Nothing here knows of logs or traces, but
 * for source_lines.h, which puts source lines into a trace.
 *
 * Imports: raw, common/base, common/report, common/term, common/trace. */
#ifndef FT_RECORD_SYMBOLS_H
#define FT_RECORD_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "term/type.h"

typedef struct ft_symbols ft_symbols;

ft_symbols *ft_symbols_new(void);
void ft_symbols_free(ft_symbols *symbols); /* accepts NULL */
/* A module of the program. A file that is gone or has no debug information gives no names. */
void ft_symbols_module(ft_symbols *symbols, const char *path, uint64_t base);

/* A place in the program's source. All is borrowed. */
typedef struct ft_code_place {
    const char *function; /* NULL: not known */
    const char *file;     /* as the compiler was given it; NULL: not known */
    const char *folder;   /* where the compiler ran; NULL: not known */
    int line;             /* from 1; 0: not known */
} ft_code_place;

/* "file:line" of a return address (the call before it), and the same in *at; of what the compiler
 * put there of the C++ library's headers, where the program asks for it. Without debug information,
 * and in the C library, "module+0xoffset"; false: no module there.
 */
bool ft_symbols_place(ft_symbols *symbols, uint64_t pc, ft_strbuf *place, ft_code_place *at);
/* Is that place in the C++ library or its headers, of which the program's own calls are told, or in
 * what stands in the program without lines, as the recorder itself does? */
bool ft_symbols_is_library(ft_symbols *symbols, uint64_t pc);
/* Is it in a function that allocates for its callers, by its name: xmalloc, pool_alloc,
 * strdup_or_die? */
bool ft_symbols_is_allocator(ft_symbols *symbols, uint64_t pc);
/* Is it in a function that returns a pointer, and so perhaps what it allocates: node_new? */
bool ft_symbols_is_factory(ft_symbols *symbols, uint64_t pc);
/* Names of memory. *type is set to that of the value that begins there, FT_TYPE_NONE where none is
 * known.
 *
 * "name", "name.member", "name[3]" or "name+offset" of what is at a fixed address; false: none. */
bool ft_symbols_variable(ft_symbols *symbols, uint64_t address, ft_strbuf *name, ft_type *type);
/* The same of what a function has on a stack, with the function's name before it: "main()::name".
 * pc: a return address in the function, frame: where its frame pointer points to. */
bool ft_symbols_local(ft_symbols *symbols, uint64_t pc, uint64_t frame, uint64_t address,
                      ft_strbuf *name, ft_type *type);
/* Adds ".member" or "[3].member" for the byte at `offset` of the block of `size` bytes that is
 * asked for at that return address; line: the statement there, as text. False: that does not say
 * what the block is.
 */
bool ft_symbols_block(ft_symbols *symbols, uint64_t pc, const char *line, uint64_t size,
                      uint64_t offset, ft_strbuf *name, ft_type *type);
/* Is it part of what the linker knows under a name that begins so? */
bool ft_symbols_is_in(ft_symbols *symbols, uint64_t address, const char *beginning);
/* Does the function around the address call one whose name begins so, before the address? True also
 * if that is unknown. */
bool ft_symbols_calls(ft_symbols *symbols, uint64_t pc, const char *beginning);

#endif

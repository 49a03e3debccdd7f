/* Symbol tables of a program's modules: the symbol around an address (libdwfl). */
#ifndef FT_RECORD_ELF_SYMBOLS_H
#define FT_RECORD_ELF_SYMBOLS_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct ft_elf_symbols ft_elf_symbols;

typedef struct ft_elf_symbol {
    const char *name; /* borrowed from the module */
    uint64_t start;   /* its address */
    bool function;
} ft_elf_symbol;

ft_elf_symbols *ft_elf_symbols_new(void);
void ft_elf_symbols_free(ft_elf_symbols *symbols); /* accepts NULL */

/* The symbol around the address, as dwfl_module_addrinfo chooses it; NULL: none. Valid until the
 * next call. */
const ft_elf_symbol *ft_elf_symbol_at(ft_elf_symbols *symbols, Dwfl_Module *module,
                                      uint64_t address);

#endif

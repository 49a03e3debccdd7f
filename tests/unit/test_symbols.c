/* Names of addresses (maker/symbols/functions.h, maker/symbols/elf_symbols.h), beside libdw's own
 * slower ways to them: all over this program, which is built with debug information, and a library
 * without. */
#include "trace_support.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>

#include "maker/symbols/elf_symbols.h"
#include "maker/symbols/functions.h"

enum { BASE = 0x10000000, STEP = 40 };

static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_build_id_find_elf,
                                         .find_debuginfo = dwfl_standard_find_debuginfo,
                                         .section_address = dwfl_offline_section_address};

static volatile int sink;

/* To be inlined, twice in one function, and in each other. */
static inline __attribute__((always_inline)) void innermost(int a)
{
    sink = a;
    sink += sink;
}

static inline __attribute__((always_inline)) void between(int a)
{
    if (sink > a) innermost(a);
    sink--;
}

static __attribute__((noinline)) int outermost(int a)
{
    between(a);
    innermost(2 * a);
    return sink;
}

static Dwfl_Module *open_module(Dwfl **dwfl, const char *path)
{
    *dwfl = dwfl_begin(&callbacks);
    assert_non_null(*dwfl);
    dwfl_report_begin(*dwfl);
    Dwfl_Module *module = dwfl_report_elf(*dwfl, path, path, -1, BASE, false);
    assert_int_equal(dwfl_report_end(*dwfl, NULL, NULL), 0);
    assert_non_null(module);
    return module;
}

/* libdw: the scopes around the address, the innermost first. */
static const char *searched(Dwarf_Die *unit, Dwarf_Addr address)
{
    Dwarf_Die *scopes = NULL;
    const char *name = NULL;
    int n = dwarf_getscopes(unit, address, &scopes);
    for (int i = 0; i < n && !name; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
            name = dwarf_diename(&scopes[i]);
    }
    free(scopes);
    return name;
}

static void same(const char *a, const char *b)
{
    if (a && b)
        assert_string_equal(a, b);
    else
        assert_true(!a && !b);
}

static void test_functions(void **state)
{
    (void)state;
    Dwfl *dwfl;
    Dwfl_Module *module = open_module(&dwfl, "/proc/self/exe");
    ft_functions *functions = ft_functions_new();
    Dwarf_Addr from, to, bias;
    uint32_t named = 0, inner = 0;
    dwfl_module_info(module, NULL, &from, &to, NULL, NULL, NULL, NULL);
    for (Dwarf_Addr at = from; at < to; at += 3) {
        Dwarf_Die *unit = dwfl_module_addrdie(module, at, &bias);
        const char *name = unit ? ft_functions_at(functions, unit, at - bias) : NULL;
        if (unit) same(name, searched(unit, at - bias));
        named += name != NULL;
        inner += name && strcmp(name, "innermost") == 0;
    }
    ft_functions_free(functions);
    dwfl_end(dwfl);
    assert_true(outermost(1) != 1);
    assert_true(named > 100);
    assert_true(inner > 0);
}

typedef struct compared {
    ft_elf_symbols *symbols;
    Dwfl_Module *module;
    uint32_t named;
} compared;

static void compare_at(compared *c, Dwarf_Addr at)
{
    GElf_Sym symbol;
    GElf_Off offset = 0;
    const char *name = dwfl_module_addrinfo(c->module, at, &offset, &symbol, NULL, NULL, NULL);
    const ft_elf_symbol *found = ft_elf_symbol_at(c->symbols, c->module, at);
    same(found ? found->name : NULL, name);
    if (!found) return;
    c->named++;
    assert_int_equal(found->start, at - offset);
    assert_int_equal(found->function, GELF_ST_TYPE(symbol.st_info) == STT_FUNC);
}

/* Right behind each section first: what libdwfl says there must not stand for the gap behind it. */
static void compare_section_ends(compared *c)
{
    GElf_Addr bias = 0;
    Elf *elf = dwfl_module_getelf(c->module, &bias);
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC)) continue;
        Dwarf_Addr end = header.sh_addr + header.sh_size + bias;
        for (Dwarf_Addr at = end; at <= end + 3; at++) compare_at(c, at);
    }
}

/* Places all over, and where symbols and sections begin and end. */
static uint32_t compare_symbols(const char *path, uint64_t *seed)
{
    Dwfl *dwfl;
    compared c = {ft_elf_symbols_new(), open_module(&dwfl, path), 0};
    Dwarf_Addr from, to;
    dwfl_module_info(c.module, NULL, &from, &to, NULL, NULL, NULL, NULL);
    uint32_t step = (uint32_t)((to - from) / 1500) + STEP;
    compare_section_ends(&c);
    compare_section_ends(&c); /* now from the table, which is made after the first few */
    for (Dwarf_Addr at = from; at < to; at += 1 + rnd(seed, step)) compare_at(&c, at);
    int n = dwfl_module_getsymtab(c.module), each = n / 500 + 1;
    for (int i = 1; i < n; i += 1 + (int)rnd(seed, (uint32_t)each)) {
        GElf_Sym symbol;
        GElf_Addr start;
        if (!dwfl_module_getsym_info(c.module, i, &symbol, &start, NULL, NULL, NULL)) continue;
        compare_at(&c, start);
        compare_at(&c, start + symbol.st_size - 1);
        compare_at(&c, start + symbol.st_size);
    }
    ft_elf_symbols_free(c.symbols);
    dwfl_end(dwfl);
    return c.named;
}

static void test_elf_symbols(void **state)
{
    (void)state;
    uint64_t seed = 1;
    Dl_info library;
    assert_true(dladdr((const void *)(uintptr_t)&strtol, &library));
    assert_true(compare_symbols("/proc/self/exe", &seed) > 100);
    assert_true(compare_symbols(library.dli_fname, &seed) > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions),
        cmocka_unit_test(test_elf_symbols),
    };
    return cmocka_run_group_tests_name("symbols", tests, NULL, NULL);
}

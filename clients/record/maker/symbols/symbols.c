#include "maker/symbols/symbols.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/contract.h"
#include "base/map.h"
#include "base/memory.h"
#include "maker/symbols/block_types.h"
#include "maker/symbols/elf_symbols.h"
#include "maker/symbols/functions.h"
#include "maker/symbols/locals.h"
#include "maker/symbols/members.h"
#include "raw/schedule.h"

/* __cxa_demangle (Itanium C++ ABI). */
typedef char *ft_demangler(const char *name, char *room, size_t *size, int *status);

struct ft_symbols {
    Dwfl *dwfl;
    bool open;     /* modules are still reported */
    char *program; /* the first of them */
    ft_members *members;
    ft_demangler *demangle; /* NULL: C++ names stay as they are */
    bool asked;             /* for it */
    FT_VEC(char *) made;    /* names of functions */
    ft_functions *functions;
    ft_elf_symbols *elf;
    ft_pointees *pointees;
    ft_map blocks; /* hash of a call and of the size of what it asks for -> its number in `found` */
    FT_VEC(ft_pointee) found; /* size 0: not known */
};

/* Is there a file of that name where libdw looks for the debug information of `file`? */
static bool is_there(const char *file, const char *name)
{
    static const struct {
        const char *root, *folder;
    } places[] = {{"", ""}, {"", ".debug/"}, {"/usr/lib/debug", ""}};
    const char *slash = strrchr(file, '/');
    bool found = false;
    for (size_t i = 0; slash && i < sizeof places / sizeof *places && !found; i++) {
        ft_strbuf path = {0};
        ft_strbuf_printf(&path, "%s%.*s/%s%s", places[i].root, (int)(slash - file), file,
                         places[i].folder, name);
        found = access(path.text, R_OK) == 0;
        ft_strbuf_release(&path);
    }
    return found;
}

/* Debug information that is not in the file itself, if this machine has it. libdw's standard way
 * ends with servers: it loads thirty libraries, to ask for each of the program's. */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                          const char *file, const char *link, GElf_Word checksum, char **found)
{
    int fd = dwfl_build_id_find_debuginfo(module, data, name, base, file, link, checksum, found);
    if (fd >= 0 || !file || !link || !is_there(file, link)) return fd;
    return dwfl_standard_find_debuginfo(module, data, name, base, file, link, checksum, found);
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = find_debuginfo,
    .section_address = dwfl_offline_section_address,
};

ft_symbols *ft_symbols_new(void)
{
    ft_symbols *symbols = ft_calloc(1, sizeof *symbols);
    symbols->dwfl = dwfl_begin(&callbacks);
    if (symbols->dwfl) dwfl_report_begin(symbols->dwfl);
    symbols->open = true;
    symbols->members = ft_members_new();
    symbols->functions = ft_functions_new();
    symbols->elf = ft_elf_symbols_new();
    symbols->pointees = ft_pointees_new();
    return symbols;
}

void ft_symbols_free(ft_symbols *symbols)
{
    if (!symbols) return;
    ft_members_free(symbols->members);
    ft_functions_free(symbols->functions);
    ft_elf_symbols_free(symbols->elf);
    ft_pointees_free(symbols->pointees);
    ft_map_release(&symbols->blocks);
    ft_vec_release(&symbols->found);
    for (size_t i = 0; i < symbols->made.len; i++) free(symbols->made.data[i]);
    ft_vec_release(&symbols->made);
    if (symbols->dwfl) dwfl_end(symbols->dwfl);
    free(symbols->program);
    free(symbols);
}

void ft_symbols_module(ft_symbols *symbols, const char *path, uint64_t base)
{
    FT_REQUIRE(path);
    if (!symbols->program) symbols->program = ft_strdup(path);
    if (symbols->dwfl && !symbols->open) dwfl_report_begin_add(symbols->dwfl);
    symbols->open = true;
    if (symbols->dwfl) dwfl_report_elf(symbols->dwfl, path, path, -1, base, false);
}

static Dwfl_Module *module_at(ft_symbols *symbols, uint64_t address)
{
    if (!symbols->dwfl) return NULL;
    if (symbols->open) dwfl_report_end(symbols->dwfl, NULL, NULL);
    symbols->open = false;
    return dwfl_addrmodule(symbols->dwfl, address);
}

/* text[abi:cxx11] is called text in the program. */
static void cut_tags(char *name)
{
    for (char *at = name, *end; (at = strstr(at, "[abi:")) && (end = strchr(at, ']'));)
        memmove(at, end + 1, strlen(end + 1) + 1);
}

/* A name of the linker as C++ has it, owned; NULL: it is none of C++. The C++ library is loaded
 * only for programs that have one. */
static char *demangled(ft_symbols *symbols, const char *name)
{
    if (!name || strncmp(name, "_Z", 2) != 0) return NULL;
    if (!symbols->asked) {
        void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
        symbols->demangle = library ? (ft_demangler *)dlsym(library, "__cxa_demangle") : NULL;
    }
    symbols->asked = true;
    int status = 0;
    char *made = symbols->demangle ? symbols->demangle(name, NULL, NULL, &status) : NULL;
    if (made) cut_tags(made);
    return made;
}

/* Cuts "name(parameters) const" behind the name. */
static void cut_parameters(char *name)
{
    char *at = strrchr(name, ')');
    for (int depth = 0; at && at > name; at--) {
        depth += (*at == ')') - (*at == '(');
        if (depth == 0) break;
    }
    if (at && at > name) *at = 0;
}

static const char *function_name(ft_symbols *symbols, const char *name)
{
    char *made = demangled(symbols, name);
    if (!made) return name;
    cut_parameters(made);
    ft_vec_push(&symbols->made, made);
    return made;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whose debug information is in a package of its own, compressed: unpacking it takes longer than
 * the rest of what is looked up, for a frame of qsort's. */
static bool is_c_library(Dwfl_Module *module)
{
    const char *path = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    return path && ft_schedule_is_c_library(path, strlen(path));
}

/* The innermost function around the address, inlined ones included. */
static const char *function_at(ft_symbols *symbols, Dwfl_Module *module, uint64_t address)
{
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = is_c_library(module) ? NULL : dwfl_module_addrdie(module, address, &bias);
    const char *name = unit ? ft_functions_at(symbols->functions, unit, address - bias) : NULL;
    const ft_elf_symbol *symbol = name ? NULL : ft_elf_symbol_at(symbols->elf, module, address);
    return symbol ? symbol->name : name;
}

/* Of GNU's and LLVM's: /usr/include/c++/12/bits/..., /usr/include/x86_64-linux-gnu/c++/12/...,
 * /usr/lib/llvm-14/include/c++/v1/... */
static bool is_library_header(const char *file)
{
    const char *include = strstr(file, "/include/");
    return include && strstr(include, "/c++/");
}

/* The innermost line; of the C++ library's, inlined into code that is not, where that asks for it.
 */
static ft_code_line line_at(ft_symbols *symbols, Dwfl_Module *module, uint64_t address)
{
    ft_code_line line = {.number = 0}, outer;
    Dwfl_Line *at = is_c_library(module) ? NULL : dwfl_module_getsrc(module, address);
    if (at) line.file = dwfl_lineinfo(at, NULL, &line.number, NULL, NULL, NULL);
    line.function = function_at(symbols, module, address);
    if (!line.file || !is_library_header(line.file)) return line;
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = dwfl_module_addrdie(module, address, &bias);
    bool inlined = unit && ft_functions_written_at(symbols->functions, unit, address - bias,
                                                   is_library_header, &outer);
    return inlined ? outer : line;
}

static bool is_library_module(Dwfl_Module *module)
{
    static const char *const names[] = {"libstdc++.so", "libc++.so", "libc++abi.so"};
    const char *path = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    for (size_t i = 0; path && i < sizeof names / sizeof *names; i++)
        if (!strncmp(base_name(path), names[i], strlen(names[i]))) return true;
    return false;
}

/* And others of its code have lines. */
static bool is_program(const ft_symbols *symbols, Dwfl_Module *module)
{
    Dwarf_Addr bias;
    const char *path = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    return path && symbols->program && !strcmp(path, symbols->program) &&
           dwfl_module_getdwarf(module, &bias);
}

bool ft_symbols_is_library(ft_symbols *symbols, uint64_t pc)
{
    Dwfl_Module *module = module_at(symbols, pc - 1);
    if (!module) return false;
    const char *file = line_at(symbols, module, pc - 1).file;
    return is_library_module(module) ||
           (file ? is_library_header(file) : is_program(symbols, module));
}

bool ft_symbols_is_allocator(ft_symbols *symbols, uint64_t pc)
{
    static const char *const words[] = {"alloc", "memalign", "strdup", "strndup", "memdup"};
    Dwfl_Module *module = module_at(symbols, pc - 1);
    const char *name = module ? line_at(symbols, module, pc - 1).function : NULL;
    for (size_t i = 0; name && i < sizeof words / sizeof *words; i++)
        if (strcasestr(name, words[i])) return true;
    return false;
}

/* Where the compiler ran that made the code there. */
static const char *folder_at(Dwfl_Module *module, uint64_t address)
{
    Dwarf_Addr bias = 0;
    Dwarf_Attribute folder;
    Dwarf_Die *unit = dwfl_module_addrdie(module, address, &bias);
    return unit ? dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &folder)) : NULL;
}

bool ft_symbols_place(ft_symbols *symbols, uint64_t pc, ft_strbuf *place, ft_code_place *at)
{
    FT_REQUIRE(place && at);
    uint64_t call = pc - 1;
    Dwfl_Module *module = module_at(symbols, call);
    *at = (ft_code_place){.line = 0};
    if (!module) return false;
    ft_code_line line = line_at(symbols, module, call);
    at->function = function_name(symbols, line.function);
    if (line.file) {
        *at = (ft_code_place){at->function, line.file, folder_at(module, call), line.number};
        ft_strbuf_printf(place, "%s:%d", base_name(line.file), line.number);
        return true;
    }
    Dwarf_Addr start = 0;
    const char *name = dwfl_module_info(module, NULL, &start, NULL, NULL, NULL, NULL, NULL);
    ft_strbuf_printf(place, "%s+0x%llx", base_name(name), (unsigned long long)(call - start));
    return true;
}

bool ft_symbols_variable(ft_symbols *symbols, uint64_t address, ft_strbuf *name, ft_type *type)
{
    *type = FT_TYPE_NONE;
    Dwfl_Module *module = module_at(symbols, address);
    const ft_elf_symbol *found = module ? ft_elf_symbol_at(symbols->elf, module, address) : NULL;
    if (!found || found->function) return false;
    char *made = demangled(symbols, found->name);
    ft_strbuf_puts(name, made ? made : found->name);
    free(made);
    if (is_c_library(module))
        ft_members_offset(address - found->start, name);
    else
        *type =
            ft_members_name(symbols->members, module, found->start, address - found->start, name);
    return true;
}

/* The compilation unit; NULL: nothing is known of it. */
static Dwarf_Die *unit_at(ft_symbols *symbols, uint64_t address, Dwarf_Addr *bias)
{
    Dwfl_Module *module = module_at(symbols, address);
    return !module || is_c_library(module) ? NULL : dwfl_module_addrdie(module, address, bias);
}

bool ft_symbols_local(ft_symbols *symbols, uint64_t pc, uint64_t frame, uint64_t address,
                      ft_strbuf *name, ft_type *type)
{
    Dwarf_Addr bias = 0;
    Dwarf_Die scope, variable;
    uint64_t offset;
    *type = FT_TYPE_NONE;
    Dwfl_Module *module = module_at(symbols, pc - 1);
    Dwarf_Die *unit = unit_at(symbols, pc - 1, &bias);
    if (!unit || !ft_functions_die(symbols->functions, unit, pc - 1 - bias, &scope)) return false;
    if (!ft_locals_find(unit, &scope, pc - 1 - bias, (int64_t)(address - frame), &variable,
                        &offset))
        return false;
    /* Not the one that is perhaps inlined there. */
    const ft_elf_symbol *symbol = ft_elf_symbol_at(symbols->elf, module, pc - 1);
    if (!symbol || !symbol->function) return false;
    const char *function = function_name(symbols, symbol->name);
    ft_strbuf_printf(name, "%.*s()::%s", (int)strcspn(function, "."), function,
                     dwarf_diename(&variable));
    *type = ft_members_inside(&variable, offset, name);
    return true;
}

static bool is_pointer(Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    Dwarf_Die type, peeled;
    if (!dwarf_formref_die(dwarf_attr_integrate(function, DW_AT_type, &attribute), &type))
        return false;
    return dwarf_peel_type(&type, &peeled) == 0 && dwarf_tag(&peeled) == DW_TAG_pointer_type;
}

bool ft_symbols_is_factory(ft_symbols *symbols, uint64_t pc)
{
    Dwarf_Addr bias = 0;
    Dwarf_Die function;
    Dwarf_Die *unit = unit_at(symbols, pc - 1, &bias);
    return unit && ft_functions_die(symbols->functions, unit, pc - 1 - bias, &function) &&
           is_pointer(&function);
}

static ft_pointee find_pointee(ft_symbols *symbols, uint64_t call, const char *line, uint64_t size)
{
    Dwarf_Addr bias = 0;
    Dwarf_Die function;
    ft_pointee found = {.size = 0};
    Dwarf_Die *unit = unit_at(symbols, call, &bias);
    if (!unit || !ft_functions_die(symbols->functions, unit, call - bias, &function)) return found;
    ft_asked_block block = {unit, &function, call - bias, line, size};
    if (!ft_pointees_find(symbols->pointees, &block, &found)) found.size = 0;
    return found;
}

bool ft_symbols_block(ft_symbols *symbols, uint64_t pc, const char *line, uint64_t size,
                      uint64_t offset, ft_strbuf *name, ft_type *type)
{
    bool fresh;
    *type = FT_TYPE_NONE;
    uint64_t key[] = {pc, size};
    uint64_t *known = ft_map_slot(&symbols->blocks, ft_hash_bytes(key, sizeof key, 0),
                                  symbols->found.len, &fresh);
    if (fresh) ft_vec_push(&symbols->found, find_pointee(symbols, pc - 1, line, size));
    assert(*known < symbols->found.len);
    ft_pointee *its = &symbols->found.data[*known];
    if (!its->size || (!its->several && offset >= its->size)) return false;
    uint64_t index = its->several ? offset / its->size : 0;
    if (index || (its->several && !its->plain))
        ft_strbuf_printf(name, "[%llu]", (unsigned long long)index);
    *type = ft_members_of_type(&its->type, offset % its->size, name);
    return true;
}

bool ft_symbols_is_in(ft_symbols *symbols, uint64_t address, const char *beginning)
{
    Dwfl_Module *module = module_at(symbols, address);
    const ft_elf_symbol *found = module ? ft_elf_symbol_at(symbols->elf, module, address) : NULL;
    return found && strncmp(found->name, beginning, strlen(beginning)) == 0;
}

/* The code of its module from that address to the other one; NULL: the file does not have it. */
static const unsigned char *code_of(Dwfl_Module *module, uint64_t from, uint64_t to)
{
    GElf_Addr bias = 0;
    Elf *elf = dwfl_module_getelf(module, &bias);
    for (Elf_Scn *section = NULL; elf && (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR)) continue;
        uint64_t start = header.sh_addr + bias;
        if (from < start || to > start + header.sh_size) continue;
        Elf_Data *data = elf_rawdata(section, NULL);
        bool whole = data && data->d_buf && data->d_size == header.sh_size;
        return whole ? (const unsigned char *)data->d_buf + (from - start) : NULL;
    }
    return NULL;
}

/* Calls of x86: E8 and the distance from behind it. Bytes that only look like one lead nowhere. */
bool ft_symbols_calls(ft_symbols *symbols, uint64_t pc, const char *beginning)
{
    enum { CALL = 0xE8, LENGTH = 5 };
    Dwfl_Module *module = module_at(symbols, pc - 1);
    const ft_elf_symbol *around = module ? ft_elf_symbol_at(symbols->elf, module, pc - 1) : NULL;
    if (!around || !around->function || strstr(around->name, ".cold")) return true;
    uint64_t start = around->start;
    const unsigned char *code = code_of(module, start, pc);
    if (!code) return true;
    for (uint64_t at = start; at + LENGTH <= pc; at++, code++) {
        int32_t distance;
        if (*code != CALL) continue;
        memcpy(&distance, code + 1, sizeof distance);
        uint64_t target = at + LENGTH + (uint64_t)(int64_t)distance;
        const ft_elf_symbol *called = ft_elf_symbol_at(symbols->elf, module, target);
        bool found = called && called->start == target &&
                     strncmp(called->name, beginning, strlen(beginning)) == 0;
        if (found) return true;
    }
    return false;
}

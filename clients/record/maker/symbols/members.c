#include "maker/symbols/members.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "base/map.h"
#include "base/memory.h"
#include "maker/symbols/value_types.h"

enum { MAX_NESTING = 32, MAX_SCOPES = 8 };

struct ft_members {
    ft_map modules; /* address of a Dwfl_Module -> 1: its variables are known */
    ft_map at;      /* address of a variable -> its number */
    FT_VEC(Dwarf_Die) variables;
};

ft_members *ft_members_new(void)
{
    return ft_calloc(1, sizeof(ft_members));
}

void ft_members_free(ft_members *members)
{
    if (!members) return;
    ft_map_release(&members->modules);
    ft_map_release(&members->at);
    ft_vec_release(&members->variables);
    free(members);
}

/* ---- the variables of a module ---- */

static bool fixed_address(Dwarf_Die *variable, Dwarf_Addr *address)
{
    Dwarf_Attribute location;
    Dwarf_Op *op;
    size_t n;
    if (!dwarf_attr_integrate(variable, DW_AT_location, &location)) return false;
    if (dwarf_getlocation(&location, &op, &n) || n != 1) return false;
    *address = op->number;
    if (op->atom == DW_OP_addr) return true;
    Dwarf_Attribute indexed; /* DWARF 5 keeps addresses in a table */
    return op->atom == DW_OP_addrx && dwarf_getlocation_attr(&location, op, &indexed) == 0 &&
           dwarf_formaddr(&indexed, address) == 0;
}

/* Those of a unit or namespace; what functions keep to themselves has its symbol's name alone. */
static void add_variables(ft_members *members, Dwarf_Die *scope, Dwarf_Addr bias, int nesting)
{
    Dwarf_Die die;
    if (nesting > MAX_SCOPES || dwarf_child(scope, &die)) return;
    do {
        Dwarf_Addr address;
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_namespace) add_variables(members, &die, bias, nesting + 1);
        if (tag != DW_TAG_variable || !fixed_address(&die, &address)) continue;
        ft_map_put(&members->at, address + bias, members->variables.len);
        ft_vec_push(&members->variables, die);
    } while (dwarf_siblingof(&die, &die) == 0);
}

static void know_module(ft_members *members, Dwfl_Module *module)
{
    bool fresh;
    Dwarf_Addr bias = 0;
    ft_map_slot(&members->modules, (uintptr_t)module, 1, &fresh);
    if (!fresh) return;
    for (Dwarf_Die *unit = NULL; (unit = dwfl_module_nextcu(module, unit, &bias));)
        add_variables(members, unit, bias, 0);
}

/* ---- the way into it ---- */

bool ft_members_type(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Die at;
    if (!dwarf_attr_integrate(die, DW_AT_type, &attribute)) return false;
    return dwarf_formref_die(&attribute, &at) && dwarf_peel_type(&at, type) == 0;
}

/* false: the member says nothing of it. */
static bool number_of(Dwarf_Die *member, unsigned name, Dwarf_Word *number)
{
    Dwarf_Attribute attribute;
    return dwarf_attr_integrate(member, name, &attribute) &&
           dwarf_formudata(&attribute, number) == 0;
}

/* A bit-field's bytes: DWARF 5 counts its bits from where the structure begins, DWARF 4 from the
 * upper end of the unit that it lies in. */
static void bits_extent(Dwarf_Die *member, Dwarf_Word n, Dwarf_Word *begin, Dwarf_Word *size)
{
    Dwarf_Word unit = *size, above = 0, first = 0;
    number_of(member, DW_AT_byte_size, &unit);
    if (number_of(member, DW_AT_bit_offset, &above))
        first = 8 * (*begin + unit) - above - n;
    else
        number_of(member, DW_AT_data_bit_offset, &first);
    *begin = first / 8;
    *size = (first + n - 1) / 8 - *begin + 1;
}

/* Where it lies in its structure; false: it does not (a static one). */
static bool member_extent(Dwarf_Die *member, Dwarf_Die *type, Dwarf_Word *begin, Dwarf_Word *size)
{
    Dwarf_Word bits = 0;
    *begin = 0; /* a union's members have none */
    if (dwarf_hasattr(member, DW_AT_external) || dwarf_hasattr(member, DW_AT_declaration))
        return false;
    if (!ft_members_type(member, type) || dwarf_aggregate_size(type, size)) return false;
    bool told = number_of(member, DW_AT_data_member_location, begin);
    if (number_of(member, DW_AT_bit_size, &bits) && bits) bits_extent(member, bits, begin, size);
    return told || !dwarf_hasattr(member, DW_AT_data_member_location);
}

/* What the C library keeps in its mutexes, condition variables, semaphores and barriers: theirs are
 * names that nobody has written. */
static bool is_inside(const char *member)
{
    return member && (strcmp(member, "__data") == 0 || strcmp(member, "__size") == 0);
}

/* How far one has come on the way to a byte. */
typedef struct way {
    Dwarf_Die type;
    uint64_t offset;
    bool bits; /* a bit-field: its bytes have others' bits as well */
} way;

/* The member that holds the byte becomes the type; false: there is none. */
static bool into_member(way *w, ft_strbuf *name)
{
    Dwarf_Die member;
    if (dwarf_child(&w->type, &member)) return false;
    do {
        Dwarf_Word begin, size;
        Dwarf_Die inner;
        int tag = dwarf_tag(&member);
        if (tag != DW_TAG_member && tag != DW_TAG_inheritance) continue;
        if (!member_extent(&member, &inner, &begin, &size)) continue;
        if (begin > w->offset || w->offset - begin >= size) continue;
        const char *text = tag == DW_TAG_member ? dwarf_diename(&member) : NULL;
        if (is_inside(text)) return false;
        if (text) ft_strbuf_printf(name, ".%s", text);
        w->offset -= begin;
        assert(w->offset < size);
        w->type = inner;
        w->bits = dwarf_hasattr_integrate(&member, DW_AT_bit_size);
        return true;
    } while (dwarf_siblingof(&member, &member) == 0);
    return false;
}

static bool count_of(Dwarf_Die *range, Dwarf_Word *count)
{
    Dwarf_Attribute attribute;
    if (dwarf_attr_integrate(range, DW_AT_count, &attribute))
        return dwarf_formudata(&attribute, count) == 0;
    if (!dwarf_attr_integrate(range, DW_AT_upper_bound, &attribute)) return false;
    if (dwarf_formudata(&attribute, count)) return false;
    ++*count;
    return true;
}

/* The element that holds the byte becomes the type; arrays of arrays have a range for each index.
 */
static bool into_element(way *w, ft_strbuf *name)
{
    Dwarf_Die range, element;
    Dwarf_Word whole, size, count;
    if (!ft_members_type(&w->type, &element) || dwarf_aggregate_size(&w->type, &whole) ||
        dwarf_child(&w->type, &range))
        return false;
    size = whole;
    do {
        if (dwarf_tag(&range) != DW_TAG_subrange_type) continue;
        if (!count_of(&range, &count) || !count || size < count) return false;
        size /= count;
        assert(size);
        ft_strbuf_printf(name, "[%llu]", (unsigned long long)(w->offset / size));
        w->offset %= size;
    } while (dwarf_siblingof(&range, &range) == 0);
    w->type = element;
    return true;
}

static bool go_in(way *w, ft_strbuf *name)
{
    switch (dwarf_tag(&w->type)) {
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        return into_member(w, name);
    case DW_TAG_array_type:
        return into_element(w, name);
    default:
        return false;
    }
}

void ft_members_offset(uint64_t offset, ft_strbuf *name)
{
    if (offset) ft_strbuf_printf(name, "+%llu", (unsigned long long)offset);
}

ft_type ft_members_of_type(Dwarf_Die *type, uint64_t offset, ft_strbuf *name)
{
    way w = {.type = *type, .offset = offset};
    for (int i = 0; i < MAX_NESTING && go_in(&w, name);) i++;
    ft_members_offset(w.offset, name);
    return w.offset || w.bits ? FT_TYPE_NONE : ft_value_types_of(&w.type);
}

ft_type ft_members_inside(Dwarf_Die *variable, uint64_t offset, ft_strbuf *name)
{
    Dwarf_Die type;
    if (ft_members_type(variable, &type)) return ft_members_of_type(&type, offset, name);
    ft_members_offset(offset, name);
    return FT_TYPE_NONE;
}

ft_type ft_members_name(ft_members *members, Dwfl_Module *module, uint64_t address, uint64_t offset,
                        ft_strbuf *name)
{
    uint64_t number;
    know_module(members, module);
    if (ft_map_get(&members->at, address, &number))
        return ft_members_inside(&members->variables.data[number], offset, name);
    ft_members_offset(offset, name);
    return FT_TYPE_NONE;
}

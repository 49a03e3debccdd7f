#include "maker/symbols/locals.h"

#include <dwarf.h>
#include <string.h>

enum { MAX_BLOCKS = 32, AMD64_FRAME_POINTER = 6 };

/* gcc stores its options in each unit; clang does not, and the wrapper has it keep frame pointers.
 */
static bool has_frame_pointer(Dwarf_Die *unit)
{
    Dwarf_Attribute attribute;
    const char *producer = NULL, *level = NULL;
    if (dwarf_attr_integrate(unit, DW_AT_producer, &attribute))
        producer = dwarf_formstring(&attribute);
    if (!producer || strncmp(producer, "GNU ", 4) != 0) return producer != NULL;
    for (const char *at = producer; (at = strstr(at, " -O"));) level = at += 3;
    return !level || *level == '0' || strstr(producer, " -fno-omit-frame-pointer");
}

/* The base of the function's variables, as a distance from its frame pointer. */
static bool base_of(Dwarf_Die *function, int64_t *base)
{
    enum { SAVED = 16 }; /* the frame pointer before, and the return address */
    Dwarf_Attribute attribute;
    Dwarf_Op *op;
    size_t n;
    if (!dwarf_attr_integrate(function, DW_AT_frame_base, &attribute)) return false;
    if (dwarf_getlocation(&attribute, &op, &n) || n != 1) return false;
    *base = op->atom == DW_OP_call_frame_cfa ? SAVED : 0;
    return op->atom == DW_OP_call_frame_cfa || op->atom == DW_OP_reg0 + AMD64_FRAME_POINTER ||
           (op->atom == DW_OP_breg0 + AMD64_FRAME_POINTER && op->number == 0);
}

static bool type_of(Dwarf_Die *variable, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    return dwarf_attr_integrate(variable, DW_AT_type, &attribute) &&
           dwarf_formref_die(&attribute, type);
}

/* Has the variable that byte? `distance`: from the base. */
static bool covers(Dwarf_Die *variable, int64_t distance, uint64_t *offset)
{
    Dwarf_Attribute location;
    Dwarf_Die type;
    Dwarf_Word size;
    Dwarf_Op *op;
    size_t n;
    if (!dwarf_diename(variable)) return false;
    if (!dwarf_attr_integrate(variable, DW_AT_location, &location)) return false;
    if (dwarf_getlocation(&location, &op, &n) || n != 1 || op->atom != DW_OP_fbreg) return false;
    if (!type_of(variable, &type) || dwarf_aggregate_size(&type, &size)) return false;
    uint64_t from = (uint64_t)(distance - (int64_t)op->number);
    if (from >= size) return false;
    *offset = from;
    return true;
}

static bool find(Dwarf_Die *scope, Dwarf_Addr pc, int64_t distance, int blocks, Dwarf_Die *variable,
                 uint64_t *offset)
{
    Dwarf_Die die;
    bool found = false, innermost = false;
    if (blocks > MAX_BLOCKS || dwarf_child(scope, &die)) return false;
    do {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_lexical_block && !innermost) {
            bool around = dwarf_haspc(&die, pc) == 1;
            if (found && !around) continue;
            bool inside = find(&die, pc, distance, blocks + 1, variable, offset);
            found |= inside;
            innermost = inside && around;
        } else if (!found && (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)) {
            found = covers(&die, distance, offset);
            if (found) *variable = die;
        }
    } while (!innermost && dwarf_siblingof(&die, &die) == 0);
    return found;
}

bool ft_locals_find(Dwarf_Die *unit, Dwarf_Die *function, Dwarf_Addr pc, int64_t distance,
                    Dwarf_Die *variable, uint64_t *offset)
{
    int64_t base;
    return has_frame_pointer(unit) && base_of(function, &base) &&
           find(function, pc, distance - base, 0, variable, offset);
}

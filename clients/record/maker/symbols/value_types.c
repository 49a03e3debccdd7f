#include "maker/symbols/value_types.h"

#include <dwarf.h>
#include <string.h>
#include <strings.h>

#include "maker/symbols/members.h"

/* By DW_AT_encoding. */
static ft_look look_of_base(Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Word encoding = 0;
    if (dwarf_formudata(dwarf_attr(type, DW_AT_encoding, &attribute), &encoding))
        return FT_LOOK_NONE;
    const char *name = dwarf_diename(type);
    if (name && strcmp(name, "char") == 0) return FT_LOOK_LETTER;
    switch (encoding) {
    case DW_ATE_boolean:
        return FT_LOOK_TRUTH;
    case DW_ATE_float:
        return FT_LOOK_FLOAT;
    case DW_ATE_signed:
    case DW_ATE_signed_char:
        return FT_LOOK_SIGNED;
    case DW_ATE_unsigned:
    case DW_ATE_unsigned_char:
    case DW_ATE_UTF:
        return FT_LOOK_UNSIGNED;
    default:
        return FT_LOOK_NONE;
    }
}

static ft_look look_of(Dwarf_Die *type)
{
    Dwarf_Die under;
    switch (dwarf_tag(type)) {
    case DW_TAG_base_type:
        return look_of_base(type);
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        return FT_LOOK_POINTER;
    case DW_TAG_enumeration_type:
        return ft_members_type(type, &under) && dwarf_tag(&under) == DW_TAG_base_type
                   ? look_of_base(&under)
                   : FT_LOOK_SIGNED;
    default:
        return FT_LOOK_NONE;
    }
}

ft_type ft_value_types_of(Dwarf_Die *type)
{
    Dwarf_Word size;
    ft_look look = look_of(type);
    if (look == FT_LOOK_NONE || dwarf_aggregate_size(type, &size) || size > 8) return FT_TYPE_NONE;
    return ft_type_of(look, 8 * (unsigned)size);
}

ft_type ft_value_types_named(ft_type type, const char *name)
{
    static const char *const WORDS[] = {"flags", "mask", "bits"};
    size_t length = strlen(name);
    if (ft_type_look(type) != FT_LOOK_UNSIGNED) return type;
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        size_t n = strlen(WORDS[i]);
        if (length >= n && strcasecmp(name + length - n, WORDS[i]) == 0)
            return ft_type_of(FT_LOOK_FLAGS, ft_type_bits(type));
    }
    return type;
}

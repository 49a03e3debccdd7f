#include "term/type.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "term/internal.h"

static const struct {
    const char *name;
    uint8_t bits, look;
} TYPES[] = {
#define FT_ROW(symbol, name, bits, look) {name, bits, FT_LOOK_##look},
    FT_TYPE_TABLE(FT_ROW)
#undef FT_ROW
};

const char *ft_type_name(ft_type type)
{
    FT_REQUIRE(type < FT_TYPES);
    return TYPES[type].name;
}

unsigned ft_type_bits(ft_type type)
{
    FT_REQUIRE(type < FT_TYPES);
    return TYPES[type].bits;
}

ft_look ft_type_look(ft_type type)
{
    FT_REQUIRE(type < FT_TYPES);
    return (ft_look)TYPES[type].look;
}

bool ft_type_parse(const char *name, size_t length, ft_type *type)
{
    for (int i = FT_TYPE_NONE + 1; i < FT_TYPES; i++) {
        if (strlen(TYPES[i].name) != length || memcmp(TYPES[i].name, name, length) != 0) continue;
        *type = (ft_type)i;
        return true;
    }
    return false;
}

ft_type ft_type_of(ft_look look, unsigned bits)
{
    for (int i = FT_TYPE_NONE + 1; i < FT_TYPES; i++)
        if (TYPES[i].look == look && TYPES[i].bits == bits) return (ft_type)i;
    return FT_TYPE_NONE;
}

/* ---- values ---------------------------------------------------------------------------------- */

static int64_t sign_extended(uint64_t bits, unsigned width)
{
    if (width >= 64) return (int64_t)bits;
    uint64_t sign = UINT64_C(1) << (width - 1);
    return (int64_t)((bits ^ sign) - sign);
}

/* Numbers of which the type is not known: those from 10^12 on are addresses more often than not. */
static void print_unknown(uint64_t bits, unsigned width, ft_strbuf *out)
{
    enum { ADDRESS = 1000 * 1000 };
    int64_t value = width == 1 ? (int64_t)bits : sign_extended(bits, width);
    if (value >= (int64_t)ADDRESS * ADDRESS)
        ft_strbuf_printf(out, "0x%" PRIx64, bits);
    else
        ft_strbuf_printf(out, "%" PRId64, value);
}

/* A recorded address has above its 48 bits how often the memory there was given out before, which
 * names of memory have as "#2" (docs/record.md). */
static void print_pointer(uint64_t bits, ft_strbuf *out)
{
    enum { ADDRESS = 48 };
    bool counted = bits >> ADDRESS && bits >> 63 == 0;
    if (!bits)
        ft_strbuf_puts(out, "NULL");
    else
        ft_strbuf_printf(out, "0x%" PRIx64, counted ? bits & ft_bits_mask(ADDRESS) : bits);
    if (counted) ft_strbuf_printf(out, "#%" PRIu64, (bits >> ADDRESS) + 1);
}

static void print_letter(uint64_t bits, unsigned width, ft_strbuf *out)
{
    bool plain = bits >= 0x20 && bits < 0x7f;
    bool quoted = bits == '\'' || bits == '\\';
    if (plain)
        ft_strbuf_printf(out, "'%s%c'", quoted ? "\\" : "", (char)bits);
    else
        ft_strbuf_printf(out, "%" PRId64, sign_extended(bits, width));
}

/* With as few digits as give the same number again. */
static void print_float(uint64_t bits, unsigned width, ft_strbuf *out)
{
    char text[64];
    double value;
    float narrow;
    uint32_t low = (uint32_t)bits;
    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&value, &bits, sizeof value);
    if (width == 32) value = narrow;
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        double again = strtod(text, NULL);
        if (again == value || (width == 32 && (float)again == narrow)) break;
    }
    bool whole = strspn(text, "-0123456789") == strlen(text);
    ft_strbuf_printf(out, "%s%s", text, whole ? ".0" : "");
}

static void print_bits(ft_look look, uint64_t bits, unsigned width, ft_strbuf *out)
{
    switch (look) {
    case FT_LOOK_NONE:
        print_unknown(bits, width, out);
        return;
    case FT_LOOK_SIGNED:
        ft_strbuf_printf(out, "%" PRId64, sign_extended(bits, width));
        return;
    case FT_LOOK_UNSIGNED:
        ft_strbuf_printf(out, "%" PRIu64, bits);
        return;
    case FT_LOOK_POINTER:
        print_pointer(bits, out);
        return;
    case FT_LOOK_FLAGS:
        ft_strbuf_printf(out, bits ? "0x%" PRIx64 : "%" PRIx64, bits);
        return;
    case FT_LOOK_TRUTH:
        if (bits > 1)
            ft_strbuf_printf(out, "%" PRIu64, bits);
        else
            ft_strbuf_puts(out, bits ? "true" : "false");
        return;
    case FT_LOOK_LETTER:
        print_letter(bits, width, out);
        return;
    case FT_LOOK_FLOAT:
        print_float(bits, width, out);
        return;
    }
}

/* A float of another width than its two is a part of one, or several. */
static ft_look fitting(ft_look look, unsigned width)
{
    bool whole = width == 32 || width == 64;
    return look == FT_LOOK_FLOAT && !whole ? FT_LOOK_FLAGS : look;
}

static void print_as(ft_look look, unsigned width, ft_value value, ft_strbuf *out)
{
    if (value.sort.kind == FT_SORT_BOOL)
        ft_strbuf_puts(out, value.bits ? "true" : "false");
    else
        print_bits(fitting(look, width), value.bits & ft_bits_mask(width), width, out);
}

void ft_look_print(ft_look look, ft_value value, ft_strbuf *out)
{
    print_as(look, value.sort.kind == FT_SORT_BITVEC ? value.sort.width : 64, value, out);
}

void ft_type_print(ft_type type, ft_value value, ft_strbuf *out)
{
    FT_REQUIRE(type < FT_TYPES);
    bool sized = type != FT_TYPE_NONE && value.sort.kind == FT_SORT_INT;
    if (sized)
        print_as(ft_type_look(type), TYPES[type].bits, value, out);
    else
        ft_look_print(ft_type_look(type), value, out);
}

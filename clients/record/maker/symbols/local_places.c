#include "maker/symbols/local_places.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/contract.h"

typedef struct range {
    Dwarf_Addr from, to;
} range;
typedef FT_VEC(range) ranges;

/* An instance of a function: its own code, or inlined. */
typedef struct instance {
    ft_local_variable *v;
    Dwarf_Die *unit, *function, *outer; /* outer: the subprogram whose frame it has */
    ranges code, stands;
    ranges *taken; /* by the variables of that name and line which are found */
} instance;

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_file(const char *a, const char *b)
{
    return a && b && strcmp(base_name(a), base_name(b)) == 0;
}

/* ---- sets of addresses ---- */

static void add_code(Dwarf_Die *die, ranges *to)
{
    Dwarf_Addr base = 0, from, end;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &from, &end)) > 0;)
        if (from < end) ft_vec_push(to, (range){from, end});
}

static void add_within(const ranges *within, Dwarf_Addr from, Dwarf_Addr to, ranges *out)
{
    for (size_t i = 0; i < within->len; i++) {
        Dwarf_Addr a = from > within->data[i].from ? from : within->data[i].from;
        Dwarf_Addr b = to < within->data[i].to ? to : within->data[i].to;
        if (a < b) ft_vec_push(out, (range){a, b});
    }
}

static void take_out(ranges *set, range hole)
{
    ranges left = {0};
    for (size_t i = 0; i < set->len; i++) {
        range r = set->data[i];
        if (r.from < hole.from && r.from < hole.to)
            ft_vec_push(&left, (range){r.from, r.to < hole.from ? r.to : hole.from});
        if (r.to > hole.to && r.to > hole.from)
            ft_vec_push(&left, (range){r.from > hole.to ? r.from : hole.to, r.to});
    }
    ft_vec_release(set);
    *set = left;
}

/* ---- where the function stands: the code of the line, and functions inlined there ---- */

static void add_rows(instance *x)
{
    Dwarf_Lines *rows;
    size_t n;
    if (dwarf_getsrclines(x->unit, &rows, &n)) return;
    for (size_t i = 0; i + 1 < n; i++) {
        Dwarf_Line *row = dwarf_onesrcline(rows, i), *next = dwarf_onesrcline(rows, i + 1);
        Dwarf_Addr from, to;
        int line;
        bool ends;
        if (!row || !next || dwarf_lineendsequence(row, &ends) || ends) continue;
        if (dwarf_lineaddr(row, &from) || dwarf_lineaddr(next, &to) || to <= from) continue;
        if (dwarf_lineno(row, &line) || (uint32_t)line != x->v->at_line) continue;
        if (is_file(dwarf_linesrc(row, NULL, NULL), x->v->at_file))
            add_within(&x->code, from, to, &x->stands);
    }
}

static bool number_of(Dwarf_Die *die, unsigned name, Dwarf_Word *value)
{
    Dwarf_Attribute attribute;
    return dwarf_attr(die, name, &attribute) && !dwarf_formudata(&attribute, value);
}

static bool is_called_here(const instance *x, Dwarf_Die *inlined)
{
    Dwarf_Word line, file;
    Dwarf_Files *files;
    size_t n;
    if (!number_of(inlined, DW_AT_call_line, &line) || line != x->v->at_line) return false;
    if (!number_of(inlined, DW_AT_call_file, &file) || dwarf_getsrcfiles(x->unit, &files, &n))
        return false;
    return file < n && is_file(dwarf_filesrc(files, file, NULL, NULL), x->v->at_file);
}

/* Code of functions that are inlined in the instance is theirs; it counts where it is called. */
static void add_inlined(instance *x, Dwarf_Die *scope, unsigned depth)
{
    Dwarf_Die die;
    if (!depth || dwarf_child(scope, &die)) return;
    do {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_lexical_block) add_inlined(x, &die, depth - 1);
        if (tag != DW_TAG_inlined_subroutine) continue;
        ranges code = {0};
        add_code(&die, &code);
        for (size_t i = 0; i < code.len; i++) take_out(&x->stands, code.data[i]);
        for (size_t i = 0; i < code.len && is_called_here(x, &die); i++)
            add_within(&x->code, code.data[i].from, code.data[i].to, &x->stands);
        ft_vec_release(&code);
    } while (!dwarf_siblingof(&die, &die));
}

/* ---- expressions: a base and numbers added to it ---- */

typedef struct linear {
    uint32_t base;
    int64_t offset;
} linear;

static bool keeps_value(uint64_t reg)
{
    return reg == 3 || reg == 6 || reg == FT_LOCAL_STACK || (reg >= 12 && reg <= 15);
}

static bool frame_base(const instance *x, linear *base)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *op;
    size_t n;
    if (!dwarf_attr_integrate(x->outer, DW_AT_frame_base, &attribute) ||
        dwarf_getlocation(&attribute, &op, &n) || n != 1)
        return false;
    if (op->atom == DW_OP_call_frame_cfa) return *base = (linear){FT_LOCAL_CFA, 0}, true;
    bool is_register = op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31;
    bool is_based = op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31;
    if (!is_register && !is_based) return false;
    *base = (linear){op->atom - (is_based ? DW_OP_breg0 : 0U + DW_OP_reg0),
                     is_based ? (int64_t)op->number : 0};
    return keeps_value(base->base);
}

/* What the operation pushes. */
static bool pushed(const instance *x, const Dwarf_Op *op, linear *value)
{
    if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
        return *value = (linear){FT_LOCAL_ZERO, op->atom - DW_OP_lit0}, true;
    if (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts)
        return *value = (linear){FT_LOCAL_ZERO, (int64_t)op->number}, true;
    if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
        *value = (linear){op->atom - DW_OP_breg0, (int64_t)op->number};
        return keeps_value(value->base);
    }
    if (op->atom == DW_OP_call_frame_cfa) return *value = (linear){FT_LOCAL_CFA, 0}, true;
    if (op->atom != DW_OP_fbreg || !frame_base(x, value)) return false;
    value->offset += (int64_t)op->number;
    return true;
}

static bool combine(linear *a, linear b, bool minus)
{
    if (minus && b.base != FT_LOCAL_ZERO) return false;
    if (a->base != FT_LOCAL_ZERO && b.base != FT_LOCAL_ZERO) return false;
    if (b.base != FT_LOCAL_ZERO) a->base = b.base;
    a->offset += minus ? -b.offset : b.offset;
    return true;
}

static ft_local_place nowhere(range r)
{
    return (ft_local_place){.from = r.from, .to = r.to, .kind = FT_LOCAL_NOWHERE};
}

static bool run_expression(const instance *x, const Dwarf_Op *ops, size_t n, linear *stack,
                           unsigned room, bool *is_value)
{
    unsigned depth = 0;
    for (size_t i = 0; i < n; i++) {
        uint8_t atom = ops[i].atom;
        bool two = atom == DW_OP_plus || atom == DW_OP_minus;
        if (*is_value) return false; /* something comes behind the value */
        if (atom == DW_OP_stack_value) {
            *is_value = true;
        } else if (two) {
            if (depth < 2 || !combine(&stack[depth - 2], stack[depth - 1], atom == DW_OP_minus))
                return false;
            depth--;
        } else if (atom == DW_OP_plus_uconst) {
            if (!depth) return false;
            stack[depth - 1].offset += (int64_t)ops[i].number;
        } else if (depth == room || !pushed(x, &ops[i], &stack[depth++])) {
            return false;
        }
    }
    return depth == 1;
}

static ft_local_place place_of(const instance *x, const Dwarf_Op *ops, size_t n, range r)
{
    enum { ROOM = 4 };
    linear stack[ROOM];
    bool is_value = false;
    if (n == 1 && ops->atom >= DW_OP_reg0 && ops->atom <= DW_OP_reg31) {
        uint32_t reg = ops->atom - DW_OP_reg0;
        if (!keeps_value(reg)) return nowhere(r);
        return (ft_local_place){r.from, r.to, FT_LOCAL_VALUE, reg, 0};
    }
    if (!run_expression(x, ops, n, stack, ROOM, &is_value)) return nowhere(r);
    if (!is_value && stack->base == FT_LOCAL_ZERO) return nowhere(r); /* not in a frame */
    return (ft_local_place){r.from, r.to, is_value ? FT_LOCAL_VALUE : FT_LOCAL_MEMORY, stack->base,
                            stack->offset};
}

/* ---- places ---- */

/* Those of one range: of what no location has, nowhere. */
static void add_places(const instance *x, Dwarf_Attribute *location, range r)
{
    ranges left = {0};
    Dwarf_Addr base = 0, from, to;
    Dwarf_Op *ops;
    size_t n;
    ft_vec_push(&left, r);
    ptrdiff_t at = 0;
    while (location && (at = dwarf_getlocations(location, at, &base, &from, &to, &ops, &n)) > 0) {
        ranges there = {0};
        add_within(&left, from, to, &there);
        for (size_t i = 0; i < there.len; i++) {
            ft_vec_push(&x->v->places, place_of(x, ops, n, there.data[i]));
            take_out(&left, there.data[i]);
        }
        ft_vec_release(&there);
    }
    for (size_t i = 0; i < left.len; i++) ft_vec_push(&x->v->places, nowhere(left.data[i]));
    ft_vec_release(&left);
}

/* Forms of a fixed size do not say whether they have a sign: only values that are the same with and
 * without one are known. */
static bool constant_of(Dwarf_Die *variable, int64_t *value)
{
    Dwarf_Attribute attribute;
    Dwarf_Sword number;
    Dwarf_Word bits;
    if (!dwarf_attr_integrate(variable, DW_AT_const_value, &attribute) ||
        dwarf_formsdata(&attribute, &number) || dwarf_formudata(&attribute, &bits))
        return false;
    unsigned form = dwarf_whatform(&attribute);
    bool has_sign = form == DW_FORM_sdata || form == DW_FORM_implicit_const;
    *value = form == DW_FORM_udata ? (int64_t)bits : number;
    return has_sign || form == DW_FORM_udata || number >= 0;
}

static uint64_t size_of(Dwarf_Die *variable)
{
    Dwarf_Attribute attribute;
    Dwarf_Die type;
    Dwarf_Word size;
    bool known = dwarf_attr_integrate(variable, DW_AT_type, &attribute) &&
                 dwarf_formref_die(&attribute, &type) && !dwarf_aggregate_size(&type, &size);
    return known ? size : 0;
}

/* Do two variables of one line have the name there? */
static void look_for_second(const instance *x)
{
    ranges both = {0};
    for (size_t i = 0; i < x->stands.len; i++)
        add_within(x->taken, x->stands.data[i].from, x->stands.data[i].to, &both);
    x->v->is_ambiguous |= both.len != 0;
    ft_vec_release(&both);
    for (size_t i = 0; i < x->stands.len; i++) ft_vec_push(x->taken, x->stands.data[i]);
}

static void add_variable(const instance *x, Dwarf_Die *variable)
{
    Dwarf_Attribute location;
    int64_t value;
    bool has = dwarf_attr_integrate(variable, DW_AT_location, &location) != NULL;
    bool constant = !has && constant_of(variable, &value);
    x->v->size = size_of(variable);
    look_for_second(x);
    for (size_t i = 0; i < x->stands.len; i++) {
        range r = x->stands.data[i];
        if (constant)
            ft_vec_push(&x->v->places,
                        (ft_local_place){r.from, r.to, FT_LOCAL_VALUE, FT_LOCAL_ZERO, value});
        else
            add_places(x, has ? &location : NULL, r);
    }
}

/* ---- calls that the debug information has ---- */

static bool has_name(Dwarf_Die *call, const char *name)
{
    Dwarf_Attribute attribute;
    Dwarf_Die callee;
    bool known = (dwarf_attr(call, DW_AT_call_origin, &attribute) ||
                  dwarf_attr(call, DW_AT_abstract_origin, &attribute)) &&
                 dwarf_formref_die(&attribute, &callee);
    const char *own = known ? dwarf_diename(&callee) : NULL;
    return own && strcmp(own, name) == 0;
}

static bool return_of(Dwarf_Die *call, Dwarf_Addr *pc)
{
    Dwarf_Attribute attribute;
    if (dwarf_attr(call, DW_AT_call_return_pc, &attribute)) return !dwarf_formaddr(&attribute, pc);
    return !dwarf_lowpc(call, pc);
}

static void look_at_call(ft_local_variable *v, Dwarf_Die *call)
{
    Dwarf_Addr pc;
    if (!has_name(call, v->callee) || !return_of(call, &pc)) return;
    for (size_t i = 0; i < v->places.len; i++) {
        const ft_local_place *p = &v->places.data[i];
        if (pc - 1 >= p->from && pc - 1 < p->to && p->kind == FT_LOCAL_NOWHERE) v->is_opaque = true;
    }
}

static void look_at_calls(ft_local_variable *v, Dwarf_Die *scope, unsigned depth)
{
    Dwarf_Die die;
    if (!depth || dwarf_child(scope, &die)) return;
    do {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site)
            look_at_call(v, &die);
        else
            look_at_calls(v, &die, depth - 1);
    } while (!dwarf_siblingof(&die, &die));
}

/* ---- the walk ---- */

static bool is_variable(const ft_local_variable *v, Dwarf_Die *die)
{
    int line;
    const char *name = dwarf_diename(die);
    return name && strcmp(name, v->name) == 0 && !dwarf_decl_line(die, &line) &&
           (uint32_t)line == v->line && is_file(dwarf_decl_file(die), v->file);
}

static void find_in(const instance *x, Dwarf_Die *scope, unsigned depth);

static void enter(const instance *from, Dwarf_Die *function, unsigned depth)
{
    bool inlined = dwarf_tag(function) == DW_TAG_inlined_subroutine;
    ranges taken = {0};
    instance x = {.v = from->v,
                  .taken = &taken,
                  .unit = from->unit,
                  .function = function,
                  .outer = inlined ? from->outer : function};
    add_code(function, &x.code);
    if (x.code.len && x.outer) {
        enum { DEPTH = 64 };
        add_rows(&x);
        add_inlined(&x, function, DEPTH);
        find_in(&x, function, depth);
    }
    ft_vec_release(&x.code);
    ft_vec_release(&x.stands);
    ft_vec_release(&taken);
}

/* The variables of a block exist in its code alone: another one may have the name, or the place,
 * elsewhere. */
static void enter_block(const instance *from, Dwarf_Die *block, unsigned depth)
{
    instance x = *from;
    ranges code = {0};
    add_code(block, &code);
    x.stands = (ranges){0};
    for (size_t i = 0; i < code.len; i++)
        add_within(&from->stands, code.data[i].from, code.data[i].to, &x.stands);
    find_in(&x, block, depth);
    ft_vec_release(&x.stands);
    ft_vec_release(&code);
}

static void find_in(const instance *x, Dwarf_Die *scope, unsigned depth)
{
    Dwarf_Die die;
    if (!depth || dwarf_child(scope, &die)) return;
    do {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
            enter(x, &die, depth - 1);
        else if (tag == DW_TAG_lexical_block)
            enter_block(x, &die, depth - 1);
        else if (tag == DW_TAG_namespace)
            find_in(x, &die, depth - 1);
        else if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) && x->function &&
                 is_variable(x->v, &die))
            add_variable(x, &die);
    } while (!dwarf_siblingof(&die, &die));
}

static void find(Dwarf *debug, ft_local_variable *v)
{
    enum { DEPTH = 64 };
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    while (!dwarf_get_units(debug, unit, &unit, NULL, NULL, &die, NULL)) {
        instance x = {.v = v, .unit = &die};
        find_in(&x, &die, DEPTH);
    }
    unit = NULL;
    while (*v->callee && !dwarf_get_units(debug, unit, &unit, NULL, NULL, &die, NULL))
        look_at_calls(v, &die, DEPTH);
}

ft_status ft_local_places_find(const char *program, ft_local_variable *variable, ft_error *err)
{
    FT_REQUIRE(program && variable && variable->name && variable->callee);
    int fd = open(program, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return ft_error_set(err, FT_USAGE, "%s: %s", program, strerror(errno));
    Dwarf *debug = dwarf_begin(fd, DWARF_C_READ);
    if (debug) find(debug, variable);
    dwarf_end(debug);
    close(fd);
    if (debug) return FT_OK;
    return ft_error_set(err, FT_INPUT, "%s has no debug information: build it with foretell-cc -g",
                        program);
}

void ft_local_places_release(ft_local_variable *variable)
{
    ft_vec_release(&variable->places);
}

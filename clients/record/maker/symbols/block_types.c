#include "maker/symbols/block_types.h"

#include <ctype.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "maker/symbols/members.h"

enum { MAX_NESTING = 32, MAX_STEPS = 16 };

typedef struct by_name {
    ft_intern names;
    FT_VEC(Dwarf_Die) dies; /* by name */
} by_name;

/* A unit's names outside of functions. A type and a variable may share a name. */
typedef struct unit_names {
    by_name variables, types;
} unit_names;

struct ft_pointees {
    ft_map numbers; /* offset of a unit -> its number */
    FT_VEC(unit_names) units;
};

ft_pointees *ft_pointees_new(void)
{
    return ft_calloc(1, sizeof(ft_pointees));
}

static void release_names(by_name *of)
{
    ft_intern_release(&of->names);
    ft_vec_release(&of->dies);
}

void ft_pointees_free(ft_pointees *pointees)
{
    if (!pointees) return;
    for (size_t i = 0; i < pointees->units.len; i++) {
        release_names(&pointees->units.data[i].variables);
        release_names(&pointees->units.data[i].types);
    }
    ft_vec_release(&pointees->units);
    ft_map_release(&pointees->numbers);
    free(pointees);
}

/* ---- names ---- */

static bool is_type(int tag)
{
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
           tag == DW_TAG_typedef;
}

/* A type that is only declared here says nothing. */
static void add_names(unit_names *to, Dwarf_Die *scope, int nesting)
{
    Dwarf_Die die;
    if (nesting > MAX_NESTING || dwarf_child(scope, &die)) return;
    do {
        int tag = dwarf_tag(&die);
        const char *name = dwarf_diename(&die);
        if (tag == DW_TAG_namespace) add_names(to, &die, nesting + 1);
        if (!name || (tag != DW_TAG_variable && !is_type(tag))) continue;
        if (is_type(tag) && dwarf_hasattr(&die, DW_AT_declaration)) continue;
        by_name *list = is_type(tag) ? &to->types : &to->variables;
        uint32_t id = ft_intern_add(&list->names, name, strlen(name));
        if (id == list->dies.len) ft_vec_push(&list->dies, die);
    } while (dwarf_siblingof(&die, &die) == 0);
}

static const unit_names *names_of(ft_pointees *pointees, Dwarf_Die *unit)
{
    bool fresh;
    uint64_t *number =
        ft_map_slot(&pointees->numbers, (uintptr_t)unit->addr, pointees->units.len, &fresh);
    if (fresh) {
        unit_names names = {.types = {.dies = {0}}};
        add_names(&names, unit, 0);
        ft_vec_push(&pointees->units, names);
    }
    return &pointees->units.data[*number];
}

static bool find_outside(const by_name *list, const char *name, size_t length, Dwarf_Die *die)
{
    uint32_t id = ft_intern_find(&list->names, name, length);
    if (id != FT_NO_ID) *die = list->dies.data[id];
    return id != FT_NO_ID;
}

static bool is_called(Dwarf_Die *die, const char *name, size_t length)
{
    const char *own = dwarf_diename(die);
    return own && strlen(own) == length && memcmp(own, name, length) == 0;
}

/* A variable or parameter; those of inner blocks, and of calls that are no calls, go before. */
static bool find_inside(Dwarf_Die *scope, Dwarf_Addr address, const char *name, size_t length,
                        int nesting, Dwarf_Die *found)
{
    Dwarf_Die die;
    bool there = false;
    if (nesting > MAX_NESTING || dwarf_child(scope, &die)) return false;
    do {
        int tag = dwarf_tag(&die);
        bool block = tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine;
        if (block && dwarf_haspc(&die, address) == 1 &&
            find_inside(&die, address, name, length, nesting + 1, found))
            return true;
        bool variable = tag == DW_TAG_variable || tag == DW_TAG_formal_parameter;
        if (there || !variable || !is_called(&die, name, length)) continue;
        *found = die;
        there = true;
    } while (dwarf_siblingof(&die, &die) == 0);
    return there;
}

/* ---- types ---- */

static bool is_pointer(Dwarf_Die *type)
{
    int tag = dwarf_tag(type);
    return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type;
}

/* Steps to the target of a pointer type, or the element of an array type. */
static bool step_in(Dwarf_Die *type)
{
    Dwarf_Die inner;
    if ((!is_pointer(type) && dwarf_tag(type) != DW_TAG_array_type) ||
        !ft_members_type(type, &inner))
        return false;
    *type = inner;
    return true;
}

/* The type of that member; those of bases too. */
static bool step_to(Dwarf_Die *type, const char *name, size_t length, int nesting)
{
    Dwarf_Die member, inner;
    if (nesting > MAX_NESTING || dwarf_child(type, &member)) return false;
    do {
        int tag = dwarf_tag(&member);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
            !ft_members_type(&member, &inner))
            continue;
        bool hidden = tag == DW_TAG_inheritance || !dwarf_diename(&member);
        if (hidden ? step_to(&inner, name, length, nesting + 1)
                   : is_called(&member, name, length)) {
            *type = inner;
            return true;
        }
    } while (dwarf_siblingof(&member, &member) == 0);
    return false;
}

/* ---- what the line says ---- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* A name, and what comes behind it: `first` of the expression, a member, an element of it. */
typedef struct step {
    const char *name;
    size_t length;   /* 0: an element */
    bool to_pointee; /* "->" before the name */
} step;

typedef struct expression {
    step steps[MAX_STEPS]; /* the last first */
    size_t n;
    const char *begin;
} expression;

static const char *before_blanks(const char *line, const char *at)
{
    while (at > line && isspace((unsigned char)at[-1])) at--;
    return at;
}

/* In front of "[...]"; NULL: it has no beginning. */
static const char *before_index(const char *line, const char *at)
{
    int depth = 0;
    while (at > line) {
        at--;
        depth += (*at == ']') - (*at == '[');
        if (depth == 0) return at;
    }
    return NULL;
}

/* "a->b[i].c" that ends at `end`. */
static bool read_backwards(const char *line, const char *end, expression *e)
{
    *e = (expression){.n = 0};
    for (const char *at = before_blanks(line, end); e->n < MAX_STEPS;
         at = before_blanks(line, at)) {
        const char *last = at;
        if (at > line && at[-1] == ']') {
            at = before_index(line, at);
            if (!at) return false;
            e->steps[e->n++] = (step){.length = 0};
            continue;
        }
        while (at > line && is_word(at[-1])) at--;
        if (at == last || isdigit((unsigned char)*at)) return false;
        step *named = &e->steps[e->n++];
        *named = (step){.name = at, .length = (size_t)(last - at)};
        e->begin = at;
        at = before_blanks(line, at);
        if (at - line >= 2 && at[-1] == '>' && at[-2] == '-')
            at -= 2;
        else if (at > line && at[-1] == '.')
            at--;
        else
            return true;
        named->to_pointee = *at == '-';
    }
    return false;
}

/* The type of the expression's first name: a variable, or a member of the object at hand. */
static bool begin_at(ft_pointees *pointees, const ft_asked_block *b, const step *first,
                     Dwarf_Die *type)
{
    Dwarf_Die die;
    if (find_inside(b->function, b->address, first->name, first->length, 0, &die))
        return ft_members_type(&die, type);
    if (find_inside(b->function, b->address, "this", 4, 0, &die) && ft_members_type(&die, type) &&
        step_in(type) && step_to(type, first->name, first->length, 0))
        return true;
    const by_name *variables = &names_of(pointees, b->unit)->variables;
    return find_outside(variables, first->name, first->length, &die) && ft_members_type(&die, type);
}

static bool evaluate(ft_pointees *pointees, const ft_asked_block *b, const expression *e,
                     Dwarf_Die *type)
{
    size_t i = e->n;
    if (!i || !begin_at(pointees, b, &e->steps[--i], type)) return false;
    while (i > 0) {
        const step *next = &e->steps[--i];
        if (dwarf_tag(type) == DW_TAG_reference_type && !step_in(type)) return false;
        if (!next->length || next->to_pointee) {
            if (!step_in(type)) return false;
        }
        if (next->length && !step_to(type, next->name, next->length, 0)) return false;
    }
    return true;
}

/* "*out = ..." and "char **out = ..." look the same here. */
static bool is_doubtful(const char *line, const expression *e, Dwarf_Die *pointee)
{
    const char *at = before_blanks(line, e->begin);
    return at > line && at[-1] == '*' && is_pointer(pointee);
}

/* The type that the expression which ends there points to. */
static bool pointed_to(ft_pointees *pointees, const ft_asked_block *b, const char *end,
                       Dwarf_Die *type)
{
    expression e;
    return read_backwards(b->line, end, &e) && evaluate(pointees, b, &e, type) &&
           is_pointer(type) && step_in(type) && !is_doubtful(b->line, &e, type);
}

static bool is_assignment(const char *line, const char *at)
{
    return at > line && *at == '=' && at[1] != '=' && !strchr("=!<>+-*/%&|^", at[-1]);
}

static bool begins_word(const char *line, const char *at, const char *word)
{
    size_t length = strlen(word);
    return strncmp(at, word, length) == 0 && !is_word(at[length]) &&
           (at == line || !is_word(at[-1]));
}

/* Does what is assigned behind the sign come from a call? The block is no other one's. */
static bool is_of_call(const char *line, const char *at)
{
    int depth = 0;
    for (at++; *at && depth >= 0 && *at != ';' && (depth || *at != ','); at++) {
        depth += (*at == '(') - (*at == ')');
        if (*at == '(' && (is_word(at[-1]) || at[-1] == '>')) return true;
        if (begins_word(line, at, "new")) return true;
    }
    return false;
}

/* Behind blanks, brackets and words that say what kind of a name comes. */
static const char *to_name(const char *at)
{
    static const char *const words[] = {"struct", "union", "class", "const", "typename"};
    at += strspn(at, " \t(");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);
        if (strncmp(at, words[i], length) == 0 && isspace((unsigned char)at[length]))
            return to_name(at + length);
    }
    return at;
}

/* The type that is named there, perhaps with its namespaces. */
static bool named_type(ft_pointees *pointees, const ft_asked_block *b, const char *at,
                       Dwarf_Die *type)
{
    Dwarf_Die die;
    size_t length = 0;
    for (at = to_name(at);; at += length + 2) {
        for (length = 0; is_word(at[length]);) length++;
        if (at[length] != ':' || at[length + 1] != ':') break;
    }
    return length && find_outside(&names_of(pointees, b->unit)->types, at, length, &die) &&
           dwarf_peel_type(&die, type) == 0;
}

/* "sizeof *a->b": what it points to. */
static bool pointee_of_operand(ft_pointees *pointees, const ft_asked_block *b, const char *at,
                               Dwarf_Die *type)
{
    at += strspn(at, " \t(");
    if (*at++ != '*') return false;
    at += strspn(at, " \t(");
    while (is_word(*at) || *at == '.' || *at == '[' || *at == ']' || *at == '>' ||
           (*at == '-' && at[1] == '>'))
        at++;
    expression e;
    return read_backwards(b->line, at, &e) && evaluate(pointees, b, &e, type) && step_in(type);
}

/* The type that the size is taken of, or that an object is made of. */
static bool sized_type(ft_pointees *pointees, const ft_asked_block *b, const char *at,
                       Dwarf_Die *type)
{
    if (begins_word(b->line, at, "sizeof"))
        return pointee_of_operand(pointees, b, at + 6, type) ||
               named_type(pointees, b, at + 6, type);
    return begins_word(b->line, at, "new") && named_type(pointees, b, at + 3, type);
}

/* ---- the answer ---- */

static const char *last_sizeof(const char *line, const char *end)
{
    const char *last = NULL;
    for (const char *at = line; at < end; at++)
        if (begins_word(line, at, "sizeof")) last = at;
    return last;
}

/* Is there a comma, or the end of what it is in, in between? */
static bool is_apart(const char *from, const char *to)
{
    int depth = 0;
    for (; from < to && depth >= 0 && *from != ','; from++)
        depth += (*from == '(') - (*from == ')');
    return from < to;
}

/* Does the line add something to a size: "sizeof *m + length"? */
static bool adds(const char *line)
{
    for (const char *at = line; (at = strchr(at, '+')); at++) {
        const char *before = last_sizeof(line, at), *behind = at + 1 + strspn(at + 1, " \t(");
        if ((before && !is_apart(before, at)) || begins_word(line, behind, "sizeof")) return true;
    }
    return false;
}

static bool is_plain(Dwarf_Die *type)
{
    int tag = dwarf_tag(type);
    return tag == DW_TAG_base_type || tag == DW_TAG_enumeration_type || is_pointer(type);
}

/* May it ask for several of a type? Then it says how large one is. */
static bool may_be_several(const char *line, Dwarf_Die *type)
{
    if (is_plain(type)) return true;
    for (const char *at = line; *at; at++)
        if (begins_word(line, at, "sizeof") || begins_word(line, at, "new")) return !adds(line);
    return false;
}

/* A block has some bytes more than what was asked for. */
static bool is_once(uint64_t block, uint64_t size)
{
    enum { LEAST = 24, SLACK = 16, LARGE = 1 << 17, PAGE = 4096 };
    if (size > block) return false;
    return block <= LEAST || block - size < (block < LARGE ? SLACK : SLACK + PAGE);
}

typedef struct answer {
    Dwarf_Die type;
    uint64_t size; /* 0: none */
    bool once;
    bool doubtful; /* another type would do as well */
} answer;

/* Bytes are what any memory is made of. Of two types nobody knows which one it is. */
static void propose(answer *a, const ft_asked_block *b, Dwarf_Die *type)
{
    Dwarf_Word size;
    if (dwarf_aggregate_size(type, &size) || size < 2 || size > b->size) return;
    bool other = a->size && a->type.addr != type->addr;
    *a = (answer){*type, size, !is_plain(type) && is_once(b->size, size), a->doubtful || other};
}

/* The variable assigned to may point to a base class of the object allocated. */
static const answer *better(const answer *assigned, const answer *sized)
{
    if (!assigned->size || !sized->size) return assigned->size ? assigned : sized;
    if (assigned->once != sized->once) return assigned->once ? assigned : sized;
    return assigned->once && sized->size >= assigned->size ? sized : assigned;
}

bool ft_pointees_find(ft_pointees *pointees, const ft_asked_block *b, ft_pointee *pointee)
{
    answer assigned = {.size = 0}, sized = {.size = 0};
    Dwarf_Die found;
    for (const char *at = b->line; *at; at++) {
        if (is_assignment(b->line, at) && is_of_call(b->line, at) &&
            pointed_to(pointees, b, at, &found))
            propose(&assigned, b, &found);
        if (sized_type(pointees, b, at, &found)) propose(&sized, b, &found);
    }
    const answer *best = better(&assigned, &sized);
    if (!best->size || best->doubtful) return false;
    Dwarf_Die type = best->type;
    *pointee = (ft_pointee){type, best->size, is_plain(&type),
                            !best->once && may_be_several(b->line, &type)};
    return true;
}

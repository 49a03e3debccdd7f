#include "instruction.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { OPERANDS = 4 };

/* ---- text. Names of instructions and registers may be written in capitals. */

static bool is(ft_asm_text t, const char *word)
{
    return t.n == strlen(word) && !strncasecmp(t.at, word, t.n);
}

static bool begins(ft_asm_text t, const char *word)
{
    return t.n >= strlen(word) && !strncasecmp(t.at, word, strlen(word));
}

static bool has(ft_asm_text t, char c)
{
    return t.n && memchr(t.at, c, t.n);
}

static ft_asm_text trimmed(ft_asm_text t)
{
    for (; t.n && isspace((unsigned char)*t.at); t.at++) t.n--;
    while (t.n && isspace((unsigned char)t.at[t.n - 1])) t.n--;
    return t;
}

/* The first word; `t` goes on behind it. */
static ft_asm_text take_word(ft_asm_text *t)
{
    *t = trimmed(*t);
    ft_asm_text word = {t->at, 0};
    while (word.n < t->n && !isspace((unsigned char)t->at[word.n])) word.n++;
    *t = trimmed((ft_asm_text){t->at + word.n, t->n - word.n});
    return word;
}

/* Commas inside of parentheses divide nothing. */
static unsigned split(ft_asm_text t, ft_asm_text *operands)
{
    unsigned n = 0, depth = 0;
    size_t from = 0;
    for (size_t i = 0; i <= t.n && t.n; i++) {
        if (i < t.n && t.at[i] == '(') depth++;
        if (i < t.n && t.at[i] == ')' && depth) depth--;
        if (i < t.n && (t.at[i] != ',' || depth)) continue;
        if (n == OPERANDS) return 0;
        operands[n++] = trimmed((ft_asm_text){t.at + from, i - from});
        from = i + 1;
    }
    return n;
}

/* ---- operands */

unsigned ft_asm_register_size(ft_asm_text name)
{
    static const char *const bytes[] = {"%al", "%bl", "%cl",  "%dl",  "%ah",  "%bh",
                                        "%ch", "%dh", "%sil", "%dil", "%bpl", "%spl"};
    static const char *const words[] = {"ax", "bx", "cx", "dx", "si", "di", "bp", "sp"};
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        if (is(name, bytes[i])) return 1;
    if (name.n < 3 || name.at[0] != '%') return 0;
    int first = tolower((unsigned char)name.at[1]);
    if (first == 'r' && isdigit((unsigned char)name.at[2])) {
        static const char sizes[] = "bwd";
        const char *size = strchr(sizes, tolower((unsigned char)name.at[name.n - 1]));
        return size ? 1u << (size - sizes) : 8;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        ft_asm_text end = {name.at + name.n - 2, 2};
        if (!is(end, words[i])) continue;
        if (name.n == 3) return 2;
        if (name.n == 4) return first == 'e' ? 4 : first == 'r' ? 8 : 0;
    }
    return 0;
}

static bool is_vector(ft_asm_text operand)
{
    return begins(operand, "%xmm");
}

/* Displacement, symbol or base: what `lea` takes. */
static bool is_memory(ft_asm_text operand)
{
    return operand.n && operand.at[0] != '%' && operand.at[0] != '$' && operand.at[0] != '*';
}

/* Of the thread's own: behind a segment register, which holds where that is. */
static bool is_segment(ft_asm_text operand)
{
    return begins(operand, "%fs:") || begins(operand, "%gs:");
}

/* No symbol: what counts from the instruction itself, which is somewhere else with calls around it.
 */
static bool is_number(ft_asm_text t)
{
    char digits[32], *end;
    if (t.n >= sizeof digits) return false;
    memcpy(digits, t.at, t.n);
    digits[t.n] = 0;
    strtoll(digits, &end, 0);
    return !*end;
}

/* Its registers have eight bytes, and it is in no syntax that is unknown here. */
static bool is_plain_memory(ft_asm_text operand)
{
    if (!is_memory(operand) || has(operand, '"') || has(operand, '\\') || has(operand, '['))
        return false;
    const char *open = memchr(operand.at, '(', operand.n);
    if (!open) return true;
    ft_asm_text displacement = trimmed((ft_asm_text){operand.at, (size_t)(open - operand.at)});
    ft_asm_text inside = {open + 1, (size_t)(operand.at + operand.n - open - 1)}, parts[OPERANDS];
    if (!inside.n || inside.at[inside.n - 1] != ')') return false;
    inside.n--;
    unsigned n = split(inside, parts);
    if (n && is(parts[0], "%rip") && is_number(displacement)) return false;
    for (unsigned i = 0; i < n && i < 2; i++)
        if (parts[i].n && !is(parts[i], "%rip") && ft_asm_register_size(parts[i]) != 8)
            return false;
    return n > 0;
}

/* ---- instructions */

/* How the size is known: by a suffix or, but for shifts, whose register counts bits, by a register.
 */
enum { BY_SUFFIX, BY_SUFFIX_ALONE, BYTE, WORD, LONG, QUAD, DOUBLE_QUAD };

/* Of memory that is read where it is a source, by what it does where it is the last operand. */
typedef struct row {
    const char *name;
    ft_asm_access as_target; /* NONE: it is no memory */
    unsigned char operands;  /* at most */
    unsigned char size;
    bool bits;   /* the first operand counts bits in the second one */
    bool anyhow; /* its access is the same wherever the operand stands */
} row;

static const row rows[] = {
    {"mov", FT_ASM_WRITE, 2, BY_SUFFIX, 0, 0},
    {"movnti", FT_ASM_WRITE, 2, BY_SUFFIX, 0, 0},
    {"add", FT_ASM_UPDATE, 2, BY_SUFFIX, 0, 0},
    {"adc", FT_ASM_UPDATE, 2, BY_SUFFIX, 0, 0},
    {"sub", FT_ASM_UPDATE, 2, BY_SUFFIX, 0, 0},
    {"sbb", FT_ASM_UPDATE, 2, BY_SUFFIX, 0, 0},
    {"and", FT_ASM_UPDATE, 2, BY_SUFFIX, 0, 0},
    {"or", FT_ASM_UPDATE, 2, BY_SUFFIX, 0, 0},
    {"xor", FT_ASM_UPDATE, 2, BY_SUFFIX, 0, 0},
    {"inc", FT_ASM_UPDATE, 1, BY_SUFFIX, 0, 0},
    {"dec", FT_ASM_UPDATE, 1, BY_SUFFIX, 0, 0},
    {"neg", FT_ASM_UPDATE, 1, BY_SUFFIX, 0, 0},
    {"not", FT_ASM_UPDATE, 1, BY_SUFFIX, 0, 0},
    {"shl", FT_ASM_UPDATE, 2, BY_SUFFIX_ALONE, 0, 0},
    {"sal", FT_ASM_UPDATE, 2, BY_SUFFIX_ALONE, 0, 0},
    {"shr", FT_ASM_UPDATE, 2, BY_SUFFIX_ALONE, 0, 0},
    {"sar", FT_ASM_UPDATE, 2, BY_SUFFIX_ALONE, 0, 0},
    {"rol", FT_ASM_UPDATE, 2, BY_SUFFIX_ALONE, 0, 0},
    {"ror", FT_ASM_UPDATE, 2, BY_SUFFIX_ALONE, 0, 0},
    {"xadd", FT_ASM_UPDATE, 2, BY_SUFFIX, 0, 0},
    {"xchg", FT_ASM_UPDATE, 2, BY_SUFFIX, 0, 1},
    {"cmpxchg", FT_ASM_COMPARE, 2, BY_SUFFIX, 0, 0},
    {"cmpxchg8b", FT_ASM_COMPARE, 1, QUAD, 0, 0},
    {"cmpxchg16b", FT_ASM_COMPARE, 1, DOUBLE_QUAD, 0, 0},
    {"bt", FT_ASM_READ, 2, BY_SUFFIX, 1, 0},
    {"bts", FT_ASM_UPDATE, 2, BY_SUFFIX, 1, 0},
    {"btr", FT_ASM_UPDATE, 2, BY_SUFFIX, 1, 0},
    {"btc", FT_ASM_UPDATE, 2, BY_SUFFIX, 1, 0},
    {"cmp", FT_ASM_READ, 2, BY_SUFFIX, 0, 1},
    {"test", FT_ASM_READ, 2, BY_SUFFIX, 0, 1},
    {"mul", FT_ASM_READ, 1, BY_SUFFIX, 0, 1},
    {"div", FT_ASM_READ, 1, BY_SUFFIX, 0, 1},
    {"idiv", FT_ASM_READ, 1, BY_SUFFIX, 0, 1},
    {"imul", FT_ASM_READ, 3, BY_SUFFIX, 0, 1},
    {"bsf", FT_ASM_NONE, 2, BY_SUFFIX, 0, 0},
    {"bsr", FT_ASM_NONE, 2, BY_SUFFIX, 0, 0},
    {"tzcnt", FT_ASM_NONE, 2, BY_SUFFIX, 0, 0},
    {"lzcnt", FT_ASM_NONE, 2, BY_SUFFIX, 0, 0},
    {"popcnt", FT_ASM_NONE, 2, BY_SUFFIX, 0, 0},
    {"movzbw", FT_ASM_NONE, 2, BYTE, 0, 0},
    {"movzbl", FT_ASM_NONE, 2, BYTE, 0, 0},
    {"movzbq", FT_ASM_NONE, 2, BYTE, 0, 0},
    {"movzwl", FT_ASM_NONE, 2, WORD, 0, 0},
    {"movzwq", FT_ASM_NONE, 2, WORD, 0, 0},
    {"movsbw", FT_ASM_NONE, 2, BYTE, 0, 0},
    {"movsbl", FT_ASM_NONE, 2, BYTE, 0, 0},
    {"movsbq", FT_ASM_NONE, 2, BYTE, 0, 0},
    {"movswl", FT_ASM_NONE, 2, WORD, 0, 0},
    {"movswq", FT_ASM_NONE, 2, WORD, 0, 0},
    {"movslq", FT_ASM_NONE, 2, LONG, 0, 0},
    {"movd", FT_ASM_WRITE, 2, LONG, 0, 0},
    {"movss", FT_ASM_WRITE, 2, LONG, 0, 0},
    {"movsd", FT_ASM_WRITE, 2, QUAD, 0, 0},
    {"movaps", FT_ASM_WRITE, 2, DOUBLE_QUAD, 0, 0},
    {"movups", FT_ASM_WRITE, 2, DOUBLE_QUAD, 0, 0},
    {"movapd", FT_ASM_WRITE, 2, DOUBLE_QUAD, 0, 0},
    {"movupd", FT_ASM_WRITE, 2, DOUBLE_QUAD, 0, 0},
    {"movdqa", FT_ASM_WRITE, 2, DOUBLE_QUAD, 0, 0},
    {"movdqu", FT_ASM_WRITE, 2, DOUBLE_QUAD, 0, 0},
    {"movntdq", FT_ASM_WRITE, 2, DOUBLE_QUAD, 0, 0},
    {"movntdqa", FT_ASM_WRITE, 2, DOUBLE_QUAD, 0, 0},
    {"lddqu", FT_ASM_NONE, 2, DOUBLE_QUAD, 0, 0},
    {"vmovdqa", FT_ASM_WRITE, 2, DOUBLE_QUAD, 0, 0},
    {"vmovdqu", FT_ASM_WRITE, 2, DOUBLE_QUAD, 0, 0},
    {"vmovaps", FT_ASM_WRITE, 2, DOUBLE_QUAD, 0, 0},
    {"vmovups", FT_ASM_WRITE, 2, DOUBLE_QUAD, 0, 0},
};
/* These stand before the name of a condition, and the size is known without a suffix. */
static const row conditional[] = {
    {"set", FT_ASM_WRITE, 1, BYTE, 0, 0},
    {"cmov", FT_ASM_NONE, 2, BY_SUFFIX, 0, 0},
};

static const row *row_named(ft_asm_text name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (is(name, rows[i].name)) return &rows[i];
    for (size_t i = 0; i < sizeof conditional / sizeof *conditional; i++)
        if (begins(name, conditional[i].name)) return &conditional[i];
    return NULL;
}

static unsigned size_of_suffix(char c)
{
    static const char suffixes[] = "bwlq";
    const char *found = c ? strchr(suffixes, tolower((unsigned char)c)) : NULL;
    return found ? 1u << (found - suffixes) : 0;
}

/* By its name, with and without a suffix, whose size comes back. */
static const row *find(ft_asm_text name, unsigned *size)
{
    const row *found = row_named(name);
    *size = 0;
    if (found || name.n < 2) return found;
    found = row_named((ft_asm_text){name.at, name.n - 1});
    *size = size_of_suffix(name.at[name.n - 1]);
    return *size && found && found->size < BYTE ? found : NULL;
}

/* Without a suffix in the name, the other operand's register gives the size. */
static unsigned size_by_registers(const ft_asm_text *operands, unsigned n)
{
    for (unsigned i = n; i-- > 0;)
        if (ft_asm_register_size(operands[i])) return ft_asm_register_size(operands[i]);
    return 0;
}

static unsigned size_of(const row *r, unsigned suffix, const ft_asm_text *operands, unsigned n)
{
    static const unsigned sizes[] = {
        [BYTE] = 1, [WORD] = 2, [LONG] = 4, [QUAD] = 8, [DOUBLE_QUAD] = 16};
    if (r->size == DOUBLE_QUAD && n == 2 && !is_vector(operands[0]) && !is_vector(operands[1]))
        return 0; /* of wider registers */
    if (r->size >= BYTE) return sizes[r->size];
    return suffix || r->size == BY_SUFFIX_ALONE ? suffix : size_by_registers(operands, n);
}

static bool is_condition(ft_asm_text name)
{
    return begins(name, "set") || begins(name, "cmov");
}

bool ft_asm_is_prefix(ft_asm_text word)
{
    static const char *const words[] = {
        "lock",   "xacquire", "xrelease", "rep", "repe", "repz", "repne", "repnz", "bnd", "notrack",
        "data16", "addr32",   "cs",       "ds",  "es",   "fs",   "gs",    "ss",    "rex"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is(word, words[i])) return true;
    return begins(word, "rex.");
}

/* Behind its prefixes: locked, and hinted at by those that change nothing here; *other: any of
 * those that make it something else. */
static ft_asm_text take_name(ft_asm_text *rest, bool *locked, bool *other)
{
    ft_asm_text word = take_word(rest);
    for (; ft_asm_is_prefix(word); word = take_word(rest)) {
        if (is(word, "lock"))
            *locked = true;
        else if (!is(word, "xacquire") && !is(word, "xrelease"))
            *other = true;
    }
    return word;
}

static void understand(ft_asm_instruction *i, ft_asm_text name, const ft_asm_text *operands,
                       unsigned n)
{
    unsigned suffix, where = n;
    const row *r = find(name, &suffix);
    for (unsigned o = 0; o < n; o++)
        if (is_memory(operands[o])) where = o;
    if (!r || where == n || n > r->operands || !is_plain_memory(operands[where])) return;
    if (is_condition(name)) suffix = 0;
    bool target = where == n - 1;
    unsigned size = size_of(r, suffix, operands, n);
    ft_asm_access access = target || r->anyhow ? r->as_target : FT_ASM_READ;
    if (!size || access == FT_ASM_NONE) return;
    if (r->bits && ft_asm_register_size(operands[0]) > 1) i->bit = operands[0];
    i->access = access;
    i->size = size;
    i->memory = operands[where];
}

ft_asm_instruction ft_asm_understand(ft_asm_text statement)
{
    ft_asm_instruction i = {.access = FT_ASM_NONE};
    ft_asm_text rest = statement, operands[OPERANDS];
    bool other = false;
    ft_asm_text name = take_name(&rest, &i.orders, &other);
    unsigned n = split(rest, operands), memory = 0;
    for (unsigned o = 0; o < n; o++) {
        if (is_segment(operands[o])) return (ft_asm_instruction){.access = FT_ASM_NONE};
        memory += is_memory(operands[o]);
    }
    i.clock = is(name, "rdtsc") || is(name, "rdtscp");
    i.orders |= begins(name, "xchg") && memory;
    if (!other) understand(&i, name, operands, n);
    return i;
}

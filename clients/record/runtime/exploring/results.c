/* Whether a program looks at what a call gives back: read from its code behind the call. */
#include "exploring/exploring.h"

/* Of an instruction with a ModRM byte (Intel's manual, volume 2, chapter 2.1). */
typedef struct operands {
    unsigned reg, rm;     /* numbers of registers; rm: NONE of memory */
    unsigned base, index; /* of memory; NONE: none */
    unsigned length;      /* of ModRM, SIB and displacement */
} operands;

/* AH: of byte instructions without a REX prefix. */
enum { RAX = 0, AH = 4, NONE = 16, MOST_INSTRUCTIONS = 24 };

static unsigned displacement(unsigned mod)
{
    return mod == 1 ? 1 : mod == 2 ? 4 : 0;
}

static operands read_operands(const unsigned char *c, unsigned rex)
{
    unsigned mod = c[0] >> 6, low = c[0] & 7, high = (rex & 1) << 3;
    operands o = {.reg = (c[0] >> 3 & 7) | (rex & 4) << 1,
                  .rm = NONE,
                  .base = low | high,
                  .index = NONE,
                  .length = 1 + displacement(mod)};
    if (mod == 3) {
        o.rm = o.base;
        o.base = NONE;
    } else if (low == 4) {
        unsigned index = (c[1] >> 3 & 7) | (rex & 2) << 2, base = c[1] & 7;
        bool bare = mod == 0 && base == 5;
        o.length += bare ? 5 : 1;
        o.base = bare ? NONE : base | high;
        o.index = index == 4 ? NONE : index;
    } else if (mod == 0 && low == 5) { /* behind the instruction */
        o.base = NONE;
        o.length += 4;
    }
    return o;
}

static bool addresses_by_rax(const operands *o)
{
    return o->base == RAX || o->index == RAX;
}

typedef enum effect { READS, OVERWRITES, NEITHER } effect;

/* What the instruction at *code does with %rax, and *code behind it. READS also of one that is not
 * known here. */
static effect step(const unsigned char **code)
{
    const unsigned char *c = *code;
    unsigned rex = (*c & 0xF0) == 0x40 ? *c++ : 0, op = *c++;
    int32_t far;
    bool extends = op == 0x0F && (*c == 0xB6 || *c == 0xB7 || *c == 0xBE || *c == 0xBF);
    bool bytes = extends && !(*c & 1);
    if (extends) op = 0x8B, c++;
    operands o = read_operands(c, rex);
    *code = c + o.length;
    if (bytes && !rex && o.rm == AH) return READS;
    switch (op) {
    case 0x90: /* nop */
        *code = c;
        return NEITHER;
    case 0xE8: /* a call: its own result is in %rax then (foretell-cc has gcc keep to that) */
        return OVERWRITES;
    case 0xEB: /* jumps */
        *code = c + 1 + (signed char)*c;
        return NEITHER;
    case 0xE9:
        __builtin_memcpy(&far, c, sizeof far);
        *code = c + sizeof far + far;
        return NEITHER;
    case 0xFF: /* a call by memory */
        return (c[0] >> 3 & 7) == 2 && o.rm != RAX && !addresses_by_rax(&o) ? OVERWRITES : READS;
    case 0x8B: /* moves to a register */
    case 0x63:
        if (o.rm == RAX || addresses_by_rax(&o)) return READS;
        return o.reg == RAX ? OVERWRITES : NEITHER;
    case 0x8D:
        if (addresses_by_rax(&o)) return READS;
        return o.reg == RAX ? OVERWRITES : NEITHER;
    case 0x89: /* moves of a register */
        if (o.reg == RAX || addresses_by_rax(&o)) return READS;
        return o.rm == RAX ? OVERWRITES : NEITHER;
    case 0xC7: /* moves of a number */
        *code += 4;
        if (addresses_by_rax(&o)) return READS;
        return o.rm == RAX ? OVERWRITES : NEITHER;
    case 0x31:
    case 0x33: /* xor of a register with itself */
        if (o.rm != o.reg) return READS;
        return o.reg == RAX ? OVERWRITES : NEITHER;
    default:
        if (op < 0xB8 || op > 0xBF) return READS;
        *code = c + (rex & 8 ? 8 : 4); /* moves of a number to a register */
        return (op & 7) == RAX && !(rex & 1) ? OVERWRITES : NEITHER;
    }
}

bool ft_rt_x_may_use_result(const void *pc)
{
    const unsigned char *code = pc;
    for (int i = 0; i < MOST_INSTRUCTIONS; i++) {
        effect e = step(&code);
        if (e != NEITHER) return e == READS;
    }
    return true;
}

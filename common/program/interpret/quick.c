/* The commonest instructions, without a call for each: registers, instructions and operands of the
 * frame at hand are looked up once. What is rare about one (an error, an access that somebody
 * watches, an address without an object) is left to its handler (run.c), which stands for the same
 * meaning. */
#include <string.h>

#include "program/interpret/integer.h"
#include "program/interpret/internal.h"

typedef struct quick {
    ft_interpreter *m;
    uint32_t t;
    const ft_operand *operands;
    word *registers;
} quick;

static inline word content(const quick *q, const ft_operand *o)
{
    if (o->kind == FT_OPERAND_REGISTER) return q->registers[o->index];
    if (o->kind == FT_OPERAND_LITERAL) return (word){o->value, 0};
    word base = ft_run_address_of(q->m, q->t, o->index);
    return (word){base.bits + o->value, base.object};
}

static inline word operand(const quick *q, const ft_instruction *in, uint32_t i)
{
    return content(q, &q->operands[in->operands + i]);
}

static inline void set(const quick *q, const ft_instruction *in, uint64_t bits, uint32_t object)
{
    if (in->result != FT_NO_REGISTER) q->registers[in->result] = (word){bits, object};
}

/* Results have the instruction's width, or one bit. False: an error. */
static inline __attribute__((always_inline)) bool binary(const quick *q, const ft_instruction *in,
                                                         ft_code code)
{
    uint64_t r = 0;
    word a = operand(q, in, 0), b = operand(q, in, 1);
    if (integer_binary(code, in->width, a.bits, b.bits, &r) != FT_ERROR_NONE) return false;
    uint32_t object = 0;
    if (in->width == 64 && (a.object || b.object)) object = ft_run_object_of(code, a, b);
    set(q, in, r, object);
    return true;
}

/* The object of a plain access of whole bytes that nobody watches; NULL: it is not that plain. */
static inline memory_object *object_at(const quick *q, word address, uint8_t width,
                                       uint64_t *offset)
{
    const ft_interpreter *m = q->m;
    uint64_t n = width / 8u;
    if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) return NULL;
    if (!address.object || width % 8 || m->options.races || m->options.access) return NULL;
    memory_object *o = &m->objects.data[address.object - 1];
    *offset = address.bits - o->base;
    return o->freed || *offset > o->size || n > o->size - *offset ? NULL : o;
}

static inline uint64_t get(const unsigned char *from, uint8_t width)
{
    uint64_t bits = 0;
    switch (width) {
    case 8:
        return *from;
    case 32: /* of a known size: one instruction each */
        memcpy(&bits, from, 4);
        return bits;
    case 64:
        memcpy(&bits, from, 8);
        return bits;
    default:
        memcpy(&bits, from, width / 8u);
        return bits;
    }
}

static inline void put(unsigned char *to, uint8_t width, uint64_t bits)
{
    switch (width) {
    case 8:
        *to = (unsigned char)bits;
        break;
    case 32:
        memcpy(to, &bits, 4);
        break;
    case 64:
        memcpy(to, &bits, 8);
        break;
    default:
        memcpy(to, &bits, width / 8u);
    }
}

static inline bool load(const quick *q, const ft_instruction *in)
{
    uint64_t offset;
    const memory_object *o = object_at(q, operand(q, in, 0), in->width, &offset);
    if (!o) return false;
    bool whole = o->pointees && in->width == 64 && offset % 8 == 0;
    set(q, in, get(o->bytes + offset, in->width), whole ? o->pointees[offset / 8] : 0);
    return true;
}

static inline bool store(const quick *q, const ft_instruction *in)
{
    uint64_t offset;
    word v = operand(q, in, 0);
    memory_object *o = object_at(q, operand(q, in, 1), in->width, &offset);
    bool whole = in->width == 64 && offset % 8 == 0;
    if (!o || o->constant || (v.object && whole && !o->pointees)) return false;
    put(o->bytes + offset, in->width, v.bits);
    if (!o->pointees) return true;
    o->pointees[offset / 8] = o->pointees[(offset + in->width / 8u - 1) / 8] = 0;
    if (whole) o->pointees[offset / 8] = v.object;
    return true;
}

/* Parameters get their arguments at once; the number of the block's first instruction. False: it
 * has many. */
static inline bool enter(const quick *q, const ft_function *f, const ft_target *target,
                         uint32_t *at)
{
    enum { FEW = 4 };
    word few[FEW];
    const ft_block *block = &f->blocks.data[target->block];
    if (target->n_operands > FEW) return false;
    for (uint32_t i = 0; i < target->n_operands; i++)
        few[i] = content(q, &q->operands[target->operands + i]);
    for (uint32_t i = 0; i < target->n_operands; i++) q->registers[block->parameters + i] = few[i];
    *at = block->instructions;
    return true;
}

static inline void convert(const quick *q, const ft_instruction *in)
{
    uint64_t bits = operand(q, in, 0).bits;
    if (in->code == FT_CODE_SEXT)
        bits = (uint64_t)sign_extend(bits, q->operands[in->operands].width);
    set(q, in, bits & ft_width_mask(in->width), 0);
}

/* False: it is one for its handler. */
static inline bool carry_out(const quick *q, const ft_function *f, const ft_instruction *in,
                             uint32_t *at)
{
    ++*at;
    switch ((ft_code)in->code) {
#define CASE(code)                                                                                 \
    case code:                                                                                     \
        return binary(q, in, code);
        CASE(FT_CODE_ADD)
        CASE(FT_CODE_SUB)
        CASE(FT_CODE_MUL)
        CASE(FT_CODE_AND)
        CASE(FT_CODE_OR)
        CASE(FT_CODE_XOR)
        CASE(FT_CODE_UDIV)
        CASE(FT_CODE_SDIV)
        CASE(FT_CODE_UREM)
        CASE(FT_CODE_SREM)
        CASE(FT_CODE_SHL)
        CASE(FT_CODE_LSHR)
        CASE(FT_CODE_ASHR)
        CASE(FT_CODE_EQ)
        CASE(FT_CODE_NE)
        CASE(FT_CODE_ULT)
        CASE(FT_CODE_ULE)
        CASE(FT_CODE_SLT)
        CASE(FT_CODE_SLE)
#undef CASE
    case FT_CODE_ZEXT:
    case FT_CODE_SEXT:
    case FT_CODE_TRUNC:
        convert(q, in);
        return true;
    case FT_CODE_SELECT: {
        word v = operand(q, in, operand(q, in, 0).bits ? 1 : 2);
        set(q, in, v.bits, v.object);
        return true;
    }
    case FT_CODE_LOAD:
        return load(q, in);
    case FT_CODE_STORE:
        return store(q, in);
    case FT_CODE_JUMP:
        return enter(q, f, &f->targets.data[in->targets], at);
    case FT_CODE_BRANCH:
        return enter(q, f, &f->targets.data[in->targets + !operand(q, in, 0).bits], at);
    default:
        return false;
    }
}

uint64_t ft_run_quick(ft_interpreter *m, uint32_t t, uint64_t most)
{
    interpreted_thread *th = &m->threads.data[t];
    if (!th->frames.len) return 0;
    frame *top = &th->frames.data[th->frames.len - 1];
    const ft_function *f = top->function;
    const quick q = {m, t, f->operands.data, th->values.data + top->registers};
    uint64_t done = 0;
    uint32_t at = top->at;
    while (done < most) {
        uint32_t here = at;
        if (!carry_out(&q, f, &f->instructions.data[here], &at)) {
            at = here;
            break;
        }
        done++;
    }
    top->at = at;
    m->instructions += done;
    return done;
}

/* The operations inside a TERMS record (raw.h): what a program built with --symbolic computed since
 * its thread's last hook, as nodes over the nodes before. The runtime writes them
 * (runtime/annotations/symbolic.c), the maker turns them into terms (maker/terms/terms.c).
 *
 * A thread's nodes are numbered from 1 in the order in which they are made. An operation is its
 * code and then its operands, in the order of these letters:
 *
 *   w  one byte: width of the operands, or of the result where there is no other, in bits
 *   r  reference: varint n > 0, the node `made so far + 1 - n`;
 *      or 0 and a zigzag varint, a constant
 *   b  one byte; the fold of a value is the exclusive or of its bytes
 *   u  varint
 *
 * Marks (READ to POINTER) belong to the thread's next record of their kind. */
#ifndef FT_RECORD_TERMS_H
#define FT_RECORD_TERMS_H

#include <stdint.h>

/* Binary operators and comparisons: "wrr", each a node; LLVM's for them are in
 * symbolic/function.c. Comparisons have one bit. */
#define FT_SYM_BINARY_TABLE(X)                                                                     \
    X(ADD, BVADD)                                                                                  \
    X(SUB, BVSUB)                                                                                  \
    X(MUL, BVMUL)                                                                                  \
    X(UDIV, BVUDIV)                                                                                \
    X(SDIV, BVSDIV)                                                                                \
    X(UREM, BVUREM)                                                                                \
    X(SREM, BVSREM)                                                                                \
    X(SHL, BVSHL)                                                                                  \
    X(LSHR, BVLSHR)                                                                                \
    X(ASHR, BVASHR)                                                                                \
    X(AND, BVAND)                                                                                  \
    X(OR, BVOR)                                                                                    \
    X(XOR, BVXOR)                                                                                  \
    X(EQ, EQ)                                                                                      \
    X(NE, DISTINCT)                                                                                \
    X(UGT, BVUGT)                                                                                  \
    X(UGE, BVUGE)                                                                                  \
    X(ULT, BVULT)                                                                                  \
    X(ULE, BVULE)                                                                                  \
    X(SGT, BVSGT)                                                                                  \
    X(SGE, BVSGE)                                                                                  \
    X(SLT, BVSLT)                                                                                  \
    X(SLE, BVSLE)

/*  symbol  operands  makes a node  meaning */
#define FT_SYM_TABLE(X)                                                                            \
    X(TRUNC, "wbr", 1, "from width w to width b")                                                  \
    X(ZEXT, "wbr", 1, "from width w to width b")                                                   \
    X(SEXT, "wbr", 1, "from width w to width b")                                                   \
    X(ITE, "wrrr", 1, "condition, two values")                                                     \
    X(INDEX, "rru", 1, "64 bits: base + index * u")                                                \
    X(READ, "w", 1, "the next read returns it")                                                    \
    X(UPDATE, "bwr", 1,                                                                            \
      "the next update is b (binary, FT_SYM_EXCHANGE to _UMIN) of the old value, the node, and r") \
    X(COMPARE, "wrr", 1, "the next update or read compares with r, and stores the other r")        \
    X(STORE, "wr", 0, "the next write stores it")                                                  \
    X(COPY, "", 0, "the next read's content goes where the next write goes")                       \
    X(FILL, "r", 0, "the next write fills with the byte")                                          \
    X(TAKEN, "rr", 0, "a branch depends on it, which was true; site is the second, a constant")    \
    X(PASSED, "rr", 0, "a branch depends on it, which was false")                                  \
    X(CHECK, "r", 0, "the condition of the next ASSERT record")                                    \
    X(POINTER, "rb", 0, "the next access, an atomic one, is at that address, whose fold is b")     \
    X(PIN, "brb", 0, "reason, value, its bytes' exclusive or: what it went into is not modelled")  \
    X(PIN_MEMORY, "b", 0, "reason: so is what the thread's own memory holds")                      \
    X(PIN_RANGE, "buu", 0, "reason, address, size: so is what that memory holds")                  \
    X(FORGET, "uu", 0, "address, size: memory whose old content is gone")

typedef enum ft_sym_operation {
    FT_SYM_NOTHING,
#define FT_SYM_ENUM(symbol, operator) FT_SYM_##symbol,
    FT_SYM_BINARY_TABLE(FT_SYM_ENUM)
#undef FT_SYM_ENUM
        FT_SYM_BINARIES,
    FT_SYM_EXCHANGE = FT_SYM_BINARIES,
    FT_SYM_NAND,
    FT_SYM_MAX,
    FT_SYM_MIN,
    FT_SYM_UMAX,
    FT_SYM_UMIN,
#define FT_SYM_ENUM(symbol, operands, node, meaning) FT_SYM_##symbol,
    FT_SYM_TABLE(FT_SYM_ENUM)
#undef FT_SYM_ENUM
        FT_SYM_OPERATIONS
} ft_sym_operation;

/* Why a value was held to that of the run. The first three are precise: in the schedules that they
 * exclude the program takes another path. symbol, text for people */
#define FT_SYM_REASON_TABLE(X)                                                                     \
    X(ADDRESS, "addresses")                                                                        \
    X(SWITCH, "large switches")                                                                    \
    X(SIZE, "sizes")                                                                               \
    X(FLOAT, "floating point")                                                                     \
    X(CALL, "arguments of functions without instrumentation")                                      \
    X(RETURN, "results for functions without instrumentation")                                     \
    X(MEMORY, "memory that functions without instrumentation may read")                            \
    X(WIDE, "values of more than 64 bits, vectors and structures in registers")                    \
    X(ASSEMBLY, "inline assembly")                                                                 \
    X(OPERATION, "operations without a term")                                                      \
    X(ACCESS, "accesses without a term")                                                           \
    X(UNWRITTEN, "reads of memory that may be uninitialised in another schedule")
typedef enum ft_sym_reason {
#define FT_SYM_ENUM(symbol, text) FT_SYM_##symbol##_REASON,
    FT_SYM_REASON_TABLE(FT_SYM_ENUM)
#undef FT_SYM_ENUM
        FT_SYM_REASONS
} ft_sym_reason;

/* How a call to an uninstrumented function may use its arguments. */
typedef enum ft_sym_effect {
    FT_SYM_SEES_MEMORY, /* anything that they point to, directly or not */
    FT_SYM_SEES_VALUES, /* nothing that the program stored by itself */
    FT_SYM_SEES_NOTHING /* its effects on the program do not depend on them */
} ft_sym_effect;

/* Each object built with --symbolic defines this variable. */
#define FT_SYM_MARK "foretell_symbolic_build"

#endif

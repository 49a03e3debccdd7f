/* Instructions of programs: the one table from which reader, printer, binary form and validator
 * work, and the meaning that every implementation of the language follows. The interpreter, the
 * symbolic executor and the tests' oracle share this header and no code.
 *
 * Values are bit-vectors of 1 to 64 bits, in registers that are assigned at one place. Arithmetic
 * wraps. Booleans have one bit. An address is a value of 64 bits that knows its object: the object
 * of an address operand; of `stack` and `alloc` the new one; of `load` the one that was stored
 * there (for 64 bits at a multiple of 8 that were stored as such or copied together); of `select`
 * the chosen operand's; of `add`, `sub`, `and` and `or` that of the one operand that has an object,
 * none if both have. Every other result has none.
 *
 * Memory consists of objects: a base address, a size, bytes. Bases differ in all objects of an
 * execution and are never used again; between two objects at least 64 addresses belong to none.
 * Globals start at 2^32 in the program's order; what thread n makes starts at (n + 1) * 2^40. A
 * base is a multiple of 16 and of the object's alignment. Bytes that were never written are 0.
 *
 * An access of n bytes at an address is an error (FT_PROGRAM_ERROR_TABLE) unless its object, or,
 * where the address has none, the object around the address, holds all n bytes and has not been
 * freed. A value of w bits takes (w + 7) / 8 bytes, little-endian, the bits above w zero.
 *
 * Execution: thread 0 runs @main. A thread stands *before* an instruction. All instructions but the
 * visible ones (FT_EFFECT_VISIBLE) concern the thread alone, or are accesses that race if their
 * order matters. Memory is sequentially consistent; the memory order of an atomic matters for races
 * alone: an acquire that reads what a release wrote orders the two threads.
 *
 * Imports: base. */
#ifndef FT_PROGRAM_INSTRUCTION_H
#define FT_PROGRAM_INSTRUCTION_H

#include <stdbool.h>
#include <stdint.h>

/* Operand letters:          Result letters:
 *   w  the width written     w  the width written
 *      after the name        b, a, i  as for operands
 *   b  1 bit                 v  the width written after the name, 0 bits: no result (calls)
 *   c  8 bits                -  no result
 *   i  32 bits
 *   a  64 bits
 *   v  any width; a literal has its width written before it
 *   *  any number of the last letter (at the end)
 * Attributes: what stands between the name and the width.
 *
 * symbol, name, attribute, operands, result, effect, meaning */
/* clang-format off */
#define FT_INSTRUCTION_TABLE(X)                                                                    \
    X(ADD, "add", NONE, "ww", 'w', LOCAL, "a + b")                                                 \
    X(SUB, "sub", NONE, "ww", 'w', LOCAL, "a - b")                                                 \
    X(MUL, "mul", NONE, "ww", 'w', LOCAL, "a * b")                                                 \
    X(UDIV, "udiv", NONE, "ww", 'w', LOCAL, "a / b, unsigned; b = 0 is a division error")          \
    X(SDIV, "sdiv", NONE, "ww", 'w', LOCAL,                                                        \
      "a / b towards 0, signed; b = 0 and an overflow are division errors")                        \
    X(UREM, "urem", NONE, "ww", 'w', LOCAL, "a - (a / b) * b, unsigned; errors as udiv")           \
    X(SREM, "srem", NONE, "ww", 'w', LOCAL, "a - (a / b) * b, signed; errors as sdiv")             \
    X(AND, "and", NONE, "ww", 'w', LOCAL, "bitwise and")                                           \
    X(OR, "or", NONE, "ww", 'w', LOCAL, "bitwise or")                                              \
    X(XOR, "xor", NONE, "ww", 'w', LOCAL, "bitwise exclusive or")                                  \
    X(SHL, "shl", NONE, "ww", 'w', LOCAL, "a * 2^b; b not below the width is a shift error")       \
    X(LSHR, "lshr", NONE, "ww", 'w', LOCAL, "a / 2^b, zeros from above; errors as shl")            \
    X(ASHR, "ashr", NONE, "ww", 'w', LOCAL, "a / 2^b, the sign from above; errors as shl")         \
    X(EQ, "eq", NONE, "ww", 'b', LOCAL, "a = b")                                                   \
    X(NE, "ne", NONE, "ww", 'b', LOCAL, "a differs from b")                                        \
    X(ULT, "ult", NONE, "ww", 'b', LOCAL, "a < b, unsigned")                                       \
    X(ULE, "ule", NONE, "ww", 'b', LOCAL, "a <= b, unsigned")                                      \
    X(SLT, "slt", NONE, "ww", 'b', LOCAL, "a < b, signed")                                         \
    X(SLE, "sle", NONE, "ww", 'b', LOCAL, "a <= b, signed")                                        \
    X(SELECT, "select", NONE, "bww", 'w', LOCAL, "b if a is 1, else c")                            \
    X(ZEXT, "zext", NONE, "v", 'w', LOCAL, "a with zeros above; its width is smaller")             \
    X(SEXT, "sext", NONE, "v", 'w', LOCAL, "a with its sign above; its width is smaller")          \
    X(TRUNC, "trunc", NONE, "v", 'w', LOCAL, "the low bits of a; its width is larger")             \
    X(FADD, "fadd", NONE, "ww", 'w', LOCAL, "IEEE 754 a + b; the width is 32 or 64, as below")     \
    X(FSUB, "fsub", NONE, "ww", 'w', LOCAL, "IEEE 754 a - b")                                      \
    X(FMUL, "fmul", NONE, "ww", 'w', LOCAL, "IEEE 754 a * b")                                      \
    X(FDIV, "fdiv", NONE, "ww", 'w', LOCAL, "IEEE 754 a / b")                                      \
    X(FREM, "frem", NONE, "ww", 'w', LOCAL, "fmod(a, b)")                                          \
    X(FEQ, "feq", NONE, "ww", 'b', LOCAL, "a = b; false for NaN")                                  \
    X(FLT, "flt", NONE, "ww", 'b', LOCAL, "a < b; false for NaN")                                  \
    X(FLE, "fle", NONE, "ww", 'b', LOCAL, "a <= b; false for NaN")                                 \
    X(FNAN, "fnan", NONE, "ww", 'b', LOCAL, "a or b is NaN")                                       \
    X(FTOS, "ftos", NONE, "v", 'w', LOCAL,                                                         \
      "the float a (32 or 64 bits) towards 0, signed; a value that does not fit is an error")      \
    X(FTOU, "ftou", NONE, "v", 'w', LOCAL, "likewise, unsigned")                                   \
    X(STOF, "stof", NONE, "v", 'w', LOCAL, "the signed a as a float")                              \
    X(UTOF, "utof", NONE, "v", 'w', LOCAL, "the unsigned a as a float")                            \
    X(FTOF, "ftof", NONE, "v", 'w', LOCAL, "the float a as one of the other width")                \
    X(STACK, "stack", ALIGN, "a", 'a', LOCAL, "a new object of a bytes, freed on return")          \
    X(LOAD, "load", NONE, "a", 'w', ACCESS, "the value at the address a")                          \
    X(STORE, "store", NONE, "wa", '-', ACCESS, "writes a to the address b")                        \
    X(COPY, "copy", NONE, "aaa", '-', ACCESS,                                                      \
      "writes the c bytes at b to a; parts that overlap, but for a = b, are an error")             \
    X(MOVE, "move", NONE, "aaa", '-', ACCESS, "likewise; the parts may overlap")                   \
    X(FILL, "fill", NONE, "aca", '-', ACCESS, "writes the byte b to each of the c bytes at a")     \
    X(ALLOC, "alloc", NONE, "a", 'a', LOCAL, "a new object of a bytes on the heap")                \
    X(FREE, "free", NONE, "a", '-', ACCESS,                                                        \
      "frees the object that starts at a, which `alloc` made; 0: nothing")                         \
    X(SIZE, "size", NONE, "a", 'a', LOCAL, "the bytes from a to its object's end")                 \
    X(ATOMIC_LOAD, "atomic_load", ORDER, "a", 'w', VISIBLE, "the value at the address a")          \
    X(ATOMIC_STORE, "atomic_store", ORDER, "wa", '-', VISIBLE, "writes a to the address b")        \
    X(ATOMIC_UPDATE, "atomic_update", UPDATE, "aw", 'w', VISIBLE,                                  \
      "replaces the value at a by its combination with b; the value before")                       \
    X(ATOMIC_SWAP, "atomic_swap", ORDER, "aww", 'w', VISIBLE,                                      \
      "writes c to a if it holds b; the value before")                                             \
    X(FENCE, "fence", ORDER, "", '-', VISIBLE, "a fence")                                          \
    X(JUMP, "jump", NONE, "", '-', LOCAL, "goes on at the target")                                 \
    X(BRANCH, "branch", NONE, "b", '-', LOCAL,                                                     \
      "goes on at the first target if a is 1, else the "                                           \
      "second")                                                                                    \
    X(SWITCH, "switch", NONE, "w", '-', LOCAL,                                                     \
      "goes on at the target with a's value, else at the "                                         \
      "first")                                                                                     \
    X(RETURN, "return", NONE, "v*", '-', LOCAL,                                                    \
      "returns a, or nothing; from a thread's function: "                                          \
      "its end")                                                                                   \
    X(UNREACHABLE, "unreachable", NONE, "", '-', LOCAL, "an error")                                \
    X(CALL, "call", FUNCTION, "v*", 'v', LOCAL, "calls the function")                              \
    X(CALL_AT, "call_at", NONE, "av*", 'v', LOCAL,                                                 \
      "calls the function whose address a is; an error if none with these widths is there")        \
    X(CREATE, "create", NONE, "aa", 'a', VISIBLE,                                                  \
      "starts a thread that calls the function at a with b (64 bits); its number, at least 1")     \
    X(JOIN, "join", NONE, "a", 'a', VISIBLE,                                                       \
      "waits for thread a's end; its result. A detached, joined or unknown thread is an error")    \
    X(DETACH, "detach", NONE, "a", '-', VISIBLE, "thread a is never joined")                       \
    X(SELF, "self", NONE, "", 'a', LOCAL, "the thread's number")                                   \
    X(END, "end", NONE, "a", '-', LOCAL, "ends the thread with the result a")                      \
    X(YIELD, "yield", NONE, "", '-', VISIBLE, "lets others go on; also a sleep")                   \
    X(MUTEX_INIT, "mutex_init", MUTEX, "a", '-', VISIBLE, "a new mutex at a")                      \
    X(MUTEX_DESTROY, "mutex_destroy", NONE, "a", '-', VISIBLE, "an error while it is held")        \
    X(LOCK, "lock", NONE, "a", 'i', VISIBLE,                                                       \
      "takes the mutex; waits until it is free. The owner: `recursive` counts, `checking` "        \
      "returns "                                                                                   \
      "35, `normal` waits forever")                                                                \
    X(TRY_LOCK, "try_lock", NONE, "a", 'i', VISIBLE, "takes the mutex if it is free (0), else 16") \
    X(TIMED_LOCK, "timed_lock", NONE, "a", 'i', VISIBLE,                                           \
      "as lock; where it would wait, a choice: 110 at once (variant 1) or waits")                  \
    X(UNLOCK, "unlock", NONE, "a", 'i', VISIBLE,                                                   \
      "releases the mutex. Not the owner: `normal` is an error, else 1")                           \
    X(RW_INIT, "rw_init", NONE, "a", '-', VISIBLE, "a new read-write lock at a")                   \
    X(RW_DESTROY, "rw_destroy", NONE, "a", '-', VISIBLE, "an error while it is held")              \
    X(READ_LOCK, "read_lock", NONE, "a", 'i', VISIBLE, "waits while another thread holds it to write; 35 if it is the thread itself")   \
    X(WRITE_LOCK, "write_lock", NONE, "a", 'i', VISIBLE,                                           \
      "waits while a thread holds it; 35 if it is the thread itself, to write")                     \
    X(TRY_READ_LOCK, "try_read_lock", NONE, "a", 'i', VISIBLE, "16 where read_lock would wait")    \
    X(TRY_WRITE_LOCK, "try_write_lock", NONE, "a", 'i', VISIBLE, "16 where write_lock would wait") \
    X(RW_UNLOCK, "rw_unlock", NONE, "a", 'i', VISIBLE,                                             \
      "releases it; an error if the thread does not hold it")                                      \
    X(COND_INIT, "cond_init", NONE, "a", '-', VISIBLE, "a new condition variable at a")            \
    X(COND_DESTROY, "cond_destroy", NONE, "a", '-', VISIBLE, "an error while a thread waits")      \
    X(WAIT, "wait", NONE, "aa", 'i', VISIBLE,                                                      \
      "releases the mutex b and waits (one step), then takes b again when notified (another). "    \
      "An error if the thread does not own b")                                                     \
    X(TIMED_WAIT, "timed_wait", NONE, "aa", 'i', VISIBLE,                                          \
      "likewise; may end by itself (110) once b is free")                                          \
    X(SIGNAL, "signal", NONE, "a", '-', VISIBLE,                                                   \
      "notifies one waiter (its variant: the thread + 1), if there is one")                        \
    X(BROADCAST, "broadcast", NONE, "a", '-', VISIBLE, "notifies every waiter")                    \
    X(SEM_INIT, "sem_init", NONE, "aa", '-', VISIBLE, "a new semaphore at a of the count b")       \
    X(SEM_DESTROY, "sem_destroy", NONE, "a", '-', VISIBLE, "an error while a thread waits")        \
    X(SEM_WAIT, "sem_wait", NONE, "a", 'i', VISIBLE, "lowers the count; waits while it is 0")      \
    X(SEM_TRY, "sem_try", NONE, "a", 'i', VISIBLE, "lowers the count unless it is 0 (11)")         \
    X(SEM_TIMED, "sem_timed", NONE, "a", 'i', VISIBLE, "as sem_wait, with timed_lock's choice")    \
    X(SEM_POST, "sem_post", NONE, "a", 'i', VISIBLE, "raises the count")                           \
    X(SEM_COUNT, "sem_count", NONE, "a", 'i', VISIBLE, "the count")                                \
    X(BARRIER_INIT, "barrier_init", NONE, "aa", '-', VISIBLE, "a new barrier at a of b threads")   \
    X(BARRIER_DESTROY, "barrier_destroy", NONE, "a", '-', VISIBLE, "an error while one waits")     \
    X(BARRIER_WAIT, "barrier_wait", NONE, "a", 'i', VISIBLE,                                       \
      "arrives (one step), goes on when all have (another); -1 for the last to arrive, else 0")    \
    X(ONCE, "once", NONE, "aa", '-', VISIBLE,                                                      \
      "calls the function at b unless the flag a is done (one step), which it is when the "        \
      "function returns (another); waits while another thread calls it")                           \
    X(ATOMIC_BEGIN, "atomic_begin", NONE, "", '-', VISIBLE,                                        \
      "no other thread goes on until atomic_end; within a section: an error")                      \
    X(ATOMIC_END, "atomic_end", NONE, "", '-', LOCAL,                                              \
      "ends the section; outside of one: an error")                                                \
    X(INPUT, "input", TEXT, "", 'w', LOCAL, "the next value of the input with that name")          \
    X(ASSUME, "assume", NONE, "b", '-', LOCAL, "the thread goes no further if a is 0; an execution that no other thread ends does not count")           \
    X(ASSERT, "assert", TEXT, "b", '-', LOCAL, "a failure if a is 0")                              \
    X(FAIL, "fail", TEXT, "", '-', LOCAL, "a failure")                                             \
    X(OUTPUT, "output", NONE, "iaa", '-', ACCESS, "writes the c bytes at b to the descriptor a")   \
    X(EXIT, "exit", NONE, "i", '-', VISIBLE, "ends the process with the code a")
/* clang-format on */

typedef enum ft_code {
#define FT_ROW(symbol, name, attribute, operands, result, effect, meaning) FT_CODE_##symbol,
    FT_INSTRUCTION_TABLE(FT_ROW)
#undef FT_ROW
        FT_CODES
} ft_code;

typedef enum ft_effect {
    FT_EFFECT_LOCAL,  /* concerns the thread alone */
    FT_EFFECT_ACCESS, /* of memory */
    FT_EFFECT_VISIBLE /* a scheduling point: its order with other threads' matters */
} ft_effect;

typedef enum ft_attribute_kind {
    FT_ATTRIBUTE_NONE,
    FT_ATTRIBUTE_ALIGN,   /* a power of two, up to 4096 */
    FT_ATTRIBUTE_ORDER,   /* FT_ORDER_TABLE */
    FT_ATTRIBUTE_UPDATE,  /* FT_UPDATE_TABLE, and the order */
    FT_ATTRIBUTE_MUTEX,   /* FT_MUTEX_TABLE */
    FT_ATTRIBUTE_TEXT,    /* in quotes */
    FT_ATTRIBUTE_FUNCTION /* @name */
} ft_attribute_kind;

/* Memory orders (C11 7.17.3; consume is acquire). */
#define FT_ORDER_TABLE(X)                                                                          \
    X(RELAXED, "relaxed", false, false)                                                            \
    X(ACQUIRE, "acquire", true, false)                                                             \
    X(RELEASE, "release", false, true)                                                             \
    X(BOTH, "acq_rel", true, true)                                                                 \
    X(SEQUENTIAL, "seq_cst", true, true)
typedef enum ft_order {
#define FT_ROW(symbol, name, acquires, releases) FT_ORDER_##symbol,
    FT_ORDER_TABLE(FT_ROW)
#undef FT_ROW
        FT_ORDERS
} ft_order;

/* What atomic_update makes of the value v and the operand x. */
#define FT_UPDATE_TABLE(X)                                                                         \
    X(EXCHANGE, "exchange", "x")                                                                   \
    X(ADD, "add", "v + x")                                                                         \
    X(SUB, "sub", "v - x")                                                                         \
    X(AND, "and", "v and x, bitwise")                                                              \
    X(OR, "or", "v or x, bitwise")                                                                 \
    X(XOR, "xor", "v xor x, bitwise")                                                              \
    X(NAND, "nand", "not (v and x), bitwise")                                                      \
    X(SMAX, "smax", "the larger, signed")                                                          \
    X(SMIN, "smin", "the smaller, signed")                                                         \
    X(UMAX, "umax", "the larger, unsigned")                                                        \
    X(UMIN, "umin", "the smaller, unsigned")
typedef enum ft_update {
#define FT_ROW(symbol, name, meaning) FT_UPDATE_##symbol,
    FT_UPDATE_TABLE(FT_ROW)
#undef FT_ROW
        FT_UPDATES
} ft_update;

/* Mutexes. One that was not initialised is `normal`, if its bytes were never written otherwise. */
#define FT_MUTEX_TABLE(X)                                                                          \
    X(NORMAL, "normal", "a second lock by its owner waits forever")                                \
    X(RECURSIVE, "recursive", "a second lock by its owner counts")                                 \
    X(CHECKING, "checking", "misuse returns an error number")
typedef enum ft_mutex_kind {
#define FT_ROW(symbol, name, meaning) FT_MUTEX_##symbol,
    FT_MUTEX_TABLE(FT_ROW)
#undef FT_ROW
        FT_MUTEXES
} ft_mutex_kind;

/* How an execution goes wrong. An error ends it, and is a finding of the kind. */
#define FT_PROGRAM_ERROR_TABLE(X)                                                                  \
    X(ASSERTION, "assertion", "an assertion fails, or the program reports an error")               \
    X(NULL_ACCESS, "null-access", "an access at an address below 4096")                            \
    X(BOUNDS, "out-of-bounds", "an access outside of its object, or where no object is")           \
    X(FREED, "use-after-free", "an access to an object that was freed")                            \
    X(CONSTANT, "write-to-constant", "a write to a constant object")                               \
    X(BAD_FREE, "bad-free", "a free of what `alloc` did not return")                               \
    X(DOUBLE_FREE, "double-free", "a free of what was freed")                                      \
    X(ALIGNMENT, "alignment", "an atomic whose address is not a multiple of its size")             \
    X(OVERLAP, "overlap", "a copy between parts that overlap")                                     \
    X(DIVISION, "division", "a division by 0, or one that overflows")                              \
    X(SHIFT, "shift", "a shift by the width or more")                                              \
    X(CONVERSION, "conversion", "a float that does not fit into the integer")                      \
    X(UNREACHABLE, "unreachable", "`unreachable` was reached")                                     \
    X(BAD_CALL, "bad-call", "a call of an address where no such function is")                      \
    X(MISUSE, "misuse", "a synchronisation object or a thread is used as it must not be")          \
    X(RACE, "race", "two accesses of different threads without order, one a write")                \
    X(DEADLOCK, "deadlock", "a thread waits, and no thread can go on")                             \
    X(LIVE_LOCK, "live-lock", "threads go round in circles, on values that no thread changes")     \
    X(LIMIT, "limit", "a limit of the implementation, not an error of the program")
typedef enum ft_program_error {
    FT_ERROR_NONE,
#define FT_ROW(symbol, name, meaning) FT_ERROR_##symbol,
    FT_PROGRAM_ERROR_TABLE(FT_ROW)
#undef FT_ROW
        FT_PROGRAM_ERRORS
} ft_program_error;

typedef struct ft_instruction_row {
    const char *name;
    const char *operands;
    const char *meaning;
    char result;
    uint8_t attribute; /* ft_attribute_kind */
    uint8_t effect;    /* ft_effect */
} ft_instruction_row;

const ft_instruction_row *ft_instruction_row_of(ft_code code);
bool ft_code_named(const char *name, ft_code *code); /* false: no instruction has that name */
bool ft_code_has_width(ft_code code);                /* is a width written after the name? */
bool ft_code_ends_block(ft_code code);
/* Names of the tables above; NULL, or false, where there is none. */
const char *ft_order_name(ft_order order);
bool ft_order_named(const char *name, ft_order *order);
bool ft_order_acquires(ft_order order);
bool ft_order_releases(ft_order order);
const char *ft_update_name(ft_update update);
bool ft_update_named(const char *name, ft_update *update);
const char *ft_mutex_kind_name(ft_mutex_kind kind);
bool ft_mutex_kind_named(const char *name, ft_mutex_kind *kind);
const char *ft_program_error_name(ft_program_error error);
const char *ft_program_error_meaning(ft_program_error error);

#endif

/* Accesses of the program's inline assembly, reads of the processor's clock, and accesses that the
 * compilers have no hooks for.
 *
 * foretell-as (clients/record/assembler) puts calls around the instructions that access memory: one
 * before each, with its address, and one after each that writes. An access of inline assembly
 * counts as atomic, since no compiler stands between the program and the processor there.
 *
 * The surrounding code does not know of the calls, so they preserve every register and the flags.
 */
#include "assembly/assembly.h"
#include "accesses/accesses.h"
#include "inputs/inputs.h"
#include "libc/contract.h"
#include "log/hot.h"
#include "log/log.h"
#include "raw/inputs.h"
#include "raw/raw.h"
#include "replay/replay.h"
#include "scheduling/scheduling.h"
#include "state/thread.h"
#include "trace/event.h"

#ifdef __x86_64__

#include <cpuid.h>
#include <ucontext.h>

/* The access of an instruction: a bit field, with the size code above it. */
enum { READ, WRITE, UPDATE, COMPARE, KINDS, SIZE_SHIFT = 2, WIDE = 4, SIZES = 7, PLAIN = 32 };

enum {
    LANE = 8,
    EQUAL = 1 << 6,     /* the flag of the processor */
    AHEAD = 11,         /* bytes from the call before an instruction to that, at most */
    FURTHEST = 64,      /* bytes from the call before an instruction to the one behind it */
    STATE_BYTES = 2752, /* of the vector registers, as XSAVE lays them out, up to AVX-512 */
    STATE_PARTS = 0xe7  /* all of these, without tiles and keys, which C code does not touch */
};

/* Returns the flag to clear when the registers are restored; NULL: none. */
bool *ft_assembly_before(uintptr_t address, unsigned what, const void *pc);
void ft_assembly_behind(uint64_t flags, const void *pc);
uint64_t ft_assembly_clock(uint64_t low, uint64_t high, const void *pc);
void ft_assembly_moves(void *to, const void *from, uint64_t words, const void *pc);

/* 1: the processor and the kernel have XSAVE. Before it is known, FXSAVE is enough: hooks of a
 * process that is not recorded yet touch no wider registers. */
int ft_assembly_wide __attribute__((visibility("hidden")));

/* On the stack at ft_assembly_save, from the top: the kind of access, the return address of the
 * hook, the caller's rdi. The frame keeps the stack pointer, so that vector state can be aligned
 * below it. */
#define TEXT(x)   TEXT_1(x)
#define TEXT_1(x) #x
__asm__(".pushsection .text\n"
        "ft_assembly_save:\n"
        "    pushfq\n"
        "    cmpq $0, ft_rt_header(%rip)\n    jne 8f\n" /* nothing is recorded */
        "    popfq\n    lea 8(%rsp), %rsp\n    ret\n"
        "8:  cld\n"
        "    push %rbp\n    mov %rsp, %rbp\n"
        "    push %rax\n    push %rcx\n    push %rdx\n    push %rsi\n    push %rdi\n"
        "    push %r8\n    push %r9\n    push %r10\n    push %r11\n"
        "    sub $2752, %rsp\n    and $-64, %rsp\n"
        "    cmpl $0, ft_assembly_wide(%rip)\n    jne 1f\n"
        "    fxsave64 (%rsp)\n    jmp 2f\n"
        "1:  xor %eax, %eax\n" /* a header of zeros, or it cannot be restored */
        "    mov %rax, 512(%rsp)\n    mov %rax, 520(%rsp)\n    mov %rax, 528(%rsp)\n"
        "    mov %rax, 536(%rsp)\n    mov %rax, 544(%rsp)\n    mov %rax, 552(%rsp)\n"
        "    mov %rax, 560(%rsp)\n    mov %rax, 568(%rsp)\n"
        "    mov $0xe7, %eax\n    xor %edx, %edx\n    xsave64 (%rsp)\n"
        "2:  mov 16(%rbp), %rsi\n    mov 24(%rbp), %rdx\n"
        "    test %rsi, %rsi\n    js 3f\n"
        "    call ft_assembly_before\n"
        "    test %rax, %rax\n    jz 4f\n    movb $0, (%rax)\n    jmp 4f\n"
        "3:  cmp $-3, %rsi\n    jne 9f\n"
        "    mov %rdx, %rcx\n    mov -16(%rbp), %rdx\n    mov -32(%rbp), %rsi\n"
        "    mov -40(%rbp), %rdi\n    call ft_assembly_moves\n    jmp 4f\n"
        "9:  cmp $-1, %rsi\n    jne 7f\n"
        "    mov 8(%rbp), %rdi\n    mov %rdx, %rsi\n    call ft_assembly_behind\n    jmp 4f\n"
        "7:  mov -8(%rbp), %rdi\n    mov -24(%rbp), %rsi\n    call ft_assembly_clock\n"
        "    mov %eax, %ecx\n    mov %rcx, -8(%rbp)\n    shr $32, %rax\n    mov %rax, -24(%rbp)\n"
        "4:  cmpl $0, ft_assembly_wide(%rip)\n    jne 5f\n"
        "    fxrstor64 (%rsp)\n    jmp 6f\n"
        "5:  mov $0xe7, %eax\n    xor %edx, %edx\n    xrstor64 (%rsp)\n"
        "6:  lea -72(%rbp), %rsp\n"
        "    pop %r11\n    pop %r10\n    pop %r9\n    pop %r8\n"
        "    pop %rdi\n    pop %rsi\n    pop %rdx\n    pop %rcx\n    pop %rax\n"
        "    pop %rbp\n    popfq\n"
        "    lea 8(%rsp), %rsp\n    ret\n"
        "ft_assembly_saved:\n"
        ".popsection\n");

#define ENTRY(name, what)                                                                          \
    __asm__(".pushsection .text\n.globl __foretell_asm_" name "\n.type __foretell_asm_" name       \
            ", @function\n__foretell_asm_" name                                                    \
            ":\n    endbr64\n    push $" TEXT(what) "\n    jmp ft_assembly_save\n.popsection\n");
#define ENTRIES(name, kind)                                                                        \
    ENTRY(name "1", kind)                                                                          \
    ENTRY(name "2", kind + 4)                                                                      \
    ENTRY(name "4", kind + 8)                                                                      \
    ENTRY(name "8", kind + 12)                                                                     \
    ENTRY(name "16", kind + 16)
ENTRIES("read", 0)
ENTRIES("write", 1)
ENTRIES("update", 2)
ENTRIES("compare", 3)
ENTRIES("plain_read", 32)
ENTRIES("plain_write", 33)
ENTRY("done", -1)
ENTRY("clock", -2)
ENTRY("moves", -3)

_Static_assert(READ == 0 && WRITE == 1 && UPDATE == 2 && COMPARE == 3 && SIZE_SHIFT == 2 &&
                   PLAIN == 32,
               "the entries above");
_Static_assert(STATE_BYTES == 2752 && STATE_PARTS == 0xe7, "the code above");

static __thread ft_rt_at_hand at_hand;
/* Where the hook before the calling thread's last read returned to. */
static __thread const void *reading;
/* The code above. */
extern const char ft_assembly_save[] __attribute__((visibility("hidden")));
extern const char ft_assembly_saved[] __attribute__((visibility("hidden")));

static unsigned lanes(unsigned size_code)
{
    return size_code == WIDE ? 2 : 1;
}

static void log_all(ft_raw_form form, const void *pc, uintptr_t address, unsigned size_code,
                    const int64_t *values, const int64_t *written)
{
    uint32_t size = size_code == WIDE ? LANE : 1u << size_code;
    for (unsigned i = 0; i < lanes(size_code); i++)
        ft_rt_log_access(form, pc, address + i * LANE, size, values[i], written[i]);
    bool atomic = form != FT_RAW_FORM_READ && form != FT_RAW_FORM_WRITE;
    uint64_t bytes = (uint64_t)lanes(size_code) * LANE;
    if (size_code == WIDE && atomic && address % bytes == 0) FT_RT_LOG(WHOLE, address, bytes);
}

static void look(uintptr_t address, unsigned size_code, int64_t *values)
{
    unsigned lane_code = size_code == WIDE ? WIDE - 1 : size_code;
    for (unsigned i = 0; i < lanes(size_code); i++)
        values[i] = (int64_t)ft_rt_value(address + i * LANE, lane_code);
}

bool *ft_assembly_before(uintptr_t address, unsigned what, const void *pc)
{
    static const uint32_t kinds[KINDS] = {FT_EVENT_READ, FT_EVENT_WRITE, FT_EVENT_RMW, FT_RT_ANY};
    unsigned kind = what & (KINDS - 1), size_code = what >> SIZE_SHIFT & SIZES;
    bool plain = what & PLAIN;
    int64_t values[2];
    FT_REQUIRE(size_code <= WIDE);
    ft_rt_touch((const void *)address);
    ft_rt_about_access(kinds[kind], pc, (const void *)address, 1u << size_code);
    ft_rt_thread *self = ft_rt_enter();
    if (!self) return NULL;
    look(address, size_code, values);
    if (kind == READ) {
        log_all(plain ? FT_RAW_FORM_READ : FT_RAW_FORM_ATOMIC_READ, pc, address, size_code, values,
                values);
        if (self->left) self->left--; /* the turn does not end before the instruction */
        reading = pc;
        return &self->inside;
    }
    assert(!at_hand.address); /* one write is at hand at most */
    at_hand.address = address;
    at_hand.kind = kind;
    at_hand.size_code = size_code;
    at_hand.plain = plain;
    at_hand.pc = pc;
    at_hand.before[0] = values[0];
    at_hand.before[1] = values[1];
    return NULL;
}

bool ft_rt_reads(const void *context)
{
    const ucontext_t *at = context;
    uintptr_t pc = (uintptr_t)at->uc_mcontext.gregs[REG_RIP];
    bool leaves = pc >= (uintptr_t)ft_assembly_save && pc < (uintptr_t)ft_assembly_saved;
    return leaves || (reading && pc - (uintptr_t)reading <= AHEAD);
}

/* Code of a fault's handler gets here as well, without a write at hand. */
static bool is_behind(const void *pc)
{
    uintptr_t from = (uintptr_t)at_hand.pc;
    return at_hand.address && (uintptr_t)pc > from && (uintptr_t)pc <= from + FURTHEST;
}

void ft_assembly_behind(uint64_t flags, const void *pc)
{
    static const ft_raw_form forms[KINDS] = {FT_RAW_FORM_ATOMIC_READ, FT_RAW_FORM_ATOMIC_WRITE,
                                             FT_RAW_FORM_UPDATE, FT_RAW_FORM_COMPARE};
    if (!ft_rt_self || !is_behind(pc)) return;
    int64_t now[2];
    ft_raw_form form = at_hand.plain ? FT_RAW_FORM_WRITE : forms[at_hand.kind];
    uintptr_t address = at_hand.address;
    assert(ft_rt_self->inside && at_hand.kind != READ);
    look(address, at_hand.size_code, now);
    if (at_hand.kind == COMPARE && !(flags & EQUAL)) form = FT_RAW_FORM_ATOMIC_READ;
    bool writes = form == FT_RAW_FORM_ATOMIC_WRITE || form == FT_RAW_FORM_WRITE;
    const int64_t *values = writes ? now : at_hand.before;
    at_hand.address = 0;
    log_all(form, at_hand.pc, address, at_hand.size_code, values, now);
    ft_rt_leave(ft_rt_self);
}

ft_rt_at_hand ft_rt_take_at_hand(void)
{
    ft_rt_at_hand taken = at_hand;
    at_hand.address = 0;
    return taken;
}

/* The instruction finds the content that the handler, or another thread, has left there. */
bool ft_rt_put_at_hand(ft_rt_at_hand taken, const void *context)
{
    const ucontext_t *at = context;
    at_hand = taken;
    if (is_behind((const void *)at->uc_mcontext.gregs[REG_RIP])) {
        look(taken.address, taken.size_code, at_hand.before);
        return true;
    }
    at_hand.address = 0;
    return false;
}

/* Before an instruction that copies words of the program's memory. */
void ft_assembly_moves(void *to, const void *from, uint64_t words, const void *pc)
{
    ft_rt_settle(2);
    ft_rt_read_range(from, words * LANE, pc);
    ft_rt_write_range(to, words * LANE, pc);
}

/* Behind an instruction that reads the processor's clock into two registers. */
uint64_t ft_assembly_clock(uint64_t low, uint64_t high, const void *pc)
{
    uint64_t now = (low & UINT32_MAX) | high << 32;
    ft_rt_input in;
    if (!ft_rt_input_begin(&in, FT_INPUT_RDTSC, pc)) return now;
    FT_RT_GET(&in, FT_RT_STAYS, now);
    return (uint64_t)ft_rt_input_end(&in);
}

static __attribute__((constructor(101))) void find_state(void)
{
    unsigned a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d)) ft_assembly_wide = (c & bit_OSXSAVE) != 0;
}

#else

bool ft_rt_reads(const void *context)
{
    (void)context;
    return false;
}

ft_rt_at_hand ft_rt_take_at_hand(void)
{
    return (ft_rt_at_hand){.address = 0};
}

bool ft_rt_put_at_hand(ft_rt_at_hand taken, const void *context)
{
    (void)context;
    return taken.address != 0;
}

#endif

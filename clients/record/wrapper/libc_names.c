/* The C library's functions, for the runtime of a program that defines functions of the same names.
 *
 * The runtime calls the C library's functions in wrapped.h by names that the linker makes
 * (__real_strlen). In such a program these names would mean the program's functions; they are
 * linked to the jumps below instead (foretell_libc_strlen, link.c), each of which goes to the next
 * definition after the program's, found by the dynamic linker. */
#include <dlfcn.h>
#include <stddef.h>

#include "wrapped.h"

typedef struct function {
    const char *name;
    void *at; /* NULL: not found yet */
} function;

/* Hidden, since only the jumps below use them. */
__attribute__((visibility("hidden"))) function foretell_libc_functions[] = {
#define FT_ROW(name) {#name, NULL},
    FT_WRAPPED_TABLE(FT_ROW)
#undef FT_ROW
};

enum {
#define FT_ROW(name) INDEX_##name,
    FT_WRAPPED_TABLE(FT_ROW)
#undef FT_ROW
        FUNCTIONS
};

/* Found by the assembly below as well. */
__attribute__((visibility("hidden"))) void *foretell_libc_find(function *wanted);

void *foretell_libc_find(function *wanted)
{
    wanted->at = dlsym(RTLD_NEXT, wanted->name);
    return wanted->at;
}

/* Later the loader's lock may be held by a thread that waits for its turn. */
__attribute__((constructor(101))) static void find_all(void)
{
    for (size_t i = 0; i < FUNCTIONS; i++) foretell_libc_find(&foretell_libc_functions[i]);
}

/* Arguments are in rdi, rsi, rdx, rcx, r8, r9 and xmm0 to xmm7; al has the number of the latter for
 * functions such as snprintf. r11 is free. */
__asm__(".text\n"
        "foretell_libc_late:\n"
        "    push %rbp\n"
        "    mov %rsp, %rbp\n"
        "    push %rdi; push %rsi; push %rdx; push %rcx; push %r8; push %r9; push %rax; push %rax\n"
        "    sub $128, %rsp\n"
        "    movups %xmm0, (%rsp); movups %xmm1, 16(%rsp); movups %xmm2, 32(%rsp)\n"
        "    movups %xmm3, 48(%rsp); movups %xmm4, 64(%rsp); movups %xmm5, 80(%rsp)\n"
        "    movups %xmm6, 96(%rsp); movups %xmm7, 112(%rsp)\n"
        "    mov %r11, %rdi\n"
        "    call foretell_libc_find\n"
        "    mov %rax, %r11\n"
        "    movups (%rsp), %xmm0; movups 16(%rsp), %xmm1; movups 32(%rsp), %xmm2\n"
        "    movups 48(%rsp), %xmm3; movups 64(%rsp), %xmm4; movups 80(%rsp), %xmm5\n"
        "    movups 96(%rsp), %xmm6; movups 112(%rsp), %xmm7\n"
        "    add $128, %rsp\n"
        "    pop %rax; pop %rax; pop %r9; pop %r8; pop %rcx; pop %rdx; pop %rsi; pop %rdi\n"
        "    pop %rbp\n"
        "    jmp *%r11\n"
        /* The jump to the function of that index in the table: 16 bytes a row, `at` is the second
         * word. */
        ".macro foretell_libc_jump name, index\n"
        "    .globl foretell_libc_\\name\n"
        "    .hidden foretell_libc_\\name\n"
        "    .type foretell_libc_\\name, @function\n"
        "foretell_libc_\\name:\n"
        "    mov foretell_libc_functions + 16 * \\index + 8(%rip), %r11\n"
        "    test %r11, %r11\n"
        "    jz 1f\n"
        "    jmp *%r11\n"
        "1:  lea foretell_libc_functions + 16 * \\index(%rip), %r11\n"
        "    jmp foretell_libc_late\n"
        "    .size foretell_libc_\\name, . - foretell_libc_\\name\n"
        ".endm\n"
        ".set foretell_libc_index, 0\n"
#define FT_ROW(name)                                                                               \
    "foretell_libc_jump " #name ", foretell_libc_index\n"                                          \
    ".set foretell_libc_index, foretell_libc_index + 1\n"
        FT_WRAPPED_TABLE(FT_ROW)
#undef FT_ROW
);

_Static_assert(sizeof(function) == 16 && offsetof(function, at) == 8, "as the jumps have it");

/* What instructions of inline assembly do to memory, by the processor's manual (Intel SDM, volume
 * 2), and which text gets calls. That the calls are harmless and come with the right addresses is
 * shown by running them: tests/programs/quiet/assembly.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "assembler/instruction.h"
#include "assembler/rewrite.h"

typedef struct row {
    const char *text;
    ft_asm_access access;
    unsigned size;
    const char *memory, *bit;
    bool orders;
} row;

static const row rows[] = {
    {"lock xaddl %eax, (%rdx)", FT_ASM_UPDATE, 4, "(%rdx)", "", true},
    {"lock xadd %r9w, x+8(%rip)", FT_ASM_UPDATE, 2, "x+8(%rip)", "", true},
    {"xchgq %rax, -8(%rbp,%rcx,8)", FT_ASM_UPDATE, 8, "-8(%rbp,%rcx,8)", "", true},
    {"xchg (%rdi), %al", FT_ASM_UPDATE, 1, "(%rdi)", "", true},
    {"xchg %rax, %rbx", FT_ASM_NONE, 0, "", "", false},
    {"lock cmpxchgb %cl, (%r15)", FT_ASM_COMPARE, 1, "(%r15)", "", true},
    {"lock cmpxchg16b 16(%rsi)", FT_ASM_COMPARE, 16, "16(%rsi)", "", true},
    {"lock cmpxchg8b (%rsi)", FT_ASM_COMPARE, 8, "(%rsi)", "", true},
    {"xacquire lock xchgl %eax, x", FT_ASM_UPDATE, 4, "x", "", true},
    {"lock incl x", FT_ASM_UPDATE, 4, "x", "", true},
    {"incl %eax", FT_ASM_NONE, 0, "", "", false},
    {"addq $1, (%rdi)", FT_ASM_UPDATE, 8, "(%rdi)", "", false},
    {"addq (%rdi), %rax", FT_ASM_READ, 8, "(%rdi)", "", false},
    {"sub %esi, (%rdi)", FT_ASM_UPDATE, 4, "(%rdi)", "", false},
    {"subb $1, (%rdi)", FT_ASM_UPDATE, 1, "(%rdi)", "", false},
    {"sbb $1, (%rdi)", FT_ASM_NONE, 0, "", "", false}, /* of a size that nobody says */
    {"cmpl $0, (%rdi)", FT_ASM_READ, 4, "(%rdi)", "", false},
    {"testb $1, x(%rip)", FT_ASM_READ, 1, "x(%rip)", "", false},
    {"movl %eax, (%rdi)", FT_ASM_WRITE, 4, "(%rdi)", "", false},
    {"mov (%rdi), %r10b", FT_ASM_READ, 1, "(%rdi)", "", false},
    {"movq %xmm0, (%rdi)", FT_ASM_WRITE, 8, "(%rdi)", "", false},
    {"movzbl (%rdi), %eax", FT_ASM_READ, 1, "(%rdi)", "", false},
    {"movslq (%rdi), %rax", FT_ASM_READ, 4, "(%rdi)", "", false},
    {"movdqu %xmm1, (%rdi)", FT_ASM_WRITE, 16, "(%rdi)", "", false},
    {"vmovdqu %ymm1, (%rdi)", FT_ASM_NONE, 0, "", "", false},
    {"movsd (%rdi), %xmm1", FT_ASM_READ, 8, "(%rdi)", "", false},
    {"cmovll (%rdi), %eax", FT_ASM_READ, 4, "(%rdi)", "", false},
    {"cmovz (%rdi), %rax", FT_ASM_READ, 8, "(%rdi)", "", false},
    {"setnz (%rdi)", FT_ASM_WRITE, 1, "(%rdi)", "", false},
    {"setc %al", FT_ASM_NONE, 0, "", "", false},
    {"shll %cl, (%rdi)", FT_ASM_UPDATE, 4, "(%rdi)", "", false},
    {"shl %cl, (%rdi)", FT_ASM_NONE, 0, "", "", false},
    {"mov %cl, (%rdi)", FT_ASM_WRITE, 1, "(%rdi)", "", false},
    {"xchg (%rdi), %cl", FT_ASM_UPDATE, 1, "(%rdi)", "", true},
    {"lock sub %cl, (%rdi)", FT_ASM_UPDATE, 1, "(%rdi)", "", true},
    {"imulq $3, (%rdi), %rax", FT_ASM_READ, 8, "(%rdi)", "", false},
    {"mulq (%rdi)", FT_ASM_READ, 8, "(%rdi)", "", false},
    {"lock btsl $3, (%rdi)", FT_ASM_UPDATE, 4, "(%rdi)", "", true},
    {"lock btsq %rax, (%rdi)", FT_ASM_UPDATE, 8, "(%rdi)", "%rax", true},
    {"bt %ecx, (%rdi)", FT_ASM_READ, 4, "(%rdi)", "%ecx", false},
    {"bt $3, %rax", FT_ASM_NONE, 0, "", "", false},
    {"leaq (%rdi), %rax", FT_ASM_NONE, 0, "", "", false},
    {"lock addl $0, %fs:40", FT_ASM_NONE, 0, "", "", false}, /* the thread's own */
    {"movl %gs:(%rdi), %eax", FT_ASM_NONE, 0, "", "", false},
    {"lock incl (%edi)", FT_ASM_NONE, 0, "", "", true},
    {"call *(%rax)", FT_ASM_NONE, 0, "", "", false},
    {"jmp 1f", FT_ASM_NONE, 0, "", "", false},
    {"rep movsb", FT_ASM_NONE, 0, "", "", false},
    {"rep bsfl (%rdi), %eax", FT_ASM_NONE, 0, "", "", false}, /* that is tzcnt */
    {"rep lock incl (%rdi)", FT_ASM_NONE, 0, "", "", true},
    {"fs movl 0, %eax", FT_ASM_NONE, 0, "", "", false},
    {"LOCK XADDL %EAX, Word(%RIP)", FT_ASM_UPDATE, 4, "Word(%RIP)", "", true},
    {"BTSQ %R9, (%rdi)", FT_ASM_UPDATE, 8, "(%rdi)", "%R9", false},
    {"movl 8(%rip), %eax", FT_ASM_NONE, 0, "", "", false}, /* from this very place */
    {"movl 1f(%rip), %eax", FT_ASM_READ, 4, "1f(%rip)", "", false},
    {"lock incl (%rip)", FT_ASM_NONE, 0, "", "", true},
    {"push (%rdi)", FT_ASM_NONE, 0, "", "", false},
    {"lock frobnicate (%rdi)", FT_ASM_NONE, 0, "", "", true},
    {"lock", FT_ASM_NONE, 0, "", "", true},
    {"nop", FT_ASM_NONE, 0, "", "", false},
    {"", FT_ASM_NONE, 0, "", "", false},
};

static ft_asm_text text_of(const char *s)
{
    return (ft_asm_text){s, strlen(s)};
}

static void expect_text(ft_asm_text found, const char *wanted)
{
    assert_int_equal(found.n, strlen(wanted));
    if (found.n) assert_memory_equal(found.at, wanted, found.n);
}

static void test_instructions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *r = &rows[i];
        print_message("%s\n", r->text);
        ft_asm_instruction found = ft_asm_understand(text_of(r->text));
        assert_int_equal(found.access, r->access);
        assert_int_equal(found.orders, r->orders);
        if (r->access == FT_ASM_NONE) continue;
        assert_int_equal(found.size, r->size);
        expect_text(found.memory, r->memory);
        expect_text(found.bit, r->bit);
    }
}

static void test_registers(void **state)
{
    static const struct {
        const char *name;
        unsigned size;
    } registers[] = {{"%al", 1},   {"%ch", 1},   {"%sil", 1}, {"%r8b", 1}, {"%ax", 2},
                     {"%r15w", 2}, {"%ebp", 4},  {"%r9d", 4}, {"%rsp", 8}, {"%r10", 8},
                     {"%r8", 8},   {"%xmm0", 0}, {"%st", 0},  {"%cr0", 0}, {"%k1", 0},
                     {"", 0},      {"$ax", 0},   {"%", 0},    {"%mm0", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof registers / sizeof *registers; i++) {
        print_message("%s\n", registers[i].name);
        assert_int_equal(ft_asm_register_size(text_of(registers[i].name)), registers[i].size);
    }
}

/* ---- texts */

static unsigned occurrences(const ft_asm_buffer *b, const char *word)
{
    unsigned n = 0;
    const char *at = b->n ? b->data : "", *end = at + b->n;
    while ((at = memmem(at, (size_t)(end - at), word, strlen(word)))) {
        at++;
        n++;
    }
    return n;
}

#define FUNCTION(text) "\t.type f, @function\nf:\n" text "\tret\n\t.size f, .-f\n"
/* One with the sanitizer's calls: the text comes behind a call of another function. */
#define HOOKED(text) FUNCTION("\tcall\t__tsan_func_entry@PLT\n\tcall\tg@PLT\n" text)
#define INLINE(text) "#APP\n# 5 \"x.c\" 1\n\t" text "\n# 0 \"\" 2\n#NO_APP\n"

typedef struct expectation {
    const char *text;
    unsigned seen, orders, unseen;
    unsigned before, behind; /* calls */
} expectation;

static const expectation texts[] = {
    {FUNCTION("\tmovl %eax, (%rdx)\n"), 0, 0, 0, 0, 0},       /* the compiler's own */
    {FUNCTION("\tlock xaddl %eax, (%rdx)\n"), 1, 1, 0, 1, 1}, /* but those are atomics */
    {FUNCTION("1:\tlock; decl (%rdi)\n"), 1, 1, 0, 1, 1},     /* a file that people wrote */
    {FUNCTION("\txchgl\t%eax, (%rdx)\n\txchgl %eax, %ecx\n"), 1, 1, 0, 1, 1},
    {FUNCTION("\tlock\t\tcmpxchgl\t%ecx, level(%rip) # a\n"), 1, 1, 0, 1, 1},
    {FUNCTION(INLINE("lock xaddl %eax, (%rdx)")), 1, 1, 0, 1, 1},
    {FUNCTION(INLINE("lock; xaddl %eax, (%rdx)")), 1, 1, 0, 1, 1},
    {FUNCTION(INLINE("lock\n\txaddl\t%eax, (%rdx)")), 1, 1, 0, 1, 1},
    {FUNCTION(INLINE("1: lock;incl (%rdi);jnz 1b;movl (%rsi),%eax")), 2, 1, 0, 2, 1},
    {FUNCTION(INLINE("nop # lock incl (%rdi)")), 0, 0, 0, 0, 0},
    {FUNCTION(INLINE("/* lock incl (%rdi) */ nop")), 0, 0, 0, 0, 0},
    {FUNCTION(INLINE("/* a\n b */ lock incl (%rdi) /* c */; nop")), 1, 1, 0, 1, 1},
    {FUNCTION(INLINE(".ascii \"; lock incl (%rdi)\"")), 0, 0, 0, 0, 0},
    {FUNCTION(INLINE("cmpb $'#', (%rdi); cmpb $';', %al; lock incl (%rdi)")), 2, 1, 0, 2, 1},
    {FUNCTION(INLINE("rep; bsfl (%rdi), %eax; fs; movl 0, %eax")), 0, 0, 0, 0, 0},
    {FUNCTION(INLINE("xacquire; lock; incl (%rdi)")), 1, 1, 0, 1, 1},
    {FUNCTION(INLINE(".byte 0xf0; incl (%rdi)")), 0, 1, 1, 0, 0},
    {FUNCTION(INLINE(".byte 0xf3\n\t.byte 0x48; bsf (%rdi), %eax")), 0, 0, 0, 0, 0},
    {FUNCTION(INLINE(".byte 0x0f, 0x0b; lock incl (%rdi)")), 1, 1, 0, 1, 1},
    {FUNCTION(INLINE(".byte 0x48,0x0f,0xc7,0xf0; jc 1f; 1:")), 0, 0, 0, 0, 0}, /* rdrand */
    {FUNCTION(INLINE(".byte 0x0f, 0xc7, 0xf0; lock incl (%rdi)")), 1, 1, 0, 1, 1},
    {FUNCTION(INLINE(".byte 0x2e , 0xf0 ; incl (%rdi)")), 0, 1, 1, 0, 0},
    {FUNCTION(INLINE(".byte; lock incl (%rdi)")), 1, 1, 0, 1, 1},
    {FUNCTION(INLINE("je 0f; lock; 0: incl (%rdi)")), 0, 1, 1, 0, 0},
    {FUNCTION(INLINE("1 : lock incl (%rdi)")), 1, 1, 0, 1, 1},
    {FUNCTION(INLINE("nop; // lock incl (%rdi); lock incl (%rdi)\n")), 0, 0, 0, 0, 0},
    {FUNCTION(INLINE("/ a; lock incl (%rdi)\n\tlock incl (%rdi)")), 1, 1, 0, 1, 1},
    {FUNCTION(INLINE(".ascii \"a\\\\\"; lock incl (%rdi)")), 1, 1, 0, 1, 1},
    {FUNCTION(INLINE(".ascii \"a\\\"; \"; lock incl (%rdi)")), 1, 1, 0, 1, 1},
    {FUNCTION(INLINE("jnz .+6; lock incl (%rdi)")), 0, 1, 1, 0, 0},
    {FUNCTION(INLINE("1: lock incl (%rdi); .long 1b - .; x = . - 4")), 1, 1, 0, 1, 1},
    {FUNCTION(INLINE(".att_syntax noprefix; lock incl x; .att_syntax prefix; lock incl x")), 1, 2,
     1, 1, 1},
    {FUNCTION(INLINE(".intel_syntax noprefix; lock inc dword ptr [rdi]; .att_syntax prefix")
                  INLINE("lock incl (%rdi)")),
     1, 2, 1, 1, 1},
    {FUNCTION(INLINE(".macro m x\nlock incl \\x\n.endm\nm (%rdi)")), 0, 1, 1, 0, 0},
    {INLINE(".macro m x\nlock incl \\x\n.endm\n") FUNCTION(INLINE("m (%rdi)")), 0, 1, 1, 0, 0},
    {INLINE("g: lock incl (%rdi); ret"), 0, 1, 1, 0, 0}, /* a function of assembly alone */
    {"\t.macro m x\n lock incl \\x\n\t.endm\n" FUNCTION(INLINE("m (%rdi)")), 0, 1, 1, 0,
     0}, /* clang's */
    {"g:\txchgl %eax, (%rdi)\n\tret\n" FUNCTION(""), 0, 1, 1, 0, 0},
    {"x:\n\t.long 5\n\t.string \"lock incl\"\n" FUNCTION(""), 0, 0, 0, 0, 0},
    {FUNCTION("") INLINE("g: movl %eax, (%rdi); ret"), 0, 0, 0, 0, 0},
    {FUNCTION(INLINE("lock frobnicate (%rdi)")), 0, 1, 1, 0, 0},
    {FUNCTION(INLINE("rdtsc")), 1, 0, 0, 0, 0},
    {FUNCTION("\trdtscp\n"), 1, 0, 0, 0, 0}, /* the compiler's own, but a look at the clock */
    {FUNCTION("\t#APP\n\tlock\n\tincl\t(%rdi)\n\t#NO_APP\n"), 1, 1, 0, 1, 1}, /* clang's */
    {FUNCTION(INLINE("lock")), 0, 0, 0, 0, 0}, /* and nothing behind it */
    /* what a function returned, and what is passed by value (bare.h) */
    {HOOKED("\tmovq\t%rax, x(%rip)\n\tmovaps %xmm0, 8(%rbx)\n"), 2, 0, 0, 2, 2},
    {HOOKED("\tmovq x(%rip), %rdi\n\tpushq\t8+x(%rip)\n\tcall h\n"), 2, 0, 0, 2, 0},
    {HOOKED(".L2:\n\tmovups x(%rip), %xmm0 # a\n\tmovups %xmm0, (%rsp)\n\tcallq h\n"), 1, 0, 0, 1,
     0},
    {HOOKED("\tmovq x(%rip), %rdi\n\tcall __tsan_read8\n\tcall h\n"), 0, 0, 0, 0, 0},
    {HOOKED("\tcall __tsan_read8\n\tmovq p(%rip), %rax\n\tmovq (%rax), %rdi\n\tcall h\n"), 2, 0, 0,
     2, 0},
    {HOOKED("\tcall __tsan_read_range\n\tmovq p(%rip), %rax\n\tmovq (%rax), %rdi\n\tcall h\n"), 0,
     0, 0, 0, 0},
    {HOOKED("\tcall __tsan_read4\n\tmovq x(%rip), %rdi\n\tmovl n(%rip), %ebx\n\tcall h\n"), 2, 0, 0,
     2, 0}, /* which of the two nobody can tell */
    {HOOKED("\trep movsq\n"), 1, 0, 0, 1, 0},
    {HOOKED(".LVL3:\n\t.loc 1 2\n.LEHE0:\n\tmovl\t%eax, (%rbx)\n"), 1, 0, 0, 1, 1},
    {HOOKED("\tcall\t__tsan_write4@PLT\n\tmovl\t%eax, x(%rip)\n"), 0, 0, 0, 0, 0},
    {HOOKED(".L3:\n\tmovl\t%eax, x(%rip)\n"), 0, 0, 0, 0, 0}, /* reached from elsewhere */
    {HOOKED("\tjne .L3\n\tmovl\t%eax, x(%rip)\n"), 0, 0, 0, 0, 0},
    {HOOKED("\tmovq\t%rax, -8(%rbp)\n\tpushq %rax\n\tpushq $1\n\tmovss\t.LC0(%rip), %xmm0\n"
            "\tcall h\n"),
     0, 0, 0, 0, 0},
    {HOOKED("\tmovq\tx@GOTPCREL(%rip), %rax\n\tleaq\tx(%rip), %rdi\n\tcall h\n"), 0, 0, 0, 0, 0},
    {HOOKED("\tmovq\t%rax, %fs:x@tpoff\n\tmovq 8(%rsp), %rax\n\tcall h\n"), 0, 0, 0, 0, 0},
    {FUNCTION("\tcall g\n\tmovq %rax, x(%rip)\n"), 0, 0, 0, 0, 0},
    {HOOKED("\tcall ft_sym_load\n\tmovq %rax, x(%rip)\n"), 0, 0, 0, 0, 0},
    {HOOKED(".L2:\n\tmovq x(%rip), %rdi\n\tcall ft_sym_call\n\tcall h\n"), 0, 0, 0, 0, 0},
    {HOOKED("") FUNCTION("\tcall g\n\tmovq %rax, x(%rip)\n"), 0, 0, 0, 0, 0},
    {"", 0, 0, 0, 0, 0},
    {"#APP\n", 0, 0, 0, 0, 0},
};

static void test_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const expectation *t = &texts[i];
        ft_asm_buffer made = {0};
        print_message("%s\n", t->text);
        ft_asm_counts counts = ft_asm_rewrite(t->text, strlen(t->text), &made);
        assert_false(made.failed);
        assert_int_equal(counts.seen, t->seen);
        assert_int_equal(counts.orders, t->orders);
        assert_int_equal(counts.unseen, t->unseen);
        unsigned calls = occurrences(&made, "__foretell_asm_"),
                 behind = occurrences(&made, "__foretell_asm_done"),
                 clock = occurrences(&made, "__foretell_asm_clock");
        assert_int_equal(calls - behind - clock, t->before);
        assert_int_equal(behind, t->behind);
        free(made.data);
    }
}

/* The object says where the first instruction is that could not get calls. */
static void test_place(void **state)
{
    static const char text[] = "\t.file 1 \"/src/folder\" \"list.c\"\n"
                               "\t.type\tpush, @function\npush:\n\t.loc 1 40 5\n"
                               "#APP\n\tlock incl (%rax)\n#NO_APP\n\t.loc 1 41 9\n"
                               "#APP\n\t.byte 0xf0; incl (%rax)\n#NO_APP\n\t.size\tpush, .-push\n";
    (void)state;
    ft_asm_buffer made = {0};
    ft_asm_counts counts = ft_asm_rewrite(text, sizeof text - 1, &made);
    assert_int_equal(counts.unseen, 1);
    assert_string_equal(counts.place, "list.c:41 in push");
    ft_asm_mark(&made, counts.unseen, counts.place);
    assert_false(made.failed);
    assert_int_equal(occurrences(&made, "list.c:41 in push"), 1);
    free(made.data);
}

/* An operand that counts from the stack pointer counts from where it was. */
static void test_stack(void **state)
{
    static const char *const written[] = {"8(%rsp)", "8( %rsp )", "8(%RSP,%rcx,4)"};
    (void)state;
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        char text[256], wanted[64];
        ft_asm_buffer made = {0};
        snprintf(text, sizeof text, FUNCTION(INLINE("lock incl %s")), written[i]);
        snprintf(wanted, sizeof wanted, "leaq 136+%s, %%rdi", written[i]);
        ft_asm_rewrite(text, strlen(text), &made);
        assert_int_equal(occurrences(&made, wanted), 1);
        free(made.data);
    }
}

/* Calls for the frame go where no address of it goes elsewhere, and nowhere else. */
static void test_frames(void **state)
{
#define ASK "\tleaq\t-8(%rbp), %rdi\n\tcallq\t__tsan_write4@PLT\n"
    static const struct {
        const char *text;
        unsigned left; /* calls of the sanitizer */
    } frames[] = {
        {FUNCTION(ASK ASK), 0},
        {FUNCTION("\tpushq\t%rbp\n\tmovq\t%rsp, %rbp\n" ASK "\tpopq\t%rbp\n\tretq\n"), 0},
        {FUNCTION("\tleaq\t-80(%rbp), %rdi\n\tshlq\t$2, %rax\n\taddq\t%rax, %rdi\n"
                  "\tcallq\t__tsan_unaligned_read8@PLT\n" ASK
                  "\timull\t$31, -80(%rbp,%rax,4), %eax\n"),
         0},
        {FUNCTION(ASK "\tmovq\t%rax, %rdi\n\tcallq\t__tsan_read4@PLT\n"), 1},
        {FUNCTION(ASK "\tleaq\t-80(%rbp), %rdi\n\tcallq\th\n"), 1},
        {FUNCTION("\tleaq\t-80(%rbp), %rax\n" ASK), 1},
        {FUNCTION(ASK "\tleaq\t-80(%rbp), %rdi\n\tmovq\t%rdi, x(%rip)\n"), 1},
        {FUNCTION(ASK "\tleaq\t-80(%rbp), %rdi\n\tjmp\t.LBB0_1\n.LBB0_1:\n" ASK), 2},
        {FUNCTION(ASK "\tleaq\t-80(%rbp), %rdi\n.LBB0_1:\n" ASK), 2},
        {FUNCTION(ASK "\tmovq\t%rsp, %rdi\n\tcallq\th\n"), 1},
        {FUNCTION(ASK "\tmovq\t%rbp, %rdi\n\tcallq\th\n"), 1},
        {FUNCTION(ASK "\tleaq\t8(%rsp), %rdi\n\tcallq\th\n"), 1},
        {FUNCTION(ASK "\tleaq\t-8(%rbp), %rdi\n\tcallq\t__tsan_memcpy@PLT\n"), 2},
        {FUNCTION(ASK "\tleaq\t-8(%rbp), %rdi\n\tleaq\t(%rax,%rdi), %rcx\n" ASK), 2},
        {FUNCTION(ASK "\tleaq\t-8(%rbp), %rdi\n\tleaq\tx(%rip), %rdi\n"
                      "\tcallq\t__tsan_read4@PLT\n"),
         2},
        {FUNCTION(ASK "\tleaq\tx(%rip), %rdi\n\tcallq\t__tsan_read4@PLT\n"), 1},
        {FUNCTION(ASK INLINE("nop")), 1},
        {FUNCTION("\tleaq\t-80(%rbp), %rdi\n\tcallq\th\n") FUNCTION(ASK), 0},
        {"f:\n" ASK, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        ft_asm_buffer made = {0};
        print_message("%s\n", frames[i].text);
        ft_asm_counts counts = ft_asm_rewrite(frames[i].text, strlen(frames[i].text), &made);
        unsigned left = occurrences(&made, "__tsan_");
        assert_int_equal(left, frames[i].left);
        ft_asm_buffer before = {(char *)(uintptr_t)frames[i].text, strlen(frames[i].text), 0,
                                false};
        assert_int_equal(counts.gone, occurrences(&before, "__tsan_") - left);
        free(made.data);
    }
}

/* What gets no calls stays as it is, byte for byte. */
static void test_unchanged(void **state)
{
    static const char text[] = FUNCTION("\tmovl $1, %eax # what\n") "\t.section .x\n";
    ft_asm_buffer made = {0};
    (void)state;
    ft_asm_rewrite(text, sizeof text - 1, &made);
    assert_int_equal(made.n, sizeof text - 1);
    assert_memory_equal(made.data, text, made.n);
    free(made.data);
}

/* Beginnings of texts, which end anywhere: nothing is read behind them (the sanitizers look). */
static void test_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t n = strlen(texts[i].text);
        for (size_t cut = 0; cut < n; cut++) {
            char *part = malloc(cut + 1);
            ft_asm_buffer made = {0};
            assert_non_null(part);
            memcpy(part, texts[i].text, cut);
            ft_asm_rewrite(part, cut, &made);
            assert_false(made.failed);
            free(made.data);
            free(part);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instructions), cmocka_unit_test(test_registers),
        cmocka_unit_test(test_texts),        cmocka_unit_test(test_place),
        cmocka_unit_test(test_stack),        cmocka_unit_test(test_unchanged),
        cmocka_unit_test(test_cut),          cmocka_unit_test(test_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

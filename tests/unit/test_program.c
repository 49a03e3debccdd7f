/* Programs as data: text and binary form are inverse to their printers, faults are named with their
 * place, and bytes that are cut or changed are refused or read as another valid program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "oracle/schedules_text.h"
#include "program/binary.h"
#include "program/text.h"

/* Each item and each attribute once. Registers and blocks are named before they come. */
static const char EVERYTHING[] =
    "program 1\n"
    "file \"queue.c\"\n"
    "object @limit 4 align 4 !0:3:5 { 0: \"\\05\\00\\00\\00\" }\n"
    "object @table 24 align 8 constant { 0: @limit 8: @limit+2 16: @worker }\n"
    "object @m 40 align 8\n"
    "object @own 8 thread\n"
    "object @\"odd name\" 1\n"
    "function @worker(%arg: i64) -> i64 {\n"
    "  entry:\n"
    "    lock @m !0:9:3\n"
    "    %v = load i32 @limit !0:10:7\n"
    "    variable \"left\" nowhere !0:8:0\n"
    "    variable \"a b\" %v !0:8:0\n"
    "    %n = add i32 %v, -1\n"
    "    store i32 %n, @limit\n"
    "    unlock @m\n"
    "    return i64 0\n"
    "}\n"
    "function @main() -> i32 {\n"
    "  start:\n"
    "    mutex_init recursive @m\n"
    "    %t = create @worker, 0\n"
    "    %n = input \"n\" i32 !0:7:12\n"
    "    jump loop(i32 0, i64 1)\n"
    "  done:\n"
    "    %r = join %t\n"
    "    %w = atomic_update add seq_cst i32 @limit, -1\n"
    "    switch i32 %w, out, 1: out, 0x80000000: \"i8\"(i8 -56)\n"
    "  \"i8\"(%c: i8):\n"
    "    fill @own, %c, 8\n"
    "    assert \"never \\22this\\22\" 0\n"
    "    jump out\n"
    "  body:\n"
    "    %i2 = add i32 %i, 1\n"
    "    %l2 = zext i64 %i2\n"
    "    jump loop(%i2, %l2)\n"
    "  loop(%i: i32, %j: i64):\n"
    "    %more = ult i32 %i, %n\n"
    "    branch %more, body, done\n"
    "  out:\n"
    "    %s = stack 8 16\n"
    "    variable \"s\" at %s !0:12:8\n"
    "    fence acq_rel\n"
    "    %z = call i64 @worker(i64 5)\n"
    "    call_at i64 @worker(i64 6)\n"
    "    return i32 0\n"
    "}\n";

static ft_program *read_text(const char *text, size_t length)
{
    ft_error err = FT_ERROR_INIT;
    ft_program *program = NULL;
    if (ft_program_read(text, length, &program, &err) != FT_OK)
        fail_msg("%llu:%llu: %s", (unsigned long long)err.line, (unsigned long long)err.column,
                 err.message);
    return program;
}

/* text -> program -> binary -> program -> text, and hash by hash. */
static void check_round_trip(const char *text, bool same)
{
    char hash[FT_DIGEST_HEX + 1], again[FT_DIGEST_HEX + 1];
    ft_strbuf printed = {0}, binary = {0}, back = {0};
    ft_program *program = read_text(text, strlen(text));
    ft_program_print(program, &printed);
    ft_program *reread = read_text(printed.text, printed.len);
    ft_program_write_binary(reread, &binary);
    ft_program *rebuilt = read_text(binary.text, binary.len);
    ft_program_print(rebuilt, &back);
    if (same) assert_string_equal(printed.text, text);
    assert_string_equal(back.text, printed.text);
    ft_program_hash(program, hash);
    ft_program_hash(rebuilt, again);
    assert_string_equal(hash, again);
    ft_strbuf_release(&printed);
    ft_strbuf_release(&binary);
    ft_strbuf_release(&back);
    ft_program_free(program);
    ft_program_free(reread);
    ft_program_free(rebuilt);
}

static void test_round_trip(void **state)
{
    (void)state;
    check_round_trip(EVERYTHING, true);
}

static void test_random_round_trips(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 120; seed++) {
        schedule_program p = ft_schedules_random(seed);
        ft_strbuf text = {0};
        if (ft_schedules_text(&p, &text)) check_round_trip(text.text, false);
        ft_strbuf_release(&text);
    }
}

/* Where blocks, registers and symbols are numbered otherwise, the hash is the same: the order of
 * first mention is not part of a program. */
static void test_hash(void **state)
{
    (void)state;
    static const char ONE[] = "program 1 object @a 8 object @b 8 function @f() { x: return } "
                              "function @main() { x: store i64 1, @a store i64 2, @b call @f() "
                              "return }",
                      OTHER[] = "program 1 function @f() { x: return } object @a 8 object @b 8 "
                                "function @main() { x: store i64 1, @a store i64 2, @b call @f() "
                                "return }",
                      DIFFERENT[] = "program 1 object @a 8 object @b 8 function @f() { x: return } "
                                    "function @main() { x: store i64 1, @a store i64 3, @b call "
                                    "@f() return }";
    const char *texts[] = {ONE, OTHER, DIFFERENT};
    char hash[3][FT_DIGEST_HEX + 1];
    for (int i = 0; i < 3; i++) {
        ft_program *program = read_text(texts[i], strlen(texts[i]));
        ft_program_hash(program, hash[i]);
        ft_program_free(program);
    }
    assert_string_equal(hash[0], hash[1]);
    assert_string_not_equal(hash[0], hash[2]);
}

/* ---- faults: where, and a part of the message */

typedef struct fault {
    const char *text;
    uint64_t line, column; /* 0: the error names function and block instead */
    const char *message;
} fault;

#define MAIN(body) "program 1\nfunction @main() {\n  a:\n    " body "\n}\n"

static const fault FAULTS[] = {
    {"", 1, 1, "begins with 'program 1'"},
    {"program 2", 1, 9, "reads 'program 1' alone"},
    {"program 1\nobject x", 2, 8, "a name, @name, is missing"},
    {"program 1\nobject @x", 2, 10, "the size is missing"},
    {"program 1\nobject @x 999999999999", 2, 11, "at most 268435456"},
    {"program 1\nobject @x 8 align 3", 2, 20, "power of two"},
    {"program 1\nobject @x 8\nobject @x 8", 3, 8, "defined for the second time"},
    {"program 1\nobject @x 8 { 4: @x }\nfunction @main() { a: return }", 0, 0, "go beyond its 8"},
    {"program 1\nobject @x 8 { 0: \"ab\" 1: \"c\" }\nfunction @main() { a: return }", 0, 0,
     "overlap at 1"},
    {"program 1\nobject @x 8 { 0: @y }\nfunction @main() { a: return }", 0, 0, "@y is not defined"},
    {"program 1\nobject @y 8 thread\nobject @x 8 { 0: @y }\nfunction @main() { a: return }", 0, 0,
     "an address in each thread"},
    {"program 1\nfunction @f() { a: return }", 0, 0, "no function @main"},
    {"program 1\nfunction @main(%x: i64) { a: return }", 0, 0, "@main must have"},
    {"program 1\nfunction @main() { }", 2, 20, "a function needs a block"},
    {MAIN("lod i32 0\n    return"), 4, 5, "'lod' is not an instruction; did you mean 'load'"},
    {MAIN("%x = lock @m\n    %x = lock @m"), 5, 5, "assigned for the second time"},
    {MAIN("jump b"), 4, 10, "no block b"},
    {MAIN("%x = add i32 1, %y\n    return"), 4, 21, "no register %y"},
    {MAIN("%x = add i32 1"), 5, 1, "a ',' is missing"},
    {MAIN("%x = add 1, 2"), 4, 14, "a width, i1 to i64, is missing"},
    {MAIN("%x = add i65 1, 2"), 4, 14, "a width, i1 to i64, is missing"},
    {MAIN("%x = add i8 1, 256\n    return"), 4, 20, "does not fit into 8 bits"},
    {MAIN("%x = store i8 1, 0\n    return"), 5, 5, "has no result"},
    {MAIN("%x = atomic_load i8 0\n    return"), 4, 22, "a memory order is missing"},
    {MAIN("assert 0\n    return"), 4, 12, "a text in quotes is missing"},
    {MAIN("assert \"x\n 0"), 4, 12, "the quotes are not closed"},
    {MAIN("yield !0:1:1\n    return"), 4, 11, "there is no file 0"},
    {MAIN("yield $ \n return"), 4, 11, "'$' is not an instruction"},
    {MAIN("yield # \n return"), 4, 11, "byte 0x23"},
    {MAIN("yield"), 0, 0, "must end in an instruction that leaves it"},
    {MAIN("return\n    yield\n    return"), 0, 0, "goes on behind an instruction"},
    {MAIN("return i32 1"), 0, 0, "the function's result has 0 bits"},
    {MAIN("call @g()\n    return"), 0, 0, "@g is not a function"},
    {MAIN("call @main(i8 1)\n    return"), 0, 0, "other parameters or another result"},
    {MAIN("jump a"), 0, 0, "first block is a target"},
    {MAIN("jump b\n  b(%x: i8):\n    return"), 0, 0, "0 arguments are given, but 1 are needed"},
    {MAIN("jump b(i9 1)\n  b(%x: i8):\n    return"), 0, 0, "an operand has 9 bits where 8"},
    {MAIN("%x = zext i8 i16 1\n    return"), 0, 0, "do not fit the instruction"},
    {MAIN("%x = fadd i16 1, 2\n    return"), 0, 0, "do not fit the instruction"},
    {MAIN("%x = atomic_load seq_cst i9 0\n    return"), 0, 0, "do not fit the instruction"},
    {MAIN("branch 1, b, c\n  b:\n    %x = add i8 1, 1\n    jump c\n  c:\n"
          "    %y = add i8 %x, 1\n    return"),
     0, 0, "%x is not assigned on every way"},
    {MAIN("%x = add i8 %x, 1\n    return"), 0, 0, "%x is not assigned on every way"},
    {MAIN("switch i8 1, b, 2: b, 2: b\n  b:\n    return"), 0, 0, "a value comes twice"},
};

static void test_faults(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof FAULTS / sizeof FAULTS[0]; i++) {
        const fault *f = &FAULTS[i];
        ft_error err = FT_ERROR_INIT;
        ft_program *program = NULL;
        ft_status status = ft_program_read(f->text, strlen(f->text), &program, &err);
        if (status != FT_INPUT || !strstr(err.message, f->message) || err.line != f->line ||
            err.column != f->column)
            fail_msg("fault %zu: status %d at %llu:%llu: %s\n%s", i, (int)status,
                     (unsigned long long)err.line, (unsigned long long)err.column, err.message,
                     f->text);
        assert_null(program);
    }
}

/* Registers of dominating blocks are known, wherever the blocks stand in the text. */
static void test_dominance(void **state)
{
    (void)state;
    static const char TEXT[] = MAIN(
        "jump d\n  c(%p: i8):\n    %z = add i8 %y, %p\n    branch 0, c(%z), e\n"
        "  d:\n    %y = add i8 1, 2\n    jump c(%y)\n  e:\n    %q = add i8 %z, %y\n    return");
    ft_program_free(read_text(TEXT, strlen(TEXT)));
}

/* ---- bytes */

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return *seed >> 33;
}

static void read_any(const char *bytes, size_t length, uint64_t *accepted)
{
    ft_program *program = NULL;
    ft_error err = FT_ERROR_INIT;
    char *exact = malloc(length + 1); /* so that a sanitizer sees a read behind the end */
    assert_non_null(exact);
    memcpy(exact, bytes, length);
    if (ft_program_read(exact, length, &program, &err) == FT_OK)
        ++*accepted;
    else
        assert_true(err.message[0] != '\0' && !program);
    ft_program_free(program);
    free(exact);
}

static void test_changed_bytes(void **state)
{
    (void)state;
    uint64_t seed = 5, accepted = 0;
    ft_strbuf binary = {0};
    ft_program *program = read_text(EVERYTHING, strlen(EVERYTHING));
    ft_program_write_binary(program, &binary);
    for (size_t n = 0; n < binary.len; n++) read_any(binary.text, n, &accepted);
    assert_int_equal(accepted, 0); /* every cut is one */
    for (int i = 0; i < 4000; i++) {
        size_t at = next(&seed) % binary.len;
        char kept = binary.text[at];
        binary.text[at] = (char)next(&seed);
        read_any(binary.text, binary.len, &accepted);
        binary.text[at] = kept;
    }
    for (int i = 0; i < 4000; i++) {
        char text[sizeof EVERYTHING];
        memcpy(text, EVERYTHING, sizeof text);
        for (int k = 0; k < 2; k++)
            text[next(&seed) % (sizeof text - 1)] = (char)(32 + next(&seed) % 95);
        read_any(text, sizeof text - 1, &accepted);
    }
    assert_true(accepted > 100); /* names and literals may change */
    ft_strbuf_release(&binary);
    ft_program_free(program);
}

/* A number in two bytes where one is enough. */
static void test_only_one_binary_form(void **state)
{
    (void)state;
    ft_error err = FT_ERROR_INIT;
    ft_strbuf binary = {0}, padded = {0};
    ft_program *program = read_text(EVERYTHING, strlen(EVERYTHING)), *other = NULL;
    size_t magic = strlen(FT_PROGRAM_MAGIC);
    ft_program_write_binary(program, &binary);
    ft_strbuf_add(&padded, binary.text, magic);
    ft_strbuf_add(&padded, "\x81\x00", 2); /* one file */
    ft_strbuf_add(&padded, binary.text + magic + 1, binary.len - magic - 1);
    assert_int_equal(ft_program_read_binary(padded.text, padded.len, &other, &err), FT_INPUT);
    assert_non_null(strstr(err.message, "not the program's binary form"));
    ft_strbuf_release(&binary);
    ft_strbuf_release(&padded);
    ft_program_free(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_random_round_trips),
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_dominance),
        cmocka_unit_test(test_changed_bytes),
        cmocka_unit_test(test_only_one_binary_form),
    };
    return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}

/* Programs by hand for proofs for any number of threads: whether one that no assertion fails is
 * found, and what decides. */
#ifndef FT_TESTS_MODULAR_CASES_H
#define FT_TESTS_MODULAR_CASES_H

#include <stdbool.h>

static const struct {
    bool proved;
    const char *what, *text;
} CASES[] = {
    {false, "a third thread writes in between",
     "object @x 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n atomic_store seq_cst i32 1, @x\n"
     " %v = atomic_load seq_cst i32 @x\n %c = eq i32 %v, 1\n assert \"own\" %c\n"
     " return i64 0\n}\n"
     "function @u(%a: i64) -> i64 {\n b:\n atomic_store seq_cst i32 2, @x\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n %t = create @t, 0\n %u = create @u, 0\n"
     " return i32 0\n}\n"},
    {false, "a third thread of the same function writes in between",
     "object @x 4 align 4\nobject @n 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n %n = atomic_update add seq_cst i32 @n, 1\n"
     " atomic_store seq_cst i32 %n, @x\n %v = atomic_load seq_cst i32 @x\n"
     " %c = eq i32 %v, %n\n assert \"own\" %c\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n jump l\n l:\n %t = create @t, 0\n jump l\n}\n"},
    {true, "a thread that another thread makes comes behind what its maker wrote",
     "object @x 4 align 4\n"
     "function @u(%a: i64) -> i64 {\n b:\n %v = atomic_load seq_cst i32 @x\n"
     " %c = ne i32 %v, 0\n assert \"written\" %c\n return i64 0\n}\n"
     "function @t(%a: i64) -> i64 {\n b:\n atomic_store seq_cst i32 1, @x\n"
     " %u = create @u, 0\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n %t = create @t, 0\n return i32 0\n}\n"},
    {false, "it runs beside a thread that its maker does not wait for",
     "object @x 4 align 4\n"
     "function @u(%a: i64) -> i64 {\n b:\n %v = atomic_load seq_cst i32 @x\n"
     " %c = ne i32 %v, 0\n assert \"written\" %c\n return i64 0\n}\n"
     "function @w(%a: i64) -> i64 {\n b:\n atomic_store seq_cst i32 0, @x\n return i64 0\n}\n"
     "function @t(%a: i64) -> i64 {\n b:\n atomic_store seq_cst i32 1, @x\n"
     " %u = create @u, 0\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n %w = create @w, 0\n %t = create @t, 0\n"
     " return i32 0\n}\n"},
    {false, "the bytes of a constant differ",
     "object @s 2 align 1 constant { 0: \"a\" }\n"
     "function @main() -> i32 {\n b:\n jump l(i64 0)\n l(%i: i64):\n %p = add i64 @s, %i\n"
     " %v = load i8 %p\n %end = eq i8 %v, 0\n branch %end, out, on\n on:\n"
     " %n = add i64 %i, 1\n jump l(%n)\n out:\n fail \"end\"\n}\n"},
    {true, "there is no assertion, and what is not followed does no harm",
     "object @o 4 align 4\nobject @x 4 align 4\n"
     "function @t() {\n b:\n atomic_store seq_cst i32 7, @x\n return\n}\n"
     "function @main() -> i32 {\n b:\n once @o, @t\n return i32 0\n}\n"},
    {false, "the numbers that the first thread begins with may be any",
     "object @x 4 align 4\n"
     "function @main(%a: i32, %b: i64) -> i32 {\n b:\n atomic_store seq_cst i32 7, @x\n"
     " %c = ne i32 %a, 5\n assert \"few\" %c\n return i32 0\n}\n"},
    {false, "a function that is called again has other memory",
     "object @x 4 align 4\n"
     "function @f(%old: i64) -> i64 {\n b:\n %p = stack 8 8\n %same = eq i64 %p, %old\n"
     " atomic_store seq_cst i32 1, @x\n %first = eq i64 %old, 0\n"
     " branch %first, out, on\n on:\n assert \"same\" %same\n jump out\n out:\n return %p\n}\n"
     "function @main() -> i32 {\n b:\n %p = call i64 @f(i64 0)\n %q = call i64 @f(%p)\n"
     " return i32 0\n}\n"},
    {true, "a counter under a lock only grows, but for its end",
     "object @m 40 align 8\nobject @n 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n lock @m\n %v = load i32 @n\n %top = eq i32 %v, -1\n"
     " branch %top, out, on\n out:\n unlock @m\n return i64 0\n on:\n %w = add i32 %v, 1\n"
     " store i32 %w, @n\n unlock @m\n lock @m\n %x = load i32 @n\n unlock @m\n"
     " %c = ult i32 %v, %x\n assert \"grows\" %c\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n jump l\n l:\n %t = create @t, 0\n jump l\n}\n"},
    {false, "the same without the check for its end",
     "object @m 40 align 8\nobject @n 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n lock @m\n %v = load i32 @n\n %w = add i32 %v, 1\n"
     " store i32 %w, @n\n unlock @m\n lock @m\n %x = load i32 @n\n unlock @m\n"
     " %c = ult i32 %v, %x\n assert \"grows\" %c\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n jump l\n l:\n %t = create @t, 0\n jump l\n}\n"},
    {true, "one thread alone is in the section",
     "object @f 4 align 4\nobject @in 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n s:\n jump b\n b:\n %o = atomic_swap seq_cst i32 @f, 0, 1\n"
     " %free = eq i32 %o, 0\n branch %free, go, b\n go:\n"
     " %v = atomic_update add seq_cst i32 @in, 1\n %c = eq i32 %v, 0\n assert \"alone\" %c\n"
     " atomic_store seq_cst i32 0, @in\n atomic_store seq_cst i32 0, @f\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n jump l\n l:\n %t = create @t, 0\n jump l\n}\n"},
    {false, "two threads are, where the flag is given back early",
     "object @f 4 align 4\nobject @in 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n s:\n jump b\n b:\n %o = atomic_swap seq_cst i32 @f, 0, 1\n"
     " %free = eq i32 %o, 0\n branch %free, go, b\n go:\n atomic_store seq_cst i32 0, @f\n"
     " %v = atomic_update add seq_cst i32 @in, 1\n %c = eq i32 %v, 0\n assert \"alone\" %c\n"
     " atomic_store seq_cst i32 0, @in\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n jump l\n l:\n %t = create @t, 0\n jump l\n}\n"},
    {true, "the first thread writes before the others begin",
     "object @x 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n %v = atomic_load seq_cst i32 @x\n"
     " %c = eq i32 %v, 7\n assert \"written\" %c\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n atomic_store seq_cst i32 7, @x\n jump l\n l:\n"
     " %t = create @t, 0\n jump l\n}\n"},
    {false, "the first thread writes behind the first of them",
     "object @x 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n %v = atomic_load seq_cst i32 @x\n"
     " %c = eq i32 %v, 7\n assert \"written\" %c\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n %t = create @t, 0\n atomic_store seq_cst i32 7, @x\n"
     " return i32 0\n}\n"},
    {true, "a thread that is waited for has ended",
     "object @x 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n atomic_store seq_cst i32 7, @x\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n %t = create @t, 0\n %j = join %t\n"
     " %w = atomic_load seq_cst i32 @x\n atomic_store seq_cst i32 1, @x\n"
     " %v = atomic_load seq_cst i32 @x\n %c = eq i32 %v, 1\n assert \"last\" %c\n"
     " return i32 0\n}\n"},
    {false, "of the threads that a loop makes others may still run",
     "object @x 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n atomic_store seq_cst i32 7, @x\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n jump l\n l:\n %t = create @t, 0\n"
     " %more = input \"more\" i1\n branch %more, again, out\n again:\n jump l\n out:\n"
     " %j = join %t\n atomic_store seq_cst i32 1, @x\n %v = atomic_load seq_cst i32 @x\n"
     " %c = eq i32 %v, 1\n assert \"last\" %c\n return i32 0\n}\n"},
    {false, "a thread that an assumption stops has written before",
     "object @x 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n atomic_begin\n store i32 7, @x\n atomic_end\n"
     " assume 0\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n %t = create @t, 0\n %v = atomic_load seq_cst i32 @x\n"
     " %c = eq i32 %v, 0\n assert \"unwritten\" %c\n return i32 0\n}\n"},
    {false, "of two threads of one function the other may still run",
     "object @x 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n atomic_store seq_cst i32 7, @x\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n %t = create @t, 0\n %u = create @t, 0\n %j = join %t\n"
     " atomic_store seq_cst i32 1, @x\n %v = atomic_load seq_cst i32 @x\n %c = eq i32 %v, 1\n"
     " assert \"last\" %c\n return i32 0\n}\n"},
    {false, "a constant table is read at a place that an input decides",
     "object @t 8 constant { 4: \"\\05\" }\n"
     "function @main() -> i32 {\n b:\n %i = input \"i\" i1\n %w = zext i64 %i\n"
     " %o = mul i64 %w, 4\n %p = add i64 @t, %o\n %v = load i32 %p\n %c = eq i32 %v, 0\n"
     " assert \"first\" %c\n return i32 0\n}\n"},
    {true, "a constant table is read at a known place",
     "object @t 8 constant { 4: \"\\05\" }\n"
     "function @main() -> i32 {\n b:\n %v = load i32 @t+4\n %c = eq i32 %v, 5\n"
     " assert \"second\" %c\n return i32 0\n}\n"},
    {false, "a checking mutex refuses what its owner did not lock",
     "object @m 40 align 8\n"
     "function @main() -> i32 {\n b:\n mutex_init checking @m\n %r = unlock @m\n"
     " %c = eq i32 %r, 0\n assert \"released\" %c\n return i32 0\n}\n"},
    {true, "a normal mutex never does",
     "object @m 40 align 8\n"
     "function @main() -> i32 {\n b:\n mutex_init normal @m\n lock @m\n %r = unlock @m\n"
     " %c = eq i32 %r, 0\n assert \"released\" %c\n return i32 0\n}\n"},
    {false, "a place behind a function is not the function",
     "function @f() {\n b:\n return\n}\n"
     "function @main() -> i32 {\n b:\n %c = eq i64 @f+8, @f\n assert \"same\" %c\n"
     " return i32 0\n}\n"},
    {false, "an address that constant data has at an odd place leads into the next object",
     "object @x 16 align 16\nobject @y 16 align 16\nobject @p 16 constant { 4: @x+80 }\n"
     "function @main() -> i32 {\n b:\n %q = load i64 @p+4\n"
     " atomic_store seq_cst i32 7, %q\n %v = atomic_load seq_cst i32 @y\n"
     " %c = eq i32 %v, 0\n assert \"apart\" %c\n return i32 0\n}\n"},
    {false, "so does one that was stored at an odd place",
     "object @x 16 align 16\nobject @y 16 align 16\n"
     "function @main() -> i32 {\n b:\n %s = stack 8 16\n %o = add i64 %s, 4\n"
     " %a = add i64 @x, 80\n store i64 %a, %o\n %q = load i64 %o\n"
     " atomic_store seq_cst i32 7, %q\n %v = atomic_load seq_cst i32 @y\n"
     " %c = eq i32 %v, 0\n assert \"apart\" %c\n return i32 0\n}\n"},
    {false, "the sum of two addresses has no object, and may lead into any",
     "object @x 16 align 16\nobject @y 16 align 16\nobject @k 8 align 8\nobject @l 8 align 8\n"
     "function @main() -> i32 {\n b:\n store i64 @y, @k\n store i64 @x, @l\n"
     " %y = load i64 @k\n %x = load i64 @l\n %bare = mul i64 %x, 1\n %s = add i64 @x, %y\n"
     " %q = sub i64 %s, %bare\n atomic_store seq_cst i32 7, %q\n"
     " %v = atomic_load seq_cst i32 @y\n %c = eq i32 %v, 0\n assert \"apart\" %c\n"
     " return i32 0\n}\n"},
    {false, "a part of an address that is 0 may still take the object from a sum",
     "object @x 16 align 16\nobject @y 16 align 16\nobject @k 8 align 8\n"
     "function @main() -> i32 {\n b:\n store i64 @y, @k\n %y = load i64 @k\n"
     " %none = and i64 %y, 0\n %p = add i64 @x, 80\n %q = add i64 %p, %none\n"
     " atomic_store seq_cst i32 7, %q\n %v = atomic_load seq_cst i32 @y\n"
     " %c = eq i32 %v, 0\n assert \"apart\" %c\n return i32 0\n}\n"},
    {true, "a number that was computed leaves the object of an address",
     "object @x 16 align 16\nobject @y 16 align 16\n"
     "function @main() -> i32 {\n b:\n %i = input \"i\" i8\n %o = zext i64 %i\n"
     " %q = add i64 @x, %o\n store i8 7, %q\n %v = load i32 @y\n"
     " %c = eq i32 %v, 0\n assert \"apart\" %c\n return i32 0\n}\n"},
    {false, "a semaphore counts beyond 32 bits",
     "object @s 32 align 8\n"
     "function @main() -> i32 {\n b:\n sem_init @s, 4294967296\n %n = sem_count @s\n"
     " %r = sem_wait @s\n %c = ne i32 %n, 0\n assert \"some\" %c\n return i32 0\n}\n"},
    {true, "a semaphore lets one thread in at a time",
     "object @s 32 align 8\nobject @x 8 align 8\n"
     "function @t(%a: i64) -> i64 {\n b:\n sem_wait @s\n atomic_store seq_cst i64 %a, @x\n"
     " %v = atomic_load seq_cst i64 @x\n %c = eq i64 %v, %a\n assert \"own\" %c\n sem_post @s\n"
     " return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n sem_init @s, 1\n jump l\n l:\n"
     " %i = input \"i\" i64\n %t = create @t, %i\n jump l\n}\n"},
    {false, "a semaphore lets two threads in",
     "object @s 32 align 8\nobject @x 8 align 8\n"
     "function @t(%a: i64) -> i64 {\n b:\n sem_wait @s\n atomic_store seq_cst i64 %a, @x\n"
     " %v = atomic_load seq_cst i64 @x\n %c = eq i64 %v, %a\n assert \"own\" %c\n sem_post @s\n"
     " return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n sem_init @s, 2\n jump l\n l:\n"
     " %i = input \"i\" i64\n %t = create @t, %i\n jump l\n}\n"},
    {false, "a thread whose function has another parameter is an error, and none of ours",
     "object @x 4 align 4\n"
     "function @t(%a: i32) -> i64 {\n b:\n %v = atomic_load seq_cst i32 @x\n"
     " %c = eq i32 %v, %a\n assert \"same\" %c\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n %t = create @t, 0\n return i32 0\n}\n"},
    {false, "so is a call by an address",
     "object @x 4 align 4\n"
     "function @t(%a: i32) -> i64 {\n b:\n %v = atomic_load seq_cst i32 @x\n"
     " %c = eq i32 %v, %a\n assert \"same\" %c\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n %r = call_at i64 @t(i64 7)\n return i32 0\n}\n"},
    {true, "a parameter of a loop is needed behind it",
     "object @x 4 align 4\n"
     "function @main() -> i32 {\n b:\n jump l(i32 0)\n l(%i: i32):\n"
     " %v = atomic_load seq_cst i32 @x\n %n = add i32 %i, 1\n %z = and i32 %n, 3\n"
     " %d = eq i32 %v, 0\n branch %d, out, l(%z)\n out:\n %w = atomic_load seq_cst i32 @x\n"
     " %c = ule i32 %i, 3\n assert \"low\" %c\n return i32 0\n}\n"},
    {false, "a place that a loop comes back to makes many threads",
     "object @x 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n atomic_store seq_cst i32 7, @x\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n jump l\n l:\n %first = atomic_load seq_cst i32 @x\n %t = "
     "create @t, 0\n %more = input \"more\" i1\n branch %more, again, out\n again:\n jump l\n "
     "out:\n %j = join %t\n atomic_store seq_cst i32 1, @x\n %v = atomic_load seq_cst i32 @x\n %c "
     "= eq i32 %v, 1\n assert \"last\" %c\n return i32 0\n}\n"},
    {false, "each of many threads makes one",
     "object @x 4 align 4\n"
     "function @u(%a: i64) -> i64 {\n b:\n %v = atomic_load seq_cst i32 @x\n %o = atomic_update "
     "exchange seq_cst i32 @x, 1\n %c = eq i32 %o, %v\n assert \"same\" %c\n return i64 0\n}\n"
     "function @t(%a: i64) -> i64 {\n b:\n %u = create @u, 0\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n jump l\n l:\n %t = create @t, 0\n jump l\n}\n"},
    {false, "two threads at one place read before one of them writes",
     "object @x 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n %v = atomic_load seq_cst i32 @x\n %o = atomic_update "
     "exchange seq_cst i32 @x, 1\n %c = eq i32 %o, %v\n assert \"same\" %c\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n %t = create @t, 0\n %u = create @t, 0\n return i32 0\n}\n"},
    {false, "of two threads at one place the one that came first steps first",
     "object @x 4 align 4\nobject @n 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n atomic_begin\n %k = load i32 @n\n %few = ult i32 %k, "
     "2\n assume %few\n %l = add i32 %k, 1\n store i32 %l, @n\n %v = load i32 @x\n atomic_end\n "
     "%first = eq i32 %k, 0\n %z = zext i32 %first\n %o = atomic_update or seq_cst i32 @x, %z\n %c "
     "= eq i32 %o, %v\n %e = or i1 %c, %first\n assert \"same\" %e\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n %t = create @t, 0\n %u = create @t, 0\n return i32 0\n}\n"},
    {false, "threads of one function get two addresses",
     "object @x 4 align 4\nobject @y 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n atomic_store seq_cst i32 1, %a\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n %t = create @t, @x\n %u = create @t, @y\n %v = atomic_load "
     "seq_cst i32 @y\n %c = eq i32 %v, 0\n assert \"unwritten\" %c\n return i32 0\n}\n"},
    {false, "a thread reads the memory of the function that made it",
     "object @x 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n %v = atomic_load seq_cst i32 %a\n %c = eq i32 %v, 0\n "
     "assert \"zero\" %c\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n %l = stack 8 4\n store i32 5, %l\n %t = create @t, %l\n %j "
     "= join %t\n return i32 0\n}\n"},
    {false, "a join gives what the thread returns",
     "function @t(%a: i64) -> i64 {\n b:\n return i64 3\n}\n"
     "function @main() -> i32 {\n b:\n %t = create @t, 0\n %j = join %t\n %c = eq i64 %j, 0\n "
     "assert \"zero\" %c\n return i32 0\n}\n"},
    {false, "a switch has a rest",
     "function @main() -> i32 {\n b:\n %i = input \"i\" i8\n switch i8 %i, rest, 0: none, 1: "
     "none\n none:\n return i32 0\n rest:\n fail \"rest\"\n}\n"},
    {false, "a compare and swap leaves another value",
     "object @x 4 align 4\n"
     "function @main() -> i32 {\n b:\n %o = atomic_swap seq_cst i32 @x, 1, 2\n %v = atomic_load "
     "seq_cst i32 @x\n %c = ne i32 %v, 0\n assert \"written\" %c\n return i32 0\n}\n"},
    {false, "nand is not and",
     "object @x 4 align 4\n"
     "function @main() -> i32 {\n b:\n %o = atomic_update nand seq_cst i32 @x, 1\n %v = "
     "atomic_load seq_cst i32 @x\n %c = eq i32 %v, 0\n assert \"zero\" %c\n return i32 0\n}\n"},
    {false, "a try at a lock that is held returns",
     "object @m 40 align 8\n"
     "function @main() -> i32 {\n b:\n lock @m\n %r = try_lock @m\n %c = eq i32 %r, 0\n assert "
     "\"taken\" %c\n return i32 0\n}\n"},
    {false, "a checking mutex refuses its owner",
     "object @m 40 align 8\n"
     "function @main() -> i32 {\n b:\n mutex_init checking @m\n lock @m\n %r = lock @m\n %c = eq "
     "i32 %r, 0\n assert \"taken\" %c\n return i32 0\n}\n"},
    {false, "two readers hold a lock",
     "object @l 56 align 8\nobject @in 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n read_lock @l\n %v = atomic_update add seq_cst i32 @in, "
     "1\n %c = eq i32 %v, 0\n assert \"alone\" %c\n atomic_store seq_cst i32 0, @in\n rw_unlock "
     "@l\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n %t = create @t, 0\n %u = create @t, 0\n return i32 0\n}\n"},
    {true, "one writer does",
     "object @l 56 align 8\nobject @in 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n %r = write_lock @l\n %got = eq i32 %r, 0\n branch %got, "
     "go, out\n go:\n %v = atomic_update add seq_cst i32 @in, 1\n %c = eq i32 %v, 0\n assert "
     "\"alone\" %c\n atomic_store seq_cst i32 0, @in\n rw_unlock @l\n jump out\n out:\n return i64 "
     "0\n}\n"
     "function @main() -> i32 {\n b:\n %t = create @t, 0\n %u = create @t, 0\n return i32 0\n}\n"},
    {false, "a writer that asks to read is refused",
     "object @l 56 align 8\n"
     "function @main() -> i32 {\n b:\n write_lock @l\n %r = read_lock @l\n %c = eq i32 %r, 0\n "
     "assert \"taken\" %c\n return i32 0\n}\n"},
    {false, "a writer gives its lock back",
     "object @l 56 align 8\n"
     "function @main() -> i32 {\n b:\n write_lock @l\n rw_unlock @l\n %r = try_write_lock @l\n %c "
     "= ne i32 %r, 0\n assert \"held\" %c\n return i32 0\n}\n"},
    {false, "a thread that waits gives its mutex to others",
     "object @m 40 align 8\nobject @c 48 align 8\nobject @x 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n lock @m\n store i32 1, @x\n signal @c\n unlock @m\n "
     "return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n lock @m\n %t = create @t, 0\n wait @c, @m\n %v = load i32 "
     "@x\n unlock @m\n %c = eq i32 %v, 0\n assert \"unwritten\" %c\n return i32 0\n}\n"},
    {false, "a timed wait may be late",
     "object @m 40 align 8\nobject @c 48 align 8\n"
     "function @main() -> i32 {\n b:\n lock @m\n %r = timed_wait @c, @m\n unlock @m\n %c = eq i32 "
     "%r, 0\n assert \"notified\" %c\n return i32 0\n}\n"},
    {false, "two bytes are written together and read apart",
     "object @w 2 align 2\n"
     "function @main() -> i32 {\n b:\n atomic_store seq_cst i16 257, @w\n %v = atomic_load seq_cst "
     "i8 @w+1\n %c = eq i8 %v, 0\n assert \"unwritten\" %c\n return i32 0\n}\n"},
    {false, "so are two of the stack",
     "function @main() -> i32 {\n b:\n %p = stack 8 8\n %q = add i64 %p, 1\n store i16 257, %p\n "
     "%v = load i8 %q\n %c = eq i8 %v, 0\n assert \"unwritten\" %c\n return i32 0\n}\n"},
    {false, "a mutex is given back by an address from memory",
     "object @m 40 align 8\nobject @p 8 align 8\n"
     "function @main() -> i32 {\n b:\n lock @m\n store i64 @m, @p\n %q = load i64 @p\n unlock %q\n "
     "lock @m\n %v = load i64 @p\n %c = eq i64 %v, 0\n assert \"stuck\" %c\n return i32 0\n}\n"},
    {false, "a copy writes",
     "object @x 4 align 4\nobject @y 4 align 4\n"
     "function @main() -> i32 {\n b:\n store i32 5, @x\n copy @y, @x, 4\n %v = load i32 @y\n %c = "
     "eq i32 %v, 0\n assert \"unwritten\" %c\n return i32 0\n}\n"},
    {false, "memory of a function is new in each call",
     "function @f() -> i32 {\n b:\n %p = stack 8 4\n %v = load i32 %p\n store i32 1, %p\n return "
     "%v\n}\n"
     "function @main() -> i32 {\n b:\n %u = call i32 @f()\n %v = call i32 @f()\n %c = eq i32 %v, "
     "1\n assert \"old\" %c\n return i32 0\n}\n"},
    {true, "so it is zero",
     "function @f() -> i32 {\n b:\n %p = stack 8 4\n %v = load i32 %p\n store i32 1, %p\n return "
     "%v\n}\n"
     "function @main() -> i32 {\n b:\n %u = call i32 @f()\n %v = call i32 @f()\n %c = eq i32 %v, "
     "0\n assert \"new\" %c\n return i32 0\n}\n"},
    {false, "memory of a round of a loop is new in each",
     "function @main() -> i32 {\n b:\n jump l(i64 0)\n l(%i: i64):\n %p = stack 8 8\n %v = load "
     "i64 %p\n store i64 1, %p\n %c = eq i64 %v, %i\n assert \"old\" %c\n %n = add i64 %i, 1\n %d "
     "= ult i64 %n, 2\n branch %d, l(%n), out\n out:\n return i32 0\n}\n"},
    {false, "a place outside of an object may be in the next one",
     "object @x 16 align 16\nobject @y 16 align 16\n"
     "function @main() -> i32 {\n b:\n %c = ne i64 @x+80, @y\n assert \"apart\" %c\n return i32 "
     "0\n}\n"},
    {false, "two addresses that are kept in memory differ",
     "object @p 8 align 8\nobject @q 8 align 8\n"
     "function @main() -> i32 {\n b:\n store i64 @p, @p\n store i64 @q, @q\n %v = load i64 @p\n %w "
     "= load i64 @q\n %c = eq i64 %v, %w\n assert \"same\" %c\n return i32 0\n}\n"},
    {false,
     "a thread that divides by 0 has written before, and others go on until the process ends",
     "object @m 40 align 8\n"
     "function @t(%a: i64) -> i64 {\n b:\n %r = try_lock @m\n %c = eq i32 %r, 0\n"
     " assert \"taken\" %c\n %d = urem i32 1, %r\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n %t = create @t, 0\n %u = create @t, 0\n"
     " return i32 0\n}\n"},
    {false, "so has one whose divisor is an input",
     "object @x 4 align 4\n"
     "function @t(%a: i64) -> i64 {\n b:\n %i = trunc i32 %a\n atomic_store seq_cst i32 %i, @x\n"
     " %z = sub i32 %i, 1\n %d = udiv i32 1, %z\n return i64 0\n}\n"
     "function @main() -> i32 {\n b:\n %i = input \"i\" i64\n %t = create @t, %i\n"
     " %v = atomic_load seq_cst i32 @x\n %c = ne i32 %v, 1\n assert \"not one\" %c\n"
     " return i32 0\n}\n"},
};

#endif

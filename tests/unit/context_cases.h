/* Small programs, each of which a plausible rule of data flow gets wrong: from the notes on the
 * dissertation. Brute force must find no state of theirs that is called impossible. */
#ifndef FT_TESTS_CONTEXT_CASES_H
#define FT_TESTS_CONTEXT_CASES_H

#include "context_oracle.h"

#define HEAD                                                                                       \
    "program 1\nobject @g 4 align 4\nobject @h 4 align 4\nobject @x 4 align 4\n"                   \
    "object @l 40 align 8\nobject @m 40 align 8\nobject @cv 48 align 8\nobject @bar 32 align "     \
    "8\nobject @ls 128 align 8\n"
#define INPUT "    %ix = input \"x\" i1\n    %zx = zext i32 %ix\n    store i32 %zx, @x\n"
/* Goes to block `is` if the register is n. */
#define IF(reg, n, is)                                                                             \
    "    %" reg "e = eq i32 %" reg ", " n "\n    branch %" reg "e, " is ", " reg "o\n  " reg "o:"  \
    "\n"
#define END "    yield\n    return i64 0\n"
/* The beginnings of @t and, behind it, of @main; a create of @t, and the ends of both. */
#define THREAD "function @t(%a: i64) -> i64 {\n  b:\n"
#define MAIN   "}\nfunction @main() -> i32 {\n  b:\n"
#define CREATE "    %t = create @t, 0\n"
#define RETURN "    return i64 0\n"
#define EXIT   "    return i32 0\n}\n"

static const struct {
    const char *name, *text;
} CASES[] = {
    {"a definition of the creator dies where another thread writes", HEAD THREAD
     "    lock @l\n    store i32 1, @g\n    unlock @l\n" END MAIN "    store i32 0, @g\n" CREATE
     "    yield\n    lock @l\n    %v = load i32 @g\n" IF(
         "v", "1",
         "one") "    unlock @l\n    jump d\n  one:\n    yield\n    unlock @l\n    jump d\n  d:\n"
                "    yield\n" EXIT},
    {"a location of the child alone is not stale in the creator",
     HEAD THREAD "    store i32 1, @g\n    %v = load i32 @g\n" IF("v", "1", "one") END
     "  one:\n" END MAIN CREATE "    yield\n    yield\n" EXIT},
    {"shared definitions die at releases: an unlock before another's section", HEAD THREAD
     "    lock @l\n    store i32 2, @g\n    unlock @l\n" END MAIN CREATE
     "    lock @l\n    store i32 1, @g\n    unlock @l\n    yield\n    yield\n    lock @l\n"
     "    %v = load i32 @g\n" IF(
         "v", "2",
         "two") "    unlock @l\n    jump d\n  two:\n    yield\n    unlock @l\n    jump d\n  d:\n"
                "    yield\n" EXIT},
    {"shared definitions die at a create, and not at a join alone", HEAD THREAD
     "    store i32 2, @g\n" END MAIN "    store i32 1, @g\n" CREATE
     "    yield\n    %r = join %t\n    %v = load i32 @g\n" IF(
         "v", "2", "two") "    jump d\n  two:\n    yield\n    jump d\n  d:\n    yield\n" EXIT},
    {"two threads of one function read different values by the same load",
     HEAD THREAD "    lock @l\n    %r = load i32 @g\n    %n = add i32 %r, 1\n    store i32 %n, @g\n"
                 "    unlock @l\n" IF("r", "0", "zero") END
     "  zero:\n" END MAIN CREATE "    %u = create @t, 0\n    yield\n" EXIT},
    {"a load that is executed again is another value", HEAD THREAD
     "    lock @l\n    store i32 1, @g\n    unlock @l\n" END MAIN CREATE
     "    jump h(i32 0, i32 0)\n  h(%i: i32, %s: i32):\n    %m = ult i32 %i, 2\n"
     "    branch %m, l, e\n  l:\n    lock @l\n    %r = load i32 @g\n    unlock @l\n"
     "    %j = add i32 %i, 1\n    %f = eq i32 %i, 0\n    %w = select i32 %f, %r, %s\n"
     "    branch %f, h(%j, %r), k\n  k:\n    %q = eq i32 %r, %s\n"
     "    branch %q, h(%j, %s), n\n  n:\n    yield\n    jump h(%j, %s)\n  e:\n    yield\n" EXIT},
    {"a create in a loop comes before the write that stands above it",
     HEAD THREAD "    lock @l\n    %v = load i32 @g\n" IF(
         "v", "1",
         "one") "    unlock @l\n" END "  one:\n    yield\n    unlock @l\n" END MAIN
                "    jump h(i32 0)\n  h(%i: i32):\n    %m = ult i32 %i, 2\n    branch %m, l, e\n"
                "  l:\n    lock @l\n    store i32 %i, @g\n    unlock @l\n    %f = eq i32 %i, 0\n"
                "    %j = add i32 %i, 1\n    branch %f, c, h(%j)\n  c:\n" CREATE
                "    jump h(%j)\n  e:\n    yield\n" EXIT},
    {"inside a wait the release has happened, and the mutex is not held", HEAD THREAD
     "    lock @l\n    store i32 2, @g\n    signal @cv\n    yield\n    unlock @l\n" END MAIN CREATE
     "    lock @l\n    store i32 1, @g\n    %v = load i32 @h\n    wait @cv, @l\n"
     "    yield\n    unlock @l\n" EXIT},
    {"a wait's value inside is another's", HEAD THREAD
     "    lock @l\n    store i32 2, @g\n    %v = load i32 @g\n    yield\n    signal @cv\n"
     "    yield\n    unlock @l\n" END MAIN "    store i32 0, @g\n" CREATE
     "    lock @l\n    store i32 1, @g\n    wait @cv, @l\n    unlock @l\n" EXIT},
    {"a lock that one way takes is not held on the other",
     HEAD THREAD "    lock @l\n    yield\n    unlock @l\n" END MAIN INPUT CREATE IF(
         "zx", "1", "take") "    jump d\n  take:\n    lock @l\n    jump d\n  d:\n    yield\n" EXIT},
    {"a lock that one way releases may be held",
     HEAD THREAD "    lock @l\n    unlock @l\n" END MAIN INPUT CREATE "    lock @l\n" IF(
         "zx", "1",
         "drop") "    jump d\n  drop:\n    unlock @l\n    jump d\n  d:\n    yield\n" EXIT},
    {"an ended thread leaves its lock locked", HEAD THREAD
     "    lock @l\n" RETURN MAIN CREATE "    %r = join %t\n    lock @l\n    yield\n" EXIT},
    {"three threads at a barrier of two pass it differently often",
     HEAD THREAD "    barrier_wait @bar\n" END MAIN "    barrier_init @bar, 2\n" CREATE
                 "    %u = create @t, 0\n    %v = create @t, 0\n    yield\n" EXIT},
    {"a woken thread has completed the round",
     HEAD THREAD "    barrier_wait @bar\n" END MAIN "    barrier_init @bar, 2\n" CREATE
                 "    %u = create @t, 0\n    yield\n" EXIT},
    {"a create behind the place may have been executed before",
     HEAD THREAD END MAIN "    jump h(i32 0)\n  h(%i: i32):\n    yield\n    %m = ult i32 %i, 2\n"
                          "    branch %m, l, e\n  l:\n" CREATE
                          "    %j = add i32 %i, 1\n    jump h(%j)\n  e:\n    yield\n" EXIT},
    {"a store through an address that may be the same kills", HEAD
     "function @main() -> i32 {\n  b:\n" INPUT
     "    %a = stack 8 8\n    store i32 0, %a\n    %z = zext i64 %zx\n"
     "    %o = mul i64 %z, 4\n    %p = add i64 %a, %o\n    store i32 1, %p\n"
     "    %v = load i32 %a\n" IF("v", "1",
                                 "one") "    yield\n    return i32 0\n  one:\n    yield\n" EXIT},
    {"what the creator keeps to itself is not what the child was given",
     HEAD THREAD END MAIN "    %a = stack 8 8\n    store i32 1, %a\n" CREATE
                          "    store i32 2, %a\n    yield\n    %v = load i32 %a\n" IF(
                              "v", "2", "two") "    return i32 0\n  two:\n    yield\n" EXIT},
    {"a lock whose address is computed again is held where it was", HEAD THREAD
     "    lock @l\n    store i32 1, @g\n    unlock @l\n    lock @ls\n    unlock @ls\n" END MAIN
         CREATE "    lock @ls+64\n    jump h(i32 0)\n  h(%i: i32):\n    lock @l\n"
     "    %r = load i32 @g\n    unlock @l\n    %z = zext i64 %r\n    %o = mul i64 %z, 64\n"
     "    %p = add i64 @ls, %o\n    %f = eq i32 %i, 0\n    branch %f, y, n\n  y:\n"
     "    lock %p\n    jump h(i32 1)\n  n:\n    unlock %p\n    jump s\n  s:\n    yield\n"
     "    jump s\n}\n"},
    {"loops in lock-step, and one that a thread leaves early", HEAD THREAD
     "    jump h(i32 0)\n  h(%i: i32):\n    %m = ult i32 %i, 2\n    branch %m, l, e\n"
     "  l:\n    yield\n    barrier_wait @bar\n    %f = eq i32 %i, 0\n    branch %f, y, n\n"
     "  y:\n    yield\n    jump d\n  n:\n    yield\n    jump d\n  d:\n"
     "    %j = add i32 %i, 1\n    jump h(%j)\n  e:\n" END MAIN INPUT
     "    barrier_init @bar, 2\n" CREATE
     "    jump h(i32 0)\n  h(%i: i32):\n    %m = ult i32 %i, 2\n    branch %m, l, e\n"
     "  l:\n    %k = load i32 @x\n" IF(
         "k", "1",
         "e") "    barrier_wait @bar\n    yield\n    %j = add i32 %i, 1\n    jump h(%j)\n  e:\n"
              "    yield\n" EXIT},
    {"a create that goes round by itself inside of a counted loop", HEAD THREAD END MAIN
     "    jump h(i32 0)\n  h(%i: i32):\n    %m = ult i32 %i, 1\n"
     "    branch %m, l(i32 0), e\n  l(%k: i32):\n" CREATE
     "    %n = add i32 %k, 1\n    %w = ult i32 %n, 2\n    branch %w, l(%n), d\n  d:\n"
     "    %j = add i32 %i, 1\n    jump h(%j)\n  e:\n    yield\n" EXIT},
    {"a create in a circle of two entries inside of a counted loop", HEAD THREAD END MAIN INPUT
     "    jump h(i32 0)\n  h(%i: i32):\n    %m = ult i32 %i, 1\n    branch %m, l, e\n"
     "  l:\n    %k = load i32 @x\n    %z = eq i32 %k, 1\n"
     "    branch %z, mid(i32 1), top(i32 0)\n  top(%p: i32):\n" CREATE
     "    jump mid(%p)\n  mid(%q: i32):\n    %n = add i32 %q, 1\n    %w = ult i32 %n, 2\n"
     "    branch %w, top(%n), d\n  d:\n    %j = add i32 %i, 1\n    jump h(%j)\n  e:\n"
     "    yield\n" EXIT},
    {"a thread's function that also calls itself, and that the creator calls",
     HEAD THREAD "    %r = ult i64 9, %a\n    branch %r, r, i\n  r:\n    %o = sub i64 %a, 10\n"
                 "    %q = call i64 @t(%o)\n    jump i\n  i:\n    %f = eq i64 %a, 3\n"
                 "    branch %f, y, n\n  y:\n" END "  n:\n" END MAIN
                 "    %t = create @t, 5\n    %q = call i64 @t(i64 3)\n" EXIT},
    {"a thread that one way alone joins, and that may be waited for, has not ended",
     HEAD THREAD END MAIN INPUT CREATE IF(
         "zx", "1", "j") "    jump d\n  j:\n    %r = join %t\n    jump d\n  d:\n    yield\n" EXIT},
    {"a thread that was created behind a join has not ended", HEAD THREAD END MAIN
     "    jump h(i32 0)\n  h(%i: i32):\n" CREATE
     "    yield\n    %m = eq i32 %i, 0\n    branch %m, j, e\n  j:\n    %r = join %t\n"
     "    jump h(i32 1)\n  e:\n    yield\n" EXIT},
    {"paths: the first that comes to a once calls its function",
     HEAD "function @i() {\n  b:\n    yield\n    return\n}\n" THREAD
          "    yield\n    once @g, @i\n" END MAIN CREATE "    once @g, @i\n    yield\n" EXIT},
    {"paths: two threads hold a lock to read",
     HEAD THREAD "    read_lock @l\n    yield\n    rw_unlock @l\n" RETURN MAIN CREATE
                 "    read_lock @l\n    yield\n    rw_unlock @l\n" EXIT},
    {"paths: a recursive mutex that was locked twice is held after an unlock", HEAD THREAD
     "    yield\n    %r = try_lock @l\n    %z = eq i32 %r, 0\n    branch %z, d, y\n  y:\n" END
     "  d:\n    yield\n    unlock @l\n" RETURN MAIN "    mutex_init recursive @l\n" CREATE
     "    lock @l\n    lock @l\n    unlock @l\n    yield\n    unlock @l\n" EXIT},
    {"paths: an error-checking mutex refuses its owner, and others", HEAD THREAD
     "    yield\n    %r = unlock @l\n    %z = eq i32 %r, 1\n    branch %z, y, d\n  y:\n"
     "    yield\n    jump d\n  d:\n" RETURN MAIN "    mutex_init checking @l\n" CREATE
     "    lock @l\n    %r = lock @l\n    %z = eq i32 %r, 35\n    branch %z, y, d\n  y:\n"
     "    yield\n    jump d\n  d:\n    unlock @l\n" EXIT},
    {"paths: a timed wait ends by itself", HEAD THREAD END MAIN CREATE
     "    lock @l\n    %r = timed_wait @cv, @l\n    %z = eq i32 %r, 110\n"
     "    branch %z, y, d\n  y:\n    yield\n    jump d\n  d:\n    unlock @l\n" EXIT},
    {"paths: a signal wakes any of two waiters",
     HEAD THREAD "    lock @l\n    wait @cv, @l\n    yield\n    unlock @l\n" RETURN MAIN CREATE
                 "    %u = create @t, 0\n    yield\n    signal @cv\n    yield\n" EXIT},
    {"paths: a lock may be held that nothing is known of", HEAD THREAD
     "    yield\n    %r = try_lock @l\n    %z = eq i32 %r, 0\n    branch %z, d, y\n  y:\n" END
     "  d:\n    unlock @l\n" RETURN MAIN "    %ix = input \"x\" i1\n" CREATE
     "    branch %ix, k, d\n  k:\n    lock @l\n    jump d\n  d:\n    yield\n    yield\n" EXIT},
    {"paths: a load finds what a step wrote",
     HEAD THREAD "    lock @l\n    store i32 1, @g\n    yield\n    %v = load i32 @g\n"
                 "    %z = eq i32 %v, 1\n    unlock @l\n    branch %z, y, d\n  y:\n    yield\n"
                 "    jump d\n  d:\n" RETURN MAIN CREATE
                 "    lock @l\n    %v = load i32 @g\n    %z = eq i32 %v, 1\n    unlock @l\n"
                 "    branch %z, y, d\n  y:\n    yield\n    jump d\n  d:\n" EXIT},
    {"a thread may stand before a once while another one is in its function",
     HEAD "function @i() {\n  b:\n    yield\n    return\n}\n" THREAD
          "    once @g, @i\n" END MAIN CREATE "    once @g, @i\n    yield\n" EXIT},
    {"a lock that was tried is held if the result says so, and no other way", HEAD THREAD
     "    %r = try_lock @l\n    yield\n    %z = eq i32 %r, 0\n    branch %z, y, d\n  y:\n"
     "    yield\n    unlock @l\n    jump d\n  d:\n" RETURN MAIN CREATE
     "    lock @l\n    yield\n    unlock @l\n" EXIT},
    {"an error-checking mutex that was locked again is given back by one unlock", HEAD THREAD
     "    lock @l\n    yield\n    unlock @l\n" RETURN MAIN "    mutex_init checking @l\n" CREATE
     "    lock @l\n    lock @l\n    unlock @l\n    yield\n" EXIT},
    {"a recursive mutex is given back by the second unlock", HEAD THREAD
     "    lock @l\n    yield\n    unlock @l\n" RETURN MAIN "    mutex_init recursive @l\n" CREATE
     "    lock @l\n    lock @l\n    unlock @l\n    yield\n    unlock @l\n    yield\n" EXIT},
    {"a node that a loop makes is one for its creator and for the thread that is given it",
     HEAD THREAD
     "    lock %a\n    %p = add i64 %a, 40\n    store i32 1, %p\n    yield\n"
     "    unlock %a\n" RETURN MAIN
     "    jump h(i32 0)\n  h(%i: i32):\n    %n = alloc 48\n    %p = add i64 %n, 40\n"
     "    %t = create @t, %n\n    lock %n\n    %v = load i32 %p\n    %z = eq i32 %v, 1\n"
     "    unlock %n\n    branch %z, y, d\n  y:\n    yield\n    jump d\n  d:\n"
     "    %m = eq i32 %i, 1\n    branch %m, e, h(i32 1)\n  e:\n    yield\n" EXIT},
};

enum { N_CASES = sizeof CASES / sizeof CASES[0] };

#endif

/* Random programs of what context_oracle.h's writer leaves out, for the comparison with brute
 * force: each program has two or three of the features in FEATURES, between the statements of that
 * writer. A feature is what it declares, what @main does first, and a statement; functions that
 * statements call are written once, in front.
 *
 * Data has one guard each, so that most programs have no race: @rd the read-write lock @rw, @sg the
 * semaphore @sm, @hd the semaphore @sp (posted behind the write), @g0 the mutex @l0, a node of the
 * heap its own lock, @cfg the once flag @of, @ad the atomic flag @af, @as atomic sections. */
#ifndef FT_TESTS_CONTEXT_FEATURES_H
#define FT_TESTS_CONTEXT_FEATURES_H

#include "context_oracle.h"

#define FEATURE_TABLE(X)                                                                           \
    X(RW, "read-write locks, held twice, tried, left behind")                                      \
    X(SEM, "semaphores as locks, as messages, tried and timed")                                    \
    X(TRY, "locks that are tried or time out")                                                     \
    X(CALLS, "nested and recursive calls, calls by pointer, locks that a callee leaves")           \
    X(HEAP, "nodes of the heap with their own locks, aliases and fields")                          \
    X(BARRIERS, "barriers of a wrong number, in loops, two of them")                               \
    X(ENDS, "threads that end early, detach themselves or are detached")                           \
    X(KINDS, "recursive and error-checking mutexes")                                               \
    X(CONDITIONS, "several waiters at one of two conditions, timed ones, broadcasts")              \
    X(ONCE, "a function that is called once")                                                      \
    X(OWN, "objects of each thread, and pointers to another thread's")                             \
    X(ATOMICS, "atomic flags, counters and sections")                                              \
    X(JOINS, "what follows a join, and threads created behind one")
enum {
#define FT_ROW(symbol, meaning) FEATURE_##symbol,
    FEATURE_TABLE(FT_ROW)
#undef FT_ROW
        FEATURES
};

typedef struct featured {
    writer w; /* first: statements are given it */
    uint32_t chosen, children;
    bool rw, kinds, semaphore; /* held by the thread that is written */
    bool nodes;                /* %n1 and %n2 of @main */
} featured;

static inline bool has_feature(const featured *f, int feature)
{
    return f->chosen >> feature & 1;
}

#define P(...)  ft_strbuf_printf(f->w.out, __VA_ARGS__)
#define PICK(n) below(&f->w, n)

/* The block yN when the register is 0, dN afterwards; returns N. */
static inline uint32_t open_if_zero(featured *f, const char *reg, uint32_t of)
{
    uint32_t n = fresh(&f->w);
    P("    %%z%u = eq i32 %%%s%u, 0\n    branch %%z%u, y%u, d%u\n  y%u:\n", n, reg, of, n, n, n, n);
    return n;
}

static inline void close_if(featured *f, uint32_t n)
{
    P("    jump d%u\n  d%u:\n", n, n);
}

static inline void maybe_yield(featured *f)
{
    if (PICK(2)) P("    yield\n");
}

/* A read of a place and a branch on it, or a write. */
static inline void use(featured *f, const char *at, bool writes)
{
    uint32_t n = fresh(&f->w);
    if (writes) {
        P("    store i32 %u, %s\n", PICK(3), at);
        return;
    }
    P("    %%u%u = load i32 %s\n", n, at);
    if (PICK(2)) {
        P("    store i32 %%u%u, %%a\n", n);
        return;
    }
    P("    %%e%u = eq i32 %%u%u, %u\n    branch %%e%u, y%u, d%u\n  y%u:\n    yield\n", n, n,
      PICK(3), n, n, n, n);
    close_if(f, n);
}

/* What a section does; statements of the writer may take other locks. */
static inline void inside(featured *f, uint32_t depth, const char *at, bool writes)
{
    use(f, at, writes);
    maybe_yield(f);
    if (depth && PICK(3) == 0) write_block(&f->w, depth - 1);
    if (PICK(2)) use(f, at, false);
}

/* ---- read-write locks ---- */

static inline void write_rw(featured *f, uint32_t depth)
{
    static const char *const TRY[] = {"try_read_lock", "try_write_lock"};
    uint32_t kind = PICK(8), n;
    if (f->rw) return;
    f->rw = true;
    if (kind < 5) {
        bool writes = kind < 2;
        P("    %s @rw\n", writes ? "write_lock" : "read_lock");
        inside(f, depth, "@rd", writes);
        P("    rw_unlock @rw\n");
    } else if (kind < 7) {
        n = fresh(&f->w);
        P("    %%t%u = %s @rw\n", n, TRY[kind & 1]);
        n = open_if_zero(f, "t", n);
        inside(f, depth, "@rd", !(kind & 1) ? false : PICK(2));
        P("    rw_unlock @rw\n");
        close_if(f, n);
    } else { /* twice, and perhaps given back once */
        P("    read_lock @rw\n    read_lock @rw\n    yield\n    rw_unlock @rw\n    yield\n");
        if (PICK(3)) P("    rw_unlock @rw\n");
    }
    f->rw = false;
}

/* ---- semaphores ---- */

static inline void write_semaphore(featured *f, uint32_t depth)
{
    static const char *const DOWN[] = {"sem_wait", "sem_try", "sem_timed"};
    uint32_t kind = PICK(6), n;
    if (kind == 0 && f->w.thread == 1) {
        P("    store i32 %u, @hd\n    sem_post @sp\n", 1 + PICK(2));
        maybe_yield(f);
    } else if (kind < 3) {
        n = fresh(&f->w);
        P("    %%t%u = %s @sp\n", n, DOWN[PICK(3)]);
        n = open_if_zero(f, "t", n);
        use(f, "@hd", false);
        P("    yield\n");
        close_if(f, n);
    } else if (!f->semaphore) {
        f->semaphore = true;
        n = fresh(&f->w);
        P("    %%t%u = %s @sm\n", n, DOWN[PICK(3)]);
        n = open_if_zero(f, "t", n);
        inside(f, depth, "@sg", PICK(2));
        P("    sem_post @sm\n");
        close_if(f, n);
        f->semaphore = false;
    }
}

/* ---- locks that are tried ---- */

static inline void write_try(featured *f, uint32_t depth)
{
    uint32_t n = fresh(&f->w), m, k = PICK(4);
    const char *how = PICK(3) ? "try_lock" : "timed_lock";
    if (k == 3) { /* whoever gets it keeps it */
        P("    %%t%u = %s @lt\n    yield\n", n, how);
        if (PICK(2)) {
            m = open_if_zero(f, "t", n);
            P("    unlock @lt\n");
            close_if(f, m);
        }
        return;
    }
    if (f->w.holds[0]) return;
    P("    %%t%u = %s @l0\n", n, how);
    m = open_if_zero(f, "t", n);
    f->w.holds[0] = true;
    inside(f, depth, "@g0", PICK(2));
    f->w.holds[0] = false;
    P("    unlock @l0\n");
    close_if(f, m);
}

/* ---- calls ---- */

/* Each is (address, number) -> number, so that any may be called by pointer. */
static inline void declare_calls(featured *f)
{
    static const char *const BODIES[] = {
        "    store i32 %v, %p\n    yield\n    %r = load i32 %p\n    return %r\n",
        "    lock @l1\n    %r = load i32 @g1\n    yield\n    store i32 %v, @g1\n    unlock @l1\n"
        "    return %r\n",
        "    lock @lf\n    yield\n    return %v\n", /* the callee leaves it locked */
        "    %t = try_lock @lf\n    yield\n    return %t\n",
        "    %w = call i32 @f0(%p, %v)\n    %x = call i32 @f1(%p, %w)\n    yield\n"
        "    return %x\n"};
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t k = PICK(i < 2 ? 4 : 5);
        P("function @f%u(%%p: i64, %%v: i32) -> i32 {\n  b0:\n", i);
        P("%s", BODIES[k]);
        P("}\n");
    }
    P("function @rec(%%p: i64, %%v: i32) -> i32 {\n  b0:\n    %%z = eq i32 %%v, 0\n"
      "    branch %%z, e, l\n  l:\n    %%m = sub i32 %%v, 1\n");
    if (PICK(2)) P("    yield\n");
    P("    %%k = call i32 @rec(%%p, %%m)\n%s    return %%k\n  e:\n%s    return %%v\n}\n",
      PICK(2) ? "    store i32 %v, %p\n    yield\n" : "    store i32 %v, %p\n",
      PICK(2) ? "    lock @l1\n    store i32 %v, @g1\n    yield\n    unlock @l1\n" : "    yield\n");
}

static inline void write_call(featured *f, uint32_t depth)
{
    uint32_t n = fresh(&f->w), kind = PICK(6);
    const char *to = PICK(2) ? "%a" : "%b";
    (void)depth;
    if (f->w.holds[1]) return; /* f1 and rec may take it */
    if (kind < 2) {
        P("    %%q%u = call i32 @f%u(%s, i32 %u)\n", n, PICK(3), to, PICK(3));
    } else if (kind == 2) {
        P("    %%q%u = call i32 @rec(%s, i32 %u)\n", n, to, 1 + PICK(2));
    } else if (kind == 3) { /* by a table that nothing writes */
        P("    %%p%u = load i64 @fns+%u\n    %%q%u = call_at i32 %%p%u(%s, i32 %u)\n", n,
          8 * PICK(2), n, n, to, PICK(3));
    } else {
        P("    %%i%u = load i32 %s\n    %%c%u = eq i32 %%i%u, 1\n"
          "    %%p%u = select i64 %%c%u, @f%u, @%s\n    %%q%u = call_at i32 %%p%u(%s, i32 1)\n",
          n, PICK(2) ? "@x" : "@y", n, n, n, n, PICK(3), PICK(2) ? "rec" : "f2", n, n, to);
    }
    maybe_yield(f);
    if (PICK(2)) P("    store i32 %%q%u, %s\n", n, PICK(2) ? "%a" : "%b");
}

/* ---- the heap ---- */

static inline void write_heap(featured *f, uint32_t depth)
{
    uint32_t n = fresh(&f->w), kind = PICK(6);
    if (kind == 0) { /* of the thread alone */
        P("    %%h%u = alloc 64\n    store i32 %u, %%h%u\n    yield\n    store i32 1, %%b\n"
          "    %%v%u = load i32 %%h%u\n    store i32 %%v%u, %%a\n",
          n, PICK(3), n, n, n, n);
        if (PICK(2)) P("    free %%h%u\n    yield\n", n);
    } else if (kind < 4) { /* a node with its lock, by one of two pointers, perhaps to the same */
        P("    %%h%u = load i64 @p%u\n    %%k%u = add i64 %%h%u, 8\n    lock %%k%u\n", n,
          1 + PICK(2), n, n, n);
        char at[24];
        snprintf(at, sizeof at, "%%h%u", n);
        use(f, at, PICK(2));
        maybe_yield(f);
        use(f, at, PICK(2));
        P("    unlock %%k%u\n", n);
    } else if (!f->w.holds[0]) { /* two fields that may be one */
        P("    lock @l0\n    %%h%u = load i64 @q1\n    %%k%u = load i64 @q2\n"
          "    store i32 %u, %%h%u\n    store i32 %u, %%k%u\n    %%v%u = load i32 %%h%u\n"
          "    %%w%u = add i32 %%v%u, 0\n    store i32 %%w%u, %%a\n",
          n, n, PICK(3), n, PICK(3), n, n, n, n, n, n);
        f->w.holds[0] = true;
        if (depth) write_if(&f->w, 0);
        f->w.holds[0] = false;
        P("    unlock @l0\n");
    }
}

static inline void begin_heap(featured *f)
{
    f->nodes = true;
    P("    %%n1 = alloc 64\n    %%n2 = alloc 64\n    %%nc = eq i32 %%zx, %u\n"
      "    %%ns = select i64 %%nc, %%n1, %%n2\n    store i64 %%n1, @p1\n    store i64 %%ns, @p2\n",
      PICK(3));
    P("    %%m1 = alloc 16\n    %%mf = add i64 %%m1, 4\n    %%ms = select i64 %%ix, %%m1, %%mf\n"
      "    store i64 %%m1, @q1\n    store i64 %%ms, @q2\n");
}

/* ---- barriers ---- */

static inline void write_barrier(featured *f, uint32_t depth)
{
    uint32_t n = fresh(&f->w), kind = PICK(5);
    (void)depth;
    if (kind < 2) {
        P("    %%w%u = barrier_wait @ba\n", n);
        maybe_yield(f);
        if (kind) {
            n = open_if_zero(f, "w", n);
            P("    yield\n");
            close_if(f, n);
        }
    } else if (kind == 2) {
        P("    barrier_wait @bb\n    yield\n");
    } else {
        P("    jump h%u(i32 0)\n  h%u(%%i%u: i32):\n    %%k%u = slt i32 %%i%u, 2\n"
          "    branch %%k%u, l%u, e%u\n  l%u:\n",
          n, n, n, n, n, n, n, n, n);
        if (PICK(2)) P("    store i32 %%i%u, %%a\n    yield\n", n);
        P("    barrier_wait @ba\n");
        if (PICK(2)) use(f, "%a", false);
        P("    %%m%u = add i32 %%i%u, 1\n    jump h%u(%%m%u)\n  e%u:\n    yield\n", n, n, n, n, n);
    }
}

static inline void begin_barriers(featured *f)
{
    P("    barrier_init @ba, %u\n    barrier_init @bb, %u\n", 1 + PICK(f->children + 1),
      1 + PICK(f->children + 1));
}

/* ---- ends ---- */

static inline void declare_ends(featured *f)
{
    P("function @quit(%%v: i32) {\n  b0:\n    %%z = eq i32 %%v, 1\n    branch %%z, y, d\n"
      "  y:\n    end 0\n  d:\n    yield\n    return\n}\n");
}

static inline void write_end(featured *f, uint32_t depth)
{
    uint32_t n = fresh(&f->w), kind = PICK(5);
    if (kind == 0 && f->w.thread && depth == ORACLE_DEPTH) {
        P("    %%s%u = self\n    detach %%s%u\n", n, n);
    } else if (kind < 3) {
        P("    %%v%u = load i32 %s\n    call @quit(%%v%u)\n", n, PICK(2) ? "@x" : "%a", n);
    } else {
        P("    %%v%u = load i32 %s\n", n, PICK(2) ? "@y" : "%a");
        n = open_if_zero(f, "v", n);
        P("    %s\n", PICK(8) || f->w.thread ? "end 0" : "exit 0");
        P("  d%u:\n", n);
    }
}

/* ---- kinds of mutexes ---- */

static inline void write_kind(featured *f, uint32_t depth)
{
    uint32_t n = fresh(&f->w), kind = PICK(6);
    const char *at = PICK(2) ? "@lr" : "@lc";
    if (f->kinds) return;
    f->kinds = true;
    if (kind < 3) {
        P("    lock %s\n", at);
        maybe_yield(f);
        P("    %%t%u = %s %s\n    yield\n", n, kind ? "lock" : "try_lock", at);
        if (depth && PICK(3) == 0) write_block(&f->w, depth - 1);
        P("    unlock %s\n    yield\n    %%u%u = unlock %s\n", at, n, at);
        if (PICK(2)) P("    store i32 %%u%u, %%a\n", n);
    } else if (kind == 3) {
        P("    %%t%u = lock %s\n    yield\n    unlock %s\n", n, at, at);
    } else if (kind == 4) {
        P("    %%t%u = try_lock %s\n", n, at);
        n = open_if_zero(f, "t", n);
        P("    yield\n    unlock %s\n", at);
        close_if(f, n);
    } else {
        P("    %%t%u = unlock @lc\n    yield\n", n);
    }
    f->kinds = false;
}

static inline void begin_kinds(featured *f)
{
    P("    mutex_init recursive @lr\n    mutex_init checking @lc\n");
}

/* ---- conditions ---- */

static inline void write_condition_use(featured *f, uint32_t depth)
{
    uint32_t n = fresh(&f->w), kind = f->w.thread ? PICK(4) : PICK(6); /* children wait */
    const char *cv = PICK(3) ? "@cv" : "@cw";
    (void)depth;
    if (f->w.holds[0]) return;
    P("    lock @l0\n");
    if (kind < 2) {
        P("    jump w%u\n  w%u:\n    %%q%u = load i32 @g0\n    %%r%u = eq i32 %%q%u, 0\n"
          "    branch %%r%u, s%u, u%u\n  s%u:\n    %s %s, @l0\n    jump w%u\n  u%u:\n",
          n, n, n, n, n, n, n, n, n, PICK(2) ? "wait" : "timed_wait", cv, n, n);
        use(f, "@g0", PICK(2));
    } else if (kind == 2) {
        P("    %%t%u = %s %s, @l0\n    yield\n", n, PICK(2) ? "wait" : "timed_wait", cv);
        n = open_if_zero(f, "t", n);
        use(f, "@g0", true);
        close_if(f, n);
    } else {
        P("    store i32 %u, @g0\n", PICK(3));
        if (PICK(3) == 0) P("    unlock @l0\n    yield\n    lock @l0\n");
        P("    %s %s\n", PICK(2) ? "signal" : "broadcast", cv);
        maybe_yield(f);
    }
    P("    unlock @l0\n");
}

/* ---- once ---- */

static inline void declare_once(featured *f)
{
    P("function @oi() {\n  b0:\n");
    if (PICK(2)) P("    lock @l1\n    yield\n    unlock @l1\n");
    P("    store i32 %u, @cfg\n    yield\n", 1 + PICK(2));
    if (PICK(4) == 0) P("    lock @lf\n");
    P("    return\n}\n");
}

static inline void write_once(featured *f, uint32_t depth)
{
    (void)depth;
    if (f->w.holds[1]) return;
    P("    once @of, @oi\n");
    maybe_yield(f);
    if (PICK(3)) use(f, "@cfg", false);
}

/* ---- each thread's own ---- */

static inline void write_own(featured *f, uint32_t depth)
{
    uint32_t n = fresh(&f->w), kind = PICK(5);
    (void)depth;
    if (kind < 2 || f->w.holds[0]) {
        P("    store i32 %u, @tl\n", PICK(3));
        maybe_yield(f);
        use(f, "@tl", false);
    } else if (kind == 2 && !f->w.thread) {
        P("    lock @l0\n    store i64 @ts, @po\n    store i32 1, @ts\n    unlock @l0\n");
    } else { /* another's, by a pointer, or the thread's own by its name */
        P("    lock @l0\n    %%h%u = load i64 @po\n    %%c%u = eq i64 %%h%u, 0\n"
          "    branch %%c%u, d%u, y%u\n  y%u:\n    store i32 2, %%h%u\n",
          n, n, n, n, n, n, n, n);
        close_if(f, n);
        if (!f->w.thread) use(f, "@ts", false);
        maybe_yield(f);
        P("    unlock @l0\n");
    }
}

/* ---- atomics ---- */

static inline void write_atomic(featured *f, uint32_t depth)
{
    static const char *const ORDER[] = {"relaxed", "acquire", "seq_cst"};
    uint32_t n = fresh(&f->w), kind = PICK(7);
    if (kind == 0 && f->w.thread == 1) {
        P("    store i32 %u, @ad\n    atomic_store release i32 1, @af\n", 1 + PICK(2));
    } else if (kind < 3) {
        P("    %%v%u = atomic_load %s i32 @af\n    %%c%u = eq i32 %%v%u, 1\n"
          "    branch %%c%u, y%u, d%u\n  y%u:\n",
          n, ORDER[1 + PICK(2)], n, n, n, n, n, n);
        use(f, "@ad", false);
        P("    yield\n");
        close_if(f, n);
    } else if (kind < 5) {
        P("    %%v%u = atomic_%s i32 @ac, %s\n", n,
          kind == 3 ? "update add acq_rel" : "swap seq_cst", kind == 3 ? "1" : "0, 2");
        if (PICK(2)) P("    store i32 %%v%u, %%a\n", n);
        maybe_yield(f);
    } else if (depth) {
        /* nothing that others would wait for is inside */
        P("    atomic_begin\n    %%v%u = load i32 @as\n    store i32 %%v%u, %%b\n"
          "    store i32 %u, @as\n    atomic_end\n",
          n, n, PICK(3));
        maybe_yield(f);
    }
}

/* ---- joins ---- */

/* A thread that creates another one, joins it, and goes on. */
static inline void write_join(featured *f, uint32_t depth)
{
    uint32_t n = fresh(&f->w);
    if (depth != ORACLE_DEPTH || f->w.thread != 1) return;
    P("    %%h%u = create @grandchild, %u\n", n, PICK(3));
    maybe_yield(f);
    if (PICK(4)) P("    %%r%u = join %%h%u\n    yield\n", n, n);
    if (PICK(2)) use(f, "@gc", false);
}

static inline void declare_joins(featured *f)
{
    P("function @grandchild(%%arg: i64) -> i64 {\n  b0:\n    %%n = trunc i32 %%arg\n    yield\n"
      "    store i32 %%n, @gc\n");
    if (PICK(3) == 0) P("    lock @lf\n");
    P("    yield\n    return %%arg\n}\n");
}

/* ---- the table ---- */

typedef struct feature_row {
    const char *objects;
    void (*declare)(featured *f); /* functions */
    void (*begin)(featured *f);   /* the first of @main */
    void (*statement)(featured *f, uint32_t depth);
} feature_row;

static inline void begin_semaphores(featured *f)
{
    P("    sem_init @sm, %u\n    sem_init @sp, 0\n", PICK(4) ? 1 : 2);
}

static const feature_row FEATURE_ROWS[FEATURES] = {
    [FEATURE_RW] = {"object @rw 56 align 8\nobject @rd 4 align 4\n", NULL, NULL, write_rw},
    [FEATURE_SEM] = {"object @sm 32 align 8\nobject @sp 32 align 8\nobject @sg 4 align 4\n"
                     "object @hd 4 align 4\n",
                     NULL, begin_semaphores, write_semaphore},
    [FEATURE_TRY] = {"object @lt 40 align 8\n", NULL, NULL, write_try},
    [FEATURE_CALLS] = {"object @fns 16 align 8 { 0: @f0 8: @f1 }\n", declare_calls, NULL,
                       write_call},
    [FEATURE_HEAP] = {"object @p1 8 align 8\nobject @p2 8 align 8\nobject @q1 8 align 8\n"
                      "object @q2 8 align 8\n",
                      NULL, begin_heap, write_heap},
    [FEATURE_BARRIERS] = {"object @ba 32 align 8\nobject @bb 32 align 8\n", NULL, begin_barriers,
                          write_barrier},
    [FEATURE_ENDS] = {"", declare_ends, NULL, write_end},
    [FEATURE_KINDS] = {"object @lr 40 align 8\nobject @lc 40 align 8\n", NULL, begin_kinds,
                       write_kind},
    [FEATURE_CONDITIONS] = {"object @cw 48 align 8\n", NULL, NULL, write_condition_use},
    [FEATURE_ONCE] = {"object @of 4 align 4\nobject @cfg 4 align 4\n", declare_once, NULL,
                      write_once},
    [FEATURE_OWN] = {"object @tl 4 align 4 thread\nobject @ts 4 align 4 thread\n"
                     "object @po 8 align 8\n",
                     NULL, NULL, write_own},
    [FEATURE_ATOMICS] = {"object @af 4 align 4\nobject @ad 4 align 4\nobject @ac 4 align 4\n"
                         "object @as 4 align 4\n",
                         NULL, NULL, write_atomic},
    [FEATURE_JOINS] = {"object @gc 4 align 4\n", declare_joins, NULL, write_join},
};

/* ---- a program ---- */

static inline void write_feature(writer *w, uint32_t depth)
{
    featured *f = (featured *)w;
    uint32_t k = PICK(FEATURES);
    while (!has_feature(f, (int)k)) k = (k + 1) % FEATURES;
    FEATURE_ROWS[k].statement(f, depth);
}

static inline void begin_thread_text(featured *f, uint32_t thread)
{
    f->w.thread = thread;
    f->w.statements = 4; /* few: features are long */
    memset(f->w.holds, 0, sizeof f->w.holds);
    f->rw = f->kinds = f->semaphore = false;
}

static inline void write_child(featured *f, uint32_t n)
{
    begin_thread_text(f, n);
    P("function @t%u(%%arg: i64) -> i64 {\n  b0:\n", n);
    write_locals(&f->w);
    P("    %%n = trunc i32 %%arg\n    store i32 %%n, %%a\n");
    write_feature(&f->w, ORACLE_DEPTH);
    for (uint32_t i = 0; i < 2; i++) write_statement(&f->w, ORACLE_DEPTH);
    P("    yield\n    return i64 0\n}\n");
}

static inline void write_creates(featured *f, bool twice)
{
    for (uint32_t t = 1; t <= f->children; t++) {
        P("    yield\n    %%h%u = create @t%u, ", t, twice ? 1 : t);
        if (f->nodes && PICK(2))
            P("%%n1\n");
        else
            P("%u\n", PICK(3));
        if (has_feature(f, FEATURE_JOINS) && t == 1 && PICK(2))
            P("    %%j1 = join %%h1\n    yield\n");
    }
}

static inline void write_joins(featured *f)
{
    bool ends = has_feature(f, FEATURE_ENDS); /* threads detach themselves */
    bool joined = has_feature(f, FEATURE_JOINS);
    if (ends && PICK(2)) P("    detach %%h%u\n", f->children);
    for (uint32_t t = f->children; t && !ends && !joined; t--)
        if (PICK(3)) P("    join %%h%u\n    yield\n", t);
    if (joined && f->children == 2 && PICK(2)) P("    join %%h2\n    yield\n");
}

static inline void write_main(featured *f, bool twice)
{
    begin_thread_text(f, 0);
    P("function @main() -> i32 {\n  b0:\n");
    write_locals(&f->w);
    P("    %%ix = input \"x\" i1\n    %%zx = zext i32 %%ix\n    store i32 %%zx, @x\n"
      "    %%iy = input \"y\" i1\n    %%zy = zext i32 %%iy\n    store i32 %%zy, @y\n"
      "    barrier_init @bar, %u\n",
      f->children);
    for (int i = 0; i < FEATURES; i++)
        if (has_feature(f, i) && FEATURE_ROWS[i].begin) FEATURE_ROWS[i].begin(f);
    if (PICK(2)) P("    store i32 %u, @g0\n", PICK(3));
    write_creates(f, twice);
    write_feature(&f->w, ORACLE_DEPTH);
    write_joins(f);
    if (PICK(2)) write_statement(&f->w, 1);
    if (has_feature(f, FEATURE_ENDS) && PICK(2))
        P("    end 0\n}\n");
    else
        P("    yield\n    return i32 0\n}\n");
}

/* `only`: a feature that the program has; FEATURES: any. */
static inline void features_write(flow_random *r, uint32_t only, ft_strbuf *out)
{
    featured made = {.w = {.r = r, .out = out, .feature = write_feature}}, *f = &made;
    uint32_t first = PICK(FEATURES), second = PICK(FEATURES);
    f->children = 1 + (PICK(3) == 0);
    f->chosen = 1u << (only < FEATURES ? only : first) | 1u << second;
    if (has_feature(f, FEATURE_CONDITIONS)) f->children = 2;
    P("program 1\n");
    for (uint32_t i = 0; i < 4; i++) P("object @l%u 40 align 8\nobject @o%u 4 align 4\n", i, i);
    P("object @g0 4 align 4\nobject @g1 4 align 4\nobject @x 4 align 4\nobject @y 4 align 4\n"
      "object @ls 128 align 8\nobject @cv 48 align 8\nobject @bar 32 align 8\n"
      "object @lf 40 align 8\n");
    for (int i = 0; i < FEATURES; i++)
        if (has_feature(f, i)) P("%s", FEATURE_ROWS[i].objects);
    P("function @put(%%at: i64, %%v: i32) {\n  b0:\n    store i32 %%v, %%at\n    yield\n"
      "    return\n}\n");
    for (int i = 0; i < FEATURES; i++)
        if (has_feature(f, i) && FEATURE_ROWS[i].declare) FEATURE_ROWS[i].declare(f);
    for (uint32_t t = 1; t <= f->children; t++) write_child(f, t);
    write_main(f, PICK(4) == 0);
}

#undef P
#undef PICK

#endif

/* The trace model: builder, normalisation, printing, NDJSON round trips. */
#include "trace_words.h"

enum { SEEDS = 1500, STEPS = 120 };

/* ---- tables ---- */

static void test_kinds(void **state)
{
    (void)state;
    for (int i = 0; i < FT_EVENT_KINDS; i++) {
        ft_event_kind kind = FT_EVENT_KINDS;
        assert_true(ft_event_kind_parse(ft_event_kind_name((ft_event_kind)i), &kind));
        assert_int_equal(kind, i);
        assert_true(strlen(ft_event_kind_doc(kind)) > 5);
    }
    ft_event_kind kind = FT_EVENT_JOIN;
    assert_false(ft_event_kind_parse("nonsense", &kind));
    assert_int_equal(kind, FT_EVENT_JOIN);
    assert_int_equal(ft_event_kind_object(FT_EVENT_WAIT), FT_OBJECT_SEMAPHORE);
    assert_string_equal(ft_format_name(FT_FORMAT_STD), "std");
    assert_string_equal(ft_lock_kind_name(FT_LOCK_RECURSIVE), "recursive");
}

static void test_interning(void **state)
{
    (void)state;
    ft_builder *b = ft_builder_new(FT_FORMAT_LOG);
    const ft_trace *peek = ft_builder_peek(b);
    uint32_t one = ft_builder_location(b, "a.c:1", 5, "f", 1);
    assert_int_equal(ft_builder_location(b, "a.c:1 tail", 5, "f", 1), one);
    assert_int_not_equal(ft_builder_location(b, "a.c:1", 5, "g", 1), one);
    assert_int_not_equal(ft_builder_location(b, "a.c:1", 5, NULL, 0), one);
    assert_int_not_equal(ft_builder_location(b, "a.c:1", 5, "", 0), one);
    for (uint32_t i = 0; i < 1000; i++) {
        char text[16];
        size_t length = (size_t)snprintf(text, sizeof text, "%u", i);
        assert_int_equal(ft_builder_location(b, text, length, NULL, 0), i + 5);
    }
    assert_int_equal(ft_builder_location(b, "a.c:1", 5, "f", 1), one);
    assert_string_equal(ft_trace_location_text(peek, 5 + 999), "999");
    assert_null(ft_trace_location_text(peek, FT_NO_LOC));

    uint32_t five = ft_builder_value(b, (ft_value){FT_INT_SORT, 5});
    assert_int_not_equal(five, FT_NO_VALUE);
    assert_int_equal(ft_builder_value(b, (ft_value){FT_INT_SORT, 5}), five);
    assert_int_not_equal(ft_builder_value(b, (ft_value){{FT_SORT_BITVEC, 64}, 5}), five);
    assert_int_not_equal(ft_builder_value(b, (ft_value){{FT_SORT_BITVEC, 63}, 5}), five);

    uint32_t x = ft_builder_shared(b, "x", 1, FT_INT_SORT);
    assert_int_equal(ft_builder_shared(b, "x", 1, FT_BOOL_SORT), x);
    assert_int_equal(peek->shared_info[x].sort.kind, FT_SORT_INT);
    ft_builder_free(b);
}

/* Integers that lie apart, then all of a range that some of them are in: small and large ones keep
 * their ids elsewhere. */
static int64_t nth_integer(uint32_t i)
{
    static const int64_t far[] = {INT64_MIN, INT64_MAX, -(1 << 16) - 1, -(1 << 16), 1 << 30};
    enum { FAR = sizeof far / sizeof *far, APART = 3000, STRIDE = 8192, FIRST = 1 << 23 };
    if (i < FAR) return far[i];
    if (i < FAR + APART) return FIRST + (int64_t)(i - FAR) * STRIDE;
    int64_t dense = FIRST + (int64_t)(i - FAR - APART);
    return dense % STRIDE ? dense : -1 - dense;
}

static void test_integers_have_one_id_each(void **state)
{
    (void)state;
    enum { MANY = 200000, FIRST_ID = 1 };
    ft_builder *b = ft_builder_new(FT_FORMAT_LOG);
    const ft_trace *peek = ft_builder_peek(b);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < MANY; i++) {
            ft_value value = {FT_INT_SORT, (uint64_t)nth_integer(i)};
            assert_int_equal(ft_builder_value(b, value), FIRST_ID + i);
            assert_true(peek->values[FIRST_ID + i].bits == value.bits);
        }
    assert_int_equal(peek->n_values, FIRST_ID + MANY);
    ft_builder_free(b);
}

static void test_dirty_names(void **state)
{
    (void)state;
    ft_builder *b = ft_builder_new(FT_FORMAT_LOG);
    uint32_t bad = ft_builder_thread(b, "a\xff\x01", 3), good = ft_builder_thread(b, "\xc3\xa9", 2);
    uint32_t overlong = ft_builder_thread(b, "\xc0\x80", 2);
    ft_builder_event(b, FT_EVENT_BEGIN, bad, 0, 0, 0, 0);
    ft_trace *trace = finish_trace(b);
    assert_string_equal(ft_trace_thread_name(trace, bad), "a\\xff\\x01");
    assert_string_equal(ft_trace_thread_name(trace, good), "\xc3\xa9");
    assert_string_equal(ft_trace_thread_name(trace, overlong), "\\xc0\\x80");
    assert_int_equal(find_note(trace, "text-encoding")->count, 2);
    ft_trace_free(trace);
}

static ft_builder *with_variables(uint32_t *x, uint32_t *y, uint32_t *a)
{
    ft_builder *b = ft_builder_new(FT_FORMAT_NDJSON);
    ft_builder_thread(b, "T1", 2);
    ft_builder_thread(b, "T2", 2);
    *x = ft_builder_shared(b, "x", 1, FT_INT_SORT);
    *y = ft_builder_shared(b, "y", 1, FT_INT_SORT);
    *a = ft_builder_local(b, "a", 1, FT_INT_SORT);
    return b;
}

static void test_accesses(void **state)
{
    (void)state;
    uint32_t x, y, a, count;
    ft_builder *b = with_variables(&x, &y, &a);
    ft_access scratch;
    ft_term guard = parse_term(b, "(> y a)");
    ft_assignment set[] = {{FT_SYM_SHARED(x), parse_term(b, "(+ x y x)")},
                           {FT_SYM_LOCAL(a), parse_term(b, "(+ x 1)")},
                           {FT_SYM_SHARED(y), parse_term(b, "a")}};
    ft_builder_action(b, FT_EVENT_ASSIGN, 0, 0, guard, set, 3, 0);
    ft_builder_action(b, FT_EVENT_ASSIGN, 1, 0, guard, set, 3, 0);
    ft_builder_action(b, FT_EVENT_ASSUME, 1, 0, guard, NULL, 0, 0);
    ft_builder_event(b, FT_EVENT_WRITE, 1, y, 0, 0, 0);
    ft_builder_event(b, FT_EVENT_BEGIN, 1, 0, 0, 0, 0);
    ft_trace *trace = finish_trace(b);
    assert_int_equal(trace->n_actions, 2); /* the same body twice is one */
    const ft_access *list = ft_trace_accesses(trace, 1, &scratch, &count);
    assert_int_equal(count, 4);
    assert_access(&list[0], y, false, true);
    assert_access(&list[1], x, false, false);
    assert_access(&list[2], x, true, false);
    assert_access(&list[3], y, true, false);
    list = ft_trace_accesses(trace, 2, &scratch, &count);
    assert_int_equal(count, 1);
    assert_access(&list[0], y, false, true);
    list = ft_trace_accesses(trace, 3, &scratch, &count);
    assert_int_equal(count, 1);
    assert_access(&list[0], y, true, false);
    ft_trace_accesses(trace, 4, &scratch, &count);
    assert_int_equal(count, 0);
    assert_null(ft_trace_action(trace, 3));
    assert_true(ft_trace_is_symbolic_event(trace, 2));
    ft_trace_free(trace);
}

static void test_print(void **state)
{
    (void)state;
    uint32_t x, y, a;
    ft_builder *b = with_variables(&x, &y, &a);
    uint32_t s = ft_builder_semaphore(b, "s", 1, 0), l = ft_builder_lock(b, "l", 1, FT_LOCK_MUTEX);
    uint32_t zero = ft_builder_value(b, (ft_value){FT_INT_SORT, 0});
    uint32_t minus = ft_builder_value(b, (ft_value){FT_INT_SORT, (uint64_t)-1});
    ft_assignment plus = {FT_SYM_SHARED(x), parse_term(b, "(+ a 2)")};
    ft_assignment two[] = {{FT_SYM_SHARED(x), parse_term(b, "1")},
                           {FT_SYM_SHARED(y), parse_term(b, "2")}};
    ft_builder_action(b, FT_EVENT_ASSIGN, 0, 0, FT_NO_TERM, &plus, 1, 0);
    ft_builder_action(b, FT_EVENT_ASSIGN, 0, 0, parse_term(b, "(= x 0)"), two, 1, 0);
    ft_builder_action(b, FT_EVENT_ASSIGN, 0, 0, FT_NO_TERM, two, 2, FT_FLAG_ATOMIC);
    ft_builder_action(b, FT_EVENT_ASSUME, 0, 0, parse_term(b, "(> x a)"), NULL, 0, 0);
    ft_builder_action(b, FT_EVENT_ASSERT, 0, 0, parse_term(b, "(= y 1)"), NULL, 0, 0);
    ft_builder_event(b, FT_EVENT_READ, 0, x, 0, zero, 0);
    ft_builder_event(b, FT_EVENT_WRITE, 0, x, 0, minus, FT_FLAG_ATOMIC);
    ft_builder_event(b, FT_EVENT_READ, 0, x, 0, FT_NO_VALUE, 0);
    ft_builder_event(b, FT_EVENT_ACQUIRE, 0, l, 0, 0, 0);
    ft_builder_event(b, FT_EVENT_FORK, 0, 1, 0, 0, 0);
    ft_builder_event(b, FT_EVENT_WAIT, 0, s, 0, 0, 0);
    ft_builder_event(b, FT_EVENT_TX_BEGIN, 0, 0, 0, 0, 0);
    ft_trace *trace = finish_trace(b);
    static const char *const expected[] = {"x := (+ a 2)",
                                           "x := 1 if (= x 0)",
                                           "atomic x := 1, y := 2",
                                           "assume (> x a)",
                                           "assert (= y 1)",
                                           "read x = 0",
                                           "atomic write x = (- 1)",
                                           "read x",
                                           "acquire l",
                                           "fork T2",
                                           "wait s",
                                           "tx-begin"};
    for (uint32_t e = 0; e < sizeof expected / sizeof *expected; e++)
        assert_prints(trace, e, expected[e]);
    ft_trace_free(trace);
}

static void test_scope(void **state)
{
    (void)state;
    uint32_t x, y, a;
    ft_builder *b = with_variables(&x, &y, &a);
    ft_scope scope = ft_trace_scope(ft_builder_peek(b));
    ft_symbol symbol;
    ft_sort sort;
    assert_true(scope.resolve(scope.context, "ab", 1, &symbol, &sort));
    assert_int_equal(symbol, FT_SYM_LOCAL(a));
    assert_true(scope.resolve(scope.context, "y", 1, &symbol, &sort));
    assert_int_equal(symbol, FT_SYM_SHARED(y));
    assert_false(scope.resolve(scope.context, "ab", 2, &symbol, &sort));
    assert_string_equal(scope.name(scope.context, FT_SYM_LOCAL(a)), "a");
    ft_builder_free(b);
}

/* ---- normalisation ---- */

static void test_nested(void **state)
{
    (void)state;
    assert_becomes("A acquire r;A acquire r;A write x;A release r;A release r;A release r",
                   "A acquire r; (A acquire r); A write x; (A release r); A release r; "
                   "A release r!");
    assert_note("A acquire r;A release r;A release r;B release r", "stranger-release", 2, 2);
    /* A mutex has no inner sections: the checker reports the second acquire. */
    assert_becomes("A acquire m;A acquire m;A release m;A release m",
                   "A acquire m; A acquire m; A release m; A release m!");
    /* A condition wait gives up every level and takes all of them again. */
    assert_becomes("A acquire r;A acquire r;A release r c;B acquire r;B release r;A acquire r c;"
                   "A release r;A release r",
                   "A acquire r; (A acquire r); A release r; B acquire r; B release r; "
                   "A acquire r; (A release r); A release r");
}

static void test_implied_release(void **state)
{
    (void)state;
    assert_becomes("A acquire m;A write x;B write y;B acquire m;A write y;B release m",
                   "A acquire m; A write x; A release m*; B write y; B acquire m; A write y; "
                   "B release m");
    assert_note("A acquire m;A write x;B write y;B acquire m;B write x;C acquire m",
                "implied-release", 2, 2);
    assert_note("A acquire m;A write x;B write y;B acquire m", "unclosed-section", 4, 1);
    /* An end event stays the last of its thread. */
    assert_becomes("A acquire m;A end;B acquire m;B release m",
                   "A acquire m; A release m*; A end; B acquire m; B release m");
    /* Two levels need two releases, so that the result reads as an ordinary trace. */
    assert_becomes("A acquire r;A acquire r;B acquire r",
                   "A acquire r; (A acquire r); (A release r)*; A release r*; B acquire r");
    /* The owner takes it again later: that is a section of its own. */
    assert_becomes("A acquire r;B acquire r;B release r;A acquire r;A release r",
                   "A acquire r; A release r*; B acquire r; B release r; A acquire r; "
                   "A release r");
    assert_becomes("A acquire m;B acquire m;B release m;A acquire m;A release m",
                   "A acquire m; A release m*; B acquire m; B release m; A acquire m; "
                   "A release m");
    /* Two locks, one place. */
    assert_becomes("A acquire m1;A acquire m2;B acquire m1;B acquire m2",
                   "A acquire m1; A acquire m2; A release m1*; A release m2*; B acquire m1; "
                   "B acquire m2");
}

static void test_broken_sections_are_left(void **state)
{
    (void)state;
    assert_unchanged("A acquire m;B acquire m;A release m;B release m");
    assert_becomes("A acquire r;A acquire r;B acquire r;A release r;B release r",
                   "A acquire r; (A acquire r); B acquire r; (A release r); B release r");
    assert_unchanged("A acquire m;A acquire m;B acquire m;A release m;B release m");
}

static void test_early_joins(void **state)
{
    (void)state;
    assert_becomes("A fork B;B write x;A join B;B write y;A write x",
                   "A fork B; B write x; B write y; A join B; A write x");
    assert_note("A fork B;B write x;A join B;B write y;A write x", "early-join", 3, 1);
    assert_unchanged("A fork B;B write x;A join B;A write x;B write y");
    assert_unchanged("A fork B;B write x;B write y;A join B;A write x");
    /* B's last event is itself moved. */
    assert_becomes("A join B;B join C;C write x;A write y",
                   "C write x; B join C; A join B; A write y");
    /* Two early joins of one thread keep their order. */
    assert_becomes("A join B;A join C;B join C;C write x",
                   "C write x; B join C; A join B; A join C");
    assert_becomes("A join B;A join C;C write x;B write y",
                   "A join B; C write x; A join C; B write y");
    /* In a circle there is no place to go. */
    assert_unchanged("A join B;B join A;A join C;C write x");
    assert_unchanged("A write x;A join A;A write y");
}

static void test_early_edges(void **state)
{
    (void)state;
    assert_becomes("A edge-in e;B write x;B edge-out e;A write x",
                   "B write x; B edge-out e; A edge-in e; A write x");
    assert_note("A edge-in e;B write x;B edge-out e;A write x;C edge-in f;B edge-out f",
                "early-edge", 2, 2);
    assert_unchanged("A edge-in e;A write x;B edge-out e");
    assert_unchanged("A edge-in e;B write x");
}

static void test_note_events_follow(void **state)
{
    (void)state;
    ft_builder *b = ft_builder_new(FT_FORMAT_LOG);
    char events[][16] = {"A join B", "A acquire m", "B write x", "C acquire m", "C write y"};
    /* A acts before B's end: nothing moves, but A's release is implied before event 3. */
    for (size_t i = 0; i < 5; i++) add_word_event(b, events[i]);
    ft_builder_note(b, "mine", 4, "the event that writes %s", "y");
    ft_builder_note(b, "mine", 1, "another");
    ft_builder_note(b, "late", 5, "an event that never came");
    ft_trace *trace = finish_trace(b);
    const ft_note *mine = find_note(trace, "mine");
    assert_int_equal(mine->event, 5);
    assert_int_equal(mine->count, 2);
    assert_string_equal(mine->text, "the event that writes y");
    assert_prints(trace, mine->event, "write y");
    assert_int_equal(find_note(trace, "late")->event, FT_NO_EVENT);
    ft_trace_free(trace);
}

/* ---- normalisation of random traces ---- */

static bool is_acquire(const ft_trace *trace, uint32_t e)
{
    return trace->kind[e] == FT_EVENT_ACQUIRE || trace->kind[e] == FT_EVENT_ACQUIRE_SHARED;
}

/* Whether `owner` later releases something of the lock that it took before event i, counted one
 * event at a time. */
static bool releases_later(const ft_trace *trace, uint32_t owner, uint32_t lock, uint32_t i)
{
    int64_t inner = 0, saved = 0;
    ft_lock_kind kind = (ft_lock_kind)trace->lock_kind[lock];
    for (uint32_t e = i; e < trace->n_events; e++) {
        bool acquire = is_acquire(trace, e), shared = trace->kind[e] == FT_EVENT_ACQUIRE_SHARED;
        bool condition = kind == FT_LOCK_RECURSIVE && trace->flags[e] & FT_FLAG_CONDITION;
        if (trace->thread[e] != owner || trace->object[e] != lock) continue;
        if (!acquire && trace->kind[e] != FT_EVENT_RELEASE) continue;
        if (!acquire && inner == 0) return true;
        if (acquire && kind == FT_LOCK_ERROR_CHECKING) continue; /* it fails, or opens a new one */
        if (acquire && kind != FT_LOCK_RECURSIVE && !shared) return false;
        if (acquire)
            inner = condition && inner == 0 && saved ? saved : inner + 1;
        else if (condition) {
            saved = inner;
            inner = 0;
        } else
            inner--;
    }
    return false;
}

typedef struct depths {
    uint32_t depth[THREADS + 2][LOCKS], saved[THREADS + 2][LOCKS];
    bool shared[THREADS + 2][LOCKS];
} depths;

/* What the flags of a lock event have to be, and the step it takes. */
static unsigned step_flags(depths *d, const ft_trace *trace, uint32_t e)
{
    uint32_t lock = trace->object[e];
    uint32_t *depth = &d->depth[trace->thread[e]][lock], *saved = &d->saved[trace->thread[e]][lock];
    bool *mode = &d->shared[trace->thread[e]][lock];
    ft_lock_kind kind = (ft_lock_kind)trace->lock_kind[lock];
    bool condition = trace->flags[e] & FT_FLAG_CONDITION && kind != FT_LOCK_READ_WRITE;
    if (is_acquire(trace, e)) {
        bool shared = trace->kind[e] == FT_EVENT_ACQUIRE_SHARED;
        bool again = condition && *depth == 0 && *saved;
        bool nested = *depth && (kind == FT_LOCK_RECURSIVE || (shared && *mode));
        bool tries = trace->flags[e] & FT_FLAG_TRY;
        if (kind == FT_LOCK_ERROR_CHECKING && *depth && !tries) return FT_FLAG_STRANGER;
        *mode = shared;
        *depth = again ? *saved : nested ? *depth + 1 : 1;
        *saved = 0;
        return nested ? FT_FLAG_NESTED : 0;
    }
    if (!*depth) return FT_FLAG_STRANGER;
    if (condition) {
        *saved = *depth;
        *depth = 0;
        return 0;
    }
    return --*depth ? FT_FLAG_NESTED : 0;
}

static void check_locks(const ft_trace *trace)
{
    depths d = {{{0}}, {{0}}, {{false}}};
    for (uint32_t e = 0; e < trace->n_events; e++) {
        bool acquire = is_acquire(trace, e), shared = trace->kind[e] == FT_EVENT_ACQUIRE_SHARED;
        if (!acquire && trace->kind[e] != FT_EVENT_RELEASE) continue;
        uint32_t lock = trace->object[e];
        for (uint32_t t = 0; acquire && t < trace->threads.len; t++)
            if (t != trace->thread[e] && d.depth[t][lock] && !(shared && d.shared[t][lock]))
                assert_true(releases_later(trace, t, lock, e));
        assert_int_equal(trace->flags[e] & (FT_FLAG_NESTED | FT_FLAG_STRANGER),
                         step_flags(&d, trace, e));
    }
}

/* A synthetic release stands right behind an event of its owner, or before its end, and another
 * thread takes the lock before the owner does anything else. */
static void check_synthetic(const ft_trace *trace, uint32_t e)
{
    uint32_t owner = trace->thread[e], lock = trace->object[e], next = e + 1;
    assert_int_equal(trace->loc[e], FT_NO_LOC);
    while (next < trace->n_events) {
        bool other = trace->thread[next] != owner;
        bool end = trace->kind[next] == FT_EVENT_END;
        if (other && is_acquire(trace, next) && trace->object[next] == lock) return;
        if (!other && !end) assert_true(trace->flags[next] & FT_FLAG_SYNTHETIC);
        next++;
    }
    fail_msg("nobody takes the lock after the implied release %u", e);
}

/* The events of each thread, in order, are those that were fed, but for synthetic ones. */
static void check_program_order(const ft_builder *fed, const ft_trace *trace)
{
    const ft_trace *before = ft_builder_peek(fed);
    uint32_t synthetic = 0;
    for (uint32_t t = 0; t < before->threads.len; t++) {
        uint32_t i = 0;
        for (uint32_t e = 0; e < trace->n_events; e++) {
            if (trace->thread[e] != t || trace->flags[e] & FT_FLAG_SYNTHETIC) continue;
            while (i < before->n_events && before->thread[i] != t) i++;
            assert_true(i < before->n_events);
            assert_same_event(before, i++, trace, e, FT_FLAG_ATOMIC | FT_FLAG_TRY);
        }
    }
    for (uint32_t e = 0; e < trace->n_events; e++)
        synthetic += (trace->flags[e] & FT_FLAG_SYNTHETIC) != 0;
    assert_int_equal(trace->n_events, before->n_events + synthetic);
}

static ft_trace *feed_again(const ft_trace *trace)
{
    ft_strbuf text = {0};
    ft_error err = FT_ERROR_INIT;
    if (ft_ndjson_write(trace, append_to, &text, &err) != FT_OK) fail_msg("%s", err.message);
    ft_trace *again = read_text(text.text, text.len);
    ft_strbuf_release(&text);
    return again;
}

static void test_random_normalisation(void **state)
{
    (void)state;
    uint32_t synthetic = 0, moved = 0, strangers = 0, kinds[FT_EVENT_KINDS] = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        ft_builder *fed = random_builder(seed * 7919, STEPS);
        ft_trace *trace = finish_trace(random_builder(seed * 7919, STEPS));
        check_program_order(fed, trace);
        check_locks(trace);
        for (uint32_t e = 0; e < trace->n_events; e++) {
            kinds[trace->kind[e]]++;
            strangers += (trace->flags[e] & FT_FLAG_STRANGER) != 0;
            if (!(trace->flags[e] & FT_FLAG_SYNTHETIC)) continue;
            synthetic++;
            check_synthetic(trace, e);
        }
        moved += find_note(trace, "early-join") != NULL || find_note(trace, "early-edge") != NULL;
        /* Nothing is left to do, and NDJSON keeps all of it but who wrote the releases; one that
         * was implied right after a cond-wait is then the wait's own. */
        ft_trace *again = feed_again(trace);
        assert_same_trace(trace, again, ~(unsigned)(FT_FLAG_SYNTHETIC | FT_FLAG_CONDITION));
        ft_trace_free(again);
        ft_trace_free(trace);
        ft_builder_free(fed);
    }
    assert_true(synthetic > SEEDS / 4 && moved > SEEDS / 8 && strangers > SEEDS / 4);
    for (int i = 0; i < FT_EVENT_IF; i++) assert_true(kinds[i] > SEEDS / 10);
}

/* ---- limits ---- */

static void assert_finish_fails(ft_builder *b, ft_status expected)
{
    ft_trace *trace = NULL;
    ft_error err = FT_ERROR_INIT;
    assert_int_equal(ft_builder_finish(b, &trace, &err), expected);
    assert_int_equal(err.code, expected);
    assert_null(trace);
}

static void test_limits(void **state)
{
    (void)state;
    assert_finish_fails(ft_builder_new(FT_FORMAT_STD), FT_INPUT);

    ft_builder *b = ft_builder_new(FT_FORMAT_STD);
    for (uint32_t i = 0; i <= UINT16_MAX; i++) {
        char name[16];
        size_t length = (size_t)snprintf(name, sizeof name, "%u", i);
        uint32_t id = ft_builder_thread(b, name, length);
        assert_int_equal(id, i < UINT16_MAX ? i : 0);
        ft_builder_event(b, FT_EVENT_BEGIN, id, 0, 0, 0, 0);
    }
    assert_finish_fails(b, FT_LIMIT);

    b = ft_builder_new(FT_FORMAT_STD);
    b->max_events = 3;
    char fitting[][16] = {"A acquire r", "A acquire r", "B acquire r"};
    for (size_t i = 0; i < 3; i++) add_word_event(b, fitting[i]);
    assert_finish_fails(b, FT_LIMIT); /* two implied releases too many */

    b = ft_builder_new(FT_FORMAT_STD);
    b->max_events = 3;
    for (size_t i = 0; i < 4; i++) add_word_event(b, (char[]){"A begin"});
    assert_finish_fails(b, FT_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_interning),
        cmocka_unit_test(test_integers_have_one_id_each),
        cmocka_unit_test(test_dirty_names),
        cmocka_unit_test(test_accesses),
        cmocka_unit_test(test_print),
        cmocka_unit_test(test_scope),
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_implied_release),
        cmocka_unit_test(test_broken_sections_are_left),
        cmocka_unit_test(test_early_joins),
        cmocka_unit_test(test_early_edges),
        cmocka_unit_test(test_note_events_follow),
        cmocka_unit_test(test_random_normalisation),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

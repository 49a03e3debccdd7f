/* Cells, the quick way and the slow one: random accesses of some threads to memory that begins and
 * ends are counted as events and, by another count, one by one as ranges. Both must find the same
 * cells, and in the second pass, too, the same cell at each access. What comes in batches and is
 * passed over has none. What forks and joins order,
 * which is no cell: small programs, each with what it has of them. And which block has a byte, by a
 * search of all. */
#include "trace_support.h"

#include "maker/cells/cells.h"

enum { ACTORS = 3, BYTES = 256, STEPS = 3000, RUNS = 100, ALLOCATIONS = 4 };
#define BASE UINT64_C(0x7000)

typedef struct step {
    ft_raw_record record; /* an operation; or: */
    bool is_event;
    ft_raw_event event;
} step;

static FT_VEC(step) steps;

static void add_operation(uint32_t thread, ft_raw_operation operation, uint64_t a, uint64_t b,
                          uint64_t c)
{
    ft_vec_push(
        &steps,
        (step){.record = {.thread = thread, .operation = operation, .operands = {a, b, c}}});
}

static int64_t extended(uint64_t bits, unsigned size)
{
    unsigned shift = 64 - 8 * size;
    return (int64_t)(bits << shift) >> shift;
}

/* Now and then a thread reads what nobody is known to have written. */
static void add_access(uint64_t *state, uint32_t thread, unsigned char *all, uint32_t first,
                       uint32_t bytes)
{
    static const uint8_t forms[] = {FT_RAW_FORM_READ,         FT_RAW_FORM_READ,
                                    FT_RAW_FORM_READ,         FT_RAW_FORM_WRITE,
                                    FT_RAW_FORM_ATOMIC_WRITE, FT_RAW_FORM_UPDATE};
    unsigned code = rnd(state, 4), size = 1u << code, form = forms[rnd(state, sizeof forms)];
    uint32_t at = rnd(state, 4) ? rnd(state, bytes / size) * size : rnd(state, bytes - size);
    unsigned char *memory = all + first;
    uint64_t bits = 0, fresh = rnd(state, UINT32_MAX);
    if (rnd(state, 40) == 0) memory[at] ^= 1;
    memcpy(&bits, memory + at, size);
    ft_raw_event e = {.address = BASE + first + at, .site = 2, .code = 8 * form + code};
    e.value = e.written = extended(bits, size);
    if (form != FT_RAW_FORM_READ) e.written = extended(fresh, size);
    if (form == FT_RAW_FORM_WRITE || form == FT_RAW_FORM_ATOMIC_WRITE) e.value = e.written;
    memcpy(memory + at, &e.written, size);
    ft_vec_push(&steps, (step){.record.thread = thread, .is_event = true, .event = e});
}

/* A write whose content the log does not have; it leaves what was there, or does not. */
static void add_blind(uint64_t *state, uint32_t thread, unsigned char *all, uint32_t first,
                      uint32_t bytes)
{
    uint32_t size = 1 + rnd(state, 16), at = first + rnd(state, bytes - size);
    if (rnd(state, 2)) all[at] ^= 1;
    ft_raw_record r = {.thread = thread, .access = true, .site = 2, .form = FT_RAW_FORM_WRITE};
    r.address = BASE + at;
    r.size = size;
    ft_vec_push(&steps, (step){.record = r});
}

/* apart: mostly each thread in a block of its own. */
static void make_steps(uint64_t seed, bool apart)
{
    uint64_t state = seed, each = BYTES / ALLOCATIONS;
    unsigned char memory[BYTES] = {0};
    bool live[ALLOCATIONS] = {false};
    uint32_t thread = 0;
    steps.len = 0;
    for (int i = 0; i < STEPS; i++) {
        uint32_t a = rnd(&state, ALLOCATIONS);
        uint64_t address = BASE + a * each;
        if (rnd(&state, 6) == 0) thread = rnd(&state, ACTORS);
        if (rnd(&state, 100) == 0) {
            if (live[a])
                add_operation(thread, FT_RAW_FREE, 3, address, 0);
            else
                add_operation(thread, FT_RAW_ALLOC, 3, address, each);
            live[a] = !live[a];
        }
        bool own = apart && rnd(&state, 200);
        uint32_t first = own ? (uint32_t)(thread * each) : 0, bytes = own ? (uint32_t)each : BYTES;
        if (rnd(&state, 60) == 0) add_blind(&state, thread, memory, first, bytes);
        add_access(&state, thread, memory, first, bytes);
    }
}

static ft_raw_record as_range(const step *s, unsigned char content[8])
{
    ft_raw_record r;
    ft_raw_record_of(&s->event, s->record.thread, &r);
    memcpy(content, &s->event.written, 8);
    r.text = content;
    r.length = r.size;
    return r;
}

/* A batch of events, each at a site of its own, as they are taken from a log. */
static void count_events(ft_cells *cells, uint32_t thread, const ft_raw_event *events, uint32_t n)
{
    uint64_t words[2 * FT_RAW_BATCH], counts[FT_RAW_BATCH + 1] = {0};
    uint8_t codes[FT_RAW_BATCH + 1] = {0};
    unsigned char plain[FT_RAW_BATCH * FT_RAW_PLAIN];
    for (uint32_t i = 0; i < n; i++) {
        ft_raw_event e = events[i];
        codes[e.site = i + 1] = (uint8_t)e.code;
        words[2 * i] = ft_raw_first_word(&e);
        words[2 * i + 1] = (uint64_t)e.value;
    }
    for (uint32_t i = 0; i < n;) {
        ft_raw_run run = {thread, words + 2 * i, codes,
                          counts, plain,         plain + (n - i) * FT_RAW_PLAIN};
        ft_cells_take_run(cells, &run);
        i += (uint32_t)(run.plain - plain) / FT_RAW_PLAIN;
        if (i < n) ft_cells_take_other(cells, thread, &events[i++]);
    }
    ft_cells_end_batch(cells, thread);
}

static ft_cells *count_steps(bool as_events, bool whole)
{
    ft_cells *cells = ft_cells_new();
    if (whole) ft_cells_keep_ordered(cells);
    for (size_t i = 0; i < steps.len; i++) {
        const step *s = &steps.data[i];
        unsigned char content[8];
        ft_raw_record r = s->is_event ? as_range(s, content) : s->record;
        if (s->is_event && as_events)
            count_events(cells, s->record.thread, &s->event, 1);
        else
            ft_cells_count(cells, &r);
    }
    ft_cells_settle(cells);
    return cells;
}

static void compare_cells(const ft_cells *a, const ft_cells *b)
{
    assert_int_equal(ft_cells_count_of(a), ft_cells_count_of(b));
    assert_true(ft_cells_granules(a) == ft_cells_granules(b));
    for (uint32_t t = 0; t < ACTORS; t++)
        assert_int_equal(ft_cells_late(a, t), ft_cells_late(b, t));
    for (uint32_t c = 0; c < ft_cells_count_of(a); c++) {
        const ft_cell *x = ft_cells_get(a, c), *y = ft_cells_get(b, c);
        assert_true(x->address == y->address && x->size == y->size);
        assert_int_equal(x->allocation, y->allocation);
        assert_int_equal(x->owner, y->owner);
        assert_int_equal(x->has_initial, y->has_initial);
    }
}

/* Piece by piece, as it is done where ft_cells_find says that there are several. */
static uint32_t look_up(ft_cells *cells, const ft_raw_event *e)
{
    uint64_t size = UINT64_C(1) << e->code % 8;
    uint32_t found = FT_NO_CELL;
    for (uint64_t at = e->address, end = at + size; at < end;) {
        uint32_t skip, c = ft_cells_at(cells, at, &skip);
        if (c != FT_NO_CELL) {
            const ft_cell *cell = ft_cells_get(cells, c);
            found = cell->address == e->address && cell->size == size ? c : FT_SEVERAL_CELLS;
            skip = cell->size;
        }
        at += skip;
    }
    return found;
}

/* Several that are none when they are looked at are none. */
static void follow_steps(ft_cells *quick, ft_cells *slow)
{
    uint32_t exact = 0;
    for (size_t i = 0; i < steps.len; i++) {
        const step *s = &steps.data[i];
        if (!s->is_event) {
            ft_cells_follow(quick, &s->record);
            ft_cells_follow(slow, &s->record);
            continue;
        }
        uint32_t found, right = look_up(slow, &s->event);
        ft_cells_find(quick, &s->event, 1, &found);
        if (found == FT_SEVERAL_CELLS) {
            assert_int_equal(look_up(quick, &s->event), right);
            continue;
        }
        assert_int_equal(found, right);
        exact += found != FT_NO_CELL;
    }
    assert_true(exact > 0);
}

static void test_both_ways(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        make_steps(seed, false);
        ft_cells *quick = count_steps(true, false), *slow = count_steps(false, false);
        compare_cells(quick, slow);
        follow_steps(quick, slow);
        ft_cells_free(quick);
        ft_cells_free(slow);
    }
    ft_vec_release(&steps);
}

/* ---- batches of events */

/* How many events come now, of one thread, one behind the other; 0: an operation does. */
static uint32_t batch_at(size_t i, uint64_t *state)
{
    uint32_t n = 0, most = 1 + rnd(state, 6);
    while (n < most && i + n < steps.len && steps.data[i + n].is_event &&
           steps.data[i + n].record.thread == steps.data[i].record.thread)
        n++;
    return n;
}

static uint32_t gather(size_t i, uint32_t n, ft_raw_event *events)
{
    for (uint32_t k = 0; k < n; k++) events[k] = steps.data[i + k].event;
    return steps.data[i].record.thread;
}

static uint32_t find(ft_cells *cells, const ft_raw_event *e)
{
    uint32_t found;
    ft_cells_find(cells, e, 1, &found);
    return found == FT_SEVERAL_CELLS ? look_up(cells, e) : found;
}

static ft_cells *count_batches(uint64_t seed)
{
    uint64_t state = seed;
    ft_raw_event events[FT_RAW_BATCH];
    ft_cells *cells = ft_cells_new();
    ft_cells_in_batches(cells);
    for (size_t i = 0; i < steps.len;) {
        uint32_t n = batch_at(i, &state), thread = gather(i, n, events);
        if (n)
            count_events(cells, thread, events, n);
        else
            ft_cells_count(cells, &steps.data[i].record);
        i += n ? n : 1;
    }
    ft_cells_settle(cells);
    return cells;
}

/* What is not wanted has no cell, and what is, is found as by who looks at all; returns of how many
 * batches nobody looked at any. */
static uint32_t follow_batches(ft_cells *batched, ft_cells *all, uint64_t seed)
{
    uint64_t state = seed;
    ft_raw_event events[FT_RAW_BATCH];
    uint32_t passed = 0;
    for (size_t i = 0; i < steps.len;) {
        bool wanted = ft_cells_wants(batched);
        uint32_t n = batch_at(i, &state), thread = gather(i, n, events);
        if (n) {
            ft_cells_turn(batched, thread);
            for (uint32_t k = 0; k < n; k++)
                assert_int_equal(wanted ? find(batched, &events[k]) : FT_NO_CELL,
                                 find(all, &events[k]));
            passed += !wanted;
        } else {
            ft_cells_follow(batched, &steps.data[i].record);
            ft_cells_follow(all, &steps.data[i].record);
        }
        i += n ? n : 1;
    }
    return passed;
}

static void test_wanted(void **unused)
{
    (void)unused;
    uint32_t passed = 0, cells = 0;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        make_steps(seed, true);
        ft_cells *batched = count_batches(seed), *all = count_steps(true, false);
        compare_cells(batched, all);
        passed += follow_batches(batched, all, seed);
        cells += ft_cells_count_of(all);
        ft_cells_free(batched);
        ft_cells_free(all);
    }
    assert_true(passed > RUNS && cells > RUNS);
    ft_vec_release(&steps);
}

/* ---- what forks and joins order */

enum { DEEDS = 24, SLOTS = 4, SLOT = 8 };
#define HEAP UINT64_C(0x9000)

/* One line of a program. */
typedef struct deed {
    uint32_t thread;
    char what;
    uint32_t of; /* a thread, or eight bytes of memory: 4 on are the heap's */
} deed;

#define WRITE(t, at)                                                                               \
    {                                                                                              \
        t, 'w', at                                                                                 \
    }
#define READ(t, at)                                                                                \
    {                                                                                              \
        t, 'r', at                                                                                 \
    }
#define STRANGE(t, at)                                                                             \
    {                                                                                              \
        t, 's', at                                                                                 \
    } /* a read of what nobody wrote */
#define ATOMIC(t, at)                                                                              \
    {                                                                                              \
        t, 'a', at                                                                                 \
    } /* a write */
#define LOWER(t, at)                                                                               \
    {                                                                                              \
        t, 'l', at                                                                                 \
    } /* writes of four bytes */
#define UPPER(t, at)                                                                               \
    {                                                                                              \
        t, 'u', at                                                                                 \
    }
#define FORK(t, child)                                                                             \
    {                                                                                              \
        t, 'f', child                                                                              \
    }
#define END(t)                                                                                     \
    {                                                                                              \
        t, 'e', 0                                                                                  \
    }
#define JOIN(t, child)                                                                             \
    {                                                                                              \
        t, 'j', child                                                                              \
    }
#define LOCK(t)                                                                                    \
    {                                                                                              \
        t, '(', 0                                                                                  \
    }
#define UNLOCK(t)                                                                                  \
    {                                                                                              \
        t, ')', 0                                                                                  \
    }
#define MAKE(t)                                                                                    \
    {                                                                                              \
        t, 'm', 0                                                                                  \
    } /* the heap's memory */
#define DROP(t)                                                                                    \
    {                                                                                              \
        t, 'd', 0                                                                                  \
    }
#define HEAPS SLOTS

static const struct {
    const char *name;
    uint32_t cells, whole; /* whole: where nothing is dropped because of the order */
    deed deeds[DEEDS];
} PROGRAMS[] = {
    {"written, then forked", 0, 1, {WRITE(0, 0), FORK(0, 1), READ(1, 0), WRITE(1, 0)}},
    {"joined, then read", 0, 1, {FORK(0, 1), WRITE(1, 0), END(1), JOIN(0, 1), READ(0, 0)}},
    {"read, then joined", 1, 1, {FORK(0, 1), WRITE(1, 0), END(1), READ(0, 0), JOIN(0, 1)}},
    {"written beside", 1, 1, {WRITE(0, 0), FORK(0, 1), READ(1, 0), WRITE(0, 0)}},
    {"read beside", 0, 1, {WRITE(0, 0), FORK(0, 1), READ(1, 0), READ(0, 0), READ(1, 0)}},
    {"read beside, then written",
     1,
     1,
     {WRITE(0, 0), FORK(0, 1), READ(0, 0), READ(1, 0), READ(0, 0), WRITE(1, 0)}},
    {"before the second fork, read by the second",
     0,
     1,
     {FORK(0, 1), WRITE(0, 0), FORK(0, 2), READ(2, 0)}},
    {"before the second fork, read by the first",
     1,
     1,
     {FORK(0, 1), WRITE(0, 0), FORK(0, 2), READ(1, 0)}},
    {"before the second fork, read by the second, then by the first",
     1,
     1,
     {FORK(0, 1), WRITE(0, 0), FORK(0, 2), READ(2, 0), READ(1, 0)}},
    {"joined before the second fork",
     0,
     1,
     {FORK(0, 1), WRITE(1, 0), END(1), JOIN(0, 1), FORK(0, 2), WRITE(2, 0)}},
    {"joined behind the second fork",
     1,
     1,
     {FORK(0, 1), WRITE(1, 0), END(1), FORK(0, 2), JOIN(0, 1), WRITE(2, 0)}},
    {"by a child's child", 0, 1, {WRITE(0, 0), FORK(0, 1), FORK(1, 2), WRITE(2, 0)}},
    {"of a joined thread's child that was not",
     1,
     1,
     {FORK(0, 1), FORK(1, 2), WRITE(2, 0), END(2), END(1), JOIN(0, 1), READ(0, 0)}},
    {"of a joined thread's child that was, too",
     0,
     1,
     {FORK(0, 1), FORK(1, 2), WRITE(2, 0), END(2), JOIN(1, 2), END(1), JOIN(0, 1), READ(0, 0)}},
    {"two readers, both joined",
     0,
     1,
     {WRITE(0, 0), FORK(0, 1), FORK(0, 2), READ(1, 0), READ(2, 0), END(1), END(2), JOIN(0, 1),
      JOIN(0, 2), WRITE(0, 0)}},
    {"two readers, one joined",
     1,
     1,
     {WRITE(0, 0), FORK(0, 1), FORK(0, 2), READ(1, 0), READ(2, 0), END(1), END(2), JOIN(0, 1),
      WRITE(0, 0)}},
    {"two readers of what nobody writes", 0, 0, {FORK(0, 1), READ(1, 0), READ(0, 0)}},
    {"joined, but it has not ended", 1, 1, {FORK(0, 1), WRITE(1, 0), JOIN(0, 1), READ(0, 0)}},
    {"never forked", 1, 1, {WRITE(0, 0), WRITE(1, 0)}},
    {"atomic, in order", 0, 1, {ATOMIC(0, 0), FORK(0, 1), ATOMIC(1, 0)}},
    {"atomic, in no order", 1, 1, {FORK(0, 1), ATOMIC(1, 0), ATOMIC(0, 0)}},
    {"halves", 0, 0, {FORK(0, 1), LOWER(0, 0), UPPER(1, 0), LOWER(0, 0)}},
    {"halves of one that was written before",
     2,
     2,
     {WRITE(0, 0), FORK(0, 1), FORK(0, 2), LOWER(1, 0), UPPER(2, 0)}},
    {"halves, one after the other",
     0,
     2,
     {WRITE(0, 0), FORK(0, 1), LOWER(1, 0), UPPER(1, 0), END(1), JOIN(0, 1), READ(0, 0)}},
    {"written by its owner's own code, then forked",
     0,
     1,
     {MAKE(0), WRITE(0, HEAPS), STRANGE(0, HEAPS), FORK(0, 1), READ(1, HEAPS)}},
    {"written by nobody, read in order", 1, 1, {WRITE(0, 0), FORK(0, 1), STRANGE(1, 0)}},
    {"allocated, then forked, joined, then freed",
     0,
     1,
     {MAKE(0), WRITE(0, HEAPS), FORK(0, 1), WRITE(1, HEAPS), END(1), JOIN(0, 1), DROP(0)}},
    {"freed, then joined",
     1,
     1,
     {MAKE(0), WRITE(0, HEAPS), FORK(0, 1), WRITE(1, HEAPS), END(1), DROP(0), JOIN(0, 1)}},
    {"one thread's, freed by another", 1, 1, {MAKE(0), FORK(0, 1), WRITE(1, HEAPS), DROP(0)}},
    {"freed, then used by its freer",
     1,
     1,
     {MAKE(0), WRITE(0, HEAPS), FORK(0, 1), WRITE(1, HEAPS), END(1), JOIN(0, 1), DROP(0),
      READ(0, HEAPS)}},
    {"freed, then forked and used",
     1,
     1,
     {MAKE(0), WRITE(0, HEAPS), DROP(0), FORK(0, 1), READ(1, HEAPS)}},
    {"freed twice",
     1,
     1,
     {MAKE(0), WRITE(0, HEAPS), FORK(0, 1), WRITE(1, HEAPS), END(1), JOIN(0, 1), DROP(0), DROP(0)}},
    {"freed, allocated again",
     0,
     2,
     {MAKE(0), WRITE(0, HEAPS), FORK(0, 1), WRITE(1, HEAPS), END(1), JOIN(0, 1), DROP(0), MAKE(0),
      WRITE(0, HEAPS), FORK(0, 2), WRITE(2, HEAPS)}},
    {"allocated beside",
     1,
     1,
     {FORK(0, 1), MAKE(0), WRITE(1, HEAPS), END(1), JOIN(0, 1), READ(0, HEAPS)}},
    {"allocated before",
     0,
     1,
     {MAKE(0), FORK(0, 1), WRITE(1, HEAPS), END(1), JOIN(0, 1), READ(0, HEAPS)}},
    {"forked and joined in a critical section",
     1,
     1,
     {LOCK(0), WRITE(0, 0), FORK(0, 1), WRITE(1, 0), END(1), JOIN(0, 1), READ(0, 0), UNLOCK(0)}},
    {"joined in a critical section",
     0,
     1,
     {WRITE(0, 0), FORK(0, 1), WRITE(1, 0), END(1), LOCK(0), JOIN(0, 1), READ(0, 0), UNLOCK(0)}},
    {"forked in one, joined in the next",
     0,
     1,
     {LOCK(0), WRITE(0, 0), FORK(0, 1), UNLOCK(0), WRITE(1, 0), END(1), LOCK(0), JOIN(0, 1),
      READ(0, 0), UNLOCK(0)}},
};

static uint64_t slot_address(uint32_t at)
{
    return at < SLOTS ? BASE + at * SLOT : HEAP + (at - SLOTS) * SLOT;
}

static void add_deed(const deed *d, int64_t *value)
{
    static const char accesses[] = "rswalu";
    static const uint8_t forms[] = {FT_RAW_FORM_READ,         FT_RAW_FORM_READ,  FT_RAW_FORM_WRITE,
                                    FT_RAW_FORM_ATOMIC_WRITE, FT_RAW_FORM_WRITE, FT_RAW_FORM_WRITE};
    const char *access = strchr(accesses, d->what);
    uint32_t t = d->thread;
    if (access) {
        bool half = d->what == 'l' || d->what == 'u';
        ft_raw_event e = {.address = slot_address(d->of) + (d->what == 'u' ? SLOT / 2 : 0),
                          .site = 2,
                          .code = 8u * forms[access - accesses] + (half ? 2 : 3)};
        *value += d->what == 's';
        e.value = e.written = *value;
        ft_vec_push(&steps, (step){.record.thread = t, .is_event = true, .event = e});
    }
    if (d->what == 'f') add_operation(t, FT_RAW_FORK, 1, d->of, 0);
    if (d->what == 'f') add_operation(d->of, FT_RAW_BEGIN, 0x100000 * (d->of + 1), 0x1000, 0);
    if (d->what == 'e') add_operation(t, FT_RAW_END, 0, 0, 0);
    if (d->what == 'j') add_operation(t, FT_RAW_JOIN, 1, d->of, 0);
    if (d->what == '(') add_operation(t, FT_RAW_SYNC, FT_EVENT_ACQUIRE, 0, 0);
    if (d->what == ')') add_operation(t, FT_RAW_SYNC, FT_EVENT_RELEASE, 0, 0);
    if (d->what == 'm') add_operation(t, FT_RAW_ALLOC, 1, HEAP, SLOTS * SLOT);
    if (d->what == 'd') add_operation(t, FT_RAW_FREE, 1, HEAP, 0);
}

static uint32_t cells_of(bool as_events, bool whole)
{
    ft_cells *cells = count_steps(as_events, whole);
    uint32_t n = ft_cells_count_of(cells);
    ft_cells_free(cells);
    return n;
}

static void check_cells(const char *name, uint32_t cells, uint32_t whole)
{
    for (int as_events = 0; as_events < 2; as_events++) {
        uint32_t has = cells_of(as_events, false), has_whole = cells_of(as_events, true);
        if (has != cells || has_whole != whole)
            fail_msg("%s: %u cells, not %u; whole %u, not %u", name, has, cells, has_whole, whole);
    }
}

static void test_order(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof PROGRAMS / sizeof *PROGRAMS; i++) {
        int64_t value = 0;
        steps.len = 0;
        for (const deed *d = PROGRAMS[i].deeds; d->what; d++) add_deed(d, &value);
        check_cells(PROGRAMS[i].name, PROGRAMS[i].cells, PROGRAMS[i].whole);
    }
    ft_vec_release(&steps);
}

/* Readers are known by the rest of their number: that must not make one of them another. */
static void test_many_readers(void **unused)
{
    enum { MANY = 40, ALIKE = 16 };
    (void)unused;
    for (uint32_t joined = 0; joined < 2; joined++)
        for (uint32_t early = 1; early < MANY; early++) {
            int64_t value = 0;
            steps.len = 0;
            for (uint32_t t = 1; t < MANY; t++) {
                if (t == early + 1) add_deed(&(deed)WRITE(0, 0), &value);
                add_deed(&(deed)FORK(0, t), &value);
            }
            for (uint32_t t = early + 1; t < MANY; t++) add_deed(&(deed)READ(t, 0), &value);
            for (uint32_t t = early + 1; t < MANY; t++) add_deed(&(deed)END(t), &value);
            for (uint32_t t = early + 1; t + !joined < MANY; t++)
                add_deed(&(deed)JOIN(0, t), &value);
            if (early + 1 < MANY) check_cells("readers", 0, 1);
            /* One that was forked before the write reads, like another by the rest. */
            add_deed(&(deed)READ(early, 0), &value);
            if (early + ALIKE < MANY) check_cells("a reader too many", 1, 1);
            steps.len--;
            for (uint32_t t = 1; t <= early; t++) add_deed(&(deed)END(t), &value);
            for (uint32_t t = 1; t <= early; t++) add_deed(&(deed)JOIN(0, t), &value);
            add_deed(&(deed)WRITE(0, 0), &value);
            if (early + 1 < MANY) check_cells("written behind", !joined, 1);
        }
    ft_vec_release(&steps);
}

/* ---- memory */

/* Tables of libraries lie between blocks and are not zero: two that read them are not ordered by a
 * write of code without hooks. Of other memory there nobody knows. */
static void test_between(void **unused)
{
    (void)unused;
    steps.len = 0;
    int64_t value = 7;
    add_operation(0, FT_RAW_ALLOC, 1, BASE - 0x1000, 64);
    add_operation(0, FT_RAW_ALLOC, 1, HEAP + 0x1000, 64);
    for (int i = 0; i < 3; i++) {
        size_t before = steps.len;
        if (i) add_operation(0, FT_RAW_CONSTANT, BASE, 64, 0);
        if (i == 2) add_operation(0, FT_RAW_ALLOC, 1, BASE - 16, 64); /* it is gone */
        add_deed(&(deed)FORK(0, 1), &value);
        for (uint32_t r = 0; r < 3; r++) add_deed(&(deed)READ((r + 1) % 2, 0), &value);
        check_cells("between blocks", i != 1, i != 1);
        steps.len = before;
    }
    ft_vec_release(&steps);
}

/* What a module's memory holds when it is told of is what it began with, unless it was in use. */
static void test_begin_of_modules(void **unused)
{
    (void)unused;
    for (int used = 0; used < 2; used++) {
        int64_t value = 0;
        steps.len = 0;
        if (used) add_deed(&(deed)WRITE(0, 1), &value);
        add_operation(0, FT_RAW_ZERO, BASE, 64, 0);
        add_deed(&(deed)FORK(0, 1), &value);
        for (uint32_t t = 0; t < 2; t++) add_deed(&(deed)WRITE(t, 0), &value);
        ft_cells *cells = count_steps(true, false);
        assert_int_equal(ft_cells_count_of(cells), 1);
        assert_int_equal(ft_cells_get(cells, 0)->has_initial, !used);
        ft_cells_free(cells);
    }
    ft_vec_release(&steps);
}

typedef struct block {
    uint64_t address, size;
    bool gone;     /* freed, or another one lies over it: its end was not seen */
    bool replaced; /* by one that begins there; larger ones are in a list, and stay */
} block;

static bool meet(const block *a, const block *b)
{
    return a->address < b->address + b->size && b->address < a->address + a->size;
}

enum { LISTED = 4096 };

static void begin_block(ft_cells *cells, block *blocks, uint32_t n, uint64_t *state)
{
    enum { SMALL = 400, LARGE = 6000 };
    block b = {.address = BASE + 16 * rnd(state, 1 << 10), .size = 1 + rnd(state, SMALL)};
    if (rnd(state, 8) == 0) b.size = 1 + rnd(state, LARGE);
    for (uint32_t i = 0; i < n; i++) {
        blocks[i].gone |= meet(&blocks[i], &b);
        blocks[i].replaced |= blocks[i].address == b.address && blocks[i].size <= LISTED;
    }
    blocks[n] = b;
    ft_raw_record r = {.operation = FT_RAW_ALLOC, .operands = {3, b.address, b.size}};
    ft_cells_count(cells, &r);
}

static void end_block(ft_cells *cells, block *b)
{
    if (b->gone) return;
    ft_raw_record r = {.operation = FT_RAW_FREE, .operands = {3, b->address}};
    ft_cells_count(cells, &r);
    b->gone = true;
}

static bool has_byte(const block *b, uint64_t address)
{
    return !b->replaced && address - b->address < b->size;
}

/* The last of those that have the byte where its granule begins, freed or not. */
static void look_at_blocks(const ft_cells *cells, const block *blocks, uint32_t n, uint64_t *state)
{
    uint64_t address = BASE + 8 * rnd(state, 1 << 12), start;
    uint32_t last = n;
    while (last && !has_byte(&blocks[last - 1], address)) last--;
    uint32_t found = ft_cells_block_at(cells, address, &start);
    assert_int_equal(found, last ? last - 1 : FT_NO_ALLOCATION);
    if (last) assert_true(start == blocks[last - 1].address);
}

static void test_blocks(void **unused)
{
    enum { BLOCKS = 300, LOOKS = 20 };
    (void)unused;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        uint64_t state = seed;
        block blocks[BLOCKS];
        ft_cells *cells = ft_cells_new();
        for (uint32_t n = 0; n < BLOCKS; n++) {
            begin_block(cells, blocks, n, &state);
            for (int i = 0; i < 2; i++) end_block(cells, &blocks[rnd(&state, n + 1)]);
            for (int i = 0; i < LOOKS; i++) look_at_blocks(cells, blocks, n + 1, &state);
        }
        ft_cells_free(cells);
    }
}

/* Each lies where the one before did: what is asked of a cell is asked of its own. */
static void test_blocks_at_one_address(void **unused)
{
    enum { BLOCKS = 3000, SIZE = 64 };
    int64_t value = 0;
    (void)unused;
    steps.len = 0;
    add_deed(&(deed)FORK(0, 1), &value);
    for (uint32_t n = 0; n < BLOCKS; n++) {
        add_operation(0, FT_RAW_ALLOC, 3, BASE, SIZE);
        for (uint32_t t = 0; t < 2; t++) add_deed(&(deed)WRITE(t, 0), &value);
        add_operation(0, FT_RAW_FREE, 3, BASE, 0);
    }
    ft_cells *cells = count_steps(true, false);
    assert_int_equal(ft_cells_count_of(cells), BLOCKS);
    for (uint32_t c = 0; c < BLOCKS; c++) {
        const ft_cell *cell = ft_cells_get(cells, c);
        assert_true(cell->address == BASE);
        assert_int_equal(cell->allocation, c + 1); /* behind the thread's stack */
    }
    ft_cells_free(cells);
    ft_vec_release(&steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_ways), cmocka_unit_test(test_wanted),
        cmocka_unit_test(test_order),     cmocka_unit_test(test_many_readers),
        cmocka_unit_test(test_between),   cmocka_unit_test(test_begin_of_modules),
        cmocka_unit_test(test_blocks),    cmocka_unit_test(test_blocks_at_one_address)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Cells, the quick way and the slow one: random accesses of some threads to memory that begins and
 * ends are counted as events and, by another count, one by one as ranges. Both must find the same
 * cells, and in the second pass, too, the same cell at each access. */
#include "trace_support.h"

#include "maker/cells.h"

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
static void add_access(uint64_t *state, uint32_t thread, unsigned char *memory)
{
    static const uint8_t forms[] = {FT_RAW_FORM_READ,         FT_RAW_FORM_READ,
                                    FT_RAW_FORM_READ,         FT_RAW_FORM_WRITE,
                                    FT_RAW_FORM_ATOMIC_WRITE, FT_RAW_FORM_UPDATE};
    unsigned code = rnd(state, 4), size = 1u << code, form = forms[rnd(state, sizeof forms)];
    uint32_t at = rnd(state, 4) ? rnd(state, BYTES / size) * size : rnd(state, BYTES - size);
    uint64_t bits = 0, fresh = rnd(state, UINT32_MAX);
    if (rnd(state, 40) == 0) memory[at] ^= 1;
    memcpy(&bits, memory + at, size);
    ft_raw_event e = {.address = BASE + at, .site = 2, .code = 8 * form + code};
    e.value = e.written = extended(bits, size);
    if (form != FT_RAW_FORM_READ) e.written = extended(fresh, size);
    if (form == FT_RAW_FORM_WRITE || form == FT_RAW_FORM_ATOMIC_WRITE) e.value = e.written;
    memcpy(memory + at, &e.written, size);
    ft_vec_push(&steps, (step){.record.thread = thread, .is_event = true, .event = e});
}

static void make_steps(uint64_t seed)
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
        add_access(&state, thread, memory);
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

static ft_cells *count_steps(bool as_events)
{
    ft_cells *cells = ft_cells_new();
    for (size_t i = 0; i < steps.len; i++) {
        const step *s = &steps.data[i];
        unsigned char content[8];
        ft_raw_record r = s->is_event ? as_range(s, content) : s->record;
        if (s->is_event && as_events)
            ft_cells_count_events(cells, s->record.thread, &s->event, 1);
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
        make_steps(seed);
        ft_cells *quick = count_steps(true), *slow = count_steps(false);
        compare_cells(quick, slow);
        follow_steps(quick, slow);
        ft_cells_free(quick);
        ft_cells_free(slow);
    }
    ft_vec_release(&steps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_both_ways)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

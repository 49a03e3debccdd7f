/* Events, packed and unpacked again: the same ones, whatever they are; and no bytes that are not
 * packed events do harm. */
#include "trace_support.h"

#include "maker/log/pack.h"

enum { SITES = 300, WIDE = FT_RAW_SITES - 1, BATCHES = 400 };

static uint8_t codes[FT_RAW_SITES];

static uint64_t any(uint64_t *state)
{
    return (uint64_t)rnd(state, UINT32_MAX) << 32 | rnd(state, UINT32_MAX);
}

/* Near to `before` or not at all. */
static uint64_t number(uint64_t *state, uint64_t before)
{
    static const uint64_t steps[] = {0, 0, 1, UINT64_MAX, 127, 128, UINT32_MAX, UINT64_C(1) << 40};
    if (rnd(state, 8) == 0) return any(state) >> rnd(state, 64);
    return before + steps[rnd(state, 8)];
}

static void make_codes(uint64_t *state)
{
    static const uint8_t choice[] = {0, 1, 2, 3, 8, 9, 10, 11, 19, 27, 35, 34, FT_RAW_ENTER};
    memset(codes, FT_RAW_PLACE, sizeof codes);
    for (uint32_t s = 1; s < SITES; s++) codes[s] = choice[rnd(state, sizeof choice)];
    codes[FT_RAW_LEAVE_SITE] = FT_RAW_LEAVE;
    codes[WIDE] = 3;
}

static void make_events(uint64_t *state, ft_raw_event *events, uint32_t n)
{
    static ft_raw_event last;
    for (uint32_t i = 0; i < n; i++) {
        ft_raw_event *e = &events[i];
        uint32_t site = rnd(state, 3) ? last.site + 1 : rnd(state, SITES);
        if (rnd(state, 50) == 0) site = WIDE;
        if (site != WIDE && (site == 0 || site >= SITES)) site = 1;
        *e = (ft_raw_event){.site = site, .code = codes[site]};
        if (e->code < FT_RAW_ENTER) {
            e->address = number(state, last.address);
            e->value = (int64_t)number(state, (uint64_t)last.value);
            e->written = ft_raw_updates(e->code / 8) ? (int64_t)any(state) : e->value;
        }
        last = *e;
    }
}

/* As the log takes them out of the ring; the caller frees the words. */
static ft_raw_taken take(const ft_raw_event *events, uint32_t n)
{
    unsigned char *words = ft_calloc(n, FT_RAW_PLAIN);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t first = ft_raw_is_plain(&events[i]) ? ft_raw_first_word(&events[i]) : 0;
        ft_raw_put_plain(words + i * FT_RAW_PLAIN, first, (uint64_t)events[i].value);
    }
    return (ft_raw_taken){words, events};
}

static size_t pack(ft_raw_packer *packer, const ft_raw_event *events, uint32_t n, unsigned char *to)
{
    ft_raw_taken taken = take(events, n);
    size_t bytes = ft_raw_pack(packer, &taken, n, to);
    free((void *)taken.words);
    return bytes;
}

static void expect(const ft_raw_event *made, const ft_raw_event *found, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(made[i].site, found[i].site);
        assert_int_equal(made[i].code, found[i].code);
        assert_true(made[i].address == found[i].address);
        assert_true(made[i].value == found[i].value);
        assert_true(made[i].written == found[i].written);
    }
}

static void test_again(void **unused)
{
    (void)unused;
    uint64_t state = 7;
    ft_raw_event events[FT_RAW_BATCH], found[FT_RAW_BATCH];
    ft_raw_packer packer, unpacker;
    ft_raw_packer_open(&packer);
    ft_raw_packer_open(&unpacker);
    make_codes(&state);
    for (int i = 0; i < BATCHES; i++) {
        uint32_t n = 1 + rnd(&state, FT_RAW_BATCH);
        make_events(&state, events, n);
        unsigned char *packed = ft_alloc(FT_RAW_PACKED_MOST + FT_RAW_PACKED_BEHIND);
        size_t bytes = pack(&packer, events, n, packed);
        assert_true(bytes <= FT_RAW_PACKED_MOST);
        /* What is read of it, and no more: an error of the memory's where that is not so. */
        unsigned char *copy = ft_alloc(bytes + FT_RAW_PACKED_BEHIND);
        memcpy(copy, packed, bytes);
        memset(copy + bytes, 0xFF, FT_RAW_PACKED_BEHIND);
        assert_true(ft_raw_unpack(&unpacker, copy, bytes, codes, FT_RAW_SITES, found, n));
        expect(events, found, n);
        free(copy);
        free(packed);
    }
    ft_raw_packer_close(&packer);
    ft_raw_packer_close(&unpacker);
}

static void test_damage(void **unused)
{
    (void)unused;
    uint64_t state = 11;
    ft_raw_event events[FT_RAW_BATCH], found[FT_RAW_BATCH];
    unsigned char *packed = ft_alloc(FT_RAW_PACKED_MOST + FT_RAW_PACKED_BEHIND);
    make_codes(&state);
    uint32_t refused = 0;
    for (int i = 0; i < BATCHES; i++) {
        ft_raw_packer packer, unpacker;
        ft_raw_packer_open(&packer);
        ft_raw_packer_open(&unpacker);
        uint32_t n = 1 + rnd(&state, FT_RAW_BATCH);
        make_events(&state, events, n);
        size_t bytes = pack(&packer, events, n, packed), part = rnd(&state, (uint32_t)bytes);
        unsigned char *copy = ft_alloc(bytes + FT_RAW_PACKED_BEHIND);
        memset(copy, 0xFF, bytes + FT_RAW_PACKED_BEHIND);
        memcpy(copy, packed, part);
        assert_false(ft_raw_unpack(&unpacker, copy, part, codes, SITES, found, n));
        copy[rnd(&state, (uint32_t)bytes)] ^= (unsigned char)(1 + rnd(&state, 255));
        refused += !ft_raw_unpack(&unpacker, copy, bytes, codes, SITES, found, n);
        free(copy);
        ft_raw_packer_close(&packer);
        ft_raw_packer_close(&unpacker);
    }
    assert_true(refused > BATCHES / 2);
    free(packed);
}

/* ---- whole batches */

static ft_raw_sum sum_of(const ft_raw_event *events, uint32_t n)
{
    ft_raw_sum sum = {0};
    for (uint32_t i = 0; i < n; i++) {
        sum.calls += events[i].code >= FT_RAW_ENTER;
        if (events[i].code == FT_RAW_ENTER)
            sum.entered[sum.n_entered++] = events[i].site;
        else if (events[i].code == FT_RAW_LEAVE && sum.n_entered)
            sum.n_entered--;
        else if (events[i].code == FT_RAW_LEAVE)
            sum.left++;
    }
    return sum;
}

/* What may be plain, where that is asked for, comes first; returns how many. */
static uint32_t choose(ft_raw_event *events, uint32_t n, bool plain)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!plain || ft_raw_is_plain(&events[i])) events[kept++] = events[i];
    return kept;
}

/* A batch in memory of its own, with what must be readable behind it. */
static unsigned char *make_batch(uint64_t *state, bool plain, ft_raw_event *events, uint32_t *n,
                                 size_t *bytes)
{
    ft_raw_packer packer;
    *n = 1 + rnd(state, FT_RAW_BATCH);
    make_events(state, events, *n);
    *n = choose(events, *n, plain);
    ft_raw_sum sum = sum_of(events, *n);
    ft_raw_taken taken = take(events, *n);
    unsigned char *put = ft_alloc(FT_RAW_BATCH_MOST), *copy;
    if (plain) memcpy(ft_raw_batch_plain(put), taken.words, *n * FT_RAW_PLAIN);
    ft_raw_packer_open(&packer);
    *bytes = ft_raw_batch_put(plain ? NULL : &packer, &sum, &taken, *n, put);
    ft_raw_packer_close(&packer);
    free((void *)taken.words);
    copy = ft_alloc(*bytes + FT_RAW_PACKED_BEHIND);
    memcpy(copy, put, *bytes);
    memset(copy + *bytes, 0xFF, FT_RAW_PACKED_BEHIND);
    free(put);
    return copy;
}

static void test_batches(void **unused)
{
    (void)unused;
    uint64_t state = 13;
    ft_raw_event events[FT_RAW_BATCH], found[FT_RAW_BATCH];
    ft_raw_packer packer;
    ft_raw_packer_open(&packer);
    make_codes(&state);
    for (int i = 0; i < BATCHES; i++) {
        uint32_t n;
        size_t bytes;
        ft_raw_batch batch;
        ft_raw_sum sum = {0};
        unsigned char *at = make_batch(&state, i % 2, events, &n, &bytes);
        ft_raw_sum right = sum_of(events, n);
        assert_int_equal(*at, FT_RAW_PACKED);
        assert_int_equal(bytes % FT_RAW_WORD, 0);
        assert_true(ft_raw_batch_look(at, bytes, &batch));
        assert_true(batch.n == n && batch.whole == bytes && batch.next == at);
        ft_raw_batch_lead(at, at + bytes);
        assert_false(ft_raw_batch_look(at, bytes - FT_RAW_WORD, &batch) && batch.whole == bytes);
        assert_true(ft_raw_batch_look(at, bytes, &batch));
        assert_true(batch.next == at + bytes);
        assert_true(ft_raw_batch_get(&packer, &batch, codes, FT_RAW_SITES, found));
        expect(events, found, n);
        assert_true(ft_raw_batch_sum(&batch, FT_RAW_SITES, &sum));
        assert_true(sum.calls == right.calls && sum.left == right.left &&
                    sum.n_entered == right.n_entered);
        assert_memory_equal(sum.entered, right.entered, sum.n_entered * sizeof *sum.entered);
        free(at);
    }
    ft_raw_packer_close(&packer);
}

/* Whatever stands there: no more is read than there is, and no more given than fits. */
static void test_damaged_batches(void **unused)
{
    (void)unused;
    uint64_t state = 17;
    uint32_t refused = 0;
    ft_raw_event events[FT_RAW_BATCH], found[FT_RAW_BATCH];
    ft_raw_packer packer;
    ft_raw_packer_open(&packer);
    make_codes(&state);
    for (int i = 0; i < 10 * BATCHES; i++) {
        uint32_t n;
        size_t bytes;
        ft_raw_batch batch;
        ft_raw_sum sum;
        unsigned char *at = make_batch(&state, i % 2, events, &n, &bytes);
        at[rnd(&state, i % 3 ? 16 : (uint32_t)bytes)] ^= (unsigned char)(1 + rnd(&state, 255));
        bool right = ft_raw_batch_look(at, bytes, &batch) &&
                     ft_raw_batch_get(&packer, &batch, codes, SITES, found) &&
                     ft_raw_batch_sum(&batch, SITES, &sum);
        refused += !right;
        for (uint32_t k = 0; right && k < sum.n_entered; k++) assert_true(sum.entered[k] < SITES);
        free(at);
    }
    assert_true(refused > BATCHES);
    ft_raw_packer_close(&packer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_again), cmocka_unit_test(test_damage),
                                       cmocka_unit_test(test_batches),
                                       cmocka_unit_test(test_damaged_batches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

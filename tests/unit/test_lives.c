/* Lives (maker/cells/reuse.h): addresses of memory that is given out again are other values. */
#include "trace_support.h"

#include "maker/cells/reuse.h"

#define BLOCK UINT64_C(0x555555600000)

static ft_lives lives;

static int64_t told(uint64_t address)
{
    return ft_lives_told((int64_t)address, ft_lives_of(&lives, (int64_t)address));
}

static int teardown(void **state)
{
    (void)state;
    ft_lives_release(&lives);
    lives = (ft_lives){0};
    return 0;
}

static void test_none(void **state)
{
    (void)state;
    ft_lives_settle(&lives);
    ft_lives_begin(&lives, BLOCK, 64);
    assert_int_equal(told(BLOCK), BLOCK);
    assert_int_equal(told(UINT64_MAX), UINT64_MAX);
}

/* The first life is the number itself; each later one is another, all over the block, and nothing
 * around it. */
static void test_again(void **state)
{
    (void)state;
    ft_lives_add(&lives, BLOCK, 64);
    ft_lives_add(&lives, BLOCK, 64);
    ft_lives_settle(&lives);
    ft_lives_begin(&lives, BLOCK, 64);
    assert_false(ft_lives_reach(&lives, BLOCK));
    assert_int_equal(told(BLOCK), BLOCK);
    for (uint64_t life = 1; life < 4; life++) {
        ft_lives_begin(&lives, BLOCK, 64);
        for (uint64_t at = BLOCK; at <= BLOCK + 64; at++)
            assert_int_equal(told(at), at + (life << 48));
        assert_int_equal(told(BLOCK - 1), BLOCK - 1);
        assert_int_equal(told(BLOCK + 65), BLOCK + 65);
    }
}

/* Blocks of other sizes and beginnings where one was, and memory that is none of the trace's. */
static void test_across(void **state)
{
    (void)state;
    ft_lives_add(&lives, BLOCK, 64);
    ft_lives_add(&lives, BLOCK + 32, 128);
    ft_lives_settle(&lives);
    ft_lives_begin(&lives, BLOCK - 4096, 256);
    ft_lives_begin(&lives, BLOCK - 4096, 256);
    ft_lives_begin(&lives, BLOCK, 64);
    ft_lives_begin(&lives, BLOCK + 32, 128);
    assert_int_equal(told(BLOCK - 4096), BLOCK - 4096);
    assert_int_equal(told(BLOCK + 8), BLOCK + 8);
    assert_int_equal(told(BLOCK + 32), BLOCK + 32 + (UINT64_C(1) << 48));
    assert_int_equal(told(BLOCK + 100), BLOCK + 100);
    ft_lives_begin(&lives, BLOCK + 16, 0);
    assert_int_equal(told(BLOCK + 8), BLOCK + 8 + (UINT64_C(1) << 48));
}

/* Against a count of the allocations around each address. */
static void test_random(void **state)
{
    (void)state;
    uint64_t seed = 7, blocks[8][2];
    uint32_t counts[256] = {0};
    for (int i = 0; i < 8; i++) {
        blocks[i][0] = BLOCK + rnd(&seed, 12) * 16;
        blocks[i][1] = rnd(&seed, 63);
        ft_lives_add(&lives, blocks[i][0], blocks[i][1]);
    }
    ft_lives_settle(&lives);
    for (int round = 0; round < 50; round++) {
        const uint64_t *b = blocks[rnd(&seed, 8)];
        ft_lives_begin(&lives, b[0], b[1]);
        for (uint64_t at = b[0]; at <= b[0] + b[1]; at++) counts[at - BLOCK]++;
        for (uint64_t i = 0; i < 256; i++)
            assert_int_equal(told(BLOCK + i),
                             BLOCK + i + ((uint64_t)(counts[i] ? counts[i] - 1 : 0) << 48));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_none, teardown),
        cmocka_unit_test_teardown(test_again, teardown),
        cmocka_unit_test_teardown(test_across, teardown),
        cmocka_unit_test_teardown(test_random, teardown),
    };
    return cmocka_run_group_tests_name("lives", tests, NULL, NULL);
}

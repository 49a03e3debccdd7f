/* Which delays a run needs: small runs made by hand, by the meaning of the definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "explore/delays.h"

enum { ROOM = 8, STEPS = 16 };

/* Threads 0 and 1 are there from the start; objects 0 to 3. */
typedef struct example {
    ft_x_run run;
    ft_x_delay delays[STEPS];
    uint32_t needed[ROOM];
} example;

static void step(example *x, uint16_t thread, ft_x_kind kind, uint32_t object, uint32_t ms)
{
    x->delays[x->run.steps.len].ms = ms;
    ft_x_action a = {.operation = {.kind = (uint16_t)kind, .object = object}, .thread = thread};
    if (kind == FT_X_WAIT || kind == FT_X_WAKE) a.operation.other = object + 1;
    ft_vec_push(&x->run.steps, a);
}

static size_t count(example *x)
{
    ft_x_walk walk = {0};
    static const ft_x_operation first[2];
    const ft_x_world world = {.n_threads = 2, .first = first};
    size_t n = ft_x_delays_needed(&world, &walk, &x->run, x->delays, x->needed, ROOM);
    assert_int_equal(walk.at, x->run.steps.len); /* the run is one */
    ft_x_walk_release(&walk);
    return n;
}

static size_t needed(example *x)
{
    size_t n = count(x);
    ft_x_run_release(&x->run);
    return n;
}

/* A sleep that lets the other thread come first needs nothing; one that does not is needed. */
static void test_sleep(void **state)
{
    (void)state;
    example late = {0}, early = {0};
    step(&late, 1, FT_X_STORE, 0, 0);
    step(&late, 0, FT_X_LOAD, 0, 1000);
    assert_int_equal(needed(&late), 0);
    step(&early, 0, FT_X_LOAD, 0, 1000);
    step(&early, 1, FT_X_STORE, 0, 0);
    assert_int_equal(needed(&early), 1);
    assert_int_equal(early.needed[0], 0);
}

/* Both sleep: the order of two equal sleeps is open, a longer one comes later. */
static void test_two_sleeps(void **state)
{
    (void)state;
    example equal = {0}, longer = {0};
    step(&equal, 0, FT_X_LOAD, 0, 1000);
    step(&equal, 1, FT_X_STORE, 0, 1000);
    assert_int_equal(needed(&equal), 0);
    step(&longer, 0, FT_X_LOAD, 0, 1001);
    step(&longer, 1, FT_X_STORE, 0, 1000);
    assert_int_equal(needed(&longer), 1);
}

/* Independent actions order nothing, and a thread that waits for another one is late with it. */
static void test_waits(void **state)
{
    (void)state;
    example apart = {0}, held = {0}, first = {0};
    step(&apart, 0, FT_X_LOAD, 0, 1000);
    step(&apart, 1, FT_X_STORE, 1, 0);
    assert_int_equal(needed(&apart), 0);
    step(&held, 0, FT_X_LOCK, 0, 0);
    step(&held, 0, FT_X_UNLOCK, 0, 1000);
    step(&held, 1, FT_X_LOCK, 0, 0);
    step(&held, 1, FT_X_UNLOCK, 0, 0);
    assert_int_equal(needed(&held), 0);
    step(&first, 0, FT_X_LOCK, 0, 1000);
    step(&first, 0, FT_X_UNLOCK, 0, 0);
    step(&first, 1, FT_X_LOCK, 0, 0);
    assert_int_equal(needed(&first), 1);
    assert_int_equal(first.needed[0], 0);
}

/* A late post makes the taker late; a store of that thread comes behind the other's. */
static void test_transitive(void **state)
{
    (void)state;
    example x = {0};
    step(&x, 0, FT_X_POST, 0, 2000);
    step(&x, 1, FT_X_TAKE, 0, 0);
    step(&x, 1, FT_X_STORE, 1, 0);
    step(&x, 0, FT_X_LOAD, 1, 0);
    assert_int_equal(needed(&x), 0);
    example y = {0};
    step(&y, 0, FT_X_POST, 0, 2000);
    step(&y, 1, FT_X_TAKE, 0, 0);
    step(&y, 1, FT_X_STORE, 1, 0);
    step(&y, 0, FT_X_LOAD, 1, 0);
    y.delays[2].ms = 500; /* then the load, at 2,000, comes behind the store at 2,500 */
    assert_int_equal(count(&y), 1);
    assert_int_equal(y.needed[0], 0); /* the longest one that made it late */
    ft_x_run_release(&y.run);
}

/* The process ends before the other thread's action, which it could have done. */
static void test_end(void **state)
{
    (void)state;
    example x = {0}, y = {0};
    step(&x, 1, FT_X_STORE, 1, 0);
    step(&x, 0, FT_X_EXIT, 0, 1000);
    assert_int_equal(needed(&x), 0);
    step(&y, 1, FT_X_STORE, 1, 0);
    step(&y, 0, FT_X_EXIT, 0, 1000);
    y.run.pending[1] = (ft_x_operation){.kind = FT_X_STORE, .object = 1};
    assert_int_equal(needed(&y), 1);
}

/* A lost notification: the signal comes before the wait. */
static void test_lost(void **state)
{
    (void)state;
    example x = {0};
    step(&x, 0, FT_X_SIGNAL, 0, 1000);
    step(&x, 1, FT_X_LOCK, 1, 0);
    step(&x, 1, FT_X_WAIT, 0, 0);
    assert_int_equal(needed(&x), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sleep), cmocka_unit_test(test_two_sleeps),
        cmocka_unit_test(test_waits), cmocka_unit_test(test_transitive),
        cmocka_unit_test(test_end),   cmocka_unit_test(test_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

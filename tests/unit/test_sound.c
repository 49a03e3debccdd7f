/* What a recording may say of memory: a damaged one is told so at once, before anything goes
 * through ranges that no process can have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "maker/inventory/inventory.h"
#include "trace/event.h"

#define MEMORY (UINT64_C(1) << 47)

static bool is_sound(const ft_raw_record *record)
{
    static uint32_t parents[2];
    ft_inventory inventory = {.parents = {.data = parents, .len = 2}};
    return ft_inventory_accepts(&inventory, record);
}

static void test_accesses(void **state)
{
    static const struct {
        uint64_t address, size;
        bool sound;
    } ROWS[] = {
        {0x7ffd00000000, 8, true},          {0x7ffd00000000, UINT64_C(1) << 33, true},
        {0x1000, UINT64_C(1) << 37, false}, {0x1000, MEMORY - 1, false},
        {0x1000, UINT64_MAX, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        ft_raw_record record = {.access = true, .address = ROWS[i].address, .size = ROWS[i].size};
        if (is_sound(&record) != ROWS[i].sound) fail_msg("access %zu", i);
    }
    ft_raw_record stranger = {.access = true, .thread = 2, .address = 0x1000, .size = 8};
    assert_false(is_sound(&stranger));
}

static void test_blocks(void **state)
{
    static const struct {
        ft_raw_operation operation;
        uint32_t thread;
        uint64_t operands[3];
        bool sound;
    } ROWS[] = {
        {FT_RAW_ALLOC, 0, {1, 0x5555000, 64}, true},
        {FT_RAW_ALLOC, 0, {1, 0x5555000, UINT64_C(1) << 41}, true},
        {FT_RAW_ALLOC, 0, {1, 0x5555000, MEMORY}, false},
        {FT_RAW_ALLOC, 0, {1, MEMORY - 64, 65}, false},
        {FT_RAW_ALLOC, 0, {1, UINT64_MAX, 2}, false},
        {FT_RAW_ZERO, 0, {0x5555000, 4096}, true},
        {FT_RAW_ZERO, 0, {0x5555000, UINT64_MAX}, false},
        {FT_RAW_CONSTANT, 0, {0x5555000, 4096}, true},
        {FT_RAW_CONSTANT, 0, {0x5555000, UINT64_MAX}, false},
        {FT_RAW_BENIGN, 0, {0x5555000, UINT64_MAX}, false},
        {FT_RAW_WHOLE, 0, {0x5555000, UINT64_MAX}, false},
        {FT_RAW_BEGIN, 1, {0x7f0000000000, 8 << 20}, true},
        {FT_RAW_BEGIN, 1, {0x7f0000000000, UINT64_MAX}, false},
        {FT_RAW_BEGIN, 0, {0, UINT64_MAX}, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        ft_raw_record record = {.operation = ROWS[i].operation, .thread = ROWS[i].thread};
        for (size_t k = 0; k < 3; k++) record.operands[k] = ROWS[i].operands[k];
        if (is_sound(&record) != ROWS[i].sound) fail_msg("block %zu", i);
    }
}

/* What a lock is says what may be done with it. */
static void test_locks(void **state)
{
    static const struct {
        uint64_t kind, flags, object;
        bool waits, sound;
    } ROWS[] = {
        {FT_EVENT_ACQUIRE, FT_FLAG_TRY, 0, false, true},
        {FT_EVENT_ACQUIRE, 0, 0, true, true},
        {FT_EVENT_RELEASE, FT_FLAG_CONDITION, 0, false, true},
        {FT_EVENT_RELEASE, FT_FLAG_TRY, 0, false, false},
        {FT_EVENT_RELEASE, 0, 0, true, false},
        {FT_EVENT_ACQUIRE_SHARED, 0, 0, false, false},
        {FT_EVENT_ACQUIRE_SHARED, 0, 0, true, false},
        {FT_EVENT_TRY_FAILED_SHARED, 0, 0, false, false},
        {FT_EVENT_ACQUIRE_SHARED, FT_FLAG_TRY, 1, false, true},
        {FT_EVENT_ACQUIRE_SHARED, 0, 1, true, true},
        {FT_EVENT_ACQUIRE_SHARED, FT_FLAG_FAILED, 1, false, false},
        {FT_EVENT_TRY_FAILED_SHARED, 0, 1, false, true},
        {FT_EVENT_COND_WAKE, FT_FLAG_FAILED, 2, false, true},
        {FT_EVENT_COND_WAKE, FT_FLAG_TRY, 2, false, true},
        {FT_EVENT_COND_WAIT, FT_FLAG_TRY, 2, false, false},
        {FT_EVENT_COND_WAKE, FT_FLAG_FAILED, 2, true, false},
        {FT_EVENT_COND_WAKE, 0, 1, false, false},
        {FT_EVENT_ACQUIRE, 0, 3, false, false},
    };
    (void)state;
    ft_inventory_object objects[] = {{.class = FT_RAW_CLASS_MUTEX},
                                     {.class = FT_RAW_CLASS_RWLOCK},
                                     {.class = FT_RAW_CLASS_CONDITION}};
    uint32_t parents[1] = {0};
    ft_inventory inventory = {.parents = {.data = parents, .len = 1},
                              .objects = {.data = objects, .len = 3}};
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        ft_raw_record record = {.operation = ROWS[i].waits ? FT_RAW_BLOCKED : FT_RAW_SYNC,
                                .operands = {ROWS[i].kind, ROWS[i].flags, ROWS[i].object}};
        if (ft_inventory_accepts(&inventory, &record) != ROWS[i].sound) fail_msg("lock %zu", i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_accesses),
                                       cmocka_unit_test(test_blocks), cmocka_unit_test(test_locks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What can be made to fail under the store, one at a time, counted. */
#ifndef FT_TESTS_STORE_FAULT_H
#define FT_TESTS_STORE_FAULT_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "service/fault_vfs.h"

typedef struct fault {
    const char *name;
    void (*arm)(uint64_t nth, bool stays); /* 0: disarms */
    uint64_t (*count)(void);               /* of what could fail, since it was armed */
    uint64_t (*struck)(void);
} fault;

static const fault FILES = {"operations on files", ft_fault_vfs_fail, ft_fault_vfs_count,
                            ft_fault_vfs_struck};

/* FT_STRIDE: every how many-th place is tried. */
static uint64_t stride(uint64_t standard)
{
    const char *text = getenv("FT_STRIDE");
    uint64_t value = text ? strtoull(text, NULL, 10) : standard;
    return value ? value : 1;
}

/* ---- SQLite's memory ---------------------------------------------------------------------------
 */

static struct {
    sqlite3_mem_methods real;
    pthread_mutex_t mutex;
    uint64_t count, struck, fail_at;
    bool stays;
} memory = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static bool memory_strikes(void)
{
    pthread_mutex_lock(&memory.mutex);
    uint64_t n = ++memory.count;
    bool now = memory.fail_at && (n == memory.fail_at || (memory.stays && n > memory.fail_at));
    if (now) memory.struck++;
    pthread_mutex_unlock(&memory.mutex);
    return now;
}

static void *faulty_malloc(int size)
{
    return memory_strikes() ? NULL : memory.real.xMalloc(size);
}

static void *faulty_realloc(void *block, int size)
{
    return memory_strikes() ? NULL : memory.real.xRealloc(block, size);
}

static void memory_fail(uint64_t nth, bool stays)
{
    pthread_mutex_lock(&memory.mutex);
    memory.count = memory.struck = 0;
    memory.fail_at = nth;
    memory.stays = stays;
    pthread_mutex_unlock(&memory.mutex);
}

static uint64_t memory_count(void)
{
    return memory.count;
}

static uint64_t memory_struck(void)
{
    return memory.struck;
}

static const fault MEMORY = {"SQLite's allocations", memory_fail, memory_count, memory_struck};

/* Before SQLite's first use; without its small-block pools, so that every allocation counts. */
static void install_memory(void)
{
    sqlite3_mem_methods faulty;
    sqlite3_shutdown();
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory.real);
    faulty = memory.real;
    faulty.xMalloc = faulty_malloc;
    faulty.xRealloc = faulty_realloc;
    if (sqlite3_config(SQLITE_CONFIG_MALLOC, &faulty) != SQLITE_OK) abort();
    sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
}

#endif

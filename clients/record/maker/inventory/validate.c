/* Validation: a log may be damaged, so each record has to fit to those before it. */
#include "base/contract.h"
#include "maker/inventory/inventory.h"
#include "raw/inputs.h"
#include "trace/event.h"

enum { MOST_THREADS = UINT16_MAX };
#define END_OF_MEMORY (UINT64_C(1) << 47)
/* Ranges cost time and memory by their size. No access is larger than what a process can touch in
 * one go. A fuzzer gets smaller limits, so that it runs more than a few inputs. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define MOST_TOUCHED (UINT64_C(1) << 16)
#define MOST_HELD    (UINT64_C(1) << 24)
#else
#define MOST_TOUCHED (UINT64_C(1) << 36)
#define MOST_HELD    END_OF_MEMORY
#endif

static bool is_object(const ft_inventory *inventory, uint64_t index, uint64_t kind)
{
    static const ft_object_class classes[FT_RAW_CLASSES] = {
        [FT_RAW_CLASS_MUTEX] = FT_OBJECT_LOCK,
        [FT_RAW_CLASS_RWLOCK] = FT_OBJECT_LOCK,
        [FT_RAW_CLASS_CONDITION] = FT_OBJECT_CONDITION,
        [FT_RAW_CLASS_SEMAPHORE] = FT_OBJECT_SEMAPHORE,
        [FT_RAW_CLASS_BARRIER] = FT_OBJECT_BARRIER,
        [FT_RAW_CLASS_ONCE] = FT_OBJECT_ONCE,
    };
    if (kind >= FT_EVENT_KINDS || index >= inventory->objects.len) return false;
    ft_raw_class class = inventory->objects.data[index].class;
    bool shared = kind == FT_EVENT_ACQUIRE_SHARED || kind == FT_EVENT_TRY_FAILED_SHARED;
    if (shared && class != FT_RAW_CLASS_RWLOCK) return false;
    return classes[class] == ft_event_kind_object((ft_event_kind)kind);
}

static bool is_flagged(uint64_t flags, uint64_t kind)
{
    unsigned allowed = FT_FLAG_CONDITION;
    if (kind == FT_EVENT_COND_WAKE) allowed |= FT_FLAG_FAILED;
    bool tries = kind == FT_EVENT_ACQUIRE || kind == FT_EVENT_ACQUIRE_SHARED ||
                 kind == FT_EVENT_WAIT || kind == FT_EVENT_COND_WAKE;
    if (tries) allowed |= FT_FLAG_TRY;
    return (flags & ~(uint64_t)allowed) == 0;
}

static bool is_valid_sync(const ft_inventory *inventory, const uint64_t *o)
{
    return is_object(inventory, o[2], o[0]) && is_flagged(o[1], o[0]);
}

static bool is_valid_block(const ft_inventory *inventory, const uint64_t *o)
{
    if (o[0] >= FT_EVENT_KINDS || !ft_event_kind_waits((ft_event_kind)o[0])) return false;
    if (!is_flagged(o[1], o[0]) || o[1] & FT_FLAG_FAILED) return false;
    return o[0] == FT_EVENT_JOIN ? o[2] < inventory->parents.len : is_object(inventory, o[2], o[0]);
}

static bool is_valid_object(const uint64_t *o)
{
    bool counts = o[0] == FT_RAW_CLASS_BARRIER || o[0] == FT_RAW_CLASS_SEMAPHORE;
    return o[0] < FT_RAW_CLASSES && (!counts || o[2] <= INT32_MAX) &&
           (o[0] != FT_RAW_CLASS_BARRIER || o[2]);
}

static bool is_valid_input(const uint64_t *o)
{
    uint64_t call = o[0] & UINT8_MAX;
    return call < FT_INPUT_CALLS && call != FT_INPUT_CHANNEL && o[0] >> 8 <= INT32_MAX &&
           o[3] <= UINT32_MAX;
}

static bool is_valid_range(uint64_t address, uint64_t size)
{
    return size <= MOST_HELD && address <= END_OF_MEMORY - size;
}

/* The first thread's stack may reach down to the next mapping; only those of other threads are
 * walked through. */
static bool is_valid_begin(const ft_raw_record *r)
{
    return r->thread == 0 || is_valid_range(r->operands[0], r->operands[1]);
}

bool ft_inventory_accepts(const ft_inventory *inventory, const ft_raw_record *r)
{
    FT_REQUIRE(r->operation < FT_RAW_OPERATIONS);
    const uint64_t *o = r->operands;
    size_t threads = inventory->parents.len;
    if (r->thread >= threads) return false;
    if (r->access && r->size > MOST_TOUCHED) return false;
    if (r->access || r->n_events) return true;
    if (r->operation == FT_RAW_BEGIN) return is_valid_begin(r);
    if (r->operation == FT_RAW_SHOWN) return is_valid_range(o[0], r->length);
    if (r->operation == FT_RAW_ALLOC) return is_valid_range(o[1], o[2]);
    if (r->operation == FT_RAW_ZERO || r->operation == FT_RAW_BENIGN ||
        r->operation == FT_RAW_WHOLE || r->operation == FT_RAW_CONSTANT)
        return is_valid_range(o[0], o[1]);
    if (r->operation == FT_RAW_FORK) return o[1] == threads && threads < MOST_THREADS;
    if (r->operation == FT_RAW_FUNCTION) return o[1] < threads;
    if (r->operation == FT_RAW_JOIN) return o[1] < threads && !(o[2] & ~(uint64_t)FT_FLAG_TRY);
    if (r->operation == FT_RAW_SYNC) return is_valid_sync(inventory, o);
    if (r->operation == FT_RAW_MARK) return o[0] == FT_EVENT_TX_BEGIN || o[0] == FT_EVENT_TX_END;
    if (r->operation == FT_RAW_BLOCKED) return is_valid_block(inventory, o);
    if (r->operation == FT_RAW_DOING)
        return o[0] < threads && o[1] < FT_RAW_DOINGS && o[2] < FT_EVENT_KINDS;
    if (r->operation == FT_RAW_OBJECT) return is_valid_object(o);
    if (r->operation == FT_RAW_INITIALISED || r->operation == FT_RAW_DESTROYED ||
        r->operation == FT_RAW_RECLAIMED)
        return o[1] < inventory->objects.len;
    if (r->operation == FT_RAW_INPUT) return is_valid_input(o);
    if (r->operation == FT_RAW_CHANNEL) return o[1] && o[0] && o[0] <= 7;
    return true;
}

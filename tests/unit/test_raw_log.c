/* The runtime's log against a plain one: random programs of reads, writes, copies of
 * structures, atomic updates, ranges, calls and longjmps go through the compilers' hooks, beside
 * them a list of what they did is kept, and the log, read back, must say the same. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace_support.h"

#include "maker/log/log.h"

#include "../../clients/record/runtime/log/log.c"

#include "../../clients/record/runtime/log/events.c"

#include "../../clients/record/runtime/accesses/access.c"

#include "../../clients/record/runtime/accesses/frames.c"

enum { RUNNERS = 3, CELLS = 64, STEPS = 40000, PLACES = 4, DEEP = 6 };

/* ---- the rest of the runtime: one thread plays all */

__thread ft_rt_thread *ft_rt_self;
bool ft_rt_replaying;
bool ft_rt_following;

void ft_rt_contract_broken(const char *what)
{
    fail_msg("%s", what);
    abort();
}
void ft_rt_say(const char *text)
{
    fail_msg("%s", text);
}
void *ft_rt_real(const char *name)
{
    return dlsym(RTLD_DEFAULT, name);
}
void *ft_rt_away(size_t size)
{
    (void)size;
    return NULL;
}
void *ft_rt_map(size_t size)
{
    return ft_calloc(1, size);
}
void ft_rt_replay_record(ft_rt_thread *self, ft_raw_operation operation, const uint64_t *operands)
{
    (void)self, (void)operation, (void)operands;
}
/* Nothing is explored. */
bool ft_rt_exploring;
__thread ft_rt_x_thread *ft_rt_x_self;

void ft_rt_x_read(const void *pc)
{
    (void)pc;
}

void ft_rt_x_wrote(uintptr_t address)
{
    (void)address;
}

void ft_rt_x_access(const volatile void *address, size_t size, bool writes, const void *pc)
{
    (void)address, (void)size, (void)writes, (void)pc;
}

void ft_rt_replay_step(ft_rt_thread *self, uint32_t kind, uint32_t site)
{
    (void)self, (void)kind, (void)site;
}
bool ft_rt_replay_ends(void)
{
    return false;
}
void ft_rt_log_library(uintptr_t pc)
{
    (void)pc;
}
ft_rt_thread *ft_rt_enter_holding(void)
{
    ft_rt_self->inside = true;
    return ft_rt_self;
}
ft_rt_thread *ft_rt_enter_within(void)
{
    ft_rt_thread *self = ft_rt_enter_holding();
    ft_rt_flush(self);
    return self;
}
void ft_rt_go_on(ft_rt_thread *self)
{
    ft_rt_flush(self);
    if (!self->left) self->left = 50;
}
ft_rt_thread *ft_rt_enter(void)
{
    ft_rt_thread *self = ft_rt_enter_holding();
    ft_rt_go_on(self);
    return self;
}

void ft_rt_polls_meet(const unsigned char *record, const unsigned char *end)
{
    (void)record;
    (void)end;
}

void ft_rt_polls_meet_write(uintptr_t address)
{
    (void)address;
}

void ft_rt_may_spin(ft_rt_thread *self, uintptr_t address, int64_t value)
{
    (void)self, (void)address, (void)value;
}

void ft_rt_leave(ft_rt_thread *self)
{
    (void)self;
}

void *__real_memcpy(void *to, const void *from, size_t size)
{
    return memcpy(to, from, size);
}
void *__real_memmove(void *to, const void *from, size_t size)
{
    return memmove(to, from, size);
}
void *__real_memset(void *to, int byte, size_t size)
{
    return memset(to, byte, size);
}

/* ---- what was done */

typedef struct deed {
    uint32_t thread, form, stack; /* stack: a hash of the calls */
    uint64_t address, size;
    int64_t value, written; /* of a range: a hash of what it held */
} deed;

static FT_VEC(deed) deeds;
static uint64_t seed;
static ft_rt_thread threads[RUNNERS];
static uint32_t calls[RUNNERS][DEEP + 1], depths[RUNNERS];
static union {
    int64_t words[CELLS];
    int8_t bytes[8 * CELLS];
} memory;

static uint32_t hash_calls(const uint32_t *sites, uint32_t n)
{
    uint32_t hash = 1;
    for (uint32_t i = 0; i < n; i++) hash = hash * 31 + sites[i];
    return hash;
}

static int64_t value_at(const void *address, uint64_t size)
{
    switch (size) {
    case 1:
        return *(const int8_t *)address;
    case 2:
        return *(const int16_t *)address;
    case 4:
        return *(const int32_t *)address;
    default:
        return *(const int64_t *)address;
    }
}

/* Of what the log has to have. */
static int64_t hash_bytes(const void *bytes, uint64_t size)
{
    return size <= FT_RAW_CONTENT ? (int64_t)ft_hash_bytes(bytes, size, 0) : 0;
}

static void note(ft_raw_form form, const void *address, uint64_t size, int64_t value,
                 int64_t written)
{
    uint32_t t = ft_rt_self->id;
    ft_vec_push(&deeds, (deed){.thread = t,
                               .form = form,
                               .stack = hash_calls(calls[t], depths[t]),
                               .address = (uintptr_t)address,
                               .size = size,
                               .value = value,
                               .written = written});
}

/* ---- the program */

#define NOT_LAST __asm__ volatile("" ::: "memory") /* the call must not become a jump */
#define PLACE(n)                                                                                   \
    static __attribute__((noinline)) void read_##n(void *at, unsigned code)                        \
    {                                                                                              \
        if (code == 0) __tsan_read1(at);                                                           \
        if (code == 1) __tsan_read2(at);                                                           \
        if (code == 2) __tsan_read4(at);                                                           \
        if (code == 3) __tsan_read8(at);                                                           \
        NOT_LAST;                                                                                  \
    }                                                                                              \
    static __attribute__((noinline)) void write_##n(void *at, unsigned code)                       \
    {                                                                                              \
        if (code == 0) __tsan_write1(at);                                                          \
        if (code == 1) __tsan_write2(at);                                                          \
        if (code == 2) __tsan_write4(at);                                                          \
        if (code == 3) __tsan_write8(at);                                                          \
        NOT_LAST;                                                                                  \
    }
/* clang-format off: it takes the next line for a part of these */
PLACE(0)
PLACE(1)
PLACE(2)
PLACE(3)
/* clang-format on */

static void (*const reads[PLACES])(void *, unsigned) = {read_0, read_1, read_2, read_3};
static void (*const writes[PLACES])(void *, unsigned) = {write_0, write_1, write_2, write_3};

static void *some_cell(unsigned code)
{
    return &memory.bytes[rnd(&seed, 8 * CELLS >> code) << code];
}

static void do_read(unsigned place, void *at, unsigned code)
{
    reads[place](at, code);
    note(FT_RAW_FORM_READ, at, 1u << code, value_at(at, 1u << code), 0);
}

static void do_write(unsigned place, void *at, unsigned code, int64_t value)
{
    writes[place](at, code);
    memcpy(at, &value, 1u << code);
    note(FT_RAW_FORM_WRITE, at, 1u << code, value_at(at, 1u << code), 0);
}

/* gcc's order of hooks: the write's comes first. Where the copy changes nothing, nobody can tell.
 */
static void do_copy(unsigned place, unsigned code)
{
    uint64_t size = 1u << code;
    char *to = some_cell(code), *from = some_cell(code);
    if (to == from) return;
    bool changes = memcmp(to, from, size) != 0;
    writes[place](to, code);
    reads[place](from, code);
    memcpy(to, from, size);
    if (changes) note(FT_RAW_FORM_READ, from, size, value_at(from, size), 0);
    note(FT_RAW_FORM_WRITE, to, size, value_at(to, size), 0);
    if (!changes) note(FT_RAW_FORM_READ, from, size, value_at(from, size), 0);
}

static void do_update(unsigned place)
{
    int64_t *at = some_cell(3), old = *at, made = rnd(&seed, 3) ? old + 1 : (int64_t)rnd(&seed, 99);
    ft_rt_thread *self = ft_rt_enter();
    *at = made;
    const void *pc = (const void *)(uintptr_t)(0x1000 + place);
    ft_rt_log_access(FT_RAW_FORM_UPDATE, pc, (uintptr_t)at, 8, old, made);
    self->inside = false;
    note(FT_RAW_FORM_UPDATE, at, 8, old, made);
}

static void do_range(void)
{
    uint64_t size = 9 + rnd(&seed, 8 * CELLS - 9);
    const void *pc = (const void *)(uintptr_t)0x2000;
    if (rnd(&seed, 2)) {
        ft_rt_read_range(&memory, size, pc);
        note(FT_RAW_FORM_READ, &memory, size, hash_bytes(&memory, size), 0);
    } else {
        ft_rt_write_range(&memory, size, pc);
        memory.bytes[rnd(&seed, (uint32_t)size)]++;
        note(FT_RAW_FORM_WRITE, &memory, size, hash_bytes(&memory, size), 0);
    }
}

static void loop(void)
{
    unsigned place = (unsigned)rnd(&seed, PLACES), code = (unsigned)rnd(&seed, 4);
    unsigned n = (unsigned)rnd(&seed, 40), how = (unsigned)rnd(&seed, 3);
    for (unsigned i = 0; i < n; i++) { /* a counter, an array's sum, a copied array */
        int8_t *at = &memory.bytes[how ? (i % 8) << code : 0];
        do_read(place, at, code);
        if (how != 1) do_write(place, how ? at + 256 : at, code, value_at(at, 1u << code) + !how);
    }
}

static void act(void)
{
    unsigned place = (unsigned)rnd(&seed, PLACES), code = (unsigned)rnd(&seed, 4);
    switch (rnd(&seed, 8)) {
    case 0:
    case 1:
        do_read(place, some_cell(code), code);
        break;
    case 2:
        do_write(place, some_cell(code), code, (int64_t)(rnd(&seed, UINT32_MAX) << rnd(&seed, 32)));
        break;
    case 3:
        do_write(place, some_cell(code), code, (int64_t)rnd(&seed, 3));
        break;
    case 4:
        do_copy(place, code);
        break;
    case 5:
        do_update(place);
        break;
    case 6:
        if (!rnd(&seed, 8)) do_range();
        break;
    default:
        loop();
    }
}

static __attribute__((noinline)) void call(uint32_t depth, jmp_buf out)
{
    uint32_t t = ft_rt_self->id, site = 1 + (uint32_t)rnd(&seed, 5);
    __tsan_func_entry((void *)(uintptr_t)(0x3000 + site));
    calls[t][depths[t]++] = site;
    for (uint64_t n = rnd(&seed, 4); n; n--) {
        if (depth && !rnd(&seed, 3)) call(depth - 1, out);
        act();
    }
    if (depth < DEEP - 1 && !rnd(&seed, 20)) longjmp(out, 1);
    __tsan_func_exit();
    depths[t]--;
    NOT_LAST;
}

/* From time to time a longjmp leaves functions without their last hook; the next call finds it. */
static __attribute__((noinline)) void run_turn(void)
{
    static jmp_buf out;
    volatile uint32_t depth = depths[ft_rt_self->id];
    for (volatile uint64_t n = rnd(&seed, 20); n; n--) {
        if (setjmp(out)) depths[ft_rt_self->id] = depth;
        call(DEEP - 1, out);
        if (!depth && depths[ft_rt_self->id] == 0) act();
    }
}

/* ---- the log */

static char path[] = "/tmp/foretell-raw-XXXXXX";

static size_t mapped;        /* bytes of the log that the program has */
static ft_raw_log *followed; /* the log that a thread takes from while the program writes */

static void make_log(uint64_t limit)
{
    ft_raw_header header = {.limit = limit, .turn = 1};
    memcpy(header.magic, FT_RAW_MAGIC, sizeof header.magic);
    memcpy(path + sizeof path - 7, "XXXXXX", 6);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, &header, sizeof header), (long)sizeof header);
    assert_int_equal(ftruncate(fd, (off_t)limit), 0);
    close(fd);
}

static void start_program(void)
{
    assert_true(map_log(path));
    mapped = mapped_size(ft_rt_header);
    start_log();
    ft_rt_out.thread = 0;
    ft_rt_logging = true;
    assert_int_equal(ft_rt_site_of(ft_rt_key(NULL, FT_RAW_LEAVE)), FT_RAW_LEAVE_SITE);
    memset(threads, 0, sizeof threads);
    memset(depths, 0, sizeof depths);
    for (uint32_t t = 0; t < RUNNERS; t++)
        threads[t] = (ft_rt_thread){.id = t, .state = FT_RT_RUNNING};
}

static void open_log(uint64_t limit)
{
    make_log(limit);
    start_program();
}

static void close_log(void)
{
    munmap(ft_rt_header, mapped);
    close(ft_rt_out.fd);
    free(ft_rt_out.slots);
    free(ft_rt_out.keys);
    unlink(path);
}

typedef struct reader {
    FT_VEC(uint64_t) sites;
    uint32_t calls[RUNNERS][1 << 10], depths[RUNNERS];
    size_t at;
} reader;

static bool is_same(const deed *a, const deed *b)
{
    return a->thread == b->thread && a->form == b->form && a->stack == b->stack &&
           a->address == b->address && a->size == b->size && a->value == b->value &&
           a->written == b->written;
}

static void expect(reader *r, deed found)
{
    assert_true(r->at < deeds.len);
    const deed *d = &deeds.data[r->at++];
    found.stack = hash_calls(r->calls[found.thread], r->depths[found.thread]);
    if (!is_same(d, &found))
        fail_msg("seed %llu, access %zu: thread %u form %u size %llu value %lld stack %x, "
                 "the log has %u %u %llu %lld %x",
                 (unsigned long long)seed, r->at, d->thread, d->form, (unsigned long long)d->size,
                 (long long)d->value, d->stack, found.thread, found.form,
                 (unsigned long long)found.size, (long long)found.value, found.stack);
}

static void expect_event(reader *r, uint32_t t, const ft_raw_event *e)
{
    if (e->code == FT_RAW_ENTER) {
        r->calls[t][r->depths[t]++] = (uint32_t)(r->sites.data[e->site] - 0x3000);
    } else if (e->code == FT_RAW_LEAVE) {
        r->depths[t]--;
    } else {
        ft_raw_record one;
        ft_raw_record_of(e, t, &one);
        bool update = ft_raw_updates(one.form);
        expect(r, (deed){.thread = t,
                         .form = one.form,
                         .address = one.address,
                         .size = one.size,
                         .value = one.value,
                         .written = update ? one.written : 0});
    }
}

/* Returns how many of the accesses it has. */
static size_t compare_with(ft_raw_log *log, bool whole)
{
    ft_error err = FT_ERROR_INIT;
    ft_raw_record r;
    reader *to = ft_calloc(1, sizeof *to);
    ft_vec_push(&to->sites, 0);
    while (ft_raw_log_next(log, &r, &err)) {
        for (uint32_t i = 0; i < r.n_events; i++) expect_event(to, r.thread, &r.events[i]);
        if (r.access)
            expect(to, (deed){.thread = r.thread,
                              .form = r.form,
                              .address = r.address,
                              .size = r.size,
                              .value = hash_bytes(r.text, r.size)});
        else if (!r.n_events && r.operation == FT_RAW_SITE)
            ft_vec_push(&to->sites, r.operands[0]);
    }
    assert_int_equal(err.code, FT_OK);
    if (whole) assert_int_equal(to->at, deeds.len);
    size_t found = to->at;
    ft_vec_release(&to->sites);
    free(to);
    return found;
}

static void compare(bool whole)
{
    ft_raw_log *log = NULL;
    ft_error err = FT_ERROR_INIT;
    assert_int_equal(ft_raw_log_open(path, &log, &err), FT_OK);
    assert_true(compare_with(log, whole) > 0);
    ft_raw_log_close(log);
}

static void run_program(uint64_t number, size_t steps)
{
    seed = number;
    deeds.len = 0;
    while (deeds.len < steps && ft_rt_logging) {
        ft_rt_self = &threads[rnd(&seed, RUNNERS)];
        ft_rt_hot = FT_RT_NO_THREAD;
        run_turn();
        ft_rt_flush(ft_rt_self); /* a turn ends at the next hook */
    }
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t number = 1; number <= 5; number++) {
        open_log(64 << 20);
        run_program(number, STEPS);
        compare(true);
        close_log();
    }
}

/* What is there of it when the program is killed, or the log is full, is true. */
static void test_part(void **state)
{
    (void)state;
    open_log(64 << 10);
    run_program(77, STEPS);
    assert_int_equal(ft_rt_header->end, FT_RAW_END_LIMIT);
    compare(false);
    close_log();
}

/* What a reader was given, whatever the portions. */
typedef struct digest {
    uint64_t hash;
    uint64_t accesses;        /* of events */
    uint64_t counts[1 << 12]; /* by site: events */
    bool is_shown;            /* its accesses, before they are returned */
    ft_error err;
} digest;

static void mix(digest *d, uint64_t number)
{
    d->hash = ft_hash_u64(d->hash * 31 + number);
}

static void mix_access(digest *d, uint32_t thread, const ft_raw_event *e)
{
    const uint64_t all[] = {
        thread, e->code, e->site, e->address, (uint64_t)e->value, (uint64_t)e->written};
    d->accesses = ft_hash_bytes(all, sizeof all, d->accesses);
}

/* All but the events. */
static void mix_record(digest *d, const ft_raw_record *r)
{
    if (r->access) {
        mix(d, (uint64_t)r->form << 32 | r->site);
        mix(d, r->address);
        mix(d, r->size);
    } else if (!r->n_events) {
        mix(d, r->operation);
        for (int i = 0; i < FT_RAW_OPERANDS; i++) mix(d, r->operands[i]);
    }
    if (r->access || !r->n_events)
        for (uint64_t i = 0; i < r->length; i++) mix(d, r->text[i]);
}

static void mix_sum(digest *d, uint32_t n, const ft_raw_sum *sum)
{
    mix(d, (uint64_t)n << 32 | sum->calls);
    mix(d, (uint64_t)sum->left << 32 | sum->n_entered);
    for (uint32_t i = 0; i < sum->n_entered; i++) mix(d, sum->entered[i]);
}

/* What is there by now. */
static void read_on(digest *d)
{
    ft_raw_record r;
    while (ft_raw_log_next(followed, &r, &d->err)) {
        if (r.n_events) mix_sum(d, r.n_events, r.sum);
        mix_record(d, &r);
        for (uint32_t i = 0; i < r.n_events && !d->is_shown; i++) {
            if (r.events[i].code < FT_RAW_ENTER) mix_access(d, r.thread, &r.events[i]);
            d->counts[r.events[i].site]++;
        }
    }
}

/* Who is shown the accesses while they are read. */
static void take_run(void *of, ft_raw_run *run)
{
    ft_raw_event e;
    while (ft_raw_run_take(run, &e)) mix_access(of, run->thread, &e);
}

static void take_other(void *of, uint32_t thread, const ft_raw_event *access)
{
    mix_access(of, thread, access);
}

/* What a thread has done up to some record. */
typedef struct doer {
    FT_VEC(uint32_t) calls;
    uint64_t accesses;
} doer;

static void do_event(doer *d, const ft_raw_event *e)
{
    d->accesses += e->code < FT_RAW_ENTER;
    if (e->code == FT_RAW_ENTER) ft_vec_push(&d->calls, e->site);
    if (e->code == FT_RAW_LEAVE && d->calls.len) d->calls.len--;
}

static void do_sum(doer *d, uint32_t n, const ft_raw_sum *sum)
{
    d->accesses += n - sum->calls;
    d->calls.len -= sum->left < d->calls.len ? sum->left : d->calls.len;
    for (uint32_t i = 0; i < sum->n_entered; i++) ft_vec_push(&d->calls, sum->entered[i]);
}

/* The whole log once more, and one of so many batches of events not looked at (0: none of them);
 * returns how many those were. */
static uint32_t read_over(digest *d, uint32_t each)
{
    ft_raw_record r;
    doer doers[RUNNERS] = {0};
    uint32_t passed = 0, batches = 0;
    ft_raw_log_rewind(followed);
    for (;;) {
        ft_raw_log_pass_over(followed, each && batches % each == 0);
        if (!ft_raw_log_next(followed, &r, &d->err)) break;
        assert_true(r.thread < RUNNERS);
        doer *actor = &doers[r.thread];
        for (uint32_t i = 0; r.events && i < r.n_events; i++) do_event(actor, &r.events[i]);
        if (!r.events) do_sum(actor, r.n_events, r.sum);
        passed += !r.events;
        batches += r.n_events != 0;
        mix(d, actor->accesses);
        mix(d, actor->calls.len);
        for (size_t i = 0; i < actor->calls.len; i++) mix(d, actor->calls.data[i]);
        r.n_events = 0;
        mix_record(d, &r);
    }
    for (int t = 0; t < RUNNERS; t++) ft_vec_release(&doers[t].calls);
    return passed;
}

static void pass_over(void)
{
    digest all = {.err = FT_ERROR_INIT}, some = {.err = FT_ERROR_INIT};
    assert_true(ft_raw_log_has_batches(followed));
    assert_int_equal(read_over(&all, 0), 0);
    assert_true(read_over(&some, 3) > 10);
    assert_int_equal(all.err.code, FT_OK);
    assert_int_equal(some.err.code, FT_OK);
    assert_true(all.hash == some.hash);
}

static bool over; /* the program's */

static void *read_meanwhile(void *d)
{
    for (bool last = false;;) {
        read_on(d);
        if (last) break;
        last = __atomic_load_n(&over, __ATOMIC_ACQUIRE);
        ft_raw_log_look(followed);
    }
    return NULL;
}

enum { FOLLOWED = 256 << 20, PIECE = 4 << 20 }; /* limit; what goes to the file at a time */

/* The program goes round the ring more than once, with a reader that takes from it meanwhile and
 * keeps `memory` bytes in memory. What it was given or shown is what it is given once more, and
 * what comes of it where batches are passed over; that, without `whole`, is a part of what was
 * done. */
static void follow_program(size_t memory_kept, bool whole, bool shown)
{
    enum { LAPS = 6 };
    ft_error err = FT_ERROR_INIT;
    pthread_t thread;
    digest first = {.is_shown = shown, .err = FT_ERROR_INIT}, second = {.err = FT_ERROR_INIT};
    static const uint32_t turn;
    const ft_raw_taker taker = {&first, &turn, take_run, take_other};
    over = false;
    assert_int_equal(ft_raw_log_follow(path, memory_kept, &followed, &err), FT_OK);
    if (shown) ft_raw_log_show(followed, &taker);
    start_program();
    assert_true(ft_rt_header->ring);
    assert_int_equal(pthread_create(&thread, NULL, read_meanwhile, &first), 0);
    run_program(5, LAPS * ft_rt_header->ring / (2 * FT_RAW_WORD));
    __atomic_store_n(&over, true, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    assert_int_equal(first.err.code, FT_OK);
    if (whole) assert_true(ft_rt_header->mark > (LAPS - 1) * ft_rt_header->ring);
    ft_raw_log_rewind(followed);
    assert_true(compare_with(followed, whole) > 0);
    ft_raw_log_rewind(followed);
    read_on(&second);
    assert_int_equal(second.err.code, FT_OK);
    assert_true(first.hash == second.hash);
    assert_true(first.accesses == second.accesses);
    if (whole)
        assert_memory_equal(ft_raw_log_counts(followed), second.counts, sizeof second.counts);
    pass_over();
    ft_raw_log_close(followed);
}

static void test_ring(void **state)
{
    (void)state;
    make_log(FOLLOWED);
    follow_program(ft_raw_log_memory(), true, true);
    close_log();
}

/* Bytes of the file that are on the disk. */
static uint64_t bytes_on_disk(void)
{
    struct stat file;
    assert_int_equal(stat(path, &file), 0);
    return (uint64_t)file.st_blocks * 512;
}

/* What memory has no room for comes from the file. */
static void test_spill(void **state)
{
    (void)state;
    make_log(FOLLOWED);
    follow_program(0, true, true);
    assert_true(bytes_on_disk() >= ft_rt_header->ring + 2 * PIECE);
    close_log();
    make_log(FOLLOWED);
    follow_program(PIECE, true, false);
    assert_true(bytes_on_disk() >= ft_rt_header->ring + PIECE);
    close_log();
}

/* A file that may not grow, in the middle of its second piece, is as good as a full disk. */
static void test_spill_to_a_full_disk(void **state)
{
    struct rlimit before, few;
    (void)state;
    make_log(FOLLOWED);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    few = (struct rlimit){FT_RAW_PAGE + PIECE + PIECE + PIECE / 2, before.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
    follow_program(0, false, false);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(ft_rt_header->end, FT_RAW_END_DISK);
    assert_true(bytes_on_disk() >= ft_rt_header->ring + PIECE);
    close_log();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_part),
        cmocka_unit_test(test_ring),
        cmocka_unit_test(test_spill),
        cmocka_unit_test(test_spill_to_a_full_disk),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ft_vec_release(&deeds);
    return failed;
}

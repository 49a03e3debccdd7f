#include "bench/generate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verdict/checker.h"

typedef struct maker {
    ft_builder *b;
    uint32_t thread, loc;
} maker;

static size_t name_of(char out[32], const char *prefix, uint32_t number)
{
    return (size_t)snprintf(out, 32, "%s%u", prefix, number);
}

static uint32_t make_thread(maker *m, const char *prefix, uint32_t number)
{
    char name[32];
    size_t length = name_of(name, prefix, number);
    return ft_builder_thread(m->b, name, length);
}

static uint32_t make_variable(maker *m, const char *prefix, uint32_t number, int64_t initial)
{
    char name[32];
    size_t length = name_of(name, prefix, number);
    uint32_t v = ft_builder_shared(m->b, name, length, FT_INT_SORT);
    ft_builder_shared_initial(m->b, v,
                              ft_builder_value(m->b, (ft_value){FT_INT_SORT, (uint64_t)initial}));
    return v;
}

static uint32_t make_lock(maker *m, const char *prefix, uint32_t number)
{
    char name[32];
    size_t length = name_of(name, prefix, number);
    return ft_builder_lock(m->b, name, length, FT_LOCK_MUTEX);
}

static void at(maker *m, const char *file, uint32_t line)
{
    char text[48];
    int length = snprintf(text, sizeof text, "%s:%u", file, line);
    m->loc = ft_builder_location(m->b, text, (size_t)length, NULL, 0);
}

static void event(maker *m, ft_event_kind kind, uint32_t object)
{
    ft_builder_event(m->b, kind, m->thread, object, m->loc, FT_NO_VALUE, 0);
}

static ft_term number(maker *m, int64_t value)
{
    return ft_term_literal(ft_builder_terms(m->b), (ft_value){FT_INT_SORT, (uint64_t)value});
}

static ft_term shared(maker *m, uint32_t variable)
{
    return ft_term_symbol(ft_builder_terms(m->b), FT_SYM_SHARED(variable), FT_INT_SORT);
}

static ft_term local(maker *m, uint32_t variable)
{
    return ft_term_symbol(ft_builder_terms(m->b), FT_SYM_LOCAL(variable), FT_INT_SORT);
}

static ft_term apply(maker *m, ft_op op, ft_term a, ft_term b)
{
    ft_error err = FT_ERROR_INIT;
    ft_term children[2] = {a, b}, result = FT_NO_TERM;
    if (ft_term_apply(ft_builder_terms(m->b), op, children, b == FT_NO_TERM ? 1 : 2, NULL, &result,
                      &err) != FT_OK) {
        fprintf(stderr, "bench: %s\n", err.message);
        exit(2);
    }
    return result;
}

static void assign(maker *m, ft_symbol target, ft_term term)
{
    ft_assignment assignment = {target, term};
    ft_builder_action(m->b, FT_EVENT_ASSIGN, m->thread, m->loc, FT_NO_TERM, &assignment, 1, 0);
}

static void condition(maker *m, ft_event_kind kind, ft_term term)
{
    ft_builder_action(m->b, kind, m->thread, m->loc, term, NULL, 0, 0);
}

static ft_trace *finish(maker *m)
{
    ft_trace *trace;
    ft_error err = FT_ERROR_INIT;
    if (ft_builder_finish(m->b, &trace, &err) != FT_OK) {
        fprintf(stderr, "bench: %s\n", err.message);
        exit(2);
    }
    ft_observe_run(trace);
    if (trace->broken != FT_NO_EVENT) {
        fprintf(stderr, "bench: broken trace: %s\n", trace->broken_text);
        exit(2);
    }
    return trace;
}

/* ---- indexer ---- */

enum { MESSAGES = 4, MAX_ENTRIES = 1024 };

typedef struct indexer {
    uint32_t entry[MAX_ENTRIES], lock[MAX_ENTRIES];
    int64_t held[MAX_ENTRIES];
    uint32_t entries, a;
    uint32_t last;
} indexer;

static void insert(maker *m, indexer *x, int64_t message)
{
    uint32_t h = (uint32_t)(message * 7) % x->entries;
    for (;; h = (h + 1) % x->entries) {
        at(m, "indexer.c", 20);
        event(m, FT_EVENT_ACQUIRE, x->lock[h]);
        at(m, "indexer.c", 21);
        assign(m, FT_SYM_LOCAL(x->a), shared(m, x->entry[h]));
        ft_term empty = apply(m, FT_OP_EQ, local(m, x->a), number(m, 0));
        bool taken = x->held[h] != 0;
        at(m, "indexer.c", 22);
        condition(m, FT_EVENT_ASSUME, taken ? apply(m, FT_OP_NOT, empty, FT_NO_TERM) : empty);
        at(m, "indexer.c", 23);
        if (!taken) assign(m, FT_SYM_SHARED(x->entry[h]), number(m, message));
        at(m, "indexer.c", 24);
        event(m, FT_EVENT_RELEASE, x->lock[h]);
        if (taken) continue;
        x->held[h] = message;
        x->last = h;
        return;
    }
}

ft_trace *bench_indexer(uint32_t threads, uint32_t entries, bool passing)
{
    maker m = {.b = ft_builder_new(FT_FORMAT_NDJSON)};
    indexer x = {.entries = entries};
    uint32_t root = make_thread(&m, "main", 0);
    x.a = ft_builder_local(m.b, "a", 1, FT_INT_SORT);
    for (uint32_t i = 0; i < entries; i++) {
        x.entry[i] = make_variable(&m, "table", i, 0);
        x.lock[i] = make_lock(&m, "lock", i);
    }
    m.thread = root;
    at(&m, "indexer.c", 40);
    for (uint32_t t = 0; t < threads; t++) event(&m, FT_EVENT_FORK, make_thread(&m, "T", t + 1));
    for (uint32_t t = 0; t < threads; t++) {
        m.thread = make_thread(&m, "T", t + 1);
        for (uint32_t k = 0; k < MESSAGES; k++) insert(&m, &x, k * 11 + t + 1);
    }
    m.thread = root;
    at(&m, "indexer.c", 44);
    if (passing)
        for (uint32_t t = 0; t < threads; t++)
            event(&m, FT_EVENT_JOIN, make_thread(&m, "T", t + 1));
    at(&m, "indexer.c", 46);
    ft_term filled = apply(&m, FT_OP_EQ, shared(&m, x.entry[x.last]), number(&m, x.held[x.last]));
    condition(&m, FT_EVENT_ASSERT, filled);
    return finish(&m);
}

/* ---- banking ---- */

static void move(maker *m, uint32_t lock, uint32_t account, uint32_t a, int64_t amount, bool buggy)
{
    at(m, "bank.c", 9);
    if (buggy) event(m, FT_EVENT_TX_BEGIN, 0);
    at(m, "bank.c", 10);
    event(m, FT_EVENT_ACQUIRE, lock);
    at(m, "bank.c", 11);
    assign(m, FT_SYM_LOCAL(a), shared(m, account));
    if (buggy) {
        at(m, "bank.c", 12);
        event(m, FT_EVENT_RELEASE, lock);
        at(m, "bank.c", 13);
        event(m, FT_EVENT_ACQUIRE, lock);
    }
    at(m, "bank.c", 14);
    assign(m, FT_SYM_SHARED(account), apply(m, FT_OP_ADD, local(m, a), number(m, amount)));
    at(m, "bank.c", 15);
    event(m, FT_EVENT_RELEASE, lock);
    at(m, "bank.c", 16);
    if (buggy) event(m, FT_EVENT_TX_END, 0);
}

ft_trace *bench_banking(uint32_t threads, uint32_t transfers, bool buggy)
{
    maker m = {.b = ft_builder_new(FT_FORMAT_NDJSON)};
    uint32_t root = make_thread(&m, "main", 0);
    uint32_t x = make_variable(&m, "account", 0, 100), y = make_variable(&m, "account", 1, 100);
    uint32_t lock_x = make_lock(&m, "lock", 0), lock_y = make_lock(&m, "lock", 1);
    uint32_t a = ft_builder_local(m.b, "a", 1, FT_INT_SORT);
    m.thread = root;
    at(&m, "bank.c", 30);
    for (uint32_t t = 0; t < threads; t++) event(&m, FT_EVENT_FORK, make_thread(&m, "T", t + 1));
    for (uint32_t t = 0; t < threads; t++) {
        m.thread = make_thread(&m, "T", t + 1);
        for (uint32_t k = 0; k < transfers; k++) {
            move(&m, lock_x, x, a, -(int64_t)(t + 1), buggy);
            move(&m, lock_y, y, a, t + 1, buggy);
        }
    }
    m.thread = root;
    at(&m, "bank.c", 34);
    for (uint32_t t = 0; t < threads; t++) event(&m, FT_EVENT_JOIN, make_thread(&m, "T", t + 1));
    at(&m, "bank.c", 35);
    ft_term sum = apply(&m, FT_OP_ADD, shared(&m, x), shared(&m, y));
    condition(&m, FT_EVENT_ASSERT, apply(&m, FT_OP_EQ, sum, number(&m, 200)));
    return finish(&m);
}

/* ---- a long plain trace ---- */

enum { ZIPF_THREADS = 16, ZIPF_VARIABLES = 20000, ZIPF_LOCKS = 64, BURST = 10000 };

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

typedef struct zipf {
    maker m;
    uint32_t threads[ZIPF_THREADS], held[ZIPF_THREADS]; /* held: lock + 1 */
    uint32_t variables[ZIPF_VARIABLES], locks[ZIPF_LOCKS], owner[ZIPF_LOCKS];
    uint32_t read_loc[ZIPF_VARIABLES], write_loc[ZIPF_VARIABLES];
    double cumulative[ZIPF_VARIABLES];
    uint32_t n_variables;
    uint64_t random;
} zipf;

static uint32_t draw(zipf *z)
{
    double wanted = (double)(random_next(&z->random) >> 11) * 0x1p-53;
    uint32_t low = 0, high = z->n_variables - 1;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (z->cumulative[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void zipf_tables(zipf *z)
{
    double sum = 0;
    for (uint32_t i = 0; i < z->n_variables; i++) {
        z->variables[i] = make_variable(&z->m, "v", i, 0);
        at(&z->m, "zipf.c", 2 * i + 1);
        z->read_loc[i] = z->m.loc;
        at(&z->m, "zipf.c", 2 * i + 2);
        z->write_loc[i] = z->m.loc;
        z->cumulative[i] = sum += 1.0 / (i + 1);
    }
    for (uint32_t i = 0; i < z->n_variables; i++) z->cumulative[i] /= sum;
    for (uint32_t i = 0; i < ZIPF_LOCKS; i++) z->locks[i] = make_lock(&z->m, "l", i);
    for (uint32_t i = 0; i < ZIPF_THREADS; i++) z->threads[i] = make_thread(&z->m, "T", i + 1);
}

static void zipf_lock(zipf *z, uint32_t t)
{
    uint32_t lock =
        z->held[t] ? z->held[t] - 1 : (uint32_t)(random_next(&z->random) >> 33) % ZIPF_LOCKS;
    z->m.loc = FT_NO_LOC;
    z->m.thread = z->threads[t];
    if (z->held[t]) {
        event(&z->m, FT_EVENT_RELEASE, z->locks[lock]);
        z->held[t] = z->owner[lock] = 0;
    } else if (!z->owner[lock]) {
        event(&z->m, FT_EVENT_ACQUIRE, z->locks[lock]);
        z->held[t] = lock + 1;
        z->owner[lock] = t + 1;
    }
}

static void zipf_access(zipf *z, uint32_t t)
{
    /* A held lock guards its own share of the variables, as a program's would. */
    uint32_t v = draw(z);
    if (z->held[t]) v = v - v % ZIPF_LOCKS + (z->held[t] - 1);
    if (v >= z->n_variables) v = z->n_variables - 1;
    bool write = random_next(&z->random) >> 62 == 0;
    ft_builder_event(z->m.b, write ? FT_EVENT_WRITE : FT_EVENT_READ, z->threads[t], z->variables[v],
                     write ? z->write_loc[v] : z->read_loc[v], FT_NO_VALUE, 0);
}

static zipf *zipf_start(uint32_t events)
{
    zipf *z = ft_calloc(1, sizeof *z);
    z->m.b = ft_builder_new(FT_FORMAT_BINARY);
    z->random = 0x9e3779b97f4a7c15u;
    z->n_variables = events / 50 < ZIPF_VARIABLES ? events / 50 : ZIPF_VARIABLES;
    zipf_tables(z);
    return z;
}

static ft_trace *zipf_finish(zipf *z)
{
    ft_trace *trace = finish(&z->m);
    free(z);
    return trace;
}

static void zipf_steps(zipf *z, uint32_t count)
{
    for (uint32_t made = 0; made < count; made++) {
        uint32_t t = (uint32_t)(random_next(&z->random) >> 40) % ZIPF_THREADS;
        if (random_next(&z->random) % 10 == 0)
            zipf_lock(z, t);
        else
            zipf_access(z, t);
    }
}

ft_trace *bench_zipf(uint32_t events)
{
    zipf *z = zipf_start(events);
    uint32_t hot = make_variable(&z->m, "hot", 0, 0),
             burst = events / 50 < BURST ? events / 50 : BURST;
    for (uint32_t i = 0; i < burst; i++)
        for (uint32_t t = 0; t < 2; t++) {
            at(&z->m, "hot.c", t + 1);
            ft_builder_event(z->m.b, FT_EVENT_WRITE, z->threads[t], hot, z->m.loc, FT_NO_VALUE, 0);
        }
    zipf_steps(z, events - 2 * burst);
    return zipf_finish(z);
}

/* ---- a race at the end of a long trace ---- */

static void access_at(maker *m, ft_event_kind kind, uint32_t variable, uint32_t line)
{
    at(m, "gadget.c", line);
    event(m, kind, variable);
}

/* The first thread writes y inside its section of the lock. The second writes z inside its own; the
 * third has read that z when it writes y. Both writes of y are next only if the second section
 * comes before the first, which it may unless the first thread has read the old z in there. */
static void gadget(maker *m, const uint32_t *threads, bool racy)
{
    uint32_t lock = make_lock(m, "gadget", 0);
    uint32_t y = make_variable(m, "y", 0, 0), z = make_variable(m, "z", 0, 0);
    m->thread = threads[0];
    access_at(m, FT_EVENT_ACQUIRE, lock, 10);
    if (!racy) access_at(m, FT_EVENT_READ, z, 11);
    access_at(m, FT_EVENT_WRITE, y, 1);
    access_at(m, FT_EVENT_RELEASE, lock, 12);
    m->thread = threads[1];
    access_at(m, FT_EVENT_ACQUIRE, lock, 20);
    access_at(m, FT_EVENT_WRITE, z, 21);
    access_at(m, FT_EVENT_RELEASE, lock, 22);
    m->thread = threads[2];
    access_at(m, FT_EVENT_READ, z, 30);
    access_at(m, FT_EVENT_WRITE, y, 2);
}

ft_trace *bench_zipf_race(uint32_t events, bool racy)
{
    zipf *z = zipf_start(events);
    zipf_steps(z, events);
    for (uint32_t t = 0; t < ZIPF_THREADS; t++)
        if (z->held[t]) zipf_lock(z, t);
    gadget(&z->m, z->threads, racy);
    return zipf_finish(z);
}

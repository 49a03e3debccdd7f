/* What forks and joins order is left out of a recording (maker/cells/cells.h), and nothing that a
 * check finds may change by that: logs of small random programs become traces with and without it,
 * and the engine must find the same violations in both, event by event. A recording with terms has
 * them in cells of their own kind (maker/passes/ordered_cells.c): one in which nothing is computed
 * has the events of one without. FT_SEEDS=N and FT_SEED_START=N in the environment make longer
 * runs. */
#include "trace_support.h"

#include <sys/mman.h>
#include <unistd.h>

#include "engine/engine.h"
#include "maker/maker.h"
#include "oracle/pipeline.h"
#include "raw/raw.h"
#include "seeded.h"
#include "verdict/checker.h"

enum {
    RUNNERS = 4,
    MUTEXES = 2,
    PIECES = 6,
    PIECE = 8,
    STEPS = 40,
    SITE_OF_RECORDS = 2,
    SITES = 3
};
#define STATICS UINT64_C(0x601000)
#define HEAP    UINT64_C(0x900000)
#define STACKS  UINT64_C(0x7f0000000000)
#define STACK   UINT64_C(0x1000)

typedef struct runner {
    bool begun, ended, joined;
    int held[MUTEXES], marks;
} runner;

/* The program that runs, and its log. */
typedef struct program {
    uint64_t random;
    ft_strbuf log;
    runner runners[RUNNERS];
    uint32_t n, thread, logged; /* logged: the thread whose turn it is there */
    bool live, was_live;        /* the heap's block */
    unsigned char memory[PIECES * PIECE];
} program;

/* ---- the log */

static void add_byte(program *p, uint64_t byte)
{
    char one = (char)byte;
    ft_strbuf_add(&p->log, &one, 1);
}

static void add_number(program *p, uint64_t value)
{
    for (; value >= 128; value >>= 7) add_byte(p, value | 128);
    add_byte(p, value);
}

static void add_record(program *p, ft_raw_operation operation, const uint64_t *operands, uint32_t n)
{
    add_byte(p, 2 * operation);
    for (uint32_t i = 0; i < n; i++) add_number(p, operands[i]);
    while (p->log.len % FT_RAW_WORD) add_byte(p, 0);
}

#define ADD(p, operation, ...)                                                                     \
    add_record(p, FT_RAW_##operation, (const uint64_t[]){__VA_ARGS__},                             \
               sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void add_word(program *p, uint64_t word)
{
    ft_strbuf_add(&p->log, (const char *)&word, sizeof word);
}

/* Whoever runs says so first. */
static void take_turn(program *p)
{
    if (p->logged != p->thread) ADD(p, TURN, p->thread);
    p->logged = p->thread;
}

static void add_head(program *p)
{
    ADD(p, SITE, 0x1000, FT_RAW_LEAVE);
    ADD(p, SITE, 0x1008, FT_RAW_PLACE);
    for (uint64_t form = 0; form < FT_RAW_FORMS; form++)
        for (uint64_t size = 0; size < 4; size++)
            ADD(p, SITE, 0x2000 + 0x100 * form + 16 * size, 8 * form + size);
    ADD(p, BEGIN, STACKS, STACK);
    for (uint64_t m = 0; m < MUTEXES; m++)
        ADD(p, OBJECT, FT_RAW_CLASS_MUTEX, STATICS + 0x100 + 64 * m, 0);
}

/* ---- what a program does */

static uint64_t address_of(uint32_t piece)
{
    static const uint64_t starts[PIECES] = {
        STATICS, STATICS + PIECE, STACKS + 64, STACKS + STACK + 64, HEAP, HEAP + PIECE};
    return starts[piece];
}

static uint32_t choose_piece(program *p)
{
    for (;;) {
        uint32_t piece = rnd(&p->random, PIECES);
        bool heap = address_of(piece) - HEAP < 2 * PIECE;
        if (piece == 3 && p->n < 2) continue;
        if (!heap || p->live || (p->was_live && rnd(&p->random, 4) == 0)) return piece;
    }
}

static int64_t value_at(const unsigned char *at, unsigned size)
{
    uint64_t bits = 0;
    memcpy(&bits, at, size);
    return (int64_t)(bits << (64 - 8 * size)) >> (64 - 8 * size);
}

/* Now and then code without hooks writes first. */
static void do_access(program *p)
{
    uint32_t piece = choose_piece(p), code = 2 + rnd(&p->random, 2);
    ft_raw_form form = (ft_raw_form)rnd(&p->random, FT_RAW_FORMS);
    if (rnd(&p->random, 4) == 0) code = rnd(&p->random, 4);
    if (rnd(&p->random, 2)) form = rnd(&p->random, 2) ? FT_RAW_FORM_READ : FT_RAW_FORM_WRITE;
    unsigned size = 1u << code, from = rnd(&p->random, PIECE / size) * size;
    unsigned char *at = p->memory + piece * PIECE + from;
    uint64_t address = address_of(piece) + from, fresh = rnd(&p->random, 3);
    if (rnd(&p->random, 25) == 0) *at ^= 1;
    int64_t before = value_at(at, size);
    bool writes = form != FT_RAW_FORM_READ && form != FT_RAW_FORM_ATOMIC_READ;
    if (writes) memcpy(at, &fresh, size);
    take_turn(p);
    add_word(p, 1 | address << 1 | (uint64_t)(SITES + 4 * form + code) << FT_RAW_SITE_SHIFT);
    if (ft_raw_updates(form)) add_word(p, (uint64_t)before);
    add_word(p, (uint64_t)value_at(at, size));
}

static void do_fork(program *p)
{
    if (p->n == RUNNERS) return;
    take_turn(p);
    ADD(p, FORK, SITE_OF_RECORDS, p->n);
    p->thread = p->n++;
    take_turn(p);
    ADD(p, BEGIN, STACKS + p->thread * STACK, STACK);
    p->runners[p->thread].begun = true;
    if (rnd(&p->random, 2)) p->thread = 0;
}

static void do_end(program *p)
{
    runner *r = &p->runners[p->thread];
    if (!p->thread || r->marks || r->held[0] || r->held[1]) return;
    take_turn(p);
    add_record(p, FT_RAW_END, NULL, 0);
    r->ended = true;
    p->thread = 0;
}

static void do_join(program *p)
{
    uint32_t child = 1 + rnd(&p->random, RUNNERS - 1);
    if (child == p->thread || !p->runners[child].ended || p->runners[child].joined) return;
    take_turn(p);
    ADD(p, JOIN, SITE_OF_RECORDS, child);
    p->runners[child].joined = true;
}

static void do_lock(program *p)
{
    uint32_t m = rnd(&p->random, MUTEXES);
    int *held = &p->runners[p->thread].held[m];
    bool free = true;
    for (uint32_t t = 0; t < RUNNERS; t++) free &= !p->runners[t].held[m];
    if (!free && !*held) return;
    take_turn(p);
    ADD(p, SYNC, *held ? FT_EVENT_RELEASE : FT_EVENT_ACQUIRE, 0, m, SITE_OF_RECORDS);
    *held = !*held;
}

static void do_mark(program *p)
{
    int *marks = &p->runners[p->thread].marks;
    take_turn(p);
    ADD(p, MARK, *marks ? FT_EVENT_TX_END : FT_EVENT_TX_BEGIN, SITE_OF_RECORDS);
    *marks = !*marks;
}

/* A block that was freed may be freed again. */
static void do_memory(program *p)
{
    bool again = p->was_live && rnd(&p->random, 4) == 0;
    take_turn(p);
    if (p->live || again) {
        ADD(p, FREE, SITE_OF_RECORDS, HEAP);
        p->live = false;
        return;
    }
    ADD(p, ALLOC, SITE_OF_RECORDS, HEAP, 2 * PIECE);
    p->live = p->was_live = true;
    if (rnd(&p->random, 2)) return;
    ADD(p, ZERO, HEAP, 2 * PIECE);
    memset(p->memory + 4 * PIECE, 0, 2 * PIECE);
}

static void choose_thread(program *p)
{
    for (;;) {
        p->thread = rnd(&p->random, p->n);
        if (p->runners[p->thread].begun && !p->runners[p->thread].ended) return;
    }
}

static void run_program(program *p, uint64_t seed)
{
    static void (*const others[])(program *) = {do_fork, do_end,  do_join, do_join,
                                                do_lock, do_lock, do_mark, do_memory};
    *p = (program){.random = seed, .n = 1, .runners = {{.begun = true}}};
    add_head(p);
    for (int i = 0; i < STEPS; i++) {
        if (rnd(&p->random, 4) == 0) choose_thread(p);
        if (rnd(&p->random, 5) < 3)
            do_access(p);
        else
            others[rnd(&p->random, sizeof others / sizeof *others)](p);
    }
    p->thread = p->n > 1 && p->runners[1].begun && !p->runners[1].ended;
    do_end(p);
    do_join(p);
    do_access(p);
}

/* ---- both traces */

typedef enum trace_form { WHOLE, ORDERED, WITH_TERMS } trace_form;

static ft_trace *trace_of(const program *p, trace_form made_as)
{
    char path[64];
    ft_trace *made = NULL;
    ft_record_summary summary;
    ft_error err = FT_ERROR_INIT;
    ft_raw_header header = {.limit = FT_RAW_PAGE + p->log.len,
                            .started = 1,
                            .mark = p->log.len,
                            .end = FT_RAW_END_EXIT,
                            .threads = p->n,
                            .keeps_ordered = made_as == WHOLE,
                            .symbolic = made_as == WITH_TERMS};
    memcpy(header.magic, FT_RAW_MAGIC, sizeof header.magic);
    int fd = memfd_create("log", MFD_CLOEXEC);
    assert_true(fd >= 0 && ftruncate(fd, (off_t)header.limit) == 0);
    assert_int_equal(pwrite(fd, &header, sizeof header, 0), sizeof header);
    assert_int_equal(pwrite(fd, p->log.text, p->log.len, FT_RAW_PAGE), p->log.len);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (ft_record_make(path, &made, &summary, &err)) fail_msg("%s", err.message);
    close(fd);
    ft_strbuf file = {0};
    assert_int_equal(ft_binary_write(made, append_to, &file, &err), FT_OK);
    ft_trace_free(made);
    ft_trace *trace = read_text(file.text, file.len);
    ft_strbuf_release(&file);
    ft_observe_run(trace);
    return trace;
}

/* ---- what is found in them */

typedef struct findings {
    FT_VEC(char *) lines;        /* sorted, each once */
    uint64_t unknown[FT_CHECKS]; /* candidates without an answer */
} findings;

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* An event is known by its thread and step; a race's come in any order, and whether they were next
 * to each other in the run depends on what else is there. */
static char *line_of(const ft_trace *trace, const ft_finding *f)
{
    ft_strbuf line = {0};
    uint32_t n = ft_claim_events(&f->claim), events[FT_CLAIM_MAX_EVENTS];
    memcpy(events, f->claim.events, sizeof events);
    if (f->claim.kind == FT_CLAIM_RACE && trace->thread[events[0]] > trace->thread[events[1]]) {
        events[0] = f->claim.events[1];
        events[1] = f->claim.events[0];
    }
    ft_strbuf_printf(&line, "%s %s%s:", ft_check_name(f->check), ft_claim_kind_name(f->claim.kind),
                     f->observed && f->check != FT_CHECK_RACE ? " observed" : "");
    for (uint32_t i = 0; i < n; i++)
        ft_strbuf_printf(&line, " %s/%u", ft_trace_thread_name(trace, trace->thread[events[i]]),
                         trace->hook[events[i]]);
    return ft_strbuf_take(&line);
}

/* A use by the thread itself that freed the memory is in every schedule. It is kept where another
 * thread used bytes beside, which is known more or less exactly. */
static bool is_own_use(const ft_trace *trace, const ft_claim *c)
{
    bool use = c->kind == FT_CLAIM_AFTER_FREE && trace->kind[c->events[1]] != FT_EVENT_FREE;
    return use && trace->thread[c->events[0]] == trace->thread[c->events[1]];
}

static void sort_lines(findings *all)
{
    char **lines = all->lines.data;
    size_t n = 0;
    if (all->lines.len) qsort(lines, all->lines.len, sizeof *lines, by_text);
    for (size_t i = 0; i < all->lines.len; i++) {
        if (n && !strcmp(lines[n - 1], lines[i]))
            free(lines[i]);
        else
            lines[n++] = lines[i];
    }
    all->lines.len = n;
}

static findings find(ft_trace *trace, ft_model model)
{
    ft_oracle_job job = {.model = model};
    ft_pipeline_options options = {.per = "event", .encoding = "default"};
    ft_pipeline found;
    ft_strbuf why = {0};
    findings all = {0};
    for (int c = 0; c < FT_CHECK_PROPERTY; c++) job.checks[c] = true;
    json_t *spec = ft_pipeline_spec(trace, &job, &options);
    if (!ft_pipeline_run(trace, spec, &found, &why)) fail_msg("%s", ft_strbuf_text(&why));
    for (size_t i = 0; i < found.violations.len; i++) {
        const ft_finding *f = &found.violations.data[i];
        if (!is_own_use(trace, &f->claim)) ft_vec_push(&all.lines, line_of(trace, f));
    }
    for (int c = 0; c < FT_CHECKS; c++) all.unknown[c] = found.count[c][FT_VERDICT_UNKNOWN];
    sort_lines(&all);
    ft_pipeline_release(&found);
    ft_strbuf_release(&why);
    json_decref(spec);
    return all;
}

static void release(findings *f)
{
    for (size_t i = 0; i < f->lines.len; i++) free(f->lines.data[i]);
    ft_vec_release(&f->lines);
}

static bool is_of(const char *line, int check)
{
    const char *name = ft_check_name((ft_check)check);
    return !strncmp(line, name, strlen(name));
}

/* What `others` has is in `f` too, or may be among the candidates that got no answer there. */
static bool has_all(const findings *f, const findings *others)
{
    uint64_t missing[FT_CHECKS] = {0};
    bool all = true;
    for (size_t i = 0; i < others->lines.len; i++) {
        if (f->lines.len && bsearch(&others->lines.data[i], f->lines.data, f->lines.len,
                                    sizeof *f->lines.data, by_text))
            continue;
        for (int c = 0; c < FT_CHECKS; c++) missing[c] += is_of(others->lines.data[i], c);
    }
    for (int c = 0; c < FT_CHECKS; c++) all &= missing[c] <= f->unknown[c];
    return all;
}

static void print_findings(const ft_trace *trace, const findings *f)
{
    for (uint32_t e = 0; e < trace->n_events; e++) {
        ft_strbuf text = {0};
        ft_trace_print_event(trace, e, &text);
        fprintf(stderr, "%s/%u %s\n", ft_trace_thread_name(trace, trace->thread[e]), trace->hook[e],
                ft_strbuf_text(&text));
        ft_strbuf_release(&text);
    }
    for (size_t i = 0; i < f->lines.len; i++) fprintf(stderr, "  found %s\n", f->lines.data[i]);
    for (int c = 0; c < FT_CHECKS; c++)
        if (f->unknown[c])
            fprintf(stderr, "  unknown %s: %u\n", ft_check_name((ft_check)c),
                    (unsigned)f->unknown[c]);
}

typedef struct totals {
    uint64_t shorter, found, checks[FT_CHECKS], excused;
} totals;

/* Which step of the thread comes next before the event (step -1) or behind it; 0: none. */
static uint32_t hook_beside(const ft_trace *trace, uint32_t e, int step)
{
    uint32_t i = e;
    while (i < trace->n_events && (trace->thread[i] != trace->thread[e] || !trace->hook[i]))
        i += (uint32_t)step;
    return i < trace->n_events ? trace->hook[i] : 0;
}

static uint32_t edge_out(const ft_trace *trace, uint32_t edge)
{
    uint32_t e = 0;
    while (trace->kind[e] != FT_EVENT_EDGE_OUT || trace->object[e] != edge) e++;
    return e;
}

/* Has the trace an edge between the same events as the other's edge-in `e`? */
static bool has_edge(const ft_trace *trace, const ft_trace *other, uint32_t e)
{
    uint32_t from = edge_out(other, other->object[e]);
    for (uint32_t i = 0; i < trace->n_events; i++) {
        if (trace->kind[i] != FT_EVENT_EDGE_IN) continue;
        uint32_t out = edge_out(trace, trace->object[i]);
        if (trace->thread[i] == other->thread[e] && trace->thread[out] == other->thread[from] &&
            hook_beside(trace, i, 1) == hook_beside(other, e, 1) &&
            hook_beside(trace, out, -1) == hook_beside(other, from, -1))
            return true;
    }
    return false;
}

/* Orders between atomics that cover several cells: these programs have no other edges. Has a one
 * that b has not? */
static bool keeps_more(const ft_trace *a, const ft_trace *b)
{
    for (uint32_t e = 0; e < a->n_events; e++)
        if (a->kind[e] == FT_EVENT_EDGE_IN && !has_edge(b, a, e)) return true;
    return false;
}

/* Is all of b found in a? Where a has an order between atomics that b has not it may miss some:
 * without what is ordered it is less well known who used which bytes, and memory that one thread
 * used makes cells too. */
static bool misses_none(ft_trace *const traces[2], const findings found[2], int a, int b, totals *t)
{
    if (has_all(&found[a], &found[b])) return true;
    bool more = keeps_more(traces[a], traces[b]);
    t->excused += more;
    return more;
}

static void compare(uint64_t seed, ft_model model, ft_trace *const traces[2], totals *t)
{
    findings found[2] = {find(traces[0], model), find(traces[1], model)};
    if (!misses_none(traces, found, 0, 1, t) || !misses_none(traces, found, 1, 0, t)) {
        fprintf(stderr, "seed %llu, %s; whole:\n", (unsigned long long)seed, ft_model_name(model));
        print_findings(traces[0], &found[0]);
        fprintf(stderr, "without what is ordered:\n");
        print_findings(traces[1], &found[1]);
        fail();
    }
    for (size_t i = 0; i < found[1].lines.len; i++)
        for (int c = 0; c < FT_CHECKS; c++) t->checks[c] += is_of(found[1].lines.data[i], c);
    t->found += found[1].lines.len;
    release(&found[0]);
    release(&found[1]);
}

/* The next event that the program made itself; its end. */
static uint32_t next_of(const ft_trace *trace, uint32_t e)
{
    while (e < trace->n_events && trace->flags[e] & FT_FLAG_SYNTHETIC) e++;
    return e;
}

static void check_events(uint64_t seed, const ft_trace *a, const ft_trace *b)
{
    uint32_t i = next_of(a, 0), j = next_of(b, 0);
    for (; i < a->n_events && j < b->n_events; i = next_of(a, i + 1), j = next_of(b, j + 1)) {
        bool same =
            a->kind[i] == b->kind[j] && a->thread[i] == b->thread[j] && a->hook[i] == b->hook[j];
        if (!same) fail_msg("seed %llu: event %u is not event %u", (unsigned long long)seed, i, j);
    }
    assert_int_equal(i, a->n_events);
    assert_int_equal(j, b->n_events);
}

static void compare_seed(uint64_t seed, totals *t)
{
    program p;
    run_program(&p, seed);
    ft_trace *traces[2] = {trace_of(&p, WHOLE), trace_of(&p, ORDERED)};
    ft_trace *with_terms = trace_of(&p, WITH_TERMS);
    check_events(seed, traces[1], with_terms);
    bool supported[FT_MODELS];
    ft_model initial;
    ft_engine_models(traces[1], supported, &initial);
    for (int m = 0; m < FT_MODELS; m++)
        if (supported[m]) compare(seed, (ft_model)m, traces, t);
    t->shorter += traces[1]->n_events < traces[0]->n_events;
    ft_trace_free(with_terms);
    ft_trace_free(traces[0]);
    ft_trace_free(traces[1]);
    ft_strbuf_release(&p.log);
}

/* Each trace has as many orders between atomics as the other, but not the same ones. */
enum { OTHER_ORDERS = 520208569 };

static void test_findings(void **unused)
{
    (void)unused;
    uint64_t start = seeded_number("FT_SEED_START", 0), n = seeded_number("FT_SEEDS", 300);
    totals t = {0}, extra = {0};
    compare_seed(OTHER_ORDERS, &extra);
    assert_true(extra.excused > 0);
    for (uint64_t seed = start; seed < start + n; seed++) compare_seed(seed, &t);
    print_message("%u of %u logs have something ordered, %u findings (race %u, atomicity %u, order "
                  "%u); %u comparisons are excused by orders between atomics\n",
                  (unsigned)t.shorter, (unsigned)n, (unsigned)t.found,
                  (unsigned)t.checks[FT_CHECK_RACE], (unsigned)t.checks[FT_CHECK_ATOMICITY],
                  (unsigned)t.checks[FT_CHECK_ORDER], (unsigned)t.excused);
    if (n < 300) return;
    assert_true(t.shorter >= n / 4);
    assert_true(t.checks[FT_CHECK_RACE] >= n);
    assert_true(t.checks[FT_CHECK_ATOMICITY] >= n / 10);
    assert_true(t.excused <= n / 10);
    assert_true(t.checks[FT_CHECK_ORDER] >= n / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_findings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Taking a trace in block by block gives what reading it whole gives: the same trace, the same
 * facts about it, and the same refusals at the same places. */
#include <dirent.h>
#include <jansson.h>

#include "trace_support.h"

#include "engine/engine.h"
#include "oracle/generate.h"
#include "trace/binary.h"
#include "verdict/checker.h"
#include "verdict/intake.h"

static const uint32_t BLOCKS[] = {1, 3, 16, 500};

typedef struct outcome {
    ft_error err;
    bool again;
    ft_strbuf canonical;
    json_t *meta;
} outcome;

static void release(outcome *o)
{
    ft_strbuf_release(&o->canonical);
    json_decref(o->meta);
}

static json_t *describe(const ft_intake *in)
{
    ft_intake_trace known = ft_intake_result(in);
    return known.whole ? ft_engine_trace_meta(known.trace, "")
                       : ft_engine_tables_meta(known.trace, known.n_events, known.valued,
                                               known.symbolic, "");
}

static outcome take(const ft_strbuf *input, uint32_t block, size_t piece)
{
    outcome o = {.err = FT_ERROR_INIT};
    ft_intake *in = ft_intake_new(block, append_to, &o.canonical);
    for (size_t at = 0; at < input->len && !ft_intake_again(in) && !o.err.code; at += piece) {
        size_t n = input->len - at < piece ? input->len - at : piece;
        ft_status status = ft_intake_feed(in, input->text + at, n, &o.err);
        assert_int_equal(status, o.err.code);
    }
    if (!ft_intake_again(in) && !o.err.code) {
        ft_status status = ft_intake_finish(in, &o.err);
        assert_int_equal(status, o.err.code);
    }
    o.again = ft_intake_again(in);
    if (!o.again && !o.err.code) o.meta = describe(in);
    ft_intake_free(in);
    return o;
}

/* What a file reads as, written whole. */
static void write_whole(const ft_strbuf *file, ft_strbuf *out)
{
    ft_error err = FT_ERROR_INIT;
    ft_trace *trace = NULL;
    ft_reader *reader = ft_reader_new();
    ft_reader_keep_inputs(reader);
    ft_status status = ft_reader_feed(reader, file->text, file->len, &err);
    if (status == FT_OK) status = ft_reader_finish(reader, &trace, &err);
    if (status != FT_OK) fail_msg("the canonical form: %s", err.message);
    assert_int_equal(ft_binary_write(trace, append_to, out, &err), FT_OK);
    ft_trace_free(trace);
    ft_reader_free(reader);
}

static void assert_same_outcome(const outcome *a, const outcome *b)
{
    assert_int_equal(a->err.code, b->err.code);
    assert_string_equal(a->err.message, b->err.message);
    assert_int_equal(a->err.line, b->err.line);
    assert_int_equal(a->err.column, b->err.column);
    assert_int_equal(a->err.has_offset, b->err.has_offset);
    assert_int_equal(a->err.offset, b->err.offset);
    if (a->err.code) return;
    ft_strbuf left = {0}, right = {0};
    write_whole(&a->canonical, &left);
    write_whole(&b->canonical, &right);
    if (!json_equal(a->meta, b->meta))
        fail_msg("%s\n%s", json_dumps(a->meta, JSON_INDENT(1)),
                 json_dumps(b->meta, JSON_INDENT(1)));
    assert_int_equal(left.len, right.len);
    assert_memory_equal(left.text, right.text, left.len);
    ft_strbuf_release(&left);
    ft_strbuf_release(&right);
}

/* Returns in how many of the ways it was taken block by block. */
static uint32_t check(const ft_strbuf *input)
{
    uint32_t flowed = 0;
    outcome whole = take(input, 0, input->len + 1);
    assert_false(whole.again);
    for (size_t i = 0; i < sizeof BLOCKS / sizeof *BLOCKS; i++) {
        outcome o = take(input, BLOCKS[i], 1 + (input->len >> i));
        if (!o.again) assert_same_outcome(&whole, &o);
        flowed += !o.again;
        release(&o);
    }
    release(&whole);
    return flowed;
}

/* A binary file in small blocks, and the same as one that is not normalised yet. */
static uint32_t check_binary(const ft_strbuf *input)
{
    outcome o = take(input, 8, input->len + 1);
    uint32_t flowed = 0;
    if (!o.again && !o.err.code) {
        flowed += check(&o.canonical);
        o.canonical.text[5] = 0;
        flowed += check(&o.canonical);
    }
    release(&o);
    return flowed;
}

static void check_cut(const ft_strbuf *input, uint64_t *random)
{
    for (int i = 0; i < 4; i++) {
        ft_strbuf part = {0};
        ft_strbuf_add(&part, input->text, rnd(random, (uint32_t)input->len));
        check(&part);
        if (part.len) part.text[rnd(random, (uint32_t)part.len)] ^= (char)(1 << rnd(random, 8));
        check(&part);
        ft_strbuf_release(&part);
    }
}

static void read_file(const char *path, ft_strbuf *text)
{
    char piece[4096];
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    for (size_t n; (n = fread(piece, 1, sizeof piece, file)) > 0;) ft_strbuf_add(text, piece, n);
    fclose(file);
}

static uint32_t check_folder(const char *folder, const char *ending, uint32_t *files)
{
    uint32_t flowed = 0;
    uint64_t random = 1;
    DIR *dir = opendir(folder);
    for (const struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        size_t length = strlen(entry->d_name), end = strlen(ending);
        if (length < end || strcmp(entry->d_name + length - end, ending) != 0) continue;
        ft_strbuf path = {0}, text = {0};
        ft_strbuf_printf(&path, "%s/%s", folder, entry->d_name);
        read_file(path.text, &text);
        flowed += check(&text);
        flowed += check_binary(&text);
        if (text.len < 100000) check_cut(&text, &random);
        ++*files;
        ft_strbuf_release(&path);
        ft_strbuf_release(&text);
    }
    if (dir) closedir(dir);
    return flowed;
}

static void test_golden(void **state)
{
    (void)state;
    uint32_t files = 0, flowed = check_folder(FT_SOURCE_DIR "/tests/golden", ".ndjson", &files);
    assert_true(files > 50);
    assert_true(flowed > files);
}

static void test_corpus(void **state)
{
    (void)state;
    static const struct {
        const char *name, *ending;
    } FOLDERS[] = {{"ibm2003", ".log"},
                   {"speedygo", ".log"},
                   {"raceinjector", "orig"},
                   {"raceinjector/hb_missed/jigsaw", "4"},
                   {"raceinjector/hb_missed/treeset", "0"},
                   {"raceinjector/hb_missed/treeset", "1"}};
    uint32_t files = 0, flowed = 0;
    for (size_t i = 0; i < sizeof FOLDERS / sizeof *FOLDERS; i++) {
        char folder[512];
        snprintf(folder, sizeof folder, "%s/../shared/corpus/%s", FT_SOURCE_DIR, FOLDERS[i].name);
        flowed += check_folder(folder, FOLDERS[i].ending, &files);
    }
    if (!files) print_message("skipped: no public traces\n");
    print_message("%u files, %u times block by block\n", files, flowed);
    assert_true(!files || flowed > files);
}

static uint32_t check_trace(ft_trace *trace, uint64_t *random)
{
    ft_error err = FT_ERROR_INIT;
    ft_strbuf text = {0}, binary = {0};
    assert_int_equal(ft_ndjson_write(trace, append_to, &text, &err), FT_OK);
    assert_int_equal(ft_binary_write(trace, append_to, &binary, &err), FT_OK);
    uint32_t flowed = check(&text) + check(&binary) + check_binary(&text);
    check_cut(&text, random);
    check_cut(&binary, random);
    ft_strbuf_release(&text);
    ft_strbuf_release(&binary);
    ft_trace_free(trace);
    return flowed;
}

static void test_feasible(void **state)
{
    (void)state;
    enum { SEEDS = 150 };
    uint64_t random = 7;
    uint32_t flowed = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        flowed += check_trace(ft_generate(seed), &random);
    print_message("%u of %d\n", flowed, SEEDS * 16);
    assert_true(flowed > 4 * SEEDS);
}

static void test_wild(void **state)
{
    (void)state;
    enum { SEEDS = 120 };
    uint64_t random = 9;
    uint32_t flowed = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        flowed += check_trace(finish_trace(random_builder(seed, 6 + (uint32_t)seed % 40)), &random);
    print_message("%u of %d\n", flowed, SEEDS * 16);
    assert_true(flowed > SEEDS);
}

/* Threads under two spellings, forked before they act or behind their begin or not at all or often,
 * begins and ends around threads or inside, requests with and without their acquire. */
static void random_std(uint64_t *random, ft_strbuf *text)
{
    static const char *const OPS[] = {"r(x)",  "w(x)", "acq(l)", "rel(l)", "req(l)",
                                      "begin", "end",  "r(y)",   "begin",  "branch"};
    uint32_t orderly = rnd(random, 3), lines = 20 + rnd(random, 30);
    for (uint32_t i = 0; i < lines; i++) {
        uint32_t thread = orderly && i < lines / 2 ? rnd(random, 2) : rnd(random, 6);
        bool child = rnd(random, orderly ? 12 : 4) == 0, bare = rnd(random, 5) == 0;
        uint32_t other = 1 + rnd(random, 7);
        ft_strbuf_printf(text, "%s%u|", orderly || rnd(random, 9) ? "T" : "", thread);
        if (child)
            ft_strbuf_printf(text, "%s(%s%u)", rnd(random, 3) ? "fork" : "join", bare ? "" : "T",
                             other == thread ? 9 : other);
        else
            ft_strbuf_puts(text, OPS[rnd(random, orderly ? 5 : 10)]);
        ft_strbuf_printf(text, "|f.c:%u\n", rnd(random, 9));
    }
}

static void test_std(void **state)
{
    (void)state;
    enum { SEEDS = 1500 };
    uint64_t random = 3;
    uint32_t flowed = 0;
    for (int i = 0; i < SEEDS; i++) {
        ft_strbuf text = {0};
        random_std(&random, &text);
        flowed += check(&text);
        ft_strbuf_release(&text);
    }
    print_message("%u of %d\n", flowed, SEEDS * 4);
    assert_true(flowed > SEEDS);
}

/* Many threads, variables, locks, places and steps, of which there are more and more. */
static void make_large(ft_builder *b, uint64_t *random)
{
    enum { EVENTS = 30000 };
    uint32_t context = 0, held[50] = {0}, holds[EVENTS] = {0};
    ft_builder_lock(b, "first", 5, FT_LOCK_MUTEX);
    for (uint32_t i = 0; i < EVENTS; i++) {
        char name[32];
        size_t length = (size_t)snprintf(name, sizeof name, "n%u", rnd(random, 10 + i / 50));
        uint32_t t = ft_builder_thread(b, name, length > 3 ? 3 : length);
        uint32_t loc = ft_builder_location(b, name, length, i % 3 ? name : NULL, length);
        uint32_t x = ft_builder_shared(b, name, length, FT_INT_SORT);
        uint32_t value = ft_builder_value(b, (ft_value){FT_INT_SORT, rnd(random, 1 + i)});
        if (rnd(random, 9) == 0) context = ft_builder_context(b, rnd(random, 3) ? context : 0, loc);
        if (i > EVENTS / 2) ft_builder_hook(b, i);
        if (i > EVENTS / 3) ft_builder_in_context(b, context);
        if (t >= 50 || rnd(random, 5)) {
            bool read = holds[x] ? i % 4 : i % 2;
            if (!read || !holds[x]) holds[x] = value;
            ft_builder_event(b, read ? FT_EVENT_READ : FT_EVENT_WRITE, t, x, loc, holds[x], 0);
            continue;
        }
        uint32_t lock = ft_builder_lock(b, (snprintf(name, sizeof name, "l%u", t), name),
                                        strlen(name), FT_LOCK_RECURSIVE);
        bool release = held[t] && rnd(random, 2);
        held[t] += release ? UINT32_MAX : 1;
        ft_builder_event(b, release ? FT_EVENT_RELEASE : FT_EVENT_ACQUIRE, t, lock, loc, 0, 0);
    }
}

static void test_large(void **state)
{
    (void)state;
    uint64_t random = 11;
    ft_builder *b = ft_builder_new(FT_FORMAT_NDJSON);
    make_large(b, &random);
    assert_true(check_trace(finish_trace(b), &random) >= 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),   cmocka_unit_test(test_corpus),
        cmocka_unit_test(test_feasible), cmocka_unit_test(test_wild),
        cmocka_unit_test(test_std),      cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

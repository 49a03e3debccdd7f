/* Explorations that are shared out, against brute force: whatever number of workers takes the
 * parts, in whichever order they come back, and however many are killed or done twice, the ends of
 * a random program and the verdicts about it are those of all its interleavings and inputs.
 * FT_SEEDS=N and FT_SEED_START=N make longer runs. */
#include <inttypes.h>

#include "explore/exploring.h"
#include "explore/forest.h"
#include "program/witness/witness.h"
#include "symbolic_ends.h"
#include "verdict/names.h"

enum { LIMIT = 3000, STATES = 600, DEFAULT_SEEDS = 30, MOST_WORKERS = 8 };

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

typedef FT_VEC(ft_symbolic_maker) makers;
typedef FT_VEC(char *) texts;

typedef struct tally {
    uint64_t programs, parts, killed, twice, again, rounds, findings, cut_off;
    uint64_t open; /* with cutoffs: searches that were bounded */
    bool cutoffs;
} tally;

/* ---- ends: parts of the search itself */

/* What a worker gives back. */
typedef struct part {
    size_t task;
    texts open, proposed, keys;
    makers threads;
    classes found;
    uint64_t n_classes, cut_off;
    bool whole;
} part;

typedef struct pool {
    uint64_t seed;
    const inputs_program *p;
    const ft_program *program;
    texts tasks;          /* all that there were */
    FT_VEC(size_t) ready; /* of them */
    ft_intern keys;
    makers threads;
    inputs_words words;
    uint64_t n_classes;
    bool whole, cutoffs;
} pool;

static char *text_of(const ft_x_subtree *s)
{
    ft_strbuf text = {0};
    ft_x_subtree_print(s, &text);
    char *copy = ft_strdup(ft_strbuf_text(&text));
    ft_strbuf_release(&text);
    return copy;
}

static void add_text(texts *to, const ft_x_subtrees *from)
{
    for (size_t i = 0; i < from->len; i++) ft_vec_push(to, text_of(&from->data[i]));
}

static void release_texts(texts *all)
{
    for (size_t i = 0; i < all->len; i++) free(all->data[i]);
    ft_vec_release(all);
}

static void release_part(part *r)
{
    release_texts(&r->open);
    release_texts(&r->proposed);
    release_texts(&r->keys);
    ft_vec_release(&r->threads);
    ft_inputs_release_words(&r->found.words);
}

static void take_back(ft_x_forest *forest, part *r)
{
    ft_x_subtrees open = {0}, proposed = {0};
    ft_x_forest_take(forest, &open);
    ft_x_forest_proposals(forest, &proposed);
    add_text(&r->open, &open);
    add_text(&r->proposed, &proposed);
    for (size_t i = 0; i < proposed.len; i++) {
        char key[40];
        ft_x_name name = ft_x_subtree_key(&proposed.data[i]);
        snprintf(key, sizeof key, "%016" PRIx64 "%016" PRIx64, name.a, name.b);
        ft_vec_push(&r->keys, ft_strdup(key));
    }
    ft_x_subtrees_release(&open);
    ft_x_subtrees_release(&proposed);
}

/* In a process of its own, which knows the task's text and the numbers of threads. */
static part search(const pool *x, size_t task, uint64_t most_runs)
{
    ft_error err = FT_ERROR_INIT;
    ft_x_subtree subtree = {0};
    ft_x_counts n = {0};
    size_t n_threads;
    bool finished;
    part r = {.task = task};
    ft_symbolic_options own = {
        .races = true, .cutoffs = x->cutoffs, .max_steps = x->cutoffs ? 300 : 0};
    ft_symbolic *symbolic = ft_symbolic_new(x->program, &own);
    ft_symbolic_number(symbolic, x->threads.data, x->threads.len);
    ft_x_executor executor = ft_symbolic_executor(symbolic);
    r.found = (classes){.p = x->p, .program = x->program, .symbolic = symbolic};
    ft_x_options options = {
        .on_class = note_class, .context = &r.found, .max_runs = most_runs, .cutoffs = x->cutoffs};
    ft_x_forest *forest = ft_x_forest_new(&executor, &options, &n);
    ft_x_forest_grain(forest, 1, 2, 40);
    if (ft_x_subtree_parse(x->tasks.data[task], &subtree, &err) != FT_OK)
        complain(x->seed, x->p, err.message);
    ft_x_forest_add(forest, &subtree, true);
    if (ft_x_forest_run(forest, &finished, &err) != FT_OK) complain(x->seed, x->p, err.message);
    r.whole = ft_x_forest_is_whole(forest) && !n.strayed;
    r.n_classes = n.classes;
    r.cut_off = n.cut_off;
    take_back(forest, &r);
    const ft_symbolic_maker *all = ft_symbolic_makers(symbolic, &n_threads);
    for (size_t i = 0; i < n_threads; i++) ft_vec_push(&r.threads, all[i]);
    ft_vec_release(&subtree);
    ft_x_forest_free(forest);
    ft_symbolic_free(symbolic);
    return r;
}

static void add_task(pool *x, const char *text)
{
    ft_vec_push(&x->ready, x->tasks.len);
    ft_vec_push(&x->tasks, ft_strdup(text));
}

/* False: another part has numbered threads otherwise, and this one is done again. */
static bool commit(pool *x, const part *r)
{
    for (size_t i = 0; i < x->threads.len && i < r->threads.len; i++)
        if (memcmp(&x->threads.data[i], &r->threads.data[i], sizeof *r->threads.data) != 0)
            return false;
    for (size_t i = x->threads.len; i < r->threads.len; i++)
        ft_vec_push(&x->threads, r->threads.data[i]);
    for (size_t i = 0; i < r->open.len; i++) add_task(x, r->open.data[i]);
    for (size_t i = 0; i < r->proposed.len; i++) {
        uint32_t before = x->keys.len;
        ft_intern_add(&x->keys, r->keys.data[i], strlen(r->keys.data[i]));
        if (x->keys.len > before) add_task(x, r->proposed.data[i]);
    }
    for (uint32_t i = 0; i < r->found.words.all.len; i++)
        ft_intern_add(&x->words.all, r->found.words.all.names[i], r->found.words.all.lengths[i]);
    x->words.races = x->words.races || r->found.words.races;
    x->n_classes += r->n_classes;
    x->whole = x->whole && r->whole && !r->found.wrong;
    return true;
}

/* A part that is done a second time changes nothing: all of it is there. */
static bool is_known(const pool *x, const part *r)
{
    for (size_t i = 0; i < r->keys.len; i++)
        if (ft_intern_find(&x->keys, r->keys.data[i], strlen(r->keys.data[i])) == FT_NO_ID)
            return false;
    return !missing(&r->found.words.all, &x->words.all);
}

static void explore_shared(pool *x, unsigned workers, tally *n)
{
    uint64_t random = x->seed * 7 + workers;
    part out[MOST_WORKERS];
    unsigned busy = 0;
    add_task(x, "");
    x->whole = true;
    while (x->ready.len || busy) {
        while (x->ready.len && busy < workers) {
            size_t at = next_random(&random) % x->ready.len, task = x->ready.data[at];
            x->ready.data[at] = x->ready.data[--x->ready.len];
            out[busy++] = search(x, task, 1 + next_random(&random) % 12);
        }
        unsigned at = (unsigned)(next_random(&random) % busy);
        part r = out[at];
        uint64_t fate = next_random(&random) % 5;
        out[at] = out[--busy];
        bool taken = fate && commit(x, &r);
        n->parts++;
        n->cut_off += r.cut_off;
        n->killed += !fate;
        n->again += fate && !taken;
        if (!taken) ft_vec_push(&x->ready, r.task);
        if (taken && fate == 1) {
            n->twice++;
            if (!is_known(x, &r)) complain(x->seed, x->p, "a part that was done twice is news");
        }
        release_part(&r);
    }
}

static void compare_ends(uint64_t seed, const inputs_program *p, const ft_program *program,
                         const inputs_words *want, unsigned workers, uint64_t *n_classes, tally *n)
{
    char what[300];
    pool x = {.seed = seed, .p = p, .program = program, .cutoffs = n->cutoffs};
    explore_shared(&x, workers, n);
    const char *lost = missing_end(&want->all, &x.words.all),
               *extra = missing_end(&x.words.all, &want->all);
    bool races = want->races;
    snprintf(what, sizeof what, "%u workers: %s%s%s; %u classes%s", workers,
             lost    ? "missed "
             : extra ? "extra "
                     : "",
             lost    ? lost
             : extra ? extra
                     : "",
             races == x.words.races ? "" : ", races", (unsigned)x.n_classes,
             x.whole ? "" : ", not whole");
    bool open = n->cutoffs && !x.whole; /* states that do not come again, or are not compared */
    if (races != x.words.races || (!races && (extra || (!open && (lost || !x.whole)))))
        complain(seed, p, what);
    n->open += open;
    if (*n_classes && *n_classes != x.n_classes && !races && !x.cutoffs) complain(seed, p, what);
    *n_classes = x.n_classes;
    release_texts(&x.tasks);
    ft_vec_release(&x.ready);
    ft_intern_release(&x.keys);
    ft_vec_release(&x.threads);
    ft_inputs_release_words(&x.words);
}

/* ---- verdicts: tasks of a job, as the server adds them up (server/store/subtrees.c) */

typedef struct job {
    uint64_t seed, random;
    const inputs_program *p;
    const ft_program *program;
    json_t *spec, *explored, *found, *rest; /* found: records by key */
    json_t *ready, *keys;                   /* names; keys of what was proposed */
    unsigned round;
} job;

static const char *text(const json_t *of, const char *name)
{
    return json_string_value(json_object_get(of, name));
}

static void add_found(job *x, const json_t *result)
{
    size_t i;
    json_t *record;
    json_array_foreach(json_object_get(result, "records"), i, record)
        json_object_set(x->found, text(record, "key"), record);
}

static void add_sums(json_t *state, const json_t *sums)
{
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(sums, "counts"), name, value)
    {
        json_t *all = json_object_get(state, "counts");
        json_int_t n = json_integer_value(json_object_get(all, name));
        json_object_set_new(all, name, json_integer(n + json_integer_value(value)));
    }
    json_object_foreach(json_object_get(sums, "flags"), name, value) if (json_is_true(value))
        json_object_set(json_object_get(state, "flags"), name, value);
    if (json_object_get(sums, "levels"))
        json_object_set(state, "levels", json_object_get(sums, "levels"));
    if (json_object_get(sums, "open"))
        json_object_set(state, "open", json_object_get(sums, "open"));
    if (json_array_size(json_object_get(sums, "threads")) >
        json_array_size(json_object_get(state, "threads")))
        json_object_set(state, "threads", json_object_get(sums, "threads"));
}

static bool numbers_alike(const json_t *a, const json_t *b)
{
    const json_t *one = json_object_get(a, "threads"), *other = json_object_get(b, "threads");
    for (size_t i = 0; i < json_array_size(one) && i < json_array_size(other); i++)
        if (!json_equal(json_array_get(one, i), json_array_get(other, i))) return false;
    return true;
}

static void add_ready(job *x, const json_t *names)
{
    size_t i;
    json_t *name;
    json_array_foreach((json_t *)(uintptr_t)names, i, name) json_array_append(x->ready, name);
}

/* False: it is done again. */
static bool take(job *x, const json_t *result)
{
    size_t i;
    json_t *proposal, *sums = json_object_get(result, "explored");
    if (x->explored && !numbers_alike(sums, x->explored)) return false;
    add_found(x, result);
    if (!x->explored || json_is_true(json_object_get(result, "anew"))) {
        json_decref(x->explored);
        x->explored = json_deep_copy(sums);
        json_array_clear(x->ready);
        json_object_clear(x->keys);
        x->round++;
    } else {
        add_sums(x->explored, sums);
    }
    add_ready(x, json_object_get(result, "subtrees"));
    json_array_foreach(json_object_get(result, "proposals"), i, proposal)
    {
        const char *key = json_string_value(json_array_get(proposal, 0));
        if (!json_object_get(x->keys, key))
            json_array_append(x->ready, json_array_get(proposal, 1));
        json_object_set_new(x->keys, key, json_true());
    }
    return true;
}

static json_t *do_part(job *x, const char *name)
{
    ft_error err = FT_ERROR_INIT;
    json_t *result = NULL;
    ft_exploring_share share = {.soft_ms = 60000,
                                .soft_runs = 1 + (uint32_t)(next_random(&x->random) % 12),
                                .parts = 1 + (uint32_t)(next_random(&x->random) % 5)};
    ft_status status =
        name ? ft_exploring_part(x->program, x->spec, x->explored, name, share, NULL, &result, &err)
             : ft_exploring_plan(x->program, x->spec, share, NULL, &result, &err);
    if (status != FT_OK) complain(x->seed, x->p, err.message);
    return result;
}

typedef struct running {
    char *name;
    json_t *result;
    unsigned round;
} running;

static running begin_part(job *x)
{
    size_t at = next_random(&x->random) % json_array_size(x->ready);
    running r = {ft_strdup(json_string_value(json_array_get(x->ready, at))), NULL, x->round};
    json_array_remove(x->ready, at);
    r.result = do_part(x, r.name);
    return r;
}

static void finish_part(job *x, running *r, tally *n)
{
    bool killed = next_random(&x->random) % 5 == 0;
    n->parts++;
    n->killed += killed;
    bool over = r->round != x->round; /* its lease ended when the search began anew */
    if (!over && (killed || !take(x, r->result))) {
        n->again += !killed;
        json_array_append_new(x->ready, json_string(r->name));
    }
    json_decref(r->result);
    free(r->name);
}

/* The records of the whole job. */
static void run_job(job *x, unsigned workers, tally *n)
{
    running out[MOST_WORKERS];
    unsigned busy = 0;
    json_t *plan = do_part(x, NULL);
    bool shared = json_array_size(json_object_get(plan, "subtrees")) > 0;
    (void)take(x, plan);
    json_decref(plan);
    while (json_array_size(x->ready) || busy) {
        while (json_array_size(x->ready) && busy < workers) out[busy++] = begin_part(x);
        unsigned at = (unsigned)(next_random(&x->random) % busy);
        running r = out[at];
        out[at] = out[--busy];
        finish_part(x, &r, n);
    }
    json_t *end = shared ? do_part(x, "end") : NULL;
    if (end) add_found(x, end);
    json_decref(end);
    n->rounds += x->round - 1;
}

static bool has_finding(const job *x, ft_check check)
{
    const char *key;
    json_t *record;
    json_object_foreach(x->found, key,
                        record) if (strcmp(text(record, "check"), ft_check_name(check)) == 0 &&
                                    strcmp(text(record, "verdict"), "violation") == 0) return true;
    return false;
}

/* Is some word of the oracle one of these? */
static bool has_word(const inputs_words *words, const char *begins)
{
    for (uint32_t i = 0; i < words->all.len; i++)
        if (strncmp(words->all.names[i], begins, strlen(begins)) == 0) return true;
    return false;
}

static void expect_verdicts(const job *x, const inputs_words *want, unsigned workers)
{
    static const struct {
        const char *word;
        ft_check check;
    } ROWS[] = {{"deadlock", FT_CHECK_DEADLOCK}, {"assertion", FT_CHECK_ASSERTION}};
    const char *key;
    json_t *record;
    char what[600];
    for (size_t i = 0; i < 2 && !want->races; i++) {
        if (has_word(want, ROWS[i].word) == has_finding(x, ROWS[i].check)) continue;
        snprintf(what, sizeof what, "%u workers: %s", workers, ROWS[i].word);
        complain(x->seed, x->p, what);
    }
    if (want->races != has_finding(x, FT_CHECK_RACE)) complain(x->seed, x->p, "a race");
    json_object_foreach(x->found, key, record)
    {
        const char *verdict = text(record, "verdict");
        bool good =
            strcmp(verdict, "violation") == 0 || strcmp(verdict, "safe") == 0 || want->races;
        snprintf(what, sizeof what, "%u workers: %s is %s: %.300s", workers, key, verdict,
                 text(json_object_get(record, "reason"), "text"));
        if (!good) complain(x->seed, x->p, what);
    }
}

/* The same findings, and the same verdicts of the rest, by any number of workers. */
static void expect_same(const job *x, const json_t *first, unsigned workers)
{
    const char *key;
    json_t *record;
    json_object_foreach(x->found, key, record)
    {
        const json_t *other = json_object_get(first, key);
        if (other && strcmp(text(record, "verdict"), text(other, "verdict")) == 0) continue;
        char what[300];
        snprintf(what, sizeof what, "%u workers: %.200s", workers, key);
        complain(x->seed, x->p, what);
    }
    assert_int_equal(json_object_size(x->found), json_object_size(first));
}

/* Is the rest of some check bounded? */
static bool is_bounded(const job *x)
{
    const char *key;
    json_t *record;
    json_object_foreach(x->found, key,
                        record) if (strcmp(text(record, "verdict"), "bounded") == 0) return true;
    return false;
}

static json_t *compare_verdicts(uint64_t seed, const inputs_program *p, const ft_program *program,
                                const inputs_words *want, unsigned workers, tally *n)
{
    job x = {.seed = seed,
             .random = seed * 11 + workers,
             .p = p,
             .program = program,
             .spec = json_pack("{s:{s:i}, s:{s:b}}", "budget", "job_ms", 3600000, "explore",
                               "cutoffs", n->cutoffs),
             .found = json_object(),
             .ready = json_array(),
             .keys = json_object()};
    run_job(&x, workers, n);
    bool open = n->cutoffs && is_bounded(&x);
    if (!open) expect_verdicts(&x, want, workers);
    n->open += open;
    n->findings += json_object_size(x.found);
    json_decref(x.spec);
    json_decref(x.explored);
    json_decref(x.ready);
    json_decref(x.keys);
    return x.found;
}

/* ---- tests */

typedef void (*compare)(uint64_t seed, const inputs_program *p, const ft_program *program,
                        const inputs_words *want, tally *n);

static void ends_of(uint64_t seed, const inputs_program *p, const ft_program *program,
                    const inputs_words *want, tally *n);

/* Programs without end have live-locks, which are no words of theirs: their ends alone count. */
static void for_each_program(compare run, bool cutoffs)
{
    tally n = {.cutoffs = cutoffs};
    uint64_t seeds = number("FT_SEEDS", DEFAULT_SEEDS), start = number("FT_SEED_START", 1);
    for (uint64_t seed = start; seed < start + seeds; seed++) {
        inputs_program p;
        inputs_words want;
        bool by_states = cutoffs && seed % 3, endless = seed % 3 == 1 && run == ends_of, all;
        if (cutoffs)
            ft_inputs_random_cycles(seed, endless, !by_states, &p);
        else
            ft_inputs_random(seed, &p);
        ft_program *read = program_of(seed, &p), *program = ft_program_numbered(read);
        all = by_states ? ft_inputs_states(&p, program, STATES, &want)
                        : ft_inputs_enumerate(&p, program, LIMIT, &want);
        /* of inputs and atomics, writes are counted: states do not come again */
        if (all && !(cutoffs && endless && p.n_inputs)) {
            run(seed, &p, program, &want, &n);
            n.programs++;
        }
        ft_inputs_release_words(&want);
        ft_program_free(program);
        ft_program_free(read);
        ft_inputs_release(&p);
    }
    printf(
        "%u programs; %u parts (%u killed, %u twice, %u again), %u further rounds, %u records, %u "
        "runs cut off\n",
        (unsigned)n.programs, (unsigned)n.parts, (unsigned)n.killed, (unsigned)n.twice,
        (unsigned)n.again, (unsigned)n.rounds, (unsigned)n.findings, (unsigned)n.cut_off);
    if (seeds < 20 || start != 1) return; /* a sample of other seeds may have few of a kind */
    assert_true(n.open <= n.programs / 2);
    assert_true(n.programs > seeds / 4 && n.killed && n.parts > 4 * n.programs);
}

static const unsigned WORKERS[] = {1, 2, 8};

static void ends_of(uint64_t seed, const inputs_program *p, const ft_program *program,
                    const inputs_words *want, tally *n)
{
    uint64_t n_classes = 0;
    for (size_t i = 0; i < 3; i++) compare_ends(seed, p, program, want, WORKERS[i], &n_classes, n);
}

static void verdicts_of(uint64_t seed, const inputs_program *p, const ft_program *program,
                        const inputs_words *want, tally *n)
{
    json_t *first = NULL;
    for (size_t i = 0; i < 3; i++) {
        json_t *found = compare_verdicts(seed, p, program, want, WORKERS[i], n);
        job x = {.seed = seed, .p = p, .found = found};
        if (first && !want->races && !n->open) expect_same(&x, first, WORKERS[i]);
        json_decref(first);
        first = found;
    }
    json_decref(first);
}

static void test_ends(void **state)
{
    (void)state;
    for_each_program(ends_of, false);
}

static void test_verdicts(void **state)
{
    (void)state;
    for_each_program(verdicts_of, false);
}

/* No part knows of states that others have met. */
static void test_ends_with_cutoffs(void **state)
{
    (void)state;
    for_each_program(ends_of, true);
}

static void test_verdicts_with_cutoffs(void **state)
{
    (void)state;
    for_each_program(verdicts_of, true);
}

/* ---- what random programs hardly have */

/* The last thread to come makes another one: which ones there are depends on the schedule, and
 * parts meet them in different orders. */
static const char MAKERS[] =
    "program 1\nobject @m 40 align 8\nobject @n 4 align 4\n"
    "function @last(%a: i64) -> i64 {\n  start:\n    lock @m\n    unlock @m\n    return i64 0\n}\n"
    "function @f(%a: i64) -> i64 {\n  start:\n    lock @m\n    %n = load i32 @n\n"
    "    %more = add i32 %n, 1\n    store i32 %more, @n\n    unlock @m\n"
    "    %late = eq i32 %more, 4\n"
    "    branch %late, make, done\n  make:\n    %t = create @last, 0\n    join %t\n    jump done\n"
    "  done:\n    return i64 0\n}\n"
    "function @main() -> i32 {\n  start:\n    %a = create @f, 0\n    %b = create @f, 0\n"
    "    %c = create @f, 0\n    %d = create @f, 0\n    join %a\n    join %b\n    join %c\n    join "
    "%d\n    return i32 0\n}\n";

/* Only where the three sections of the others are over does @g race with @f; then the search begins
 * anew, and an update of @k can be lost. */
static const char LATE_RACE[] =
    "program 1\nobject @m 40 align 8\nobject @n 4 align 4\nobject @k 4 align 4\n"
    "function @add() {\n  start:\n    lock @m\n    %n = load i32 @n\n    %more = add i32 %n, 1\n"
    "    store i32 %more, @n\n    unlock @m\n    return\n}\n"
    "function @count() {\n  start:\n    %k = load i32 @k\n    %more = add i32 %k, 1\n"
    "    store i32 %more, @k\n    return\n}\n"
    "function @f(%a: i64) -> i64 {\n  start:\n    call @add()\n    call @add()\n    call @count()\n"
    "    return i64 0\n}\n"
    "function @g(%a: i64) -> i64 {\n  start:\n    lock @m\n    %n = load i32 @n\n    unlock @m\n"
    "    %all = eq i32 %n, 3\n    branch %all, count, done\n  count:\n    call @count()\n"
    "    jump done\n  done:\n    return i64 0\n}\n"
    "function @h(%a: i64) -> i64 {\n  start:\n    call @add()\n    return i64 0\n}\n"
    "function @main() -> i32 {\n  start:\n    %a = create @g, 0\n    %b = create @h, 0\n"
    "    %c = create @f, 0\n    join %a\n    join %b\n    join %c\n    %k = load i32 @k\n"
    "    %bad = eq i32 %k, 0\n    branch %bad, none, some\n  none:\n    %no = eq i32 %k, 1\n    "
    "assert \"counted\" %no\n"
    "    jump some\n  some:\n    return i32 0\n}\n";

static json_t *found_by_one(const ft_program *program)
{
    ft_error err = FT_ERROR_INIT;
    json_t *plan = NULL, *found = json_object(), *spec = json_object();
    assert_int_equal(ft_exploring_plan(program, spec, (ft_exploring_share){0}, NULL, &plan, &err),
                     FT_OK);
    job x = {.found = found};
    add_found(&x, plan);
    json_decref(plan);
    json_decref(spec);
    return found;
}

static void check_program(const char *program_text, tally *n)
{
    inputs_program p = {.n_threads = 4};
    ft_strbuf_puts(&p.text, program_text);
    ft_program *read = program_of(0, &p), *program = ft_program_numbered(read);
    json_t *want = found_by_one(program);
    for (uint64_t seed = 0; seed < 48; seed++) {
        job x = {.seed = seed,
                 .random = seed,
                 .p = &p,
                 .program = program,
                 .spec = json_object(),
                 .found = json_object(),
                 .ready = json_array(),
                 .keys = json_object()};
        run_job(&x, WORKERS[seed % 3], n);
        expect_same(&x, want, WORKERS[seed % 3]);
        json_decref(x.spec);
        json_decref(x.explored);
        json_decref(x.ready);
        json_decref(x.keys);
        json_decref(x.found);
    }
    json_decref(want);
    ft_program_free(program);
    ft_program_free(read);
    ft_inputs_release(&p);
}

static void test_threads_by_schedule(void **state)
{
    (void)state;
    tally n = {0};
    check_program(MAKERS, &n);
    print_message("%u parts, %u done again\n", (unsigned)n.parts, (unsigned)n.again);
    assert_true(n.again > 0);
}

static void test_late_race(void **state)
{
    (void)state;
    tally n = {0};
    check_program(LATE_RACE, &n);
    print_message("%u parts, %u further rounds\n", (unsigned)n.parts, (unsigned)n.rounds);
    assert_true(n.rounds > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ends),
                                       cmocka_unit_test(test_verdicts),
                                       cmocka_unit_test(test_threads_by_schedule),
                                       cmocka_unit_test(test_late_race),
                                       cmocka_unit_test(test_ends_with_cutoffs),
                                       cmocka_unit_test(test_verdicts_with_cutoffs)};
    return cmocka_run_group_tests_name("symbolic_parts", tests, NULL, NULL);
}

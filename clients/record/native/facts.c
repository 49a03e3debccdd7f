/* Facts about the program that runs bring: failures, races, refused calls; and places in it. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/contract.h"
#include "native/inside.h"

ft_native_place ft_native_place_of(const ft_native *n, uint64_t pc)
{
    const ft_exploring_header *h = n->shared;
    for (uint32_t i = 0; i < h->n_modules && i < FT_EXPLORING_MODULES; i++)
        if (pc >= h->modules[i].from && pc < h->modules[i].to)
            return (ft_native_place){.module = h->modules[i].path,
                                     .offset = pc - 1 - h->modules[i].base};
    return (ft_native_place){0};
}

/* ---- failures */

static bool same_place(const ft_native_place *a, const ft_native_place *b)
{
    return a->module == b->module && a->offset == b->offset;
}

static uint64_t add_failure(ft_native *n, const ft_native_failure *f)
{
    for (size_t i = 0; i < n->failures.len; i++) {
        ft_native_failure *known = &n->failures.data[i];
        if (known->kind != f->kind || known->code != f->code ||
            !same_place(&known->place, &f->place) || strcmp(known->text, f->text) != 0)
            continue;
        known->runs++;
        return i + 1;
    }
    ft_native_failure made = *f;
    made.text = ft_strdup(f->text);
    made.runs = 1;
    ft_vec_push(&n->failures, made);
    return n->failures.len;
}

/* The first thread that waits for ever; in a live-lock, that polls for ever. */
static uint32_t first_stuck(const ft_exploring_slot *s, ft_exploring_failure *kind)
{
    uint32_t first = FT_X_THREADS;
    *kind = FT_EXPLORING_FAILED_STUCK;
    for (uint32_t t = FT_X_THREADS; t-- > 0;)
        if (s->pending[t].kind != FT_X_NONE) first = t;
    for (uint32_t t = 0; t < FT_X_THREADS; t++) {
        if (s->pending[t].kind != FT_X_AWAIT) continue;
        *kind = FT_EXPLORING_FAILED_LIVE_LOCK;
        return t;
    }
    return first;
}

/* Threads that wait for ever: the place is that of the first one. */
static uint64_t add_stuck(ft_native *n, const ft_exploring_slot *s)
{
    ft_exploring_failure kind;
    uint32_t t = first_stuck(s, &kind);
    if (t < FT_X_THREADS) {
        return add_failure(n, &(ft_native_failure){.kind = kind,
                                                   .thread = t,
                                                   .place = ft_native_place_of(n, s->pending_pc[t]),
                                                   .text = ""});
    }
    return 0;
}

static uint64_t add_death(ft_native *n, const ft_exploring_slot *s, bool hangs)
{
    ft_native_failure f = {.kind = hangs ? FT_EXPLORING_FAILED_HANG : FT_EXPLORING_FAILED_SIGNAL,
                           .thread = s->running,
                           .text = ""};
    if (!hangs && WIFSIGNALED(s->status)) f.code = WTERMSIG(s->status);
    if (!hangs && WIFEXITED(s->status)) {
        f.kind = FT_EXPLORING_FAILED_EXIT;
        f.code = WEXITSTATUS(s->status);
    }
    return add_failure(n, &f);
}

/* ---- outputs: by two hashes, since there may be many */

static uint64_t number_of_output(ft_native *n, ft_native_output_name name)
{
    for (uint64_t key = name.a;; key++) {
        bool inserted;
        uint64_t *number = ft_map_slot(&n->by_output, key, n->outputs.len + 1, &inserted);
        const ft_native_output_name *known = inserted ? NULL : &n->outputs.data[*number - 1].name;
        if (inserted) ft_vec_push(&n->outputs, (ft_native_kept_output){.name = name});
        if (inserted || (known->a == name.a && known->b == name.b)) return *number;
    }
}

uint64_t ft_native_note_output(ft_native *n, const ft_exploring_slot *s, bool passed)
{
    enum { SEED = 1, OTHER_SEED };
    bool is_whole = s->output_size <= FT_EXPLORING_OUTPUT;
    size_t size = is_whole ? s->output_size : FT_EXPLORING_OUTPUT;
    n->last_output = (ft_native_text){.bytes = s->output, .size = size, .is_whole = is_whole};
    uint64_t number =
        number_of_output(n, (ft_native_output_name){ft_hash_bytes(s->output, size, SEED),
                                                    ft_hash_bytes(s->output, size, OTHER_SEED)});
    ft_native_kept_output *kept = &n->outputs.data[number - 1];
    if (!passed || kept->bytes || kept->is_forgotten) return number;
    kept->bytes = ft_alloc(size + 1);
    memcpy(kept->bytes, s->output, size);
    kept->size = size;
    kept->is_whole = is_whole;
    return number;
}

ft_native_text ft_native_output(const ft_native *n, uint64_t output)
{
    FT_REQUIRE(output && output <= n->outputs.len);
    const ft_native_kept_output *kept = &n->outputs.data[output - 1];
    return (ft_native_text){.bytes = kept->bytes, .size = kept->size, .is_whole = kept->is_whole};
}

void ft_native_forget_output(ft_native *n, uint64_t output)
{
    FT_REQUIRE(output && output <= n->outputs.len);
    ft_native_kept_output *kept = &n->outputs.data[output - 1];
    free(kept->bytes);
    kept->bytes = NULL;
    kept->is_forgotten = true;
}

ft_native_text ft_native_last_output(const ft_native *n)
{
    return n->last_output;
}

ft_native_output_name ft_native_name_of_output(const ft_native *n, uint64_t output)
{
    FT_REQUIRE(output && output <= n->outputs.len);
    return n->outputs.data[output - 1].name;
}

void ft_native_name_output(ft_native *n, ft_native_output_name name)
{
    number_of_output(n, name);
}

/* ---- races */

static void add_race(ft_native *n, const ft_exploring_race *r)
{
    bool inserted;
    uint64_t low = r->pc[0] < r->pc[1] ? r->pc[0] : r->pc[1], high = r->pc[0] ^ r->pc[1] ^ low;
    uint64_t key = low * UINT64_C(0x9E3779B97F4A7C15) ^ high;
    uint64_t *number = ft_map_slot(&n->by_race, key, n->races.len, &inserted);
    ft_vec_push(&n->run_races, (uint32_t)*number);
    if (!inserted) return;
    ft_native_race made = {
        .race = *r, .place = {ft_native_place_of(n, r->pc[0]), ft_native_place_of(n, r->pc[1])}};
    ft_vec_push(&n->races, made);
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

uint64_t ft_native_note_races(ft_native *n, const ft_exploring_slot *s)
{
    uint32_t *own;
    n->run_races.len = 0;
    for (uint32_t i = 0; i < s->n_races && i < FT_EXPLORING_RACES; i++) add_race(n, &s->races[i]);
    size_t many = n->run_races.len, bytes = many * sizeof *own;
    if (!many) return 0;
    own = n->run_races.data;
    qsort(own, many, sizeof *own, compare_numbers);
    for (uint64_t key = ft_hash_bytes(own, bytes, many);; key++) {
        bool inserted;
        uint64_t *at = ft_map_slot(&n->by_race_set, key, n->race_sets.len + 1, &inserted);
        const uint32_t *known = inserted ? NULL : &n->race_sets.data[*at - 1];
        if (known && known[0] == many && !memcmp(known + 1, own, bytes)) return *at;
        if (known) continue;
        ft_vec_push(&n->race_sets, (uint32_t)many);
        for (size_t i = 0; i < many; i++) ft_vec_push(&n->race_sets, own[i]);
        return *at;
    }
}

uint64_t ft_native_note(ft_native *n, const ft_exploring_slot *s, bool hangs)
{
    n->wide_points |= s->wide_points != 0;
    if (s->refused[0] && !n->refused[0]) {
        memcpy(n->refused, s->refused, sizeof n->refused - 1);
        n->refused_pc = s->result.pc;
    }
    if (s->is_complete && s->end == FT_X_STRAYED)
        memcpy(n->strayed, s->strayed, sizeof n->strayed - 1);
    if (!s->is_complete) return add_death(n, s, hangs);
    if (s->end == FT_X_STUCK) return add_stuck(n, s);
    if (!s->result.failure || s->end != FT_X_DONE) return 0;
    return add_failure(n, &(ft_native_failure){.kind = (ft_exploring_failure)s->result.failure,
                                               .code = s->result.code,
                                               .thread = s->result.thread,
                                               .place = ft_native_place_of(n, s->result.pc),
                                               .text = s->result.text});
}

/* ---- what others ask */

const ft_native_failure *ft_native_failure_of(const ft_native *n, const ft_x_run *run)
{
    if (!run->result) return NULL;
    FT_REQUIRE(run->result <= n->failures.len);
    return &n->failures.data[run->result - 1];
}

size_t ft_native_failures(const ft_native *n, const ft_native_failure **all)
{
    *all = n->failures.data;
    return n->failures.len;
}

size_t ft_native_races(const ft_native *n, const ft_native_race **all)
{
    *all = n->races.data;
    return n->races.len;
}

size_t ft_native_run_races(const ft_native *n, const ft_x_run *run, const uint32_t **numbers)
{
    if (!run->races) return 0;
    FT_REQUIRE(run->races <= n->race_sets.len);
    *numbers = &n->race_sets.data[run->races];
    return n->race_sets.data[run->races - 1];
}

void ft_native_polls(ft_native *n, uint32_t rounds)
{
    for (uint32_t i = 0; i < n->n_slots; i++) FT_REQUIRE(!n->slots[i].busy);
    n->shared->options.polls = rounds;
}

void ft_native_points(ft_native *n, const uint64_t *points, size_t many, bool as_one)
{
    ft_exploring_options *o = &n->shared->options;
    FT_REQUIRE(many <= sizeof o->points / sizeof *o->points);
    for (uint32_t i = 0; i < n->n_slots; i++) FT_REQUIRE(!n->slots[i].busy);
    if (many) memcpy(o->points, points, many * sizeof *points);
    o->n_points = (uint32_t)many;
    o->points_as_one = as_one;
    n->wide_points = false;
    n->lingering.len = 0;
    n->sample.met = 0;
}

bool ft_native_has_wide_points(const ft_native *n)
{
    return n->wide_points;
}

bool ft_native_lingering(const ft_native *n, size_t i, ft_native_place *place)
{
    if (i >= n->lingering.len) return false;
    *place = ft_native_place_of(n, n->lingering.data[i]);
    return true;
}

const char *ft_native_refused(const ft_native *n, ft_native_place *place)
{
    if (!n->refused[0]) return NULL;
    *place = ft_native_place_of(n, n->refused_pc);
    return n->refused;
}

const char *ft_native_strayed(const ft_native *n)
{
    return n->strayed[0] ? n->strayed : NULL;
}

const ft_native_delay *ft_native_delays(const ft_native *n)
{
    return n->delays.data;
}

ft_native_origin ft_native_step_origin(const ft_native *n, size_t i)
{
    return i < n->origins.len ? n->origins.data[i] : (ft_native_origin){0};
}

size_t ft_native_threads(const ft_native *n, const ft_exploring_thread **all)
{
    *all = n->threads.data;
    return n->threads.len;
}

/* The dynamic linker lists the program first. */
bool ft_native_is_program(const ft_native *n, const ft_native_place *place)
{
    return n->shared->n_modules && place->module == n->shared->modules[0].path;
}

uint64_t ft_native_pending_pc(const ft_native *n, uint32_t thread)
{
    FT_REQUIRE(thread < FT_X_THREADS);
    return n->pending_pcs[thread];
}

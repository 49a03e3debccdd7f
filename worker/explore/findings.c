/* From failing runs to records, and what is said of the rest. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/contract.h"
#include "explore/internal.h"
#include "report/fingerprint.h"

/* Which check an error of a program belongs to. */
static const uint8_t CHECK_OF[FT_PROGRAM_ERRORS] = {
    [FT_ERROR_NONE] = FT_CHECK_FAILURE, /* an exit code */
    [FT_ERROR_ASSERTION] = FT_CHECK_ASSERTION, [FT_ERROR_NULL_ACCESS] = FT_CHECK_FAILURE,
    [FT_ERROR_BOUNDS] = FT_CHECK_FAILURE,      [FT_ERROR_FREED] = FT_CHECK_ORDER,
    [FT_ERROR_CONSTANT] = FT_CHECK_FAILURE,    [FT_ERROR_BAD_FREE] = FT_CHECK_FAILURE,
    [FT_ERROR_DOUBLE_FREE] = FT_CHECK_ORDER,   [FT_ERROR_ALIGNMENT] = FT_CHECK_FAILURE,
    [FT_ERROR_OVERLAP] = FT_CHECK_FAILURE,     [FT_ERROR_DIVISION] = FT_CHECK_FAILURE,
    [FT_ERROR_SHIFT] = FT_CHECK_FAILURE,       [FT_ERROR_CONVERSION] = FT_CHECK_FAILURE,
    [FT_ERROR_UNREACHABLE] = FT_CHECK_FAILURE, [FT_ERROR_BAD_CALL] = FT_CHECK_FAILURE,
    [FT_ERROR_MISUSE] = FT_CHECK_LOCK,         [FT_ERROR_RACE] = FT_CHECK_RACE,
    [FT_ERROR_DEADLOCK] = FT_CHECK_DEADLOCK,   [FT_ERROR_LIMIT] = FT_CHECK_FAILURE,
    [FT_ERROR_LIVE_LOCK] = FT_CHECK_FAILURE,
};

bool ft_exploring_has_inputs(const ft_program *p)
{
    for (size_t i = 0; i < p->functions.len; i++) {
        const ft_function *f = &p->functions.data[i];
        for (size_t k = 0; k < f->instructions.len; k++)
            if (f->instructions.data[k].code == FT_CODE_INPUT) return true;
    }
    return false;
}

bool ft_exploring_has(ft_check check)
{
    for (int e = 0; e < FT_PROGRAM_ERRORS; e++)
        if (CHECK_OF[e] == check) return true;
    return false;
}

void ft_exploring_add_name(json_t *names, const char *name)
{
    for (size_t i = 0; i < json_array_size(names); i++)
        if (strcmp(json_string_value(json_array_get(names, i)), name) == 0) return;
    json_array_append_new(names, json_string(name));
}

/* ---- failing runs ---- */

static uint64_t mixed(uint64_t hash, uint64_t value)
{
    return ft_hash_u64(hash ^ value) + (hash << 6);
}

static uint64_t place_hash(ft_interpreter_place place)
{
    return ft_hash_u64((uint64_t)place.function << 32 | place.instruction);
}

/* By the error and its places; of a deadlock by what the threads wait for. */
static uint64_t key_of(const ft_x_run *run, const ft_execution *x, const ft_interpreter_error *e)
{
    uint64_t key = mixed((uint64_t)x->error << 32, (uint32_t)x->exit_code);
    if (x->error == FT_ERROR_NONE) return key;
    if (x->error != FT_ERROR_DEADLOCK &&
        x->error != FT_ERROR_LIVE_LOCK) /* of a race: whichever came first */
        return mixed(key,
                     place_hash(e->place) + (e->kind == FT_ERROR_RACE ? place_hash(e->other) : 0));
    for (int t = 0; t < FT_X_THREADS; t++) {
        const ft_x_operation *o = &run->pending[t];
        if (o->kind != FT_X_NONE) key = mixed(key, (uint64_t)o->kind << 32 | o->object);
        if (o->kind == FT_X_AWAIT) key = mixed(key, (uint64_t)o->value2); /* its objects */
    }
    return key;
}

static uint32_t switches_of(const ft_execution *x)
{
    uint32_t n = 0;
    for (size_t i = 1; i < x->schedule.len; i++)
        n += x->schedule.data[i].thread != x->schedule.data[i - 1].thread;
    return n;
}

static ft_execution copy_of(const ft_exploring *x, const ft_execution *from)
{
    ft_execution to = {.error = from->error, .exit_code = from->exit_code, .thread = from->thread};
    for (size_t i = 0; i < from->schedule.len; i++)
        ft_vec_push(&to.schedule, from->schedule.data[i]);
    for (size_t i = 0; i < from->inputs.len; i++) {
        ft_input_value v = from->inputs.data[i];
        v.name = ft_strdup(v.name);
        ft_vec_push(&to.inputs, v);
    }
    for (size_t i = 0; i < x->points.len; i++) ft_vec_push(&to.points, x->points.data[i]);
    return to;
}

void ft_exploring_note(ft_exploring *x, const ft_x_run *run, const ft_execution *failed,
                       const ft_interpreter_error *error)
{
    enum { MOST_FAILURES = 500 };
    uint64_t key = key_of(run, failed, error);
    uint32_t switches = switches_of(failed);
    ft_program_failure *f = NULL;
    if (!x->checks[CHECK_OF[failed->error]]) return;
    for (size_t i = 0; i < x->failures.len && !f; i++)
        if (x->failures.data[i].key == key) f = &x->failures.data[i];
    if (!f && x->failures.len == MOST_FAILURES) return;
    bool better =
        f && (switches < f->switches ||
              (switches == f->switches && failed->schedule.len < f->execution.schedule.len));
    if (f && !better) return;
    if (!f) {
        ft_program_failure made = {.key = key, .check = CHECK_OF[failed->error]};
        ft_vec_push(&x->failures, made);
        f = &x->failures.data[x->failures.len - 1];
    }
    ft_execution_release(&f->execution);
    f->execution = copy_of(x, failed);
    f->switches = switches;
}

static const ft_object *bound_on_threads(const ft_program *p)
{
    static const char NAME[] = "foretell_most_threads";
    uint32_t symbol = ft_intern_find(&p->names, NAME, sizeof NAME - 1);
    return symbol == FT_NO_ID ? NULL : ft_program_object(p, symbol);
}

bool ft_exploring_bounds_threads(const ft_program *p)
{
    const ft_object *o = bound_on_threads(p);
    return o && o->n_initial > 0;
}

bool ft_exploring_bound_threads(ft_program *p, uint32_t most)
{
    const ft_object *o = bound_on_threads(p);
    const char bytes[4] = {(char)most, (char)(most >> 8), (char)(most >> 16), (char)(most >> 24)};
    if (!o || o->n_initial || o->size < sizeof bytes) return false;
    ft_object *bound = &p->objects.data[o - p->objects.data];
    bound->initial = (uint32_t)p->initials.len;
    bound->n_initial = 1;
    ft_initial content = {.symbol = FT_NO_SYMBOL,
                          .text = ft_intern_add(&p->texts, bytes, sizeof bytes)};
    ft_vec_push(&p->initials, content);
    return true;
}

static void add_line(void *context, const char *text)
{
    json_array_append_new(context, json_string(text));
}

static void take_words(char **to, const char *text)
{
    free(*to);
    *to = text ? ft_strdup(text) : NULL;
}

void ft_exploring_take_facts(ft_exploring *x)
{
    if (x->explained) {
        json_array_clear(x->explained);
        ft_backend_explain(x->backend, add_line, x->explained);
    }
    const char *open = ft_backend_left_open(x->backend);
    x->bounded = ft_backend_bounded(x->backend);
    if (x->cutoffs) /* executions that were cut behind a cutoff do not count */
        x->bounded = x->outcome.total.cut || x->outcome.tree.cut || x->counts.cut;
    if (x->few_threads || ft_exploring_bounds_threads(x->program)) x->bounded = true;
    x->too_many_threads = ft_backend_has_too_many_threads(x->backend);
    take_words(&x->open, open);
    take_words(&x->lingers, ft_backend_lingers(x->backend));
    const char *bound = ft_backend_bound(x->backend);
    if (!bound && ft_exploring_bounds_threads(x->program))
        bound = "threads beyond those of --threads go no further";
    char few[100];
    if (!bound && x->few_threads) {
        snprintf(few, sizeof few,
                 "there are more than %d threads, and more than %" PRIu32
                 " of a thread go no further",
                 FT_X_THREADS, x->few_threads);
        bound = few;
    }
    take_words(&x->bound, bound);
}

/* ---- records ---- */

static json_t *new_record(ft_check check, const char *kind, ft_verdict verdict, const char *key)
{
    return json_pack("{s:s, s:s, s:s, s:i, s:i, s:s, s:s, s:n, s:s, s:s}", "check",
                     ft_check_name(check), "kind", kind, "verdict", ft_verdict_name(verdict),
                     "count", 1, "pairs", 1, "model", "ctp", "memory", "sc", "bound", "scope",
                     "program", "key", key);
}

static void set_reason(json_t *record, ft_reason reason, const char *text)
{
    json_object_set_new(record, "reason",
                        json_pack("{s:s, s:s}", "pass", ft_reason_name(reason), "text", text));
}

static void add_print(json_t *record)
{
    char print[FT_FINGERPRINT + 1];
    ft_fingerprint(record, NULL, print);
    json_object_set_new(record, "fingerprint", json_string(print));
}

static json_t *finding(const ft_program_failure *f, const ft_story *story)
{
    ft_strbuf key = {0};
    ft_strbuf_printf(&key, "%s|%s", ft_check_name(f->check), story->key);
    json_t *record = new_record(f->check, story->kind, FT_VERDICT_VIOLATION, ft_strbuf_text(&key));
    ft_strbuf_release(&key);
    json_object_set_new(record, "status", json_string("explored"));
    json_object_set_new(record, "message", json_string(story->message));
    json_object_set_new(record, "object", story->object ? json_string(story->object) : json_null());
    json_object_set(record, "accesses", story->accesses);
    if (json_array_size(story->waiting)) json_object_set(record, "also_waiting", story->waiting);
    if (json_object_size(story->sources)) json_object_set(record, "sources", story->sources);
    set_reason(record, FT_REASON_EXPLORED, "the interpreter executed the schedule");
    add_print(record);
    json_object_set(record, "witness", story->witness);
    return record;
}

/* A run that the interpreter does not repeat is a fault of ours, and no finding. */
static json_t *rejected(const ft_program_failure *f, size_t number, const char *why)
{
    ft_strbuf key = {0};
    ft_strbuf_printf(&key, "%s|rejected|%zu", ft_check_name(f->check), number);
    json_t *record =
        new_record(f->check, ft_check_name(f->check), FT_VERDICT_ERROR, ft_strbuf_text(&key));
    ft_strbuf_release(&key);
    json_object_set_new(record, "message", json_string("a failing run was not repeated"));
    json_object_set_new(record, "accesses", json_array());
    set_reason(record, FT_REASON_WITNESS_REJECTED, why);
    add_print(record);
    return record;
}

static bool has_key(const json_t *records, const json_t *record)
{
    for (size_t i = 0; i < json_array_size(records); i++)
        if (json_equal(json_object_get(json_array_get(records, i), "key"),
                       json_object_get(record, "key")))
            return true;
    return false;
}

static void add_failure(const ft_exploring *x, size_t number, json_t *records)
{
    ft_error err = FT_ERROR_INIT;
    ft_story story;
    const ft_program_failure *f = &x->failures.data[number];
    if (ft_execution_tell(x->program, &f->execution, &story, &err) != FT_OK) {
        if (x->few_threads) return; /* a thread that went no further could have */
        json_array_append_new(records, rejected(f, number, err.message));
        return;
    }
    json_t *record = finding(f, &story);
    if (!has_key(records, record)) json_array_append(records, record);
    json_decref(record);
    ft_story_release(&story);
}

/* ---- the rest of the executions ---- */

typedef struct rest {
    ft_verdict verdict;
    ft_reason reason;
    ft_strbuf text;
} rest;

static void say_inputs(const ft_exploring *x, ft_strbuf *out)
{
    if (ft_exploring_has_inputs(x->program))
        ft_strbuf_puts(out, x->inputs.len ? " and every input but those that are given"
                                          : " and every input");
}

static bool is_every(const ft_exploring *x)
{
    return x->outcome.cover == FT_X_COVER_EVERY && !x->outcome.total.cut &&
           !x->outcome.total.strayed && !x->outcome.total.lingering && !x->lingers &&
           !x->outcome.tree.cut && !x->outcome.tree.strayed && !x->bounded && !x->open;
}

static void set_rest(rest *r, ft_verdict verdict, ft_reason reason)
{
    r->verdict = verdict;
    r->reason = reason;
}

/* Where a loop's further rounds were not tried, nothing is called every schedule. */
static void say_cover(const ft_exploring *x, ft_strbuf *out)
{
    static const char EVERY[] = "every schedule";
    ft_strbuf words = {0};
    ft_x_outcome_print(&x->outcome, &words);
    const char *text = ft_strbuf_text(&words);
    if (x->lingers && strncmp(text, EVERY, sizeof EVERY - 1) == 0) {
        ft_strbuf_puts(out, "schedules");
        text += sizeof EVERY - 1;
    }
    ft_strbuf_puts(out, text);
    if (x->outcome.total.cut_off)
        ft_strbuf_printf(out, ", and %" PRIu64 " executions up to a state that was met before",
                         x->outcome.total.cut_off);
    if (x->lingers)
        ft_strbuf_printf(out, ", with at most %" PRIu32 " fruitless rounds of %s", x->polls,
                         x->lingers);
    ft_strbuf_release(&words);
}

static void judge_rest(const ft_exploring *x, rest *r)
{
    say_cover(x, &r->text);
    bool strayed = x->outcome.total.strayed || x->outcome.tree.strayed;
    if (is_every(x) && !x->left_aside) {
        set_rest(r, FT_VERDICT_SAFE, FT_REASON_EXPLORED);
        say_inputs(x, &r->text);
        return;
    }
    if (strayed || x->open) {
        set_rest(r, FT_VERDICT_UNKNOWN, FT_REASON_LEFT_OPEN);
        ft_strbuf_printf(&r->text, "; %s",
                         x->open ? x->open : "some runs did not repeat themselves");
    } else if (x->left_aside) {
        set_rest(r, FT_VERDICT_UNKNOWN, FT_REASON_DATA_RACE);
        ft_strbuf_puts(&r->text, "; a data race may have further outcomes");
    } else if (x->outcome.stop == FT_X_STOP_TIME || x->outcome.stop == FT_X_STOP_ASKED) {
        set_rest(r, FT_VERDICT_UNKNOWN, FT_REASON_BUDGET);
        ft_strbuf_puts(&r->text, "; the time ran out");
    } else {
        set_rest(r, FT_VERDICT_BOUNDED, FT_REASON_BOUND);
        ft_strbuf_puts(&r->text, x->bounded   ? "; runs were cut by a bound"
                                 : x->lingers ? ""
                                              : "; by the job's bound");
        if (x->bounded && x->bound) ft_strbuf_printf(&r->text, ": %s", x->bound);
    }
}

/* The same by a proof. */
static void set_proved(const ft_exploring *x, rest *r)
{
    set_rest(r, FT_VERDICT_SAFE, FT_REASON_UNSAT);
    ft_strbuf_printf(&r->text, "no assertion fails, with any number of threads: %s", x->proof);
}

static json_t *rest_record(const rest *r, ft_check check)
{
    ft_strbuf key = {0};
    ft_strbuf_printf(&key, "%s|rest", ft_check_name(check));
    json_t *record = new_record(check, ft_check_name(check), r->verdict, ft_strbuf_text(&key));
    ft_strbuf_release(&key);
    json_object_set_new(record, "message", json_string("in the other executions"));
    json_object_set_new(record, "accesses", json_array());
    set_reason(record, r->reason, ft_strbuf_text(&r->text));
    add_print(record);
    return record;
}

/* ---- the plan ---- */

static json_t *count_candidates(const ft_exploring *x, const json_t *records)
{
    json_t *counts = json_object();
    for (int c = 0; c < FT_CHECKS; c++) {
        json_int_t n = 0;
        const char *name = ft_check_name((ft_check)c);
        for (size_t i = 0; i < json_array_size(records); i++) {
            const json_t *record = json_array_get(records, i);
            n += strcmp(json_string_value(json_object_get(record, "check")), name) == 0;
        }
        if (x->checks[c]) json_object_set_new(counts, name, json_integer(n));
    }
    return counts;
}

static void add_note(json_t *notes, const char *code, json_t *text)
{
    json_array_append_new(notes, json_pack("{s:s, s:o}", "code", code, "text", text));
}

/* Of a search that several workers shared, the lines are those of the last one. */
static void explain(const ft_exploring *x, json_t *notes)
{
    size_t i;
    json_t *line;
    const ft_x_counts *n = &x->outcome.total;
    add_note(notes, "explained",
             json_sprintf(
                 "explained: %llu executions: %llu different ones, %llu once more, %llu that no "
                 "input takes, %llu discarded, %llu cut, %llu that did not repeat themselves",
                 (unsigned long long)n->runs, (unsigned long long)n->classes,
                 (unsigned long long)n->redundant, (unsigned long long)n->infeasible,
                 (unsigned long long)n->discarded, (unsigned long long)n->cut,
                 (unsigned long long)n->strayed));
    json_array_foreach(x->explained, i, line)
        add_note(notes, "explained", json_sprintf("explained: %s", json_string_value(line)));
}

static json_t *notes_of(const ft_exploring *x, const rest *r)
{
    json_t *notes = json_array();
    if (x->proof)
        add_note(
            notes, "proved",
            json_sprintf("proved: no assertion fails, with any number of threads: %s", x->proof));
    if (!x->proof)
        add_note(notes, "explored", json_sprintf("explored: %s", ft_strbuf_text(&r->text)));
    if (x->points.len)
        add_note(notes, "points",
                 json_sprintf("threads also change in front of the %zu accesses of data races",
                              x->points.len));
    if (x->explained) explain(x, notes);
    return notes;
}

static json_t *rests_of(const ft_exploring *x, json_t *candidates)
{
    json_t *rests = json_array();
    for (int c = 0; c < FT_CHECKS; c++) {
        const char *name = ft_check_name((ft_check)c);
        if (!x->checks[c]) continue;
        json_int_t found = json_integer_value(json_object_get(candidates, name));
        json_object_set_new(candidates, name, json_integer(found + 1));
        json_array_append_new(rests, json_pack("{s:I, s:s, s:s, s:o, s:i, s:s}", "subproblem",
                                               (json_int_t)json_array_size(rests), "check", name,
                                               "kind", name, "key", json_sprintf("%s|rest", name),
                                               "pairs", 1, "scope", "program"));
    }
    return rests;
}

json_t *ft_exploring_found(ft_exploring *x, bool rests)
{
    json_t *records = json_array();
    for (size_t i = 0; i < x->failures.len; i++) add_failure(x, i, records);
    json_t *candidates = count_candidates(x, records);
    json_t *open = rests ? rests_of(x, candidates) : json_array();
    return json_pack("{s:s, s:[], s:o, s:o, s:o}", "model", "ctp", "notes", "candidates",
                     candidates, "records", records, "subproblems", open);
}

ft_status ft_exploring_conclude(ft_exploring *x, json_t **plan, ft_error *err)
{
    (void)err;
    rest r = {0};
    json_t *records = json_array();
    if (x->proof) /* there was no search */
        set_proved(x, &r);
    else
        judge_rest(x, &r);
    for (size_t i = 0; i < x->failures.len; i++) add_failure(x, i, records);
    for (int c = 0; c < FT_CHECKS; c++) {
        bool hidden = c == FT_CHECK_RACE && x->widened && r.verdict == FT_VERDICT_SAFE;
        rest own = r;
        if (hidden) set_rest(&own, FT_VERDICT_UNKNOWN, FT_REASON_DATA_RACE);
        if (x->checks[c]) json_array_append_new(records, rest_record(&own, (ft_check)c));
    }
    *plan =
        json_pack("{s:s, s:o, s:o, s:o, s:[]}", "model", "ctp", "notes", notes_of(x, &r),
                  "candidates", count_candidates(x, records), "records", records, "subproblems");
    ft_strbuf_release(&r.text);
    return *plan ? FT_OK : ft_error_set(err, FT_INTERNAL, "the plan cannot be written");
}

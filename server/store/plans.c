/* Plans: what a planning worker found becomes verdicts and solve tasks. They may be long, so their
 * texts are looked at and stored as they come, never built. Entries of a job that is not planned
 * are nobody's: a part of a plan is stored before the rest of it is there, and again where another
 * worker plans the job anew. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/internal.h"
#include "store/node.h"
#include "store/plan_text.h"
#include "store/schedule_sets.h"
#include "store/subtrees.h"

#define SHORT (64u << 10) /* bytes of a part that takes no time to speak of */

enum {
    MODEL,
    CANDIDATES,
    RECORDS,
    SUBPROBLEMS,
    NOTES,
    STATISTICS,
    EXPLORED,
    SUBTREES,
    PROPOSALS,
    ANEW,
    END,
    SET,
    MEMBERS
};

/* On the store's thread while one of its parts is there. */
struct ft_plan {
    unsigned references; /* the loop's */
    bool spoilt;
    ft_plan_text text;
    ft_results records;
    int64_t counts[FT_CHECKS]; /* by records and subproblems */
    int64_t subproblems;
    ft_strbuf row; /* of subproblems, not stored: the last of them */
    ft_scan_member of[MEMBERS];
    char model[64];
};

ft_plan *ft_plan_new(void)
{
    ft_plan *plan = ft_calloc(1, sizeof *plan);
    plan->references = 1;
    return plan;
}

void ft_plan_drop(ft_plan *plan)
{
    assert(!plan || plan->references > 0);
    if (!plan || --plan->references > 0) return;
    ft_plan_text_release(&plan->text);
    ft_results_release(&plan->records);
    ft_strbuf_release(&plan->row);
    free(plan);
}

void ft_plan_spoil(ft_plan *plan)
{
    plan->spoilt = true;
}

/* ---- Its parts ------------------------------------------------------------------------------- */

/* The row that an element becomes. */
typedef struct place {
    ft_sql *sql;
    int64_t job;
    ft_plan *plan;
} place;

static bool is_count(ft_span value, int64_t *count)
{
    return ft_scan_integer(value, count) && *count >= 0;
}

static ft_status check_subproblem(ft_plan *p, ft_span text, ft_error *err)
{
    ft_check check;
    char name[32];
    int64_t number, pairs;
    ft_scan_member of[] = {
        {.name = "subproblem"}, {.name = "check"}, {.name = "key"}, {.name = "pairs"}};
    ft_status status = ft_scan_object(text.at, text.length, of, 4, err);
    if (status != FT_OK) return status;
    bool good = ft_scan_word(of[1].value, name, sizeof name) && ft_check_parse(name, &check) &&
                is_count(of[0].value, &number) && is_count(of[3].value, &pairs) &&
                ft_scan_string(of[2].value);
    if (!good)
        return ft_error_set(err, FT_INPUT,
                            "a plan's subproblem lacks its number, check, key or pairs");
    if (number != p->subproblems || number == FT_CUBE_FIRST)
        return ft_error_set(err, FT_INPUT, "a plan's subproblems are not numbered 0, 1, ...");
    p->counts[check]++;
    return FT_OK;
}

static ft_status store_row(const place *to, ft_error *err)
{
    ft_plan *p = to->plan;
    if (p->row.len == 0) return FT_OK;
    assert(p->subproblems > 0);
    int64_t first = (p->subproblems - 1) / FT_ENTRIES_ROW * FT_ENTRIES_ROW;
    ft_status status =
        ft_entries_add(to->sql, to->job, first, (ft_span){p->row.text, p->row.len}, err);
    ft_strbuf_clear(&p->row);
    return status;
}

static ft_status add_subproblem(const place *to, ft_span text, ft_error *err)
{
    ft_plan *p = to->plan;
    ft_status status = check_subproblem(p, text, err);
    if (status != FT_OK) return status;
    if (p->row.len > 0) ft_strbuf_puts(&p->row, ",");
    ft_strbuf_add(&p->row, text.at, text.length);
    return ++p->subproblems % FT_ENTRIES_ROW == 0 ? store_row(to, err) : FT_OK;
}

static ft_status add_record(ft_plan *p, ft_span text, ft_error *err)
{
    ft_status status = ft_results_add(&p->records, 0, text.at, text.length, NULL, 0, err);
    if (status != FT_OK) return status;
    const ft_record *record = &p->records.items[p->records.count - 1].record;
    int64_t *sum = &p->counts[record->check];
    if (__builtin_add_overflow(*sum, record->count, sum))
        return ft_error_set(err, FT_INPUT, "a plan's records count too many candidates");
    return FT_OK;
}

static ft_status take(void *data, ft_plan_list list, ft_span text, ft_error *err)
{
    const place *to = data;
    return list == FT_PLAN_RECORDS ? add_record(to->plan, text, err)
                                   : add_subproblem(to, text, err);
}

/* *held: nobody else has the plan's task. */
static ft_status add_part(ft_sql *sql, const ft_request *request, bool *held, ft_error *err)
{
    int64_t one;
    place to = {sql, FT_TASK_JOB(request->task), request->plan};
    if (to.plan->spoilt)
        return ft_error_set(err, FT_IO, "a part of the plan before this one was not stored");
    ft_status status =
        ft_sql_number(sql, &one, held, err, "SELECT 1 FROM tasks WHERE id = ?1 AND token = ?2",
                      "ii", request->task, (int64_t)request->token);
    if (status != FT_OK || !*held) return status;
    return ft_plan_text_feed(&to.plan->text, request->bytes, request->length, take, &to, err);
}

static ft_status run_add(ft_sql *sql, ft_request *request, ft_error *err)
{
    bool held = false;
    ft_status status = add_part(sql, request, &held, err);
    if (status == FT_OK) request->result = json_pack("{s:b}", "applied", held);
    if (status == FT_OK && !held) ft_plan_spoil(request->plan);
    return status;
}

static void hand_over(ft_store *store, ft_request *request, ft_plan *plan, uint64_t token,
                      int64_t task, ft_strbuf *part)
{
    plan->references++;
    request->plan = plan;
    request->token = token;
    request->task = task;
    request->length = part->len;
    request->lengthy = part->len > SHORT;
    request->bytes = ft_strbuf_take(part);
    ft_store_send(store, request);
}

void ft_store_plan_add(ft_store *store, ft_plan *plan, uint64_t token, int64_t task,
                       ft_strbuf *part, ft_store_done done, void *data)
{
    hand_over(store, ft_store_request(run_add, true, done, data), plan, token, task, part);
}

/* ---- Its end --------------------------------------------------------------------------------- */

/* Every candidate is counted exactly once: by a record or by a subproblem. */
static ft_status check_sums(const ft_plan *p, ft_error *err)
{
    ft_scan_member of[FT_CHECKS];
    ft_span candidates = p->of[CANDIDATES].value;
    for (int c = 0; c < FT_CHECKS; c++)
        of[c] = (ft_scan_member){.name = ft_check_name((ft_check)c)};
    ft_status status = ft_scan_object(candidates.at, candidates.length, of, FT_CHECKS, err);
    for (int c = 0; c < FT_CHECKS && status == FT_OK; c++) {
        int64_t planned = 0;
        if (of[c].value.at && !ft_scan_integer(of[c].value, &planned)) planned = -1;
        if (planned == p->counts[c]) continue;
        status = ft_error_set(err, FT_INPUT,
                              "the plan has %lld candidates of %s, but its records and "
                              "subproblems add up to %lld",
                              (long long)planned, of[c].name, (long long)p->counts[c]);
    }
    return status;
}

/* The rest of the text once the lists are stored. */
static ft_status read_head(ft_plan *p, ft_error *err)
{
    static const char *const NAMES[MEMBERS] = {"model",     "candidates", "records",  "subproblems",
                                               "notes",     "statistics", "explored", "subtrees",
                                               "proposals", "anew",       "end",      "set"};
    const ft_strbuf *head = &p->text.head;
    for (int i = 0; i < MEMBERS; i++) p->of[i] = (ft_scan_member){.name = NAMES[i]};
    ft_status status = ft_scan_object(ft_strbuf_text(head), head->len, p->of, MEMBERS, err);
    if (status != FT_OK) return status;
    const ft_span candidates = p->of[CANDIDATES].value;
    if (!candidates.at || *candidates.at != '{' || !ft_scan_list(p->of[RECORDS].value) ||
        !ft_scan_list(p->of[SUBPROBLEMS].value) ||
        !ft_scan_word(p->of[MODEL].value, p->model, sizeof p->model))
        return ft_error_set(err, FT_INPUT,
                            "a plan lacks its model, candidates, records or subproblems");
    return check_sums(p, err);
}

static void keep(const ft_plan *p, int member, ft_strbuf *text)
{
    const ft_scan_member *its = &p->of[member];
    if (!its->value.at) return;
    ft_strbuf_printf(text, "%s\"%s\":", text->len > 1 ? "," : "", its->name);
    ft_strbuf_add(text, its->value.at, its->value.length);
}

static ft_status store_head(ft_sql *sql, const char *job, const ft_plan *p, ft_error *err)
{
    ft_strbuf text = {0};
    ft_strbuf_puts(&text, "{");
    keep(p, CANDIDATES, &text);
    keep(p, NOTES, &text);
    keep(p, STATISTICS, &text);
    ft_strbuf_puts(&text, "}");
    ft_status status = ft_sql_run(
        sql, NULL, err,
        "UPDATE jobs SET model = ?2, plan = ?3, tasks = tasks + ?4, open = ?4, ready = ?4, "
        "last = ?4 WHERE id = ?1",
        "ttsi", job, (const char *)p->model, (const char *)text.text, text.len, p->subproblems);
    ft_strbuf_release(&text);
    if (status != FT_OK) return status;
    return ft_store_job_move(sql, job, p->subproblems > 0 ? FT_JOB_SOLVING : FT_JOB_DONE, err);
}

/* Removes rows of an earlier plan of the job, never committed, behind the end of this one. */
static ft_status forget_rest(ft_sql *sql, int64_t job, const ft_plan *p, ft_error *err)
{
    return ft_sql_run(sql, NULL, err, "DELETE FROM entries WHERE id BETWEEN ?1 AND ?2", "ii",
                      FT_TASK_ID(job, p->subproblems + 1), FT_TASK_ID(job, FT_TASK_MOST));
}

static bool is_true(ft_span value)
{
    return value.length == 4 && memcmp(value.at, "true", 4) == 0;
}

/* Its members of an exploration. */
static ft_part part_of(const ft_plan *p, const ft_request *request, const char *job)
{
    return (ft_part){.job = job,
                     .task = request->task,
                     .token = request->token,
                     .explored = p->of[EXPLORED].value,
                     .subtrees = p->of[SUBTREES].value,
                     .proposals = p->of[PROPOSALS].value,
                     .notes = p->of[NOTES].value,
                     .anew = is_true(p->of[ANEW].value),
                     .ends = is_true(p->of[END].value),
                     .records = &p->records};
}

static ft_status commit_plan(ft_sql *sql, ft_request *request, const char *job, bool *applied,
                             ft_error *err)
{
    ft_plan *p = request->plan;
    const place to = {sql, FT_TASK_JOB(request->task), p};
    ft_status status = *applied ? read_head(p, err) : FT_OK;
    if (status == FT_OK && *applied)
        status = ft_store_task_end(sql, request->task, request->token, FT_TASK_DONE, applied, err);
    if (status == FT_OK && *applied && p->records.count > 0)
        status = ft_store_verdicts_add(sql, job, &p->records, p->records.count, err);
    if (status == FT_OK && *applied) status = store_row(&to, err);
    if (status == FT_OK && *applied) status = forget_rest(sql, to.job, p, err);
    if (status == FT_OK && *applied) status = store_head(sql, job, p, err);
    if (status == FT_OK && *applied && p->of[SET].value.at)
        status = ft_schedule_sets_add(sql, to.job, p->of[SET].value, err);
    const ft_part part = part_of(p, request, job);
    if (status == FT_OK && *applied && part.explored.at)
        status = ft_subtrees_begin(sql, &part, err);
    if (status == FT_OK) status = ft_store_change(sql, job, *applied, &request->result, err);
    return status;
}

/* The change says which leases are over, for the nodes that have them. */
static ft_status commit_part(ft_sql *sql, ft_request *request, const char *job, bool *applied,
                             ft_error *err)
{
    json_t *gone = json_array();
    ft_plan *p = request->plan;
    ft_status status = *applied ? read_head(p, err) : FT_OK;
    const ft_part part = part_of(p, request, job);
    if (status == FT_OK && *applied && p->subproblems > 0)
        status = ft_error_set(err, FT_INPUT, "a part of an exploration has subproblems");
    if (status == FT_OK && *applied) status = ft_subtrees_take(sql, &part, applied, gone, err);
    if (status == FT_OK) status = ft_store_read_change(sql, job, *applied, &request->result, err);
    if (status == FT_OK && json_array_size(gone)) json_object_set(request->result, "gone", gone);
    if (status == FT_OK && *applied) status = ft_node_tell(sql, request->result, err);
    json_decref(gone);
    return status;
}

static ft_status commit(ft_sql *sql, ft_request *request, bool *applied, ft_error *err)
{
    char job[FT_STORE_JOB_ID + 1];
    ft_status status = ft_store_task_job(sql, request->task, job, err);
    if (status != FT_OK) return status;
    return FT_TASK_NUMBER(request->task) ? commit_part(sql, request, job, applied, err)
                                         : commit_plan(sql, request, job, applied, err);
}

static ft_status run_end(ft_sql *sql, ft_request *request, ft_error *err)
{
    bool held = false;
    ft_status status = add_part(sql, request, &held, err);
    return status == FT_OK ? commit(sql, request, &held, err) : status;
}

void ft_store_plan_end(ft_store *store, ft_plan *plan, uint64_t token, int64_t task,
                       ft_strbuf *part, ft_store_done done, void *data)
{
    hand_over(store, ft_store_request(run_end, true, done, data), plan, token, task, part);
}

void ft_store_plan_commit(ft_store *store, uint64_t token, int64_t task, ft_strbuf *plan,
                          ft_store_done done, void *data)
{
    ft_plan *whole = ft_plan_new();
    ft_store_plan_end(store, whole, token, task, plan, done, data);
    ft_plan_drop(whole);
}

static ft_status run_plan_fail(ft_sql *sql, ft_request *request, ft_error *err)
{
    bool applied = false;
    char job[FT_STORE_JOB_ID + 1];
    ft_status status = ft_store_task_job(sql, request->task, job, err);
    if (status == FT_OK)
        status = ft_store_task_end(sql, request->task, request->token, FT_TASK_DONE, &applied, err);
    if (status == FT_OK && applied) status = ft_store_job_fail(sql, job, &request->cause, err);
    if (status == FT_OK) status = ft_store_change(sql, job, applied, &request->result, err);
    return status;
}

void ft_store_plan_fail(ft_store *store, uint64_t token, int64_t task, const ft_error *error,
                        ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_plan_fail, true, done, data);
    request->token = token;
    request->task = task;
    request->cause = *error;
    ft_store_send(store, request);
}

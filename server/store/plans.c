/* Plans: what a planning worker found becomes verdicts and solve tasks. They may be long, so their
 * texts are looked at and stored as they came, never built. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/internal.h"

enum { MODEL, CANDIDATES, RECORDS, SUBPROBLEMS, NOTES, STATISTICS, MEMBERS };

/* A plan that was looked at. */
typedef struct looked {
    ft_scan_member of[MEMBERS];
    char model[64];
    ft_results *records;
    int64_t counts[FT_CHECKS]; /* by records and subproblems */
    ft_span *rows;             /* owned: the subproblems, FT_ENTRIES_ROW in each but the last */
    size_t row_count, row_room;
    int64_t subproblems;
} looked;

/* ---- Checking -------------------------------------------------------------------------------- */

static bool is_count(ft_span value, int64_t *count)
{
    return ft_scan_integer(value, count) && *count >= 0;
}

static ft_status check_subproblem(looked *p, ft_span text, ft_error *err)
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
    if (number != p->subproblems || number == FT_TASK_MOST)
        return ft_error_set(err, FT_INPUT, "a plan's subproblems are not numbered 0, 1, ...");
    p->counts[check]++;
    return FT_OK;
}

static void add_to_row(looked *p, ft_span text)
{
    if (p->subproblems++ % FT_ENTRIES_ROW == 0) {
        p->rows = ft_vec_grow(p->rows, &p->row_room, p->row_count + 1, sizeof *p->rows);
        p->rows[p->row_count++] = text;
    }
    ft_span *row = &p->rows[p->row_count - 1];
    row->length = (size_t)(text.at + text.length - row->at);
}

static ft_status read_subproblems(looked *p, ft_error *err)
{
    ft_span rest = p->of[SUBPROBLEMS].value, text;
    while (ft_scan_next(&rest, &text)) {
        ft_status status = check_subproblem(p, text, err);
        if (status != FT_OK) return status;
        add_to_row(p, text);
    }
    return FT_OK;
}

static ft_status read_records(looked *p, ft_error *err)
{
    ft_span rest = p->of[RECORDS].value, text;
    while (ft_scan_next(&rest, &text)) {
        ft_status status = ft_results_add(p->records, 0, text.at, text.length, NULL, 0, err);
        if (status != FT_OK) return status;
        const ft_record *record = &p->records->items[p->records->count - 1].record;
        p->counts[record->check] += record->count;
    }
    return FT_OK;
}

/* Every candidate is counted exactly once: by a record or by a subproblem. */
static ft_status check_sums(const looked *p, ft_error *err)
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

static ft_status read_plan(looked *p, const char *text, size_t length, ft_error *err)
{
    static const char *const NAMES[] = {"model",       "candidates", "records",
                                        "subproblems", "notes",      "statistics"};
    for (int i = 0; i < MEMBERS; i++) p->of[i] = (ft_scan_member){.name = NAMES[i]};
    ft_status status = ft_scan_object(text, length, p->of, MEMBERS, err);
    if (status != FT_OK) return status;
    const ft_span candidates = p->of[CANDIDATES].value;
    if (!candidates.at || *candidates.at != '{' || !ft_scan_list(p->of[RECORDS].value) ||
        !ft_scan_list(p->of[SUBPROBLEMS].value) ||
        !ft_scan_word(p->of[MODEL].value, p->model, sizeof p->model))
        return ft_error_set(err, FT_INPUT,
                            "a plan lacks its model, candidates, records or subproblems");
    status = read_records(p, err);
    if (status == FT_OK) status = read_subproblems(p, err);
    return status == FT_OK ? check_sums(p, err) : status;
}

/* ---- Storing --------------------------------------------------------------------------------- */

static ft_status store_subproblems(ft_sql *sql, int64_t job, const looked *p, ft_error *err)
{
    ft_status status = FT_OK;
    for (size_t i = 0; i < p->row_count && status == FT_OK; i++)
        status = ft_entries_add(sql, job, (int64_t)i * FT_ENTRIES_ROW, p->rows[i], err);
    return status;
}

static void keep(const looked *p, int member, ft_strbuf *text)
{
    const ft_scan_member *its = &p->of[member];
    if (!its->value.at) return;
    ft_strbuf_printf(text, "%s\"%s\":", text->len > 1 ? "," : "", its->name);
    ft_strbuf_add(text, its->value.at, its->value.length);
}

static ft_status store_head(ft_sql *sql, const char *job, const looked *p, ft_error *err)
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

static ft_status commit(ft_sql *sql, ft_request *request, const looked *p, ft_error *err)
{
    bool applied = false;
    char job[FT_STORE_JOB_ID + 1];
    const ft_results *records = p->records;
    ft_status status = ft_store_task_job(sql, request->task, job, err);
    if (status == FT_OK)
        status = ft_store_task_end(sql, request->task, request->token, FT_TASK_DONE, &applied, err);
    if (status == FT_OK && applied && records->count > 0)
        status = ft_store_verdicts_add(sql, job, records, records->count, err);
    if (status == FT_OK && applied)
        status = store_subproblems(sql, FT_TASK_JOB(request->task), p, err);
    if (status == FT_OK && applied) status = store_head(sql, job, p, err);
    if (status == FT_OK) status = ft_store_change(sql, job, applied, &request->result, err);
    return status;
}

static ft_status run_plan(ft_sql *sql, ft_request *request, ft_error *err)
{
    looked p = {.records = &request->results};
    ft_status status = read_plan(&p, request->bytes, request->length, err);
    if (status == FT_OK) status = commit(sql, request, &p, err);
    free(p.rows);
    return status;
}

void ft_store_plan_commit(ft_store *store, uint64_t token, int64_t task, ft_strbuf *plan,
                          ft_store_done done, void *data)
{
    ft_request *request = ft_store_request(run_plan, true, done, data);
    request->token = token;
    request->task = task;
    request->length = plan->len;
    request->bytes = ft_strbuf_take(plan);
    ft_store_send(store, request);
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

#include "store/entries.h"

#include "base/contract.h"
#include "store/cubes.h"

void ft_entries_release(ft_entries *entries)
{
    ft_strbuf_release(&entries->list);
    *entries = (ft_entries){.first = 0};
}

static void take_row(ft_entries *entries, int64_t first, const char *list)
{
    ft_strbuf_clear(&entries->list);
    ft_strbuf_puts(&entries->list, list);
    entries->first = first;
    entries->count = 0;
    ft_span rest = {entries->list.text, entries->list.len};
    while (entries->count < FT_ENTRIES_ROW && ft_scan_next(&rest, &entries->items[entries->count]))
        entries->count++;
}

/* The row that has it, if one has. */
static ft_status read_row(ft_sql *sql, ft_entries *entries, int64_t task, ft_error *err)
{
    ft_statement *statement;
    bool row;
    ft_status status = ft_sql_start(
        sql, &statement, err,
        "SELECT id, list FROM entries WHERE id <= ?1 ORDER BY id DESC LIMIT 1", "i", task);
    if (status == FT_OK) status = ft_sql_next(sql, statement, &row, err);
    if (status != FT_OK || !row) return status;
    const char *list = ft_sql_text(statement, 1);
    if (!*list) return ft_error_set(err, FT_IO, "the store failed: out of memory");
    take_row(entries, ft_sql_int(statement, 0), list);
    return ft_sql_next(sql, statement, &row, err);
}

static bool is_entry_of(ft_span text, int64_t task, ft_entry *entry)
{
    int64_t number = -1;
    ft_scan_member of[] = {{.name = "subproblem"}, {.name = "check"}, {.name = "key"}};
    if (ft_scan_object(text.at, text.length, of, 3, NULL) != FT_OK) return false;
    *entry = (ft_entry){text, of[1].value, of[2].value};
    return ft_scan_integer(of[0].value, &number) && number + 1 == FT_TASK_NUMBER(task);
}

/* They stand in a row but for plans of earlier versions, which may leave numbers out. */
static bool find_in_row(const ft_entries *entries, int64_t task, ft_entry *entry)
{
    int64_t place = task - entries->first;
    if (entries->first == 0 || place < 0) return false;
    if (place < (int64_t)entries->count && is_entry_of(entries->items[place], task, entry))
        return true;
    for (size_t i = 0; i < entries->count; i++)
        if (is_entry_of(entries->items[i], task, entry)) return true;
    return false;
}

ft_status ft_entries_find(ft_sql *sql, ft_entries *entries, int64_t task, ft_entry *entry,
                          ft_error *err)
{
    int64_t parent = 0;
    if (ft_task_is_cube(task)) {
        ft_status found = ft_cubes_parent(sql, task, &parent, NULL, err);
        return found == FT_OK ? ft_entries_find(sql, entries, parent, entry, err) : found;
    }
    bool here = task >= entries->first && task < entries->first + (int64_t)entries->count;
    if (here && find_in_row(entries, task, entry)) return FT_OK;
    ft_status status = read_row(sql, entries, task, err);
    if (status != FT_OK || find_in_row(entries, task, entry)) return status;
    return ft_error_set(err, FT_INTERNAL, "the store lacks what the plan said of task %lld",
                        (long long)task);
}

ft_status ft_entries_add(ft_sql *sql, int64_t job, int64_t first, ft_span values, ft_error *err)
{
    ft_strbuf list = {0};
    FT_REQUIRE(job > 0 && first >= 0 && first % FT_ENTRIES_ROW == 0 && values.length > 0);
    ft_strbuf_puts(&list, "[");
    ft_strbuf_add(&list, values.at, values.length);
    ft_strbuf_puts(&list, "]");
    ft_status status =
        ft_sql_run(sql, NULL, err,
                   "INSERT INTO entries (id, list) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET "
                   "list = excluded.list",
                   "is", FT_TASK_ID(job, first + 1), (const char *)list.text, list.len);
    ft_strbuf_release(&list);
    return status;
}

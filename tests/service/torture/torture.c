#include "service/torture/torture.h"

#include <curl/curl.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/check.h"
#include "store/sql.h"

static void give_up(const char *what)
{
    perror(what);
    exit(2);
}

void ft_torture_wrong(ft_torture *torture, const char *where, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "WRONG: %s: ", where);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    torture->wrong++;
}

/* ---- The daemon ------------------------------------------------------------------------------ */

static void map_shim(ft_torture *torture)
{
    snprintf(torture->shim_file, sizeof torture->shim_file, "%s/shim", torture->daemon.folder);
    int fd = open(torture->shim_file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, sizeof *torture->shim) != 0) give_up(torture->shim_file);
    torture->shim = mmap(NULL, sizeof *torture->shim, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (torture->shim == MAP_FAILED) give_up("mmap");
}

void ft_torture_open(ft_torture *torture, const char *parent, const char *const *options)
{
    *torture = (ft_torture){.daemon.options = options};
    ft_daemon *daemon = &torture->daemon;
    snprintf(daemon->folder, sizeof daemon->folder, "%.32s/ft-torture-XXXXXX", parent);
    if (!mkdtemp(daemon->folder)) give_up(daemon->folder);
    snprintf(daemon->socket, sizeof daemon->socket, "%s/socket", daemon->folder);
    if (!ft_daemon_make_store(daemon)) give_up("the store's schema");
    map_shim(torture);
}

void ft_torture_close(ft_torture *torture)
{
    ft_daemon_kill(&torture->daemon);
    munmap(torture->shim, sizeof *torture->shim);
    if (torture->wrong)
        fprintf(stderr, "%s is kept\n", torture->daemon.folder);
    else
        ft_daemon_remove(&torture->daemon);
}

/* The shim lies beside this program. */
static void shim_path(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 32);
    if (length < 0) give_up("/proc/self/exe");
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    snprintf(slash, size - (size_t)(slash - path), "/libft_shim.so");
}

bool ft_torture_start(ft_torture *torture)
{
    char path[512];
    shim_path(path, sizeof path);
    atomic_store(&torture->shim->calls, 0);
    atomic_store(&torture->shim->allocs, 0);
    atomic_store(&torture->shim->writes, 0);
    setenv("LD_PRELOAD", path, 1);
    setenv(FT_SHIM_ENVIRONMENT, torture->shim_file, 1);
    bool ready = ft_daemon_start(&torture->daemon);
    unsetenv("LD_PRELOAD");
    return ready;
}

bool ft_torture_stop(ft_torture *torture)
{
    return ft_daemon_stop(&torture->daemon);
}

bool ft_torture_runs(const ft_torture *torture)
{
    siginfo_t info = {.si_pid = 0};
    pid_t process = torture->daemon.pid;
    if (process <= 0) return false;
    int code = waitid(P_PID, (id_t)process, &info, WEXITED | WNOHANG | WNOWAIT);
    return code == 0 && info.si_pid == 0;
}

void ft_torture_end(ft_torture *torture)
{
    static const int CLEAN[] = {0, FT_EXIT_NO_START, FT_EXIT_NOMEM};
    if (torture->daemon.pid > 0) (void)ft_daemon_stop(&torture->daemon);
    int status = torture->daemon.ended;
    for (size_t i = 0; WIFEXITED(status) && i < sizeof CLEAN / sizeof *CLEAN; i++)
        if (WEXITSTATUS(status) == CLEAN[i]) return;
    FT_WRONG(torture, "it ended with %s %d", WIFEXITED(status) ? "code" : "signal",
             WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

/* ---- The client ------------------------------------------------------------------------------ */

static size_t collect(char *data, size_t size, size_t count, void *to)
{
    ft_strbuf_add(to, data, size * count);
    return size * count;
}

static void set_up(CURL *curl, const char *method, const char *body, long patience_ms)
{
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    if (body) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)strlen(body));
    }
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, collect);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, patience_ms);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
}

long ft_torture_call(const ft_torture *torture, const char *method, const char *path,
                     const char *header, const char *body, long patience_ms, json_t **json)
{
    char url[512];
    long status = 0;
    ft_strbuf answer = {0};
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, header ? header : "X-Torture: yes");
    snprintf(url, sizeof url, "http://127.0.0.1:%d%s", torture->daemon.port, path);
    set_up(curl, method, body, patience_ms);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
    if (curl_easy_perform(curl) == CURLE_OK)
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    if (json) *json = answer.len ? json_loadb(answer.text, answer.len, 0, NULL) : NULL;
    ft_strbuf_release(&answer);
    return status;
}

/* ---- Outcomes -------------------------------------------------------------------------------- */

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text ? text : "";
}

/* A block of pruned candidates has no key: what it says is its name. */
static void name_of(const json_t *record, char *name, size_t size)
{
    const char *key = json_string_value(json_object_get(record, "key"));
    if (key)
        snprintf(name, size, "%s", key);
    else
        snprintf(name, size, "%s x %lld: %s", text_of(record, "message"),
                 (long long)json_integer_value(json_object_get(record, "count")),
                 text_of(json_object_get(record, "reason"), "text"));
}

static void add_records(ft_torture *torture, json_t *verdicts, const json_t *list)
{
    size_t i;
    const json_t *record;
    char name[1024];
    json_array_foreach(list, i, record)
    {
        name_of(record, name, sizeof name);
        if (json_object_get(verdicts, name)) FT_WRONG(torture, "two verdicts for %s", name);
        json_object_set(verdicts, name, json_object_get(record, "verdict"));
    }
}

static void check_counts(ft_torture *torture, const json_t *report)
{
    static const char *const PARTS[] = {"violation", "safe", "bounded", "unknown", "error"};
    const char *check;
    json_t *counts;
    json_object_foreach(json_object_get(report, "checks"), check, counts)
    {
        json_int_t sum = 0, all = json_integer_value(json_object_get(counts, "candidates"));
        for (size_t i = 0; i < sizeof PARTS / sizeof *PARTS; i++)
            sum += json_integer_value(json_object_get(counts, PARTS[i]));
        if (sum != all)
            FT_WRONG(torture, "%s: %lld verdicts for %lld candidates", check, (long long)sum,
                     (long long)all);
    }
}

static json_t *read_verdicts(ft_torture *torture, const char *job, bool complete, long *status)
{
    char path[128];
    json_t *report = NULL, *verdicts = NULL;
    snprintf(path, sizeof path, "/v1/jobs/%s/findings?safe=1&witness=0", job);
    *status = ft_torture_call(torture, "GET", path, NULL, NULL, FT_DAEMON_PATIENCE_MS, &report);
    if (*status == 200) {
        static const char *const LISTS[] = {"findings", "undecided", "safe"};
        verdicts = json_object();
        for (size_t i = 0; i < sizeof LISTS / sizeof *LISTS; i++)
            add_records(torture, verdicts, json_object_get(report, LISTS[i]));
        if (complete) check_counts(torture, report);
    }
    json_decref(report);
    return verdicts;
}

static bool has_ended(const char *state)
{
    return strcmp(state, "done") == 0 || strcmp(state, "failed") == 0 ||
           strcmp(state, "cancelled") == 0;
}

json_t *ft_torture_outcome(ft_torture *torture, const char *job, long patience_ms, long *status)
{
    char path[128], prefer[64];
    json_t *snapshot = NULL, *outcome = NULL;
    snprintf(path, sizeof path, "/v1/jobs/%s", job);
    snprintf(prefer, sizeof prefer, "Prefer: wait=%ld", patience_ms / 1000);
    *status = ft_torture_call(torture, "GET", path, prefer, NULL, patience_ms + 2000, &snapshot);
    const char *state = text_of(snapshot, "state");
    if (*status == 200 && !has_ended(state)) {
        FT_WRONG(torture, "job %s (%s) is still %s", job, text_of(snapshot, "name"), state);
    } else if (*status == 200) {
        json_t *verdicts = read_verdicts(torture, job, strcmp(state, "done") == 0, status);
        if (verdicts) outcome = json_pack("{s:s, s:o}", "state", state, "verdicts", verdicts);
    }
    json_decref(snapshot);
    return outcome;
}

bool ft_torture_same(const json_t *calm, const json_t *verdicts, bool tolerant)
{
    const char *key;
    const json_t *verdict;
    if (json_object_size(calm) != json_object_size(verdicts)) return false;
    json_object_foreach((json_t *)(uintptr_t)calm, key, verdict)
    {
        const char *before = json_string_value(verdict), *after = text_of(verdicts, key);
        if (strcmp(before, after) == 0) continue;
        bool undecided = strcmp(before, "unknown") == 0 || strcmp(after, "unknown") == 0;
        if (!tolerant || !undecided) return false;
    }
    return true;
}

/* ---- The state folder ------------------------------------------------------------------------ */

static const struct {
    const char *what, *count;
    bool alone; /* in a shared store another node may be at it, or it is left for a day */
} NONE_OF[] = {
    {"contents without a trace",
     "SELECT count(*) FROM blobs WHERE id NOT IN (SELECT blob FROM traces)", true},
    {"rows of no content",
     "SELECT count(*) FROM blob_chunks WHERE blob NOT IN (SELECT id FROM blobs)", false},
    {"traces whose rows do not add up",
     "SELECT count(*) FROM traces WHERE stored_bytes <> (SELECT coalesce(sum(length(data)), 0) "
     "FROM blob_chunks WHERE blob_chunks.blob = traces.blob)",
     false},
    {"tasks with two verdicts",
     "SELECT count(*) FROM (SELECT task FROM verdicts WHERE task IS NOT NULL GROUP BY task HAVING "
     "count(*) > 1) AS twice",
     false},
    {"tasks done without a verdict",
     "SELECT count(*) FROM jobs WHERE state = 'done' AND tasks - 1 <> (SELECT count(*) FROM "
     "verdicts WHERE verdicts.job = jobs.n AND task IS NOT NULL)",
     false},
    {"open tasks of jobs that have ended",
     "SELECT count(*) FROM tasks JOIN jobs ON jobs.n = tasks.job WHERE jobs.finished IS NOT NULL "
     "AND tasks.state IN ('ready', 'leased')",
     false},
    {"jobs that miscount what is open",
     "SELECT count(*) FROM jobs WHERE finished IS NULL AND open <> last - next + 1 + (SELECT "
     "count(*) FROM tasks WHERE tasks.job = jobs.n AND tasks.state IN ('ready', 'leased'))",
     false},
};

static void check_rows(ft_torture *torture, ft_sql *sql)
{
    for (size_t i = 0; i < sizeof NONE_OF / sizeof *NONE_OF; i++) {
        int64_t count = 0;
        ft_error err = FT_ERROR_INIT;
        if (NONE_OF[i].alone && ft_torture_shared()) continue;
        if (ft_sql_number(sql, &count, NULL, &err, NONE_OF[i].count, "") != FT_OK)
            FT_WRONG(torture, "%s: %s", NONE_OF[i].what, err.message);
        else if (count != 0)
            FT_WRONG(torture, "%lld %s", (long long)count, NONE_OF[i].what);
    }
}

static void check_files(ft_torture *torture, const char *folder)
{
    static const char *const KNOWN[] = {
        ".", "..", "lock", "tokens.mark", "foretell.db", "foretell.db-wal", "foretell.db-shm"};
    DIR *all = opendir(folder);
    for (const struct dirent *entry; all && (entry = readdir(all));) {
        bool known = ft_torture_shared() && strcmp(entry->d_name, "cache") == 0;
        for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
            known = known || strcmp(entry->d_name, KNOWN[i]) == 0;
        if (!known) FT_WRONG(torture, "a stray file %s", entry->d_name);
    }
    if (all) closedir(all);
}

bool ft_torture_shared(void)
{
    return getenv("FT_TEST_POSTGRES") != NULL;
}

static void open_database(const ft_torture *torture, ft_sql *sql)
{
    char database[512];
    ft_error err = FT_ERROR_INIT;
    *sql = (ft_sql){.driver = NULL};
    ft_daemon_database(&torture->daemon, database);
    if (ft_sql_open_existing(sql, database, &err) != FT_OK) give_up(err.message);
}

void ft_torture_age(ft_torture *torture)
{
    ft_sql sql;
    ft_error err = FT_ERROR_INIT;
    open_database(torture, &sql);
    if (ft_sql_script(&sql,
                      "UPDATE jobs SET created = created - 172800000, "
                      "finished = finished - 172800000;"
                      "UPDATE traces SET created = created - 172800000;",
                      &err) != FT_OK)
        FT_WRONG(torture, "%s", err.message);
    ft_sql_close(&sql);
}

void ft_torture_check_state(ft_torture *torture)
{
    char folder[96], database[512];
    ft_error err = FT_ERROR_INIT;
    ft_sql sql;
    snprintf(folder, sizeof folder, "%s/state", torture->daemon.folder);
    ft_daemon_database(&torture->daemon, database);
    check_files(torture, folder);
    if (ft_store_check_file(database, &err) != FT_OK) FT_WRONG(torture, "%s", err.message);
    open_database(torture, &sql);
    check_rows(torture, &sql);
    ft_sql_close(&sql);
}

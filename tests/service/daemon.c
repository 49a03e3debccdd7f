#include "service/daemon.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- The process ----------------------------------------------------------------------------- */

/* foretelld beside the test program, or what FORETELLD names: a program that runs it otherwise. */
static void program_path(char *path, size_t size)
{
    const char *other = getenv("FORETELLD");
    if (other) {
        snprintf(path, size, "%s", other);
        return;
    }
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    path[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) : 0;
    snprintf(path + folder, size - folder, "/foretelld");
}

#define ARGUMENTS 64

/* Where tests/postgres/with runs, each folder has a schema there. */
static const char *schema_of(const ft_daemon *daemon)
{
    return daemon->folder + strlen(daemon->folder) - 6;
}

bool ft_daemon_address(const ft_daemon *daemon, char address[512])
{
    const char *server = getenv("FT_TEST_POSTGRES");
    if (!server) return false;
    snprintf(address, 512, "%s&options=-csearch_path%%3D%%22%s%%22", server, schema_of(daemon));
    return true;
}

static bool psql(const ft_daemon *daemon, const char *before, const char *after)
{
    char command[700];
    const char *server = getenv("FT_TEST_POSTGRES");
    if (!server) return true;
    snprintf(command, sizeof command, "psql -X -q -d '%s' -c '%s \"%s\" %s' >/dev/null 2>&1",
             server, before, schema_of(daemon), after);
    return system(command) == 0;
}

bool ft_daemon_make_store(const ft_daemon *daemon)
{
    return psql(daemon, "CREATE SCHEMA", "");
}

void ft_daemon_place(const ft_daemon *daemon, char options[FT_DAEMON_PLACE])
{
    char address[512];
    int length = snprintf(options, FT_DAEMON_PLACE, "--state '%s/state'", daemon->folder);
    if (ft_daemon_address(daemon, address))
        snprintf(options + length, FT_DAEMON_PLACE - (size_t)length, " --store '%s'", address);
}

void ft_daemon_database(const ft_daemon *daemon, char database[512])
{
    if (!ft_daemon_address(daemon, database))
        snprintf(database, 512, "%s/state/foretell.db", daemon->folder);
}

/* On a shared store the leases of a daemon that was killed have to run out. */
#define LEASE_MS "2000"

static void run_daemon(const ft_daemon *daemon)
{
    char program[512], state[96], port_file[96], log_file[96], address[512];
    program_path(program, sizeof program);
    snprintf(state, sizeof state, "%s/state", daemon->folder);
    snprintf(port_file, sizeof port_file, "%s/port", daemon->folder);
    snprintf(log_file, sizeof log_file, "%s/log", daemon->folder);
    int log = open(log_file, O_WRONLY | O_CREAT | O_APPEND, 0600);
    /* Not one daemon is left behind, nor a pipe of the test held open, when a test fails. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (log >= 0) {
        dup2(log, STDOUT_FILENO);
        dup2(log, STDERR_FILENO);
    }
    const char *arguments[ARGUMENTS] = {
        program,       "--listen", "127.0.0.1:0", "--socket", daemon->socket, "--state", state,
        "--port-file", port_file,  "--workers",   "2"};
    size_t count = 11;
    if (ft_daemon_address(daemon, address)) {
        arguments[count++] = "--store";
        arguments[count++] = address;
        arguments[count++] = "--lease-ms";
        arguments[count++] = LEASE_MS;
    }
    for (const char *const *option = daemon->options; option && *option; option++)
        if (count < ARGUMENTS - 1) arguments[count++] = *option;
    execv(program, (char **)(uintptr_t)arguments);
    perror(program);
    _exit(127);
}

static bool read_port(ft_daemon *daemon)
{
    char path[96], text[32] = "";
    snprintf(path, sizeof path, "%s/port", daemon->folder);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    bool got = fgets(text, sizeof text, file) != NULL;
    fclose(file);
    daemon->port = got ? (int)strtol(text, NULL, 10) : 0;
    return daemon->port > 0;
}

/* The port file or the end of the process, whichever comes first. */
static bool await_port(ft_daemon *daemon, int notify)
{
    char events[4096];
    int process = (int)syscall(SYS_pidfd_open, daemon->pid, 0);
    struct pollfd wait[2] = {{.fd = notify, .events = POLLIN}, {.fd = process, .events = POLLIN}};
    bool got = false;
    while (!(got = read_port(daemon))) {
        if (poll(wait, 2, FT_DAEMON_PATIENCE_MS) <= 0 || wait[1].revents) break;
        if (wait[0].revents && read(notify, events, sizeof events) < 0) break;
    }
    close(process);
    return got;
}

static void print_log(const ft_daemon *daemon)
{
    char path[96], line[512];
    snprintf(path, sizeof path, "%s/log", daemon->folder);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) fprintf(stderr, "  foretelld: %s", line);
    if (file) fclose(file);
}

bool ft_daemon_start(ft_daemon *daemon)
{
    char port_file[96];
    if (!*daemon->folder) {
        snprintf(daemon->folder, sizeof daemon->folder, "/tmp/ft-service-XXXXXX");
        if (!mkdtemp(daemon->folder) || !ft_daemon_make_store(daemon)) return false;
        snprintf(daemon->socket, sizeof daemon->socket, "%s/socket", daemon->folder);
    }
    snprintf(port_file, sizeof port_file, "%s/port", daemon->folder);
    unlink(port_file);
    int notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    inotify_add_watch(notify, daemon->folder, IN_CLOSE_WRITE | IN_MOVED_TO);
    daemon->pid = fork();
    if (daemon->pid == 0) run_daemon(daemon);
    bool ready = daemon->pid > 0 && await_port(daemon, notify);
    close(notify);
    if (ready) return true;
    if (!daemon->may_die) {
        fprintf(stderr, "foretelld did not become ready\n");
        print_log(daemon);
    }
    ft_daemon_kill(daemon);
    return false;
}

static int await_end(ft_daemon *daemon)
{
    int status = -1;
    int process = (int)syscall(SYS_pidfd_open, daemon->pid, 0);
    struct pollfd wait = {.fd = process, .events = POLLIN};
    if (poll(&wait, 1, FT_DAEMON_PATIENCE_MS) != 1) {
        fprintf(stderr, "foretelld did not end\n");
        kill(daemon->pid, SIGKILL);
    }
    waitpid(daemon->pid, &status, 0);
    close(process);
    daemon->pid = 0;
    daemon->ended = status;
    return status;
}

bool ft_daemon_stop(ft_daemon *daemon)
{
    if (daemon->pid <= 0) return false; /* kill(0) would end everybody who tests */
    kill(daemon->pid, SIGTERM);
    int status = await_end(daemon);
    bool clean = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!clean && !daemon->may_die) print_log(daemon);
    return clean;
}

void ft_daemon_kill(ft_daemon *daemon)
{
    if (daemon->pid <= 0) return;
    kill(daemon->pid, SIGKILL);
    await_end(daemon);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info;
    (void)kind;
    (void)place;
    return remove(path);
}

void ft_daemon_remove(ft_daemon *daemon)
{
    ft_daemon_kill(daemon);
    if (*daemon->folder) {
        (void)psql(daemon, "DROP SCHEMA", "CASCADE");
        nftw(daemon->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    }
    daemon->folder[0] = '\0';
}

/* ---- The client ------------------------------------------------------------------------------ */

void ft_answer_release(ft_answer *answer)
{
    ft_strbuf_release(&answer->head);
    ft_strbuf_release(&answer->body);
    json_decref(answer->json);
    *answer = (ft_answer){0};
}

const char *ft_answer_header(const ft_answer *answer, const char *name)
{
    static char value[1024];
    size_t length = strlen(name);
    for (const char *line = ft_strbuf_text(&answer->head); *line;) {
        size_t end = strcspn(line, "\r\n");
        if (strncasecmp(line, name, length) == 0 && line[length] == ':') {
            const char *from = line + length + 1 + strspn(line + length + 1, " ");
            snprintf(value, sizeof value, "%.*s", (int)(line + end - from), from);
            return value;
        }
        line += end + strspn(line + end, "\r\n");
    }
    return NULL;
}

const char *ft_answer_text(const ft_answer *answer, const char *member)
{
    const char *text = json_string_value(json_object_get(answer->json, member));
    return text ? text : "";
}

static size_t collect(char *data, size_t size, size_t count, void *to)
{
    ft_strbuf_add(to, data, size * count);
    return size * count;
}

static void set_body(CURL *curl, const void *body, size_t length)
{
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
}

/* The first one of a run empties the file. */
static void record(const char *method, const char *path, const ft_answer *answer)
{
    static bool begun;
    const char *name = getenv("FT_EXCHANGES");
    json_t *body = json_stringn(ft_strbuf_text(&answer->body), answer->body.len);
    if (name && answer->status && (body || answer->body.len == 0)) {
        json_t *row =
            json_pack("{s:s, s:s, s:i, s:s, s:O?}", "method", method, "path", path, "status",
                      (int)answer->status, "head", ft_strbuf_text(&answer->head), "body", body);
        char *text = row ? json_dumps(row, JSON_COMPACT) : NULL;
        FILE *file = text ? fopen(name, begun ? "a" : "w") : NULL;
        if (file) {
            fprintf(file, "%s\n", text);
            fclose(file);
            begun = true;
        }
        free(text);
        json_decref(row);
    }
    json_decref(body);
}

ft_answer ft_daemon_call(const ft_daemon *daemon, const char *method, const char *path,
                         const char *const *headers, const void *body, size_t length)
{
    ft_answer answer = {0};
    char url[512];
    struct curl_slist *list = NULL;
    CURL *curl = curl_easy_init();
    snprintf(url, sizeof url, "http://127.0.0.1:%d%s", daemon->port, path);
    for (; headers && *headers; headers++) list = curl_slist_append(list, *headers);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    if (body) set_body(curl, body, length);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, collect);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer.body);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, collect);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &answer.head);
    curl_easy_setopt(curl, CURLOPT_NOBODY, (long)(strcmp(method, "HEAD") == 0));
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)FT_DAEMON_PATIENCE_MS);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    /* An answer that comes before the end of an upload counts, whatever happens to the rest. */
    (void)curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
    curl_slist_free_all(list);
    curl_easy_cleanup(curl);
    if (answer.body.len) answer.json = json_loadb(answer.body.text, answer.body.len, 0, NULL);
    record(method, path, &answer);
    return answer;
}

ft_answer ft_daemon_get(const ft_daemon *daemon, const char *path)
{
    return ft_daemon_call(daemon, "GET", path, NULL, NULL, 0);
}

ft_answer ft_daemon_post(const ft_daemon *daemon, const char *path, const char *body)
{
    return ft_daemon_call(daemon, "POST", path, NULL, body, strlen(body));
}

ft_strbuf ft_daemon_raw(const ft_daemon *daemon, const void *bytes, size_t length)
{
    ft_strbuf out = {0};
    char piece[4096];
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)daemon->port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0 &&
        send(fd, bytes, length, MSG_NOSIGNAL) == (ssize_t)length) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        ssize_t got = 1;
        while (got > 0 && poll(&wait, 1, FT_DAEMON_PATIENCE_MS) == 1) {
            got = recv(fd, piece, sizeof piece, 0);
            if (got > 0) ft_strbuf_add(&out, piece, (size_t)got);
        }
    }
    close(fd);
    return out;
}

static bool has_ended(const char *state)
{
    return strcmp(state, "done") == 0 || strcmp(state, "failed") == 0 ||
           strcmp(state, "cancelled") == 0;
}

json_t *ft_daemon_finish(const ft_daemon *daemon, const char *job,
                         void (*each)(void *data, const json_t *snapshot), void *data)
{
    char path[128], tag[64] = "If-None-Match: \"none\"";
    snprintf(path, sizeof path, "/v1/jobs/%s", job);
    for (;;) {
        const char *headers[] = {"Prefer: wait=20", tag, NULL};
        ft_answer answer = ft_daemon_call(daemon, "GET", path, headers, NULL, 0);
        const char *etag = ft_answer_header(&answer, "ETag");
        if (etag) snprintf(tag, sizeof tag, "If-None-Match: %.40s", etag);
        bool ended = has_ended(ft_answer_text(&answer, "state"));
        json_t *snapshot = json_incref(answer.json);
        long status = answer.status;
        ft_answer_release(&answer);
        if (status == 200 && each) each(data, snapshot);
        if (status == 200 && ended) return snapshot;
        json_decref(snapshot);
        if (status == 200 || status == 304) continue;
        fprintf(stderr, "GET %s: %ld\n", path, status);
        print_log(daemon);
        return NULL;
    }
}

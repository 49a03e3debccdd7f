#include "private_daemon.h"
#include "base/contract.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/strbuf.h"
#include "terminal/terminal.h"

enum { START_MS = 20000, STOP_MS = 5000, STEP_MS = 10, LOG_TAIL = 300, LEAST_SPACE = 1 << 20 };

struct ft_private_daemon {
    pid_t pid;
    char *folder; /* holds everything below */
    char *socket;
    char *server;
    char *log;
};

/* ---- folder --------------------------------------------------------------------------------- */

static char *join(const char *folder, const char *name)
{
    ft_strbuf path = {0};
    ft_strbuf_printf(&path, "%s/%s", folder, name);
    return ft_strbuf_take(&path);
}

/* A socket's path is limited to 108 bytes, so a long TMPDIR does not serve. */
static const char *temporary_root(void)
{
    const char *parent = getenv("TMPDIR");
    return !parent || !*parent || strlen(parent) > 60 ? "/tmp" : parent;
}

static char *make_folder(void)
{
    char *folder = join(temporary_root(), "foretell-XXXXXX");
    if (mkdtemp(folder)) return folder;
    free(folder);
    return NULL;
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *ftw)
{
    (void)info, (void)type, (void)ftw;
    remove(path);
    return 0;
}

/* ---- child ---------------------------------------------------------------------------------- */

/* The path of `name` beside this program; NULL when it is not there. */
static char *beside(const char *name)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) return NULL;
    self[length] = '\0';
    char *slash = strrchr(self, '/');
    if (!slash) return NULL;
    *slash = '\0';
    char *path = join(self, name);
    if (access(path, X_OK) == 0) return path;
    free(path);
    return NULL;
}

static int redirect(const char *log)
{
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int out = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (in < 0 || out < 0) return -1;
    return dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0 ? -1 : 0;
}

/* Its own process group keeps a terminal's Ctrl-C from it: this process ends it in its own time.
 * The death signal is for the case that this process cannot. */
static void become_daemon(char *const *argv, const char *log, pid_t parent)
{
    ft_signals_default();
    setpgid(0, 0);
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) || getppid() != parent || redirect(log)) _exit(127);
    execvp(argv[0], argv);
    dprintf(2, "cannot run %s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

static pid_t spawn(const ft_private_daemon *daemon, uint32_t workers)
{
    char *program = beside("foretelld"), *state = join(daemon->folder, "state");
    char count[16];
    snprintf(count, sizeof count, "%u", workers);
    char *argv[16] = {0};
    size_t n = 0;
    argv[n++] = program ? program : (char[]){"foretelld"};
    argv[n++] = (char[]){"--listen="};
    argv[n++] = (char[]){"--socket"};
    argv[n++] = daemon->socket;
    argv[n++] = (char[]){"--state"};
    argv[n++] = state;
    argv[n++] = (char[]){"--workers"};
    argv[n++] = count;
    /* One's own file is as large as it is: what limits it is the machine. */
    argv[n++] = (char[]){"--max-upload-bytes=1024g"};
    argv[n++] = (char[]){"--max-trace-bytes=1024g"};
    assert(n < sizeof argv / sizeof *argv && !argv[n]);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) become_daemon(argv, daemon->log, parent);
    free(program);
    free(state);
    return pid;
}

/* ---- coming up ------------------------------------------------------------------------------ */

static bool accepts(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    assert(strlen(path) < sizeof address.sun_path); /* temporary_root sees to that */
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    bool ok = connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    close(fd);
    return ok;
}

static void pause_ms(int ms)
{
    struct pollfd interruption = {.fd = ft_signals_fd(), .events = POLLIN};
    if (ft_signals_caught()) interruption.fd = -1;
    poll(&interruption, 1, ms);
}

/* The end of what the daemon wrote, on one line. */
static void log_tail(const ft_private_daemon *daemon, char tail[LOG_TAIL + 1])
{
    tail[0] = '\0';
    FILE *file = fopen(daemon->log, "re");
    if (!file) return;
    if (fseek(file, -LOG_TAIL, SEEK_END)) rewind(file);
    size_t length = fread(tail, 1, LOG_TAIL, file);
    fclose(file);
    while (length > 0 && tail[length - 1] == '\n') length--;
    tail[length] = '\0';
    for (char *at = tail; *at; at++)
        if (*at == '\n') *at = ' ';
}

static bool is_full(const char *folder)
{
    struct statvfs disk;
    return !statvfs(folder, &disk) && disk.f_bavail * disk.f_bsize < LEAST_SPACE;
}

/* Where there is no room, there is none for its log either. */
static ft_status failed_start(const ft_private_daemon *daemon, const char *what, ft_error *err)
{
    char tail[LOG_TAIL + 1];
    if (is_full(daemon->folder))
        return ft_error_set(err, FT_FULL, "the private foretelld %s: %s (TMPDIR) is full", what,
                            temporary_root());
    log_tail(daemon, tail);
    return ft_error_set(err, FT_IO, "the private foretelld %s%s%s", what, *tail ? ": " : "", tail);
}

static ft_status await_start(ft_private_daemon *daemon, ft_error *err)
{
    for (int waited = 0; waited < START_MS; waited += STEP_MS) {
        if (ft_signals_caught()) return ft_error_set(err, FT_IO, "interrupted");
        if (accepts(daemon->socket)) return FT_OK;
        if (waitpid(daemon->pid, NULL, WNOHANG) == daemon->pid) {
            daemon->pid = 0;
            return failed_start(daemon, "ended while it started", err);
        }
        pause_ms(STEP_MS);
    }
    return failed_start(daemon, "did not start within 20 seconds", err);
}

ft_status ft_private_daemon_start(uint32_t workers, ft_private_daemon **daemon, ft_error *err)
{
    char *folder = make_folder();
    if (!folder)
        return ft_error_set(err, FT_IO, "cannot create a folder in %s (TMPDIR): %s",
                            temporary_root(), strerror(errno));
    ft_private_daemon *started = ft_calloc(1, sizeof *started);
    assert(folder[0] == '/');
    started->folder = folder;
    started->socket = join(folder, "socket");
    started->log = join(folder, "log");
    ft_strbuf server = {0};
    ft_strbuf_printf(&server, "unix:%s", started->socket);
    started->server = ft_strbuf_take(&server);
    started->pid = spawn(started, workers);
    ft_status status = started->pid < 0
                           ? ft_error_set(err, FT_IO, "cannot start a process: %s", strerror(errno))
                           : await_start(started, err);
    if (status)
        ft_private_daemon_stop(started);
    else
        *daemon = started;
    return status;
}

const char *ft_private_daemon_server(const ft_private_daemon *daemon)
{
    return daemon->server;
}

/* ---- going down ----------------------------------------------------------------------------- */

static void end_process(pid_t pid)
{
    FT_REQUIRE(pid > 0); /* 0 and below are groups of processes */
    kill(pid, SIGTERM);
    for (int waited = 0; waited < STOP_MS; waited += STEP_MS) {
        if (waitpid(pid, NULL, WNOHANG) == pid) return;
        poll(NULL, 0, STEP_MS);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

void ft_private_daemon_stop(ft_private_daemon *daemon)
{
    if (!daemon) return;
    if (daemon->pid > 0) end_process(daemon->pid);
    nftw(daemon->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(daemon->folder);
    free(daemon->socket);
    free(daemon->server);
    free(daemon->log);
    free(daemon);
}

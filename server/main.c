/* foretelld: opens store, dispatcher and HTTP interface, runs until told to stop.
 *
 * Imports: server/api, server/app, server/commands, server/setup, server/store,
 * server/store/sqlite, server/webhooks, common/base. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/api.h"
#include "app/app.h"
#include "app/retention.h"
#include "base/memory.h"
#include "commands/limit_command.h"
#include "commands/migrate_command.h"
#include "commands/token_command.h"
#include "commands/verb_command.h"
#include "setup/config.h"
#include "setup/log.h"
#include "setup/program.h"
#include "store/check.h"
#include "store/sqlite/backup.h"
#include "webhooks/webhooks.h"

static const char HEAD[] =
    "usage: foretelld [OPTION VALUE]...\n"
    "       foretelld token create|list|revoke ...   (see foretelld token --help)\n"
    "       foretelld limit set|list ...             (see foretelld limit --help)\n"
    "       foretelld backup FILE [--state DIR]\n"
    "       foretelld migrate --from STORE --to STORE   (see foretelld migrate --help)\n"
    "\n"
    "The Foretell server: accepts traces and jobs over HTTP, stores them in a database, and "
    "has\n"
    "worker processes predict the concurrency bugs of the traced runs.\n"
    "\n";
static const char TAIL[] =
    "  --config FILE\n"
    "        reads options from FILE; those of the command line override them\n"
    "  --print-config\n"
    "        prints a config file with every option at its default\n"
    "  --check-config\n"
    "        checks the options and the files that they name, and exits\n"
    "  --check-database\n"
    "        checks the database, also of a running daemon, and exits: exit code 0 if it is "
    "sound,\n"
    "        4 if not; a daemon checks it when it starts after one that did not end cleanly\n"
    "  --version, --help\n"
    "\n"
    "Examples:\n"
    "  foretelld                                     serve http://127.0.0.1:7411\n"
    "  foretelld --state /var/lib/foretell --workers 4\n"
    "  foretelld --listen 127.0.0.1:0 --port-file port --state /tmp/foretell\n"
    "  foretelld --listen '' --socket /run/foretell.sock\n"
    "  foretelld --config /etc/foretelld.conf --check-config\n"
    "\n"
    "backup writes a checked copy of the database, also of a running daemon; to restore it, put "
    "it\n"
    "into an empty state folder as foretell.db.\n"
    "\n"
    "SIGTERM and SIGINT stop the daemon; its jobs continue at the next start. SIGHUP reopens "
    "the\n"
    "log file; options are not read again.\n"
    "Exit codes: 0 stopped, 2 usage or configuration, 4 the daemon could not start.\n";

enum { EXIT_BAD_USAGE = 2, EXIT_NO_START = 4 };

typedef struct daemon_state {
    uv_loop_t loop;
    ft_app app;
    ft_api *api;
    ft_retention *retention;
    uv_signal_t signals[3];
    bool stopping;
} daemon_state;

/* ---- Options --------------------------------------------------------------------------------- */

typedef enum action {
    ACTION_RUN,
    ACTION_HELP,
    ACTION_VERSION,
    ACTION_PRINT,
    ACTION_CHECK,
    ACTION_DATABASE
} action;

static const struct {
    const char *name;
    action action;
} FLAGS[] = {
    {"--help", ACTION_HELP},          {"-h", ACTION_HELP},
    {"--version", ACTION_VERSION},    {"--print-config", ACTION_PRINT},
    {"--check-config", ACTION_CHECK}, {"--check-database", ACTION_DATABASE},
};

static bool find_flag(const char *argument, action *found)
{
    for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++) {
        if (strcmp(FLAGS[i].name, argument) != 0) continue;
        *found = FLAGS[i].action;
        return true;
    }
    return false;
}

/* Splits "--name value" and "--name=value"; *used counts arguments. */
static ft_status split(int argc, char **argv, int at, char name[64], const char **value, int *used,
                       ft_error *err)
{
    const char *argument = argv[at];
    if (strncmp(argument, "--", 2) != 0)
        return ft_error_set(err, FT_USAGE, "unexpected argument \"%.64s\"; see --help", argument);
    const char *equals = strchr(argument, '=');
    size_t length = equals ? (size_t)(equals - argument) - 2 : strlen(argument) - 2;
    snprintf(name, 64, "%.*s", (int)(length < 63 ? length : 63), argument + 2);
    *used = equals ? 1 : 2;
    if (!equals && at + 1 >= argc && (ft_config_has(name) || strcmp(name, "config") == 0))
        return ft_error_set(err, FT_USAGE, "--%s needs a value; see --help", name);
    *value = equals ? equals + 1 : argv[at + 1]; /* NULL: of an option that is not known */
    return FT_OK;
}

/* The config file comes first, wherever --config stands, so that options win over it. */
static ft_status apply(int argc, char **argv, bool files, ft_config *config, action *what,
                       ft_error *err)
{
    for (int i = 1, used; i < argc; i += used) {
        char name[64];
        const char *value = NULL;
        used = 1;
        if (find_flag(argv[i], what)) continue;
        ft_status status = split(argc, argv, i, name, &value, &used, err);
        bool is_file = status == FT_OK && strcmp(name, "config") == 0;
        if (status == FT_OK && is_file && files) status = ft_config_read(config, value, err);
        if (status == FT_OK && !is_file && !files) status = ft_config_set(config, name, value, err);
        if (status != FT_OK) return status;
    }
    return FT_OK;
}

static ft_status check(const ft_config *config, ft_error *err)
{
    char address[64];
    int port;
    ft_log_level level;
    if (!ft_log_parse(config->log_level, &level)) {
        return ft_error_set(err, FT_USAGE, "log-level: \"%.32s\" is not debug, info, warn or error",
                            config->log_level);
    }
    ft_log_set_level(level);
    if (strcmp(config->sandbox, "try") != 0 && strcmp(config->sandbox, "require") != 0 &&
        strcmp(config->sandbox, "off") != 0)
        return ft_error_set(err, FT_USAGE, "sandbox: \"%.32s\" is not require, try or off",
                            config->sandbox);
    if (!*config->state)
        return ft_error_set(err, FT_USAGE, "state is not set: it names the folder of the database");
    if (*config->store && !ft_store_is_address(config->store))
        return ft_error_set(err, FT_USAGE,
                            "store: the address must begin with postgresql://; leave it empty for "
                            "SQLite in the folder of state");
    bool workers = strcmp(config->role, "workers") == 0;
    if (!workers && strcmp(config->role, "both") != 0 && strcmp(config->role, "front") != 0)
        return ft_error_set(err, FT_USAGE, "role: \"%.32s\" is not front, workers or both",
                            config->role);
    if (!*config->store && strcmp(config->role, "both") != 0)
        return ft_error_set(err, FT_USAGE,
                            "role: without a store that others share this node must be both");
    if (!workers && !ft_config_serves(config))
        return ft_error_set(err, FT_USAGE, "neither listen nor socket is set: set at least one");
    return *config->listen ? ft_config_listen(config, address, &port, err) : FT_OK;
}

static ft_status check_program(const char *configured, const char *name, const char *option,
                               ft_error *err)
{
    char *path;
    ft_status status = ft_program_path(configured, name, option, &path, err);
    free(path);
    return status;
}

/* Nothing is there, and its folder may be written to. */
static bool can_make(const char *path)
{
    struct stat info;
    char folder[4096];
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    while (length > 0 && path[length - 1] != '/') length--;
    snprintf(folder, sizeof folder, "%.*s", length ? (int)length : 1, length ? path : ".");
    return stat(path, &info) != 0 && errno == ENOENT && access(folder, W_OK | X_OK) == 0;
}

static ft_status check_log_file(const char *path, ft_error *err)
{
    if (!*path || access(path, W_OK) == 0 || can_make(path)) return FT_OK;
    return ft_error_set(err, FT_IO, "log-file: %s cannot be written", path);
}

static ft_status check_state(const char *path, ft_error *err)
{
    struct stat info;
    bool there = stat(path, &info) == 0;
    if (there && S_ISDIR(info.st_mode) && access(path, R_OK | W_OK | X_OK) == 0) return FT_OK;
    if (!there && can_make(path)) return FT_OK;
    return ft_error_set(err, FT_IO, "state: %s is not a writable folder", path);
}

/* Reports missing files and folders before the start. */
static ft_status check_places(const ft_config *config, ft_error *err)
{
    struct stat info;
    ft_status status = check_program(config->worker, "foretell-worker", "worker", err);
    if (status == FT_OK && config->webhook_senders)
        status = check_program(config->webhook_program, "foretell-webhook", "webhook-program", err);
    if (status == FT_OK) status = check_log_file(config->log_file, err);
    if (status != FT_OK) return status;
    if (*config->web_root && (stat(config->web_root, &info) != 0 || !S_ISDIR(info.st_mode)))
        return ft_error_set(err, FT_IO, "web-root: %s is not a folder", config->web_root);
    return check_state(config->state, err);
}

static int print(action what)
{
    ft_strbuf out = {0};
    if (what == ACTION_VERSION) ft_strbuf_printf(&out, "foretelld %s\n", FT_VERSION);
    if (what == ACTION_PRINT) ft_config_print_file(&out);
    if (what == ACTION_HELP) {
        ft_strbuf_puts(&out, HEAD);
        ft_config_print_help(&out);
        ft_strbuf_puts(&out, TAIL);
    }
    bool good = fputs(ft_strbuf_text(&out), stdout) >= 0 && fflush(stdout) == 0;
    ft_strbuf_release(&out);
    return good ? 0 : EXIT_NO_START;
}

/* ---- Stopping -------------------------------------------------------------------------------- */

static void on_store_closed(void *data)
{
    daemon_state *d = data;
    d->app.store = NULL;
}

static void on_dispatch_closed(void *data)
{
    daemon_state *d = data;
    d->app.dispatch = NULL;
    ft_store_close(d->app.store, on_store_closed, d);
}

static void on_api_closed(void *data)
{
    daemon_state *d = data;
    d->api = NULL;
    ft_webhooks_free(d->app.webhooks);
    d->app.webhooks = NULL;
    ft_dispatch_close(d->app.dispatch, on_dispatch_closed, d);
}

static void stop(daemon_state *d)
{
    d->stopping = true;
    if (d->app.store) ft_store_hurry(d->app.store);
    ft_retention_free(d->retention);
    d->retention = NULL;
    for (size_t i = 0; i < sizeof d->signals / sizeof *d->signals; i++)
        uv_close((uv_handle_t *)&d->signals[i], NULL);
    if (d->api) {
        ft_api_close(d->api, on_api_closed, d);
    } else if (d->app.dispatch) {
        ft_webhooks_free(d->app.webhooks);
        d->app.webhooks = NULL;
        ft_dispatch_close(d->app.dispatch, on_dispatch_closed, d);
    } else if (d->app.store) {
        ft_store_close(d->app.store, on_store_closed, d);
    }
}

static void reopen_log(const ft_config *config)
{
    ft_error err = FT_ERROR_INIT;
    if (*config->log_file && ft_log_to_file(config->log_file, &err) != FT_OK)
        ft_log(FT_LOG_ERROR, "the log file cannot be reopened; the old one stays open",
               "reason=\"%s\"", err.message);
    else
        ft_log(FT_LOG_INFO, "log opened", "file=%s", *config->log_file ? config->log_file : "-");
}

static void on_signal(uv_signal_t *handle, int number)
{
    daemon_state *d = handle->data;
    if (d->stopping) return;
    if (number == SIGHUP) {
        reopen_log(d->app.config);
        return;
    }
    ft_log(FT_LOG_INFO, "stopping", "signal=%d", number);
    stop(d);
}

static void catch_signals(daemon_state *d)
{
    static const int NUMBERS[] = {SIGTERM, SIGINT, SIGHUP};
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < sizeof d->signals / sizeof *d->signals; i++) {
        uv_signal_init(&d->loop, &d->signals[i]);
        d->signals[i].data = d;
        uv_signal_start(&d->signals[i], on_signal, NUMBERS[i]);
    }
}

/* ---- Starting -------------------------------------------------------------------------------- */

/* A process that waits for the file must never read half a number. */
static ft_status write_port(const char *path, int port, ft_error *err)
{
    if (!*path) return FT_OK;
    ft_strbuf temporary = {0};
    ft_strbuf_printf(&temporary, "%s.%d", path, (int)getpid());
    FILE *file = fopen(temporary.text, "we");
    bool good = file && fprintf(file, "%d\n", port) > 0;
    if (file && fclose(file) != 0) good = false;
    good = good && rename(temporary.text, path) == 0;
    if (!good) {
        ft_error_set(err, FT_IO, "cannot write the port file %s: %s", path, strerror(errno));
        unlink(temporary.text);
    }
    ft_strbuf_release(&temporary);
    return good ? FT_OK : FT_IO;
}

/* The store makes its own; on PostgreSQL it is for what uploads leave there for a while. */
static ft_status make_state(const ft_config *config, ft_error *err)
{
    if (!*config->store || mkdir(config->state, 0700) == 0 || errno == EEXIST) return FT_OK;
    return ft_error_set(err, FT_IO, "state: cannot create %s: %s", config->state, strerror(errno));
}

static void keep_traces(const daemon_state *d, const ft_config *config)
{
    ft_strbuf folder = {0};
    if (!ft_store_is_shared(d->app.store)) return;
    ft_strbuf_printf(&folder, "%s/cache", config->state);
    ft_store_keep(d->app.store, folder.text, config->cache_bytes);
    ft_strbuf_release(&folder);
}

static ft_status start(daemon_state *d, const ft_config *config, ft_error *err)
{
    d->app.loop = &d->loop;
    d->app.config = config;
    ft_status status = make_state(config, err);
    if (status == FT_OK)
        status = ft_store_open(&d->loop, ft_config_place(config), &d->app.store, err);
    if (status == FT_OK) keep_traces(d, config);
    if (status == FT_OK && ft_store_was_unclean(d->app.store))
        ft_log(FT_LOG_WARN, "the last run did not end cleanly; the jobs in progress were checked",
               "%s", "");
    if (status == FT_OK)
        status = ft_dispatch_open(&d->loop, config, d->app.store, &d->app.dispatch, err);
    bool serves = ft_config_serves(config);
    if (status == FT_OK && serves) d->app.webhooks = ft_webhooks_new(&d->app);
    if (status == FT_OK && serves) status = ft_api_open(&d->app, &d->api, err);
    if (status == FT_OK && serves) d->retention = ft_retention_new(&d->app);
    int port = d->api ? ft_api_port(d->api) : 0;
    if (status == FT_OK) status = write_port(config->port_file, port, err);
    if (status != FT_OK) return status;
    ft_log(FT_LOG_INFO, "ready", "version=%s role=%s listen=%s port=%d socket=%s state=%s",
           FT_VERSION, config->role, config->listen, port, *config->socket ? config->socket : "-",
           ft_config_place(config));
    return FT_OK;
}

static int run(const ft_config *config)
{
    daemon_state d = {.stopping = false};
    ft_error err = FT_ERROR_INIT;
    if (*config->log_file && ft_log_to_file(config->log_file, &err) != FT_OK) {
        fprintf(stderr, "foretelld: %s\n", err.message);
        return EXIT_NO_START;
    }
    if (uv_loop_init(&d.loop) != 0) return EXIT_NO_START;
    catch_signals(&d);
    ft_status status = start(&d, config, &err);
    if (status != FT_OK) {
        ft_log(FT_LOG_ERROR, "cannot start", "reason=\"%s\"", err.message);
        stop(&d);
    }
    uv_run(&d.loop, UV_RUN_DEFAULT);
    if (uv_loop_close(&d.loop) != 0)
        ft_log(FT_LOG_ERROR, "event loop closed with open handles", "%s", "");
    if (status == FT_OK) ft_log(FT_LOG_INFO, "stopped", "%s", "");
    return status == FT_OK ? 0 : EXIT_NO_START;
}

static int check_database(const ft_config *config)
{
    ft_error err = FT_ERROR_INIT;
    ft_strbuf file = {0};
    ft_strbuf_printf(&file, *config->store ? "%s" : "%s/foretell.db", ft_config_place(config));
    ft_status status = ft_store_check_file(file.text, &err);
    if (status == FT_OK)
        printf("foretelld: %s is sound\n", file.text);
    else
        fprintf(stderr, "foretelld: %s\n", err.message);
    ft_strbuf_release(&file);
    return status == FT_OK ? 0 : EXIT_NO_START;
}

/* foretelld backup FILE, with the daemon's own options for its state folder. */
static int backup(int count, char **arguments)
{
    ft_verb_call call = {.verb = "backup"};
    ft_error err = FT_ERROR_INIT;
    ft_config_init(&call.config);
    ft_status status = ft_verb_parse(&call, count, arguments, &err);
    bool writes = status == FT_OK && !call.help;
    if (writes && !call.word)
        status = ft_error_set(&err, FT_USAGE, "backup needs a file to write; see foretelld --help");
    if (writes && status == FT_OK && *call.config.store)
        status = ft_error_set(&err, FT_USAGE,
                              "backup is for SQLite: use pg_dump for the database of store");
    bool usage = status != FT_OK;
    if (writes && !usage) status = ft_backup_write(call.config.state, call.word, &err);
    if (status != FT_OK) fprintf(stderr, "foretelld: %s\n", err.message);
    ft_config_release(&call.config);
    if (status == FT_OK) return call.help ? print(ACTION_HELP) : 0;
    return usage ? EXIT_BAD_USAGE : EXIT_NO_START;
}

static void *resize(void *block, size_t size)
{
    return ft_realloc(block, size, 1);
}

/* What libuv and jansson cannot have ends the process as it does for us (base/memory.h); SQLite
 * says so to its caller, whose request fails. */
static void take_over_memory(void)
{
    json_set_alloc_funcs(ft_alloc, free);
    (void)uv_replace_allocator(ft_alloc, resize, ft_calloc, free);
}

/* A standard stream that the caller closed must not become the database or a connection. */
static bool hold_standard_streams(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd) return false;
    return true;
}

int main(int argc, char **argv)
{
    if (!hold_standard_streams()) return EXIT_NO_START;
    take_over_memory();
    if (argc > 1 && strcmp(argv[1], "token") == 0) return ft_token_command(argc - 2, argv + 2);
    if (argc > 1 && strcmp(argv[1], "limit") == 0) return ft_limit_command(argc - 2, argv + 2);
    if (argc > 1 && strcmp(argv[1], "migrate") == 0) return ft_migrate_command(argc - 2, argv + 2);
    if (argc > 1 && strcmp(argv[1], "backup") == 0) return backup(argc - 2, argv + 2);
    ft_config config;
    ft_error err = FT_ERROR_INIT;
    action what = ACTION_RUN;
    ft_config_init(&config);
    ft_status status = apply(argc, argv, true, &config, &what, &err);
    if (status == FT_OK) status = apply(argc, argv, false, &config, &what, &err);
    bool prints = what == ACTION_HELP || what == ACTION_VERSION || what == ACTION_PRINT;
    if (status == FT_OK && !prints) status = check(&config, &err);
    if (status == FT_OK && what == ACTION_CHECK) status = check_places(&config, &err);
    int code = EXIT_BAD_USAGE;
    if (status != FT_OK) {
        fprintf(stderr, "foretelld: %s\n", err.message);
    } else if (prints) {
        code = print(what);
    } else if (what == ACTION_CHECK) {
        printf("foretelld: the configuration is valid\n");
        code = 0;
    } else if (what == ACTION_DATABASE) {
        code = check_database(&config);
    } else {
        code = run(&config);
    }
    ft_config_release(&config);
    return code;
}

/* The daemon's set-up: its options, its log (log.h) and where its helper programs are (program.h).
 *
 * The options of foretelld are one table for the command line, the config file, --help and
 * config/foretelld.conf.
 *
 * Imports: common/base. */
#ifndef FT_CONFIG_H
#define FT_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/strbuf.h"

/* Kinds: TEXT (char *, owned, may be ""), NUMBER (uint64_t; k, m, g suffixes are powers of 1024).
 *  symbol            name                 kind    field            default  argument  least, most
 *  explanation */
#define FT_CONFIG_TABLE(X)                                                                         \
    X(LISTEN, "listen", TEXT, listen, "127.0.0.1:7411", "ADDR:PORT", 0, 0,                         \
      "TCP address to serve; port 0: any free port; empty: no TCP; beyond loopback with tokens "   \
      "only")                                                                                      \
    X(SOCKET, "socket", TEXT, socket, "", "PATH", 0, 0,                                            \
      "Unix socket to serve as well; empty: no socket")                                            \
    X(STATE, "state", TEXT, state, "foretell-state", "DIR", 0, 0,                                  \
      "folder of the database; created if it does not exist")                                      \
    X(STORE, "store", TEXT, store, "", "ADDRESS", 0, 0,                                            \
      "PostgreSQL database that nodes share, postgresql://USER@HOST/DATABASE; its password is "    \
      "never in the address but in a password or service file; empty: SQLite in the folder of "    \
      "state")                                                                                     \
    X(CACHE_BYTES, "cache-bytes", NUMBER, cache_bytes, "4g", "BYTES", 0, 1LL << 50,                \
      "of traces that a node of a fleet keeps in the folder cache of state, so that it fetches "   \
      "them once; 0: none")                                                                        \
    X(ROLE, "role", TEXT, role, "both", "ROLE", 0, 0,                                              \
      "of this node in a fleet: front (serves requests, solves nothing), workers (solves; serves " \
      "where listen or socket is set) or both")                                                    \
    X(WORKERS, "workers", NUMBER, workers, "0", "N", 0, 256,                                       \
      "worker processes for planning and solving; 0: one per core")                                \
    X(WORKER, "worker", TEXT, worker, "", "PATH", 0, 0,                                            \
      "the worker program; empty: foretell-worker beside foretelld, or in ../lib/foretell")        \
    X(SANDBOX, "sandbox", TEXT, sandbox, "try", "MODE", 0, 0,                                      \
      "confinement of workers: require, try (if the kernel supports it) or off")                   \
    X(PORT_FILE, "port-file", TEXT, port_file, "", "FILE", 0, 0,                                   \
      "file to write the bound port to when the daemon is ready; empty: no file")                  \
    X(WEB_ROOT, "web-root", TEXT, web_root, "", "DIR", 0, 0,                                       \
      "folder of the built dashboard; empty: ../share/foretell/web beside foretelld")              \
    X(LOG_LEVEL, "log-level", TEXT, log_level, "info", "LEVEL", 0, 0,                              \
      "lowest level to log: debug, info, warn or error")                                           \
    X(MAX_CONNECTIONS, "max-connections", NUMBER, max_connections, "4096", "N", 1, 65536,          \
      "connections served at once; a further one displaces a stalled one or gets a 503")           \
    X(MAX_HEADER, "max-header-bytes", NUMBER, max_header_bytes, "16k", "BYTES", 1024, 1 << 20,     \
      "largest request line and headers of a request; larger ones get a 431")                      \
    X(MAX_BODY, "max-body-bytes", NUMBER, max_body_bytes, "4m", "BYTES", 1024, 1 << 30,            \
      "largest JSON body; larger ones get a 413")                                                  \
    X(MAX_UPLOAD, "max-upload-bytes", NUMBER, max_upload_bytes, "1g", "BYTES", 1024, 1LL << 40,    \
      "largest uploaded trace as sent; larger ones get a 413")                                     \
    X(MAX_TRACE, "max-trace-bytes", NUMBER, max_trace_bytes, "4g", "BYTES", 1024, 1LL << 40,       \
      "largest uploaded trace after decoding; larger ones get a 413")                              \
    X(MAX_JOBS, "max-jobs", NUMBER, max_jobs, "1000", "N", 1, 1000000,                             \
      "jobs that have not ended; further ones get a 503")                                          \
    X(MAX_INGESTS, "max-ingests", NUMBER, max_ingests, "16", "N", 1, 1024,                         \
      "uploads that workers read or that wait for a worker; further ones get a 503")               \
    X(HEADER_MS, "header-ms", NUMBER, header_ms, "10000", "MS", 100, 3600000,                      \
      "time for a client to send a request's headers")                                             \
    X(IDLE_MS, "idle-ms", NUMBER, idle_ms, "60000", "MS", 100, 3600000,                            \
      "time without a byte to or from a client after which its connection is closed")              \
    X(MAX_WAIT, "max-wait-s", NUMBER, max_wait_s, "60", "S", 0, 3600, "longest Prefer: wait")      \
    X(MAX_STREAMS, "max-streams", NUMBER, max_streams, "64", "N", 1, 65536,                        \
      "event streams open at once, part of max-connections; further ones get a 503")               \
    X(HEARTBEAT, "heartbeat-ms", NUMBER, heartbeat_ms, "15000", "MS", 100, 3600000,                \
      "silence on an event stream after which the server sends a heartbeat")                       \
    X(SAMPLE_MS, "sample-ms", NUMBER, sample_ms, "10000", "MS", 10, 3600000,                       \
      "time between two samples of the load history, which has 360 samples")                       \
    X(INGEST_MS, "ingest-ms", NUMBER, ingest_ms, "60000", "MS", 1000, 86400000,                    \
      "time for a worker to read an uploaded trace or load a stored one, of any size")             \
    X(INGEST_MIB_MS, "ingest-mib-ms", NUMBER, ingest_mib_ms, "1000", "MS", 0, 3600000,             \
      "time added to ingest-ms for each MiB of the decoded trace")                                 \
    X(SUBPROBLEM_MS, "subproblem-ms", NUMBER, subproblem_ms, "20000", "MS", 1, 86400000,           \
      "time for a subproblem of a job without a limit of its own")                                 \
    X(JOB_MS, "job-ms", NUMBER, job_ms, "300000", "MS", 1, 604800000,                              \
      "time for a job without a limit of its own")                                                 \
    X(WORKER_MEMORY, "worker-memory-mb", NUMBER, worker_memory_mb, "8192", "MIB", 64, 1 << 24,     \
      "address space of a worker process")                                                         \
    X(SILENCE_MS, "silence-ms", NUMBER, silence_ms, "10000", "MS", 0, 3600000,                     \
      "silence after which a busy worker is killed and its task tried again; "                     \
      "0: never")                                                                                  \
    X(RETRY_MS, "retry-ms", NUMBER, retry_ms, "100", "MS", 0, 30000,                               \
      "delay before a task is tried again after its worker died; doubled with each death")         \
    X(PROJECT_JOBS, "project-jobs", NUMBER, project_jobs, "0", "N", 0, 1000000,                    \
      "jobs of a project that have not ended, unless foretelld limit sets its own; 0: no limit")   \
    X(PROJECT_WORKERS, "project-workers", NUMBER, project_workers, "0", "N", 0, 256,               \
      "workers at a project's tasks at once, likewise; 0: no limit")                               \
    X(PROJECT_BYTES, "project-bytes", NUMBER, project_bytes, "0", "BYTES", 0, 1LL << 50,           \
      "bytes of a project's stored traces, likewise; further uploads get a 409; 0: no limit")      \
    X(PROJECT_SECONDS, "project-seconds", NUMBER, project_seconds, "0", "S", 0, 1LL << 32,         \
      "worker time of a project a day (UTC), likewise; beyond it its jobs end; 0: no limit")       \
    X(PROJECT_MEMORY, "project-memory-mb", NUMBER, project_memory_mb, "0", "MIB", 0, 1 << 24,      \
      "memory of a worker at a task of the project, likewise; 0: no limit")                        \
    X(RETAIN_DAYS, "retain-days", NUMBER, retain_days, "0", "N", 0, 36500,                         \
      "days after which ended jobs, and traces without jobs, are removed; 0: never")               \
    X(RETAIN_BYTES, "retain-bytes", NUMBER, retain_bytes, "0", "BYTES", 0, 1LL << 50,              \
      "bytes of traces beyond which the least recently used are removed; 0: never")                \
    X(RETAIN_CHECK, "retain-check-ms", NUMBER, retain_check_ms, "600000", "MS", 100, 86400000,     \
      "time between two runs of the removal")                                                      \
    X(LEASE_MS, "lease-ms", NUMBER, lease_ms, "60000", "MS", 100, 86400000,                        \
      "time after which a task goes to another worker unless its lease is renewed, four times in " \
      "it")                                                                                        \
    X(GRACE_MS, "grace-ms", NUMBER, grace_ms, "2000", "MS", 0, 60000,                              \
      "time beyond a subproblem's own limit after which its worker is killed")                     \
    X(SPLIT_MS, "split-ms", NUMBER, split_ms, "10000", "MS", 0, 86400000,                          \
      "time after which a subproblem is split into parts, which other workers take; 0: never")     \
    X(EXPLORE_MS, "explore-ms", NUMBER, explore_ms, "2000", "MS", 0, 86400000,                     \
      "time after which a worker that explores a program hands back what is open, which other "    \
      "workers take, and what it found; 0: never")                                                 \
    X(WEBHOOK_PROGRAM, "webhook-program", TEXT, webhook_program, "", "PATH", 0, 0,                 \
      "the program that sends webhooks; empty: foretell-webhook beside foretelld, or in "          \
      "../lib/foretell")                                                                           \
    X(WEBHOOK_SENDERS, "webhook-senders", NUMBER, webhook_senders, "4", "N", 0, 64,                \
      "webhooks sent at once; 0: webhooks are off")                                                \
    X(WEBHOOK_TIMEOUT, "webhook-timeout-ms", NUMBER, webhook_timeout_ms, "10000", "MS", 100,       \
      600000, "time for a receiver to answer")                                                     \
    X(WEBHOOK_ATTEMPTS, "webhook-attempts", NUMBER, webhook_attempts, "12", "N", 1, 100,           \
      "attempts to deliver a webhook before it is given up")                                       \
    X(WEBHOOK_RETRY, "webhook-retry-ms", NUMBER, webhook_retry_ms, "5000", "MS", 10, 3600000,      \
      "delay before the second attempt; doubled with each attempt, one hour at most")              \
    X(WEBHOOK_PRIVATE, "webhook-allow-private", NUMBER, webhook_allow_private, "0", "0|1", 0, 1,   \
      "1: allow webhooks to loopback, private and link-local addresses")                           \
    X(LOG_FILE, "log-file", TEXT, log_file, "", "FILE", 0, 0,                                      \
      "file to append the log to, reopened at SIGHUP; empty: standard error")

typedef char *ft_config_text;
typedef uint64_t ft_config_number;
#define FT_CONFIG_TYPE_TEXT   ft_config_text
#define FT_CONFIG_TYPE_NUMBER ft_config_number

typedef struct ft_config {
#define FT_ROW(symbol, name, kind, field, ...) FT_CONFIG_TYPE_##kind field;
    FT_CONFIG_TABLE(FT_ROW)
#undef FT_ROW
} ft_config;

void ft_config_init(ft_config *config); /* every option at its default */
void ft_config_release(ft_config *config);

bool ft_config_has(const char *name);
/* Sets one option by name. FT_USAGE: no such option, or a value out of its range. */
ft_status ft_config_set(ft_config *config, const char *name, const char *value,
                        ft_error *err) FT_MUST_CHECK;

/* Reads "name = value" lines; '#' starts a comment. FT_USAGE with the line; FT_IO. */
ft_status ft_config_read(ft_config *config, const char *path, ft_error *err) FT_MUST_CHECK;

/* Whether a role lets the node solve, and serve requests. */
bool ft_config_solves(const ft_config *config);
bool ft_config_serves(const ft_config *config);
/* Where the store is: `store`, or the folder of `state`. */
const char *ft_config_place(const ft_config *config);

/* The text of config/foretelld.conf: every option, its default, its explanation. */
void ft_config_print_file(ft_strbuf *out);
/* The options part of --help. */
void ft_config_print_help(ft_strbuf *out);

/* Splits listen into address and port. FT_USAGE: not ADDR:PORT with an IP address or localhost. */
ft_status ft_config_listen(const ft_config *config, char address[64], int *port,
                           ft_error *err) FT_MUST_CHECK;
/* Whether strangers cannot come in at this IP address. */
bool ft_config_is_loopback(const char *address);

#endif

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/contract.h"
#include "commands.h"
#include "exploring/oracle.h"
#include "files/files.h"
#include "maker/annotations/annotations.h"
#include "maker/log/log.h"
#include "maker/maker.h"
#include "raw/follow.h"
#include "recorded/recorded.h"
#include "terminal/terminal.h"

#define FT_RECORD_SHORT 1.0 /* seconds */

enum { MANY = 100000, MIB = 1 << 20, DEFAULT_LIMIT = 4096, DEFAULT_TURN = 1000 };

/* One run of the program, and what came of it. */
typedef struct run {
    const ft_options *options;
    ft_annotations *annotations; /* NULL: none; not owned */
    const ft_feed *feed;         /* NULL: the program's own inputs; not owned */
    uint32_t seed, turn;
    char *out;             /* the trace */
    ft_trace_writer write; /* how it is written; from choose_place on */
    int status;            /* of the program (wait) */
    uint32_t end;          /* ft_raw_end */
    bool late;             /* it was ended after --timeout */
    bool open_line;        /* the last that the program printed */
    int kept;              /* its standard output, where that is judged */
    const char *refused;   /* a kind of failure: of its output; NULL: none */
    ft_strbuf why;         /* and its text */
} run;

/* ---- the log */

/* Up to what the shell lets a file and a process have (ulimit -f, -v): the log is mapped, and kept
 * once more while it is read. */
static uint64_t default_limit(void)
{
    static const struct {
        __rlimit_resource_t what;
        rlim_t share;
    } limits[] = {{RLIMIT_FSIZE, 1}, {RLIMIT_AS, 8}};
    uint64_t limit = (uint64_t)DEFAULT_LIMIT * MIB;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct rlimit has;
        if (getrlimit(limits[i].what, &has) || has.rlim_cur == RLIM_INFINITY) continue;
        uint64_t most = has.rlim_cur / limits[i].share / MIB * MIB;
        if (most < limit) limit = most;
    }
    return limit ? limit : MIB;
}

static ft_raw_header header_of(const run *r)
{
    const ft_options *options = r->options;
    ft_raw_header header = {
        .limit = options->limit ? (uint64_t)options->limit * MIB : default_limit(),
        .seed = r->seed,
        .turn = r->turn,
        .symbolic = options->symbolic,
        .alone = options->timeout ? (uint32_t)getpid() : 0,
        .feed = r->feed ? ft_feed_bytes(r->feed) : 0,
        .follow = options->follow ? options->follow->len : 0,
        .unordered_hand_overs = options->unordered_hand_overs,
        .keeps_ordered = r->annotations != NULL, /* the orders they tell begin and end at events */
    };
    memcpy(header.magic, FT_RAW_MAGIC, sizeof header.magic);
    assert(header.turn && header.limit % MIB == 0); /* a turn of 0 would never end */
    return header;
}

static const char *temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

/* The log lies beside the trace, on the disk that the user chose; it is sparse up to its limit. A
 * pipe or a device has no such place. */
static bool is_beside(const run *r)
{
    struct stat there;
    bool exists = stat(r->out, &there) == 0;
    return !ft_output_is_standard(r->out) && (!exists || S_ISREG(there.st_mode));
}

static char *log_name(const run *r)
{
    ft_strbuf name = {0};
    char *place = is_beside(r) ? ft_output_place(r->out) : NULL;
    if (is_beside(r))
        ft_strbuf_printf(&name, "%s.log-XXXXXX", place ? place : r->out);
    else
        ft_strbuf_printf(&name, "%s/foretell.log-XXXXXX", temporary_folder());
    free(place);
    return ft_strbuf_take(&name);
}

/* For people: where it is. */
static const char *log_place(const run *r)
{
    return is_beside(r) ? r->out : temporary_folder();
}

static ft_status cannot_write(const run *r, int why, ft_error *err)
{
    const char *what = why == EFBIG ? " (ulimit -f): use a smaller --limit" : "";
    return ft_error_set(err, FT_USAGE, "%s: cannot write the recording: %s%s", log_place(r),
                        strerror(why), what);
}

/* The trace would take the program's place, by whatever name. */
static bool is_program(const run *r, const struct stat *there)
{
    struct stat file;
    char *path = ft_program_find(r->options->arguments.data[0]);
    bool same = path && stat(path, &file) == 0 && file.st_dev == there->st_dev &&
                file.st_ino == there->st_ino;
    free(path);
    return same;
}

/* Before the program runs: whether its trace can stand there, and how it is written. */
static ft_status choose_place(run *r, ft_error *err)
{
    struct stat there;
    bool exists = stat(r->out, &there) == 0;
    if (exists && S_ISDIR(there.st_mode))
        return ft_error_set(err, FT_USAGE, "%s: cannot write the recording: %s", r->out,
                            strerror(EISDIR));
    if (exists && is_program(r, &there))
        return ft_error_set(err, FT_USAGE,
                            "%s is the program itself: give -o another file for the trace", r->out);
    return ft_output_choose(r->options->to, r->out, "binary", &r->write, err);
}

/* The order of actions that the run follows. */
static bool write_follow(const run *r, int fd, uint64_t at)
{
    const ft_strbuf *order = r->options->follow;
    return !order || pwrite(fd, order->text, order->len, (off_t)at) == (ssize_t)order->len;
}

static void read_followed(const run *r, int fd)
{
    ft_raw_header header = header_of(r);
    if (!r->options->followed) return;
    if (pread(fd, r->options->followed, sizeof(ft_follow), (off_t)(header.limit + header.feed)) !=
        (ssize_t)sizeof(ft_follow))
        *r->options->followed = (ft_follow){.diverged = 1};
}

static ft_status make_log(const run *r, ft_program_file *log, ft_error *err)
{
    ft_raw_header header = header_of(r);
    char *name = log_name(r);
    bool made = ft_program_file_make(name, log);
    bool ok = made && write(log->fd, &header, sizeof header) == sizeof header &&
              ftruncate(log->fd, (off_t)(header.limit + header.feed + header.follow)) == 0 &&
              (!r->feed || ft_feed_write(r->feed, log->fd, header.limit)) &&
              write_follow(r, log->fd, header.limit + header.feed);
    int why = errno;
    free(name);
    if (ok) return FT_OK;
    if (made) ft_program_file_release(log);
    return cannot_write(r, why, err);
}

/* ---- the program */

/* Where the trace goes to standard output, or a document for machines (`test`), what the program
 * prints there goes to standard error. */
static ft_status run_program(run *r, ft_program_file *log, ft_error *err)
{
    const ft_options *options = r->options;
    size_t n = options->arguments.len;
    bool taken = ft_output_is_standard(r->out) || !ft_options_are_for_people(options);
    ft_program_way way = {.out = taken ? STDERR_FILENO : STDOUT_FILENO,
                          .silent = options->follow && !options->run_end,
                          .keeps = options->judge != NULL,
                          .seconds = options->timeout,
                          .late = &r->late,
                          .asks = true};
    if (way.keeps) r->kept = way.out = memfd_create("foretell-output", MFD_CLOEXEC);
    if (way.keeps && way.out < 0)
        return ft_error_set(err, FT_IO, "no memory file for the output: %s", strerror(errno));
    char **argv = ft_calloc(n + 1, sizeof *argv);
    for (size_t i = 0; i < n; i++) argv[i] = ft_strdup(options->arguments.data[i]);
    ft_status status = ft_program_execute(argv, log, way, &r->status, err);
    for (size_t i = 0; i < n; i++) free(argv[i]);
    free(argv);
    return status;
}

/* ---- the trace */

static void print_terms(const ft_record_terms *t)
{
    if (!t->on) return;
    fprintf(stderr, "foretell: %llu assignments, %llu conditions and %llu assertions have terms\n",
            (unsigned long long)t->assigned, (unsigned long long)t->assumed,
            (unsigned long long)t->asserted);
    for (unsigned r = 0; r < FT_SYM_REASONS; r++)
        if (t->held[r])
            fprintf(stderr, "foretell: %llu values have no term and keep the recorded value: %s\n",
                    (unsigned long long)t->held[r], ft_record_held_reason(r));
    if (t->wrong)
        fprintf(stderr,
                "foretell: %llu terms were dropped, because they did not evaluate to the value in "
                "the program\n",
                (unsigned long long)t->wrong);
}

/* Only terms give the program's behaviour with other values. */
static void print_transactions(const ft_record_summary *s)
{
    if (s->terms.on || !s->transactions) return;
    fprintf(stderr,
            "foretell: %llu transactions; --symbolic also predicts schedules in which a thread "
            "reads another value in between, and --runs 20 may meet one\n",
            (unsigned long long)s->transactions);
}

static void print_hot(const ft_record_summary *s)
{
    for (uint32_t i = 0; i < FT_RECORD_HOT && s->accesses >= MANY && s->hot[i].n; i++)
        fprintf(stderr, "%s%s (%llu)%s", i ? ", " : "foretell: most events come from ",
                s->hot[i].place, (unsigned long long)s->hot[i].n,
                i + 1 == FT_RECORD_HOT || !s->hot[i + 1].n ? "\n" : "");
}

/* A process that ended past the recorder is mostly a daemon's first process. */
static const char *end_text(const run *r, ft_raw_end end)
{
    if (end != FT_RAW_END_OPEN || !WIFEXITED(r->status)) return ft_raw_end_text(end);
    return "the program ended without its recorder, or became a daemon, whose child processes are "
           "not recorded: run daemons in the foreground";
}

static void print_summary(const run *r, const ft_record_summary *s)
{
    ft_strbuf end = {0};
    ft_program_end(r->status, &end);
    fprintf(stderr, "foretell: recorded %u events of %u threads on %u shared cells in %s\n",
            s->events, s->threads, s->cells, r->out);
    fprintf(stderr, "foretell: %s (%s); %llu accesses seen", end_text(r, s->end),
            ft_strbuf_text(&end), (unsigned long long)s->accesses);
    /* A short log is mostly what the program's memory held at its start. */
    if (s->accesses >= MANY)
        fprintf(stderr, ", %.1f bytes each in the log", (double)s->bytes / (double)s->accesses);
    fputs("\n", stderr);
    if (s->external)
        fprintf(stderr,
                "foretell: %llu writes by uninstrumented code were detected when their values were "
                "read\n",
                (unsigned long long)s->external);
    if (s->signals)
        fprintf(stderr, "foretell: signals that the program handled: %llu\n",
                (unsigned long long)s->signals);
    if (s->ignored)
        fprintf(stderr,
                "foretell: %llu events in signal handlers or after the end of the program were not "
                "recorded\n",
                (unsigned long long)s->ignored);
    if (s->foreign[0]) fprintf(stderr, "foretell: %s\n", s->foreign);
    if (s->unrun[0]) fprintf(stderr, "foretell: %s\n", s->unrun);
    if (s->forked[0]) fprintf(stderr, "foretell: %s\n", s->forked);
    print_terms(&s->terms);
    print_transactions(s);
    print_hot(s);
    ft_strbuf_release(&end);
}

static ft_status check_started(const ft_program_file *log, run *r, ft_error *err)
{
    ft_raw_header header;
    const char *program = r->options->arguments.data[0];
    if (pread(log->fd, &header, sizeof header, 0) != sizeof header)
        return ft_error_set(err, FT_USAGE, "%s: the recording cannot be read back", r->out);
    if (header.end == FT_RAW_END_REBUILD)
        return ft_error_set(err, FT_USAGE,
                            "%s: was not built with --symbolic: build it again with "
                            "CC='foretell-cc --symbolic' CXX='foretell-c++ --symbolic'",
                            program);
    r->open_line = header.open_line;
    r->end = header.end;
    return header.started ? FT_OK : ft_program_absent(program, r->status, &header, err);
}

/* A message of ours begins a line; the program's output is left alone. */
static void end_line(const run *r)
{
    bool seen = isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);
    if (!r->open_line || (!seen && !r->options->report_follows)) return;
    fputs("\n", stdout);
    fflush(stdout);
}

/* A log that could not be written whole is no fault of the trace's. */
static ft_status check_disk(const run *r, ft_status made, const ft_record_summary *s, ft_error *err)
{
    if (!made || s->end != FT_RAW_END_DISK) return made;
    *err = (ft_error)FT_ERROR_INIT;
    return ft_error_set(err, FT_USAGE, "%s: %s", log_place(r), ft_raw_end_text(s->end));
}

/* As a whole, where something is done with it or it is not written as binary. */
static ft_status make_trace(const run *r, const ft_program_file *log, ft_recording *recording,
                            ft_record_summary *summary, ft_error *err)
{
    const ft_options *options = r->options;
    ft_trace *trace = NULL;
    ft_status made = ft_record_end(recording, &trace, summary, err);
    if (made) return check_disk(r, made, summary, err);
    if (r->annotations) ft_annotations_apply(r->annotations, trace);
    if (!trace->n_command)
        ft_trace_set_command(trace, options->arguments.data, options->arguments.len);
    if (r->feed)
        ft_feed_tell(r->feed, log->own, header_of(r).limit, trace, options->quiet || options->runs);
    made = ft_output_trace(trace, r->write, r->out, err);
    summary->events = trace->n_events;
    ft_trace_free(trace);
    return made;
}

static ft_status write_trace(const run *r, ft_recording *recording, ft_record_summary *summary,
                             ft_error *err)
{
    const ft_options *options = r->options;
    ft_output *output;
    ft_status made = ft_output_open(r->out, &output, err);
    if (made) {
        ft_record_drop(recording);
        return made;
    }
    made = ft_record_write(recording, options->arguments.data, options->arguments.len,
                           ft_output_sink, output, summary, err);
    return ft_output_close(output, check_disk(r, made, summary, err), err);
}

static bool can_stream(const run *r)
{
    return r->write == ft_binary_write && !r->annotations && !r->feed && !r->options->symbolic;
}

static ft_status end_recording(run *r, const ft_program_file *log, ft_recording *recording,
                               ft_error *err)
{
    const ft_options *options = r->options;
    ft_record_summary summary = {0};
    assert(r->write); /* choose_place */
    ft_status made = can_stream(r) ? write_trace(r, recording, &summary, err)
                                   : make_trace(r, log, recording, &summary, err);
    if (made) return made;
    r->end = summary.end;
    if (!options->quiet && !options->runs) print_summary(r, &summary);
    return FT_OK;
}

static ft_run_end end_of(const run *r)
{
    return (ft_run_end){.status = r->status,
                        .end = (ft_raw_end)r->end,
                        .late = r->late ? r->options->timeout : 0,
                        .expects = r->options->expect_exit};
}

static bool went_wrong(const run *r)
{
    ft_run_end end = end_of(r);
    return ft_failure_kind(&end) || r->end != FT_RAW_END_EXIT || r->refused;
}

/* Of a run that did not fail otherwise. */
static ft_status judge_output(run *r, ft_error *err)
{
    char block[1 << 14];
    ft_strbuf output = {0};
    ssize_t n;
    ft_status status = FT_OK;
    while ((n = pread(r->kept, block, sizeof block, (off_t)output.len)) > 0)
        ft_strbuf_add(&output, block, (size_t)n);
    ft_strbuf_puts(&r->why, "in a schedule that foretell explore ran, ");
    if (!went_wrong(r))
        status = ft_output_judge_run(r->options->judge,
                                     (ft_output_text){ft_strbuf_text(&output), output.len},
                                     &r->refused, &r->why, err);
    ft_strbuf_release(&output);
    close(r->kept);
    return status;
}

/* The trace says how the run failed, and what repeats it. */
static void tell_failure(run *r, ft_recording *recording)
{
    const ft_options *options = r->options;
    ft_run_end end = end_of(r);
    const char *kind = ft_failure_kind(&end);
    if (r->refused) {
        ft_record_failed(recording, r->refused, ft_strbuf_text(&r->why));
        return;
    }
    const char *where = options->run_end ? ", in the schedule of a witness"
                                         : ", in a schedule that foretell explore ran";
    if (!kind && options->follow && r->end == FT_RAW_END_DEADLOCK) {
        ft_strbuf stuck = {0};
        ft_strbuf_printf(&stuck, "the program deadlocked%s", where);
        ft_record_failed(recording, "hang", ft_strbuf_text(&stuck));
        ft_strbuf_release(&stuck);
        return;
    }
    if (!kind) return;
    ft_strbuf text = {0};
    ft_failure_tell(&end, &text);
    if (options->follow) {
        ft_strbuf_puts(&text, where);
        ft_record_failed(recording, kind, ft_strbuf_text(&text));
        ft_strbuf_release(&text);
        return;
    }
    ft_strbuf_puts(&text, "; to repeat: foretell record");
    if (r->seed) ft_strbuf_printf(&text, " --seed %u", r->seed);
    ft_strbuf_printf(&text, " --turn %u", r->turn);
    if (end.late) ft_strbuf_printf(&text, " --timeout %u", end.late);
    ft_inputs_quote(&options->inputs, &text);
    ft_strbuf_puts(&text, " -o again.ftb --");
    ft_failure_quote(options->arguments.data, options->arguments.len, &text);
    ft_record_failed(recording, kind, ft_strbuf_text(&text));
    ft_strbuf_release(&text);
}

static ft_exit record(run *r)
{
    ft_error err = FT_ERROR_INIT;
    ft_program_file log;
    if (choose_place(r, &err) || make_log(r, &log, &err)) return ft_fail(NULL, &err);
    ft_recording *recording = ft_record_begin(log.own, r->annotations);
    ft_status status = run_program(r, &log, &err);
    if (!status) status = check_started(&log, r, &err);
    if (!status) end_line(r);
    if (!status && r->options->judge) status = judge_output(r, &err);
    if (!status) tell_failure(r, recording);
    if (!status && r->options->follow) ft_record_explored(recording, r->options->name);
    if (!status) read_followed(r, log.fd);
    if (!status && r->options->run_end) *r->options->run_end = end_of(r);
    if (!status && r->options->went_wrong) *r->options->went_wrong = went_wrong(r);
    if (status)
        ft_record_drop(recording);
    else
        status = end_recording(r, &log, recording, &err);
    ft_program_file_release(&log);
    ft_strbuf_release(&r->why);
    return status ? ft_fail(NULL, &err) : FT_EXIT_CLEAN;
}

/* ---- several runs */

/* run.ftb of the third run is run.3.ftb; in a folder it is FOLDER/run.3.ftb. A first run that may
 * stay alone is run.ftb itself. */
static char *numbered(const ft_options *options, uint32_t number)
{
    if (options->varied && number == 1) return ft_strdup(options->output);
    const char *out = options->output, *slash = strrchr(out, '/');
    const char *base = slash ? slash + 1 : out, *dot = strrchr(base, '.');
    struct stat info;
    ft_strbuf name = {0};
    if ((stat(out, &info) == 0 && S_ISDIR(info.st_mode)) || !*base) {
        bool text = options->to && strcmp(options->to, "ndjson") == 0;
        ft_strbuf_printf(&name, "%s%srun.%u.%s", out, *base ? "/" : "", number,
                         text ? "ndjson" : "ftb");
    } else {
        if (!dot || dot == base) dot = base + strlen(base);
        ft_strbuf_printf(&name, "%.*s.%u%s", (int)(dot - out), out, number, dot);
    }
    return ft_strbuf_take(&name);
}

/* A name without an ending is a folder, made where it is not there. What is wrong with it shows
 * when the first trace is to be written. */
static void make_folder(const char *out)
{
    const char *slash = strrchr(out, '/'), *base = slash ? slash + 1 : out;
    if (!strchr(base, '.')) (void)mkdir(out, 0777);
}

/* The first run is the one of --seed and --turn; the others differ in seed and, where the user does
 * not say it, in how long a thread goes on: bugs want long turns as well as short ones. */
static run nth_run(const run *all, uint32_t i)
{
    static const uint32_t turns[] = {DEFAULT_TURN, 3, DEFAULT_TURN, 10, 100, 1, DEFAULT_TURN, 3};
    const ft_options *options = all->options;
    uint32_t turn = options->turn ? options->turn : turns[i % (sizeof turns / sizeof *turns)];
    FT_REQUIRE(turn > 0);
    run r = *all;
    r.seed = options->seed + i;
    r.turn = turn;
    return r;
}

static void print_run(const run *r, uint32_t number)
{
    ft_strbuf end = {0};
    ft_program_end(r->status, &end);
    fprintf(stderr, "foretell: run %u (seed %u, turn %u): %s (%s): %s\n", number, r->seed, r->turn,
            end_text(r, r->end), ft_strbuf_text(&end), r->out);
    ft_strbuf_release(&end);
}

static void print_repeat(const run *r)
{
    ft_strbuf inputs = {0};
    ft_inputs_quote(&r->options->inputs, &inputs);
    fprintf(stderr, "foretell: to repeat %s: foretell record ", r->out);
    if (r->seed) fprintf(stderr, "--seed %u ", r->seed);
    fprintf(stderr, "--turn %u%s -o again.ftb --", r->turn, ft_strbuf_text(&inputs));
    ft_strbuf_release(&inputs);
    for (size_t i = 0; i < r->options->arguments.len; i++)
        fprintf(stderr, " %s", r->options->arguments.data[i]);
    fputs("\n", stderr);
}

/* The command's exit code, once there is a trace of that run. */
static ft_exit code_of(const run *r)
{
    enum { SIGNALLED = 128 };
    if (!r->options->exit_code) return FT_EXIT_CLEAN;
    return (ft_exit)(WIFSIGNALED(r->status) ? SIGNALLED + WTERMSIG(r->status)
                                            : WEXITSTATUS(r->status));
}

/* Each run gets the same standard input. A file is read again from where it stood. */
typedef struct same_input {
    off_t start; /* -1: not a file */
    int waiting; /* bytes in a pipe or socket, -1: neither */
} same_input;

static same_input look_at_input(void)
{
    int waiting = -1;
    if (ioctl(STDIN_FILENO, FIONREAD, &waiting)) waiting = -1;
    return (same_input){.start = lseek(STDIN_FILENO, 0, SEEK_CUR), .waiting = waiting};
}

/* False: a run took some of it, and the next one cannot have that again. */
static bool is_input_back(same_input first)
{
    int waiting = -1;
    if (first.start >= 0) return lseek(STDIN_FILENO, first.start, SEEK_SET) >= 0;
    if (ioctl(STDIN_FILENO, FIONREAD, &waiting)) waiting = -1;
    return waiting == first.waiting;
}

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

/* Of `test`: runs follow a first one that was short, as long as all of them are. */
static bool is_enough(const ft_options *options, uint32_t done, double took)
{
    if (!options->varied || !done) return false;
    return took >= (done == 1 ? FT_RECORD_SHORT : 2 * FT_RECORD_SHORT);
}

static void print_end(const ft_options *options, const run *runs, uint32_t done, uint32_t wrong)
{
    assert(wrong <= done && done <= options->runs);
    if (!options->varied || done > 1)
        fprintf(stderr, "foretell: %u runs recorded, %u failed%s\n", done, wrong,
                wrong || options->varied ? "" : "; one foretell check takes all of their traces");
    for (uint32_t i = 0; i < done; i++)
        if (went_wrong(&runs[i])) print_repeat(&runs[i]);
}

/* Of the runs of one test only those that went wrong have a line each. */
static ft_exit record_nth(run *r, uint32_t number)
{
    const ft_options *options = r->options;
    r->out = numbered(options, number);
    ft_exit code = record(r);
    bool tells = !options->quiet && (!options->varied || went_wrong(r));
    if (code == FT_EXIT_CLEAN && tells) print_run(r, number);
    return code;
}

static ft_exit record_runs(const run *all)
{
    const ft_options *options = all->options;
    ft_exit code = FT_EXIT_CLEAN;
    uint32_t done = 0, wrong = 0;
    run *runs = ft_calloc(options->runs, sizeof *runs);
    same_input input = look_at_input();
    double start = now();
    if (!options->varied) make_folder(options->output);
    for (; done < options->runs && code == FT_EXIT_CLEAN && !ft_signals_caught(); done++) {
        if (is_enough(options, done, now() - start)) break;
        if (done && !is_input_back(input) && options->varied) break;
        runs[done] = nth_run(all, done);
        code = record_nth(&runs[done], done + 1);
        if (code == FT_EXIT_CLEAN) wrong += went_wrong(&runs[done]);
    }
    if (code == FT_EXIT_CLEAN) print_end(options, runs, done, wrong);
    for (uint32_t i = 0; i < done; i++) {
        if (code == FT_EXIT_CLEAN) code = code_of(&runs[i]);
        free(runs[i].out);
    }
    free(runs);
    return code;
}

/* Rules that did nothing are often misspelt. */
static void print_unused(const ft_options *options, const ft_annotations *annotations)
{
    for (uint32_t line = 0; (line = ft_annotations_unused(annotations, line));)
        fprintf(stderr, "foretell: %s:%u: this annotation matches nothing in the recording\n",
                options->annotations, line);
}

static ft_exit record_once(const run *all)
{
    run one = nth_run(all, 0);
    one.out = ft_strdup(all->options->output);
    ft_exit code = record(&one);
    if (code == FT_EXIT_CLEAN) code = code_of(&one);
    free(one.out);
    return code;
}

static ft_status check_output(const ft_options *options, ft_error *err)
{
    if (!options->output)
        return ft_error_set(err, FT_USAGE,
                            "record needs -o FILE, the trace to write, before the program");
    if (options->runs && ft_output_is_standard(options->output))
        return ft_error_set(err, FT_USAGE,
                            "--runs writes several traces, which standard output cannot hold: give "
                            "-o a file or a folder");
    return FT_OK;
}

ft_exit ft_run_record(const ft_options *options)
{
    ft_error err = FT_ERROR_INIT;
    ft_annotations *annotations = NULL;
    ft_signals_relay();
    if (check_output(options, &err) || ft_inputs_give(&options->inputs, &err))
        return ft_fail(NULL, &err);
    if (options->annotations && ft_annotations_read(options->annotations, &annotations, &err))
        return ft_fail(NULL, &err);
    ft_feed *feed = NULL;
    ft_exit code = FT_EXIT_CLEAN;
    if (options->inputs_of &&
        ft_feed_read(options->inputs_of, options->arguments.data[0], &feed, &err))
        code = ft_fail(options->inputs_of, &err);
    run all = {.options = options, .annotations = annotations, .feed = feed};
    if (code == FT_EXIT_CLEAN) code = (options->runs ? record_runs : record_once)(&all);
    ft_feed_free(feed);
    if (annotations && code == FT_EXIT_CLEAN) print_unused(options, annotations);
    ft_annotations_free(annotations);
    return code;
}

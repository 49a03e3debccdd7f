/* Programs that were built with the compiler wrapper, as a command runs them.
 *
 * A program is recorded or replayed by a file (raw/raw.h), whose name it finds in its environment.
 * The recorder inside the program opens that file when it starts; from then on the file has no name
 * and disappears with the last process that uses it. Before a replay, and before inputs of an
 * earlier recording are fed, the program and its libraries are compared with the recorded build.
 *
 * Imports: terminal, options, files, record/maker, record/maker/replay, record/raw, common/base,
 * common/trace. */
#ifndef FT_CLI_RECORDED_H
#define FT_CLI_RECORDED_H

#include <stdio.h>

#include "base/memory.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "options/options.h"
#include "raw/raw.h"
#include "trace/trace.h"

/* ---- program.c: running one */

/* Embedded: ft_program_file_release. */
typedef struct ft_program_file {
    int fd;
    char *path;   /* its absolute name; NULL once the program has opened it */
    char own[32]; /* how this process opens it, whether it has a name or not */
} ft_program_file;

/* Makes an empty file of that name, with other letters for the XXXXXX at its end. False: errno says
 * why not. */
bool ft_program_file_make(const char *name, ft_program_file *file);
void ft_program_file_release(ft_program_file *file);

/* How a program is run. */
typedef struct ft_program_way {
    int out;           /* the descriptor of this process that is its standard output */
    bool silent;       /* its standard output and standard error are discarded */
    bool keeps;        /* silent: its standard output goes to `out` all the same */
    uint32_t patience; /* seconds after which it is killed if a signal has stopped it; 0: never */
    uint32_t seconds;  /* after which it is killed if it still runs; 0: never */
    bool *late;        /* set if it was ended after `seconds`; may be NULL without them */
    bool asks;         /* then it is to write down what its threads do, and is killed after that */
} ft_program_way;

/* Runs argv as the program of that file and waits for it. Words to this process are passed on to
 * it, and so is an interruption; a second one kills it. The interruption is to be reraised
 * afterwards (terminal.h). *status is its wait status. FT_USAGE: it could not be started; the
 * message says why. */
ft_status ft_program_execute(char *const *argv, ft_program_file *file, ft_program_way way,
                             int *status, ft_error *err) FT_MUST_CHECK;

/* "exit code 3", "killed by signal 11 (Segmentation fault)". */
void ft_program_end(int status, ft_strbuf *out);

/* The file that a shell would run for the name; heap. NULL: there is none. */
char *ft_program_find(const char *name);
/* Sets the error of a program that ran, with that wait status, without its recorder: the reason why
 * the recorder did not start. */
ft_status ft_program_absent(const char *name, int status, const ft_raw_header *header,
                            ft_error *err);

/* ---- inputs.c: values of inputs by name (include/foretell/input.h) */

/* NAME=VALUE with a whole number; *name is on the heap. FT_USAGE says what is wrong. */
ft_status ft_input_setting(const char *text, char **name, long long *value,
                           ft_error *err) FT_MUST_CHECK;
/* Gives the settings to the programs that this process starts from here on. */
ft_status ft_inputs_give(const ft_texts *settings, ft_error *err) FT_MUST_CHECK;
/* The value that a program gets: of the settings, else of this process's environment, else 0. */
uint64_t ft_inputs_value(const ft_texts *settings, const char *name);
/* " --input NAME=VALUE" for each, as a shell takes them. */
void ft_inputs_quote(const ft_texts *settings, ft_strbuf *out);
/* Reports the names that a program asked for and that have no value. */
void ft_inputs_report(const ft_raw_unset unset[FT_RAW_UNSETS], FILE *out);

/* ---- failure.c: did the run fail? */

/* How a run ended. */
typedef struct ft_run_end {
    int status;       /* of the program (wait) */
    ft_raw_end end;   /* of the recording */
    uint32_t late;    /* seconds after which it was ended; 0: it ended by itself */
    uint32_t expects; /* the exit code that is not a failure */
} ft_run_end;

/* A kind of the check `failure`; NULL: the run did not fail. A deadlock and an assertion that
 * failed are none: they are findings of their own checks. */
const char *ft_failure_kind(const ft_run_end *run);
/* "exit code 3", "killed by signal 11 (Segmentation fault)", "still running after 60 seconds" */
void ft_failure_tell(const ft_run_end *run, ft_strbuf *out);
/* The words as a shell takes them, each behind a blank. */
void ft_failure_quote(const char *const *words, size_t n, ft_strbuf *out);

/* ---- libraries.c: is it the recorded build? */

/* Before a run: the program's file, found as a shell does, must have the recorded content
 * (FT_INPUT), and so must each library that it is linked with and that events of the trace came
 * from (FT_USAGE). *program (NULL before) is that file, heap, also where it is another build. */
ft_status ft_build_check(const ft_trace *trace, const char *name, char **program,
                         ft_error *err) FT_MUST_CHECK;

/* After a run: the same of the libraries that the program loaded, by dlopen too; the run's schedule
 * stands at `at` in that file. FT_USAGE as above. */
ft_status ft_libraries_check_loaded(const ft_trace *trace, int fd, uint64_t at,
                                    ft_error *err) FT_MUST_CHECK;

/* ---- feed.c: the inputs of an earlier recording, for `record --inputs-of` */

typedef struct ft_feed ft_feed;

/* FT_INPUT, FT_USAGE: `path` is not a recording, or is one of another build of that program. */
ft_status ft_feed_read(const char *path, const char *program, ft_feed **feed,
                       ft_error *err) FT_MUST_CHECK;
void ft_feed_free(ft_feed *feed); /* accepts NULL */

/* The bytes that the inputs take behind the log's limit, and writing them there; false: errno says
 * why not. */
uint64_t ft_feed_bytes(const ft_feed *feed);
bool ft_feed_write(const ft_feed *feed, int fd, uint64_t limit);

/* After the run: reports how many inputs were fed and which was the first that was not, on standard
 * error unless `quiet`, and as a note of the new trace. */
void ft_feed_tell(const ft_feed *feed, const char *log, uint64_t limit, ft_trace *trace,
                  bool quiet);

/* ---- order.c */

/* Appends the order of the synchronisation in a trace of any format as a schedule set of one
 * schedule: threads by creation, each one's operations by their kinds, of the same object all
 * (worker/cover/prefer.h). FT_LIMIT: it has too many threads. */
ft_status ft_recorded_order(const char *path, ft_strbuf *out, ft_error *err) FT_MUST_CHECK;

#endif

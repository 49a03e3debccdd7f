/* The commands of `foretell`, a function each.
 *
 * A command takes the parsed options, prints its result on standard output and its own errors on
 * standard error, and returns the exit code. `test` runs three others in one: record, check and
 * replay. Commands that only read or write local files need no server; `check`, `test` and
 * `intervals` start a private one where none is named.
 *
 * Imports: options, terminal, files, remote, findings, recorded, exploring, programs, record/maker,
 * record/maker/annotations, record/maker/log, record/maker/replay, record/raw, common/base,
 * common/report, common/trace, common/verdict. */
#ifndef FT_CLI_COMMANDS_H
#define FT_CLI_COMMANDS_H

#include "options/options.h"

ft_exit ft_run_test(const ft_options *options);      /* test.c, test_*.c */
ft_exit ft_run_check(const ft_options *options);     /* check.c */
ft_exit ft_run_submit(const ft_options *options);    /* jobs.c */
ft_exit ft_run_jobs(const ft_options *options);      /* jobs.c */
ft_exit ft_run_top(const ft_options *options);       /* top.c, top_picture.c */
ft_exit ft_run_show(const ft_options *options);      /* jobs.c */
ft_exit ft_run_cancel(const ft_options *options);    /* jobs.c */
ft_exit ft_run_witness(const ft_options *options);   /* jobs.c */
ft_exit ft_run_verify(const ft_options *options);    /* verify.c */
ft_exit ft_run_convert(const ft_options *options);   /* convert.c */
ft_exit ft_run_diff(const ft_options *options);      /* review.c */
ft_exit ft_run_review(const ft_options *options);    /* review.c */
ft_exit ft_run_merge(const ft_options *options);     /* merge.c */
ft_exit ft_run_stats(const ft_options *options);     /* stats.c */
ft_exit ft_run_intervals(const ft_options *options); /* intervals.c */
ft_exit ft_run_explore(const ft_options *options);   /* explore.c */
/* explore_program.c: is the first argument a source file or a program as data? */
bool ft_explores_program(const ft_options *options);
ft_exit ft_run_explore_program(const ft_options *options);
ft_exit ft_run_lower(const ft_options *options);      /* lower.c */
ft_exit ft_run_context(const ft_options *options);    /* context.c */
ft_exit ft_run_cover(const ft_options *options);      /* cover.c */
ft_exit ft_run_record(const ft_options *options);     /* record.c */
ft_exit ft_run_replay(const ft_options *options);     /* replay.c */
ft_exit ft_run_run(const ft_options *options);        /* run.c */
ft_exit ft_run_manual(const ft_options *options);     /* manual.c */
ft_exit ft_run_completion(const ft_options *options); /* completion.c */
ft_exit ft_run_version(const ft_options *options);    /* manual.c */

#endif

/* Is the output of a run as it should be? By the user's command (--oracle), or by comparison with
 * the output of another run (--deterministic). For explored runs, and for their recordings. */
#ifndef FT_CLI_ORACLE_H
#define FT_CLI_ORACLE_H

#include <stddef.h>

#include "base/status.h"
#include "base/strbuf.h"

/* Of a run, on its standard output. */
typedef struct ft_output_text {
    const char *bytes;
    size_t size;
} ft_output_text;

/* Runs the shell command with the output as its standard input. *code: its exit code, 128 + N after
 * signal N; 0 also where the user interrupts it. *said: the first line that it printed, heap.
 * FT_USAGE: it cannot be run, or does not end. */
ft_status ft_oracle_run(const char *command, ft_output_text output, int *code, char **said,
                        ft_error *err) FT_MUST_CHECK;

/* Appends the first difference: "line 2 is 'b', in another schedule 'a'". */
void ft_outputs_compare(ft_output_text own, ft_output_text other, ft_strbuf *out);

/* By what the output of a recording is judged. */
typedef struct ft_output_judge {
    const char *oracle;   /* NULL: the output has to be `other` */
    ft_output_text other; /* of a run that passes */
} ft_output_judge;

/* *kind: a kind of the check `failure`, and `why` gets its text; NULL: nothing is wrong. */
ft_status ft_output_judge_run(const ft_output_judge *judge, ft_output_text own, const char **kind,
                              ft_strbuf *why, ft_error *err) FT_MUST_CHECK;

#endif

/* Executes a witness of a program, in this process, by the interpreter. */
#include <stdlib.h>

#include "program/binary.h"
#include "program/witness/witness.h"
#include "programs/programs.h"
#include "terminal/terminal.h"

bool ft_witness_is_of_program(const json_t *witness)
{
    return ft_execution_is_one(witness);
}

/* ---- the verdict ---- */

static const char *claim_of(const json_t *witness)
{
    const char *kind =
        json_string_value(json_object_get(json_object_get(witness, "claim"), "kind"));
    return kind ? kind : "?";
}

static void print_verdict(const ft_options *options, const json_t *witness,
                          const ft_execution *execution, const char *why)
{
    if (options->json) {
        json_t *out = json_pack("{s:b, s:s, s:s?}", "confirmed", !why, "claim", claim_of(witness),
                                "reason", why);
        json_dumpf(out, stdout, JSON_INDENT(1));
        fputs("\n", stdout);
        json_decref(out);
    } else if (why) {
        printf("not confirmed: %s\n", why);
    } else {
        printf("confirmed: %s, after %zu steps of the schedule, with %zu input%s\n",
               claim_of(witness), execution->schedule.len, execution->inputs.len,
               execution->inputs.len == 1 ? "" : "s");
    }
}

static ft_exit verify(const ft_options *options, const json_t *witness, const ft_program *program)
{
    ft_error err = FT_ERROR_INIT;
    ft_execution execution = {0};
    ft_exit code = FT_EXIT_INPUT;
    if (ft_execution_read(witness, program, &execution, &err) != FT_OK) {
        ft_fail(options->arguments.data[0], &err);
    } else {
        ft_status status = ft_execution_check(program, &execution, &err);
        print_verdict(options, witness, &execution, status ? err.message : NULL);
        code = status ? FT_EXIT_FINDINGS : FT_EXIT_CLEAN;
    }
    ft_execution_release(&execution);
    return code;
}

ft_exit ft_verify_program(const ft_options *options, const json_t *witness)
{
    ft_error err = FT_ERROR_INIT;
    ft_program *program = NULL;
    if (options->arguments.len < 2) {
        ft_error_set(&err, FT_USAGE,
                     "it is a witness of a program: name that, or its sources, too");
        return ft_fail(options->arguments.data[0], &err);
    }
    const char *path = options->arguments.data[1];
    ft_program *read = NULL;
    ft_options sources = *options;
    sources.arguments.data++; /* the witness */
    sources.arguments.len--;
    ft_status status = ft_lowering_read(&sources, &read, &err);
    if (status == FT_OK) program = ft_program_numbered(read);
    ft_program_free(read);
    if (status == FT_INPUT && !err.message[0]) return FT_EXIT_INPUT;
    if (status) return ft_fail(path, &err);
    ft_exit code = verify(options, witness, program);
    ft_program_free(program);
    return code;
}

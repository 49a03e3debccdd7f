/* Checks a witness on its trace or program, in this process. */
#include <stdio.h>

#include "commands.h"
#include "files/files.h"
#include "programs/programs.h"
#include "remote/remote.h"
#include "terminal/terminal.h"
#include "verdict/checker.h"

static void print_verdict(const ft_options *options, const ft_trace *trace,
                          const ft_witness *witness, bool confirmed, const char *why)
{
    if (options->json) {
        json_t *out = json_pack("{s:b, s:s, s:s?}", "confirmed", confirmed, "claim",
                                ft_claim_kind_name(witness->claim.kind), "reason", why);
        json_dumpf(out, stdout, JSON_INDENT(1));
        fputs("\n", stdout);
        json_decref(out);
    } else if (confirmed) {
        printf("confirmed: %s, after %u steps and %u context switches, under model %s\n",
               ft_claim_kind_name(witness->claim.kind), witness->n_steps,
               ft_witness_switches(trace, witness), ft_model_name(witness->model));
    } else {
        printf("not confirmed: %s\n", why);
    }
}

static ft_exit execute(const ft_options *options, const ft_trace *trace, const ft_witness *witness)
{
    ft_error err = FT_ERROR_INIT;
    ft_checker *checker = ft_checker_new(trace);
    ft_status status = ft_checker_check(checker, witness, NULL, &err);
    ft_checker_free(checker);
    print_verdict(options, trace, witness, status == FT_OK, status ? err.message : NULL);
    if (!status) return FT_EXIT_CLEAN;
    return status == FT_INPUT ? FT_EXIT_FINDINGS : FT_EXIT_INCOMPLETE;
}

static ft_exit verify(const ft_options *options, const json_t *json)
{
    ft_error err = FT_ERROR_INIT;
    const char *path = options->arguments.data[0];
    const char *trace_path = options->arguments.len > 1 ? options->arguments.data[1] : NULL;
    ft_trace *trace = NULL;
    if (ft_job_trace(options, json, trace_path, &trace, &err)) return ft_fail(trace_path, &err);
    ft_observe_run(trace);
    ft_witness witness = {0};
    ft_exit code = FT_EXIT_INPUT;
    if (ft_witness_from_json(json, trace, &witness, &err))
        ft_fail(path, &err);
    else
        code = execute(options, trace, &witness);
    ft_witness_release(&witness);
    ft_trace_free(trace);
    return code;
}

ft_exit ft_run_verify(const ft_options *options)
{
    ft_error err = FT_ERROR_INIT;
    json_t *json = NULL;
    if (ft_input_json(options->arguments.data[0], &json, &err))
        return ft_fail(options->arguments.data[0], &err);
    bool program = ft_witness_is_of_program(json);
    if (!program && options->arguments.len > 2) {
        json_decref(json);
        ft_error_set(&err, FT_USAGE, "too many arguments: a witness of a trace takes one trace");
        return ft_fail(NULL, &err);
    }
    ft_exit code = program ? ft_verify_program(options, json) : verify(options, json);
    json_decref(json);
    return code;
}

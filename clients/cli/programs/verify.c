/* Executes a witness of a program, in this process, by the interpreter. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "program/binary.h"
#include "program/witness/witness.h"
#include "programs/programs.h"
#include "terminal/terminal.h"

bool ft_witness_is_of_program(const json_t *witness)
{
    return ft_execution_is_one(witness);
}

/* ---- the program ---- */

/* foretell-lower's own message is the only one where it fails. */
static ft_status open_program(const ft_options *options, const char *path, FILE **file,
                              ft_error *err)
{
    bool source = ft_lowering_takes(path);
    ft_options lowered = *options;
    *file = source ? tmpfile() : fopen(path, "re");
    if (!*file) return ft_error_set(err, FT_USAGE, "cannot be read: %s", strerror(errno));
    if (!source) return FT_OK;
    lowered.arguments.data++; /* the witness */
    lowered.arguments.len--;
    return ft_lowering_run(&lowered, NULL, *file, err);
}

static ft_status read_program(const ft_options *options, const char *path, ft_program **program,
                              ft_error *err)
{
    FILE *file = NULL;
    char part[65536];
    ft_strbuf bytes = {0};
    ft_program *read = NULL;
    ft_status status = open_program(options, path, &file, err);
    for (size_t n; status == FT_OK && (n = fread(part, 1, sizeof part, file)) > 0;)
        ft_strbuf_add(&bytes, part, n);
    if (status == FT_OK) status = ft_program_read(ft_strbuf_text(&bytes), bytes.len, &read, err);
    if (status == FT_OK) *program = ft_program_numbered(read);
    ft_program_free(read);
    ft_strbuf_release(&bytes);
    if (file) fclose(file);
    return status;
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
    ft_status status = read_program(options, path, &program, &err);
    if (status == FT_INPUT && !err.message[0]) return FT_EXIT_INPUT;
    if (status) return ft_fail(path, &err);
    ft_exit code = verify(options, witness, program);
    ft_program_free(program);
    return code;
}

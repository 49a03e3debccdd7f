/* Writes the query that the literal encoding asks of Z3 as SMT-LIB 2: see README.md here.
 *
 * The check of the solver is defined here, in front of the library's: it prints what is asserted
 * and answers "unknown", so that the file is what a job really asks, whatever asks it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <z3.h>

#include "bench/programs/programs.h"
#include "engine/engine.h"

typedef struct query {
    const char *name, *check;
    ft_trace *(*make)(const ft_program_shape *shape);
    ft_program_shape shape;
} query;

static const query QUERIES[] = {
#define FT_ROW(name, check, make, ...) {name, check, make, __VA_ARGS__},
#include "bench/queries/queries.def"
#undef FT_ROW
};

Z3_lbool Z3_API Z3_solver_check_assumptions(Z3_context z3, Z3_solver solver, unsigned count,
                                            Z3_ast const assumptions[])
{
    (void)assumptions;
    if (count) fprintf(stderr, "query_print: %u assumptions are left out\n", count);
    printf("%s(check-sat)\n", Z3_solver_to_string(z3, solver));
    exit(0);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof QUERIES / sizeof *QUERIES; i++) {
        if (strcmp(argv[1], QUERIES[i].name) != 0) continue;
        ft_trace *trace = QUERIES[i].make(&QUERIES[i].shape);
        json_t *spec = json_pack("{s:[s], s:s, s:s, s:s}", "checks", QUERIES[i].check, "model",
                                 "ctp", "per", "event", "encoding", "literal");
        ft_engine *engine;
        json_t *record;
        ft_error err = FT_ERROR_INIT;
        if (ft_engine_new(trace, "query", spec, &engine, &err) != FT_OK ||
            ft_engine_solve(engine, 0, NULL, &record, &err) != FT_OK)
            fprintf(stderr, "query_print: %s\n", err.message);
        return 2; /* decided without a query */
    }
    fprintf(stderr, "usage: query_print NAME\n");
    return 2;
}

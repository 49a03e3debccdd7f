/* Subproblems in parts: a subproblem that takes long is split into cubes (problem.h), which other
 * workers decide; it is safe where all of them are, and a violation where one is.
 *
 * CUBE, as it travels: an array of {"kind": "source", "event": E, "access": I, "write": W|null},
 * {"kind": "absent", "event": E, "access": I} and {"kind": "order", "event": E, "other": E}. */
#ifndef FT_ENGINE_CUBES_H
#define FT_ENGINE_CUBES_H

#include <jansson.h>

#include "encode/decide.h"

typedef struct ft_cubes {
    ft_cube of[FT_CUBES_MOST];
    uint32_t count; /* below 2: nothing to split by */
} ft_cubes;

/* Of the claim's encoding. */
struct ft_engine;
void ft_cubes_find(struct ft_engine *engine, const ft_claim *claim, ft_cubes *cubes);

json_t *ft_cubes_json(const ft_cubes *cubes); /* an array of CUBEs; new reference */
/* FT_INPUT: no CUBE of this trace. */
ft_status ft_cube_read(const ft_trace *trace, const json_t *json, ft_cube *cube,
                       ft_error *err) FT_MUST_CHECK;

#endif

#include "engine/cubes.h"

#include <string.h>

#include "base/contract.h"
#include "engine/internal.h"

static const char *const KINDS[] = {"source", "absent", "order"};

/* ---- Finding --------------------------------------------------------------------------------- */

void ft_cubes_find(ft_engine *engine, const ft_claim *claim, ft_cubes *cubes)
{
    FT_REQUIRE(!engine->problem.cube);
    cubes->count = 0;
    if (ft_analyses_is_small(engine->analyses)) {
        ft_decider *base = engine->spec.solver == FT_SOLVER_Z3
                               ? ft_analyses_z3_base(engine->analyses)
                               : ft_analyses_order_base(engine->analyses);
        cubes->count = ft_decider_split(base, cubes->of);
        return;
    }
    ft_cone_compute(&engine->problem, claim, ft_analyses_cone(engine->analyses));
    ft_decider *fresh = ft_decider_new(&engine->problem, ft_analyses_cone(engine->analyses));
    cubes->count = ft_decider_split(fresh, cubes->of);
    ft_decider_free(fresh);
}

/* ---- As JSON --------------------------------------------------------------------------------- */

static json_t *choice_json(const ft_choice *choice)
{
    json_t *json =
        json_pack("{s:s, s:I}", "kind", KINDS[choice->kind], "event", (json_int_t)choice->event);
    json_t *other =
        choice->other == FT_NO_EVENT ? json_null() : json_integer((json_int_t)choice->other);
    if (choice->kind == FT_CHOICE_ORDER)
        json_object_set_new(json, "other", other);
    else
        json_object_set_new(json, "access", json_integer((json_int_t)choice->access));
    if (choice->kind == FT_CHOICE_SOURCE) json_object_set_new(json, "write", other);
    if (choice->kind == FT_CHOICE_ABSENT) json_decref(other);
    return json;
}

json_t *ft_cubes_json(const ft_cubes *cubes)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < cubes->count; i++) {
        json_t *one = json_array();
        for (uint32_t k = 0; k < cubes->of[i].count; k++)
            json_array_append_new(one, choice_json(&cubes->of[i].choices[k]));
        json_array_append_new(all, one);
    }
    return all;
}

static bool read_number(const json_t *json, const char *name, uint32_t below, uint32_t *number)
{
    const json_t *value = json_object_get(json, name);
    json_int_t n = json_integer_value(value);
    if (!json_is_integer(value) || n < 0 || n >= (json_int_t)below) return false;
    *number = (uint32_t)n;
    return true;
}

static bool read_choice(const ft_trace *trace, const json_t *json, ft_choice *choice)
{
    const char *kind = json_string_value(json_object_get(json, "kind"));
    uint32_t k = 0;
    while (kind && k < sizeof KINDS / sizeof *KINDS && strcmp(KINDS[k], kind) != 0) k++;
    if (!kind || k == sizeof KINDS / sizeof *KINDS) return false;
    *choice = (ft_choice){.kind = (ft_choice_kind)k, .other = FT_NO_EVENT};
    if (!read_number(json, "event", trace->n_events, &choice->event)) return false;
    if (choice->kind == FT_CHOICE_ORDER)
        return read_number(json, "other", trace->n_events, &choice->other);
    if (!read_number(json, "access", UINT32_MAX, &choice->access)) return false;
    if (choice->kind == FT_CHOICE_ABSENT || json_is_null(json_object_get(json, "write")))
        return true;
    return read_number(json, "write", trace->n_events, &choice->other);
}

ft_status ft_cube_read(const ft_trace *trace, const json_t *json, ft_cube *cube, ft_error *err)
{
    ft_cube read = {.count = 0};
    size_t i;
    const json_t *one;
    bool good = json_is_array(json) && json_array_size(json) <= FT_CUBE_CHOICES;
    json_array_foreach(json, i, one) good =
        good && read_choice(trace, one, &read.choices[read.count++]);
    if (!good) return ft_error_set(err, FT_INPUT, "a cube that is not one of this trace");
    *cube = read;
    return FT_OK;
}

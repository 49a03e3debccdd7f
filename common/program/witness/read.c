/* The parts of a witness's document that are executed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "program/binary.h"
#include "program/witness/internal.h"

bool ft_execution_is_one(const json_t *witness)
{
    return json_is_string(json_object_get(witness, "program"));
}

static ft_status wrong(ft_error *err, const char *member, size_t i)
{
    return ft_error_set(err, FT_INPUT, "the witness's member \"%s\" is wrong at its element %zu",
                        member, i);
}

static ft_status read_inputs(const json_t *witness, ft_execution *x, ft_error *err)
{
    const json_t *all = json_object_get(witness, "inputs");
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *one = json_array_get(all, i);
        const char *name = json_string_value(json_object_get(one, "name"));
        const char *value = json_string_value(json_object_get(one, "value"));
        json_int_t width = json_integer_value(json_object_get(one, "width"));
        ft_input_value v = {0};
        bool good = name && value && width > 0 && width <= 64;
        char *end = NULL;
        if (good) v.value = (uint64_t)strtoll(value, &end, 10);
        if (!good || !end || *end) return wrong(err, "inputs", i);
        v.name = ft_strdup(name);
        v.width = (uint8_t)width;
        ft_vec_push(&x->inputs, v);
    }
    return FT_OK;
}

static ft_status read_schedule(const json_t *witness, ft_execution *x, ft_error *err)
{
    const json_t *all = json_object_get(witness, "schedule");
    if (!json_is_array(all))
        return ft_error_set(err, FT_INPUT, "the witness has no member \"schedule\"");
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *thread = json_array_get(json_array_get(all, i), 0),
                     *variant = json_array_get(json_array_get(all, i), 1);
        json_int_t t = json_integer_value(thread), v = json_integer_value(variant);
        bool good = json_is_integer(thread) && json_is_integer(variant) && t >= 0 &&
                    t < FT_INTERPRETER_THREADS && v >= 0;
        if (!good) return wrong(err, "schedule", i);
        ft_vec_push(&x->schedule, (ft_schedule_step){(uint32_t)t, (uint64_t)v});
    }
    return FT_OK;
}

static ft_status read_points(const json_t *witness, const ft_program *p, ft_execution *x,
                             ft_error *err)
{
    const json_t *all = json_object_get(witness, "points");
    for (size_t i = 0; i < json_array_size(all); i++) {
        const char *name = json_string_value(json_array_get(json_array_get(all, i), 0));
        const json_t *number = json_array_get(json_array_get(all, i), 1);
        json_int_t at = json_integer_value(number);
        uint32_t symbol = name ? ft_intern_find(&p->names, name, strlen(name)) : FT_NO_ID;
        ft_interpreter_place place = {symbol, (uint32_t)at};
        bool section = json_array_size(json_array_get(all, i)) > 2;
        bool good = symbol != FT_NO_ID && json_is_integer(number) && at >= 0 && at < UINT32_MAX &&
                    ft_program_can_be_point(p, place, section);
        if (!good) return wrong(err, "points", i);
        ft_points_add(&x->points, (ft_point){place, section});
    }
    return FT_OK;
}

static ft_status read_claim(const json_t *witness, ft_execution *x, ft_error *err)
{
    const json_t *claim = json_object_get(witness, "claim");
    const char *kind = json_string_value(json_object_get(claim, "kind"));
    x->exit_code = (int32_t)json_integer_value(json_object_get(claim, "code"));
    x->thread = (uint32_t)json_integer_value(json_object_get(claim, "thread"));
    x->error = FT_ERROR_NONE;
    if (kind && strcmp(kind, "exit-code") == 0) return FT_OK;
    for (int e = FT_ERROR_NONE + 1; e < FT_PROGRAM_ERRORS && kind; e++)
        if (strcmp(ft_program_error_name((ft_program_error)e), kind) == 0)
            return x->error = (ft_program_error)e, FT_OK;
    return ft_error_set(err, FT_INPUT, "the witness claims no kind of error");
}

ft_status ft_execution_read(const json_t *witness, const ft_program *numbered,
                            ft_execution *execution, ft_error *err)
{
    char hash[FT_DIGEST_HEX + 1];
    const char *named = json_string_value(json_object_get(witness, "program"));
    if (!named) return ft_error_set(err, FT_INPUT, "the witness is not one of a program");
    ft_program_hash(numbered, hash);
    if (strcmp(hash, named) != 0)
        return ft_error_set(err, FT_CONFLICT,
                            "the witness is of the program %.16s..., not of %.16s...", named, hash);
    ft_status status = read_claim(witness, execution, err);
    if (status == FT_OK) status = read_inputs(witness, execution, err);
    if (status == FT_OK) status = read_points(witness, numbered, execution, err);
    if (status == FT_OK) status = read_schedule(witness, execution, err);
    return status;
}

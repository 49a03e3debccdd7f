#include "wire/kinds.h"

#include <string.h>

#include "base/contract.h"

static const struct {
    const char *name, *input;
    uint32_t group;
} KINDS[FT_JOB_KINDS] = {
#define FT_ROW(symbol, name, input, group, doc) {name, input, group},
    FT_JOB_KIND_TABLE(FT_ROW)
#undef FT_ROW
};

const char *ft_job_kind_name(ft_job_kind kind)
{
    FT_REQUIRE(kind < FT_JOB_KINDS);
    return KINDS[kind].name;
}

const char *ft_job_kind_input(ft_job_kind kind)
{
    FT_REQUIRE(kind < FT_JOB_KINDS);
    return KINDS[kind].input;
}

uint32_t ft_job_kind_group(ft_job_kind kind)
{
    FT_REQUIRE(kind < FT_JOB_KINDS);
    return KINDS[kind].group;
}

bool ft_job_kind_parse(const char *name, ft_job_kind *kind)
{
    for (int i = 0; i < FT_JOB_KINDS; i++) {
        if (strcmp(KINDS[i].name, name) != 0) continue;
        *kind = (ft_job_kind)i;
        return true;
    }
    return false;
}

ft_job_kind ft_job_kind_of(const json_t *spec)
{
    ft_job_kind kind;
    const char *name = json_string_value(json_object_get(spec, "kind"));
    if (name && ft_job_kind_parse(name, &kind)) return kind;
    return json_object_get(spec, "program") ? FT_JOB_KIND_EXPLORE : FT_JOB_KIND_PREDICT;
}

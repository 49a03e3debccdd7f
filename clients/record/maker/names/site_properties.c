/* Properties of code sites, looked up once per site (and, for hooks, once per module). */
#include "base/contract.h"
#include "maker/names/names.h"
#include "maker/symbols/instrumentation.h"
#include "raw/schedule.h"

enum { NOT_LOOKED_UP, ABSENT, PRESENT };

static bool is_own_memory(ft_names *names, uint64_t pc)
{
    const ft_inventory_module *from = ft_inventory_module_at(names->inventory, pc);
    return from && ft_schedule_is_c_library(from->path, strlen(from->path));
}

static bool is_standard_library(const char *path)
{
    static const char *const beginnings[] = {"libstdc++.", "libc++.", "libc++abi.", "libgcc_s.",
                                             "libpthread"};
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(base, beginnings[i], strlen(beginnings[i])) == 0) return true;
    return ft_schedule_is_c_library(path, strlen(path));
}

static bool file_is_instrumented(const char *path)
{
    ft_instrumentation file;
    return !ft_instrumentation_read(path, &file) || file.calls_hooks;
}

/* The program itself has hooks, and perhaps objects without them: there each function is asked. */
static bool is_instrumented(ft_names *names, uint64_t pc)
{
    const ft_inventory_module *from = ft_inventory_module_at(names->inventory, pc);
    if (!from) return true;
    if (from == names->inventory->modules.data)
        return ft_symbols_calls(names->symbols, pc, "__tsan_");
    uint8_t *known = &names->modules.data[from - names->inventory->modules.data].instrumented;
    if (*known == NOT_LOOKED_UP)
        *known =
            is_standard_library(from->path) || file_is_instrumented(from->path) ? PRESENT : ABSENT;
    return *known == PRESENT;
}

static bool is_library(ft_names *names, uint64_t pc)
{
    return ft_symbols_is_library(names->symbols, pc);
}

static bool is_allocator(ft_names *names, uint64_t pc)
{
    return ft_symbols_is_allocator(names->symbols, pc);
}

static bool is_factory(ft_names *names, uint64_t pc)
{
    return ft_symbols_is_factory(names->symbols, pc);
}

static const struct {
    bool (*look)(ft_names *names, uint64_t pc);
    bool unknown; /* the answer for a site that the log does not declare */
} properties[FT_SITE_PROPERTIES] = {
    [FT_SITE_OWN_MEMORY] = {is_own_memory, false}, [FT_SITE_INSTRUMENTED] = {is_instrumented, true},
    [FT_SITE_LIBRARY] = {is_library, false},       [FT_SITE_ALLOCATOR] = {is_allocator, false},
    [FT_SITE_FACTORY] = {is_factory, false},
};

bool ft_names_site_is(ft_names *names, uint64_t site, ft_site_property property)
{
    FT_REQUIRE(property < FT_SITE_PROPERTIES);
    if (site >= names->inventory->sites.len) return properties[property].unknown;
    while (names->properties.len <= site) ft_vec_push(&names->properties, (ft_site_properties){0});
    uint8_t *known = &names->properties.data[site].of[property];
    if (*known == NOT_LOOKED_UP)
        *known =
            properties[property].look(names, names->inventory->sites.data[site]) ? PRESENT : ABSENT;
    return *known == PRESENT;
}

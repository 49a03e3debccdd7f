/* Call sites and allocation sites: events inside the C++ library, its headers included, get the
 * location of the program's call into it.
 *
 * One line of a header locks all mutexes of C++, say: as a location of the trace it would make one
 * finding of many, and show nobody what is wrong. So an event of such code has the location of the
 * innermost call from other code, and that call's context. Where there is no such call, as where
 * the library starts a thread, the event keeps its own location. Contexts omit calls that the
 * library makes. */
#include <stdlib.h>

#include "base/contract.h"
#include "maker/names/names.h"

/* Locations whose accesses are benign, or that annotations name, keep their own place. */
void ft_names_note_location(ft_names *names, uint64_t pc, uint32_t loc)
{
    const ft_location *at = &ft_builder_peek(names->builder)->locations[loc];
    bool known = ft_annotations_is_known(at) ||
                 (names->annotations && ft_annotations_concern(names->annotations, at));
    while (names->library_locations.len <= loc) ft_vec_push(&names->library_locations, 0);
    names->library_locations.data[loc] = !known && ft_symbols_is_library(names->symbols, pc);
}

static uint32_t find_caller(const ft_names *names, uint32_t context)
{
    const ft_context *contexts = ft_builder_peek(names->builder)->contexts;
    if (ft_builder_is_benign_call(names->builder, context)) return FT_NO_CONTEXT;
    while (context != FT_NO_CONTEXT && ft_names_in_library(names, contexts[context].loc)) {
        assert(contexts[context].parent < context);
        context = contexts[context].parent;
    }
    return context;
}

static uint32_t caller_of(ft_names *names, uint32_t context)
{
    bool is_new;
    if (context == FT_NO_CONTEXT) return context;
    uint64_t *known = ft_map_slot(&names->callers, context, FT_NO_CONTEXT, &is_new);
    if (is_new) *known = find_caller(names, context);
    return (uint32_t)*known;
}

static bool is_shown_known(const ft_names *names, uint32_t context, uint32_t *shown)
{
    uint64_t known = context;
    bool as_it_is = context == FT_NO_CONTEXT || ft_builder_is_benign_call(names->builder, context);
    if (!as_it_is && !ft_map_get(&names->shown, context, &known)) return false;
    *shown = (uint32_t)known;
    return true;
}

/* Outwards to a context whose answer is known, and back: calls may be nested too deeply to recurse.
 */
uint32_t ft_names_shown(ft_names *names, uint32_t context)
{
    FT_VEC(uint32_t) inner = {0};
    uint32_t shown;
    while (!is_shown_known(names, context, &shown)) {
        ft_vec_push(&inner, context);
        uint32_t parent = ft_builder_peek(names->builder)->contexts[context].parent;
        assert(parent < context);
        context = parent;
    }
    while (inner.len) {
        context = inner.data[--inner.len];
        uint32_t loc = ft_builder_peek(names->builder)->contexts[context].loc;
        if (!ft_names_in_library(names, loc))
            shown = ft_builder_context(names->builder, shown, loc);
        ft_map_put(&names->shown, context, shown);
    }
    ft_vec_release(&inner);
    return shown;
}

static void keep_pair(ft_names *names, uint64_t site, uint32_t loc)
{
    bool is_new;
    ft_map_slot(&names->placed, site << 32 | loc, 1, &is_new);
    if (is_new) ft_names_keep_site(names, names->inventory->sites.data[site], loc);
}

ft_names_place ft_names_place_of(ft_names *names, uint64_t site, uint32_t loc, uint32_t context)
{
    FT_REQUIRE(loc < ft_builder_peek(names->builder)->n_locations || loc == FT_NO_LOC);
    ft_names_place here = {loc, ft_names_shown(names, context)};
    if (!ft_names_in_library(names, loc)) return here;
    uint32_t caller = caller_of(names, context);
    if (caller == FT_NO_CONTEXT) return here;
    ft_context at = ft_builder_peek(names->builder)->contexts[caller];
    assert(!ft_names_in_library(names, at.loc));
    keep_pair(names, site, at.loc);
    return (ft_names_place){at.loc, ft_names_shown(names, at.parent)};
}

uint32_t ft_names_locate(ft_names *names, uint64_t site)
{
    uint32_t loc = ft_names_location(names, site);
    ft_names_place spot = ft_names_place_of(names, site, loc, names->context);
    ft_builder_in_context(names->builder, spot.context);
    return spot.loc;
}

void ft_names_enter(ft_names *names, uint32_t context)
{
    assert(context == FT_NO_CONTEXT || context < ft_builder_peek(names->builder)->n_contexts);
    names->context = context;
    ft_builder_in_context(names->builder, ft_names_shown(names, context));
}

/* The program's call of the factory that the site is in, or of the outermost one that calls it.
 * i: which of the thread's calls led into the site's function. 0: it is in no factory. */
static uint32_t calls_factory(ft_names *names, uint32_t thread, uint32_t site, uint32_t i)
{
    enum { MOST_FACTORIES = 8 };
    uint32_t found = 0;
    for (uint32_t n = 0; n < MOST_FACTORIES; n++) {
        if (!ft_names_site_is(names, site, FT_SITE_FACTORY)) break;
        site = ft_raw_log_caller(names->log, thread, i + n);
        if (!site || ft_names_site_is(names, site, FT_SITE_LIBRARY)) break;
        found = site;
    }
    return found;
}

/* A block is named after the call site that asks for it: all blocks of a program may be allocated
 * by one line of its xmalloc. */
ft_inventory_allocation ft_names_allocation(ft_names *names, uint32_t thread, uint32_t site)
{
    ft_inventory_allocation made = {.site = 0};
    uint32_t at = site, i = 0;
    FT_REQUIRE(!names->builder);
    while (at) {
        bool library = ft_names_site_is(names, at, FT_SITE_LIBRARY);
        if (!library) made.site = at;
        made.of_library |= library;
        if (!library && !ft_names_site_is(names, at, FT_SITE_ALLOCATOR)) break;
        at = ft_raw_log_caller(names->log, thread, i++);
    }
    if (at) made.called_at = calls_factory(names, thread, at, i);
    if (!made.site) made.site = site;
    return made;
}

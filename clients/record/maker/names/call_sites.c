/* Code of the C++ library, its headers included: what it does is told of where the program asks for
 * it. All mutexes of C++ are locked by one line of a header, say: as places of the trace such lines
 * would make one finding of many, and show nobody what is wrong. So an event of such code has the
 * location of the innermost call from other code, and that one's context; where there is none, as
 * where the library begins a thread, it keeps its place. Contexts have no calls from the library.
 */
#include <stdlib.h>

#include "maker/annotations/annotations.h"
#include "maker/maker_internal.h"

static bool is_known(ft_maker *m, uint64_t site, ft_maker_marks *known,
                     bool (*look)(ft_symbols *, uint64_t pc))
{
    if (site >= m->sites.len) return false;
    while (known->len < m->sites.len) ft_vec_push(known, 0);
    uint8_t *at = &known->data[site];
    if (!*at) *at = look(m->symbols, m->sites.data[site]) ? 2 : 1;
    return *at == 2;
}

/* Those that are benign for what they are, or of which annotations speak, stay what they are. */
void ft_maker_note_location(ft_maker *m, uint64_t pc, uint32_t loc)
{
    const ft_location *at = &ft_builder_peek(m->builder)->locations[loc];
    bool known = ft_annotations_is_known(at) ||
                 (m->annotations && ft_annotations_concern(m->annotations, at));
    while (m->library_locations.len <= loc) ft_vec_push(&m->library_locations, 0);
    m->library_locations.data[loc] = !known && ft_symbols_is_library(m->symbols, pc);
}

static uint32_t find_asker(const ft_maker *m, uint32_t context)
{
    const ft_context *contexts = ft_builder_peek(m->builder)->contexts;
    if (ft_builder_is_benign_call(m->builder, context)) return FT_NO_CONTEXT;
    while (context != FT_NO_CONTEXT && ft_maker_in_library(m, contexts[context].loc))
        context = contexts[context].parent;
    return context;
}

static uint32_t asker_of(ft_maker *m, uint32_t context)
{
    bool is_new;
    if (context == FT_NO_CONTEXT) return context;
    uint64_t *known = ft_map_slot(&m->askers, context, FT_NO_CONTEXT, &is_new);
    if (is_new) *known = find_asker(m, context);
    return (uint32_t)*known;
}

static bool is_shown_known(const ft_maker *m, uint32_t context, uint32_t *shown)
{
    uint64_t known = context;
    bool as_it_is = context == FT_NO_CONTEXT || ft_builder_is_benign_call(m->builder, context);
    if (!as_it_is && !ft_map_get(&m->shown, context, &known)) return false;
    *shown = (uint32_t)known;
    return true;
}

/* Outwards to what is known, and back: calls may be nested deeply. */
uint32_t ft_maker_shown(ft_maker *m, uint32_t context)
{
    FT_VEC(uint32_t) inner = {0};
    uint32_t shown;
    while (!is_shown_known(m, context, &shown)) {
        ft_vec_push(&inner, context);
        context = ft_builder_peek(m->builder)->contexts[context].parent;
    }
    while (inner.len) {
        context = inner.data[--inner.len];
        uint32_t loc = ft_builder_peek(m->builder)->contexts[context].loc;
        if (!ft_maker_in_library(m, loc)) shown = ft_builder_context(m->builder, shown, loc);
        ft_map_put(&m->shown, context, shown);
    }
    ft_vec_release(&inner);
    return shown;
}

static void keep_pair(ft_maker *m, uint64_t site, uint32_t loc)
{
    bool is_new;
    ft_map_slot(&m->asked, site << 32 | loc, 1, &is_new);
    if (is_new) ft_maker_keep_site(m, m->sites.data[site], loc);
}

ft_maker_spot ft_maker_asked_at(ft_maker *m, uint64_t site, uint32_t loc, uint32_t context)
{
    ft_maker_spot here = {loc, ft_maker_shown(m, context)};
    if (!ft_maker_in_library(m, loc)) return here;
    uint32_t asker = asker_of(m, context);
    if (asker == FT_NO_CONTEXT) return here;
    ft_context at = ft_builder_peek(m->builder)->contexts[asker];
    keep_pair(m, site, at.loc);
    return (ft_maker_spot){at.loc, ft_maker_shown(m, at.parent)};
}

uint32_t ft_maker_locate(ft_maker *m, uint64_t site)
{
    uint32_t loc = ft_maker_location(m, site);
    ft_maker_spot spot = ft_maker_asked_at(m, site, loc, m->context);
    ft_builder_in_context(m->builder, spot.context);
    return spot.loc;
}

void ft_maker_in_context(ft_maker *m, uint32_t context)
{
    m->context = context;
    ft_builder_in_context(m->builder, ft_maker_shown(m, context));
}

/* Blocks are what those who ask for them have; all of a program's come from one line of its
 * xmalloc.
 */
uint32_t ft_maker_asking_site(ft_maker *m, uint32_t thread, uint32_t site, bool *of_library)
{
    uint32_t asking = 0, at = site;
    *of_library = false;
    for (uint32_t i = 0; at; i++) {
        bool library = is_known(m, at, &m->library, ft_symbols_is_library);
        if (!library) asking = at;
        *of_library |= library;
        if (!library && !is_known(m, at, &m->allocators, ft_symbols_is_allocator)) break;
        at = ft_raw_log_caller(m->log, thread, i);
    }
    return asking ? asking : site;
}

/* Names: locations of code sites, calling contexts, and names of threads, memory and
 * synchronisation objects, as the trace has them.
 *
 * The log has numbers and addresses; the debug information (symbols/) and the inventory say what
 * they are. Everything is looked up once and remembered. During the first pass only properties of
 * sites are asked for (ft_names_site_is, ft_names_allocation_site); from ft_names_start on, names
 * are declared in the trace's builder.
 *
 * Events inside the C++ library, its headers included, get the location and the context of the
 * program's call into it (call_sites.c).
 *
 * Imports: annotations, cells, inventory, log, symbols, raw, common/base, common/trace. */
#ifndef FT_RECORD_MAKER_NAMES_H
#define FT_RECORD_MAKER_NAMES_H

#include "base/digest.h"
#include "base/map.h"
#include "maker/annotations/annotations.h"
#include "maker/cells/cells.h"
#include "maker/inventory/inventory.h"
#include "maker/names/stacks.h"
#include "maker/symbols/source_lines.h"
#include "maker/symbols/symbols.h"

/* The kind of code at a site, as far as known. */
typedef enum ft_site_property {
    FT_SITE_OWN_MEMORY,   /* in a library whose allocations are not steps (raw/schedule.h) */
    FT_SITE_INSTRUMENTED, /* built with hooks, or of the C or C++ library, which does for the
                             program what it asks for; also if that is unknown */
    FT_SITE_LIBRARY,      /* in the C++ library or its headers */
    FT_SITE_ALLOCATOR,    /* in a function that allocates for its callers, such as xmalloc */
    FT_SITE_FACTORY,      /* in a function that returns a pointer, such as node_new */
    FT_SITE_PROPERTIES
} ft_site_property;

/* Per site: each property is not looked up yet, absent or present. */
typedef struct ft_site_properties {
    uint8_t of[FT_SITE_PROPERTIES];
} ft_site_properties;

/* Facts about a module that the inventory does not have. */
typedef struct ft_module_names {
    uint32_t id;                  /* in the builder, plus 1; 0: not declared yet */
    bool hashed;                  /* hash is set */
    uint8_t instrumented;         /* not looked up yet, no, yes */
    char hash[FT_DIGEST_HEX + 1]; /* SHA-256 of the file; "": it cannot be read */
} ft_module_names;

/* Fields are the folder's own, but for the inline functions below; `context` is read by all. */
typedef struct ft_names {
    /* borrowed */
    const ft_raw_log *log;
    const ft_inventory *inventory;
    const ft_cells *cells;
    const ft_annotations *annotations; /* NULL: none */
    ft_builder *builder;               /* NULL during the first pass */
    /* owned */
    ft_symbols *symbols;
    ft_source_lines *lines;
    ft_stacks *stacks; /* NULL during the first pass */
    FT_VEC(ft_module_names) modules;
    FT_VEC(ft_site_properties) properties; /* by site */
    FT_VEC(uint32_t) locations;            /* by site, + 1; 0: not looked up yet */
    FT_VEC(uint8_t) library_locations;     /* by location: 1: in the C++ library */
    FT_VEC(uint32_t) threads;              /* by thread: the builder's id + 1 */
    FT_VEC(uint32_t) children;             /* by thread: children that have a name so far */
    FT_VEC(uint32_t) objects;              /* by object: the builder's id + 1 */
    ft_map code;                           /* address of a site -> location */
    ft_map places;                         /* address of code that is not a site -> location */
    ft_map callers;   /* context -> the innermost context around it outside the library */
    ft_map placed;    /* site << 32 | location: the trace has the pair */
    ft_map shown;     /* context -> the same without calls that the library makes */
    ft_map uses;      /* hash of a name -> how often it was given */
    uint32_t context; /* of the record at hand */
} ft_names;

/* Opened empty; inventory, log and cells stay the caller's and grow during the first pass. */
void ft_names_init(ft_names *names, const ft_raw_log *log, const ft_inventory *inventory,
                   const ft_cells *cells);
void ft_names_release(ft_names *names);
/* The inventory has a new module: debug information is opened. */
void ft_names_add_module(ft_names *names);
/* Between the passes: from now on names are declared in that builder. */
void ft_names_start(ft_names *names, ft_builder *builder);

/* ---- site_properties.c */
bool ft_names_site_is(ft_names *names, uint64_t site, ft_site_property property);

/* ---- names.c */
/* The module's index in the builder. */
uint32_t ft_names_module(ft_names *names, const ft_inventory_module *module);
/* FT_NO_LOC: not known. */
uint32_t ft_names_location(ft_names *names, uint64_t site);
/* The same of code that is not a site, such as a branch. `names` is an ft_names. */
uint32_t ft_names_location_at(void *names, uint64_t pc);
/* The builder's thread, declared with its parents if it is new. */
uint32_t ft_names_thread(ft_names *names, uint32_t thread);
/* The builder's lock, condition, semaphore, barrier or once of that object. */
uint32_t ft_names_object(ft_names *names, uint64_t object);
const char *ft_names_class(ft_raw_class class);
/* Appends the cell's name, or the block's; unique in the trace. A cell that is one value of the
 * program has its type, else FT_TYPE_NONE. */
ft_type ft_names_add_cell(ft_names *names, const ft_cell *cell, ft_strbuf *name);
void ft_names_add_block(ft_names *names, uint32_t allocation, ft_strbuf *name);

/* ---- call_sites.c */
/* Where the trace says that something happened. */
typedef struct ft_names_place {
    uint32_t loc, context;
} ft_names_place;

/* A site at that location, in that context: itself, or the program's call into the library. */
ft_names_place ft_names_place_of(ft_names *names, uint64_t site, uint32_t loc, uint32_t context);
/* The context without the calls that the library makes. */
uint32_t ft_names_shown(ft_names *names, uint32_t context);
/* The location of the record at hand at that site; the builder's next event gets its context. */
uint32_t ft_names_locate(ft_names *names, uint64_t site);
/* The record at hand is in that context. */
void ft_names_enter(ft_names *names, uint32_t context);
/* First pass: the site that asks for a block which the thread allocates at that site now, and
 * where that is in a factory, the site that calls it. */
ft_inventory_allocation ft_names_allocation(ft_names *names, uint32_t thread, uint32_t site);
/* A location is new, of the code at pc. */
void ft_names_note_location(ft_names *names, uint64_t pc, uint32_t loc);
/* Says in the trace that the code at pc belongs to the location. */
void ft_names_keep_site(ft_names *names, uint64_t pc, uint32_t loc);

static inline bool ft_names_in_library(const ft_names *names, uint32_t loc)
{
    return loc < names->library_locations.len && names->library_locations.data[loc];
}

/* The same as ft_names_location, without a call where it is known. */
static inline uint32_t ft_names_known_location(ft_names *names, uint32_t site)
{
    uint32_t known = site < names->locations.len ? names->locations.data[site] : 0;
    return known ? known - 1 : ft_names_location(names, site);
}

#endif

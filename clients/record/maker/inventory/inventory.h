/* The inventory of a raw log: the modules, code sites, threads, objects and allocations that its
 * records declare.
 *
 * The first pass adds an entry at each record that declares one, in the order of the log, so an
 * entry's number is the one by which later records mean it. After the first pass the inventory is
 * constant: names/ and the second pass read it. Whether a record refers only to entries that are
 * there is checked before anything is made of the record (ft_inventory_accepts).
 *
 * Imports: log, raw, common/base, common/trace. */
#ifndef FT_RECORD_MAKER_INVENTORY_H
#define FT_RECORD_MAKER_INVENTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "maker/log/log.h"
#include "raw/raw.h"

/* A synchronisation object. */
typedef struct ft_inventory_object {
    ft_raw_class class;
    uint64_t address, kind;
    uint32_t allocation, offset; /* the block that it lies in, or FT_NO_ALLOCATION */
    uint32_t frame; /* on a stack: number of its frame in ft_inventory.frames, plus 1; else 0 */
} ft_inventory_object;

/* A file that was mapped as code: the program itself comes first, then its libraries. */
typedef struct ft_inventory_module {
    char *path;
    uint64_t base;
} ft_inventory_module;

/* An ALLOC record, or a BEGIN record: a thread's stack counts as an allocation without a site. */
typedef struct ft_inventory_allocation {
    uint32_t site;      /* the allocation site in the program (names/call_sites.c); 0: a stack */
    uint32_t called_at; /* the site's function returns pointers: where it is called; 0: not known */
    bool of_library;    /* the C++ library asked for the block on behalf of that site */
} ft_inventory_allocation;

typedef struct ft_inventory {
    FT_VEC(ft_inventory_module) modules;
    FT_VEC(char *) words;        /* NAME=VALUE and arguments that the program was started with */
    FT_VEC(uint64_t) sites;      /* return addresses by site; sites[0] is none */
    FT_VEC(ft_raw_frame) frames; /* those that hold something that threads share */
    FT_VEC(ft_inventory_object) objects;
    FT_VEC(uint32_t) parents; /* by thread: which thread created it; that of thread 0 is 0 */
    FT_VEC(ft_inventory_allocation) allocations;
    bool instrumented; /* some code that ran was compiled with hooks */
} ft_inventory;

void ft_inventory_init(ft_inventory *inventory); /* with thread 0 and site 0 */
void ft_inventory_release(ft_inventory *inventory);

/* Adds what a FORK, MODULE, ARGUMENTS or SITE record declares; others are ignored. */
void ft_inventory_add(ft_inventory *inventory, const ft_raw_record *record);

/* False: the log is damaged, since the record refers to what is not there, or to a range of memory
 * that no process can have. */
bool ft_inventory_accepts(const ft_inventory *inventory, const ft_raw_record *record);

/* For FT_CHECK: each thread has a parent that was created before it, each entry refers to others
 * that are there. */
bool ft_inventory_is_sound(const ft_inventory *inventory);

/* The module with the code address, or NULL. Modules do not overlap. */
const ft_inventory_module *ft_inventory_module_at(const ft_inventory *inventory, uint64_t pc);

#endif

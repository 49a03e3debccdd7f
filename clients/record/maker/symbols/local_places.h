/* Where a program has a local variable while its function stands at a call: by code address, from
 * the program's debug information (libdw), as a register of that function's frame or memory near
 * its stack.
 *
 * A place is good for the return addresses of calls: from <= return address - 1 < to. Registers
 * that a call may change are no places, and neither are expressions that do more than to add
 * numbers to one register. Inlined functions have the places of each instance. */
#ifndef FT_RECORD_LOCAL_PLACES_H
#define FT_RECORD_LOCAL_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory.h"
#include "base/status.h"

typedef enum ft_local_kind {
    FT_LOCAL_NOWHERE, /* the function stands there, and the variable has no place */
    FT_LOCAL_VALUE,   /* its value is base + offset */
    FT_LOCAL_MEMORY   /* it lies at base + offset */
} ft_local_kind;

/* Bases are registers by their DWARF numbers (x86-64), that keep their value over calls, or these.
 */
enum {
    FT_LOCAL_STACK = 7, /* the stack pointer behind the call */
    FT_LOCAL_CFA = 64,  /* the frame's canonical address: the stack pointer before its own call */
    FT_LOCAL_ZERO = 65
};

typedef struct ft_local_place {
    uint64_t from, to; /* from the file's load address */
    ft_local_kind kind;
    uint32_t base;
    int64_t offset;
} ft_local_place;

typedef struct ft_local_variable {
    /* Borrowed. Files are compared by their names without folders. */
    const char *name, *file;
    uint32_t line; /* of its declaration */
    const char *at_file;
    uint32_t at_line;   /* where its function stands */
    const char *callee; /* the function that it calls there; "": not known */
    /* found: */
    FT_VEC(ft_local_place) places;
    uint64_t size;     /* of the variable; 0: not known */
    bool is_opaque;    /* some call of the callee there has it nowhere */
    bool is_ambiguous; /* several variables are declared in that line by that name, and are there */
} ft_local_variable;

/* Fills what is found. FT_INPUT: the program has no debug information. */
ft_status ft_local_places_find(const char *program, ft_local_variable *variable,
                               ft_error *err) FT_MUST_CHECK;
void ft_local_places_release(ft_local_variable *variable);

#endif

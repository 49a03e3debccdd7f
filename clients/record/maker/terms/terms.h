/* Terms: from the operations that a program built with --symbolic reports (raw/terms.h) to the
 * symbolic events of its trace.
 *
 * A read of a shared cell becomes an assignment to a local of its thread, a new one each time; what
 * is computed from it is a term over such locals. A write of a term is an assignment to the cell, a
 * branch on one an assume. Where an operation has no term, its operands are held to the values seen
 * by an assume, so that no schedule is predicted in which they would differ.
 *
 * Every term that goes into an event is evaluated first, over the values that the reads returned:
 * one that does not give the program's own result is dropped, its reads are held to their values,
 * and it is counted.
 *
 * Imports: cells, log, raw, common/base, common/term, common/trace. */
#ifndef FT_RECORD_TERMS_MAKER_H
#define FT_RECORD_TERMS_MAKER_H

#include "maker/cells/cells.h"
#include "maker/log/log.h"
#include "maker/terms/summary.h"
#include "raw/terms.h"
#include "trace/trace.h"

typedef struct ft_terms ft_terms;

/* The place of the event at hand: thread in the log and in the builder, location, step. */
typedef struct ft_terms_place {
    uint32_t number, thread, loc, hook;
} ft_terms_place;

enum {
    FT_TERMS_TARGETS = 8, /* cells that one event may reach by a computed address */
    FT_TERMS_VALUES = 32  /* that it considers for the address */
};

/* Questions that the passes answer. */
typedef struct ft_terms_surroundings {
    void *of;
    uint32_t (*locate)(void *of, uint64_t pc);     /* the location of a return address */
    bool (*is_handed)(void *of, uint64_t address); /* does it lie in an ordered cell? */
    /* may the thread's event access that cell in any schedule? (passes/pointer_targets.h) */
    bool (*is_target)(void *of, uint32_t thread, uint64_t address, uint64_t size,
                      uint32_t *variable);
    /* up to FT_TERMS_VALUES values that were written to the cell atomically; 0: none, or too many
     */
    uint32_t (*values_in)(void *of, uint64_t address, uint64_t *values);
} ft_terms_surroundings;

ft_terms *ft_terms_new(ft_builder *builder, ft_record_terms *summary,
                       const ft_terms_surroundings *around);
void ft_terms_free(ft_terms *terms); /* accepts NULL */

/* A TERMS record. */
void ft_terms_follow(ft_terms *terms, ft_terms_place place, const ft_raw_record *record);
/* An ASSERT record. */
void ft_terms_assert(ft_terms *terms, ft_terms_place place, bool holds);
/* That memory begins a new life. */
void ft_terms_forget(ft_terms *terms, uint64_t address, uint64_t size);

/* The content of a cell after an access. */
typedef struct ft_terms_content {
    int64_t value; /* what was read, or written by a write */
    bool known;
    bool again;     /* an address of reused memory: the trace has another value
                       (maker/cells/reuse.h), which no term gives */
    bool unwritten; /* another schedule may have the thread read it before it is written: the value
                       would be unknown, so its reads have no terms */
} ft_terms_content;

/* An access: begin, then cell for each shared cell in it in ascending order, then end. cell appends
 * the event and returns true; false: the caller appends a plain event. */
void ft_terms_begin(ft_terms *terms, ft_terms_place place, const ft_raw_record *record);
bool ft_terms_cell(ft_terms *terms, const ft_cell *cell, uint32_t variable,
                   ft_terms_content content);
void ft_terms_end(ft_terms *terms);

/* Ordered cells (passes/ordered_cells.c) are the threads' own memory, until one is handed on. */
/* Between begin and end: the thread reads what another one published there. Appends the event and
 * returns true; false: the caller appends a plain event, and the thread has no term of it. */
bool ft_terms_take_over(ft_terms *terms, const ft_cell *cell, uint32_t variable, int64_t value);
/* Between begin and end: may the access leave a term there? */
bool ft_terms_gives(const ft_terms *terms, const ft_cell *cell);
/* Does the thread's memory have a term there? Its value is *value. */
bool ft_terms_has(ft_terms *terms, ft_terms_place place, const ft_cell *cell, int64_t *value);
/* Appends the assignment of that term to the variable; false: it has none, or is held to its value
 * from now on. */
bool ft_terms_publish(ft_terms *terms, ft_terms_place place, const ft_cell *cell, uint32_t variable,
                      bool again);

/* Adds notes to the trace: how many values were held, and why. */
void ft_terms_note(ft_terms *terms);

ft_value ft_terms_value(uint32_t size, int64_t value); /* a cell's */

#endif

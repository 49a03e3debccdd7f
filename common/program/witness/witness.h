/* Witnesses of programs: the inputs and the schedule of an execution that goes wrong, which the
 * interpreter, the judge, executes again.
 *
 * A schedule is a list of the interpreter's steps (interpreter.h): which thread carries out what it
 * stands before, and with which variant. Inputs are in the order in which the execution reads them.
 * *Points* are plain loads and stores that count as relaxed atomics, so that threads can change in
 * front of them: where accesses race, their orders are executions of their own. The claim says how
 * the execution ends: by an error of a kind, in a thread, or by an exit code.
 *
 * JSON (schema/witness.schema.json): "program" takes the place of "trace"; "inputs", "schedule" and
 * "points" are what is executed; "steps" and "final" are for readers, as in the witnesses of
 * traces. Events are numbered 1, 2, ... in the order of the execution.
 *
 * Imports: common/base, common/program, common/program/interpret. */
#ifndef FT_PROGRAM_WITNESS_H
#define FT_PROGRAM_WITNESS_H

#include <jansson.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "program/interpret/interpreter.h"

typedef struct ft_input_value {
    char *name; /* heap */
    uint8_t width;
    uint64_t value;
} ft_input_value;

typedef struct ft_schedule_step {
    uint32_t thread;
    uint64_t variant;
} ft_schedule_step;

/* section: the access is an atomic section of its own, since it races with one that is within a
 * section. Sorted by function and instruction, each place once. */
typedef struct ft_point {
    ft_interpreter_place place;
    bool section;
} ft_point;
typedef FT_VEC(ft_point) ft_points;
/* False: it is one already, and as much as this. */
bool ft_points_add(ft_points *points, ft_point point);

/* Embedded: zero-initialise. */
typedef struct ft_execution {
    FT_VEC(ft_input_value) inputs;
    FT_VEC(ft_schedule_step) schedule;
    ft_points points;
    ft_program_error error; /* the claim; FT_ERROR_NONE: the exit code */
    int32_t exit_code;
    uint32_t thread; /* of the error */
} ft_execution;

void ft_execution_release(ft_execution *execution);

/* The program as the binary form numbers it: so places mean the same in every process. The
 * caller's.
 */
ft_program *ft_program_numbered(const ft_program *program);
/* Can the place be a point: a load or store of 1, 2, 4 or 8 bytes? A section may also hold a copy,
 * a move or a fill, whose bytes change all at once then. */
bool ft_program_can_be_point(const ft_program *program, ft_interpreter_place place, bool section);
/* Is the instruction such a copy, move or fill? */
bool ft_instruction_is_range(const ft_instruction *instruction);
/* The program with the points; the caller's. Instructions that stand before and behind points of
 * sections are new, so places differ (ft_points_original). */
ft_program *ft_program_with_points(const ft_program *numbered, const ft_points *points);
/* The place of the program without points; false: the instruction is one of a point's section. */
bool ft_points_original(const ft_points *points, ft_interpreter_place *place);

/* An execution in the form that reports show. */
typedef struct ft_story {
    json_t *witness;  /* the whole document */
    json_t *accesses; /* ACCESS of docs/records.md of the claim's events */
    json_t *waiting;  /* WAITER of the other threads of a deadlock */
    json_t *sources;  /* file name of the locations -> its path */
    char *message;    /* one sentence */
    char *object;     /* NULL: none */
    const char *kind; /* of a record: write-write, lost-wakeup, ... */
    char *key;        /* kind and places: equal for one bug */
} ft_story;

void ft_story_release(ft_story *story);

/* Executes and tells it. `numbered` is not changed. FT_INPUT: the execution cannot be followed, or
 * does not end as it claims; the message says where. */
ft_status ft_execution_tell(const ft_program *numbered, const ft_execution *execution,
                            ft_story *story, ft_error *err) FT_MUST_CHECK;

/* The same without words. */
ft_status ft_execution_check(const ft_program *numbered, const ft_execution *execution,
                             ft_error *err) FT_MUST_CHECK;

/* Does the document say "program"? */
bool ft_execution_is_one(const json_t *witness);
/* Reads what is executed. FT_INPUT names the member; FT_CONFLICT: it is of another program. */
ft_status ft_execution_read(const json_t *witness, const ft_program *numbered,
                            ft_execution *execution, ft_error *err) FT_MUST_CHECK;

#endif

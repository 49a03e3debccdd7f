/* The inside of witnesses of programs, for the files of this folder alone. */
#ifndef FT_PROGRAM_WITNESS_INTERNAL_H
#define FT_PROGRAM_WITNESS_INTERNAL_H

#include "base/contract.h"
#include "base/map.h"
#include "program/witness/witness.h"

/* An execution on its way. */
typedef struct ft_followed {
    const ft_execution *execution;
    ft_program *program; /* with its points */
    ft_interpreter *m;
    size_t inputs;                     /* read so far */
    uint32_t thread;                   /* of the running step */
    FT_VEC(uint32_t) readers;          /* by input: the thread that read it */
    bool made[FT_INTERPRETER_THREADS]; /* the thread exists, or has */
    bool strayed;                      /* another input was read than the next one */
    void *context;                     /* of `access` */
} ft_followed;

/* Members of the document by which a native program is driven: `operations`, one a step of the
 * schedule: [instruction, half, object, place]; `standing`: what threads that have not ended stand
 * before at the end: [thread, instruction, half, object, place]; `places`: "PATH:LINE". Objects and
 * places are numbers from 1, 0: none; of create and join the object is the thread. */
typedef struct ft_operations {
    json_t *steps, *places, *standing;
    ft_map objects; /* address -> number */
} ft_operations;

void ft_operations_begin(ft_operations *o);
/* The step that is next. */
void ft_operations_add(ft_operations *o, const ft_followed *f, uint32_t thread, uint64_t variant);
void ft_operations_end(ft_operations *o, const ft_followed *f);
void ft_operations_release(ft_operations *o);

/* access may be NULL; its context is the ft_followed. */
void ft_followed_begin(ft_followed *f, const ft_program *numbered, const ft_execution *execution,
                       void (*access)(void *context, const ft_interpreter_access *access));
void ft_followed_release(ft_followed *f);
/* The next step of the schedule. FT_INPUT: it is not possible. */
ft_status ft_followed_step(ft_followed *f, size_t step, ft_error *err) FT_MUST_CHECK;
/* Is it an error of all threads that are left, and of none alone? */
bool ft_followed_stands_still(ft_program_error error);
/* FT_INPUT: it did not end as the claim says. */
ft_status ft_followed_end(const ft_followed *f, ft_error *err) FT_MUST_CHECK;

#endif

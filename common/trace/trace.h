/* A trace: the observed run of a concurrent program, immutable once built.
 *
 * Events are held in structure-of-arrays form, in observed order; an event is its index (from 0;
 * records and witnesses count from 1). Names, locations, values and terms are interned. What events
 * mean is in docs/trace-format.md.
 *
 * Imports: common/base, common/term. */
#ifndef FT_TRACE_TRACE_H
#define FT_TRACE_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/digest.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/strbuf.h"
#include "term/term.h"
#include "term/type.h"
#include "trace/event.h"

#define FT_NO_EVENT UINT32_MAX
#define FT_NO_VALUE 0u /* value id: unknown */
#define FT_NO_LOC   0u /* location id: none */

/* The formats that a trace can come from (detected by content). */
#define FT_FORMAT_TABLE(X)                                                                         \
    X(NDJSON, "ndjson", "Foretell NDJSON, docs/trace-format.md")                                   \
    X(BINARY, "binary", "Foretell binary, the canonical stored form")                              \
    X(STD, "std", "RAPID STD: thread|op(object)|location")                                         \
    X(LOG, "log", "comma-separated logs of the race-prediction literature")
typedef enum ft_format {
#define FT_FORMAT_ENUM(symbol, name, doc) FT_FORMAT_##symbol,
    FT_FORMAT_TABLE(FT_FORMAT_ENUM)
#undef FT_FORMAT_ENUM
        FT_FORMATS
} ft_format;
const char *ft_format_name(ft_format format);

#define FT_LOCK_KIND_TABLE(X)                                                                      \
    X(MUTEX, "mutex")         /* not recursive: its owner's second acquire blocks for ever */      \
    X(RECURSIVE, "recursive") /* its owner may take it again */                                    \
    X(ERROR_CHECKING, "error-checking") /* its owner's second acquire fails and has no effect */   \
    X(READ_WRITE, "read-write")         /* one writer or many readers; readers may nest */         \
    X(WRITER_PREFERRING, "writer-preferring") /* likewise; a reader, also one that reads already,  \
                                                 waits while a writer waits */
typedef enum ft_lock_kind {
#define FT_LOCK_KIND_ENUM(symbol, name) FT_LOCK_##symbol,
    FT_LOCK_KIND_TABLE(FT_LOCK_KIND_ENUM)
#undef FT_LOCK_KIND_ENUM
        FT_LOCK_KINDS
} ft_lock_kind;
const char *ft_lock_kind_name(ft_lock_kind kind);
/* Whether the lock can be taken for reading. */
bool ft_lock_kind_has_readers(ft_lock_kind kind);

/* A shared or thread-local variable. Locals exist once in each thread. */
typedef struct ft_variable {
    ft_sort sort;
    uint8_t type;     /* ft_type: how people see its values. Of shared ones; it is not a sort */
    uint32_t initial; /* value id, FT_NO_VALUE: not declared */
} ft_variable;

typedef struct ft_location {
    const char *text;     /* "file:line[:column]" or whatever the tracer wrote */
    const char *function; /* or NULL */
    const char *path;     /* of the source file, "/src/app/file.c"; NULL: not known */
    const char *line;     /* what stands there in it, trimmed; NULL: not known */
    const char *asserted; /* "s == 300", the expression of the assertion there; NULL: none, not
                             known, or several differ */
    bool asserts;         /* an expression was given, `asserted` or one of several that differ */
} ft_location;

/* The variables in a block of memory. */
typedef struct ft_block_cells {
    const uint32_t *variables; /* sorted, distinct */
    uint32_t count;
} ft_block_cells;

typedef struct ft_assignment {
    ft_symbol target; /* shared or local */
    ft_term term;
} ft_assignment;

/* One access of an event to a shared variable. */
typedef struct ft_access {
    uint32_t variable;
    bool write;    /* else read */
    bool in_guard; /* happens whatever the guard's outcome (claim.h, RACE) */
} ft_access;

/* The read and the write of an rmw event: value ids, and the two accesses, read first. */
typedef struct ft_update {
    uint32_t read, written;
    ft_access accesses[2];
} ft_update;

/* The body of an assign, assume, assert or if event. */
typedef struct ft_action {
    ft_term guard; /* assign: FT_NO_TERM is true; assume, assert and if: the condition */
    uint32_t n_assignments, n_accesses;
    const ft_assignment *assignments;
    const ft_access
        *accesses; /* distinct; guard reads first, then reads, then writes. A variable
                      read by the guard and by a right-hand side appears once, in_guard */
} ft_action;

/* An arm of an if: the events between an if and its else, or its else and its end-if (Wang et al.
 * §8). Every if has both, also where its else is missing. Path 0 is no arm: what is there always
 * runs. */
typedef struct ft_path {
    uint32_t parent; /* the path that the if itself is on */
    uint32_t branch; /* the if event; FT_NO_EVENT for path 0 */
    bool taken;      /* the arm for a condition that holds */
} ft_path;

/* A file that the recorded program's code came from. */
typedef struct ft_module {
    const char *name; /* of the file, without its folder */
    const char *hash; /* SHA-256 of its content in hex, "" where it could not be read */
} ft_module;

/* A place in the program's code that events come from: what replaying compares. */
typedef struct ft_code_site {
    uint32_t module;
    uint64_t offset; /* from where the module is loaded */
    uint32_t loc;
} ft_code_site;

/* The calls that a thread was in, as a tree: a context is a call inside another one. Context 0 is
 * the thread's outermost function, or not known. A stack is the chain of parents from an event's
 * context, innermost call first. */
typedef struct ft_context {
    uint32_t parent; /* a context before this one */
    uint32_t loc;    /* of the call, the caller as its function */
    uint32_t depth;  /* calls in the chain, 0 for context 0; at most FT_CONTEXT_MAX_DEPTH */
} ft_context;

#define FT_NO_CONTEXT        0u
#define FT_CONTEXT_MAX_DEPTH 65535u

/* An assumption or an observation of the reader or of ingest. `text` is a whole sentence. */
typedef struct ft_note {
    const char *code; /* short stable word, e.g. "thread-name", "implied-release" */
    uint32_t event;   /* first event concerned or FT_NO_EVENT */
    uint32_t count;   /* how often the same happened */
    const char *text;
} ft_note;

/* Edges of a recording that order nothing. "process 2.7": its edge-out is the second fork of a
 * process (the rest makes the name unique). "process 2 locks m", "process 2 reads l": that process
 * waited, at the location of the edge-out, for a lock that the thread that forked it did not hold;
 * these stand anywhere behind the fork. */
#define FT_EDGE_PROCESS "process"

typedef struct ft_trace {
    ft_arena *arena;
    ft_format format;
    uint32_t n_events;
    /* per event */
    uint8_t *kind;     /* ft_event_kind */
    uint8_t *flags;    /* FT_FLAG_* */
    uint16_t *thread;  /* thread id; at most 65,535 threads */
    uint32_t *object;  /* id in the class of the kind; 0 for kinds without object */
    uint32_t *loc;     /* location id, FT_NO_LOC: none */
    uint32_t *data;    /* read, write: value id; assign, assume, assert, if: action index; rmw:
                          update index; else 0 */
    uint32_t *path;    /* the innermost arm it is in; NULL: the trace has no branches. An if, else
                          and end-if are on the path around them */
    uint32_t *hook;    /* recorded programs: which of its thread's steps made it, counted from 1; 0:
                          none (added afterwards). Steps on memory that is not shared count but have
                          no event. NULL: not a recorded program */
    uint32_t *context; /* where the thread was when it did it, an index in contexts. Of a fork:
                          where the child was created. NULL: not known of any event */
    /* tables */
    ft_intern threads, shared, locals, locks, semaphores, edges; /* names */
    ft_variable *shared_info;                                    /* [shared.len] */
    ft_variable *local_info;                                     /* [locals.len] */
    uint8_t *lock_kind;                                          /* [locks.len] ft_lock_kind */
    uint32_t *semaphore_initial;                                 /* [semaphores.len] */
    ft_intern conditions, barriers, onces, blocks;               /* names */
    uint32_t *barrier_count;     /* [barriers.len] arrivals of one round, at least 1 */
    ft_block_cells *block_cells; /* [blocks.len] */
    ft_update *updates;          /* [n_updates] */
    uint32_t n_updates;
    ft_location *locations; /* [n_locations]; index 0 is "none" */
    uint32_t n_locations;
    uint32_t *sourced; /* [n_sourced] locations with a path, in the order in which that was said */
    uint32_t n_sourced;
    uint32_t *asserting; /* [n_asserting] locations with an assertion, in the order in which
                            they were given */
    uint32_t n_asserting;
    ft_value *values; /* [n_values]; index 0 is "unknown"; equal values have equal ids */
    uint32_t n_values;
    ft_action *actions;
    uint32_t n_actions;
    ft_path *paths; /* [n_paths] parents first; the arms of the k-th if are 2k + 1 (then), 2k + 2 */
    uint32_t n_paths;   /* 0: the trace has no branches */
    ft_module *modules; /* the executable first; none: not a recorded program */
    uint32_t n_modules;
    ft_code_site *sites;
    uint32_t n_sites;
    ft_context *contexts;  /* [n_contexts] parents first; index 0 is the outermost function */
    uint32_t n_contexts;   /* 0: none */
    const char **command;  /* [n_command] what was recorded: the program and its arguments, in front
                              of them NAME=VALUE words of its environment that it needs */
    uint32_t n_command;    /* 0: not known */
    unsigned char *inputs; /* what the program read (maker/replay/inputs.h): for replays */
    size_t n_inputs;       /* bytes; 0: none, or not kept (ft_builder_keep_inputs) */
    ft_term_pool *terms;
    ft_note *notes; /* [n_notes] as built: ascending by code */
    uint32_t n_notes;
    uint32_t broken; /* first event where the observed order breaks the semantics, FT_NO_EVENT:
                        none. Nothing of a broken trace is called safe that may depend on it */
    const char *broken_text; /* why, or NULL */
} ft_trace;

void ft_trace_free(ft_trace *trace); /* accepts NULL */

/* Whether what the fields promise holds of a finished trace: ids below their counts, parents before
 * children, cells and notes sorted, lock flags on lock events. Linear. */
bool ft_trace_is_sound(const ft_trace *trace);

/* Accesses of event e; `scratch` backs the answer for read and write events. */
const ft_access *ft_trace_accesses(const ft_trace *trace, uint32_t e, ft_access *scratch,
                                   uint32_t *count);

/* A compare-and-swap whose value is known: it writes only where it finds that value. */
bool ft_trace_compares(const ft_trace *trace, uint32_t e);

/* A compare-and-swap that found something else than it asked for, as a recording with terms has it:
 * an atomic assignment with a guard that writes nothing shared. Where the guard does not hold, the
 * program's statement writes, and the trace does not say what. */
bool ft_trace_failed_swap(const ft_trace *trace, uint32_t e);
/* Is it an atomic assignment that accesses several variables? In a recorded trace the event stands
 * for an access to one of them, by an address that its thread computes (clients/record, pointer
 * targets). */
bool ft_trace_reaches_one_of(const ft_trace *trace, uint32_t e);

/* True for an event that the run did not come past (FT_FLAG_BLOCKED). */
bool ft_trace_is_blocked(const ft_trace *trace, uint32_t e);
/* cut[thread]: the thread's begin is in the trace and its end is not (the process ended, or the
 * recording did), so that it may go on behind its last event. `cut` has room for all threads. */
void ft_trace_find_cut(const ft_trace *trace, bool *cut);
/* True for assign, assume, assert and if. */
bool ft_trace_is_symbolic_event(const ft_trace *trace, uint32_t e);
const ft_action *ft_trace_action(const ft_trace *trace, uint32_t e); /* NULL unless symbolic */

/* The path that event e is on, 0 where the trace has no branches. */
uint32_t ft_trace_path(const ft_trace *trace, uint32_t e);
/* The path of an arm of the if event e; logarithmic in their number. */
uint32_t ft_trace_arm(const ft_trace *trace, uint32_t e, bool taken);

const char *ft_trace_thread_name(const ft_trace *trace, uint32_t thread);
const char *ft_trace_location_text(const ft_trace *trace, uint32_t loc); /* NULL for FT_NO_LOC */
/* Name of the event's object ("x", "l", "T2"), or NULL for kinds without one. */
const char *ft_trace_object_name(const ft_trace *trace, uint32_t e);
/* Resolves names of shared variables and locals (shared first), prints them. */
ft_scope ft_trace_scope(const ft_trace *trace);
/* The event as people write it: "x := (+ a 2)", "read x = 0", "acquire l", "fork T2". */
void ft_trace_print_event(const ft_trace *trace, uint32_t e, ft_strbuf *out);

/* ---- building -------------------------------------------------------------------------------
 * Readers feed a builder in input order; ft_builder_finish normalises and returns the
 * trace:
 *  - recursive locks and readers of read-write locks: inner acquires and releases get
 *    FT_FLAG_NESTED;
 *  - a release by a thread that does not hold the lock, and the second acquire of an error-checking
 *    mutex by its holder, get FT_FLAG_STRANGER and a note;
 *  - a whole condition wait (cond-wait, release, then cond-wake and acquire of the same lock): its
 *    release and acquire get FT_FLAG_CONDITION, with a note where the input does not say so;
 *  - a section that is never closed, whose lock another thread acquires later in a conflicting
 *    mode, and not in an arm of a branch: a synthetic release is put after its owner's last event
 *    before that acquire, with a note;
 *  - a join (or edge-in) logged before its child's last event (its edge-out), where the joining
 *    thread did nothing in between: moved behind it, with a note;
 *  - everything else that contradicts the semantics is left for the checker (verdict/checker.h). */
typedef struct ft_builder ft_builder;

ft_builder *ft_builder_new(ft_format format);
void ft_builder_free(ft_builder *builder); /* accepts NULL */

/* Declarations: return the id, declaring the name when it is new. */
uint32_t ft_builder_thread(ft_builder *builder, const char *name, size_t length);
uint32_t ft_builder_shared(ft_builder *builder, const char *name, size_t length, ft_sort sort);
uint32_t ft_builder_local(ft_builder *builder, const char *name, size_t length, ft_sort sort);
uint32_t ft_builder_lock(ft_builder *builder, const char *name, size_t length, ft_lock_kind kind);
uint32_t ft_builder_semaphore(ft_builder *builder, const char *name, size_t length, uint32_t count);
uint32_t ft_builder_edge(ft_builder *builder, const char *name, size_t length);
uint32_t ft_builder_condition(ft_builder *builder, const char *name, size_t length);
uint32_t ft_builder_barrier(ft_builder *builder, const char *name, size_t length, uint32_t count);
uint32_t ft_builder_once(ft_builder *builder, const char *name, size_t length);
/* The cells are declared before; they are sorted and made distinct. */
uint32_t ft_builder_block(ft_builder *builder, const char *name, size_t length,
                          const uint32_t *variables, uint32_t count);
/* Adds cells to a block that is there. */
void ft_builder_block_cells(ft_builder *builder, uint32_t block, const uint32_t *variables,
                            uint32_t count);
uint32_t ft_builder_location(ft_builder *builder, const char *text, size_t length,
                             const char *function,
                             size_t function_length); /* function may be NULL */
/* Says of a location that is there which file it is in and, where `line` is not NULL, what stands
 * in its line. Of a location that has a path nothing is changed. */
void ft_builder_source(ft_builder *builder, uint32_t loc, const char *path, size_t path_length,
                       const char *line, size_t line_length);
/* Gives the expression of the assertion at a location, as the program's source has it. Two that
 * differ leave the location without one. */
void ft_builder_assertion(ft_builder *builder, uint32_t loc, const char *text, size_t length);
uint32_t ft_builder_value(ft_builder *builder, ft_value value); /* interned id */
void ft_builder_shared_type(ft_builder *builder, uint32_t shared, ft_type type);
void ft_builder_shared_initial(ft_builder *builder, uint32_t shared, uint32_t value);
void ft_builder_local_initial(ft_builder *builder, uint32_t local, uint32_t value);
void ft_builder_module(ft_builder *builder, const char *name, size_t length, const char *hash,
                       size_t hash_length);
void ft_builder_site(ft_builder *builder,
                     ft_code_site site); /* its module and location are there */
/* The call at `loc` in the context `parent` (FT_NO_CONTEXT: in the thread's outermost function);
 * interned, so the same call gives the same number. Deeper than FT_CONTEXT_MAX_DEPTH it is `parent`
 * itself. */
uint32_t ft_builder_context(ft_builder *builder, uint32_t parent, uint32_t loc);
/* The context of the events appended from now on; FT_NO_CONTEXT, as at first: not known. */
void ft_builder_in_context(ft_builder *builder, uint32_t context);
/* READ, WRITE, RMW, ASSIGN and ASSUME events appended from now on are no candidates
 * (FT_FLAG_SYNTHETIC), or, at first, are. */
void ft_builder_aside(ft_builder *builder, bool aside);
/* The same for accesses of that variable, in every thread; for an ASSIGN or ASSUME that accesses
 * such variables alone. */
void ft_builder_benign(ft_builder *builder, uint32_t shared);
/* The same for accesses at that location. */
void ft_builder_benign_place(ft_builder *builder, uint32_t loc);
/* The same for accesses in that very context. */
void ft_builder_benign_call(ft_builder *builder, uint32_t context);
bool ft_builder_is_benign_call(const ft_builder *builder, uint32_t context); /* was that said? */
/* The next word of the command that was recorded. */
void ft_builder_command(ft_builder *builder, const char *word, size_t length);
/* All of its words, or none where one is not clean text. */
void ft_builder_commands(ft_builder *builder, const char *const *words, size_t count);
/* The same for a trace that is made already. */
void ft_trace_set_command(ft_trace *trace, const char *const *words, size_t count);
/* The note that says how the recorded run failed, NULL: none does. Its code is FT_NOTE_FAILURE and
 * the kind of the failure ("failure-signal"), its text is for people. */
#define FT_NOTE_FAILURE "failure-"
const ft_note *ft_trace_failure(const ft_trace *trace);
/* The event at which the run failed: the note's, or the last one. Only of a trace with the note. */
uint32_t ft_trace_failure_event(const ft_trace *trace);
/* The code of notes that name a time limit of a wait which passed in the run; the text ends with a
 * blank and the location. They are for records (worker/engine/limits.h), and no report lists them.
 */
#define FT_NOTE_LIMIT "time-limit"
/* A note about all of it; both texts are copied. */
void ft_trace_add_note(ft_trace *trace, const char *code, const char *text);
/* The step (ft_trace.hook) that makes the events appended from now on; 0, as at first: none. */
void ft_builder_hook(ft_builder *builder, uint32_t hook);
/* Appends to the inputs. A reader that is not told to keep them passes over those of its file. */
void ft_builder_inputs(ft_builder *builder, const void *bytes, size_t n);
void ft_builder_keep_inputs(ft_builder *builder);
ft_term_pool *ft_builder_terms(ft_builder *builder);
const ft_trace *ft_builder_peek(const ft_builder *builder); /* tables so far, for look-ups */

/* Appends an event of a kind that is not symbolic and not rmw; returns its index. flags:
 * FT_FLAG_ATOMIC (accesses), FT_FLAG_SYNTHETIC (no candidate; an alloc), FT_FLAG_CONDITION
 * (release, acquire), FT_FLAG_TRY (acquire, acquire-shared, wait, cond-wake, join), FT_FLAG_FAILED
 * (cond-wake: its time was up), FT_FLAG_BLOCKED (what waits) or 0. */
uint32_t ft_builder_event(ft_builder *builder, ft_event_kind kind, uint32_t thread, uint32_t object,
                          uint32_t loc, uint32_t value, uint8_t flags);
/* Events so far, with those that were written already (binary_stream.h). */
uint32_t ft_builder_count(const ft_builder *builder);
/* Rows for plain accesses that are appended many at once: READ or WRITE as kind, `flags` from
 * ft_builder_access_flags, and what ft_trace says of the others. */
typedef struct ft_builder_rows {
    uint32_t n; /* how many there are; 0: the trace is full, ft_builder_finish will say so */
    uint8_t *kind, *flags;
    uint16_t *thread;
    uint32_t *object, *loc, *data, *hook, *context;
} ft_builder_rows;
/* Valid until the next event that is appended in any way. */
ft_builder_rows ft_builder_room(ft_builder *builder);
/* The first n of them are filled in, and are events now. */
void ft_builder_append(ft_builder *builder, uint32_t n);
/* The flags of a plain access now (ft_builder_aside, ft_builder_benign and its like). */
uint8_t ft_builder_access_flags(const ft_builder *builder, uint32_t shared, uint32_t loc,
                                uint32_t context);
/* True while they are 0 for all. */
bool ft_builder_has_no_flags(const ft_builder *builder);
/* Appends an rmw event (always atomic); compares: a compare-and-swap that took place. */
uint32_t ft_builder_update(ft_builder *builder, uint32_t thread, uint32_t variable, uint32_t loc,
                           uint32_t read, uint32_t written, bool compares);
/* Appends an assign, assume, assert or if event. guard FT_NO_TERM: true (assign only). */
uint32_t ft_builder_action(ft_builder *builder, ft_event_kind kind, uint32_t thread, uint32_t loc,
                           ft_term guard, const ft_assignment *assignments, uint32_t n_assignments,
                           uint8_t flags);
/* Counts a note; the same code twice becomes one note with a count and the first text. Notes stand
 * in the order of their codes, however the trace is read. */
void ft_builder_note(ft_builder *builder, const char *code, uint32_t event, const char *format, ...)
    FT_PRINTF(4, 5);

/* Ends the trace and frees the builder, whatever the status. Fails with FT_INPUT on a trace
 * without events or with branches that break the rules of trace/branch.h, and with FT_LIMIT past
 * 2^32 - 2 events or 65,535 threads. */
ft_status ft_builder_finish(ft_builder *builder, ft_trace **trace, ft_error *err) FT_MUST_CHECK;

#endif

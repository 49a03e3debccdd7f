/* Private to the NDJSON reader: its state, its header line, and the parts both lines share. */
#ifndef FT_TRACE_READER_NDJSON_H
#define FT_TRACE_READER_NDJSON_H

#include "trace/branch.h"
#include "trace/json_line.h"
#include "trace/trace.h"

typedef struct variable {
    ft_sort sort;
    ft_type type;
    bool has_initial;
    bool unknown;      /* it says that its initial value is not known */
    uint64_t set_line; /* the last line that assigned it, to find duplicate targets */
} variable;

typedef struct thread {
    bool acted, ended, blocked, forked;
    uint32_t open_transactions;
} thread;

typedef struct edge {
    bool out;                    /* its edge-out was seen */
    uint64_t in_line, in_column; /* its first edge-in; line 0: none yet */
} edge;

typedef struct ft_ndjson_branch_thread ft_ndjson_branch_thread;
typedef FT_VEC(ft_ndjson_branch_thread) ft_ndjson_branch_threads;

typedef struct ndjson {
    ft_builder *builder; /* not owned */
    ft_json_line json;
    bool header, any_event;
    uint64_t last_line;
    FT_VEC(variable) shared, locals; /* by the builder's ids */
    FT_VEC(thread) threads;
    FT_VEC(edge) edges;
    ft_map assigned; /* (thread, local) to whether the thread assigned it whichever way it went */
    FT_VEC(ft_assignment) assignments;       /* of one assign event */
    ft_branches *branches;                   /* NULL: no branch so far */
    ft_ndjson_branch_threads branch_threads; /* by thread, as far as they have branches */
} ndjson;

/* The header line. */
ft_status ft_ndjson_header(ndjson *s, const ft_json_value *object, ft_error *err) FT_MUST_CHECK;

/* A line behind the header that declares more: its first member is one of the header's tables. */
bool ft_ndjson_is_declaration(const ndjson *s, const ft_json_value *object);
ft_status ft_ndjson_declarations(ndjson *s, const ft_json_value *object,
                                 ft_error *err) FT_MUST_CHECK;

/* What recorded programs have (reader_ndjson_recorded.c): lists of modules, sites and contexts. */
typedef ft_status ft_ndjson_row(ndjson *s, const ft_json_value *object, ft_error *err);
ft_ndjson_row ft_ndjson_module, ft_ndjson_site, ft_ndjson_context, ft_ndjson_source,
    ft_ndjson_assertion;
ft_status ft_ndjson_list(ndjson *s, const char *member, const ft_json_value *list,
                         ft_ndjson_row *read_one, ft_error *err) FT_MUST_CHECK;
/* Bytes in base64 (RFC 4648 §4), perhaps absent: they are added to ft_trace.inputs. */
#define FT_NDJSON_BASE64 "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
ft_status ft_ndjson_inputs(ndjson *s, const ft_json_value *text, ft_error *err) FT_MUST_CHECK;
/* A list of words, perhaps absent. */
ft_status ft_ndjson_command(ndjson *s, const ft_json_value *list, ft_error *err) FT_MUST_CHECK;
/* How the run failed: the note of ft_trace_failure. */
ft_status ft_ndjson_failure(ndjson *s, const ft_json_value *object, ft_error *err) FT_MUST_CHECK;
/* The members "at" and "context" of an event: they hold for what the builder is given next. */
ft_status ft_ndjson_step(ndjson *s, const ft_json_value *at, const ft_json_value *context,
                         ft_error *err) FT_MUST_CHECK;
/* "loc" with "function" beside it, both perhaps absent. */
ft_status ft_ndjson_location(ndjson *s, const ft_json_value *loc, const ft_json_value *function_key,
                             const ft_json_value *function, uint32_t *id,
                             ft_error *err) FT_MUST_CHECK;

/* An integer from `least` to 2^32 - 1. */
ft_status ft_ndjson_count(ndjson *s, const ft_json_value *value, uint32_t least, const char *what,
                          uint32_t *count, ft_error *err) FT_MUST_CHECK;

/* Sorts an object's members into key[] and value[] by their name; members that are absent have type
 * FT_JSON_NONE. Unknown and duplicate members fail. The arrays must be zeroed. */
ft_status ft_ndjson_members(ndjson *s, const ft_json_value *object, const char *const *names,
                            size_t count, ft_json_value *key, ft_json_value *value,
                            ft_error *err) FT_MUST_CHECK;

/* Fails unless the value is a non-empty string without control characters. */
ft_status ft_ndjson_name(ndjson *s, const ft_json_value *value, const char *what,
                         ft_error *err) FT_MUST_CHECK;

/* A literal of the given sort: an integer, true, false, or a string that spells one. */
ft_status ft_ndjson_value(ndjson *s, const ft_json_value *value, ft_sort sort, ft_value *out,
                          ft_error *err) FT_MUST_CHECK;

/* Checks the place of the next event among its thread's branches (trace/branch.h); `at` is the byte
 * of the line that a failure points to. */
ft_status ft_ndjson_branch(ndjson *s, ft_event_kind kind, uint32_t owner, uint32_t object,
                           uint8_t flags, size_t at, ft_error *err) FT_MUST_CHECK;
void ft_ndjson_release_branches(ndjson *s);

/* Whether the thread has assigned a local by now, on every path. */
bool ft_ndjson_is_assigned(const ndjson *s, uint32_t owner, uint32_t local);
void ft_ndjson_assign_local(ndjson *s, uint32_t owner, uint32_t local);

bool ft_ndjson_is(const ft_json_value *string, const char *text);

/* How many bytes of the value, as written, fit into a message. */
int ft_ndjson_shown(const ft_json_value *value);

#endif

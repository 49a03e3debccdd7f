/* Inside of the binary reader: its state, which the framing (binary_read.c) and the payloads
 * (binary_payload.c) share. Not for others. */
#ifndef FT_TRACE_BINARY_INTERNAL_H
#define FT_TRACE_BINARY_INTERNAL_H

#include "trace/binary.h"
#include "trace/builder_internal.h"

enum {
    FT_BINARY_CODES = 256,
    FT_BINARY_BAD_CODE = 255 /* a kind or operator that this version does not know */
};

typedef struct ft_binary_term {
    ft_term term;   /* in the pool */
    uint32_t depth; /* 0 for leaves */
    uint32_t size;  /* nodes when written out; saturates */
} ft_binary_term;

typedef struct ft_binary_cursor {
    const unsigned char *at, *end;
} ft_binary_cursor;

/* Getters set `status` and return something harmless where the payload does not hold what it
 * should; every loop ends at the first failure. */
typedef struct ft_binary_state {
    ft_builder *builder;   /* not owned */
    const ft_trace *trace; /* what is built so far */
    FT_VEC(unsigned char) buffer;
    uint64_t offset; /* in the file, of the buffer's start */
    bool header, canonical, ended;
    unsigned char *raw;
    size_t raw_cap;
    uint64_t frame;               /* offset of the frame at hand */
    const unsigned char *payload; /* of a frame that is not compressed, else NULL */
    ft_binary_cursor c;
    ft_status status;
    ft_error *err;
    uint8_t kinds[FT_BINARY_CODES], operators[FT_BINARY_CODES]; /* by code */
    uint32_t n_kinds, n_operators, n_blocks;
    FT_VEC(ft_binary_term) terms; /* by the file's numbers */
    FT_VEC(uint32_t) actions;     /* likewise, action index */
    FT_VEC(ft_assignment) set;    /* scratch */
    FT_VEC(ft_term) children;     /* scratch */
    FT_VEC(uint32_t) cells;       /* scratch */
    FT_VEC(uint32_t) numbers;     /* scratch: by thread, its last event's */
} ft_binary_state;

/* Offset in the file of what is read next; of the frame where that is compressed. */
uint64_t ft_binary_offset(const ft_binary_state *r);

/* Fails at that offset, unless something failed before. */
#define FT_BINARY_FAIL(r, code, ...)                                                               \
    do {                                                                                           \
        if ((r)->status == FT_OK)                                                                  \
            (r)->status = ft_error_offset((r)->err, (code), ft_binary_offset(r), __VA_ARGS__);     \
    } while (0)

/* True if this version knows the frame type. */
bool ft_binary_knows(unsigned type);

/* The value at the cursor; the first function sets *bad if there is no whole number. */
uint64_t ft_binary_cursor_varint(ft_binary_cursor *c, bool *bad);
uint64_t ft_binary_varint(ft_binary_state *r);
uint32_t ft_binary_below(ft_binary_state *r, uint64_t limit, const char *what);
const char *ft_binary_bytes(ft_binary_state *r, uint64_t length);

bool ft_binary_value_fits(const ft_trace *trace, uint64_t variable, uint64_t value);

/* The frames that say something of each event (binary_events.c). */
void ft_binary_events_frame(ft_binary_state *r);
void ft_binary_hooks_frame(ft_binary_state *r);
void ft_binary_event_contexts_frame(ft_binary_state *r);

/* Reads r->c, the whole payload of a frame of a known type, into the builder. */
void ft_binary_payload(ft_binary_state *r, unsigned type);

#endif

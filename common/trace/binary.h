/* The binary trace format, version 1: framed, compressed, checksummed, readable when cut short.
 * docs/binary-format.md says the same in prose. All integers are little endian; `varint` is
 * LEB128, seven bits a byte from the least; `zigzag` is a varint of (n << 1) ^ (n >> 63).
 *
 *   file   = header frame* end-frame
 *   header = "FTRC" version:u8 flags:u8 format:u8 0:u8
 *            flags bit 0: canonical, the events are normalised (trace.h, ft_builder_finish)
 *            format: ft_format of the input the trace was made from
 *   frame  = type:u8 flags:u8 0:u16 payload-length:u32 raw-length:u32 crc:u32 payload
 *            flags bit 0: the payload is one zstd frame that expands to raw-length bytes, more
 *            than payload-length, else both lengths are equal; crc: zlib's crc32 of the frame's
 *            first 12 bytes and the payload
 *
 * Payloads, uncompressed; text is varint length and bytes, sort is kind:u8 (0 Bool, 1 Int,
 * 2 BitVec) and width:u8. Declarations come in lists, a list may be spread over several frames, and
 * each item must be declared before it is used. Ids count from 0 unless said otherwise.
 *
 *   kinds      names of event kinds; an event's code is its place in this list (at most 128)
 *   operators  names of operators; a term's code is its place in this list plus 2
 *   threads    text
 *   values     sort, bits: zigzag for Int, else varint; ids from 1, 0 is "unknown"
 *   shared     text, sort, initial value id (0: not declared)
 *   locals     like shared
 *   locks      text, kind:u8 (0 mutex, 1 recursive, 2 error-checking, 3 read-write,
 *              4 writer-preferring)
 *   semaphores text, initial count
 *   edges      text
 *   conditions text
 *   barriers   text, count (at least 1)
 *   onces      text
 *   blocks     text, number of variables, shared ids: the first, then differences (at least 1)
 *   updates    shared id, value id read, value id written (0: unknown); each once
 *   locations  text, 0 or function text with 1 added to its length; ids from 1, 0 is "none"
 *   terms      code, then: 0 literal: sort, bits as in values; 1 symbol: id << 1 | local;
 *              else number of children, per child how many terms before this one it stands, and
 *              for extract, zero_extend, sign_extend two indices; ids from 1, 0 is "true"
 *   actions    guard term, number of assignments, per assignment target (id << 1 | local) and term
 *   events     first event's number, count (at most FT_BINARY_BLOCK), then six columns, each with
 *              its length in bytes before it:
 *                kinds    u8 per event: code, plus 128 if the event has flags
 *                flags    u8 per event with flags: FT_FLAG_*
 *                threads  zigzag per event, minus the last event's
 *                objects  zigzag per event whose kind has an object, minus the last of that class
 *                places   zigzag per event, location id minus the last event's
 *                data     zigzag per read, write (value id), assign, assume, assert, if (action
 *                         index) and rmw (update index), minus the last of the same of these
 *                         three classes
 *              "last" is within the block, 0 at its start
 *   notes      text code, event plus 1 (0: none), count, text
 *   broken     event, text: ft_trace's broken and broken_text
 *   end        number of events; nothing may follow
 *
 *   modules    text name, text SHA-256 in hex or ""; of a recorded program, the executable first
 *   sites      module, offset in it, location id
 *   hooks      of the events of the block before: first event's number, count, per event zigzag
 *              hook minus that of its thread's last event in the block (0 at its start)
 *   contexts   how many contexts before this one its parent stands, 0: it has none; location id;
 *              numbered from 1, 0 is "the outermost function, or not known"
 *   event contexts  like hooks, with the context of each event
 *   command    texts: the program that was recorded, and its arguments
 *   inputs     bytes: the frames of this type one after the other are ft_trace's inputs
 *   sources    location id, text path of its file, 0 or its line's text with 1 added to its length;
 *              each location once
 *   types      shared id, type:u8, the type's place in FT_TYPE_TABLE (term/type.h); a place that
 * the reader does not know is passed over assertions location id, text of the expression of the
 * assertion there; each location once initials   shared id, initial value id: of variables whose
 * declaration did not say it yet
 *
 * Version rule: what a version 1 file may hold grows (event kinds, operators, lock kinds, flags,
 * frame types, always by new names or codes), what is there already never changes; a file is
 * refused only for what it uses and the reader does not know. Anything else is a new version. */
#ifndef FT_TRACE_BINARY_H
#define FT_TRACE_BINARY_H

#include <stddef.h>
#include <stdint.h>

#define FT_BINARY_MAGIC   "FTRC"
#define FT_BINARY_VERSION 1

enum {
    FT_BINARY_HEADER = 8,
    FT_BINARY_FRAME = 16,
    FT_BINARY_MAX_FRAME = 1 << 24, /* bytes of a payload, compressed and raw */
    FT_BINARY_BLOCK = 1 << 16,     /* events in a block */
    FT_BINARY_CANONICAL = 1,       /* header flag */
    FT_BINARY_ZSTD = 1,            /* frame flag */
    FT_BINARY_HAS_FLAGS = 128,     /* in a kind code */
    FT_BINARY_LITERAL = 0,
    FT_BINARY_SYMBOL = 1,
    FT_BINARY_OPERATORS = 2 /* code of the first operator */
};

/*  symbol, code; codes are for ever */
#define FT_BINARY_FRAME_TABLE(X)                                                                   \
    X(KINDS, 1)                                                                                    \
    X(OPERATORS, 2)                                                                                \
    X(THREADS, 3)                                                                                  \
    X(VALUES, 4)                                                                                   \
    X(SHARED, 5)                                                                                   \
    X(LOCALS, 6)                                                                                   \
    X(LOCKS, 7)                                                                                    \
    X(SEMAPHORES, 8)                                                                               \
    X(EDGES, 9)                                                                                    \
    X(LOCATIONS, 10)                                                                               \
    X(TERMS, 11)                                                                                   \
    X(ACTIONS, 12)                                                                                 \
    X(EVENTS, 13)                                                                                  \
    X(NOTES, 14)                                                                                   \
    X(BROKEN, 15)                                                                                  \
    X(END, 16)                                                                                     \
    X(CONDITIONS, 17)                                                                              \
    X(BARRIERS, 18)                                                                                \
    X(ONCES, 19)                                                                                   \
    X(BLOCKS, 20)                                                                                  \
    X(UPDATES, 21)                                                                                 \
    X(MODULES, 22)                                                                                 \
    X(SITES, 23)                                                                                   \
    X(HOOKS, 24)                                                                                   \
    X(CONTEXTS, 25)                                                                                \
    X(EVENT_CONTEXTS, 26)                                                                          \
    X(INPUTS, 27)                                                                                  \
    X(INITIALS, 28)                                                                                \
    X(COMMAND, 30)                                                                                 \
    X(SOURCES, 31)                                                                                 \
    X(TYPES, 32)                                                                                   \
    X(ASSERTIONS, 33)

typedef enum ft_binary_frame {
#define FT_BINARY_ENUM(symbol, code) FT_BINARY_FRAME_##symbol = code,
    FT_BINARY_FRAME_TABLE(FT_BINARY_ENUM)
#undef FT_BINARY_ENUM
        FT_BINARY_FRAMES
} ft_binary_frame;

enum { FT_BINARY_COLUMNS = 6, FT_BINARY_VARINT = 10 }; /* columns of a block; longest varint */

/* Classes of the data column. */
enum { FT_BINARY_VALUE, FT_BINARY_ACTION, FT_BINARY_UPDATE, FT_BINARY_DATA };

static inline uint64_t ft_zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
}

static inline int64_t ft_unzigzag(uint64_t value)
{
    return (int64_t)((value >> 1) ^ (value & 1 ? UINT64_MAX : 0));
}

/* Writes at most FT_BINARY_VARINT bytes; returns the place behind them. */
static inline unsigned char *ft_put_varint(unsigned char *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (unsigned char)(value | 0x80);
        value >>= 7;
    }
    *at++ = (unsigned char)value;
    return at;
}

static inline void ft_put_u32(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++) at[i] = (unsigned char)(value >> (8 * i));
}

static inline uint32_t ft_get_u32(const unsigned char *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

#endif

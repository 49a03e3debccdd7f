/* The server-worker protocol: frames over a stream (the worker's stdin and stdout).
 *
 * A frame is an 8-byte header (payload length as u32 little-endian, message type as u8, three zero
 * bytes) and the payload: one JSON object or raw bytes, at most FT_WIRE_MAX_PAYLOAD. The worker
 * speaks first (HELLO). The server sends one request at a time; the worker answers it with exactly
 * one of the ending messages (marked END), before which it may send others. A server that wants a
 * request cancelled kills the worker. `token` is the lease's fencing token: the worker echoes it.
 *
 * Payloads (JSON members; ? optional):
 *
 * HELLO {"protocol":6,"version":"0.1.0","pid":123,"heartbeats"?:BOOL}
 *     heartbeats: the worker sends PROGRESS at least once a second during a request, so that a
 *     silent worker is a stuck one.
 * TRACE {"trace":HASH,"bytes":N}
 *     Followed by DATA frames and DATA_END: the worker loads this canonical trace for the requests
 *     that follow. Answered by LOADED or FAILED.
 * INGEST {"token":T,"of"?:"program"}
 *     Followed by DATA frames (the decoded upload) and DATA_END. Answered by DATA frames with the
 *     canonical binary form, then INGESTED; or FAILED. The answer's DATA frames may begin before
 *     the upload ends. Of a program: likewise, with its binary form.
 * AGAIN {"token":T}
 *     At most once in an INGEST request, instead of its answer: the worker needs the upload again.
 *     The DATA frames sent so far are void. The server sends INGEST and the upload from its
 *     beginning; the worker skips the frames that were under way.
 * PLAN {"token":T,"trace":HASH,"spec":JOB,"soft_ms"?:MS,"parts"?:N}
 *     Where the job names a program, that is what is loaded, and the worker explores it. After
 *     soft_ms it hands the subtrees back that are open, as N tasks at most.
 *     Answered by DATA frames that make up PLAN of docs/records.md, at most FT_WIRE_MAX_PLAN bytes,
 *     then PLANNED; or FAILED, which makes the DATA frames void.
 * SOLVE {"token":T,"trace":HASH,"spec":JOB,"tasks":[{"task":ID,"subproblem":K,"key":TEXT,
 *        "cube"?:CUBE}],"split_ms"?:MS,"set"?:TEXT|true}
 *     Answered by one VERDICT a task, in order, then SOLVED; or FAILED. cube: the part of the
 *     subproblem that is meant (worker/engine/cubes.h). split_ms: a subproblem that takes longer
 *     may be answered by a record that is unknown and has "cubes":[CUBE...], its parts. set: of
 *     certificates, the "set" of the plan.
 * EXPLORE {"token":T,"trace":HASH,"spec":JOB,"tasks":[{"task":ID,"subtree":TEXT}],
 *          "explored":EXPLORED,"soft_ms":MS,"parts":N}
 *     One of the tasks that a plan, or another one, handed back. Answered as PLAN.
 * RECALL {"token":T,"keep":N}
 *     During SOLVE: only the first N of its tasks are still wanted. A task that the worker has
 *     begun may be answered all the same. No answer; ignored after the request's end.
 * SUMMARIZE {"token":T,"trace":HASH,"of"?:"summary"|"intervals"}
 *     Answered by SUMMARIZED or FAILED.
 * LOADED {"trace":HASH}
 * INGESTED {"token":T,"meta":META}
 *     META: docs/records.md, "trace".
 * PLANNED {"token":T,"bytes":N}
 *     N: the plan's length, to check that all of it has arrived.
 * VERDICT {"token":T,"task":ID,"record":RECORD}
 *     RECORD: docs/records.md, "verdict record". After a WITNESS frame it has no "witness".
 * WITNESS
 *     The witness of the next VERDICT: WITNESS of docs/records.md as JSON, compressed with zstd,
 *     content size in the frame header.
 * SOLVED {"token":T}
 *     Every task that was not recalled has its VERDICT.
 * SUMMARIZED {"token":T,"summary":SUMMARY}
 *     SUMMARY: docs/api.md, without its "trace"; of intervals: INTERVALS there.
 * FAILED {"token"?:T,"error":{"code":NAME,"message":TEXT,"line"?:N,"column"?:N,"offset"?:N}}
 * PROGRESS {"token"?:T,"text":TEXT}
 *     Between request and answer, about once a second at most.
 *
 * Imports: common/base. */
#ifndef FT_WIRE_WIRE_H
#define FT_WIRE_WIRE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/strbuf.h"

#define FT_WIRE_PROTOCOL 6
#define FT_WIRE_SUMMARY                                                                            \
    1 /* version of SUMMARY: stored summaries of other versions are computed anew */
#define FT_WIRE_HEADER      8
#define FT_WIRE_MAX_PAYLOAD (16u << 20)
#define FT_WIRE_CHUNK       (1u << 20) /* DATA frames carry at most this much */
#define FT_WIRE_MAX_PLAN    (256u << 20)

/*  symbol   name       payload  sender  ends a request */
#define FT_WIRE_TABLE(X)                                                                           \
    X(HELLO, "hello", JSON, WORKER, false)                                                         \
    X(TRACE, "trace", JSON, SERVER, false)                                                         \
    X(INGEST, "ingest", JSON, SERVER, false)                                                       \
    X(PLAN, "plan", JSON, SERVER, false)                                                           \
    X(SOLVE, "solve", JSON, SERVER, false)                                                         \
    X(DATA, "data", BYTES, BOTH, false)                                                            \
    X(DATA_END, "data-end", BYTES, SERVER, false)                                                  \
    X(LOADED, "loaded", JSON, WORKER, true)                                                        \
    X(INGESTED, "ingested", JSON, WORKER, true)                                                    \
    X(PLANNED, "planned", JSON, WORKER, true)                                                      \
    X(VERDICT, "verdict", JSON, WORKER, false)                                                     \
    X(SOLVED, "solved", JSON, WORKER, true)                                                        \
    X(FAILED, "failed", JSON, WORKER, true)                                                        \
    X(PROGRESS, "progress", JSON, WORKER, false)                                                   \
    X(SUMMARIZE, "summarize", JSON, SERVER, false)                                                 \
    X(SUMMARIZED, "summarized", JSON, WORKER, true)                                                \
    X(RECALL, "recall", JSON, SERVER, false)                                                       \
    X(WITNESS, "witness", BYTES, WORKER, false)                                                    \
    X(AGAIN, "again", JSON, WORKER, false)                                                         \
    X(EXPLORE, "explore", JSON, SERVER, false)

typedef enum ft_wire_type {
#define FT_ROW(symbol, name, payload, sender, ends) FT_WIRE_##symbol,
    FT_WIRE_TABLE(FT_ROW)
#undef FT_ROW
        FT_WIRE_TYPES
} ft_wire_type;

const char *ft_wire_name(ft_wire_type type);
bool ft_wire_is_json(ft_wire_type type);
bool ft_wire_ends(ft_wire_type type);

/* Writes the header of a frame. length <= FT_WIRE_MAX_PAYLOAD, here and below. */
void ft_wire_header(unsigned char header[FT_WIRE_HEADER], ft_wire_type type, size_t length);
/* Append a whole frame to `out`. Bytes of a type with a JSON payload are an object's text. */
void ft_wire_frame_json(ft_strbuf *out, ft_wire_type type, const json_t *json);
void ft_wire_frame_bytes(ft_strbuf *out, ft_wire_type type, const void *data, size_t length);

/* Incremental decoder: feed bytes, take frames. Embedded: zero-initialise. */
typedef struct ft_wire_decoder {
    ft_strbuf buffer;
    size_t taken; /* bytes of `buffer` that were handed out as frames; removed by the next feed */
} ft_wire_decoder;
typedef struct ft_wire_frame {
    ft_wire_type type;
    const unsigned char *payload; /* into the decoder; valid until the next feed */
    size_t length;
} ft_wire_frame;
void ft_wire_decoder_release(ft_wire_decoder *decoder);
bool ft_wire_decoder_is_sound(const ft_wire_decoder *decoder); /* in constant time */
void ft_wire_decoder_feed(ft_wire_decoder *decoder, const void *data, size_t length);
/* Takes the next frame. *have: whether a whole one had arrived. FT_INPUT: the bytes are not this
 * protocol (unknown type, payload too long, nonzero padding). */
ft_status ft_wire_decoder_next(ft_wire_decoder *decoder, ft_wire_frame *frame, bool *have,
                               ft_error *err) FT_MUST_CHECK;
/* Parses a JSON payload (duplicates rejected); new reference in *json. */
ft_status ft_wire_json(const ft_wire_frame *frame, json_t **json, ft_error *err) FT_MUST_CHECK;

/* Blocking ends for the worker and for tests: whole frames over file descriptors. FT_LIMIT: the
 * payload is too long. *eof: the peer closed the stream between two frames. */
ft_status ft_wire_write(int fd, ft_wire_type type, const void *data, size_t length,
                        ft_error *err) FT_MUST_CHECK;
ft_status ft_wire_write_json(int fd, ft_wire_type type, const json_t *json,
                             ft_error *err) FT_MUST_CHECK;
ft_status ft_wire_read(int fd, ft_wire_decoder *decoder, ft_wire_frame *frame, bool *eof,
                       ft_error *err) FT_MUST_CHECK;

/* The "error" object of a failure (new reference), and back: fills *err unless it is filled. */
json_t *ft_wire_error_to_json(const ft_error *err);
void ft_wire_error_from_json(const json_t *json, ft_error *err);

#endif

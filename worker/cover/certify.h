/* Certificates: what has to hold so that everything that is concluded from a schedule set holds,
 * whoever made it (notes on Bergan, §2). Each is one question to a solver of its own whose answer
 * has to be `unsat`, and which can be had as an SMT-LIB file. Together they establish that every
 * input is covered by a schedule that the program can be constrained to, with one outcome. */
#ifndef FT_COVER_CERTIFY_H
#define FT_COVER_CERTIFY_H

#include "cover/constrained.h"
#include "program/witness/witness.h"

/* symbol, name, what is unsatisfiable */
#define COVER_CERTIFICATE_TABLE(X)                                                                 \
    X(COVER, "check-cover", "an input that the epoch may begin with and that no schedule covers")  \
    X(SCHEDULE, "check-schedule", "an input of a schedule with which the program leaves it")       \
    X(RACE, "check-race", "an input with conflicting accesses that its schedule does not order")   \
    X(DEADLOCK, "check-deadlock",                                                                  \
      "an input with which threads wait that only each other could "                               \
      "wake")                                                                                      \
    X(ORDER, "check-order", "two operations on one object that a schedule does not order")         \
    X(CLOSED, "check-closed", "an input with which a run ends at no epoch of the set")             \
    X(FAILURE, "assertions", "an input with which the program fails under its schedule")           \
    X(DIVERGENCE, "divergence",                                                                    \
      "an input with which a thread never leaves a loop that does not "                            \
      "synchronise")
typedef enum cover_certificate_kind {
#define FT_ROW(symbol, name, meaning) COVER_CHECK_##symbol,
    COVER_CERTIFICATE_TABLE(FT_ROW)
#undef FT_ROW
        COVER_CERTIFICATES
} cover_certificate_kind;
const char *cover_certificate_name(cover_certificate_kind kind);
const char *cover_certificate_meaning(cover_certificate_kind kind);

typedef enum cover_answer { COVER_PROVED, COVER_REFUTED, COVER_UNKNOWN } cover_answer;
const char *cover_answer_name(cover_answer answer); /* proved, refuted, unknown */
/* The same, of a certificate: a refuted DIVERGENCE is a verdict of its own, `diverges`. */
const char *cover_certificate_word(cover_certificate_kind kind, cover_answer answer);

/* How an answer is known (notes on Bergan, §4): symbol, name, meaning */
#define COVER_EVIDENCE_TABLE(X)                                                                    \
    X(PROVED, "proved", "the solver answers unsat")                                                \
    X(REPLAYED, "witness-replayed", "the interpreter has shown it, from the program's entry")      \
    X(MODEL, "witness", "the solver names inputs of the entry, which need not be shown")           \
    X(UNCONFIRMED, "witness-unconfirmed", "from a state that no run was shown to reach")           \
    X(NONE, "unknown", "nothing is known")
typedef enum cover_evidence {
#define FT_ROW(symbol, name, meaning) COVER_EVIDENCE_##symbol,
    COVER_EVIDENCE_TABLE(FT_ROW)
#undef FT_ROW
        COVER_EVIDENCES
} cover_evidence;
const char *cover_evidence_name(cover_evidence evidence);

/* A run from the program's entry in the interpreter, under the set, that shows what a certificate
 * is refuted by. */
typedef struct cover_read { /* a value of an input: the n-th (from 0) that the thread reads */
    char *thread, *name;    /* thread: "0.1" */
    uint32_t n;
    uint8_t width;
    uint64_t bits;
} cover_read;
typedef struct cover_shown {
    FT_VEC(cover_read) reads; /* in the order of the run */
    bool witness;             /* `execution` is a witness of the program, and was judged */
    ft_execution execution;
} cover_shown;
void cover_shown_free(cover_shown *shown); /* accepts NULL */

/* One question. */
typedef struct cover_certificate {
    cover_certificate_kind kind;
    uint32_t epoch;    /* in the set's epochs */
    uint32_t schedule; /* in the epoch's schedules; FT_NO_SCHEDULE: the whole epoch */
    cover_answer answer;
    char *text;             /* REFUTED: what is wrong; UNKNOWN: why */
    ft_sym_place places[2]; /* that the text is about, n_places of them; no function: no place */
    uint8_t n_places;
    uint64_t *inputs; /* REFUTED: by input of the set, those that show it; NULL: none do */
    uint32_t n_inputs;
    cover_shown *shown; /* REFUTED: the interpreter has shown it; NULL: it need not */
    bool unconfirmed;   /* UNKNOWN: the inputs refute it from a state that runs may not have */
} cover_certificate;

cover_evidence cover_certificate_evidence(const cover_certificate *certificate);

typedef struct cover_certificates {
    FT_VEC(cover_certificate) all;
    uint64_t leaves; /* paths that were followed */
    cover_merged merged;
} cover_certificates;

/* Certificates that are found together: of a schedule, or (FT_NO_SCHEDULE) of an epoch as a whole.
 */
typedef struct cover_subject {
    uint32_t epoch, schedule;
} cover_subject;

typedef struct cover_certify_options {
    cover_world_options world;
    const cover_subject *only; /* NULL: everything */
    uint64_t max_leaves;       /* of a schedule; 0: 20,000 */
    uint32_t merged_rounds;    /* `rounds` of constrained.h, where paths are merged */
    uint32_t question_ms;      /* 0: 10,000 */
    double deadline; /* when the world's should_stop begins to say so, in ft_now_ms; 0: unknown.
                        Questions that are asked then end within about a second behind it */
    /* Gets each question as an SMT-LIB text, under a name for a file. May be NULL. */
    void (*smt)(void *context, const char *name, const char *text, size_t length);
    void *smt_context;
} cover_certify_options;

/* FT_INPUT: the set is not one of this program. */
ft_status cover_fits(const ft_program *program, const ft_schedule_set *set,
                     ft_error *err) FT_MUST_CHECK;
/* Checks the set against the program. FT_INPUT: the set is not one of this program. */
ft_status cover_certify(const ft_program *program, ft_schedule_set *set,
                        const cover_certify_options *options, cover_certificates *certificates,
                        ft_error *err) FT_MUST_CHECK;
void cover_certificates_release(cover_certificates *certificates);
/* The kinds of certificates that a subject has, in the order in which they are found; how many. */
uint32_t cover_subject_kinds(cover_subject subject,
                             cover_certificate_kind kinds[COVER_CERTIFICATES]);
/* All of that kind: UNKNOWN or REFUTED if one is. */
cover_answer cover_certificates_answer(const cover_certificates *certificates,
                                       cover_certificate_kind kind);
/* Are the six certificates proved (what `proved under Σ` needs)? */
bool cover_certificates_hold(const cover_certificates *certificates);

#endif

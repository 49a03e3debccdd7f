/* The search for a set of schedules that covers every input of a program (Bergan, figure 3.4;
 * notes, §2): execute a path under the conditions at hand, take its slice, record the schedule
 * under the slice's conditions, and go on with each condition's negation, under the same parent. So
 * the entries are disjoint, and they are the leaves of a decision tree: the selector.
 *
 * With epochs (markers.h), each is searched like that from its beginning (symbolic/epoch.h). Each
 * schedule that ends at markers is then followed for all inputs of its entries, also on the sides
 * that its slice left out: where its threads stand then is another epoch, or a known one, whose
 * beginning is widened until it stands for all arrivals. An epoch whose beginning has changed is
 * searched again. At last, entries of later epochs that invariants refute are left out
 * (invariants.h).
 *
 * What the search says is not trusted: certify.h. */
#ifndef FT_COVER_SEARCH_H
#define FT_COVER_SEARCH_H

#include "cover/run.h"

/* The epochs of a set. */
#define COVER_EPOCHS_TABLE(X)                                                                      \
    X(AUTO, "auto",                                                                                \
      "one, if that covers every input with few schedules; else they end at markers")              \
    X(ONE, "one", "the program as a whole is one epoch")                                           \
    X(MARKERS, "markers", "they end at markers")
typedef enum cover_epochs {
#define FT_ROW(symbol, name, meaning) COVER_EPOCHS_##symbol,
    COVER_EPOCHS_TABLE(FT_ROW)
#undef FT_ROW
        COVER_EPOCHS_KINDS
} cover_epochs;

typedef struct cover_search_options {
    cover_world_options world; /* `epochs` follows from the next member */
    cover_epochs epochs;
    bool gives_up;        /* at the first class of inputs that it cannot cover */
    bool ordered;         /* epochs tell threads apart that stand alike (tests) */
    uint32_t max_epochs;  /* 0: 500 */
    uint64_t max_entries; /* 0: 10,000 */
} cover_search_options;

typedef struct cover_search_counts {
    uint64_t paths;             /* that were executed */
    uint64_t epochs;            /* of the set */
    uint64_t searches;          /* of epochs: again where a beginning has changed */
    uint64_t entries;           /* leaves with a schedule; |Σ| before equal schedules are merged */
    uint64_t schedules;         /* different ones */
    uint64_t discarded;         /* entries of which no input counts, in `entries` not counted */
    uint64_t open;              /* leaves that were left, for the reason */
    uint64_t questions, solved; /* to the solver: all, answered by it */
    ft_status why;              /* of the first: its error, and that one's message */
    char reason[480];
} cover_search_counts;

/* *set: the caller frees it. A search whose time is used up gives what it has found; leaves that
 * were left are `none` there. Errors: FT_UNSUPPORTED, with the place, of a program of which nothing
 * was covered for another reason. */
ft_status cover_search(const ft_program *program, const cover_search_options *options,
                       ft_schedule_set **set, cover_search_counts *counts,
                       ft_error *err) FT_MUST_CHECK;

/* ---- the parts of AUTO, for choose.h ---- */

/* Has the program a marker, so that epochs may end? */
bool cover_has_markers(const ft_program *program);
/* One epoch, if that covers every input with few schedules: at most 200 classes, and 100 operations
 * a path. FT_NOT_FOUND: it does not, for the reason in err. */
ft_status cover_search_few(const ft_program *program, const cover_search_options *options,
                           ft_schedule_set **set, cover_search_counts *counts,
                           ft_error *err) FT_MUST_CHECK;

#endif

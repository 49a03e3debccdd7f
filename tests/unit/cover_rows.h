/* The counterexamples of the notes on covering schedules: programs in which a reading of the rules
 * for slices or edges that is not sound gives a wrong set. */
#ifndef FT_TESTS_COVER_ROWS_H
#define FT_TESTS_COVER_ROWS_H

static const struct cover_row {
    const char *name, *program;
} COVER_ROWS[] = {
    {"one live set for all threads",
     "in x:1 y:1; var g; T { lock 0; if y { g = x + y; } unlock 0; }"
     " T { lock 0; _a = g; if _a { lock 2; } unlock 0; }"},
    {"an attempt that blocks", "in x:1; T { lock 0; } T { if !x { lock 0; } }"},
    {"an attempt that blocks, and more", "in x:1; T { lock 0; } T { if x { lock 0; lock 1; } }"},
    {"an attempt that blocks when the process ends",
     "in x:1; T { lock 0; assert _b; } T { if !x { lock 0; } }"},
    {"a thread that would end the process, when another one does",
     "in x:1; T { lock 0; unlock 0; } T { assert _b; } T { assert x; }"},
    {"a computed lock", "in y:1; T { lock y; }"},
    {"a read at an unknown place",
     "in x:1 i:1; arr A 3; T { if x { A[1] = 1; } if A[i] { lock 0; } }"},
    {"a write at an unknown place",
     "in x:1 i:1; arr A 3; T { if x { A[0] = 1; } A[i] = 0; if A[0] { lock 0; } }"},
    {"a write at an unknown place that misses",
     "in x:1 i:1; arr A 3; T { A[1] = 1; A[i] = 0; if A[0] { lock 0; } if A[1] { lock 1; } }"},
    {"a signal that may be lost", "T { lock 0; wait 0 0; unlock 0; } T { signal 0; }"},
    {"a barrier of two, four threads",
     "bar 0:2; T { barrier 0; } T { barrier 0; } T { barrier 0; } T { barrier 0; }"},
    {"a barrier of two, three threads",
     "bar 0:2; T { barrier 0; } T { barrier 0; } T { barrier 0; }"},
    {"a return with a lock",
     "in x:1; T { lock 0; if x { ret; } unlock 0; } T { lock 0; unlock 0; }"},
    {"an exit between", "in x:1; T { lock 0; if !x { abort; } lock 1; }"},
    {"an exit by a branch that is not kept",
     "in u:1; T { lock 0; unlock 0; if !u { _y = 1; } if _y { abort; } lock 1; unlock 1; }"},
    {"two exits", "in x:1; T { if x { abort; } lock 0; unlock 0; if !x { abort; } lock 1; }"},
    {"conditions that overlap",
     "in x:1 y:1; T { if !x { _b = x; } if !y { _b = 1; } if _b { lock 0; } }"},
    {"a return, and nothing behind it", "in x:1; T { lock 0; unlock 0; if x { ret; } _a = 1; }"},
    {"two waiters, one signal",
     "T { lock 0; wait 0 0; unlock 0; lock 1; unlock 1; }"
     " T { lock 0; wait 0 0; unlock 0; lock 2; unlock 2; } T { lock 0; signal 0; unlock 0; }"},
    {"a side that may fail at a place",
     "in x:1 y:2; arr A 3; T { if x { _a = A[y]; } lock 0; unlock 0; }"},
    {"a side that may divide by zero",
     "in x:1 y:1; T { lock 0; unlock 0; if x { _a = 1 % y; } lock 0; unlock 0; }"},
    {"a call that may fail",
     "in x:1 y:1; F half { give _arg % y; } T { if x { _a = half(1); } lock 0; unlock 0; }"},
    {"a call that writes",
     "in x:1; var g; F set { g = _arg; give 0; } T { if x { call set(1); } if g { lock 0; } }"},
    {"a call that synchronises, through a pointer",
     "in x:1; F take { lock 0; unlock 0; give 0; } T { _p = &take; if x { call _p(1); } lock 1; }"},
    {"a thread before the end of the process, when another ends it",
     "in x:1; T { if !x { abort; } } T { abort; }"},
    {"a thread before a failure, when another ends the process",
     "in x:1 y:1; T { if !x { assert y; } } T { abort; }"},
    {"a thread that waits when the process ends",
     "in x:1; T { lock 0; } T { if !x { lock 0; } } T { abort; }"},
    {"a thread that waits when the process ends, and the other polarity",
     "in x:1; T { lock 0; } T { if x { lock 0; } } T { abort; }"},
    {"a thread that goes round for ever when the process ends",
     "in x:1; T { while !x { } } T { abort; }"},
    {"sections of two threads", "T { lock 0; unlock 0; } T { lock 0; unlock 0; }"},
};
/* Programs whose epochs end at markers. */
static const struct cover_row COVER_EPOCH_ROWS[] = {
    {"a marker on one side", "in x:1; T { if x { marker; } lock 0; unlock 0; }"},
    {"two markers",
     "in x:1; T { if x { marker; lock 0; unlock 0; } else { marker; lock 1; unlock 1; } }"},
    {"what is decided before a marker",
     "in x:1; var g; T { if x { g = 1; } marker; if g { lock 0; unlock 0; } }"},
    {"the holder of a lock at a marker", "T { lock 0; marker; unlock 0; } T { lock 0; unlock 0; }"},
    {"one thread without end", "var g; T { while 1 { lock 0; g = g + 1; unlock 0; } }"},
    {"two threads without end", "var g; T { while 1 { lock 0; g = g + 1; unlock 0; } }"
                                " T { while 1 { lock 0; g = g + 2; unlock 0; } }"},
    {"a lock that changes", "var g; T { while 1 { lock g % 2; unlock g % 2; g = g + 1; } }"},
    {"a stop flag",
     "in n:2; var stop; T { _s = 0; while _s == 0 { lock 0; _s = stop; unlock 0; } }"
     " T { _i = 0; while _i < n { lock 1; unlock 1; _i = _i + 1; } lock 0; stop = 1; unlock 0; }"},
    {"a queue of one without end",
     "var q; T { while 1 { lock 0; while q == 1 { wait 0 0; } q = 1; signal 1; unlock 0; } }"
     " T { while 1 { lock 0; while q == 0 { wait 1 0; } q = 0; signal 0; unlock 0; } }"},
};
enum { COVER_N_EPOCH_ROWS = sizeof COVER_EPOCH_ROWS / sizeof COVER_EPOCH_ROWS[0] };

enum { COVER_N_ROWS = sizeof COVER_ROWS / sizeof COVER_ROWS[0] };

#endif

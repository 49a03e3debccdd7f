/* The independent checker: every rule and every claim kind, both polarities. */
#include "check_rows.h"

/* Wang et al. Fig 1 and Fig 7: they differ in event 3. Events 1-8 T1, 9-13 T2. */
#define FIG(third)                                                                                 \
    "var x 0\nvar y 0\nlocal a 0\nlocal b 0\nsem l 1\n"                                            \
    "T1: a := x\nT1: wait l\nT1: " third "\nT1: post l\nT1: y := (+ 1 a)\nT1: wait l\n"            \
    "T1: x := (+ 1 a)\nT1: post l\nT2: b := 0\nT2: wait l\nT2: assume (> x b)\n"                   \
    "T2: assert (= y 1)\nT2: post l\n"
#define FIG1 FIG("x := (+ 2 a)")
#define FIG7 FIG("x := (+ 1 a)")
/* Fig 5: the violation makes a later assume fail. */
#define FIG5                                                                                       \
    "var x 0\nlocal a 0\nlocal b 0\nT1: x := 0\nT1: a := (+ x 1)\nT1: assume (= a 1)\nT1: x := "   \
    "2\n"                                                                                          \
    "T2: x := 3\nT2: b := x\n"
#define LOCKED                                                                                     \
    "var x\nmutex l\nT1: acq l\nT1: w x\nT1: rel l\nT2: acq l\nT2: w x\nT2: rel l\nT2: r x\n"
#define FORKED   "var x\nT1: fork T2\nT1: w x\nT2: w x\nT1: join T2\nT1: r x\n"
#define EDGED    "var x\nT1: w x\nT1: out e\nT2: w x\nT2: in e\nT2: r x\nT3: in e\nT3: r x\n"
#define UNVALUED "var x\nT1: w x\nT2: r x\nT2: w x\nT1: r x\nT3: w x\n"
#define VALUED   "var x 0\nT1: w x 1\nT2: r x 1\nT2: w x 1\nT3: r x 1\nT3: w x 3\nT4: w x 4\n"
#define DIVIDE                                                                                     \
    "var x 1\nvar y 0\nlocal a 0\nT1: a := (div 6 x)\nT1: y := 1\nT2: x := 0\nT3: y := 2\n"

static const check_row ROWS[] = {
    /* ---- race */
    {"race, both first", UNVALUED, OBSERVED, "race 1 5", "", FT_OK, NULL},
    {"race, second next after its source", UNVALUED, OBSERVED, "race 3 4", "1 2", FT_OK, NULL},
    {"race, not next: predecessor missing", UNVALUED, OBSERVED, "race 3 1", "",
     BAD("event 2 comes before it")},
    {"race, event is a step", UNVALUED, OBSERVED, "race 1 2", "1", BAD("executed already")},
    {"race, one thread", UNVALUED, OBSERVED, "race 1 4", "", BAD("the same thread")},
    {"race, two reads", "var x\nT1: r x\nT2: r x\n", OBSERVED, "race 1 2", "",
     BAD("no two conflicting")},
    {"race, other variable", "var x\nvar y\nT1: w x\nT2: w y\n", OBSERVED, "race 1 2", "",
     BAD("no two conflicting")},
    {"race, synchronisation", LOCKED, OBSERVED, "race 1 4", "", BAD("no two conflicting")},
    {"race, both atomic", "var x\nT1: wa x\nT2: ra x\n", OBSERVED, "race 1 2", "",
     BAD("both events are atomic")},
    {"race, one atomic", "var x\nT1: wa x\nT2: r x\n", OBSERVED, "race 1 2", "", FT_OK, NULL},
    {"race, event beyond the trace", UNVALUED, OBSERVED, "race 1 99", "",
     BAD("the trace does not have")},
    {"race, own read is free", UNVALUED, OBSERVED, "race 2 1", "", FT_OK, NULL},
    {"race, guard read whatever the guard",
     "var x 0\nlocal a 0\nT1: x := 1\nT2: a := 1 if (> x 0)\n", CTP, "race 1 2", "", FT_OK, NULL},
    {"race, write under a false guard",
     "var x 0\nvar y 0\nT1: x := 1\nT2: y := 1 if (> x 0)\nT3: y := 2\n", CTP, "race 2 3", "",
     BAD("no two conflicting")},
    {"race, write under a true guard",
     "var x 0\nvar y 0\nT1: x := 1\nT2: y := 1 if (> x 0)\nT3: y := 2\n", CTP, "race 2 3", "1",
     FT_OK, NULL},
    {"race, write of an undefined term",
     "var x 1\nvar y 0\nT1: x := 0\nT2: y := (div 6 x)\nT3: y := 2\n", CTP, "race 2 3", "1",
     BAD("no two conflicting")},
    {"race, right-hand read of an undefined term",
     "var x 1\nvar y 0\nT1: x := 0\nT2: y := (div 6 x)\n", CTP, "race 2 1", "", FT_OK, NULL},
    {"race, unknown guard", "var x\nvar y 0\nT1: w x\nT2: y := 1 if (> x 0)\nT3: w y\n", OBSERVED,
     "race 2 3", "", OPEN},
    {"race, unknown guard as observed", "var x\nvar y 0\nT1: w x\nT2: y := 1 if (> x 0)\nT3: w y\n",
     OBSERVED, "race 2 3", "1", FT_OK, NULL},
    {"race, assume reads", "var x 0\nT1: x := 1\nT2: assume (> x 0)\n", CTP, "race 1 2", "", FT_OK,
     NULL},
    /* ---- program order, locks, forks, joins, edges, semaphores */
    {"step out of order", UNVALUED, OBSERVED, "race 3 5", "4", BAD("step 1: event 4")},
    {"step twice", UNVALUED, OBSERVED, "race 3 5", "1 1", BAD("step 2: event 1")},
    {"step beyond the trace", UNVALUED, OBSERVED, "race 3 5", "7", BAD("has 5 events, not 7")},
    {"lock held", LOCKED, OBSERVED, "race 2 5", "1 4", BAD("lock l is held by T1")},
    {"lock free again", LOCKED, OBSERVED, "race 2 7", "4 5 6 1", FT_OK, NULL},
    {"mutex taken again by its owner", "var x\nmutex l\nT1: acq l\nT1: acq l\nT1: w x\nT2: w x\n",
     OBSERVED, "race 3 4", "1 2", BAD("lock l is held by T1")},
    {"recursive lock taken again",
     "var x\nrec l\nT1: acq l\nT1: acq l\nT1: rel l\nT1: w x\nT1: rel l\nT2: acq l\nT2: w x\n",
     OBSERVED, "race 4 7", "1 2 3", BAD("event 6 comes before it")},
    {"inner release keeps the lock",
     "var x\nrec l\nT1: acq l\nT1: acq l\nT1: rel l\nT1: w x\nT1: rel l\nT2: acq l\nT2: w x\n",
     OBSERVED, "race 4 7", "1 2 3 6", BAD("lock l is held by T1")},
    {"recursive, not exclusive elsewhere",
     "var x\nrec l\nT1: acq l\nT1: acq l\nT1: rel l\nT1: rel l\nT1: w x\nT2: acq l\nT2: w x\n",
     OBSERVED, "race 5 7", "1 2 3 4 6", FT_OK, NULL},
    {"stranger's release has no effect",
     "var x\nmutex l\nT1: acq l\nT2: rel l\nT2: acq l\nT2: w x\nT1: w x\nT1: rel l\n", OBSERVED,
     "race 4 5", "1 2 3", BAD("lock l is held by T1")},
    {"stranger's release is a step", "var x\nmutex l\nT1: w x\nT2: rel l\nT2: w x\n", OBSERVED,
     "race 1 3", "2", FT_OK, NULL},
    {"thread not forked", FORKED, OBSERVED, "race 2 3", "", BAD("event 1 comes before it")},
    {"thread forked", FORKED, OBSERVED, "race 2 3", "1", FT_OK, NULL},
    {"child before its fork", FORKED, OBSERVED, "race 3 2", "", BAD("thread T2 is not forked")},
    {"child's step before its fork", FORKED, OBSERVED, "race 5 3", "3",
     BAD("step 1: event 3 (T2: ")},
    {"join before the child's end", FORKED, OBSERVED, "race 5 3", "1 2 4",
     BAD("thread T2 has not ended")},
    {"join at the child's end",
     "var x\nT1: fork T2\nT1: w x\nT2: w x\nT1: join T2\nT1: w x\nT3: w x\n", OBSERVED, "race 5 6",
     "1 2 3 4", FT_OK, NULL},
    {"join of a thread without events", "var x\nT1: join T2\nT1: w x\nT3: w x\n", OBSERVED,
     "race 2 3", "1", FT_OK, NULL},
    {"edge-in early", EDGED, OBSERVED, "race 1 5", "3 4", BAD("the edge-out e, event 2")},
    {"edge-in late", EDGED, OBSERVED, "co 5 7", "1 2 3 4 6", FT_OK, NULL},
    {"one edge-out, second edge-in early", EDGED, OBSERVED, "race 1 7", "6",
     BAD("the edge-out e, event 2")},
    {"edge-in without edge-out", "var x\nT1: in e\nT1: w x\nT2: w x\n", OBSERVED, "race 2 3", "1",
     FT_OK, NULL},
    {"edge used twice: each in has its own out",
     "var x\nT1: out e\nT2: in e\nT1: w x\nT1: out e\nT2: in e\nT2: w x\n", OBSERVED, "race 3 6",
     "1 2 5", BAD("the edge-out e, event 4")},
    {"semaphore at 0", FIG1, CTP, "assert 12", "1 2 9 10", BAD("semaphore l is at 0")},
    {"semaphore counts", "var x\nsem s 2\nT1: wait s\nT1: w x\nT2: wait s\nT2: w x\n", OBSERVED,
     "race 2 4", "1 3", FT_OK, NULL},
    {"semaphore posted", "var x\nsem s 0\nT1: w x\nT1: post s\nT1: w x\nT2: wait s\nT2: w x\n",
     OBSERVED, "race 3 5", "1 2 4", FT_OK, NULL},
    {"semaphore not posted", "var x\nsem s 0\nT1: w x\nT1: post s\nT1: w x\nT2: wait s\nT2: w x\n",
     OBSERVED, "race 1 5", "4", BAD("semaphore s is at 0")},
    /* ---- models: members' reads */
    {"observed: same source", UNVALUED, OBSERVED, "race 3 5", "1 2", FT_OK, NULL},
    {"observed: initial instead", UNVALUED, OBSERVED, "race 3 5", "2",
     BAD("another write than in the observed run")},
    {"observed: other write", UNVALUED, OBSERVED, "race 3 4", "1 5 2",
     BAD("another write than in the observed run")},
    {"observed: equal value from another write", VALUED, OBSERVED, "race 5 6", "1 4",
     BAD("another write")},
    {"maximal: equal value from another write", VALUED, MAXIMAL, "race 5 6", "1 4", FT_OK, NULL},
    {"maximal: other value", VALUED, MAXIMAL, "race 5 3", "1 6 2",
     BAD("another value than in the observed run")},
    {"maximal: unknown initial equals itself", "var x\nT1: r x\nT2: w x\nT1: w x\nT3: w x\n",
     MAXIMAL, "race 3 4", "1", FT_OK, NULL},
    {"maximal: unknown write is not another", "var x\nT1: r x\nT2: w x\nT1: w x\nT3: w x\n",
     MAXIMAL, "race 3 4", "2 1", BAD("another value")},
    {"maximal: unknown write equals itself", UNVALUED, MAXIMAL, "race 3 5", "1 2", FT_OK, NULL},
    {"maximal: valued read of an unvalued write", "var x\nT1: w x\nT2: r x 5\nT2: w x\nT3: w x\n",
     MAXIMAL, "race 3 4", "1 2", FT_OK, NULL},
    {"maximal: symbolic events too", FIG1, MAXIMAL, "assert 12", "1 2 3 4 9 10 11",
     BAD("step 7: event 11")},
    {"maximal: symbolic, same value", FIG7, MAXIMAL, "assert 12", "1 2 3 4 9 10 11", FT_OK, NULL},
    {"observed: symbolic, same value", FIG7, OBSERVED, "assert 12", "1 2 3 4 9 10 11",
     BAD("another write")},
    {"ctp: valued read keeps its value", VALUED, CTP, "race 5 6", "1 4", FT_OK, NULL},
    {"ctp: valued read of another value", VALUED, CTP, "race 5 3", "1 6 2",
     BAD("does not return what it returned")},
    {"ctp: unvalued read keeps its source", UNVALUED, CTP, "race 3 5", "1 2", FT_OK, NULL},
    {"ctp: unvalued read of another write", UNVALUED, CTP, "race 3 4", "1 5 2",
     BAD("does not return what it returned")},
    {"ctp: valued read of an unknown value", "var x\nT1: w x\nT2: r x 5\nT2: w x\nT3: w x\n", CTP,
     "race 3 1", "4 2", OPEN},
    {"ctp: valued read of its unvalued write", "var x\nT1: w x\nT2: r x 5\nT2: w x\nT3: w x\n", CTP,
     "race 3 4", "1 2", FT_OK, NULL},
    {"ctp: valued read of a computed unknown",
     "var u\nvar x 0\nT1: x := u\nT2: r x 5\nT2: w x\nT3: w x\n", CTP, "race 3 4", "1 2", OPEN},
    {"ctp: symbolic events compute", FIG1, CTP, "assert 12", "1 2 3 4 9 10 11", FT_OK, NULL},
    /* ---- members' guards and terms */
    {"assume fails", FIG5, CTP, "race 4 6", "1 5 2 3", BAD("its condition is false")},
    {"assume holds", FIG5, CTP, "race 4 6", "1 2 3 5", FT_OK, NULL},
    {"guard false", "var x 0\nvar y 0\nT1: x := 1\nT2: y := 1 if (> x 0)\nT2: y := 3\nT3: y := 2\n",
     CTP, "race 3 4", "2", BAD("its condition is false")},
    {"guard true", "var x 0\nvar y 0\nT1: x := 1\nT2: y := 1 if (> x 0)\nT2: y := 3\nT3: y := 2\n",
     CTP, "race 3 4", "1 2", FT_OK, NULL},
    {"division by zero", DIVIDE, CTP, "race 2 4", "3 1", BAD("divides by zero")},
    {"division", DIVIDE, CTP, "race 2 4", "1 3", FT_OK, NULL},
    {"assert false as a member",
     "var x 1\nT1: assert (= x 1)\nT1: x := 2\nT2: x := 3\nT3: x := 4\n", CTP, "race 2 4", "3 1",
     BAD("its condition is false")},
    {"assert true as a member", "var x 1\nT1: assert (= x 1)\nT1: x := 2\nT2: x := 3\nT3: x := 4\n",
     CTP, "race 2 4", "1", FT_OK, NULL},
    {"failed assert as a member", "var x 0\nT1: assert (= x 1)\nT1: x := 2\nT2: x := 3\n", CTP,
     "race 2 3", "1", FT_OK, NULL},
    {"parallel assignment",
     "var x 1\nvar y 2\nT1: x := y, y := x\nT1: assert (and (= x 2) (= y 1))\nT2: x := 7\n", CTP,
     "cond 2 (not (and (= x 2) (= y 1)))", "1", FT_OK, NULL},
    {"sequential assignment it is not",
     "var x 1\nvar y 2\nT1: x := y, y := x\nT1: assert (and (= x 2) (= y 1))\nT2: x := 7\n", CTP,
     "cond 2 (not (and (= x 2) (= y 2)))", "1", BAD("the condition holds there")},
    {"unknown guard", "var x\nvar y 0\nT1: w x\nT2: assume (> x 0)\nT2: w y\nT3: w y\n", CTP,
     "race 3 4", "2", OPEN},
    {"unknown guard as observed", "var x\nvar y 0\nT1: w x\nT2: assume (> x 0)\nT2: w y\nT3: w y\n",
     MAXIMAL, "race 3 4", "1 2", FT_OK, NULL},
    {"unknown copy", "var x\nlocal a 0\nT1: a := x\nT1: x := 1\nT2: x := 2\n", CTP, "race 2 3", "1",
     FT_OK, NULL},
    {"unknown divisor", "var x\nlocal a 0\nT1: a := (div 1 x)\nT1: x := 1\nT2: x := 2\n", CTP,
     "race 2 3", "1", OPEN},
    {"unknown dividend", "var x\nlocal a 0\nT1: a := (div x 2)\nT1: x := 1\nT2: x := 2\n", CTP,
     "race 2 3", "1", FT_OK, NULL},
    {"overflow in a guard",
     "var x 1\nvar y 0\nT1: assume (< (* x x) 5)\nT1: y := 1\nT2: x := 4000000000000000000\n"
     "T3: y := 2\n",
     CTP, "race 2 4", "3 1", OPEN},
    {"locals are per thread",
     "var x 0\nlocal a 0\nT1: a := 1\nT2: assume (= a 0)\nT2: x := 1\nT3: x := 2\n", CTP,
     "race 3 4", "1 2", FT_OK, NULL},
    {"locals last", "var x 0\nlocal a 0\nT1: a := 1\nT1: assume (= a 1)\nT1: x := 1\nT3: x := 2\n",
     CTP, "race 3 4", "1 2", FT_OK, NULL},
    /* ---- assertion, condition */
    {"assertion holds", FIG1, CTP, "assert 12", "1 2 3 4 5 6 7 8 9 10 11",
     BAD("the condition holds there")},
    {"assertion not next", FIG1, CTP, "assert 12", "1 2 3 4 9 10", BAD("event 11 comes before")},
    {"assertion is a step", FIG1, CTP, "assert 12", "1 2 3 4 5 6 7 8 9 10 11 12",
     BAD("executed already")},
    {"assertion of another kind", FIG1, CTP, "assert 11", "", BAD("not an assert")},
    {"assertion, shared reads free", "var x 1\nT1: assert (= x 1)\nT2: w x 2\n", OBSERVED,
     "assert 1", "2", FT_OK, NULL},
    {"assertion, locals as the model has them",
     "var x 1\nlocal a 0\nT1: a := x\nT1: assert (= a 1)\nT2: x := 2\n", OBSERVED, "assert 2",
     "3 1", BAD("another write")},
    {"assertion, locals under ctp",
     "var x 1\nlocal a 0\nT1: a := x\nT1: assert (= a 1)\nT2: x := 2\n", CTP, "assert 2", "3 1",
     FT_OK, NULL},
    {"assertion undefined", "var x 1\nT1: assert (= (div 1 x) 1)\nT2: x := 0\n", CTP, "assert 1",
     "2", BAD("divides by zero there")},
    {"assertion unknown", "var x\nT1: assert (= x 1)\nT2: x := 2\n", CTP, "assert 1", "", OPEN},
    {"condition false", "var x 0\nT1: w x 1\nT2: w x 0\n", MAXIMAL, "cond 2 (= x 0)", "1", FT_OK,
     NULL},
    {"condition true", "var x 0\nT1: w x 1\nT2: w x 0\n", MAXIMAL, "cond 2 (= x 0)", "",
     BAD("the condition holds there")},
    {"condition over locals", "var x 0\nlocal a 0\nT1: a := 4\nT1: w x 1\nT2: a := 5\n", CTP,
     "cond 2 (= a 5)", "1 3", FT_OK, NULL},
    {"condition not Bool", "var x 0\nT1: w x 1\n", MAXIMAL, "cond 1 (+ x 1)", "",
     BAD("not a Bool term")},
    /* ---- atomicity */
    {"Fig 5", FIG5, CTP, "atom x WWR 1 5 2", "1 5", FT_OK, NULL},
    {"remote missing", FIG5, CTP, "atom x WWR 1 5 2", "1", BAD("remote access is not a step")},
    {"first missing", FIG5, CTP, "atom x WWR 1 5 2", "5", BAD("before the first access")},
    {"no step at all", FIG5, CTP, "atom x WWR 1 5 2", "", BAD("first access is not a step")},
    {"remote before the first", FIG5, CTP, "atom x WWR 1 5 2", "5 1",
     BAD("before the first access")},
    {"last is a step", FIG5, CTP, "atom x WWR 1 5 2", "1 5 2", BAD("executed already")},
    {"last not next", FIG5, CTP, "atom x WWW 1 5 4", "1 5 2", BAD("event 3 comes before it")},
    {"last behind a failing assume", FIG5, CTP, "atom x WWW 1 5 4", "1 5 2 3",
     BAD("its condition is false")},
    {"serialisable pattern", FIG5, CTP, "atom x RRR 1 5 2", "1 5", BAD("serialisable")},
    {"pattern is not of the events", FIG5, CTP, "atom x RWR 1 5 2", "1 5",
     BAD("event 1 does not read x")},
    {"first and last in two threads", FIG5, CTP, "atom x WWR 1 5 6", "1 5", BAD("in one thread")},
    {"first and last swapped", FIG5, CTP, "atom x RWW 2 5 1", "1 5", BAD("in order")},
    {"remote of the same thread", FIG5, CTP, "atom x WWR 1 4 2", "1", BAD("same thread")},
    {"remote write under a false guard",
     "var x 0\nvar y 1\nT1: w x 1\nT1: w x 2\nT2: x := 3 if (= y 1)\nT3: y := 0\n", CTP,
     "atom x WWW 1 3 2", "4 1 3", BAD("does not take place")},
    {"remote write under a true guard",
     "var x 0\nvar y 1\nT1: w x 1\nT1: w x 2\nT2: x := 3 if (= y 1)\nT3: y := 0\n", CTP,
     "atom x WWW 1 3 2", "1 3", FT_OK, NULL},
    {"remote guard read under a false guard",
     "var x 0\nlocal a 0\nT1: x := 1\nT1: x := 2\nT2: a := 7 if (= x 2)\n", CTP, "atom x WRW 1 3 2",
     "1 3", FT_OK, NULL},
    {"remote swap that failed and would succeed",
     "var x 0\nlocal a 0\nT1: x := 1\nT1: x := 2\nT2: atomic a := x if (distinct x 1)\n", CTP,
     "atom x WRW 1 3 2", "1 3", BAD("does not take place")},
    {"remote swap that fails again",
     "var x 0\nlocal a 0\nT1: x := 1\nT1: x := 2\nT2: atomic a := x if (distinct x 3)\n", MAXIMAL,
     "atom x WRW 1 3 2", "1 3", FT_OK, NULL},
    {"remote swap that succeeded fails",
     "var x 0\nlocal a 0\nT1: x := 1\nT1: x := 2\nT2: atomic a := x, x := 7 if (= x 2)\n", CTP,
     "atom x WRW 1 3 2", "1 3", FT_OK, NULL},
    {"remote swap, unknown guard",
     "var x\nvar y\nlocal a 0\nT1: w x\nT1: w x\nT2: atomic a := x if (distinct x 1)\n", OBSERVED,
     "atom x WRW 1 3 2", "1 3", OPEN},
    {"last swap that failed and would succeed",
     "var x 0\nlocal a 0\nT1: x := 1\nT1: atomic a := x if (distinct x 3)\nT2: x := 3\n", CTP,
     "atom x WWR 1 3 2", "1 3", FT_OK, NULL},
    {"racing swap that failed and would succeed",
     "var x 0\nlocal a 0\nT1: x := 1\nT2: atomic a := x if (distinct x 0)\n", CTP, "race 1 2", "",
     FT_OK, NULL},
    {"remote failing assume", "var x 0\nT1: x := 1\nT1: x := 2\nT2: assume (= x 2)\n", CTP,
     "atom x WRW 1 3 2", "1 3", FT_OK, NULL},
    {"a failing assume stops its thread",
     "var x 0\nvar y 0\nT1: x := 1\nT1: x := 2\nT2: assume (= x 2)\nT2: y := 1\n", CTP,
     "atom x WRW 1 3 2", "1 3 4", BAD("the remote access stopped that thread")},
    {"a holding assume does not",
     "var x 0\nvar y 0\nT1: x := 1\nT1: x := 2\nT2: assume (> x 0)\nT2: y := 1\n", CTP,
     "atom x WRW 1 3 2", "1 3 4", FT_OK, NULL},
    {"a failing assert stops its thread",
     "var x 0\nvar y 0\nT1: x := 1\nT1: x := 2\nT2: assert (= x 2)\nT2: y := 1\n", CTP,
     "atom x WRW 1 3 2", "1 3 4", BAD("stopped that thread")},
    {"an assert that failed in the run does not",
     "var x 0\nvar y 0\nT1: x := 1\nT1: x := 2\nT2: assert (= x 7)\nT2: y := 1\n", CTP,
     "atom x WRW 1 3 2", "1 3 4", FT_OK, NULL},
    {"a departing read stops its thread, observed",
     "var x\nvar y\nT1: w x\nT1: w x\nT2: r x\nT2: w y\n", OBSERVED, "atom x WRW 1 3 2", "1 3 4",
     BAD("stopped that thread")},
    {"a departing read is executed, observed", "var x\nvar y\nT1: w x\nT1: w x\nT2: r x\nT2: w y\n",
     OBSERVED, "atom x WRW 1 3 2", "1 3", FT_OK, NULL},
    {"a departing read stops its thread, maximal",
     "var x 0\nvar y 0\nT1: w x 1\nT1: w x 2\nT2: r x 2\nT2: w y 1\n", MAXIMAL, "atom x WRW 1 3 2",
     "1 3 4", BAD("stopped that thread")},
    {"a departing plain read stops its thread, ctp",
     "var x 0\nvar y 0\nT1: w x 1\nT1: w x 2\nT2: r x 2\nT2: w y 1\n", CTP, "atom x WRW 1 3 2",
     "1 3 4", BAD("stopped that thread")},
    {"an agreeing read does not, maximal",
     "var x 0\nvar y 0\nT1: w x 2\nT1: w x 2\nT2: r x 2\nT2: w y 1\n", MAXIMAL, "atom x WRW 1 3 2",
     "1 3 4", FT_OK, NULL},
    {"no join of a stopped thread",
     "var x 0\nT1: fork T2\nT3: x := 1\nT3: x := 2\nT2: assume (= x 2)\nT1: join T2\n", CTP,
     "atom x WRW 2 4 3", "1 2 4 5", BAD("stopped that thread")},
    {"a member may not read what departed, maximal",
     "var x 0\nvar y 0\nlocal a 0\nT1: x := 1\nT1: x := 2\nT2: y := x\nT3: a := y\n", MAXIMAL,
     "atom x WRW 1 3 2", "1 3 4", BAD("another value")},
    {"a member may not read what departed by chance alike",
     "var x 0\nvar y 0\nlocal a 0\nT1: x := 1\nT1: x := 2\nT2: y := (div x 9)\nT3: a := y\n",
     MAXIMAL, "atom x WRW 1 3 2", "1 3 4", BAD("the departed remote access wrote")},
    {"likewise observed",
     "var x 0\nvar y 0\nlocal a 0\nT1: x := 1\nT1: x := 2\nT2: y := x\nT3: a := y\n", OBSERVED,
     "atom x WRW 1 3 2", "1 3 4", BAD("the departed remote access wrote")},
    {"under ctp it may",
     "var x 0\nvar y 0\nlocal a 0\nT1: x := 1\nT1: x := 2\nT2: y := x\nT3: a := y\n", CTP,
     "atom x WRW 1 3 2", "1 3 4", FT_OK, NULL},
    {"what an rmw wrote that departed, no member reads, ctp",
     "var x 2\nT2: rmw x 2 2\nT1: x := (- 0 x)\nT1: assume (< x 5)\nT1: x := 3\n", CTP,
     "atom x RWW 2 1 4", "2 1 3", BAD("the departed remote access wrote")},
    {"it may read before",
     "var x 2\nT2: rmw x 2 2\nT1: x := (- 0 x)\nT1: assume (< x 5)\nT1: x := 3\n", CTP,
     "atom x RWW 2 1 4", "2 3 1", FT_OK, NULL},
    {"what it wrote decides no guard, ctp",
     "var x 2\nT2: rmw x 2 2\nT1: x := 1\nT1: x := 3 if (> x 0)\n", CTP, "atom x WWW 2 1 3", "2 1",
     OPEN},
    {"nor under maximal", "var x 2\nT2: rmw x 2 2\nT1: x := 1\nT1: x := 3 if (> x 0)\n", MAXIMAL,
     "atom x WWW 2 1 3", "2 1", OPEN},
    {"what an rmw wrote that did not depart does",
     "var x 2\nT2: rmw x 2 2\nT1: x := 2\nT1: x := 3 if (> x 0)\n", CTP, "atom x WWW 2 1 3", "2 1",
     FT_OK, NULL},
    {"the last access may read it",
     "var x 0\nlocal a 0\nT1: x := 1\nT1: a := x\nT1: x := 5\nT2: x := (+ x 1)\n", OBSERVED,
     "atom x WWR 1 4 2", "1 4", FT_OK, NULL},
    {"last write under a guard that the remote made false",
     "var x 0\nT1: x := 1\nT1: x := 2 if (= x 1)\nT2: x := 3\n", CTP, "atom x WWW 1 3 2", "1 3",
     BAD("does not take place")},
    {"last guard read likewise", "var x 0\nT1: x := 1\nT1: x := 2 if (= x 1)\nT2: x := 3\n", CTP,
     "atom x WWR 1 3 2", "1 3", FT_OK, NULL},
    {"first obeys the model", "var x\nT3: w x\nT1: r x\nT1: r x\nT2: w x\n", OBSERVED,
     "atom x RWR 2 4 3", "2 4", BAD("another write")},
    {"first with its source", "var x\nT3: w x\nT1: r x\nT1: r x\nT2: w x\n", OBSERVED,
     "atom x RWR 2 4 3", "1 2 4", FT_OK, NULL},
    {"remote write under an unknown guard",
     "var x 0\nvar u\nT1: x := 1\nT1: x := 2\nT2: x := 3 if (> (+ x u) 0)\n", CTP,
     "atom x WRW 1 3 2", "1 3", OPEN},
    {"remote unknown assume",
     "var x 0\nvar u\nvar y 0\nT1: x := 1\nT1: x := 2\nT2: assume (> (+ x u) 0)\nT2: y := 1\n", CTP,
     "atom x WRW 1 3 2", "1 3", FT_OK, NULL},
    {"a remote unknown assume may stop its thread",
     "var x 0\nvar u\nvar y 0\nT1: x := 1\nT1: x := 2\nT2: assume (> (+ x u) 0)\nT2: y := 1\n", CTP,
     "atom x WRW 1 3 2", "1 3 4", OPEN},
    {"an agreeing remote unknown assume held",
     "var x 0\nvar u\nvar y 0\nT1: w x 2\nT1: w x 2\nT2: assume (> (+ x u) 0)\nT2: y := 1\n",
     MAXIMAL, "atom x WRW 1 3 2", "1 3 4", FT_OK, NULL},
    {"last write under an unknown guard",
     "var x 0\nvar u\nT1: x := 1\nT1: x := 2 if (> u 0)\nT2: x := 3\n", CTP, "atom x WWW 1 3 2",
     "1 3", OPEN},
    {"a remote write under a false guard does not happen",
     "var x 0\nT3: assume (< x 2)\nT1: x := 1\nT1: x := 2\nT2: x := 3 if (= x 2)\n", CTP,
     "atom x WRW 2 4 3", "2 4 1", FT_OK, NULL},
    {"Fig 9 b: no false violation",
     "var x 0\nlocal a 0\nsem s 0\nT1: x := 1\nT1: a := (+ x 1)\nT1: post s\nT2: wait s\n"
     "T2: x := 7\n",
     CTP, "atom x WWR 1 5 2", "1 4 5", BAD("semaphore s is at 0")},
    {"remote waits for its lock",
     "var x\nmutex l\nT1: acq l\nT1: w x\nT1: w x\nT1: rel l\nT2: acq l\nT2: w x\nT2: rel l\n",
     OBSERVED, "atom x WWW 2 6 3", "1 2 5 6", BAD("lock l is held by T1")},
    {"Fig 9 a: no false violation",
     "var x 0\nlocal a 0\nlocal b 0\nT1: a := x\nT1: x := (+ a 1)\nT2: b := x\nT2: assume (> b 0)\n"
     "T2: x := b\n",
     CTP, "atom x RWW 1 5 2", "1 3 4 5", BAD("its condition is false")},
    /* ---- co-enabled, before */
    {"co-enabled", LOCKED, OBSERVED, "co 1 4", "", FT_OK, NULL},
    {"co-enabled, lock held", LOCKED, OBSERVED, "co 2 4", "1", BAD("lock l is held by T1")},
    {"co-enabled, not next", LOCKED, OBSERVED, "co 2 4", "", BAD("event 1 comes before it")},
    {"co-enabled, in an arm and as if it was not taken",
     "var x 0\nmutex l\nT1: fork T2\nT2: if (= x 0)\nT2: acq l\nT2: rel l\nT1: join T2\n", CONTROL,
     "co 3 5", "1 2", BAD("joins the thread of the other")},
    {"co-enabled, one thread", LOCKED, OBSERVED, "co 1 2", "", BAD("the same thread")},
    {"co-enabled, semaphore at 0", "sem s 0\nT1: post s\nT2: wait s\n", OBSERVED, "co 1 2", "",
     BAD("semaphore s is at 0")},
    {"co-enabled, join unfulfilled", "var x\nT2: w x\nT1: join T2\n", OBSERVED, "co 1 2", "",
     BAD("has not ended")},
    {"co-enabled, edge unfulfilled", EDGED, OBSERVED, "co 1 6", "", BAD("the edge-out e")},
    {"co-enabled, assume fails", FIG5, CTP, "co 3 6", "1 5 2", BAD("its condition is false")},
    {"co-enabled, assume holds", FIG5, CTP, "co 3 5", "1 2", FT_OK, NULL},
    {"co-enabled, own reads exempt", UNVALUED, OBSERVED, "co 1 2", "", FT_OK, NULL},
    {"co-enabled, a false assert runs", "var x 0\nT1: x := 1\nT2: assert (= x 1)\n", CTP, "co 1 2",
     "", FT_OK, NULL},
    {"co-enabled, undefined", DIVIDE, CTP, "co 1 4", "3", BAD("divides by zero")},
    {"co-enabled, recursive lock of its own", "var x\nrec l\nT1: acq l\nT1: acq l\nT2: w x\n",
     OBSERVED, "co 2 3", "1", FT_OK, NULL},
    {"co-enabled, mutex of its own", "var x\nmutex l\nT1: acq l\nT1: acq l\nT2: w x\n", OBSERVED,
     "co 2 3", "1", BAD("lock l is held by T1")},
    {"before", "var x\nT1: w x @a.c:1\nT2: w x @b.c:2\n", OBSERVED, "before 2 a.c:1", "", FT_OK,
     NULL},
    {"before, the first came first", "var x\nT1: w x @a.c:1\nT2: w x @b.c:2\n", OBSERVED,
     "before 2 a.c:1", "1", BAD("the claim avoids")},
    {"before, not next", "var x\nT1: w x @a.c:1\nT2: r x\nT2: w x @b.c:2\n", OBSERVED,
     "before 3 a.c:1", "", BAD("event 2 comes before it")},
    {"before, blocked", "var x\nmutex l\nT1: acq l\nT1: w x @a.c:1\nT1: rel l\nT2: acq l @b.c:2\n",
     OBSERVED, "before 4 a.c:1", "1", BAD("lock l is held")},
    {"before, no location", "var x\nT1: w x @a.c:1\nT2: w x @b.c:2\n", OBSERVED, "before 2 -", "",
     BAD("unknown location")},
};

static void test_rows(void **state)
{
    (void)state;
    int bad = 0;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) bad += !run_row(&ROWS[i]);
    assert_int_equal(bad, 0);
}

/* ---- annotations, and shapes that no builder makes ------------------------------------------ */

static void test_reading(void **state)
{
    (void)state;
    ft_trace *trace = tiny_trace(FIG1);
    ft_observe_run(trace);
    ft_checker *checker = ft_checker_new(trace);
    uint32_t steps[] = {0, 1, 2, 3, 8, 9, 10};
    ft_witness witness = {
        .bound = FT_NO_BOUND, .model = CTP, .claim = {.kind = FT_CLAIM_ASSERTION, .events = {11}}};
    witness.steps = steps;
    witness.n_steps = 7;
    ft_reading reading = {0};
    assert_int_equal(ft_checker_check(checker, &witness, &reading, NULL), FT_OK);
    assert_int_equal(reading.n_rows, 8);
    const ft_reading_row *rows = reading.rows;
    assert_int_equal(rows[0].event, 0); /* a := x reads the initial 0 */
    assert_true(rows[0].value_known && rows[0].value.bits == 0 && !rows[0].departs);
    assert_int_equal(rows[0].source, FT_NO_EVENT);
    assert_true(rows[2].value_known && rows[2].value.bits == 2); /* x := 2 + a */
    assert_int_equal(rows[6].source, 2);                         /* assume x > b reads it */
    assert_true(rows[6].departs && rows[6].value.bits == 2);
    assert_true(rows[6].observed_known && rows[6].observed.bits == 1);
    assert_int_equal(rows[7].event, 11); /* assert y = 1 reads the initial 0 */
    assert_true(rows[7].departs && rows[7].value.bits == 0 && rows[7].observed.bits == 1);
    assert_false(rows[1].value_known);
    ft_reading_release(&reading);
    ft_checker_free(checker);
    ft_trace_free(trace);
}

static void test_reading_untouched(void **state)
{
    (void)state;
    ft_trace *trace = tiny_trace(UNVALUED);
    ft_checker *checker = ft_checker_new(trace);
    ft_witness witness = {.bound = FT_NO_BOUND, .claim = {.kind = FT_CLAIM_RACE, .events = {2, 4}}};
    ft_reading reading = {.n_rows = 77};
    ft_error err = FT_ERROR_INIT;
    assert_int_equal(ft_checker_check(checker, &witness, &reading, &err), FT_INPUT);
    assert_int_equal(reading.n_rows, 77);
    assert_non_null(strstr(err.message, "after the last step"));
    ft_checker_free(checker);
    ft_checker_free(NULL);
    ft_trace_free(trace);
}

static void test_unflagged_release(void **state)
{
    (void)state;
    ft_trace *trace = tiny_trace("var x\nmutex l\nT1: rel l\nT1: w x\nT2: w x\n");
    trace->flags[0] = 0;
    ft_observe_run(trace);
    assert_int_equal(trace->broken, 0);
    ft_checker *checker = ft_checker_new(trace);
    uint32_t steps[] = {0};
    ft_witness witness = {
        .bound = FT_NO_BOUND, .claim = {.kind = FT_CLAIM_RACE, .events = {1, 2}}, .steps = steps};
    witness.n_steps = 1;
    ft_error err = FT_ERROR_INIT;
    assert_int_equal(ft_checker_check(checker, &witness, NULL, &err), FT_INPUT);
    assert_non_null(strstr(err.message, "does not hold lock l"));
    ft_checker_free(checker);
    ft_trace_free(trace);
}

/* Without the builder's flags the machine counts the depth itself. */
static void test_unflagged_nesting(void **state)
{
    (void)state;
    ft_trace *trace = tiny_trace("var x\nrec l\nT1: acq l\nT1: acq l\nT1: rel l\nT1: rel l\n"
                                 "T1: w x\nT2: acq l\nT2: w x\n");
    for (uint32_t e = 0; e < 4; e++) trace->flags[e] = 0;
    ft_observe_run(trace);
    assert_int_equal(trace->broken, FT_NO_EVENT);
    ft_checker *checker = ft_checker_new(trace);
    uint32_t early[] = {0, 1, 2, 5}, late[] = {0, 1, 2, 3, 5};
    ft_witness witness = {.bound = FT_NO_BOUND, .claim = {.kind = FT_CLAIM_RACE, .events = {4, 6}}};
    witness.steps = early;
    witness.n_steps = 4;
    ft_error err = FT_ERROR_INIT;
    assert_int_equal(ft_checker_check(checker, &witness, NULL, &err), FT_INPUT);
    assert_non_null(strstr(err.message, "step 4: event 6 (T2: acquire l): lock l is held by T1"));
    witness.steps = late;
    witness.n_steps = 5;
    assert_int_equal(ft_checker_check(checker, &witness, NULL, NULL), FT_OK);
    ft_checker_free(checker);
    ft_trace_free(trace);
}

static void test_hostile_claims(void **state)
{
    (void)state;
    static const struct {
        ft_witness witness;
        const char *message;
    } HOSTILE[] = {
        {{.claim = {.kind = FT_CLAIM_KINDS}}, "unknown kind"},
        {{.model = FT_MODELS, .claim = {.kind = FT_CLAIM_RACE, .events = {0, 1}}}, "unknown model"},
        {{.claim = {.kind = FT_CLAIM_ATOMICITY, .events = {0, 1, 3}, .variable = 99}},
         "unknown variable"},
        {{.claim = {.kind = FT_CLAIM_CONDITION, .condition = 1u << 30}}, "not a Bool"},
        {{.claim = {.kind = FT_CLAIM_CONDITION}}, "not a Bool"},
        {{.claim = {.kind = FT_CLAIM_BEFORE, .avoid = 99}}, "unknown location"},
        {{.claim = {.kind = FT_CLAIM_BEFORE, .events = {FT_NO_EVENT}}}, "does not have"},
    };
    ft_trace *trace = tiny_trace(UNVALUED);
    ft_checker *checker = ft_checker_new(trace);
    for (size_t i = 0; i < sizeof HOSTILE / sizeof *HOSTILE; i++) {
        ft_error err = FT_ERROR_INIT;
        assert_int_equal(ft_checker_check(checker, &HOSTILE[i].witness, NULL, &err), FT_INPUT);
        if (!strstr(err.message, HOSTILE[i].message)) fail_msg("%s", err.message);
    }
    ft_checker_free(checker);
    ft_trace_free(trace);
}

/* Ids of locations differ where the function does; the user names the text. */
static void test_avoid_by_text(void **state)
{
    (void)state;
    ft_trace *trace = tiny_trace("var x\nT1: w x @a.c:1\nT2: w x @a.c:2\nT3: w x @b.c:1\n");
    ft_checker *checker = ft_checker_new(trace);
    uint32_t steps[] = {1};
    ft_witness witness = {
        .bound = FT_NO_BOUND, .claim = {.kind = FT_CLAIM_BEFORE, .events = {2}}, .steps = steps};
    witness.claim.avoid = trace->loc[0];
    witness.n_steps = 1;
    assert_int_equal(ft_checker_check(checker, &witness, NULL, NULL), FT_OK);
    trace->locations[trace->loc[1]].text = "a.c:1";
    assert_int_equal(ft_checker_check(checker, &witness, NULL, NULL), FT_INPUT);
    ft_checker_free(checker);
    ft_trace_free(trace);
}

/* The observed order itself is a feasible run of an unbroken trace, under every model. */
static void test_observed_order(void **state)
{
    (void)state;
    static const char *const TRACES[] = {FIG1, FIG5, FIG7, LOCKED, FORKED, EDGED, UNVALUED, VALUED};
    for (size_t i = 0; i < sizeof TRACES / sizeof *TRACES; i++) {
        ft_trace *trace = tiny_trace(TRACES[i]);
        ft_observe_run(trace);
        assert_int_equal(trace->broken, FT_NO_EVENT);
        ft_checker *checker = ft_checker_new(trace);
        uint32_t steps[MOST];
        for (uint32_t e = 0; e < trace->n_events; e++) steps[e] = e;
        uint32_t last = trace->n_events - 1;
        ft_value no = {FT_BOOL_SORT, 0};
        for (int model = 0; model < FT_MODELS; model++) {
            ft_witness witness = {
                .bound = FT_NO_BOUND, .model = (ft_model)model, .steps = steps, .n_steps = last};
            witness.claim = (ft_claim){.kind = FT_CLAIM_CONDITION, .events = {last}};
            witness.claim.condition = ft_term_literal(trace->terms, no);
            ft_error err = FT_ERROR_INIT;
            if (ft_checker_check(checker, &witness, NULL, &err))
                fail_msg("trace %zu: %s", i, err.message);
        }
        ft_checker_free(checker);
        ft_trace_free(trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_reading_untouched),
        cmocka_unit_test(test_unflagged_release),
        cmocka_unit_test(test_unflagged_nesting),
        cmocka_unit_test(test_hostile_claims),
        cmocka_unit_test(test_avoid_by_text),
        cmocka_unit_test(test_observed_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The independent checker: synchronisation and the claims about it, both polarities. */
#include "check_rows.h"

/* ---- what blocks a step ---------------------------------------------------------------------- */

#define TRIED "var x\nmutex l\nT1: acq l\nT2: nope l\nT2: w x\nT1: w x\nT1: rel l\n" /* 1 .. 5 */
#define READERS(second)                                                                            \
    "var x\nrw l\nT1: acqs l\nT1: w x\nT1: rel l\nT2: " second " l\nT2: w x\nT2: rel l\n"
#define WRITER(second)                                                                             \
    "var x\nrw l\nT1: acq l\nT1: w x\nT1: rel l\nT2: " second " l\nT2: w x\nT2: rel l\n"
/* T1: 1-3, 7-10; T2: 4-6, 11. */
#define WOKEN                                                                                      \
    "var x\nmutex m\ncond c\nT1: acq m\nT1: cwait c\nT1: relc m\nT2: acq m\nT2: sig c\nT2: rel "   \
    "m\n"                                                                                          \
    "T1: cwake c\nT1: acqc m\nT1: w x\nT1: rel m\nT2: w x\n"
/* T1 waits 1, wakes 5, writes 7; T2 waits 2, wakes 6, writes 8; T3 signals 3, 4. */
#define TWO(first, second)                                                                         \
    "var x\ncond c\nT1: cwait c\nT2: cwait c\nT3: " first " c\nT3: " second " c\nT1: cwake c\n"    \
    "T2: cwake c\nT1: w x\nT2: w x\n"
#define ROUND                                                                                      \
    "var x\nbar b 2\nT1: w x\nT1: arr b\nT2: arr b\nT1: leave b\nT2: leave b\nT2: w x\nT1: w x\n"
#define ONCE    "var x\nonce o\nT1: obeg o\nT1: w x\nT1: oend o\nT2: pass o\nT2: r x\nT1: w x\n"
#define UPDATES "var x 0\nT1: rmw x 0 1\nT2: rmw x 1 2\nT2: w x 5\nT3: w x 7\n"
#define GUARDED                                                                                    \
    "var x 0\nvar y 0\nT1: x := 1\nT2: assume (> x 0)\nT2: y := (div 6 x)\nT3: y := 2 if (< x "    \
    "0)\n"

static const check_row STEPS[] = {
    /* ---- attempts */
    {"a try takes a free lock", "var x\nmutex l\nT1: try l\nT1: w x\nT2: w x\n", OBSERVED,
     "race 2 3", "1", FT_OK, NULL},
    {"a try that succeeded needs the lock free",
     "var x\nmutex l\nT1: try l\nT1: w x\nT1: rel l\nT2: try l\nT2: w x\n", OBSERVED, "race 2 5",
     "1 4", BAD("lock l is held by T1")},
    {"a failed attempt while the lock is held", TRIED, OBSERVED, "race 3 4", "1 2", FT_OK, NULL},
    {"a failed attempt before it is held", TRIED, OBSERVED, "race 3 1", "2",
     BAD("step 1: event 2 (T2: try-failed l): lock l is free")},
    {"a failed attempt after it is held", TRIED, OBSERVED, "race 3 1", "1 4 5 2",
     BAD("lock l is free")},
    {"a failed attempt on its own mutex",
     "var x\nmutex l\nT1: acq l\nT1: nope l\nT1: w x\nT2: w x\n", OBSERVED, "race 3 4", "1 2",
     FT_OK, NULL},
    {"a failed attempt on its own error-checking mutex",
     "var x\nchk l\nT1: acq l\nT1: nope l\nT1: w x\nT2: w x\n", OBSERVED, "race 3 4", "1 2", FT_OK,
     NULL},
    {"no failed attempt on its own recursive lock",
     "var x\nrec l\nT1: acq l\nT1: nope l\nT1: w x\nT2: w x\n", OBSERVED, "race 3 4", "1 2",
     BAD("lock l is free")},
    {"a failed attempt has no effect",
     "var x\nmutex l\nT1: acq l\nT2: nope l\nT1: rel l\nT1: acq l\nT1: w x\nT2: w x\n", OBSERVED,
     "race 5 6", "1 2 3 4", FT_OK, NULL},
    /* ---- error-checking mutexes */
    {"the second acquire fails",
     "var x\nchk l\nT1: acq l\nT1: acq l\nT1: rel l\nT1: w x\nT2: acq l\nT2: w x\n", OBSERVED,
     "race 4 6", "1 2 3 5", FT_OK, NULL},
    {"an error-checking mutex excludes",
     "var x\nchk l\nT1: acq l\nT1: w x\nT1: rel l\nT2: acq l\nT2: w x\n", OBSERVED, "race 2 5",
     "1 4", BAD("lock l is held by T1")},
    {"a stranger's release of an error-checking mutex",
     "var x\nchk l\nT1: acq l\nT2: rel l\nT2: acq l\nT2: w x\nT1: w x\nT1: rel l\n", OBSERVED,
     "race 4 5", "1 2 3", BAD("lock l is held by T1")},
    /* ---- read-write locks */
    {"two readers", READERS("acqs"), OBSERVED, "race 2 5", "1 4", FT_OK, NULL},
    {"reader and writer", READERS("acq"), OBSERVED, "race 2 5", "1 4",
     BAD("lock l is held for reading")},
    {"writer and reader", WRITER("acqs"), OBSERVED, "race 2 5", "1 4", BAD("lock l is held by T1")},
    {"two writers", WRITER("acq"), OBSERVED, "race 2 5", "1 4", BAD("lock l is held by T1")},
    {"inner release of a reader",
     "var x\nrw l\nT1: acqs l\nT1: acqs l\nT1: rel l\nT1: w x\nT1: rel l\nT2: acq l\nT2: w x\n",
     OBSERVED, "race 4 7", "1 2 3 6", BAD("lock l is held for reading")},
    {"outer release of a reader",
     "var x\nrw l\nT1: acqs l\nT1: acqs l\nT1: rel l\nT1: rel l\nT1: w x\nT2: acq l\nT2: w x\n",
     OBSERVED, "race 5 7", "1 2 3 4 6", FT_OK, NULL},
    {"one reader of two goes",
     "var x\nrw l\nT1: acqs l\nT2: acqs l\nT1: rel l\nT2: rel l\nT3: acq l\nT3: w x\nT1: w x\n",
     OBSERVED, "race 6 7", "1 2 3 5", BAD("lock l is held for reading")},
    {"both readers go",
     "var x\nrw l\nT1: acqs l\nT2: acqs l\nT1: rel l\nT2: rel l\nT3: acq l\nT3: w x\nT1: w x\n",
     OBSERVED, "race 6 7", "1 2 3 4 5", FT_OK, NULL},
    {"a reader that wants to write", "var x\nrw l\nT1: acqs l\nT1: acq l\nT1: w x\nT2: w x\n",
     OBSERVED, "race 3 4", "1 2", BAD("held for reading by its own thread")},
    {"a writer that wants to read", "var x\nrw l\nT1: acq l\nT1: acqs l\nT1: w x\nT2: w x\n",
     OBSERVED, "race 3 4", "1 2", BAD("lock l is held by T1")},
    {"a failed attempt to write beside a reader",
     "var x\nrw l\nT1: acqs l\nT2: nope l\nT2: w x\nT1: w x\n", OBSERVED, "race 3 4", "1 2", FT_OK,
     NULL},
    {"no failed attempt to read beside a reader",
     "var x\nrw l\nT1: acqs l\nT2: nopes l\nT2: w x\nT1: w x\n", OBSERVED, "race 3 4", "1 2",
     BAD("lock l is free")},
    {"a failed attempt to read beside a writer",
     "var x\nrw l\nT1: acq l\nT2: nopes l\nT2: w x\nT1: w x\n", OBSERVED, "race 3 4", "1 2", FT_OK,
     NULL},
    /* ---- condition variables */
    {"woken", WOKEN, OBSERVED, "race 9 11", "1 2 3 4 5 6 7 8", FT_OK, NULL},
    {"the signal is lost", WOKEN, OBSERVED, "race 9 11", "4 5 6 1 2 3 7",
     BAD("step 7: event 7 (T1: cond-wake c): nothing woke its thread")},
    {"no signal yet", WOKEN, OBSERVED, "race 9 4", "1 2 3 7", BAD("nothing woke its thread")},
    {"it wakes by itself", WOKEN, OBSERVED, "spurious race 9 11", "4 5 6 1 2 3 7 8", FT_OK, NULL},
    {"the signal of the run", WOKEN, OBSERVED, "pairs race 9 11", "1 2 3 4 5 6 7 8", FT_OK, NULL},
    {"one signal for two", TWO("sig", "sig"), OBSERVED, "race 7 8", "1 2 3 5 6",
     BAD("step 5: event 6 (T2: cond-wake c): nothing woke")},
    {"two signals for two", TWO("sig", "sig"), OBSERVED, "race 7 8", "1 2 3 4 5 6", FT_OK, NULL},
    {"a broadcast for two", TWO("bro", "sig"), OBSERVED, "race 7 8", "1 2 3 5 6", FT_OK, NULL},
    {"a broadcast before one of them", TWO("bro", "sig"), OBSERVED, "race 7 8", "1 3 2 5 6",
     BAD("nothing woke")},
    {"a signal wakes any of them", TWO("sig", "sig"), OBSERVED, "co 8 4", "1 2 3 6", FT_OK, NULL},
    {"a signal wakes one of two", TWO("sig", "sig"), OBSERVED, "co 5 6", "1 2 3",
     BAD("nothing woke its thread")},
    {"each by a signal of its own", TWO("sig", "sig"), OBSERVED, "co 5 6", "1 2 3 4", FT_OK, NULL},
    {"both by a broadcast", TWO("bro", "sig"), OBSERVED, "co 5 6", "1 2 3", FT_OK, NULL},
    {"the second signal's waiter", TWO("sig", "sig"), OBSERVED, "pairs co 8 4", "1 2 3 6",
     BAD("nothing woke")},
    {"the first goes on by the first signal", TWO("sig", "sig"), OBSERVED, "race 7 8",
     "1 3 2 4 5 6", FT_OK, NULL},
    {"the second goes on by the second signal", TWO("sig", "sig"), OBSERVED, "race 7 8",
     "1 3 2 4 6 5", FT_OK, NULL},
    {"a signal before the wait", TWO("sig", "sig"), OBSERVED, "race 8 4", "1 3 2 6",
     BAD("nothing woke")},
    {"its time is up", "var x\ncond c\nT1: cwait c\nT1: late c\nT1: w x\nT2: w x\n", OBSERVED,
     "race 3 4", "1 2", FT_OK, NULL},
    {"a wake-up without a wait", "var x\ncond c\nT1: cwake c\nT1: w x\nT2: sig c\nT2: w x\n",
     OBSERVED, "race 2 4", "3 1", BAD("its thread does not wait on c")},
    {"even a late or spurious one", "var x\ncond c\nT1: late c\nT1: w x\nT2: sig c\nT2: w x\n",
     OBSERVED, "spurious race 2 4", "3 1", BAD("its thread does not wait on c")},
    {"a second wake-up of one wait",
     "var x\ncond c\nT1: cwait c\nT2: sig c\nT2: sig c\nT1: cwake c\nT1: cwake c\nT1: w x\nT2: w "
     "x\n",
     OBSERVED, "race 6 7", "1 2 3 4 5", BAD("step 5: event 5 (T1: cond-wake c): its thread does")},
    {"another condition's signal",
     "var x\ncond c\ncond d\nT1: cwait c\nT2: sig d\nT2: sig c\nT1: cwake c\nT1: w x\nT2: w x\n",
     OBSERVED, "race 5 3", "1 2 4", BAD("nothing woke")},
    /* ---- barriers, once */
    {"round complete", ROUND, OBSERVED, "race 6 7", "1 2 3 4 5", FT_OK, NULL},
    {"round incomplete", ROUND, OBSERVED, "race 1 6", "3 5",
     BAD("its round of barrier b has arrivals still to come")},
    {"an arrival of the next round",
     "var x\nbar b 2\nT1: arr b\nT2: arr b\nT3: arr b\nT3: w x\nT4: w x\nT4: arr b\n", OBSERVED,
     "race 4 5", "3", BAD("the round before of barrier b")},
    {"an arrival after the round",
     "var x\nbar b 2\nT1: arr b\nT2: arr b\nT3: arr b\nT3: w x\nT4: w x\nT4: arr b\n", OBSERVED,
     "race 4 5", "1 2 3", FT_OK, NULL},
    {"a round that never completes", "var x\nbar b 2\nT1: arr b\nT1: leave b\nT1: w x\nT2: w x\n",
     OBSERVED, "race 3 4", "1 2", BAD("its round of barrier b")},
    {"a leave without an arrival", "var x\nbar b 1\nT1: leave b\nT1: w x\nT2: arr b\nT2: w x\n",
     OBSERVED, "race 2 4", "3 1", BAD("its round of barrier b")},
    {"initialised", ONCE, OBSERVED, "race 5 6", "1 2 3 4", FT_OK, NULL},
    {"being initialised", ONCE, OBSERVED, "race 2 5", "1 4",
     BAD("the initialiser of o has not ended")},
    {"never initialised", "var x\nonce o\nT1: pass o\nT1: w x\nT2: w x\n", OBSERVED, "race 2 3",
     "1", BAD("the initialiser of o has not ended")},
    /* ---- updates */
    {"two updates", UPDATES, OBSERVED, "race 1 2", "", BAD("both events are atomic")},
    {"update and write", UPDATES, OBSERVED, "race 1 4", "", FT_OK, NULL},
    {"an update reads another write", UPDATES, OBSERVED, "race 3 4", "2",
     BAD("another write than in the observed run")},
    {"an update reads another value", UPDATES, MAXIMAL, "race 3 1", "4 2",
     BAD("another value than in the observed run")},
    {"an update keeps its value under ctp", UPDATES, CTP, "race 3 1", "2",
     BAD("does not return what it returned")},
    {"an update reads the same value from another write",
     "var x 0\nT1: rmw x 0 1\nT2: rmw x 1 2\nT2: w x 5\nT3: w x 1\n", MAXIMAL, "race 3 1", "4 2",
     FT_OK, NULL},
    {"an update without values keeps its source",
     "var x 0\nT1: w x 1\nT2: rmw x\nT2: w x 5\nT3: w x 1\n", MAXIMAL, "race 3 1", "4 2",
     BAD("another value than in the observed run")},
    {"a read sees what the update wrote",
     "var x 0\nT1: rmw x 0 1\nT2: r x 1\nT2: w x 3\nT3: w x 4\n", MAXIMAL, "race 3 4", "1 2", FT_OK,
     NULL},
    /* ---- control */
    {"control: a failing assume is passed", GUARDED, CONTROL, "race 3 1", "2", FT_OK, NULL},
    {"ctp: it is not", GUARDED, CTP, "race 3 1", "2", BAD("its condition is false")},
    {"control: undefined terms and false guards race", GUARDED, CONTROL, "race 3 4", "2", FT_OK,
     NULL},
    {"control: reads are free", UPDATES, CONTROL, "race 3 1", "2", FT_OK, NULL},
    {"control: locks count", READERS("acq"), CONTROL, "race 2 5", "1 4",
     BAD("lock l is held for reading")},
    {"control: failed attempts count", TRIED, CONTROL, "race 3 1", "2", BAD("lock l is free")},
    {"control: an assertion may fail", "var x 0\nT1: assert (= x 0)\n", CONTROL, "assert 1", "",
     FT_OK, NULL},
    {"ctp: it does not", "var x 0\nT1: assert (= x 0)\n", CTP, "assert 1", "",
     BAD("the condition holds")},
    {"control: a constant does not fail", "var x 0\nT1: assert true\n", CONTROL, "assert 1", "",
     BAD("the condition is constant")},
    /* ---- context bound */
    {"within the bound", TRIED, OBSERVED, "bound=3 race 3 4", "1 2", FT_OK, NULL},
    {"two switches at least", TRIED, OBSERVED, "bound=1 race 3 4", "1 2",
     BAD("has 2 context switches; the bound is 1")},
    {"racing accesses in their best order", TRIED, OBSERVED, "bound=2 race 4 3", "1 2", FT_OK,
     NULL},
    {"no step, one switch", UPDATES, OBSERVED, "bound=1 race 1 4", "", FT_OK, NULL},
    {"no step, no switch allowed", UPDATES, OBSERVED, "bound=0 race 1 4", "",
     BAD("has 1 context switches; the bound is 0")},
};

/* ---- claims ---------------------------------------------------------------------------------- */

#define CROSSED(hold, ask)                                                                         \
    "mutex a\nmutex b\nrw r\nrw q\nT1: " hold " a\nT1: " ask " b\nT1: rel b\nT1: rel a\nT2: " hold \
    " b\nT2: " ask " a\nT2: rel a\nT2: rel b\n"
#define CROSSED_RW(ask)                                                                            \
    "rw a\nrw b\nT1: acqs a\nT1: " ask " b\nT1: rel b\nT1: rel a\nT2: acqs b\nT2: " ask            \
    " a\nT2: rel a\nT2: rel b\n"
/* Requests 2, 6, 10 of b, c, a. */
#define RING                                                                                       \
    "mutex a\nmutex b\nmutex c\nT1: acq a\nT1: acq b\nT1: rel b\nT1: rel a\nT2: acq b\nT2: acq "   \
    "c\n"                                                                                          \
    "T2: rel c\nT2: rel b\nT3: acq c\nT3: acq a\nT3: rel a\nT3: rel c\n"
#define SLEEP  "cond c\nT1: cwait c\nT2: sig c\nT1: cwake c\n"
#define SLEEP2 "cond c\nT1: cwait c\nT2: cwait c\nT3: sig c\nT1: cwake c\nT3: sig c\nT2: cwake c\n"
/* T1 is late twice; T2 goes on twice; T3 is to sleep. */
#define NAPS                                                                                       \
    "cond c\nT1: cwait c\nT2: cwait c\nT3: cwait c\nT4: sig c\nT1: late c\nT4: sig c\nT2: cwake "  \
    "c\n"                                                                                          \
    "T1: cwait c\nT2: cwait c\nT4: sig c\nT1: late c\nT2: cwake c\nT3: cwake c\n"
#define SEMAPHORES                                                                                 \
    "sem a 1\nsem b 1\nT1: wait a\nT1: wait b\nT1: post b\nT1: post a\nT2: wait b\nT2: wait a\n"   \
    "T2: post a\nT2: post b\n"
#define JOINED(ask)                                                                                \
    "mutex l\nT1: fork T2\nT2: " ask " l\nT2: rel l\nT1: acq l\nT1: join T2\nT1: rel l\n"
#define MEETING                                                                                    \
    "mutex l\nbar b 2\nT2: acq l\nT2: rel l\nT2: arr b\nT1: acq l\nT1: arr b\nT1: leave b\n"       \
    "T1: rel l\nT2: leave b\n"
#define FREED                                                                                      \
    "var x\nvar y\nblock m x\nT1: alloc m\nT2: r x\nT2: r y\nT1: free m\nT1: alloc m\nT2: free "   \
    "m\n"
/* T1's second request, and T3, are for what the others do not have. */
#define ONCE_LOCK                                                                                  \
    "mutex m\nmutex n\nonce o\nT1: obeg o\nT1: acq m\nT1: rel m\nT1: oend o\nT2: acq m\n"          \
    "T2: pass o\nT2: rel m\nT1: acq m\nT3: acq n\n"
#define ONCE_JOIN                                                                                  \
    "mutex m\nonce o\nT1: fork T2\nT1: obeg o\nT1: join T2\nT1: oend o\nT4: begin\nT2: acq m\n"    \
    "T2: rel m\nT4: end\nT3: acq m\nT3: pass o\n"
#define ONCE_WAIT  "sem s 0\nonce o\nT1: obeg o\nT1: wait s\nT1: oend o\nT2: pass o\n"
#define ONCE_LATE  "sem s 0\nonce o\nT1: wait s\nT1: obeg o\nT1: oend o\nT2: pass o\n"
#define FREE_GUARD "var x 0\nvar g 0\nblock m x\nT1: alloc m\nT2: x := 1 if (> g 0)\nT1: free m\n"

static const check_row CLAIMS[] = {
    /* ---- lock errors */
    {"a mutex taken twice", "mutex l\nT1: acq l\nT1: acq l\n", OBSERVED, "lock 2", "1", FT_OK,
     NULL},
    {"not next", "mutex l\nT1: acq l\nT1: acq l\n", OBSERVED, "lock 2", "",
     BAD("event 1 comes before")},
    {"the first acquire", "mutex l\nT1: acq l\nT1: acq l\n", OBSERVED, "lock 1", "",
     BAD("it is not a lock error there")},
    {"a recursive lock taken twice", "rec l\nT1: acq l\nT1: acq l\n", OBSERVED, "lock 2", "1",
     BAD("it is not a lock error there")},
    {"an error-checking mutex taken twice", "chk l\nT1: acq l\nT1: acq l\n", OBSERVED, "lock 2",
     "1", FT_OK, NULL},
    {"taken again after its release", "chk l\nT1: acq l\nT1: rel l\nT1: acq l\n", OBSERVED,
     "lock 3", "1 2", BAD("it is not a lock error there")},
    {"a reader that wants to write", "rw l\nT1: acqs l\nT1: acq l\n", OBSERVED, "lock 2", "1",
     FT_OK, NULL},
    {"a writer that wants to read", "rw l\nT1: acq l\nT1: acqs l\n", OBSERVED, "lock 2", "1", FT_OK,
     NULL},
    {"a reader that reads on", "rw l\nT1: acqs l\nT1: acqs l\n", OBSERVED, "lock 2", "1",
     BAD("it is not a lock error there")},
    {"a try of its own mutex", "mutex l\nT1: acq l\nT1: try l\n", OBSERVED, "lock 2", "1",
     BAD("it is not a lock error there")},
    {"another thread's lock", "mutex l\nT1: acq l\nT1: rel l\nT2: acq l\n", OBSERVED, "lock 3", "1",
     BAD("it is not a lock error there")},
    {"a stranger's release", "mutex l\nT1: rel l\n", OBSERVED, "lock 1", "", FT_OK, NULL},
    {"a second release", "rw l\nT1: acqs l\nT1: rel l\nT1: rel l\n", OBSERVED, "lock 3", "1 2",
     FT_OK, NULL},
    {"a release", "mutex l\nT1: acq l\nT1: rel l\n", OBSERVED, "lock 2", "1",
     BAD("it is not a lock error there")},
    {"no lock at all", "var x\nT1: w x\n", OBSERVED, "lock 1", "",
     BAD("it is not a lock error there")},
    /* ---- cycles */
    {"two locks crossed", CROSSED("acq", "acq"), OBSERVED, "dead 2 6", "1 5", FT_OK, NULL},
    {"only one is held", CROSSED("acq", "acq"), OBSERVED, "dead 2 6", "1", BAD("its lock is free")},
    {"one went on", CROSSED("acq", "acq"), OBSERVED, "dead 2 6", "1 2 3 4 5",
     BAD("executed already")},
    {"held by a try", CROSSED("try", "acq"), OBSERVED, "dead 2 6", "1 5", FT_OK, NULL},
    {"a try asks for nothing", CROSSED("acq", "try"), OBSERVED, "dead 2 6", "1 5",
     BAD("one of its events is not a request")},
    {"readers that want to write", CROSSED_RW("acq"), OBSERVED, "dead 2 6", "1 5", FT_OK, NULL},
    {"readers that want to read", CROSSED_RW("acqs"), OBSERVED, "dead 2 6", "1 5",
     BAD("its lock is free")},
    {"a ring of three", RING, OBSERVED, "dead 2 6 10", "1 5 9", FT_OK, NULL},
    {"the ring turned", RING, OBSERVED, "dead 10 2 6", "9 1 5", FT_OK, NULL},
    {"the ring the wrong way round", RING, OBSERVED, "dead 2 10 6", "1 5 9",
     BAD("the thread of the next request does not hold its lock")},
    {"a part of the ring", RING, OBSERVED, "dead 2 6", "1 5 9", BAD("does not hold its lock")},
    {"one request", RING, OBSERVED, "dead 2", "1", BAD("two requests or more")},
    {"one thread", RING, OBSERVED, "dead 1 2", "",
     BAD("two of its events belong to the same thread")},
    {"the best order of a ring", RING, OBSERVED, "bound=4 dead 2 6 10", "1 5 9", FT_OK, NULL},
    {"fewer switches than a ring takes", RING, OBSERVED, "bound=3 dead 2 6 10", "1 5 9",
     BAD("has 4 context switches; the bound is 3")},
    {"a lock and an initialiser", ONCE_LOCK, OBSERVED, "dead 2 6", "1 5", FT_OK, NULL},
    {"the initialiser was not begun", ONCE_LOCK, OBSERVED, "dead 2 6", "5",
     BAD("event 1 comes before")},
    {"the initialiser is done", ONCE_LOCK, OBSERVED, "dead 8 6", "1 2 3 4 5",
     BAD("its initialiser has ended")},
    {"another's initialiser", ONCE_LOCK, OBSERVED, "dead 6 9", "1 5",
     BAD("does not run its initialiser")},
    {"an initialiser that joins", ONCE_JOIN, OBSERVED, "dead 3 6 10", "1 2 5 9", FT_OK, NULL},
    {"a join of another thread", ONCE_JOIN, OBSERVED, "dead 3 10", "1 2 9",
     BAD("the next request is not its child's")},
    /* ---- threads that wait for ever */
    {"before an initialiser that is under way", ONCE_WAIT, OBSERVED, "stuck 2", "1", FT_OK, NULL},
    {"before an initialiser that nobody began", ONCE_LATE, OBSERVED, "stuck 1", "",
     BAD("event 4 (T2: once-pass o): its thread is not blocked there")},
    {"a lost wake-up", SLEEP, OBSERVED, "stuck 3", "2 1", FT_OK, NULL},
    {"the signal woke it", SLEEP, OBSERVED, "stuck 3", "1 2", BAD("would have woken")},
    {"the signal may still come", SLEEP, OBSERVED, "stuck 3", "1",
     BAD("event 2 (T2: signal c): its thread is not blocked there")},
    {"a broadcast woke it", "cond c\nT1: cwait c\nT2: bro c\nT1: cwake c\n", OBSERVED, "stuck 3",
     "1 2", BAD("would have woken")},
    {"a lost broadcast", "cond c\nT1: cwait c\nT2: bro c\nT1: cwake c\n", OBSERVED, "stuck 3",
     "2 1", FT_OK, NULL},
    {"whose time is up is not stuck", "cond c\nT1: cwait c\nT2: sig c\nT1: late c\n", OBSERVED,
     "stuck 3", "2 1", BAD("not blocked")},
    {"who would have gone on is not stuck", "cond c\nT1: cwait c\nT2: sig c\nT1: twake c\n",
     OBSERVED, "stuck 3", "2 1", BAD("not blocked")},
    {"nor who would have given a semaphore up",
     "sem a 1\nsem b 1\nT1: wait a\nT1: twait b\nT1: post b\nT1: post a\nT2: wait b\nT2: wait a\n",
     OBSERVED, "stuck 2", "1 5", BAD("not blocked")},
    {"nor who would have given a thread up",
     "mutex l\nT1: fork T2\nT2: acq l\nT2: rel l\nT1: acq l\nT1: tjoin T2\nT1: rel l\n", OBSERVED,
     "stuck 5", "1 4", BAD("not blocked")},
    {"nor that, where a branch is open",
     "sem s 1\nT1: fork T2\nT2: wait s\nT2: post s\nT1: tjoin T2\nT3: if (> 1 0)\nT3: end-if\n"
     "T3: wait s\n",
     CTP, "stuck 2", "1 5 6 7", BAD("event 4 (T1: try-join T2): its thread is not blocked there")},
    {"who joins it is",
     "sem s 1\nT1: fork T2\nT2: wait s\nT2: post s\nT1: join T2\nT3: if (> 1 0)\nT3: end-if\n"
     "T3: wait s\n",
     CTP, "stuck 2", "1 5 6 7", FT_OK, NULL},
    {"who wakes by itself is not stuck", SLEEP, OBSERVED, "spurious stuck 3", "2 1",
     BAD("not blocked")},
    {"both signals came too early for the second", SLEEP2, OBSERVED, "stuck 6", "1 3 5 2 4", FT_OK,
     NULL},
    {"the second signal finds the second waiter", SLEEP2, OBSERVED, "stuck 6", "1 2 3 4 5",
     BAD("would have woken")},
    {"the first signal had to wake the first waiter", SLEEP2, OBSERVED, "stuck 6", "1 3 2 5 4",
     BAD("would have woken")},
    {"both sleep", SLEEP2, OBSERVED, "stuck 6", "3 5 1 2", FT_OK, NULL},
    {"one signal, two sleepers", SLEEP2, OBSERVED, "stuck 6", "3 1 2 5", BAD("would have woken")},
    {"the late one took the signal",
     "cond c\nT1: cwait c\nT2: cwait c\nT3: sig c\nT1: late c\nT2: cwake c\n", OBSERVED, "stuck 5",
     "1 2 3 4", FT_OK, NULL},
    {"the late one was gone",
     "cond c\nT1: cwait c\nT2: cwait c\nT3: sig c\nT1: late c\nT2: cwake c\n", OBSERVED, "stuck 5",
     "1 2 4 3", BAD("would have woken")},
    {"the late one first, then who needs it", NAPS, OBSERVED, "stuck 13",
     "1 2 3 4 5 6 7 8 9 10 11 12", FT_OK, NULL},
    {"a signal to spare is one too many", NAPS, OBSERVED, "stuck 13", "1 2 3 4 5 7 6 8 9 10 11 12",
     BAD("would have woken")},
    {"its own signal came too early", "cond c\nT1: cwait c\nT2: sig c\nT1: cwake c\nT3: sig c\n",
     OBSERVED, "pairs stuck 3", "2 1 4", FT_OK, NULL},
    {"any signal wakes it", "cond c\nT1: cwait c\nT2: sig c\nT1: cwake c\nT3: sig c\n", OBSERVED,
     "stuck 3", "2 1 4", BAD("would have woken")},
    {"semaphores crossed", SEMAPHORES, OBSERVED, "stuck 2", "1 5", FT_OK, NULL},
    {"one semaphore is free", SEMAPHORES, OBSERVED, "stuck 2", "1", BAD("not blocked")},
    {"a join of a thread that waits for the joiner's lock", JOINED("acq"), OBSERVED, "stuck 5",
     "1 4", FT_OK, NULL},
    {"a join of a thread that only tries", JOINED("try"), OBSERVED, "stuck 5", "1 4",
     BAD("not blocked")},
    {"a join of a thread that can go on", JOINED("acq"), OBSERVED, "stuck 5", "1 4 5",
     BAD("has not ended")},
    {"who waits for a stuck thread is no finding of its own",
     "sem s 0\nT1: fork T2\nT1: fork T3\nT3: post s\nT3: wait s\nT3: post s\nT2: wait s\nT1: join "
     "T2\n",
     OBSERVED, "stuck 7", "1 2 3 6", BAD("not blocked")},
    {"that thread is",
     "sem s 0\nsem q 1\nT1: fork T2\nT2: wait q\nT2: post s\nT2: wait s\nT1: join T2\nT3: wait q\n",
     OBSERVED, "stuck 5", "1 6", BAD("waits for something other than")},
    {"a round without its last arrival", MEETING, OBSERVED, "stuck 6", "4 5", FT_OK, NULL},
    {"a round whose last arrival can come", MEETING, OBSERVED, "stuck 6", "1 2 4 5",
     BAD("event 3 (T2: barrier-arrive b): its thread is not blocked")},
    {"an acquire is no wait of this kind", JOINED("acq"), OBSERVED, "stuck 2", "1 4",
     BAD("does not wait for another thread")},
    {"control: a lost wake-up", SLEEP, CONTROL, "stuck 3", "2 1", FT_OK, NULL},
    /* ---- memory */
    {"use after free", FREED, OBSERVED, "free 4 2", "1 4", FT_OK, NULL},
    {"not freed yet", FREED, OBSERVED, "free 4 2", "1", BAD("not the block's last alloc or free")},
    {"allocated again", FREED, OBSERVED, "free 4 2", "1 4 5",
     BAD("not the block's last alloc or free")},
    {"a variable elsewhere", FREED, OBSERVED, "free 4 3", "1 2 4",
     BAD("it does not use the block")},
    {"freed twice", FREED, OBSERVED, "free 4 6", "1 2 3 4", FT_OK, NULL},
    {"another block freed", "var x\nblock m x\nblock n x\nT1: alloc m\nT1: free m\nT2: free n\n",
     OBSERVED, "free 2 3", "1 2", BAD("it frees another block")},
    {"an alloc is no free", FREED, OBSERVED, "free 1 2", "1", BAD("its first event is not a free")},
    {"a use that does not happen", FREE_GUARD, CTP, "free 3 2", "1 3",
     BAD("its access does not take place")},
    {"control: it may", FREE_GUARD, CONTROL, "free 3 2", "1 3", FT_OK, NULL},
    {"an update uses it", "var x 0\nblock m x\nT1: alloc m\nT2: rmw x 0 1\nT1: free m\n", MAXIMAL,
     "free 3 2", "1 3", FT_OK, NULL},
    {"read before its first write", "var p\nT1: w p\nT2: r p\n", OBSERVED, "uninit p 2", "", FT_OK,
     NULL},
    {"written before", "var p\nT1: w p\nT2: r p\n", OBSERVED, "uninit p 2", "1",
     BAD("was written before")},
    {"written by an update before", "var p\nT1: rmw p\nT2: r p\n", OBSERVED, "uninit p 2", "1",
     BAD("was written before")},
    {"its initial value is declared", "var p 0\nT1: w p 1\nT2: r p 1\n", OBSERVED, "uninit p 2", "",
     BAD("has an initial value")},
    {"a write reads nothing", "var p\nT1: w p\nT2: r p\n", OBSERVED, "uninit p 1", "",
     BAD("does not take place")},
    {"written before its block was allocated",
     "var p\nblock m p\nT1: w p\nT1: alloc m\nT1: w p\nT2: r p\n", OBSERVED, "uninit p 4", "1 2",
     FT_OK, NULL},
    {"written since its block was allocated",
     "var p\nblock m p\nT1: w p\nT1: alloc m\nT1: w p\nT2: r p\n", OBSERVED, "uninit p 4", "1 2 3",
     BAD("was written before")},
};

static void run_rows(const check_row *rows, size_t count)
{
    int bad = 0;
    for (size_t i = 0; i < count; i++) bad += !run_row(&rows[i]);
    assert_int_equal(bad, 0);
}

static void test_steps(void **state)
{
    (void)state;
    run_rows(STEPS, sizeof STEPS / sizeof *STEPS);
}

static void test_claims(void **state)
{
    (void)state;
    run_rows(CLAIMS, sizeof CLAIMS / sizeof *CLAIMS);
}

/* ---- the observed run ------------------------------------------------------------------------ */

static const struct {
    const char *trace;
    uint32_t broken;  /* 1-based, 0: the run is explained */
    const char *text; /* part of why */
} RUNS[] = {
    {WOKEN, 0, NULL},
    {TWO("sig", "sig"), 0, NULL},
    {ROUND, 0, NULL},
    {ONCE, 0, NULL},
    {UPDATES, 0, NULL},
    {TRIED, 0, NULL},
    {NAPS, 0, NULL},
    {FREED, 0, NULL},
    {READERS("acqs"), 0, NULL},
    {"chk l\nT1: acq l\nT1: acq l\nT1: rel l\nT1: rel l\n", 0, NULL},
    {"cond c\nT1: cwait c\nT1: cwake c\n", 2, "nothing woke its thread"},
    {"cond c\nT2: sig c\nT1: cwait c\nT1: cwake c\n", 3, "nothing woke its thread"},
    {"cond c\nT2: sig c\nT1: cwake c\n", 2, "does not wait"},
    {"cond c\nT1: cwait c\nT1: late c\n", 0, NULL},
    {"bar b 2\nT1: arr b\nT1: leave b\nT2: arr b\n", 2, "its round of barrier b"},
    {"bar b 1\nT1: leave b\n", 1, "its round of barrier b"},
    {"once o\nT1: pass o\nT2: obeg o\nT2: oend o\n", 1, "has not ended"},
    {"once o\nT1: obeg o\nT1: oend o\nT2: obeg o\n", 3, "begun before"},
    {"once o\nT1: obeg o\nT2: oend o\n", 2, "began it"},
    {"once o\nT1: oend o\n", 1, "began it"},
    {"mutex l\nT1: nope l\n", 1, "lock l is free"},
    {"rw l\nT1: acqs l\nT2: nopes l\nT1: rel l\n", 2, "lock l is free"},
    {"mutex l\nT1: acq l\nT1: try l\n", 2, "lock l is held by T1"},
    {"chk l\nT1: acq l\nT1: try l\n", 2, "lock l is held by T1"},
    {"rw l\nT1: acqs l\nT2: acq l\nT2: rel l\nT1: rel l\n", 2, "held for reading"},
    {"var x 0\nT1: rmw x 1 2\n", 1, "no write explains the value"},
    {"var x 0\nT1: rmw x 0 2\nT2: r x 2\nT2: rmw x 2 3\n", 0, NULL},
    {"var x 0\nT1: rmw x 0 2\nT2: r x 0\n", 2, "the variable holds 2"},
};

static void test_observed_runs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof RUNS / sizeof *RUNS; i++) {
        ft_trace *trace = tiny_trace(RUNS[i].trace);
        ft_observe_run(trace);
        uint32_t broken = trace->broken == FT_NO_EVENT ? 0 : trace->broken + 1;
        if (broken != RUNS[i].broken || (RUNS[i].text && !strstr(trace->broken_text, RUNS[i].text)))
            fail_msg("%s: broken at %u: %s", RUNS[i].trace, broken,
                     trace->broken_text ? trace->broken_text : "not at all");
        ft_trace_free(trace);
    }
}

/* An update's value is a first read: what it read was there at the start. */
static void test_initial_value_of_update(void **state)
{
    (void)state;
    ft_trace *trace = tiny_trace("var x\nvar y\nT1: rmw x 4 5\nT1: rmw y\nT1: r y 3\n");
    ft_observe_run(trace);
    assert_int_equal(trace->values[trace->shared_info[0].initial].bits, 4);
    assert_int_equal(trace->shared_info[1].initial, FT_NO_VALUE);
    ft_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_claims),
        cmocka_unit_test(test_observed_runs),
        cmocka_unit_test(test_initial_value_of_update),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

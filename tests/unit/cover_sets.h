/* Sets with a dynamic input, written by hand: two threads that take one lock, in an order that the
 * input of the first decides. */
#ifndef FT_TESTS_COVER_SETS_H
#define FT_TESTS_COVER_SETS_H

/* The input is read before the lock, or behind it. */
#define COVER_READS_FIRST "late p:1; T { read _a p; lock 0; unlock 0; } T { lock 0; unlock 0; }"
#define COVER_READS_LATE  "late p:1; T { lock 0; unlock 0; read _a p; } T { lock 0; unlock 0; }"
/* The same, but that a thread which only waits reads it. */
#define COVER_OTHER_READS                                                                          \
    "late p:1; T { lock 0; unlock 0; } T { lock 0; unlock 0; } M { create 1; create 2; read _a p;" \
    " join 1; join 2; }"

#define COVER_PARTS(thread)                                                                        \
    "schedules 1\nprefix yes\ninput p 1 \"p\" " thread " 1 dynamic\nepoch entry\n"                 \
    "if p\n  take a\nelse\n  take b\n"                                                             \
    "schedule a exited\n  0:1 begin\n  0:2 create 0.1\n  0:3 create 0.2\n"                         \
    "  0.1:1 begin after 0:2\n  0.1:2 lock @locks+0\n  0.1:3 unlock @locks+0\n  0.1:4 end\n"       \
    "  0.2:1 begin after 0:3\n  0.2:2 lock @locks+0 after 0.1:3\n  0.2:3 unlock @locks+0\n"        \
    "  0.2:4 end\n  0:4 join 0.1 after 0.1:4\n  0:5 join 0.2 after 0.2:4\n  0:6 exit\n"            \
    "schedule b exited\n  0:1 begin\n  0:2 create 0.1\n  0:3 create 0.2\n"                         \
    "  0.2:1 begin after 0:3\n  0.2:2 lock @locks+0\n  0.2:3 unlock @locks+0\n  0.2:4 end\n"       \
    "  0.1:1 begin after 0:2\n  0.1:2 lock @locks+0 after 0.2:3\n  0.1:3 unlock @locks+0\n"        \
    "  0.1:4 end\n  0:4 join 0.1 after 0.1:4\n  0:5 join 0.2 after 0.2:4\n  0:6 exit\n"

/* The same schedules in an epoch that begins before a marker of the first thread. */
#define COVER_LATER_PARTS                                                                          \
    "if p\n  take a\nelse\n  take b\nschedule a exited\n"                                          \
    "  0:1 atomic_load 0@foretell_marker_cell+0\n  0:2 create 0.1\n  0:3 create 0.2\n"             \
    "  0.1:1 begin after 0:2\n  0.1:2 lock @locks+0\n  0.1:3 unlock @locks+0\n  0.1:4 end\n"       \
    "  0.2:1 begin after 0:3\n  0.2:2 lock @locks+0 after 0.1:3\n  0.2:3 unlock @locks+0\n"        \
    "  0.2:4 end\n  0:4 join 0.1 after 0.1:4\n  0:5 join 0.2 after 0.2:4\n  0:6 exit\n"            \
    "schedule b exited\n"                                                                          \
    "  0:1 atomic_load 0@foretell_marker_cell+0\n  0:2 create 0.1\n  0:3 create 0.2\n"             \
    "  0.2:1 begin after 0:3\n  0.2:2 lock @locks+0\n  0.2:3 unlock @locks+0\n  0.2:4 end\n"       \
    "  0.1:1 begin after 0:2\n  0.1:2 lock @locks+0 after 0.2:3\n  0.1:3 unlock @locks+0\n"        \
    "  0.1:4 end\n  0:4 join 0.1 after 0.1:4\n  0:5 join 0.2 after 0.2:4\n  0:6 exit\n"

#endif

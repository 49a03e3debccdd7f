/* A worker that misbehaves on command: the test program itself, started again by the dispatcher
 * with FT_FAKE_WORKER in its environment (a folder for its marks).
 *
 * An upload's first word, a job's "plan_does" and the last part of a subproblem's key say what it
 * does; whatever has "once" in its name is done the first time only, then answered in order. */
#ifndef FT_TESTS_FAKE_WORKER_H
#define FT_TESTS_FAKE_WORKER_H

#define FAKE_WORKER_ENVIRONMENT "FT_FAKE_WORKER"

/* Serves standard input until its end; the exit code. */
int fake_worker_main(const char *folder);

#endif

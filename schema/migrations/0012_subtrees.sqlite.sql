-- Explorations of programs that are shared out: each of their subtrees is a task of its own, whose
-- number has bits 27 and 26. The job's subproblems, which are the rest of each check's executions, are
-- ready with alone = 2 until a last task has all of their verdicts.
CREATE TABLE explorations (
    job INTEGER PRIMARY KEY,         -- jobs.n
    round INTEGER NOT NULL,          -- how often it began anew
    made INTEGER NOT NULL,           -- tasks so far
    open INTEGER NOT NULL,           -- of this round's: those with subtrees that have no result
    done INTEGER NOT NULL,           -- and those that have one
    state TEXT NOT NULL              -- EXPLORED of docs/records.md, JSON
) STRICT;
CREATE TABLE subtrees (
    id INTEGER PRIMARY KEY,          -- of its task
    name TEXT NOT NULL               -- see worker/explore/parts.c
) STRICT;
-- What is to be counted once, whichever task has it: findings, and subtrees that tasks propose.
CREATE TABLE explored_keys (
    job INTEGER NOT NULL,            -- jobs.n
    key TEXT NOT NULL,
    PRIMARY KEY (job, key)
) STRICT, WITHOUT ROWID;

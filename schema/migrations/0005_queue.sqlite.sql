-- The queue: order, retries, the evidence of deaths, budgets, limits of projects.

ALTER TABLE jobs ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;  -- larger goes first in its project
ALTER TABLE jobs ADD COLUMN spent_ms INTEGER NOT NULL DEFAULT 0;  -- of its time budget
ALTER TABLE jobs ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0;   -- its tasks in that state (see tasks)
CREATE INDEX jobs_open ON jobs (project, n) WHERE finished IS NULL;

ALTER TABLE tasks ADD COLUMN due INTEGER NOT NULL DEFAULT 0;      -- not leased before then
-- Leased when its server died, and not leased again since: shown as a state of its own.
ALTER TABLE tasks ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0;
DROP INDEX tasks_ready;
CREATE INDEX tasks_ready ON tasks (job, alone, id) WHERE state = 'ready';

-- How workers, and the server, died on a task. Kept with the job.
CREATE TABLE deaths (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    task INTEGER NOT NULL,
    attempt INTEGER NOT NULL,        -- deaths so far that count, with this one
    at INTEGER NOT NULL,
    worker INTEGER,                  -- its number; null: not known any more
    pid INTEGER,
    death TEXT NOT NULL,             -- a name of dispatch/death.h, or server-died
    message TEXT NOT NULL,           -- one sentence
    log TEXT NOT NULL                -- the last that it wrote to standard error
) STRICT;
CREATE INDEX deaths_by_job ON deaths (job, task);

-- What one project may have; null: as the server's options say. 0: no limit.
CREATE TABLE project_limits (
    project TEXT PRIMARY KEY,
    jobs INTEGER,                    -- not ended
    workers INTEGER,                 -- at once
    bytes INTEGER,                   -- of stored traces
    seconds INTEGER,                 -- of workers, a day (UTC)
    memory_mb INTEGER,               -- of a worker at one of its tasks
    retain_days INTEGER,
    retain_bytes INTEGER
) STRICT;

-- Time that workers gave to a project, by day (since 1970, UTC).
CREATE TABLE project_usage (
    project TEXT NOT NULL,
    day INTEGER NOT NULL,
    ms INTEGER NOT NULL,
    PRIMARY KEY (project, day)
) STRICT, WITHOUT ROWID;

ALTER TABLE counters ADD COLUMN running INTEGER NOT NULL DEFAULT 0; -- a daemon is at it, or died at it

-- Records, so that nobody has to count them.
ALTER TABLE tallies ADD COLUMN records INTEGER NOT NULL DEFAULT 0;
UPDATE tallies SET records = (SELECT count(*) FROM verdicts v WHERE v.job = tallies.job
    AND v."check" = tallies."check" AND v.verdict = tallies.verdict);

-- What is in flight apart from what is planned, so that a task costs the queue no index and no row
-- before somebody leases it. A task has a number in its job: 0 is the plan, 1, 2, ... are the plan's
-- subproblems 0, 1, ...; its id is jobs.n * 2^28 + this number. (A list after IN makes a table of its
-- own each time that it is looked at: words are compared one by one here.)

ALTER TABLE jobs ADD COLUMN next INTEGER NOT NULL DEFAULT 1;  -- the first number never leased
ALTER TABLE jobs ADD COLUMN last INTEGER NOT NULL DEFAULT 0;  -- the last subproblem's

-- What plans say of their subproblems, some in a row.
CREATE TABLE entries (
    id INTEGER PRIMARY KEY,          -- the first one's
    list TEXT NOT NULL               -- entries of the plan (subproblem, check, key, pairs), a JSON array
) STRICT;
INSERT INTO entries
SELECT (n << 28) + min(subproblem) + 1, '[' || group_concat(entry) || ']' FROM (
    SELECT j.n, t.subproblem, t.entry FROM tasks t JOIN jobs j ON j.id = t.job
    WHERE t.kind = 'solve' AND j.finished IS NULL ORDER BY j.n, t.subproblem)
GROUP BY n, subproblem / 16;

-- Leases: those of its tasks that are still leased have its token.
CREATE TABLE leases (
    token INTEGER PRIMARY KEY,
    job INTEGER NOT NULL,            -- jobs.n
    low INTEGER NOT NULL,            -- ids of its tasks, the least
    high INTEGER NOT NULL,           -- and the greatest
    open INTEGER NOT NULL,           -- so many are still leased
    expires INTEGER NOT NULL
) STRICT;
INSERT INTO leases
SELECT token, n, min(id), max(id), count(*), max(expires) FROM (
    SELECT t.token, j.n, (j.n << 28) + ifnull(t.subproblem + 1, 0) AS id,
        ifnull(t.expires, 0) AS expires
    FROM tasks t JOIN jobs j ON j.id = t.job WHERE t.state = 'leased')
GROUP BY token, n;

-- Of the plan until it is there, of a subproblem from its first lease to its verdict; and of those
-- that ended without a result.
CREATE TABLE flights (
    id INTEGER PRIMARY KEY,
    state TEXT NOT NULL DEFAULT 'ready'
        CHECK (state = 'ready' OR state = 'leased' OR state = 'poisoned' OR state = 'cancelled'),
    token INTEGER,                       -- of the lease
    attempts INTEGER NOT NULL DEFAULT 0, -- workers that died on it
    alone INTEGER NOT NULL DEFAULT 0,    -- leased in no batch any more
    due INTEGER NOT NULL DEFAULT 0,      -- not leased before then
    dropped INTEGER NOT NULL DEFAULT 0,  -- leased when its server died, and not since
    job INTEGER AS (id >> 28),           -- jobs.n
    kind TEXT AS (iif(id & 268435455, 'solve', 'plan')),
    CHECK ((state = 'leased') = (token IS NOT NULL))
) STRICT;
INSERT INTO flights (id, state, token, attempts, alone, due, dropped)
SELECT (j.n << 28) + ifnull(t.subproblem + 1, 0), t.state, t.token, t.attempts, t.alone, t.due,
    t.dropped
FROM tasks t JOIN jobs j ON j.id = t.job WHERE t.state IN ('ready', 'leased', 'poisoned');

UPDATE jobs SET last = ifnull((SELECT max(subproblem) + 1 FROM tasks WHERE job = jobs.id), 0);
UPDATE jobs SET next = last + 1;

UPDATE deaths SET task = (SELECT (j.n << 28) + ifnull(t.subproblem + 1, 0)
    FROM tasks t JOIN jobs j ON j.id = t.job WHERE t.id = deaths.task)
WHERE task IN (SELECT id FROM tasks);

CREATE TABLE results (
    id INTEGER PRIMARY KEY,
    job INTEGER NOT NULL REFERENCES jobs (n),
    n INTEGER NOT NULL,              -- 1, 2, ... in the job; finding id: "<job>-<n>"
    task INTEGER UNIQUE,             -- null: decided by the plan itself
    "check" TEXT NOT NULL,
    verdict TEXT NOT NULL
        CHECK (verdict = 'safe' OR verdict = 'violation' OR verdict = 'unknown'
            OR verdict = 'bounded' OR verdict = 'error'),
    property INTEGER,                -- check "property": its index in the job
    count INTEGER NOT NULL CHECK (count > 0),
    pairs INTEGER NOT NULL,
    created INTEGER NOT NULL,
    record TEXT NOT NULL,            -- RECORD of docs/records.md
    fingerprint TEXT,                -- of a violation: as its record says, settled when its job ends
    witness BLOB,                    -- see 0007
    UNIQUE (job, n)
) STRICT;
INSERT INTO results
SELECT v.id, j.n, v.n, (j.n << 28) + t.subproblem + 1, v."check", v.verdict, v.property, v.count,
    v.pairs, v.created, v.record, v.fingerprint, v.witness
FROM verdicts v JOIN jobs j ON j.id = v.job LEFT JOIN tasks t ON t.id = v.task ORDER BY v.id;

CREATE TABLE project_reviews (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'open'
        CHECK (state = 'open' OR state = 'confirmed' OR state = 'false' OR state = 'fixed'),
    reason TEXT NOT NULL DEFAULT '',
    "check" TEXT NOT NULL,
    message TEXT NOT NULL,           -- of the last job
    first_seen INTEGER NOT NULL,
    first_job TEXT NOT NULL,
    last_seen INTEGER NOT NULL,
    last_job TEXT NOT NULL,
    jobs INTEGER NOT NULL DEFAULT 1, -- in how many it was seen
    UNIQUE (project, fingerprint)
) STRICT;
INSERT INTO project_reviews SELECT * FROM reviews ORDER BY id;
DROP TABLE reviews;
ALTER TABLE project_reviews RENAME TO reviews;

DROP TABLE verdicts;
DROP TABLE tasks;
ALTER TABLE results RENAME TO verdicts;
ALTER TABLE flights RENAME TO tasks;
CREATE INDEX tasks_ready ON tasks (alone, id) WHERE state = 'ready';

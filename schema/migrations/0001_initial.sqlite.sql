-- Times are milliseconds since 1970 (UTC). States and names are the words of the C tables.

-- One row: what the whole store counts.
CREATE TABLE counters (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    epoch INTEGER NOT NULL,      -- grows with each start of a daemon
    next_token INTEGER NOT NULL  -- fencing tokens are never given twice
) STRICT;
INSERT INTO counters VALUES (1, 0, 1);

-- Content in chunk rows. A blob without a trace is an upload in progress, or its leftover.
CREATE TABLE blobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    created INTEGER NOT NULL
) STRICT;

CREATE TABLE blob_chunks (
    id INTEGER PRIMARY KEY,
    blob INTEGER NOT NULL REFERENCES blobs (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    data BLOB NOT NULL,
    UNIQUE (blob, seq)
) STRICT;

CREATE TABLE traces (
    hash TEXT PRIMARY KEY,           -- SHA-256 of the decoded upload
    blob INTEGER NOT NULL UNIQUE REFERENCES blobs (id),
    meta TEXT NOT NULL,              -- META of docs/records.md
    bytes INTEGER NOT NULL,          -- of the decoded upload
    stored_bytes INTEGER NOT NULL,   -- of the canonical form
    created INTEGER NOT NULL
) STRICT;

CREATE TABLE jobs (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    trace TEXT NOT NULL REFERENCES traces (hash),
    name TEXT,
    spec TEXT NOT NULL,              -- JOB of docs/records.md
    state TEXT NOT NULL
        CHECK (state IN ('queued', 'planning', 'solving', 'done', 'failed', 'cancelled')),
    model TEXT,                      -- as planned
    plan TEXT,                       -- {"candidates", "notes"} of the plan
    error TEXT,
    tasks INTEGER NOT NULL DEFAULT 0,
    open INTEGER NOT NULL DEFAULT 0, -- tasks without a result
    ready INTEGER NOT NULL DEFAULT 0, -- tasks in state ready
    verdicts INTEGER NOT NULL DEFAULT 0,
    revision INTEGER NOT NULL DEFAULT 1,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    finished INTEGER
) STRICT;
CREATE INDEX jobs_by_trace ON jobs (trace);
CREATE INDEX jobs_unfinished ON jobs (n) WHERE finished IS NULL;

CREATE TABLE tasks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    job TEXT NOT NULL REFERENCES jobs (id),
    kind TEXT NOT NULL,
    subproblem INTEGER,              -- of a solve task: its number in the plan
    entry TEXT,                      -- likewise: the plan's entry (check, key, pairs)
    state TEXT NOT NULL DEFAULT 'ready'
        CHECK (state IN ('ready', 'leased', 'done', 'poisoned', 'cancelled')),
    priority INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0, -- workers that died on it
    alone INTEGER NOT NULL DEFAULT 0,    -- leased in no batch any more
    token INTEGER,                       -- of the lease
    expires INTEGER,                     -- likewise
    CHECK ((state = 'leased') = (token IS NOT NULL)),
    UNIQUE (job, kind, subproblem)
) STRICT;
CREATE INDEX tasks_ready ON tasks (job, priority DESC, alone, id) WHERE state = 'ready';
CREATE INDEX tasks_leased ON tasks (token) WHERE state = 'leased';

CREATE TABLE verdicts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    job TEXT NOT NULL REFERENCES jobs (id),
    n INTEGER NOT NULL,              -- 1, 2, ... in the job; finding id: "<job>-<n>"
    task INTEGER UNIQUE REFERENCES tasks (id), -- null: decided by the plan itself
    "check" TEXT NOT NULL,
    verdict TEXT NOT NULL
        CHECK (verdict IN ('violation', 'safe', 'bounded', 'unknown', 'error')),
    property INTEGER,                -- check "property": its index in the job
    count INTEGER NOT NULL CHECK (count > 0),
    pairs INTEGER NOT NULL,
    record TEXT NOT NULL,            -- RECORD of docs/records.md
    created INTEGER NOT NULL,
    UNIQUE (job, n)
) STRICT;
CREATE INDEX verdicts_counted ON verdicts (job, "check", verdict, count);

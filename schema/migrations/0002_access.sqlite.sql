-- Projects, access tokens, the audit log, summaries of traces, idempotency keys.

-- Whoever may see a project may see its jobs and traces. Names: letters, digits, '.', '_', '-', '/'.
ALTER TABLE jobs ADD COLUMN project TEXT NOT NULL DEFAULT 'default';
CREATE INDEX jobs_by_project ON jobs (project, n);

-- A trace is stored once, under its hash, for every project that uploaded it.
CREATE TABLE trace_projects (
    trace TEXT NOT NULL REFERENCES traces (hash) ON DELETE CASCADE,
    project TEXT NOT NULL,
    PRIMARY KEY (trace, project)
) STRICT, WITHOUT ROWID;
INSERT INTO trace_projects SELECT hash, 'default' FROM traces;

-- A token is "foretell_<id>_<secret>". Once there has been one, nobody gets in without.
CREATE TABLE tokens (
    id TEXT PRIMARY KEY,             -- 16 hex digits
    hash TEXT NOT NULL,              -- SHA-256 of the whole token
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,            -- names with commas between
    projects TEXT,                   -- ",a,b,"; null: every project
    rate INTEGER NOT NULL DEFAULT 0, -- requests a second; 0: no limit
    max_upload INTEGER NOT NULL DEFAULT 0, -- bytes of a trace as sent; 0: the server's limit
    created INTEGER NOT NULL,
    expires INTEGER,
    revoked INTEGER
) STRICT;

-- What was changed or refused, by whom.
CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    token TEXT,                      -- null: without one
    peer TEXT NOT NULL,
    action TEXT NOT NULL,            -- "POST /v1/jobs"
    outcome TEXT NOT NULL            -- "allowed", or the code of the refusal
) STRICT;

-- What a worker computed of a trace for people to look at; a newer program computes it anew.
CREATE TABLE trace_summaries (
    trace TEXT PRIMARY KEY REFERENCES traces (hash) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    summary TEXT NOT NULL,
    created INTEGER NOT NULL
) STRICT;

CREATE TABLE idempotency_keys (
    project TEXT NOT NULL,
    key TEXT NOT NULL,
    body TEXT NOT NULL,              -- SHA-256 of the job as sent
    job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    created INTEGER NOT NULL,
    PRIMARY KEY (project, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_by_job ON idempotency_keys (job);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created);

-- Who is told when a job has ended, and what was told.

-- A project that has a row may have its jobs told of.
CREATE TABLE webhooks (
    project TEXT PRIMARY KEY,
    url TEXT,                        -- told of every job; null: of those alone that name a URL
    secret TEXT NOT NULL,            -- signs deliveries, so it is kept in the clear
    created INTEGER NOT NULL,
    changed INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The URL that a job named. It may be a secret itself: no snapshot has it.
CREATE TABLE job_webhooks (
    job TEXT PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    url TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Made in the transaction that ends the job.
CREATE TABLE deliveries (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    job TEXT NOT NULL,               -- may be removed before its delivery
    project TEXT NOT NULL,
    url TEXT NOT NULL,
    body TEXT NOT NULL,              -- the same bytes at every attempt
    state TEXT NOT NULL DEFAULT 'pending'
        CHECK (state IN ('pending', 'sending', 'delivered', 'failed')),
    attempts INTEGER NOT NULL DEFAULT 0,
    due INTEGER NOT NULL,            -- of a pending one: its next attempt
    status INTEGER,                  -- of the last answer
    error TEXT,                      -- of the last attempt
    created INTEGER NOT NULL,
    ended INTEGER
) STRICT;
CREATE INDEX deliveries_due ON deliveries (due) WHERE state = 'pending';
CREATE INDEX deliveries_sending ON deliveries (project) WHERE state = 'sending';
CREATE INDEX deliveries_by_project ON deliveries (project, n);
CREATE INDEX deliveries_ended ON deliveries (ended) WHERE ended IS NOT NULL;

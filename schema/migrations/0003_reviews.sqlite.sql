-- What is known of findings from run to run: by fingerprint, in each project.

-- Of a violation, once its job has ended; until then what its record says.
ALTER TABLE verdicts ADD COLUMN fingerprint TEXT;

CREATE TABLE reviews (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'confirmed', 'false', 'fixed')),
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

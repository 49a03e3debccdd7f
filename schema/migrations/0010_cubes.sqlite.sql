-- Parts of subproblems that took long. The task of such a subproblem is ready with alone = 2, which
-- nobody leases; each of its cubes is a task of its own, whose number has bit 27.
CREATE TABLE cubes (
    id INTEGER PRIMARY KEY,          -- of its task
    parent INTEGER NOT NULL,         -- the subproblem's task
    cube TEXT NOT NULL,              -- CUBE of worker/engine/cubes.h, JSON
    verdict TEXT,                    -- null: open
    record TEXT                      -- RECORD of docs/records.md
) STRICT;
CREATE INDEX cubes_by_parent ON cubes (parent);

-- Sets of jobs over covering schedules (docs/schedules.md), which go to whoever answers one of their
-- certificates: those are the job's subproblems. Gone when the job has ended.
CREATE TABLE schedule_sets (
    job INTEGER PRIMARY KEY,         -- jobs.n
    text TEXT NOT NULL               -- JSON: "set" of the plan
) STRICT;

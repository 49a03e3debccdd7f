-- What the verdicts of a job add up to, so that a report or a snapshot need not go through them.
CREATE TABLE tallies (
    job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    "check" TEXT NOT NULL,
    verdict TEXT NOT NULL,
    count INTEGER NOT NULL,          -- candidates
    solved INTEGER NOT NULL,         -- subproblems that the solver was asked
    sliced INTEGER NOT NULL,         -- their events after slicing
    encoded INTEGER NOT NULL,        -- and encoded
    PRIMARY KEY (job, "check", verdict)
) STRICT, WITHOUT ROWID;

INSERT INTO tallies
SELECT job, "check", verdict, sum(count),
    sum(task IS NOT NULL AND ifnull(json_extract(record, '$.stats.events'), 0) > 0),
    sum(iif(task IS NULL, 0, ifnull(json_extract(record, '$.stats.sliced'), 0))),
    sum(iif(task IS NULL, 0, ifnull(json_extract(record, '$.stats.events'), 0)))
FROM verdicts GROUP BY job, "check", verdict;

DROP INDEX verdicts_counted;

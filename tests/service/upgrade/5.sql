-- What version 5 has besides.
UPDATE counters SET running = 1;
UPDATE tallies SET records = 1;
UPDATE jobs SET spent_ms = 100, priority = 2 WHERE state = 'solving';
INSERT INTO deaths (job, task, attempt, at, worker, pid, death, message, log)
    VALUES ('00000000000000a3', 5, 3, 1000, 1, 100, 'crash', 'it died', 'aargh');
INSERT INTO project_limits (project, jobs) VALUES ('team/app', 9);
INSERT INTO project_usage VALUES ('team/app', 1, 100);

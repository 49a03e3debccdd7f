-- Rows of a database with schema version 1 or later, in every state: written by an earlier foretelld
-- that was killed while it worked. See tests/unit/test_store_upgrade.c.
UPDATE counters SET epoch = 5, next_token = 8;

-- The second blob is an upload in progress.
INSERT INTO blobs VALUES (1, 1000), (2, 1000);
INSERT INTO blob_chunks (blob, seq, data) VALUES (1, 0, x'7472616365'), (2, 0, x'00');
INSERT INTO traces VALUES ('00000000000000000000000000000000000000000000000000000000000000aa', 1,
    '{"trace":"00000000000000000000000000000000000000000000000000000000000000aa","bytes":5}',
    5, 5, 1000);

INSERT INTO jobs (id, trace, name, spec, state, tasks, open, ready, verdicts, created, updated)
SELECT printf('%016x', n), hash, state, json_object('trace', hash, 'name', state, 'properties',
    json('[{"kind":"before","name":"first"},{"kind":"co-enabled","name":"second"}]')),
    state, tasks, open, ready, verdicts, 1000 * n, 1000 * n
FROM traces, (
    SELECT 161 AS n, 'queued' AS state, 1 AS tasks, 1 AS open, 1 AS ready, 0 AS verdicts UNION ALL
    SELECT 162, 'planning', 1, 1, 0, 0 UNION ALL
    SELECT 163, 'solving', 5, 2, 1, 3 UNION ALL
    SELECT 164, 'done', 3, 0, 0, 3 UNION ALL
    SELECT 165, 'failed', 1, 0, 0, 0 UNION ALL
    SELECT 166, 'cancelled', 1, 0, 0, 0);
UPDATE jobs SET model = 'maximal', plan = '{"candidates":{"race":5},"notes":[]}'
    WHERE state = 'solving';
UPDATE jobs SET model = 'maximal', plan = '{"candidates":{"race":4},"notes":[]}'
    WHERE state = 'done';
UPDATE jobs SET error = '{"code":"input","message":"it was bad"}' WHERE state = 'failed';
UPDATE jobs SET finished = updated WHERE state IN ('done', 'failed', 'cancelled');

INSERT INTO tasks (id, job, kind, state, token, expires) VALUES
    (1, '00000000000000a1', 'plan', 'ready', NULL, NULL),
    (2, '00000000000000a2', 'plan', 'leased', 6, 99999999999999),
    (3, '00000000000000a3', 'plan', 'done', NULL, NULL),
    (8, '00000000000000a4', 'plan', 'done', NULL, NULL),
    (11, '00000000000000a5', 'plan', 'done', NULL, NULL),
    (12, '00000000000000a6', 'plan', 'cancelled', NULL, NULL);
INSERT INTO tasks (id, job, kind, subproblem, entry, state, attempts, token, expires)
SELECT id, job, 'solve', n, json_object('subproblem', n, 'check', 'race', 'key',
    'race|write-write|r' || n, 'pairs', 1), state, attempts, token,
    iif(token IS NULL, NULL, 99999999999999)
FROM (
    SELECT 4 AS id, '00000000000000a3' AS job, 0 AS n, 'done' AS state, 0 AS attempts,
        NULL AS token UNION ALL
    SELECT 5, '00000000000000a3', 1, 'poisoned', 3, NULL UNION ALL
    SELECT 6, '00000000000000a3', 2, 'leased', 0, 7 UNION ALL
    SELECT 7, '00000000000000a3', 3, 'ready', 1, NULL UNION ALL
    SELECT 9, '00000000000000a4', 0, 'done', 0, NULL UNION ALL
    SELECT 10, '00000000000000a4', 1, 'done', 0, NULL);

INSERT INTO verdicts (job, n, task, "check", verdict, count, pairs, record, created)
SELECT job, n, task, 'race', verdict, count, count, json_object('check', 'race', 'kind',
    'write-write', 'key', 'race|write-write|' || verdict, 'verdict', verdict, 'count', count,
    'pairs', count, 'message', 'of an earlier version', 'witness',
    iif(verdict = 'violation', json('{"steps":[]}'), NULL)), 1500
FROM (
    SELECT '00000000000000a3' AS job, 1 AS n, NULL AS task, 'safe' AS verdict, 1 AS count UNION ALL
    SELECT '00000000000000a3', 2, 4, 'violation', 1 UNION ALL
    SELECT '00000000000000a3', 3, 5, 'error', 1 UNION ALL
    SELECT '00000000000000a4', 1, NULL, 'safe', 2 UNION ALL
    SELECT '00000000000000a4', 2, 9, 'violation', 1 UNION ALL
    SELECT '00000000000000a4', 3, 10, 'unknown', 1);

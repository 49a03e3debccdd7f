-- What version 2 has besides.
UPDATE jobs SET project = 'team/app';
INSERT INTO trace_projects SELECT hash, 'team/app' FROM traces;
INSERT INTO tokens (id, hash, name, scopes, projects, created, revoked) VALUES
    ('00000000000000b1', 'aa', 'ops', 'admin', NULL, 1000, NULL),
    ('00000000000000b2', 'bb', 'ci', 'submit,read', ',team/app,', 1000, 2000);
INSERT INTO audit (at, token, peer, action, outcome)
    VALUES (1000, '00000000000000b1', 'unix', 'POST /v1/jobs', 'allowed');
INSERT INTO trace_summaries SELECT hash, 1, '{"threads":2}', 1000 FROM traces;
INSERT INTO idempotency_keys VALUES ('team/app', 'its key', 'its body', '00000000000000a4',
    CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER));

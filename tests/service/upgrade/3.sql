-- What version 3 has besides.
UPDATE verdicts SET fingerprint = 'cc' WHERE job = '00000000000000a4' AND verdict = 'violation';
INSERT INTO reviews (project, fingerprint, state, reason, "check", message, first_seen, first_job,
    last_seen, last_job) VALUES ('team/app', 'cc', 'confirmed', 'seen', 'race', 'a race', 1000,
    '00000000000000a4', 1000, '00000000000000a4');

-- What version 6 has besides.
INSERT INTO webhooks VALUES ('team/app', 'https://example.org/1', 'whsec_00', 1000, 1000);
INSERT INTO deliveries (id, job, project, url, body, state, attempts, due, created, ended) VALUES
    ('00000000000000d1', '00000000000000a4', 'team/app', 'https://example.org/1', '{}', 'sending',
        1, 1000, 1000, NULL),
    ('00000000000000d2', '00000000000000a5', 'team/app', 'https://example.org/1', '{}', 'pending',
        2, 1000, 1000, NULL);

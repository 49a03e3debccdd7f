-- Explorations of programs that are shared out: see 0012 for SQLite.
CREATE TABLE explorations (
    job bigint PRIMARY KEY,
    round bigint NOT NULL,
    made bigint NOT NULL,
    open bigint NOT NULL,
    done bigint NOT NULL,
    state text NOT NULL
);
CREATE TABLE subtrees (
    id bigint PRIMARY KEY,
    name text NOT NULL
);
CREATE TABLE explored_keys (
    job bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    PRIMARY KEY (job, key)
);

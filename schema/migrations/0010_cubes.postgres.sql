-- Parts of subproblems that took long: see 0010 for SQLite.
CREATE TABLE cubes (
    id bigint PRIMARY KEY,
    parent bigint NOT NULL,
    cube text NOT NULL,
    verdict text,
    record text
);
CREATE INDEX cubes_by_parent ON cubes (parent);

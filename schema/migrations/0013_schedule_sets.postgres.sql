-- Sets of jobs over covering schedules: see 0013 for SQLite.
CREATE TABLE schedule_sets (
    job bigint PRIMARY KEY,
    text text NOT NULL
);

-- What version 8 has besides: a subproblem that nobody has leased yet has no row.
DELETE FROM tasks WHERE id = (3 << 28) + 4;
UPDATE jobs SET next = 4 WHERE n = 3;

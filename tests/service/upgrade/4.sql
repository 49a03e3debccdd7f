-- What version 4 has besides.
INSERT INTO tallies (job, "check", verdict, count, solved, sliced, encoded)
    SELECT job, "check", verdict, sum(count), 0, 0, 0 FROM verdicts GROUP BY 1, 2, 3;

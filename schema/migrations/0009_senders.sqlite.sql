-- Which attempt a delivery is in, so that the result of another one does not count.

ALTER TABLE deliveries ADD COLUMN token INTEGER;   -- of the attempt under way; null: none
ALTER TABLE deliveries ADD COLUMN expires INTEGER; -- its lease: see 0009 for PostgreSQL

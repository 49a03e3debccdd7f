-- A delivery that a node sends is leased to it: another node sends it once the lease has run out.

ALTER TABLE deliveries ADD COLUMN token bigint;    -- of the attempt under way; null: none
ALTER TABLE deliveries ADD COLUMN expires bigint;
UPDATE deliveries SET expires = (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 60000
    WHERE state = 'sending';
CREATE INDEX deliveries_leased ON deliveries (expires) WHERE state = 'sending';

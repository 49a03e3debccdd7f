-- Parts of traces and programs are named by their content: see 0011 for SQLite.
-- Null only of a store that was moved here and has not been opened yet.

ALTER TABLE blob_chunks ADD COLUMN digest text;
UPDATE blob_chunks SET digest = encode(sha256(data), 'hex');

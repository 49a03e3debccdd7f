-- The witness of a violation apart from its record, as its worker packed it: zstd over the JSON.
-- Null: there is none, or it is in the record.
ALTER TABLE verdicts ADD COLUMN witness BLOB;

-- Parts of traces and programs are named by their content: a node keeps copies under these names.

ALTER TABLE blob_chunks ADD COLUMN digest TEXT;    -- SHA-256 of data; null: stored before this version

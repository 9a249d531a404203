CREATE TABLE _os AS
SELECT
    batch.start AS start_ns,
    greatest(batch.start, batch."end") AS end_ns,
    batch.globaltid AS global_tid,
    batch.globaltid & ~16777215 AS global_pid,
    batch.nameid AS name_id
FROM batch
WHERE batch.start IS NOT NULL AND batch."end" IS NOT NULL;

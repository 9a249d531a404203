CREATE TABLE _os AS
SELECT
    batch."start" AS start_ns,
    greatest(batch."start", batch."end") AS end_ns,
    batch."globalTid" AS global_tid,
    batch."globalTid" & ~16777215 AS global_pid,
    batch."nameId" AS name_id
FROM batch
WHERE batch."start" IS NOT NULL AND batch."end" IS NOT NULL;

-- RUNTIME holds runtime and driver calls; see api_call for the public shape.
CREATE TABLE _api AS
SELECT
    batch."start" AS start_ns,
    greatest(batch."start", batch."end") AS end_ns,
    batch."globalTid" AS global_tid,
    batch."globalTid" & ~16777215 AS global_pid,
    nullif(batch."correlationId", 0) AS correlation_id,
    batch."nameId" AS name_id,
    batch."returnValue" AS return_value
FROM batch
WHERE batch."start" IS NOT NULL AND batch."end" IS NOT NULL;

-- RUNTIME holds runtime and driver calls; see api_call for the public shape.
CREATE TABLE _api AS
SELECT
    batch.start AS start_ns,
    greatest(batch.start, batch."end") AS end_ns,
    batch.globaltid AS global_tid,
    nullif(batch.correlationid, 0) AS correlation_id,
    batch.nameid AS name_id,
    batch.returnvalue AS return_value
FROM batch
WHERE batch.start IS NOT NULL AND batch."end" IS NOT NULL;

-- 59 push/pop range, 60 start/end range, 70 and 71 the same two from text files, 34 mark.
-- The other types are names of categories, threads and domains.
CREATE TABLE _nvtx AS
SELECT
    batch.globaltid & ~16777215 AS global_pid,
    batch.globaltid AS global_tid,
    nullif(batch.endglobaltid, batch.globaltid) AS end_global_tid,
    batch.eventtype AS event_type,
    CASE
        WHEN batch.eventtype IN (59, 70) THEN 'push_pop'
        WHEN batch.eventtype IN (60, 71) THEN 'start_end'
        WHEN batch.eventtype = 34 THEN 'mark'
    END AS kind,
    batch.start AS start_ns,
    batch."end" AS end_ns,
    batch.text,
    batch.textid AS text_id,
    batch.domainid AS domain_id
FROM batch
WHERE batch.start IS NOT NULL;

-- 59 push/pop range, 60 start/end range, 70 and 71 the same two from text files, 34 mark.
-- The other types are names of categories, threads and domains.
CREATE TABLE _nvtx AS
SELECT
    batch."globalTid" & ~16777215 AS global_pid,
    batch."globalTid" AS global_tid,
    nullif(batch."endGlobalTid", batch."globalTid") AS end_global_tid,
    batch."eventType" AS event_type,
    CASE
        WHEN batch."eventType" IN (59, 70) THEN 'push_pop'
        WHEN batch."eventType" IN (60, 71) THEN 'start_end'
        WHEN batch."eventType" = 34 THEN 'mark'
    END AS kind,
    batch."start" AS start_ns,
    batch."end" AS end_ns,
    batch."text" AS text,
    batch."textId" AS text_id,
    batch."domainId" AS domain_id
FROM batch
WHERE batch."start" IS NOT NULL;

-- CUPTI writes 0 for the times of a replay that it could not collect.
INSERT INTO _op BY NAME
SELECT
    'graph' AS kind,
    CASE WHEN batch."end" != 0 THEN batch.start END AS start_ns,
    CASE WHEN batch."end" != 0 THEN batch."end" END AS end_ns,
    batch.deviceid AS device_id,
    batch.contextid AS context_id,
    batch.streamid AS stream_id,
    nullif(batch.correlationid, 0) AS correlation_id,
    nullif(batch.globalpid, 0) AS global_pid,
    coalesce(nullif(batch.graphid, 0), nullif(batch.graphexecid, 0)) AS graph_id
FROM batch;

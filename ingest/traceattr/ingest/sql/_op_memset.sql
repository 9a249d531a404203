INSERT INTO _op BY NAME
SELECT
    'memset' AS kind,
    batch.start AS start_ns,
    batch."end" AS end_ns,
    batch.deviceid AS device_id,
    batch.contextid AS context_id,
    batch.streamid AS stream_id,
    nullif(batch.correlationid, 0) AS correlation_id,
    nullif(batch.globalpid, 0) AS global_pid,
    nullif(batch.graphnodeid, 0) AS graph_node_id,
    nullif((batch.graphnodeid >> 32) & 4294967295, 0) AS graph_id,
    batch.bytes
FROM batch;

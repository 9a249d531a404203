-- CUPTI writes 0 and nsys writes NULL for "not in a graph" and for "no correlation".
-- Before schema 3.24 there is no graphId column: the high half of graphNodeId is the graph.
INSERT INTO _op BY NAME
SELECT
    'kernel' AS kind,
    batch.start AS start_ns,
    batch."end" AS end_ns,
    batch.deviceid AS device_id,
    batch.contextid AS context_id,
    batch.streamid AS stream_id,
    nullif(batch.correlationid, 0) AS correlation_id,
    nullif(batch.globalpid, 0) AS global_pid,
    batch.demangledname AS demangled_id,
    batch.shortname AS short_id,
    nullif(batch.graphnodeid, 0) AS graph_node_id,
    coalesce(nullif(batch.graphid, 0), nullif((batch.graphnodeid >> 32) & 4294967295, 0)) AS graph_id
FROM batch;

-- GPU work as nsys stores it, in one shape.
-- CUPTI writes 0 and nsys writes NULL for "not in a graph" and for "no correlation".
-- Before schema 3.24 there is no graphId column: the high half of graphNodeId is the graph.
-- CUPTI writes 0 for the times of a replay that it could not collect.  NULLs take the narrowest type:
-- a column is as wide as the widest of the tables has it.
CREATE TEMP VIEW _op AS
SELECT
    'kernel'::_OP_KIND AS kind,
    start AS start_ns,
    "end" AS end_ns,
    deviceid AS device_id,
    contextid AS context_id,
    streamid AS stream_id,
    nullif(correlationid, 0) AS correlation_id,
    nullif(globalpid, 0) AS global_pid,
    demangledname AS demangled_id,
    shortname AS short_id,
    nullif(graphnodeid, 0) AS graph_node_id,
    coalesce(nullif(graphid, 0), nullif((graphnodeid::BIGINT >> 32) & 4294967295, 0)) AS graph_id,
    NULL::TINYINT AS bytes,
    NULL::TINYINT AS copy_kind
FROM _kernel
UNION ALL
SELECT
    'memcpy'::_OP_KIND AS kind,
    start AS start_ns,
    "end" AS end_ns,
    deviceid AS device_id,
    contextid AS context_id,
    streamid AS stream_id,
    nullif(correlationid, 0) AS correlation_id,
    nullif(globalpid, 0) AS global_pid,
    NULL::TINYINT AS demangled_id,
    NULL::TINYINT AS short_id,
    nullif(graphnodeid, 0) AS graph_node_id,
    nullif((graphnodeid::BIGINT >> 32) & 4294967295, 0) AS graph_id,
    bytes,
    try_cast(copykind AS TINYINT) AS copy_kind
FROM _memcpy
UNION ALL
SELECT
    'memset'::_OP_KIND AS kind,
    start AS start_ns,
    "end" AS end_ns,
    deviceid AS device_id,
    contextid AS context_id,
    streamid AS stream_id,
    nullif(correlationid, 0) AS correlation_id,
    nullif(globalpid, 0) AS global_pid,
    NULL::TINYINT AS demangled_id,
    NULL::TINYINT AS short_id,
    nullif(graphnodeid, 0) AS graph_node_id,
    nullif((graphnodeid::BIGINT >> 32) & 4294967295, 0) AS graph_id,
    bytes,
    NULL::TINYINT AS copy_kind
FROM _memset
UNION ALL
SELECT
    'graph'::_OP_KIND AS kind,
    CASE WHEN "end" != 0 THEN start END AS start_ns,
    CASE WHEN "end" != 0 THEN "end" END AS end_ns,
    deviceid AS device_id,
    contextid AS context_id,
    streamid AS stream_id,
    nullif(correlationid, 0) AS correlation_id,
    nullif(globalpid, 0) AS global_pid,
    NULL::TINYINT AS demangled_id,
    NULL::TINYINT AS short_id,
    NULL::TINYINT AS graph_node_id,
    coalesce(nullif(graphid, 0), nullif(graphexecid, 0)) AS graph_id,
    NULL::TINYINT AS bytes,
    NULL::TINYINT AS copy_kind
FROM _graph;

-- Whose the rows of GPU work are, when they ran, and what kernels are called, in one shape.
-- CUPTI writes 0 for the process it does not know, and for the times of a replay that it could not
-- collect.
CREATE TEMP VIEW _op AS
SELECT
    'kernel'::_OP_KIND AS kind,
    start AS start_ns,
    "end" AS end_ns,
    deviceid AS device_id,
    contextid AS context_id,
    nullif(globalpid, 0) AS global_pid,
    demangledname AS demangled_id,
    shortname AS short_id
FROM _kernel
UNION ALL
SELECT
    'memcpy'::_OP_KIND AS kind,
    start AS start_ns,
    "end" AS end_ns,
    deviceid AS device_id,
    contextid AS context_id,
    nullif(globalpid, 0) AS global_pid,
    NULL::TINYINT AS demangled_id,
    NULL::TINYINT AS short_id
FROM _memcpy
UNION ALL
SELECT
    'memset'::_OP_KIND AS kind,
    start AS start_ns,
    "end" AS end_ns,
    deviceid AS device_id,
    contextid AS context_id,
    nullif(globalpid, 0) AS global_pid,
    NULL::TINYINT AS demangled_id,
    NULL::TINYINT AS short_id
FROM _memset
UNION ALL
SELECT
    'graph'::_OP_KIND AS kind,
    CASE WHEN "end" != 0 THEN start END AS start_ns,
    CASE WHEN "end" != 0 THEN "end" END AS end_ns,
    deviceid AS device_id,
    contextid AS context_id,
    nullif(globalpid, 0) AS global_pid,
    NULL::TINYINT AS demangled_id,
    NULL::TINYINT AS short_id
FROM _graph;

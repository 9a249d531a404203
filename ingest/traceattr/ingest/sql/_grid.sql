-- How often kernels of a graph ran with a grid of a certain width; rows outside graphs are left out.
CREATE TABLE _grid AS
SELECT
    batch.globalpid AS global_pid,
    batch.deviceid AS device_id,
    batch.contextid AS context_id,
    batch.demangledname AS demangled_id,
    batch.shortname AS short_id,
    coalesce(nullif(batch.graphid, 0), nullif((batch.graphnodeid >> 32) & 4294967295, 0)) AS graph_id,
    batch.gridx AS width,
    count(*) AS kernels
FROM batch
WHERE graph_id IS NOT NULL AND batch.gridx IS NOT NULL
GROUP BY ALL;

-- One row per process and correlation, so that a call recorded twice never doubles a kernel.
CREATE TABLE _launch AS
SELECT
    api.global_tid::BIGINT & ~16777215 AS global_pid,
    api.correlation_id,
    min(api.start_ns)::BIGINT AS launch_ns,
    bool_or(api_name.is_graph_launch) AS is_graph_launch,
    bool_or(api_name.is_kernel_launch) AS is_kernel_launch
FROM _api AS api
INNER JOIN _api_name AS api_name ON api.name_id = api_name.id
WHERE api.correlation_id IS NOT NULL AND api.global_tid IS NOT NULL
GROUP BY api.global_tid::BIGINT & ~16777215, api.correlation_id;

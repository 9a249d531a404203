CREATE VIEW api_call AS
SELECT
    api.global_tid::BIGINT & ~16777215 AS global_pid,
    api.global_tid::BIGINT AS global_tid,
    api.start_ns::BIGINT AS start_ns,
    api.end_ns::BIGINT AS end_ns,
    coalesce(api_name.name, 'api#' || api.name_id) AS name,
    api.correlation_id::BIGINT AS correlation_id,
    api.return_value::BIGINT AS return_value
FROM _api AS api
LEFT JOIN _api_name AS api_name ON api.name_id = api_name.id;

COMMENT ON VIEW api_call IS
'One row per CUDA runtime or driver API call on the host, as recorded; backtraces can record a call twice.';
COMMENT ON COLUMN api_call.global_pid IS
'Process: nsys id made of host, VM and pid; (global_pid >> 24) & 16777215 is the pid. NULL when not recorded.';
COMMENT ON COLUMN api_call.global_tid IS
'Thread: global_pid plus the thread id in the low 24 bits. NULL when not recorded.';
COMMENT ON COLUMN api_call.start_ns IS 'Begin in ns on the clock of the trace.';
COMMENT ON COLUMN api_call.end_ns IS 'End in ns; never before start_ns.';
COMMENT ON COLUMN api_call.name IS
'Name of the call without its ABI suffix; api#ID when the string is missing.';
COMMENT ON COLUMN api_call.correlation_id IS
'Links to gpu_op.correlation_id of the same process, never without the process. NULL when the call has none.';
COMMENT ON COLUMN api_call.return_value IS 'cudaError or CUresult; 0 is success.';

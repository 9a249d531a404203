-- Operations that a recorded call launched, with that call; of a replay its first operation.
WITH
launched AS (
    SELECT
        operation.operation_id,
        operation.gpu_id,
        coalesce(operation.correlation_id, pass.correlation_id) AS correlation_id,
        operation.replay_id IS NULL OR row_number() OVER (
            PARTITION BY operation.replay_id
            ORDER BY operation.start_ns, operation.operation_id
        ) = 1 AS is_first,
        replay.start_ns < operation.start_ns AS is_later
    FROM operation
    LEFT JOIN replay ON operation.replay_id = replay.replay_id
    LEFT JOIN pass ON operation.replay_id = pass.replay_id
)

SELECT
    launched.operation_id,
    gpu.global_pid,
    launched.correlation_id
FROM launched
INNER JOIN gpu ON launched.gpu_id = gpu.gpu_id
SEMI JOIN api_call
    ON gpu.global_pid = api_call.global_pid AND launched.correlation_id = api_call.correlation_id
-- The first operation of a replay may lie before the window.
WHERE launched.is_first AND NOT coalesce(launched.is_later, FALSE)
ORDER BY launched.operation_id;

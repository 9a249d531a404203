-- CUDA calls of the process that owns a GPU, those that overlap an interval, in no order.
-- Threads that never launch anything are left out: idle time is told from those that launch.
-- kind: 0 the call waits for the GPU, 1 it launches a kernel or a graph, 2 anything else.
-- A copy to the host that lasts until its data has arrived waits, whatever its name promises.
-- -1 stands for no correlation.
WITH
owner AS (
    SELECT global_pid
    FROM gpu
    WHERE gpu_id = $gpu_id
),

call_kind AS (
    SELECT
        id,
        CASE
            WHEN
                regexp_matches(name, 'Synchronize')
                OR (regexp_matches(name, '^cu(da)?Memcpy') AND NOT contains(name, 'Async'))
                THEN 0
            WHEN regexp_matches(name, '^cu(da)?(Graph)?Launch') THEN 1
            ELSE 2
        END AS kind
    FROM _api_name
),

launching_thread AS (
    SELECT DISTINCT global_tid
    FROM _api
    WHERE correlation_id IS NOT NULL
),

readback AS (
    SELECT
        op.correlation_id,
        max(op.end_ns) AS end_ns
    FROM _work AS op
    INNER JOIN gpu ON op.gpu_id = gpu.gpu_id
    INNER JOIN owner ON gpu.global_pid = owner.global_pid
    WHERE op.copy_kind = 2 AND op.correlation_id IS NOT NULL
    GROUP BY op.correlation_id
)

SELECT
    call.global_tid::BIGINT AS global_tid,
    call.start_ns::BIGINT AS start_ns,
    call.end_ns::BIGINT AS end_ns,
    CASE WHEN call.end_ns >= readback.end_ns THEN 0 ELSE coalesce(call_kind.kind, 2) END::TINYINT
        AS kind,
    coalesce(call.correlation_id, -1)::BIGINT AS correlation_id
FROM _api AS call
INNER JOIN owner ON call.global_tid::BIGINT & ~16777215 = owner.global_pid
SEMI JOIN launching_thread ON call.global_tid = launching_thread.global_tid
LEFT JOIN call_kind ON call.name_id = call_kind.id
LEFT JOIN readback ON call.correlation_id = readback.correlation_id
WHERE
    call.start_ns < $end_ns
    AND call.end_ns > $start_ns
    AND call.global_tid IS NOT NULL;

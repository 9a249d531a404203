-- What was launched against what was recorded, one row per process with CUDA calls or GPU work.
--
-- launches_without_work: launches recorded in a stream capture run no work of their own, and the
-- last ones may run after the capture ends, so a few are normal.
-- kernels_without_launch: the call lies before the capture, or was dropped.  Nodes without a
-- correlation id are not among them: their graph was instantiated before the capture.
CREATE TABLE _process_work AS
WITH
of_gpu AS (
    SELECT
        op.gpu_id,
        count(op.name_id) AS kernels,
        count(op.name_id) FILTER (
            WHERE
            op.launch_ns IS NULL
            AND NOT (op.replay_id IS NOT NULL AND op.correlation_id IS NULL)
        ) AS kernels_without_launch
    FROM _work AS op
    WHERE
        op.start_ns >= (SELECT judged.start_ns FROM _judged AS judged)
        AND op.start_ns <= (SELECT judged.end_ns FROM _judged AS judged)
    GROUP BY op.gpu_id
),

recorded AS (
    SELECT
        gpu.global_pid,
        sum(of_gpu.kernels)::BIGINT AS kernels,
        sum(of_gpu.kernels_without_launch)::BIGINT AS kernels_without_launch
    FROM of_gpu
    INNER JOIN gpu ON of_gpu.gpu_id = gpu.gpu_id
    GROUP BY gpu.global_pid
),

-- What one replay runs shares its correlation, so replays and eager work name every launch.
launch_with_work AS (
    SELECT
        global_pid,
        correlation_id
    FROM replay
    UNION
    SELECT
        gpu.global_pid,
        op.correlation_id
    FROM _work AS op
    INNER JOIN gpu ON op.gpu_id = gpu.gpu_id
    WHERE op.replay_id IS NULL
),

unlinked AS (
    SELECT
        global_pid,
        count(*) AS replays
    FROM replay
    WHERE correlation_id IS NULL
    GROUP BY global_pid
),

launched AS (
    SELECT
        launch.global_pid,
        count(*) FILTER (WHERE launch.is_kernel_launch) AS kernel_launches,
        count(*) FILTER (WHERE launch.is_graph_launch) AS graph_launches
    FROM _launch AS launch
    INNER JOIN _judged AS judged ON launch.launch_ns BETWEEN judged.start_ns AND judged.end_ns
    GROUP BY launch.global_pid
),

launched_in_vain AS (
    SELECT
        launch.global_pid,
        count(*) FILTER (WHERE launch.is_kernel_launch) AS kernel_launches,
        count(*) FILTER (WHERE launch.is_graph_launch) AS graph_launches
    FROM _launch AS launch
    INNER JOIN _judged AS judged ON launch.launch_ns BETWEEN judged.start_ns AND judged.end_ns
    ANTI JOIN launch_with_work AS worked
        ON
            launch.global_pid = worked.global_pid
            AND launch.correlation_id = worked.correlation_id
    GROUP BY launch.global_pid
)

SELECT
    coalesce(recorded.global_pid, launched.global_pid) AS global_pid,
    coalesce(recorded.kernels, 0) AS kernels,
    coalesce(recorded.kernels_without_launch, 0) AS kernels_without_launch,
    coalesce(launched.kernel_launches, 0) AS kernel_launches,
    coalesce(launched_in_vain.kernel_launches, 0) AS kernel_launches_without_work,
    coalesce(launched.graph_launches, 0) AS graph_launches,
    greatest(
        coalesce(launched_in_vain.graph_launches, 0) - coalesce(unlinked.replays, 0), 0
    ) AS graph_launches_without_work
FROM recorded
FULL JOIN launched ON recorded.global_pid = launched.global_pid
LEFT JOIN launched_in_vain
    ON coalesce(recorded.global_pid, launched.global_pid) = launched_in_vain.global_pid
LEFT JOIN unlinked ON coalesce(recorded.global_pid, launched.global_pid) = unlinked.global_pid;

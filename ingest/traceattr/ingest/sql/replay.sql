CREATE TABLE _replay AS
WITH
replay_found AS (
    SELECT
        gpu_id,
        replay_key,
        min(global_pid) AS global_pid,
        min(graph_id) AS graph_id,
        CASE WHEN replay_key >= 4294967296 THEN 'graph' ELSE 'node' END AS traced,
        min(correlation_id) AS correlation_id,
        min(launch_ns) AS launch_ns,
        min(start_ns) AS start_ns,
        max(end_ns) AS end_ns,
        sum(operations)::BIGINT AS operations
    FROM batch
    GROUP BY gpu_id, replay_key
),

-- A launch recorded both ways is better known by its nodes.
envelope_with_nodes AS (
    SELECT
        envelope.gpu_id,
        envelope.replay_key
    FROM replay_found AS envelope
    INNER JOIN replay_found AS nodes
        ON
            envelope.gpu_id = nodes.gpu_id
            AND envelope.correlation_id = nodes.correlation_id
    WHERE envelope.traced = 'graph' AND nodes.traced = 'node'
    UNION
    SELECT
        envelope.gpu_id,
        envelope.replay_key
    FROM replay_found AS envelope
    INNER JOIN replay_found AS nodes
        ON
            envelope.gpu_id = nodes.gpu_id
            AND envelope.graph_id = nodes.graph_id
            AND envelope.start_ns < nodes.end_ns
            AND envelope.end_ns > nodes.start_ns
    WHERE envelope.traced = 'graph' AND nodes.traced = 'node' AND nodes.correlation_id IS NULL
)

SELECT
    (
        row_number() OVER (ORDER BY found.gpu_id, found.start_ns, found.end_ns, found.replay_key) - 1
    )::INTEGER AS replay_id,
    found.gpu_id,
    found.global_pid,
    found.graph_id,
    found.traced,
    found.correlation_id,
    found.launch_ns,
    found.start_ns,
    found.end_ns,
    found.operations,
    found.replay_key
FROM replay_found AS found
ANTI JOIN envelope_with_nodes AS doubled
    ON found.gpu_id = doubled.gpu_id AND found.replay_key = doubled.replay_key;

CREATE VIEW replay AS
SELECT
    replay_id,
    gpu_id,
    global_pid,
    graph_id,
    traced,
    correlation_id,
    launch_ns,
    start_ns,
    end_ns,
    operations
FROM _replay;

COMMENT ON VIEW replay IS 'One row per launch of a CUDA graph on one GPU.';
COMMENT ON COLUMN replay.replay_id IS 'Dense number from 0, in order of GPU and time.';
COMMENT ON COLUMN replay.gpu_id IS 'GPU, see gpu.';
COMMENT ON COLUMN replay.global_pid IS 'Process that launched it. NULL when unknown.';
COMMENT ON COLUMN replay.graph_id IS
'Graph, unique within its process: graphId, or the high half of the node ids. NULL when not recorded.';
COMMENT ON COLUMN replay.traced IS
'node: its operations are in gpu_op; graph: only its envelope is.';
COMMENT ON COLUMN replay.correlation_id IS
'Launching call, with global_pid. NULL for graphs instantiated before the capture began.';
COMMENT ON COLUMN replay.launch_ns IS
'Begin of the launching call. NULL when that call is not in the trace.';
COMMENT ON COLUMN replay.start_ns IS 'Begin of its first operation, or of its envelope.';
COMMENT ON COLUMN replay.end_ns IS 'End of its last operation, or of its envelope.';
COMMENT ON COLUMN replay.operations IS 'Rows of gpu_op that belong to it.';

-- GPU work with its owner and its launch.
-- A row is graph work when it says so, or when a graph launch started it (some captures lack the
-- graph columns).
CREATE TEMP VIEW _op_linked AS
SELECT
    op.op_id,
    owner.gpu_id,
    op.kind,
    op.start_ns,
    greatest(op.start_ns, op.end_ns) AS end_ns,
    op.context_id,
    op.stream_id,
    op.demangled_id,
    op.short_id,
    owner.global_pid,
    op.correlation_id,
    launch.launch_ns,
    op.graph_id,
    op.graph_node_id,
    coalesce(op.graph_node_id, op.graph_id) IS NOT NULL
    OR coalesce(launch.is_graph_launch, FALSE) AS is_graph_work,
    op.bytes,
    op.copy_kind
FROM _op AS op
INNER JOIN _owner AS owner
    ON
        op.global_pid IS NOT DISTINCT FROM owner.op_global_pid
        AND op.device_id IS NOT DISTINCT FROM owner.device_id
        AND op.context_id IS NOT DISTINCT FROM owner.context_id
LEFT JOIN _launch AS launch
    ON owner.global_pid = launch.global_pid AND op.correlation_id = launch.correlation_id
WHERE op.start_ns IS NOT NULL AND op.end_ns IS NOT NULL;

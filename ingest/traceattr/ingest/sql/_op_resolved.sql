-- GPU work with its owner, its name and its launch, before replays are known.
-- A row is graph work when it says so, or when a graph launch started it (some captures lack the
-- graph columns).  Rows of one replay get one replay_key per GPU: the correlation of their launch;
-- graph work without one gets a negative key from _unlinked later, an envelope one of its own.
CREATE TABLE _op_resolved AS
SELECT
    owner.gpu_id,
    op.kind,
    op.start_ns,
    greatest(op.start_ns, op.end_ns) AS end_ns,
    op.context_id,
    op.stream_id,
    name_key.name_id,
    owner.global_pid,
    op.correlation_id,
    launch.launch_ns,
    op.graph_id,
    op.graph_node_id,
    coalesce(op.graph_node_id, op.graph_id) IS NOT NULL
    OR coalesce(launch.is_graph_launch, FALSE) AS is_graph_work,
    CASE WHEN is_graph_work AND op.kind != 'graph' THEN op.correlation_id END AS replay_key,
    op.bytes,
    try_cast(op.copy_kind AS TINYINT) AS copy_kind
FROM _op AS op
INNER JOIN _owner AS owner
    ON
        op.global_pid IS NOT DISTINCT FROM owner.op_global_pid
        AND op.device_id IS NOT DISTINCT FROM owner.device_id
        AND op.context_id IS NOT DISTINCT FROM owner.context_id
LEFT JOIN _name_key AS name_key
    ON
        op.demangled_id IS NOT DISTINCT FROM name_key.demangled_id
        AND op.short_id IS NOT DISTINCT FROM name_key.short_id
        AND op.kind = 'kernel'
LEFT JOIN _launch AS launch
    ON owner.global_pid = launch.global_pid AND op.correlation_id = launch.correlation_id
WHERE op.start_ns IS NOT NULL AND op.end_ns IS NOT NULL;

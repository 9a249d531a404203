-- GPU work with its name and the key of its replay.
-- Rows of one replay have one key per GPU: the correlation of their launch; below zero the number of
-- work without a correlation, by node order and time; above every correlation (they are 32 bits
-- wide) one of its own for an envelope.
CREATE TEMP VIEW _op_resolved AS
SELECT
    op.gpu_id,
    op.kind,
    op.start_ns,
    op.end_ns,
    op.context_id,
    op.stream_id,
    name_key.name_id,
    op.global_pid,
    op.correlation_id,
    op.launch_ns,
    op.graph_id,
    op.graph_node_id,
    CASE
        WHEN op.kind = 'graph' THEN 4294967296 + op.op_id
        WHEN op.is_graph_work
            THEN coalesce(op.correlation_id, -1 - unlinked.replay_number)
    END AS replay_key,
    op.bytes,
    op.copy_kind
FROM _op_linked AS op
LEFT JOIN _unlinked AS unlinked ON op.op_id = unlinked.op_id
LEFT JOIN _name_key AS name_key
    ON
        op.demangled_id IS NOT DISTINCT FROM name_key.demangled_id
        AND op.short_id IS NOT DISTINCT FROM name_key.short_id
        AND op.kind = 'kernel';

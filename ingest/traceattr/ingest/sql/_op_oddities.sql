-- Rows of GPU work that cannot be taken as they are; one row.
SELECT
    count(*) AS operations,
    count(*) FILTER (WHERE op.kind = 'graph') AS envelopes,
    count(*) FILTER (WHERE op.start_ns IS NULL OR op.end_ns IS NULL) AS without_times,
    count(*) FILTER (WHERE op.end_ns < op.start_ns) AS ending_before_start,
    count(*) FILTER (
        WHERE owner.gpu_id IS NULL AND op.start_ns IS NOT NULL AND op.end_ns IS NOT NULL
    ) AS without_owner,
    count(*) FILTER (WHERE owner.is_inferred) AS with_inferred_owner
FROM _op AS op
LEFT JOIN _owner AS owner
    ON
        op.global_pid IS NOT DISTINCT FROM owner.op_global_pid
        AND op.device_id IS NOT DISTINCT FROM owner.device_id
        AND op.context_id IS NOT DISTINCT FROM owner.context_id;

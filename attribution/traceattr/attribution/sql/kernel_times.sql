-- One row per kernel name in the window, longest time per GPU first.
-- Sums are cut to the window, medians are of whole launches.
SELECT
    op.name_id,
    count(DISTINCT op.gpu_id) AS gpus,
    count(*) AS operations,
    sum(least(op.end_ns, $end_ns) - greatest(op.start_ns, $start_ns))::BIGINT AS total_ns,
    quantile_disc(op.end_ns - op.start_ns, 0.5) AS median_ns
FROM _work AS op
WHERE
    op.kind = 'kernel'
    AND (
        (op.start_ns < $end_ns AND op.end_ns > $start_ns)
        OR (op.start_ns = op.end_ns AND op.start_ns BETWEEN $start_ns AND $end_ns)
    )
GROUP BY op.name_id
ORDER BY total_ns / gpus DESC, op.name_id ASC;

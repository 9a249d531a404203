SELECT
    pass.kind,
    round.gpu_id,
    sum(pass.end_ns - pass.start_ns) AS total_ns
FROM pass
INNER JOIN round ON pass.round_id = round.round_id
WHERE round.is_sampled AND round.wall_ns IS NOT NULL
GROUP BY
    pass.kind,
    round.gpu_id
ORDER BY
    min(pass.start_ns - round.start_ns),
    pass.kind,
    round.gpu_id

-- Streams of the operations of one GPU that overlap an interval, and what those without a name are: a position in
-- traceattr.attribution.closeup.NAMELESS, -1 for kernels.
SELECT
    op_id AS row,
    coalesce(stream_id, -1) AS stream_id,
    CASE
        WHEN kind = 'kernel' THEN -1
        WHEN kind = 'graph' THEN 0
        WHEN kind = 'memset' THEN 1
        WHEN copy_kind = 1 THEN 3
        WHEN copy_kind = 2 THEN 4
        WHEN copy_kind = 8 THEN 5
        WHEN copy_kind = 10 THEN 6
        ELSE 2
    END AS nameless
FROM _numbered_op
WHERE gpu_id = $gpu_id AND start_ns < $end_ns AND end_ns > $start_ns
ORDER BY op_id;

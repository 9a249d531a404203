-- Who owns the time of one GPU, in order, idle time aside.
SELECT
    start_ns,
    end_ns,
    category,
    subcategory,
    phase,
    report_group
FROM segment
WHERE gpu_id = $gpu_id AND category IS NOT NULL
ORDER BY start_ns;

-- Profiled processes that nsys says used no CUDA, while others did.
SELECT count(DISTINCT global_pid)
FROM diagnostic
WHERE
    text LIKE 'No CUDA events collected%'
    AND global_pid NOT IN (
        SELECT gpu.global_pid FROM gpu
        WHERE gpu.global_pid IS NOT NULL
    );

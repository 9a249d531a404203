SELECT
    gpu_id,
    name,
    rank,
    pid
FROM gpu
ORDER BY gpu_id;

-- The idle time of one GPU in order.
SELECT
    start_ns,
    end_ns,
    kind,
    joins,
    sync_ns,
    launch_ns,
    api_ns,
    os_ns,
    python_ns,
    dependency_ns,
    unknown_ns
FROM gap
WHERE gpu_id = $gpu_id
ORDER BY start_ns;

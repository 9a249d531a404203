-- Work of one GPU that no graph ran, with what launched it, in no order.
-- -1 stands for no correlation, the smallest integer for no launching call.
SELECT
    start_ns,
    coalesce(launch_ns, (-9223372036854775808)::BIGINT) AS launch_ns,
    coalesce(correlation_id, -1) AS correlation_id,
    kind = 'kernel' AS is_kernel
FROM _work
WHERE gpu_id = $gpu_id AND replay_id IS NULL;

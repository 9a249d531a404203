-- Batches that SGLang's scheduler announced (SGLANG_ENABLE_NVTX_SCHEDULER=1) in one process.
SELECT
    start_ns,
    end_ns
FROM host_range
WHERE global_pid = $global_pid AND name = 'scheduler.run_batch'
ORDER BY start_ns, end_ns;

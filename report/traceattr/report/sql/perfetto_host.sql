-- What the threads of GPU processes did in the window, or did to launch work in it.
-- is_first: the first call with its correlation; backtraces can record a call twice.
WITH
owning AS (
    SELECT DISTINCT global_pid
    FROM gpu
    WHERE global_pid IS NOT NULL
),

launching AS (
    SELECT DISTINCT
        gpu.global_pid,
        coalesce(operation.correlation_id, pass.correlation_id) AS correlation_id
    FROM operation
    INNER JOIN gpu ON operation.gpu_id = gpu.gpu_id
    LEFT JOIN pass ON operation.replay_id = pass.replay_id
),

done AS (
    SELECT
        call.global_pid,
        call.global_tid,
        'CUDA calls' AS what,
        call.start_ns,
        call.end_ns,
        call.name,
        NULL AS domain,
        call.correlation_id,
        launching.correlation_id IS NOT NULL AS is_needed
    FROM api_call AS call
    LEFT JOIN launching
        ON call.global_pid = launching.global_pid AND call.correlation_id = launching.correlation_id
    UNION ALL
    SELECT
        global_pid,
        global_tid,
        'OS calls' AS what,
        start_ns,
        end_ns,
        name,
        NULL AS domain,
        NULL AS correlation_id,
        FALSE AS is_needed
    FROM os_call
    UNION ALL
    SELECT
        global_pid,
        global_tid,
        'NVTX ranges' AS what,
        start_ns,
        end_ns,
        name,
        domain,
        NULL AS correlation_id,
        FALSE AS is_needed
    FROM host_range
)

SELECT
    done.global_pid,
    done.global_tid & 16777215 AS tid,
    done.what,
    done.start_ns,
    done.end_ns,
    done.name,
    done.domain,
    done.correlation_id,
    done.correlation_id IS NOT NULL
    AND row_number() OVER (
        PARTITION BY done.global_pid, done.correlation_id
        ORDER BY done.start_ns ASC, done.end_ns DESC, done.global_tid ASC
    ) = 1 AS is_first
FROM done
SEMI JOIN owning ON done.global_pid = owning.global_pid
CROSS JOIN analysis
WHERE done.is_needed OR (done.start_ns < analysis.end_ns AND done.end_ns > analysis.start_ns)
ORDER BY
    done.global_pid ASC,
    tid ASC,
    done.what ASC,
    done.start_ns ASC,
    done.end_ns DESC,
    done.name ASC;

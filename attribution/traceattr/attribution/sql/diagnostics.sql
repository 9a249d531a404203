-- Warnings and errors of nsys without duplicates, one row per text.
-- That a process used no CUDA or NVTX says nothing when it owns no GPU: helpers do not.
WITH
owning AS (
    SELECT DISTINCT global_pid
    FROM gpu
)

SELECT
    diagnostic.severity,
    diagnostic.text,
    count(*) AS occurrences,
    CASE WHEN count(DISTINCT diagnostic.global_pid) = 1 THEN min(diagnostic.global_pid) END
        AS global_pid
FROM diagnostic
WHERE
    diagnostic.severity IN (2, 3)
    AND NOT (
        regexp_matches(
            diagnostic.text, '^(No (CUDA|NVTX) events collected|CUDA profiling might have not)'
        )
        AND diagnostic.global_pid NOT IN (SELECT owning.global_pid FROM owning)
    )
GROUP BY diagnostic.severity, diagnostic.text
ORDER BY diagnostic.severity DESC, diagnostic.text ASC;

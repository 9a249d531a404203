-- Who owns the time of one GPU: neighbours of one category and phase are one stretch.
WITH
marked AS (
    SELECT
        start_ns,
        end_ns,
        category,
        subcategory,
        phase,
        report_group,
        lag(category) OVER (ORDER BY start_ns) AS category_before,
        lag(subcategory) OVER (ORDER BY start_ns) AS subcategory_before,
        lag(phase) OVER (ORDER BY start_ns) AS phase_before
    FROM segment
    WHERE gpu_id = $gpu_id
),

numbered AS (
    SELECT
        start_ns,
        end_ns,
        category,
        subcategory,
        phase,
        report_group,
        count(*) FILTER (
            WHERE category IS DISTINCT FROM category_before
            OR subcategory IS DISTINCT FROM subcategory_before
            OR phase IS DISTINCT FROM phase_before
        ) OVER (ORDER BY start_ns) AS stretch
    FROM marked
)

SELECT
    category,
    subcategory,
    phase,
    report_group,
    min(start_ns) AS start_ns,
    max(end_ns) AS end_ns
FROM numbered
WHERE category IS NOT NULL
GROUP BY stretch, category, subcategory, phase, report_group
ORDER BY min(start_ns);

-- Who rows of GPU work say that they belong to, and how many of each cannot be taken as they are.
SELECT
    global_pid,
    device_id,
    context_id,
    count(*) AS operations,
    count(*) FILTER (WHERE kind = 'graph') AS envelopes,
    count(*) FILTER (WHERE start_ns IS NULL OR end_ns IS NULL) AS without_times,
    count(*) FILTER (WHERE end_ns < start_ns) AS ending_before_start
FROM _op
GROUP BY global_pid, device_id, context_id;

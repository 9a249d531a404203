-- What a capture holds beside GPU work, in one row of counts.
-- An operation that begins before its launching call shows that the clocks do not agree.
WITH
instantiation AS (
    SELECT name
    FROM api_call
    WHERE regexp_matches(name, '^cu(da)?GraphInstantiate')
),

unlinked_replay AS (
    SELECT replay_id
    FROM replay
    WHERE correlation_id IS NULL
),

work AS (
    SELECT
        count(*) FILTER (WHERE launch_ns IS NOT NULL) AS launched,
        count(*) FILTER (WHERE start_ns < launch_ns) AS early,
        coalesce(max(launch_ns - start_ns) FILTER (WHERE start_ns < launch_ns), 0) AS early_ns,
        coalesce(max(end_ns) - min(start_ns), 0) AS span_ns
    FROM _work
)

SELECT
    (SELECT count(*) FROM os_call) AS os_calls,
    (SELECT count(*) FROM host_range) AS host_ranges,
    (SELECT count(*) FROM instantiation) AS instantiations,
    (SELECT count(*) FROM unlinked_replay) AS unlinked_replays,
    work.launched,
    work.early,
    work.early_ns,
    work.span_ns
FROM work;

-- Replays of one GPU in order of start, with what launched each.
--
-- Algorithm: a graph that was instantiated before the capture leaves replays without a correlation
-- and launch calls without work.  As many of one as of the other in a process are matched in order;
-- otherwise a replay belongs to the last such launch before it.
WITH
unlinked_replay AS (
    SELECT
        replay_id,
        global_pid,
        start_ns,
        row_number() OVER (PARTITION BY global_pid ORDER BY start_ns, replay_id) AS number,
        count(*) OVER (PARTITION BY global_pid) AS total
    FROM replay
    WHERE correlation_id IS NULL
),

unlinked_launch AS (
    SELECT
        call.global_pid,
        call.start_ns,
        call.correlation_id,
        row_number() OVER (PARTITION BY call.global_pid ORDER BY call.start_ns, call.correlation_id)
            AS number,
        count(*) OVER (PARTITION BY call.global_pid) AS total
    FROM api_call AS call
    ANTI JOIN replay
        ON call.global_pid = replay.global_pid AND call.correlation_id = replay.correlation_id
    WHERE
        regexp_matches(call.name, '^cu(da)?GraphLaunch')
        AND call.correlation_id IS NOT NULL
        AND call.global_pid IN (SELECT unlinked_replay.global_pid FROM unlinked_replay)
),

in_order AS (
    SELECT
        replay.replay_id,
        launch.start_ns,
        launch.correlation_id
    FROM unlinked_replay AS replay
    INNER JOIN unlinked_launch AS launch
        ON
            replay.global_pid = launch.global_pid
            AND replay.total = launch.total
            AND replay.number = launch.number
),

latest AS (
    SELECT
        replay.replay_id,
        launch.start_ns,
        launch.correlation_id
    FROM unlinked_replay AS replay
    ASOF INNER JOIN unlinked_launch AS launch
        ON replay.global_pid = launch.global_pid AND replay.start_ns >= launch.start_ns
    WHERE replay.total != launch.total
)

SELECT
    replay.replay_id,
    coalesce(
        replay.launch_ns, in_order.start_ns, latest.start_ns, (-9223372036854775808)::BIGINT
    ) AS launch_ns,
    coalesce(replay.correlation_id, in_order.correlation_id, latest.correlation_id, -1)
        AS correlation_id
FROM replay
LEFT JOIN in_order ON replay.replay_id = in_order.replay_id
LEFT JOIN latest ON replay.replay_id = latest.replay_id
WHERE replay.gpu_id = $gpu_id
ORDER BY replay.replay_id;

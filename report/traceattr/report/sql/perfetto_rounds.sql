-- Rounds of one GPU and the passes in them, outer ones first.
-- A round is shown up to the begin of the next: work of another stream may end a little later.
WITH
shown AS (
    SELECT
        'round' AS what,
        kind,
        number,
        NULL::VARCHAR AS phase,
        NULL::BIGINT AS graph_id,
        NULL::BIGINT AS layers,
        NULL::BIGINT AS forward_passes,
        start_ns,
        end_ns,
        coalesce(
            start_ns + wall_ns,
            least(end_ns, lead(start_ns) OVER (ORDER BY start_ns, round_id)),
            end_ns
        ) AS shown_end_ns,
        0 AS depth
    FROM round
    WHERE gpu_id = $gpu_id
    UNION ALL
    SELECT
        'pass' AS what,
        pass.kind,
        NULL AS number,
        pass.phase,
        replay.graph_id,
        pass.layers,
        pass.forward_passes,
        pass.start_ns,
        NULL AS end_ns,
        pass.end_ns AS shown_end_ns,
        1 AS depth
    FROM pass
    LEFT JOIN replay ON pass.replay_id = replay.replay_id
    WHERE pass.gpu_id = $gpu_id
)

SELECT
    what,
    kind,
    number,
    phase,
    graph_id,
    layers,
    forward_passes,
    start_ns,
    end_ns,
    shown_end_ns
FROM shown
ORDER BY start_ns ASC, shown_end_ns DESC, depth ASC;

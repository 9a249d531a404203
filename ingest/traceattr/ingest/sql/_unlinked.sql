-- Graph work without a correlation, and the table for its replay numbers (see replays.py).
-- Copies have no graphId column, so the graph is taken from the node for every kind.
CREATE TEMP VIEW _unlinked_work AS
SELECT
    op_id,
    dense_rank() OVER (
        ORDER BY gpu_id, coalesce(nullif((graph_node_id::BIGINT >> 32) & 4294967295, 0), graph_id)
    ) AS graph_key,
    graph_node_id::BIGINT AS graph_node_id,
    start_ns::BIGINT AS start_ns,
    end_ns::BIGINT AS end_ns
FROM _op_linked
WHERE is_graph_work AND kind != 'graph' AND correlation_id IS NULL AND graph_node_id IS NOT NULL;

CREATE TABLE _unlinked (
    op_id BIGINT,
    replay_number BIGINT
);

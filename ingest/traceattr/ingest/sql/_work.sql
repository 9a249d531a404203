-- What analyses need of operations.  Columns of _gpu_op are as narrow as their values allow.
CREATE VIEW _work AS
SELECT
    gpu_id::INTEGER AS gpu_id,
    kind::_OP_KIND AS kind,
    start_ns,
    end_ns,
    name_id,
    correlation_id::BIGINT AS correlation_id,
    launch_ns,
    replay_id,
    try_cast(copy_kind AS TINYINT) AS copy_kind
FROM _gpu_op;

-- Every operation of one GPU, in no order; -1 stands for none.
SELECT
    op_id::UINTEGER AS row,
    start_ns,
    end_ns,
    enum_code(kind)::TINYINT AS kind,
    coalesce(name_id, -1) AS name_id,
    coalesce(replay_id, -1) AS replay_id,
    coalesce(copy_kind, -1)::TINYINT AS copy_kind,
    coalesce(stream_id, -1) AS stream_id
FROM _numbered_op
WHERE gpu_id = $gpu_id;

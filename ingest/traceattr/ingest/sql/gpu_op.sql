-- Columns of _gpu_op are as narrow as their values allow; public ones have one type in every trace.
CREATE VIEW _numbered_op AS
SELECT
    op_id,
    gpu_id::INTEGER AS gpu_id,
    kind::_OP_KIND AS kind,
    start_ns,
    end_ns,
    context_id::BIGINT AS context_id,
    stream_id::BIGINT AS stream_id,
    name_id,
    correlation_id::BIGINT AS correlation_id,
    launch_ns,
    graph_id::BIGINT AS graph_id,
    graph_node_id::BIGINT AS graph_node_id,
    replay_id,
    bytes::BIGINT AS bytes,
    try_cast(copy_kind AS TINYINT) AS copy_kind
FROM _gpu_op;

CREATE VIEW gpu_op AS
SELECT
    gpu_id,
    kind,
    start_ns,
    end_ns,
    context_id,
    stream_id,
    name_id,
    correlation_id,
    launch_ns,
    graph_id,
    graph_node_id,
    replay_id,
    bytes,
    copy_kind
FROM _numbered_op;

COMMENT ON VIEW gpu_op IS
'One row per operation on a GPU: kernel, copy, memory set, or CUDA graph that was not traced per node.';
COMMENT ON COLUMN gpu_op.gpu_id IS 'GPU, see gpu.';
COMMENT ON COLUMN gpu_op.kind IS 'kernel, memcpy, memset or graph.';
COMMENT ON COLUMN gpu_op.start_ns IS
'Begin in ns on the clock of the trace; may be negative, or since 1970 in normalised exports.';
COMMENT ON COLUMN gpu_op.end_ns IS 'End in ns; never before start_ns.';
COMMENT ON COLUMN gpu_op.context_id IS 'CUDA context, local to the process. NULL when not recorded.';
COMMENT ON COLUMN gpu_op.stream_id IS 'CUDA stream, local to the process. NULL when not recorded.';
COMMENT ON COLUMN gpu_op.name_id IS 'Name of the kernel, see kernel_name. NULL for other kinds.';
COMMENT ON COLUMN gpu_op.correlation_id IS
'Launching call, unique within its process. NULL when there is none (0 in the export).';
COMMENT ON COLUMN gpu_op.launch_ns IS
'Begin of the launching call in ns. NULL when that call is not in the trace.';
COMMENT ON COLUMN gpu_op.graph_id IS 'CUDA graph, unique within its process. NULL outside graphs.';
COMMENT ON COLUMN gpu_op.graph_node_id IS 'Node of the graph. NULL outside graphs.';
COMMENT ON COLUMN gpu_op.replay_id IS 'Launch of a graph it belongs to, see replay. NULL outside graphs.';
COMMENT ON COLUMN gpu_op.bytes IS 'Bytes copied or set. NULL for other kinds.';
COMMENT ON COLUMN gpu_op.copy_kind IS
'CUpti copy kind: 1 host to device, 2 device to host, 8 device to device, 10 peer to peer. NULL for other kinds.';

CREATE TABLE _operation AS
SELECT
    operation_id,
    round_id::INTEGER AS round_id,
    pass_id::INTEGER AS pass_id,
    category,
    subcategory,
    phase,
    report_group,
    inside_ns,
    exclusive_ns
FROM batch;

CREATE VIEW operation AS
SELECT
    found.operation_id,
    op.gpu_id,
    op.kind,
    op.start_ns,
    op.end_ns,
    op.context_id,
    op.stream_id,
    op.name_id,
    op.correlation_id,
    op.launch_ns,
    op.graph_id,
    op.graph_node_id,
    op.replay_id,
    op.bytes,
    op.copy_kind,
    found.pass_id,
    found.round_id,
    found.category,
    found.subcategory,
    found.phase,
    found.report_group,
    found.inside_ns,
    found.exclusive_ns
FROM _operation AS found
INNER JOIN _numbered_op AS op ON found.operation_id = op.op_id;

COMMENT ON VIEW operation IS
'One row per row of gpu_op that touches the window, with what it is part of and what time it owns.';
COMMENT ON COLUMN operation.operation_id IS
'Dense number from 0 over the whole trace, in order of GPU and time.';
COMMENT ON COLUMN operation.gpu_id IS 'GPU, see gpu.';
COMMENT ON COLUMN operation.kind IS 'kernel, memcpy, memset or graph.';
COMMENT ON COLUMN operation.start_ns IS 'Begin in ns on the clock of the trace.';
COMMENT ON COLUMN operation.end_ns IS 'End in ns.';
COMMENT ON COLUMN operation.context_id IS 'CUDA context, local to the process. NULL when not recorded.';
COMMENT ON COLUMN operation.stream_id IS 'CUDA stream, local to the process. NULL when not recorded.';
COMMENT ON COLUMN operation.name_id IS 'Name of the kernel, see kernel_name. NULL for other kinds.';
COMMENT ON COLUMN operation.correlation_id IS 'Launching call, see gpu_op. NULL when there is none.';
COMMENT ON COLUMN operation.launch_ns IS
'Begin of the launching call in ns. NULL when that call is not in the trace.';
COMMENT ON COLUMN operation.graph_id IS 'CUDA graph, unique within its process. NULL outside graphs.';
COMMENT ON COLUMN operation.graph_node_id IS 'Node of the graph. NULL outside graphs.';
COMMENT ON COLUMN operation.replay_id IS 'Launch of a graph, see replay. NULL outside graphs.';
COMMENT ON COLUMN operation.bytes IS 'Bytes copied or set. NULL for other kinds.';
COMMENT ON COLUMN operation.copy_kind IS 'CUpti copy kind, see gpu_op. NULL for other kinds.';
COMMENT ON COLUMN operation.pass_id IS 'Pass it is part of, see pass. NULL outside passes.';
COMMENT ON COLUMN operation.round_id IS 'Round it is part of, see round. NULL outside rounds.';
COMMENT ON COLUMN operation.category IS 'Category, as in the report.';
COMMENT ON COLUMN operation.subcategory IS 'nccl or custom for communication. NULL otherwise.';
COMMENT ON COLUMN operation.phase IS
'Of which model: target, draft, prefill, or other for work around the passes.';
COMMENT ON COLUMN operation.report_group IS 'Row of the top table of the report.';
COMMENT ON COLUMN operation.inside_ns IS 'How long it runs inside the window.';
COMMENT ON COLUMN operation.exclusive_ns IS 'How much of the window it owns.';

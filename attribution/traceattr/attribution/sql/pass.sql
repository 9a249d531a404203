CREATE TABLE pass AS
SELECT
    batch.pass_id,
    batch.gpu_id,
    batch.round_id::INTEGER AS round_id,
    batch.replay_id::INTEGER AS replay_id,
    batch.correlation_id,
    batch.kind,
    batch.phase,
    batch.start_ns,
    batch.end_ns,
    batch.layers,
    batch.forward_passes
FROM batch
CROSS JOIN analysis
WHERE batch.start_ns < analysis.end_ns AND batch.end_ns > analysis.start_ns
ORDER BY batch.pass_id;

COMMENT ON TABLE pass IS
'One row per graph replay, or pass launched kernel by kernel, that touches the window.';
COMMENT ON COLUMN pass.pass_id IS
'Dense number from 0 over the whole trace, in order of GPU and time.';
COMMENT ON COLUMN pass.gpu_id IS 'GPU, see gpu.';
COMMENT ON COLUMN pass.round_id IS 'Round it is part of, see round. NULL outside rounds.';
COMMENT ON COLUMN pass.replay_id IS 'Its launch of a graph, see replay. NULL when no graph ran it.';
COMMENT ON COLUMN pass.correlation_id IS
'Call that launched that replay, with the process; found by order where the export does not name it. NULL when none.';
COMMENT ON COLUMN pass.kind IS
'verify, decode, draft, draft_extend, prefill, prefill_piece or other.';
COMMENT ON COLUMN pass.phase IS 'Which model it runs: target, draft, prefill or other.';
COMMENT ON COLUMN pass.start_ns IS 'Begin of its first operation.';
COMMENT ON COLUMN pass.end_ns IS 'End of its last operation.';
COMMENT ON COLUMN pass.layers IS 'Layers that it runs. NULL where the trace shows none.';
COMMENT ON COLUMN pass.forward_passes IS 'Forward passes of a model it holds, at least 1.';

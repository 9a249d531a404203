CREATE TABLE round AS
SELECT
    batch.round_id,
    batch.gpu_id,
    batch.number::INTEGER AS number,
    batch.kind,
    batch.start_ns,
    batch.end_ns,
    batch.wall_ns,
    batch.is_sampled
FROM batch
CROSS JOIN analysis
WHERE batch.start_ns < analysis.end_ns AND batch.end_ns > analysis.start_ns
ORDER BY batch.round_id;

COMMENT ON TABLE round IS 'One row per round or prefill of each GPU that touches the window.';
COMMENT ON COLUMN round.round_id IS
'Dense number from 0 over the whole trace, in order of GPU and time.';
COMMENT ON COLUMN round.gpu_id IS 'GPU, see gpu.';
COMMENT ON COLUMN round.number IS
'Position among the rounds of the main kind of its GPU from 0, as --rounds counts. NULL for other kinds.';
COMMENT ON COLUMN round.kind IS
'speculative, decode, prefill, or partial: cut by the begin or end of the capture.';
COMMENT ON COLUMN round.start_ns IS 'Begin of its first operation.';
COMMENT ON COLUMN round.end_ns IS 'End of its last operation; that of another stream may be in the next round.';
COMMENT ON COLUMN round.wall_ns IS
'From its begin to the begin of the next. NULL when a pause or nothing follows.';
COMMENT ON COLUMN round.is_sampled IS 'Whether figures per round are about it.';

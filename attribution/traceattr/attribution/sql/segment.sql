CREATE TABLE segment AS
SELECT
    gpu_id,
    start_ns,
    end_ns,
    category,
    subcategory,
    phase,
    report_group,
    operation_id
FROM batch
ORDER BY gpu_id, start_ns;

COMMENT ON TABLE segment IS
'One row per stretch of time with one owner; those of a GPU tile the window to the nanosecond.';
COMMENT ON COLUMN segment.gpu_id IS 'GPU, see gpu.';
COMMENT ON COLUMN segment.start_ns IS 'Begin in ns on the clock of the trace.';
COMMENT ON COLUMN segment.end_ns IS 'End, which is the begin of the next.';
COMMENT ON COLUMN segment.category IS 'Category of the operation that owns it. NULL when idle.';
COMMENT ON COLUMN segment.subcategory IS 'nccl or custom for communication. NULL otherwise.';
COMMENT ON COLUMN segment.phase IS 'Of which model that operation is, see operation. NULL when idle.';
COMMENT ON COLUMN segment.report_group IS 'Row of the top table of the report, idle time included.';
COMMENT ON COLUMN segment.operation_id IS 'That operation, see operation. NULL when idle.';

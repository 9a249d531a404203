CREATE TABLE gap AS
SELECT
    gpu_id,
    start_ns,
    end_ns,
    kind,
    joins,
    global_tid,
    sync_ns,
    launch_ns,
    api_ns,
    os_ns,
    python_ns,
    dependency_ns,
    unknown_ns
FROM batch
ORDER BY gpu_id, start_ns;

COMMENT ON TABLE gap IS
'One row per stretch of the window in which nothing ran on a GPU; the causes sum to its length.';
COMMENT ON COLUMN gap.gpu_id IS 'GPU, see gpu.';
COMMENT ON COLUMN gap.start_ns IS 'Begin in ns on the clock of the trace.';
COMMENT ON COLUMN gap.end_ns IS 'End in ns.';
COMMENT ON COLUMN gap.kind IS
'seam: outside replays; in-graph: inside one; no work: an edge of the trace or a pause.';
COMMENT ON COLUMN gap.joins IS
'What it joins: passes, or categories when it lies in a graph; no work otherwise.';
COMMENT ON COLUMN gap.global_tid IS
'Thread whose launching call ended it. NULL when not known or when the host was not late.';
COMMENT ON COLUMN gap.sync_ns IS 'That thread was in a call that waits for the GPU.';
COMMENT ON COLUMN gap.launch_ns IS 'It was in a launching call.';
COMMENT ON COLUMN gap.api_ns IS 'It was in another CUDA call.';
COMMENT ON COLUMN gap.os_ns IS
'It was in an operating-system call; 0 and part of python_ns when those were not recorded.';
COMMENT ON COLUMN gap.python_ns IS 'It was in nothing that was recorded: in SGLang mostly Python.';
COMMENT ON COLUMN gap.dependency_ns IS
'The host had done its part: a wait for other GPU work, or the launch on its way.';
COMMENT ON COLUMN gap.unknown_ns IS 'The launching call is not in the trace.';

CREATE TABLE capture (
    file VARCHAR,
    nsys_version VARCHAR,
    schema_version VARCHAR,
    driver_version VARCHAR,
    utc_epoch_ns BIGINT,
    duration_ns BIGINT,
    time_shift_ns BIGINT,
    is_time_normalised BOOLEAN,
    is_partial BOOLEAN,
    graph_trace_option VARCHAR,
    simulated VARCHAR
);

COMMENT ON TABLE capture IS
'One row about the recording. Environment, command line, host and user are never copied.';
COMMENT ON COLUMN capture.file IS 'Name of the export, without its directories.';
COMMENT ON COLUMN capture.nsys_version IS
'Version of Nsight Systems that exported it. NULL when not recorded.';
COMMENT ON COLUMN capture.schema_version IS
'Version of the export schema, such as 3.25.0. NULL when not recorded.';
COMMENT ON COLUMN capture.driver_version IS 'NVIDIA driver. NULL when not recorded.';
COMMENT ON COLUMN capture.utc_epoch_ns IS
'Wall clock of time 0, in ns since 1970. NULL when not recorded.';
COMMENT ON COLUMN capture.duration_ns IS 'Length of the capture. NULL when not recorded.';
COMMENT ON COLUMN capture.time_shift_ns IS
'Added to every time by the export (--ts-shift), 0 when none.';
COMMENT ON COLUMN capture.is_time_normalised IS
'Whether times count from 1970 (--ts-normalize) and not from the start of the session.';
COMMENT ON COLUMN capture.is_partial IS
'Whether the export left out tables or times (--tables, --times).';
COMMENT ON COLUMN capture.graph_trace_option IS
'What the recording asked for with --cuda-graph-trace. NULL when not recorded.';
COMMENT ON COLUMN capture.simulated IS
'What the simulator says about itself. NULL for a recording.';

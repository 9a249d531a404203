CREATE TABLE diagnostic (
    timestamp_ns BIGINT,
    severity INTEGER,
    text VARCHAR,
    global_pid BIGINT
);

COMMENT ON TABLE diagnostic IS 'One row per message of nsys about the capture.';
COMMENT ON COLUMN diagnostic.timestamp_ns IS
'When, in ns; host and target clocks are mixed. NULL when not recorded.';
COMMENT ON COLUMN diagnostic.severity IS '1 info, 2 warning, 3 error, 4 verbose.';
COMMENT ON COLUMN diagnostic.text IS 'The message.';
COMMENT ON COLUMN diagnostic.global_pid IS
'Process it is about. NULL when it is about none (nsys writes a placeholder then).';

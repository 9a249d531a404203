CREATE TABLE analysis (
    start_ns BIGINT,
    end_ns BIGINT,
    why VARCHAR,
    rules VARCHAR,
    rules_sha256 VARCHAR,
    traceattr_version VARCHAR
);

COMMENT ON TABLE analysis IS
'One row about what was analysed; round, pass, operation, gap and segment are about this window.';
COMMENT ON COLUMN analysis.start_ns IS 'Begin of the window in ns on the clock of the trace.';
COMMENT ON COLUMN analysis.end_ns IS 'End of the window, exclusive.';
COMMENT ON COLUMN analysis.why IS 'How the window was chosen.';
COMMENT ON COLUMN analysis.rules IS 'Rule files in order of precedence, joined with +.';
COMMENT ON COLUMN analysis.rules_sha256 IS 'Digest over their bytes, hexadecimal.';
COMMENT ON COLUMN analysis.traceattr_version IS 'Version of traceattr.';

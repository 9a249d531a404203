SELECT
    capture.file,
    capture.simulated,
    analysis.start_ns,
    analysis.end_ns,
    analysis.why,
    analysis.rules,
    analysis.traceattr_version
FROM analysis
CROSS JOIN capture;

CREATE VIEW os_call AS
SELECT
    os.global_pid,
    os.global_tid,
    os.start_ns,
    os.end_ns,
    coalesce(os_name.name, 'os#' || os.name_id) AS name
FROM _os AS os
LEFT JOIN _os_name AS os_name ON os.name_id = os_name.id;

COMMENT ON VIEW os_call IS 'One row per traced operating-system call (OS runtime trace).';
COMMENT ON COLUMN os_call.global_pid IS 'Process, see api_call. NULL when not recorded.';
COMMENT ON COLUMN os_call.global_tid IS 'Thread. NULL when not recorded.';
COMMENT ON COLUMN os_call.start_ns IS 'Begin in ns on the clock of the trace.';
COMMENT ON COLUMN os_call.end_ns IS 'End in ns; never before start_ns.';
COMMENT ON COLUMN os_call.name IS 'Name of the call; os#ID when the string is missing.';

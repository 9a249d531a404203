CREATE VIEW host_range AS
WITH
-- 75 is the creation of a domain; its text is the domain's name.
nvtx_domain AS (
    SELECT
        created.global_pid,
        created.domain_id,
        min(coalesce(own_text.name, registered.name)) AS name
    FROM _nvtx AS created
    LEFT JOIN _nvtx_text AS own_text ON created.text = own_text.value
    LEFT JOIN _nvtx_name AS registered ON created.text_id = registered.id
    WHERE created.event_type = 75 AND created.domain_id != 0
    GROUP BY created.global_pid, created.domain_id
)

SELECT
    nvtx.global_pid,
    nvtx.global_tid,
    nvtx.end_global_tid,
    nvtx.kind,
    nvtx.start_ns,
    nvtx.end_ns,
    coalesce(own_text.name, registered.name) AS name,
    nvtx_domain.name AS domain
FROM _nvtx AS nvtx
LEFT JOIN _nvtx_text AS own_text ON nvtx.text = own_text.value
LEFT JOIN _nvtx_name AS registered ON nvtx.text_id = registered.id
LEFT JOIN nvtx_domain
    ON nvtx.global_pid = nvtx_domain.global_pid AND nvtx.domain_id = nvtx_domain.domain_id
WHERE nvtx.kind IS NOT NULL;

COMMENT ON VIEW host_range IS 'One row per NVTX range or mark on the host.';
COMMENT ON COLUMN host_range.global_pid IS 'Process, see api_call. NULL when not recorded.';
COMMENT ON COLUMN host_range.global_tid IS 'Thread that began it. NULL when not recorded.';
COMMENT ON COLUMN host_range.end_global_tid IS
'Thread that ended it, when it is another. NULL when it is the same.';
COMMENT ON COLUMN host_range.kind IS
'push_pop: nests within its thread and domain; start_end: may cross threads and overlap; mark: an instant.';
COMMENT ON COLUMN host_range.start_ns IS 'Begin in ns on the clock of the trace.';
COMMENT ON COLUMN host_range.end_ns IS
'End in ns, the end of the recording for a range left open; start_ns for a mark.';
COMMENT ON COLUMN host_range.name IS 'Its text. NULL when it has none.';
COMMENT ON COLUMN host_range.domain IS
'Name of its NVTX domain. NULL for the default domain, and where the name was not recorded.';

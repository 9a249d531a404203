-- Operations of one GPU that touch the window, whole and in no order.
-- One of length zero covers nothing but is counted, on the window's last ns too.
SELECT
    start_ns,
    end_ns,
    enum_code(kind)::TINYINT AS kind,
    coalesce(name_id, -1) AS name_id
FROM gpu_op
WHERE
    gpu_id = $gpu_id
    AND (
        (start_ns < $end_ns AND end_ns > $start_ns)
        OR (start_ns = end_ns AND start_ns BETWEEN $start_ns AND $end_ns)
    );

-- OS calls of one thread that overlap an interval, in order of start.
SELECT
    start_ns,
    end_ns
FROM os_call
WHERE
    global_tid = $global_tid
    AND start_ns < $end_ns
    AND end_ns > $start_ns
ORDER BY start_ns, end_ns;

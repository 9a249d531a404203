-- Name of the range of one thread that covers most of an interval, the innermost of several.
SELECT name
FROM host_range
WHERE
    global_tid = $global_tid
    AND start_ns < $end_ns
    AND end_ns > $start_ns
    AND kind != 'mark'
    AND name IS NOT NULL
ORDER BY
    least(end_ns, $end_ns) - greatest(start_ns, $start_ns) DESC,
    end_ns - start_ns ASC,
    start_ns DESC,
    name ASC
LIMIT 1;

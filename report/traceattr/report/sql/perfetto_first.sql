-- The earliest time that the timeline shows; 0 when it shows nothing.
SELECT
    coalesce(
        least(
            (SELECT min(start_ns) FROM operation),
            (SELECT min(start_ns) FROM round),
            (SELECT min(start_ns) FROM pass),
            (SELECT min(start_ns) FROM api_call),
            (SELECT min(start_ns) FROM os_call),
            (SELECT min(start_ns) FROM host_range),
            (SELECT start_ns FROM analysis)
        ),
        0
    ) AS first_ns;

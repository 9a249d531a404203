-- A range still open when the session ended lasts to the end of what was recorded.
UPDATE _nvtx
SET
    end_ns = CASE
        WHEN kind = 'mark' THEN start_ns
        ELSE greatest(start_ns, coalesce(end_ns, (SELECT max(greatest(start_ns, end_ns)) FROM _nvtx)))
    END
WHERE kind IS NOT NULL;

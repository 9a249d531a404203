CREATE TABLE _nvtx_text AS
SELECT
    value,
    name
FROM batch;

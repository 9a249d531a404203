CREATE TABLE _nvtx_name AS
SELECT
    id,
    name
FROM batch;

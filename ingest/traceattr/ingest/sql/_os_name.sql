CREATE TABLE _os_name AS
SELECT
    id,
    name
FROM batch;

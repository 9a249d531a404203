CREATE TABLE _name_key AS
SELECT
    name_id,
    demangled_id,
    short_id
FROM batch;

INSERT INTO kernel_name
SELECT DISTINCT
    name_id,
    name,
    short_name
FROM batch;

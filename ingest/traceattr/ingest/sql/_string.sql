-- The only strings that are ever copied: those that a kernel, API, NVTX or OS row refers to.
-- StringIds also holds whole environment blocks, of unrelated processes too.
CREATE TABLE _string AS
SELECT
    batch.id,
    batch.value
FROM batch
WHERE batch.id IN (SELECT _needed.id FROM _needed);

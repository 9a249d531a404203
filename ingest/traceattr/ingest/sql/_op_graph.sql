-- CUPTI writes 0 for the times of a replay that it could not collect.
INSERT INTO _op
SELECT
    'graph',
    CASE WHEN "end" != 0 THEN "start" END,
    CASE WHEN "end" != 0 THEN "end" END,
    "deviceId",
    "contextId",
    "streamId",
    nullif("correlationId", 0),
    nullif("globalPid", 0),
    NULL,
    NULL,
    NULL,
    coalesce(nullif("graphId", 0), nullif("graphExecId", 0)),
    NULL,
    NULL
FROM batch;

-- A row without times (0/0) is a replay whose timestamps CUPTI could not collect.
INSERT INTO _op
SELECT
    'graph',
    "start",
    "end",
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
FROM batch
WHERE "start" IS NOT NULL AND "end" IS NOT NULL AND NOT ("start" = 0 AND "end" = 0);

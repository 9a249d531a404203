-- CUPTI writes 0 and nsys writes NULL for "not in a graph" and for "no correlation".
-- Before schema 3.24 there is no graphId column: the high half of graphNodeId is the graph.
INSERT INTO _op
SELECT
    'kernel',
    "start",
    "end",
    "deviceId",
    "contextId",
    "streamId",
    nullif("correlationId", 0),
    nullif("globalPid", 0),
    "demangledName",
    "shortName",
    nullif("graphNodeId", 0),
    coalesce(nullif("graphId", 0), nullif(("graphNodeId" >> 32) & 4294967295, 0)),
    NULL,
    NULL
FROM batch;

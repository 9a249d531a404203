INSERT INTO _op
SELECT
    'memcpy',
    "start",
    "end",
    "deviceId",
    "contextId",
    "streamId",
    nullif("correlationId", 0),
    nullif("globalPid", 0),
    NULL,
    NULL,
    nullif("graphNodeId", 0),
    nullif(("graphNodeId" >> 32) & 4294967295, 0),
    "bytes",
    "copyKind"
FROM batch;

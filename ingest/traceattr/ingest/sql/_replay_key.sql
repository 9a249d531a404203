-- Keys below zero: work without a correlation, numbered by node order and time.
UPDATE _op_resolved
SET replay_key = -1 - _unlinked.replay_number
FROM _unlinked
WHERE _op_resolved.rowid = _unlinked.op_rowid;

-- Keys above every correlation id (they are 32 bits wide): one per envelope.
UPDATE _op_resolved
SET replay_key = 4294967296 + _op_resolved.rowid
WHERE kind = 'graph';

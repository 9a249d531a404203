-- GPU work as nsys stores it, in one shape; owners, names and replays are resolved in gpu_op.
CREATE TABLE _op (
    kind ENUM('kernel', 'memcpy', 'memset', 'graph'),
    start_ns BIGINT,
    end_ns BIGINT,
    device_id BIGINT,
    context_id BIGINT,
    stream_id BIGINT,
    correlation_id BIGINT,
    global_pid BIGINT,
    demangled_id BIGINT,
    short_id BIGINT,
    graph_node_id BIGINT,
    graph_id BIGINT,
    bytes BIGINT,
    copy_kind BIGINT
);

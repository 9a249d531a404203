-- From process, device and context as an operation names them to the GPU they mean.
CREATE TABLE _owner (
    op_global_pid BIGINT,
    device_id BIGINT,
    context_id BIGINT,
    gpu_id INTEGER
);

CREATE TABLE gpu (
    gpu_id INTEGER,
    global_pid BIGINT,
    pid BIGINT,
    process_name VARCHAR,
    device_id BIGINT,
    rank INTEGER,
    rank_from VARCHAR,
    name VARCHAR,
    name_from VARCHAR,
    uuid VARCHAR,
    bus_location VARCHAR,
    sm_count INTEGER,
    memory_bandwidth_bytes_per_s BIGINT
);

COMMENT ON TABLE gpu IS
'One row per GPU as one process sees it, in order of rank; two ranks may both call theirs device 0.';
COMMENT ON COLUMN gpu.gpu_id IS 'Dense number from 0, the key of every other table.';
COMMENT ON COLUMN gpu.global_pid IS
'Owning process: nsys id made of host, VM and pid. NULL when the trace names no process.';
COMMENT ON COLUMN gpu.pid IS
'Operating-system id of the process, as its container sees it. NULL when unknown.';
COMMENT ON COLUMN gpu.process_name IS 'Name or title of the process. NULL when not recorded.';
COMMENT ON COLUMN gpu.device_id IS
'CUDA ordinal inside the process, after CUDA_VISIBLE_DEVICES.';
COMMENT ON COLUMN gpu.rank IS
'Tensor-parallel rank. NULL when some processes carry a rank in their title and this one does not.';
COMMENT ON COLUMN gpu.rank_from IS
'Where rank comes from: process title, or device order. NULL when rank is.';
COMMENT ON COLUMN gpu.name IS 'Marketing name of the physical GPU. NULL when unknown.';
COMMENT ON COLUMN gpu.name_from IS
'trace: resolved by the trace; assumed: by ordinal, or all GPUs are alike. NULL when name is.';
COMMENT ON COLUMN gpu.uuid IS 'UUID of the physical GPU. NULL when it cannot be told which it is.';
COMMENT ON COLUMN gpu.bus_location IS
'PCI address of the physical GPU. NULL when it cannot be told which it is.';
COMMENT ON COLUMN gpu.sm_count IS
'Streaming multiprocessors the process can use. NULL when unknown.';
COMMENT ON COLUMN gpu.memory_bandwidth_bytes_per_s IS
'Peak memory bandwidth in bytes per second, as the driver reports it. NULL when unknown.';

-- nsys appends the ABI version: cudaLaunchKernel_v7000, cudaLaunchKernelExC_v11060.
CREATE TABLE _api_name AS
SELECT
    id,
    regexp_replace(name, '_v[0-9]+$', '') AS name,
    regexp_matches(name, '^cu(da)?GraphLaunch') AS is_graph_launch,
    regexp_matches(name, '^cu(da)?Launch(Cooperative)?(Kernel|Device|Grid)?') AS is_kernel_launch
FROM batch;

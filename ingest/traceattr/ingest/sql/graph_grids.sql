SELECT
    owner.gpu_id,
    grid.graph_id,
    name_key.name_id,
    grid.width,
    sum(grid.kernels)::BIGINT AS kernels
FROM _grid AS grid
INNER JOIN _owner AS owner
    ON
        nullif(grid.global_pid, 0) IS NOT DISTINCT FROM owner.op_global_pid
        AND grid.device_id IS NOT DISTINCT FROM owner.device_id
        AND grid.context_id IS NOT DISTINCT FROM owner.context_id
INNER JOIN _name_key AS name_key
    ON
        grid.demangled_id IS NOT DISTINCT FROM name_key.demangled_id
        AND grid.short_id IS NOT DISTINCT FROM name_key.short_id
GROUP BY owner.gpu_id, grid.graph_id, name_key.name_id, grid.width
ORDER BY owner.gpu_id, grid.graph_id, name_key.name_id, grid.width;

-- The operations of one GPU, stream by stream in order.
SELECT
    operation.operation_id,
    operation.kind::VARCHAR AS kind,
    operation.start_ns,
    operation.end_ns,
    operation.context_id,
    operation.stream_id,
    operation.category,
    operation.subcategory,
    operation.phase,
    operation.report_group,
    operation.inside_ns,
    operation.exclusive_ns,
    kernel_name.name,
    kernel_name.short_name,
    kernel_category.rule,
    operation.graph_id,
    operation.bytes,
    CASE operation.copy_kind
        WHEN 1 THEN 'copy host to device'
        WHEN 2 THEN 'copy device to host'
        WHEN 8 THEN 'copy on device'
        WHEN 10 THEN 'copy to another device'
    END AS copy
FROM operation
LEFT JOIN kernel_name ON operation.name_id = kernel_name.name_id
LEFT JOIN kernel_category ON operation.name_id = kernel_category.name_id
WHERE operation.gpu_id = $gpu_id
ORDER BY
    operation.context_id,
    operation.stream_id,
    operation.start_ns,
    operation.end_ns,
    operation.operation_id;

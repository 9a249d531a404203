-- The CUDA contexts in which one GPU worked in the window.
SELECT DISTINCT context_id
FROM operation
WHERE gpu_id = $gpu_id
ORDER BY context_id;

CREATE TABLE kernel_category AS
SELECT
    name_id,
    category,
    subcategory,
    rule
FROM batch
ORDER BY name_id;

COMMENT ON TABLE kernel_category IS 'One row per distinct kernel name: what the rules say.';
COMMENT ON COLUMN kernel_category.name_id IS 'Name of the kernel, see kernel_name.';
COMMENT ON COLUMN kernel_category.category IS 'Category; unclassified when no rule matches.';
COMMENT ON COLUMN kernel_category.subcategory IS 'nccl or custom for communication. NULL otherwise.';
COMMENT ON COLUMN kernel_category.rule IS 'Name of the rule that won. NULL when none matches.';

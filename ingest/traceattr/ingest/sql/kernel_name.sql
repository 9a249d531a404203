CREATE TABLE kernel_name (
    name_id INTEGER,
    name VARCHAR,
    short_name VARCHAR
);

COMMENT ON TABLE kernel_name IS 'One row per distinct kernel name in the trace.';
COMMENT ON COLUMN kernel_name.name_id IS 'Dense number from 0, in order of name.';
COMMENT ON COLUMN kernel_name.name IS
'Demangled name with templates and parameters; the short one where that is missing, kernel#ID where both are.';
COMMENT ON COLUMN kernel_name.short_name IS 'Base name. NULL when not recorded.';

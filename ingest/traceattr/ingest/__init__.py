"""From an nsys ``.sqlite`` export to documented DuckDB tables."""

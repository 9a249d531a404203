-- The part of the trace in which launches are compared with their work; one row.
CREATE TABLE _judged (
    start_ns BIGINT,
    end_ns BIGINT
);

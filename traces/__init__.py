"""Sample traces: a writer of nsys-like exports and a simulator of an SGLang server.

Nothing here is shipped, and nothing here imports `traceattr`: the simulator and the code that
attributes its traces share the export schema and nothing else.
"""

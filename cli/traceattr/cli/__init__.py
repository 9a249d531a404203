"""The command line; it parses arguments, calls one function and prints its result."""

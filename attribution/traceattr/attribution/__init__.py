"""Which category or gap owns each nanosecond of each GPU."""

"""What is kept of traces in the cache directory of the user, and for how long."""

"""What differs between two traces, per round, and whether it is more than noise."""

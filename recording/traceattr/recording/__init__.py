"""Making a trace with Nsight Systems."""

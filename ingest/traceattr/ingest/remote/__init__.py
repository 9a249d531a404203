"""Files that lie elsewhere, read by ranges as if they lay here."""

"""From rows of GPU work as an export has them to what each GPU ran, in order of time."""

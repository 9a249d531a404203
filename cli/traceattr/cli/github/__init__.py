"""GitHub as far as `traceattr comment` needs it: one comment of a pull request, kept up to date."""

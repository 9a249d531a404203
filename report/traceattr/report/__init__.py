"""One analysis, many renderings."""

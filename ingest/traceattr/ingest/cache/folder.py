"""Where things are kept that can be made again."""

import os
from pathlib import Path

from traceattr.errors import OptionError


def cache_folder() -> Path:
    """Return the cache directory of the user, or the one that TRACEATTR_CACHE_DIR names."""
    folder = os.environ.get("TRACEATTR_CACHE_DIR", "")
    if folder:
        return Path(folder).absolute()
    from platformdirs import user_cache_path

    return user_cache_path("traceattr", appauthor=False)


def cache_limit_bytes(usual_bytes: int) -> int:
    """Return how much may be kept of one kind: as TRACEATTR_CACHE_LIMIT_MB says, or as usual.

    Raises:
        OptionError: It is no number.
    """
    limit = os.environ.get("TRACEATTR_CACHE_LIMIT_MB", "")
    if limit and not limit.isdecimal():
        raise OptionError(f"TRACEATTR_CACHE_LIMIT_MB={limit}: not a whole number of megabytes")
    return int(limit) * 10**6 if limit else usual_bytes

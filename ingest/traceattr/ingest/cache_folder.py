"""Where things are kept that can be made again."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """Return the cache directory of the user, or the one that TRACEATTR_CACHE_DIR names."""
    folder = os.environ.get("TRACEATTR_CACHE_DIR", "")
    if folder:
        return Path(folder).absolute()
    from platformdirs import user_cache_path

    return user_cache_path("traceattr", appauthor=False)

"""The errors traceattr raises on purpose."""


class TraceattrError(Exception):
    """Base of every error whose message is meant for the person at the terminal."""


class ExportError(TraceattrError):
    """The file is not an nsys export that we can read."""


class RuleError(TraceattrError):
    """A rule file is malformed."""


class OptionError(TraceattrError):
    """A command-line value parses but makes no sense for this trace."""

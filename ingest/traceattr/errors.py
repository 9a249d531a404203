"""The errors traceattr raises on purpose."""


class TraceattrError(Exception):
    """Base of every error whose message is meant for the person at the terminal."""

    exit_code = 2


class ExportError(TraceattrError):
    """The file is not an nsys export that we can read."""


class RuleError(TraceattrError):
    """A rule file is malformed."""


class OptionError(TraceattrError):
    """A command-line value parses but makes no sense for this trace."""


class HardwareError(TraceattrError):
    """A GPU is unknown, or a file of GPUs is malformed."""


class ModelError(TraceattrError):
    """A model's configuration is unknown, incomplete or contradictory."""


class DeploymentError(TraceattrError):
    """A deployment is malformed or does not fit the model."""


class StoredAnalysisError(TraceattrError):
    """A stored analysis is damaged, something else, or of a format of another version."""


class GithubError(TraceattrError):
    """GitHub cannot be asked, or does not do what it was asked."""


class NotAllowedError(GithubError):
    """GitHub does not let this token comment there."""

    exit_code = 3


class QueryError(TraceattrError):
    """An SQL query of the user cannot be run."""


class NsysError(TraceattrError):
    """The local nsys is missing, refuses or fails."""


class ScrubError(TraceattrError):
    """A copy to be shared is not what it must be."""

    exit_code = 1


class ServerError(TraceattrError):
    """A running server cannot be asked, or does not do what it was asked."""

"""What the log of an SGLang server says about its deployment."""

import io

from traceattr.roofline.deployment import Deployment, deployment_from_server_args, merge
from traceattr.roofline.load_lines import LogText, read_log
from traceattr.roofline.server_load import load_of_log


def deployment_from_server_log(text: str, file: str = "server log") -> Deployment:
    """Return the server arguments in a log and the load that its decode lines report.

    Raises:
        DeploymentError: When the arguments in it hold one that we cannot model.
    """
    return deployment_of_log(read_log(io.BytesIO(text.encode())), file)


def deployment_of_log(log: LogText, file: str) -> Deployment:
    """Return the same of a log that was read.

    Batch and context are medians over the lines in which requests ran. The accept length is the
    mean; it counts the bonus token in every version of SGLang, which ``accept rate`` does not.

    Raises:
        DeploymentError: When the arguments in it hold one that we cannot model.
    """
    return merge(arguments_of_log(log, file), load_of_log(log, None).deployment)


def arguments_of_log(log: LogText, file: str) -> Deployment:
    """Return the server arguments in a log alone.

    Raises:
        DeploymentError: When they hold one that we cannot model.
    """
    if log.arguments is None:
        return Deployment()
    return deployment_from_server_args(log.arguments, file)

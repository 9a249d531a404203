"""What the log of an SGLang server says about the load while it ran."""

import re
from statistics import fmean, median_low

from traceattr.roofline.deployment import Deployment, deployment_from_server_args, merge
from traceattr.roofline.inputs import Input

_DECODE = re.compile(r"Decode batch\b[^\n]*")
_REQUESTS = re.compile(r"#running-req: (\d+)")
_TOKENS = re.compile(r"#(?:full )?token: (\d+)")
_ACCEPT = re.compile(r"accept len: ([\d.]*\d)")
_SOURCE = "server log"


def deployment_from_server_log(text: str, file: str = "server log") -> Deployment:
    """Return the server arguments in a log and the load that its decode lines report.

    Batch and context are medians over the lines in which requests ran. The accept length is the
    mean; it counts the bonus token in every version of SGLang, which ``accept rate`` does not.

    Raises:
        DeploymentError: When the arguments in it hold one that we cannot model.
    """
    load = _load(_DECODE.findall(text))
    if "ServerArgs(" not in text:
        return load
    return merge(deployment_from_server_args(text, file), load)


def _load(lines: list[str]) -> Deployment:
    requests, contexts, accepts = [], [], []
    for line in lines:
        running = int(found[1]) if (found := _REQUESTS.search(line)) else 0
        if not running:
            continue
        requests.append(running)
        if found := _TOKENS.search(line):
            contexts.append(int(found[1]) // running)
        if found := _ACCEPT.search(line):
            accepts.append(float(found[1]))
    return Deployment(
        batch=Input(median_low(requests), _SOURCE) if requests else None,
        context=Input(median_low(contexts), _SOURCE) if contexts else None,
        accept_length=Input(fmean(accepts), _SOURCE) if accepts else None,
    )

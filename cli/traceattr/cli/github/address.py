"""Where GitHub's API is, and how to get there."""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

from traceattr.errors import OptionError

if TYPE_CHECKING:
    import urllib3

PUBLIC = "https://api.github.com"


@dataclass(frozen=True, slots=True)
class Address:
    """The API's address, without a slash at its end."""

    url: str

    @property
    def host(self) -> str:
        """The host, and the port if it is an unusual one."""
        return urlsplit(self.url).netloc

    def redirected(self, current: str, location: str) -> str | None:
        """Return where an answer sends us; nothing if that is another server."""
        try:
            target = urljoin(current, location)
            there, here = urlsplit(target), urlsplit(self.url)
        except ValueError:
            return None
        return target if (there.scheme, there.netloc) == (here.scheme, here.netloc) else None


def find_address(environment: Mapping[str, str]) -> Address:
    """Return the address of the environment, or that of github.com.

    Raises:
        OptionError: It is none, or the token would be sent in the clear.
    """
    url = environment.get("GITHUB_API_URL", "").strip().rstrip("/") or PUBLIC
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    # What may hold a password is not repeated.
    if not host or "@" in parts.netloc or parts.query or parts.fragment:
        raise OptionError(f"GITHUB_API_URL: is no address of an API (expected {PUBLIC} or alike)")
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_this_machine(host)):
        raise OptionError(
            f"GITHUB_API_URL: {url}: would send the token unencrypted (expected https://)"
        )
    return Address(url)


def _is_this_machine(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def connections(address: Address) -> "urllib3.PoolManager":
    """Return what connects to the API, through the proxy of the environment if there is one.

    Raises:
        OptionError: The proxy's address cannot be used.
    """
    import urllib3

    parts = urlsplit(address.url)
    proxy = getproxies().get("https")
    # Only encrypted requests go through a proxy, which then sees neither them nor the token.
    if parts.scheme != "https" or not proxy or proxy_bypass(parts.netloc):
        return urllib3.PoolManager()
    try:
        login = urllib3.util.parse_url(proxy).auth
        headers = urllib3.make_headers(proxy_basic_auth=login) if login else None
        return urllib3.ProxyManager(proxy, proxy_headers=headers)
    except urllib3.exceptions.HTTPError as error:
        raise OptionError("HTTPS_PROXY: is no proxy (expected http://HOST:PORT)") from error

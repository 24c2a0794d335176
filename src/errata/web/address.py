"""Where the server listens, and what it is called in links: loopback, unless said otherwise.

A public address without TLS would send tokens and texts in the clear; it is refused unless a proxy
in front of it has the certificate, or it is said that plain HTTP is meant.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
from dataclasses import dataclass
from urllib.parse import urlsplit

from errata.errors import InputError

__all__ = ["Address", "check_listening", "is_loopback"]


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Address:
    """Host, port, certificate, proxy and the public address in links; checked when it is made.

    >>> Address().links
    'http://127.0.0.1:8765/'
    """

    host: str = "127.0.0.1"
    port: int = 8765
    url: str = ""
    certificate: str = ""
    key: str = ""
    behind_proxy: str = ""
    plain_http: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise InputError(f"--port {self.port} is no port", remedy="give a number up to 65535")
        if bool(self.certificate) != bool(self.key):
            raise InputError("--certificate and --key go together", remedy="give both files")
        if self.behind_proxy:
            for network in self.behind_proxy.split(","):
                try:
                    ipaddress.ip_network(network.strip())
                except ValueError:
                    raise InputError(
                        f"--behind-proxy {network.strip()!r} is no address or network",
                        remedy="give the proxy's, such as 10.0.0.0/8 or 127.0.0.1",
                    ) from None
        safe = self.certificate or self.behind_proxy or self.plain_http
        if not is_loopback(self.host) and not safe:
            raise InputError(
                f"--host {self.host} can be reached by others, without encryption",
                remedy="give --certificate and --key, or --behind-proxy with the address of the "
                "proxy that has the certificate, or --plain-http if that is meant",
            )
        if self.url:
            parts = urlsplit(self.url)
            more = parts.query or parts.fragment or parts.username  # no part of a page's address
            if parts.scheme not in ("http", "https") or not parts.netloc or more:
                raise InputError(
                    f"--url {self.url!r} is no address of a page",
                    remedy="write it as https://example.org/study/",
                )

    @property
    def secure(self) -> bool:
        """Whether judges reach it over TLS."""
        return bool(self.certificate) or urlsplit(self.url).scheme == "https"

    @property
    def links(self) -> str:
        """What links begin with; it ends with a slash."""
        if self.url:
            return self.url.rstrip("/") + "/"
        host = f"[{self.host}]" if ":" in self.host else self.host
        host = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(host, host)
        return f"{'https' if self.certificate else 'http'}://{host}:{self.port}/"


def check_listening(address: Address) -> None:
    """Refuse, before anything is served, a port that is taken and a certificate that is none."""
    if address.certificate:
        try:
            ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(
                address.certificate, address.key, password=""
            )
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            said = getattr(error, "strerror", None) or str(error)
            raise InputError(
                f"the certificate cannot be used with its key: {said}",
                path=address.certificate,
                remedy="give both as PEM, the key without a password",
            ) from None
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tried.bind((address.host.strip("[]"), address.port))
    except OSError as error:
        raise InputError(
            f"cannot listen on {address.host}, port {address.port}: {error.strerror or error}",
            remedy="give another --port or --host",
        ) from None

"""Options of ``errata collect``: where a campaign is kept, and who is served."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import click

from errata.cli.options import Function, gathered
from errata.errors import InputError, MissingExtraError, install_extra

if TYPE_CHECKING:
    from errata.web.address import Address
    from errata.web.database import Database

__all__ = ["SaidAddress", "address_options", "opened_campaign", "place_argument", "url_option"]

PLACE_VARIABLE = "ERRATA_DATABASE_URL"
NEEDED = ("sqlalchemy", "starlette", "jinja2", "uvicorn", "anyio")


def _place(ctx: click.Context, _: click.Parameter, given: str) -> str:
    """The place meant; the name of the variable stands for what it holds."""
    if given == PLACE_VARIABLE:
        import os

        given = os.environ.get(PLACE_VARIABLE, "")
        if not given and not ctx.resilient_parsing:
            raise InputError(f"{PLACE_VARIABLE} is not set", remedy="set it, or name a file")
    return given


place_argument = click.argument("place", metavar="PLACE", envvar=PLACE_VARIABLE, callback=_place)


def needs_web() -> None:
    """Refuse, in the usual line, to go on without the packages of ``errata-gec[web]``."""
    for package in NEEDED:
        try:
            import_module(package)
        except ImportError:
            raise MissingExtraError(package, install_extra("web")) from None


@contextmanager
def opened_campaign(place: str) -> Iterator[Database]:
    """The database of a campaign, closed at the end."""
    needs_web()
    from errata.web.database import open_database

    database = open_database(place)
    try:
        yield database
    finally:
        database.close()


class SaidAddress(Protocol):
    """Makes the address that was said on the command line, else in the campaign file."""

    def __call__(self, file: Mapping[str, Any] = ..., /) -> Address: ...


def _address(**given: Any) -> SaidAddress:
    def made(file: Mapping[str, Any] = {}, /) -> Address:
        from errata.web.address import Address

        said = {name: value for name, value in given.items() if value not in (None, False)}
        return Address(**{**file, **said})

    return made


url_option = click.option(
    "--url",
    metavar="URL",
    help="What links begin with, where judges reach the server by another address.",
)


def address_options(command: Function) -> Function:
    """Add the options that say where to listen; the command receives ``address``."""
    options: dict[str, Callable[[Function], Function]] = {
        "host": click.option(
            "--host", metavar="ADDRESS", help="Where to listen (default: 127.0.0.1, loopback)."
        ),
        "port": click.option(
            "--port", type=click.IntRange(1, 65535), metavar="N", help="The port (default: 8765)."
        ),
        "url": url_option,
        "certificate": click.option(
            "--certificate", metavar="FILE", help="Certificate for TLS, with its chain (PEM)."
        ),
        "key": click.option("--key", metavar="FILE", help="The key of the certificate (PEM)."),
        "behind_proxy": click.option(
            "--behind-proxy",
            metavar="CIDR",
            help="A proxy at these addresses has the certificate; what it says of callers holds.",
        ),
        "plain_http": click.option(
            "--plain-http", is_flag=True, help="Serve others without encryption all the same."
        ),
    }
    return gathered("address", _address, options)(command)

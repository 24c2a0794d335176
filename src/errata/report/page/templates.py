"""Jinja2 templates that stand as files beside the modules that fill them.

Every value is escaped unless it says that it is HTML (`Markup`); a place that nothing fills is an
error and no empty text.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from errata.errors import MissingExtraError, install_extra

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["check_templates", "filled", "packaged"]


def packaged(package: str, name: str) -> str:
    """The text of a file that comes with a package of Errata.

    >>> packaged("errata.report.page", "page.html.j2").splitlines()[0]
    '<!DOCTYPE html>'
    """
    return (files(package) / name).read_text("utf-8")


def filled(package: str, name: str, **values: object) -> str:
    """A template of a package with its places filled."""
    return _environment().get_template(f"{package}/{name}").render(**values)


def check_templates() -> None:
    """Say at once what is to be installed, and not after the work."""
    _environment()


@cache
def _environment() -> Environment:
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ModuleNotFoundError:
        raise MissingExtraError("Jinja2", install_extra("report")) from None

    return Environment(
        loader=FunctionLoader(lambda name: packaged(*name.split("/", 1))),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )

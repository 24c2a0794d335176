"""Pages and files out of the package: templates that escape everything, scripts and styles."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from errata.errors import MissingExtraError, install_extra

__all__ = ["render_page", "static_files"]

TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


@cache
def _environment() -> Any:
    try:
        import jinja2
    except ImportError:
        raise MissingExtraError("jinja2", install_extra("web")) from None
    return jinja2.Environment(
        loader=jinja2.PackageLoader("errata.web", ""),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )


def render_page(name: str, **values: Any) -> str:
    """A template with these values, every one of them escaped."""
    text: str = _environment().get_template(name).render(values)
    return text


@cache
def static_files() -> dict[str, tuple[str, bytes, str]]:
    """By name: the tag, the bytes and the type of every file that pages load."""
    found: dict[str, tuple[str, bytes, str]] = {}
    _collect(resources.files("errata.web").joinpath("static"), "", found)
    return found


def _collect(folder: Traversable, path: str, found: dict[str, tuple[str, bytes, str]]) -> None:
    for each in folder.iterdir():
        if each.is_dir():
            _collect(each, f"{path}{each.name}/", found)
        elif (kind := TYPES.get("." + each.name.rpartition(".")[2])) is not None:
            content = each.read_bytes()
            tag = f'"{hashlib.sha256(content).hexdigest()[:24]}"'
            found[path + each.name] = (tag, content, kind)

"""``--figure [KIND=]FILE``: what a command can draw, by name, in the form the file's name says."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import click

from errata.errors import InputError

__all__ = ["Figures", "figure_option", "is_page"]

# What to draw, and into which file.
Figures = Sequence[tuple[str, str]]
PAGES = (".html", ".htm")


def is_page(path: str) -> bool:
    """Whether a figure is asked for as a page for a browser.

    >>> is_page("map.HTML")
    True
    """
    return path.lower().endswith(PAGES)


def figure_option(
    kinds: dict[str, str], *, pages: Sequence[str] = ()
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add ``--figure``; the command receives ``figures``, pairs of a kind and a file.

    ``kinds`` says what is drawn under each name; those in ``pages`` can be pages too. KIND may be
    left out where there is only one.
    """

    def read(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> Figures:
        figures = [_figure(text, tuple(kinds), pages) for text in given]
        for path in {path for _, path in figures}:
            if sum(path == other for _, other in figures) > 1:
                raise InputError(
                    f"two figures would be drawn into {path!r}", remedy="name a file for each"
                )
        return figures

    forms = ".svg, .png or .pdf" if not pages else ".svg, .png, .pdf or .html"
    drawn = "; ".join(f"{kind}: {what}" for kind, what in kinds.items())
    return click.option(
        "--figure",
        "figures",
        multiple=True,
        metavar="[KIND=]FILE",
        callback=read,
        help=f"Draw into FILE, whose name ends in {forms}; may be repeated. {drawn}.",
    )


def _figure(text: str, kinds: Sequence[str], pages: Sequence[str]) -> tuple[str, str]:
    """Kind and file of a figure; what cannot be drawn is refused before the work."""
    from errata.parameters import nearest
    from errata.report.figures import figure_form

    kind, equals, path = text.partition("=")
    if not equals or os.sep in kind:  # ./a=b.svg is a file
        if len(kinds) > 1:
            raise InputError(
                f"which figure is to be drawn into {text!r}?",
                remedy=f"write {' or '.join(f'{kind}=FILE' for kind in kinds)}",
            )
        kind, path = kinds[0], text
    if kind not in kinds:
        raise InputError(
            f"there is no figure {kind!r}",
            remedy=f"{nearest(kind, kinds)}known: {', '.join(kinds)}",
        )
    if kind not in pages:
        figure_form(path)
    elif not (is_page(path) or path.lower().endswith((".svg", ".png", ".pdf"))):
        raise InputError(
            f"cannot draw into {path!r}", remedy="use a name in .html, .svg, .png or .pdf"
        )
    return kind, path

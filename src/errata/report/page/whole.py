"""A page as one HTML file: no network, no other file, and a policy that forbids both."""

from __future__ import annotations

from collections.abc import Sequence

from errata import __version__
from errata.errors import InputError, visible
from errata.report.page.glossary import terms_used
from errata.report.page.inline import content_policy
from errata.report.page.section import Section
from errata.report.page.templates import filled, packaged

__all__ = ["page"]

HOME = "errata.report.page"


def page(title: str, sections: Sequence[Section], *, about: str = "") -> str:
    """Sections under a title, as one HTML file that fetches nothing and lets nothing else run.

    Every style and script is one of a file that came with Errata, known to the page's policy by its
    hash; those that several sections need are taken once. The words that the sections mark are
    explained below them. Light or dark as the reader prefers, printable, for narrow windows,
    keyboards and screen readers too.

    >>> made = page("<Ours>", [Section("one", "First", "<p>text</p>")])
    >>> made.count("<h1"), "&lt;Ours&gt;" in made, "default-src &#39;none&#39;" in made
    (1, True, True)
    """
    keys = [section.key for section in sections]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        raise InputError(f"two sections are called {twice!r}", remedy="give one another key")
    own = [packaged(HOME, name) for name in ("page.css", "chart.css", "chart-dark.css")]
    styles = _once([*own, *(text for section in sections for text in section.styles)])
    scripts = _once(
        [packaged(HOME, "page.js"), *(text for section in sections for text in section.scripts)]
    )
    return filled(
        HOME,
        "page.html.j2",
        title=visible(title),
        about=visible(about),
        sections=sections,
        terms=terms_used(section.body for section in sections),
        styles=styles,
        scripts=scripts,
        chart_style=own[1],
        policy=content_policy(styles, scripts),
        version=__version__,
    )


def _once(texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(texts))

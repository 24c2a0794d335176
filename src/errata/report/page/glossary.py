"""The words of the field, explained in a sentence each: one keeper for pages and documentation."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from errata.report.page.templates import packaged

__all__ = ["Term", "glossary", "term_of", "terms_used"]

_USED = re.compile(r'data-term="([a-z0-9-]+)"')


class Term(NamedTuple):
    """A word, its address in a page, and the sentence that explains it."""

    name: str
    key: str
    says: str
    also: tuple[str, ...] = ()
    begins: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()


@cache
def glossary() -> Mapping[str, Term]:
    """All terms by name, in the order in which a reader meets them.

    >>> glossary()["cluster"].says
    'Systems that the data cannot tell apart; between clusters no rank ranges overlap.'
    """
    read = tomllib.loads(packaged("errata.report.page", "glossary.toml"))
    return MappingProxyType(
        {
            name: Term(
                row.get("title", name),
                _address(row.get("title", "")) or _address(name),
                row["says"],
                tuple(row.get("also", ())),
                tuple(row.get("begins", ())),
                tuple(row.get("ends", ())),
            )
            for name, row in read.items()
        }
    )


def _address(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


@cache
def term_of(heading: str) -> Term | None:
    """What a heading of a table means, where the glossary knows it.

    >>> [term_of(name).name for name in ("95 % interval", "P", "m2 F0.5")]
    ['confidence interval', 'precision', 'F0.5']
    >>> term_of("AMU")
    """
    known = glossary()
    if heading in known:
        return known[heading]
    for term in known.values():
        if heading in term.also or heading == term.name:
            return term
    for term in known.values():
        if (term.begins and heading.startswith(term.begins)) or (
            term.ends and heading.endswith(term.ends)
        ):
            return term
    return None


def terms_used(bodies: Iterable[str]) -> list[Term]:
    """The terms that some HTML refers to, in the order of the glossary."""
    keys = {key for body in bodies for key in _USED.findall(body)}
    return [term for term in glossary().values() if term.key in keys]

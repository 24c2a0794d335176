"""``--set NAME=...``: reference sets of files, of annotators, or of other sets."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import click

from errata.cli.inputs import Inputs
from errata.cli.options import gathered
from errata.cli.output import ProgressBar
from errata.errors import InputError
from errata.parameters import nearest

if TYPE_CHECKING:
    from errata.data import Corpus
    from errata.studies.several_sets import NamedSet

__all__ = ["SetView", "named_sets", "read_sets", "set_options"]

ANNOTATORS, PUBLIC = "annotator:", "data:"
RESERVED = ("people", "system", "set")  # headings of the tables that sets stand in
SetSource = Literal["files", "annotators", "data", "sets"]


class SetRequest(NamedTuple):
    """A set as it was asked for: its name, and the files, annotators or sets it is made of."""

    name: str
    source: SetSource
    parts: tuple[str, ...]


class SetView(NamedTuple):
    """The sets to compare, and of which of them a curve is wanted."""

    sets: tuple[SetRequest, ...]
    curves: tuple[str, ...]


def named_sets(texts: Sequence[str]) -> tuple[SetRequest, ...]:
    """What each ``--set`` asks for; a set may be made of those that stand before it."""
    found: dict[str, SetRequest] = {}
    for text in texts:
        name, equals, rest = text.partition("=")
        name = name.strip()
        if not (equals and name and rest) or {*name} & {*"+,:"}:
            raise InputError(
                f"--set {text[:100]!r} does not name a reference set",
                remedy="write NAME=FILE,FILE, NAME=annotator:0,1 or NAME=SET+SET, and no + , : in "
                "the name",
            )
        if name in found or name.lower() in RESERVED:
            raise InputError(
                f"two reference sets are called {name!r}"
                if name in found
                else f"a reference set cannot be called {name!r}",
                remedy="give each a name of its own",
            )
        found[name] = _request(name, rest, tuple(found))
        _refuse_twice(found[name], found)
    return tuple(found.values())


def _refuse_twice(request: SetRequest, known: Mapping[str, SetRequest]) -> None:
    """Refuse a set with the same references twice, which would weigh more than the others."""
    owner: dict[str, str] = {}
    for holder, part in _held(request, known):
        rivals = [one for one in owner if _overlap(one, part)]
        if rivals and request.source != "annotators":  # of which there is more to say
            shown = rivals[0] if part == f"{ANNOTATORS}all" else part
            where = f": in {owner[rivals[0]]} and {holder}" if request.source == "sets" else ""
            raise InputError(
                f"the set {request.name!r} holds {shown!r} twice{where}",
                remedy="a set holds each reference once: leave one of them out",
            )
        owner[part] = holder


def _overlap(one: str, other: str) -> bool:
    """Whether two parts of a set are the same references, or some of one are the other's."""
    if one.startswith(ANNOTATORS) and other.startswith(ANNOTATORS):
        return one == other or f"{ANNOTATORS}all" in (one, other)
    if any(part.startswith((ANNOTATORS, PUBLIC)) for part in (one, other)):
        return one == other
    return os.path.realpath(one) == os.path.realpath(other)


def _held(request: SetRequest, known: Mapping[str, SetRequest]) -> Iterator[tuple[str, str]]:
    """Every file, annotator and collection of a set, with the part that it stands in."""
    for part in request.parts:
        if request.source == "sets":
            yield from ((part, thing) for _, thing in _held(known[part], known))
        else:
            mark = {"annotators": ANNOTATORS, "data": PUBLIC}.get(request.source, "")
            yield request.name, mark + part


def _request(name: str, rest: str, known: Sequence[str]) -> SetRequest:
    if rest.startswith(ANNOTATORS):
        return SetRequest(name, "annotators", tuple(rest.removeprefix(ANNOTATORS).split(",")))
    if rest.startswith(PUBLIC):
        return SetRequest(name, "data", (rest.removeprefix(PUBLIC),))
    joined = tuple(rest.split("+"))
    if len(joined) > 1 and os.sep not in rest and not os.path.exists(rest):
        for part in joined:
            if part not in known:
                raise InputError(
                    f"the set {name!r} is to hold {part!r}, and no --set before it has this name",
                    remedy=f"{nearest(part, known)}"
                    f"before it are: {', '.join(known) or 'none'}; a file with + in its name is "
                    "written with its folder (./a+b)",
                )
        if len({*joined}) < len(joined):
            raise InputError(f"the set {name!r} holds a set twice", remedy="name each once")
        return SetRequest(name, "sets", joined)
    paths = tuple(rest.split(","))
    if not all(paths):
        raise InputError(f"the set {name!r} names an empty file", remedy="write NAME=FILE,FILE")
    return SetRequest(name, "files", paths)


def read_sets(requests: Sequence[SetRequest], corpus: Corpus, inputs: Inputs) -> list[NamedSet]:
    """The sets that were asked for, on the sentences of a corpus."""
    from errata.io.reference_files import read_reference_set
    from errata.studies.several_sets import NamedSet, annotator_set, joined_set

    made: dict[str, NamedSet] = {}
    for name, source, parts in requests:
        if source == "sets":
            made[name] = joined_set(name, [made[part] for part in parts])
        elif source == "annotators":
            made[name] = annotator_set(name, corpus, _annotators(name, parts, corpus))
        else:
            files = _public(parts[0]) if source == "data" else parts
            made[name] = NamedSet(
                name,
                read_reference_set(
                    files, corpus, name=name, missing=inputs.missing, compatible=inputs.compatible
                ),
            )
    return list(made.values())


def _public(name: str) -> tuple[str, ...]:
    """The files with the references of public data."""
    from errata.datasets.collections import collection, role_files

    chosen = collection(name)
    for role in ("references", "gold"):
        if role in chosen.roles:
            with ProgressBar(name, after=0.3) as progress:
                return role_files(chosen, role, progress)
    raise InputError(
        f"the data {name} have no references", remedy=f"they have {', '.join(chosen.roles)}"
    )


def _annotators(name: str, parts: Sequence[str], corpus: Corpus) -> list[int]:
    if not corpus.annotators:
        raise InputError(
            f"the set {name!r} names annotators, and there are none",
            remedy="give their corrections with --gold or --refs",
        )
    if tuple(parts) == ("all",):
        return list(corpus.annotators)
    if not all(part.isascii() and part.isdecimal() and len(part) < 10 for part in parts):
        raise InputError(
            f"the set {name!r} names annotators by {','.join(parts)[:60]!r}",
            remedy="write annotator:0,1 with their numbers, or annotator:all",
        )
    numbers = [int(part) for part in parts]
    if len({*numbers}) < len(numbers):
        raise InputError(f"the set {name!r} names an annotator twice", remedy="name each once")
    return numbers


def _view(sets: tuple[str, ...], curves: tuple[str, ...]) -> SetView:
    found = named_sets(sets)
    known = [each.name for each in found]
    for name in curves:
        if name not in known:
            raise InputError(
                f"--curve {name}: there is no such set",
                remedy=f"{nearest(name, known)}there are: {', '.join(known) or 'none'}",
            )
    return SetView(found, tuple(dict.fromkeys(curves)))


set_options = gathered(
    "view",
    _view,
    {
        "sets": click.option(
            "--set",
            "sets",
            multiple=True,
            metavar="NAME=...",
            help="Compare whole reference sets: NAME=FILE,FILE (texts or M2), NAME=annotator:0,1 "
            "(of --gold or --refs; annotator:all), NAME=data:COLLECTION (public data), or "
            "NAME=SET+SET (sets named before); repeat it.",
        ),
        "curves": click.option(
            "--curve",
            "curves",
            multiple=True,
            metavar="SET",
            help="With --set: scores against the number of references of this set; may be "
            "repeated.",
        ),
    },
)

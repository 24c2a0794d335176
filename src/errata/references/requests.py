"""Reference sets that a user names: made of files, annotators, public data or other sets."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

from errata.core.errors import InputError
from errata.core.parameters import suggest_name
from errata.core.stats import Progress
from errata.data import Corpus
from errata.io.corpus import CorpusFiles, read_reference_set
from errata.references.sets import NamedSet, annotator_set, merge_sets

ANNOTATORS, PUBLIC = "annotator:", "data:"
RESERVED = ("people", "system", "set")  # headings of the tables that show sets
SetSource = Literal["files", "annotators", "data", "sets"]


class SetRequest(NamedTuple):
    """A set as it was asked for: its name, and the files, annotators or sets it is made of."""

    name: str
    source: SetSource
    parts: tuple[str, ...]


def parse_sets(texts: Sequence[str]) -> tuple[SetRequest, ...]:
    """Read texts such as ``NAME=FILE,FILE``; a set may be made of those before it.

    >>> parse_sets(["experts=annotator:0,1"])[0].parts
    ('0', '1')
    """
    requests: dict[str, SetRequest] = {}
    for text in texts:
        name, equals, rest = text.partition("=")
        name = name.strip()
        if not (equals and name and rest) or {*name} & {*"+,:"}:
            raise InputError(
                f"--set {text[:100]!r} does not name a reference set",
                remedy="write NAME=FILE,FILE, NAME=annotator:0,1 or NAME=SET+SET, and no + , : in "
                "the name",
            )
        if name in requests or name.lower() in RESERVED:
            raise InputError(
                f"two reference sets are called {name!r}"
                if name in requests
                else f"a reference set cannot be called {name!r}",
                remedy="give each a name of its own",
            )
        requests[name] = _request(name, rest, tuple(requests))
        _reject_duplicates(requests[name], requests)
    return tuple(requests.values())


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
                    remedy=f"{suggest_name(part, known)}"
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


def _reject_duplicates(request: SetRequest, known: Mapping[str, SetRequest]) -> None:
    """Refuse a set with the same references twice, which would weigh more than the others."""
    owner: dict[str, str] = {}
    for holder, part in _members(request, known):
        rivals = [one for one in owner if _overlap(one, part)]
        if rivals and request.source != "annotators":  # `_annotator_numbers` checks those
            shown = rivals[0] if part == f"{ANNOTATORS}all" else part
            where = f": in {owner[rivals[0]]} and {holder}" if request.source == "sets" else ""
            raise InputError(
                f"the set {request.name!r} holds {shown!r} twice{where}",
                remedy="a set holds each reference once: leave one of them out",
            )
        owner[part] = holder


def _overlap(one: str, other: str) -> bool:
    """Return whether two parts of a set share references."""
    if one.startswith(ANNOTATORS) and other.startswith(ANNOTATORS):
        return one == other or f"{ANNOTATORS}all" in (one, other)
    if any(part.startswith((ANNOTATORS, PUBLIC)) for part in (one, other)):
        return one == other
    return os.path.realpath(one) == os.path.realpath(other)


def _members(request: SetRequest, known: Mapping[str, SetRequest]) -> Iterator[tuple[str, str]]:
    """Yield every file, annotator and collection of a set, with the set that names it."""
    for part in request.parts:
        if request.source == "sets":
            yield from ((part, thing) for _, thing in _members(known[part], known))
        else:
            mark = {"annotators": ANNOTATORS, "data": PUBLIC}.get(request.source, "")
            yield request.name, mark + part


def read_sets(
    requests: Sequence[SetRequest],
    corpus: Corpus,
    how: CorpusFiles,
    *,
    progress: Progress | None = None,
) -> list[NamedSet]:
    """Return the sets that were asked for, on the sentences of a corpus, read as ``how`` says."""
    sets: dict[str, NamedSet] = {}
    for name, source, parts in requests:
        if source == "sets":
            sets[name] = merge_sets(name, [sets[part] for part in parts])
        elif source == "annotators":
            sets[name] = annotator_set(name, corpus, _annotator_numbers(name, parts, corpus))
        else:
            files = _public_files(parts[0], progress) if source == "data" else parts
            references = read_reference_set(replace(how, references=files, name=name), corpus)
            sets[name] = NamedSet(name, references)
    return list(sets.values())


def _public_files(name: str, progress: Progress | None) -> tuple[str, ...]:
    """Return the files with the references of public data."""
    from errata.datasets.fetch import collection, role_files

    chosen = collection(name)
    for role in ("references", "gold"):
        if role in chosen.roles:
            return role_files(chosen, role, progress)
    raise InputError(
        f"the data {name} have no references", remedy=f"they have {', '.join(chosen.roles)}"
    )


def _annotator_numbers(name: str, parts: Sequence[str], corpus: Corpus) -> list[int]:
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

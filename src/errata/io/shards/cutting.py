"""Inputs cut into shards: all roles at the same sentences, whatever their bytes.

One cheap pass over every file counts its sentences and notes where the cuts fall. A text is cut at
a line end, M2 between paragraphs; a compressed file is not cut, and neither is what goes with it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest
from typing import Any, NamedTuple

from errata.errors import InputError
from errata.io.corpus import refuse_absent
from errata.io.opened import compression_of, opened, opened_part, shown_name
from errata.io.outputs import is_m2, refuse_several
from errata.io.shards.listing import groups_of
from errata.io.shards.named import Piece, Shard, ShardedInputs, name_of
from errata.io.shards.sentence_streams import chunks, count, cut_before, starts_before
from errata.io.stores import Listed
from errata.numbers import Progress, plural

__all__ = ["cut_shards", "plan_shards", "refuse_unequal", "role_is_m2"]

SHARD_BYTES = 64 << 20
_ANNOTATOR = re.compile(rb"^A [^\n]*\|\|\|[ \t]*([0-9]{1,9})[ \t]*\r?$", re.MULTILINE)
_BARE = re.compile(rb"^S [^\n]*\n(?!A |I )", re.MULTILINE)
_XML = re.compile(rb"\s*<")


def plan_shards(
    inputs: ShardedInputs,
    *,
    shard_bytes: int = SHARD_BYTES,
    shard_sentences: int | None = None,
    progress: Progress | None = None,
) -> tuple[Shard, ...]:
    """Cut inputs into shards, in the order of their sentences.

    The k-th files of all roles belong together, and must have equally many sentences. A file is
    cut near multiples of ``shard_bytes`` of the gold (without one, of the longest file), or after
    every ``shard_sentences`` sentences. ``progress`` hears of bytes.
    """
    for name, size in (("shard_bytes", shard_bytes), ("shard_sentences", shard_sentences)):
        if size is not None and size < 1:
            raise InputError(f"{name}={size} is not positive", remedy="give a whole number from 1")
    if inputs.parquet is not None:
        from errata.io.shards.parquet import plan_parquet

        return plan_parquet(inputs, shard_bytes, shard_sentences, progress)
    if shard_sentences is None:
        return _plan(inputs, lambda first: _Wanted(every_bytes=shard_bytes), progress)
    return _plan(inputs, lambda first: _Wanted(every=shard_sentences), progress)


def cut_shards(inputs: ShardedInputs, cuts: Iterable[int]) -> tuple[Shard, ...]:
    """Cut inputs before these sentences, counted from 0, and where a file ends.

    A number that is there twice makes an empty shard. Parquet and compressed files are not cut.
    """
    numbers = sorted(cuts)
    if inputs.parquet is not None:
        return plan_shards(inputs)
    return _plan(
        inputs, lambda first: _Wanted(given=deque(n - first for n in numbers if n >= first)), None
    )


class _Cut(NamedTuple):
    """Before which sentence, byte and line of a file."""

    sentence: int
    byte: int
    line: int


@dataclass(frozen=True)
class _Wanted:
    """Where the first file of a group is to be cut: by bytes, by sentences, or as given."""

    every_bytes: int | None = None
    every: int | None = None
    given: deque[int] = field(default_factory=deque)

    @property
    def distinct(self) -> bool:
        """Whether no shard is to be empty."""
        return self.every_bytes is not None or self.every is not None

    def within(self, start: int, seen: int, data: bytes, held: int, m2: bool) -> Iterator[int]:
        """The sentences of a chunk, numbered in their file, to cut before."""
        if self.every_bytes is not None:
            step = self.every_bytes
            for target in range(-(-max(start, 1) // step) * step, start + len(data), step):
                self.given.append(seen + starts_before(data, target - start, m2=m2))
        elif self.every is not None:
            step = self.every
            self.given.extend(range(-(-max(seen, 1) // step) * step, seen + held, step))
        while self.given and self.given[0] < seen + held:
            yield self.given.popleft()


@dataclass(frozen=True)
class _Scanned:
    sentences: int
    cuts: tuple[_Cut, ...]
    annotators: frozenset[int]


def role_is_m2(role: str, uri: str) -> bool:
    """Whether the file of a role is M2: the gold is, an output by its name."""
    return role == "gold" or (role.startswith("output:") and is_m2(uri))


def _plan(
    inputs: ShardedInputs, wanted: Callable[[int], _Wanted], progress: Progress | None
) -> tuple[Shard, ...]:
    groups = groups_of(inputs)
    total = sum(file.size for group in groups for file in group.values())
    done = 0
    shards: list[Shard] = []
    annotators: dict[str, set[int]] = {role: set() for role in inputs.roles}
    first = 0
    for group in groups:
        _refuse_streams(group)
        scanned = _scan_group(group, inputs, wanted(first))
        for role, found in scanned.items():
            annotators[role] |= found.annotators
            done += group[role].size
        if progress is not None:
            progress(done, total)
        for shard in _shards_of(group, scanned, len(shards), first):
            shards.append(shard)
        first += next(iter(scanned.values())).sentences
    if not first:
        raise InputError(
            "the inputs hold no sentence",
            path=next(iter(groups[0].values())).uri,
            remedy="give at least one sentence",
        )
    _check_annotators(inputs, annotators)
    return tuple(shards)


def _refuse_streams(group: Mapping[str, Listed]) -> None:
    for role, file in group.items():
        if file.uri == "-":
            raise InputError(
                f"standard input ({role}) can be read once only, and a plan reads it before a run",
                remedy="save it in a file, or score it as a stream",
            )


def _scan_group(
    group: Mapping[str, Listed], inputs: ShardedInputs, wanted: _Wanted
) -> dict[str, _Scanned]:
    packed = {role: _compressed(file, inputs.storage) for role, file in group.items()}
    if any(packed.values()):
        wanted = _Wanted()
    # Only the gold may have several sentences in a paragraph, and says where it can be cut.
    lead = "gold" if "gold" in group else max(group, key=lambda role: group[role].size)
    found = {lead: _scan(lead, group[lead], inputs, wanted)}
    for role, file in group.items():
        if role == lead:
            continue
        cuts = deque(cut.sentence for cut in found[lead].cuts)
        found[role] = _scan(role, file, inputs, _Wanted(given=cuts))
        refuse_unequal(
            (role, file.uri, found[role].sentences), (lead, group[lead].uri, found[lead].sentences)
        )
        _refuse_joined(file.uri, found[role].cuts, found[lead].cuts)
    return {role: found[role] for role in group}


def _compressed(file: Listed, storage: Mapping[str, Any]) -> bool:
    with opened_part(file.uri, 0, 10, storage=storage) as stream:
        return compression_of(stream.read(10)) is not None


def _scan(role: str, file: Listed, inputs: ShardedInputs, wanted: _Wanted) -> _Scanned:
    """Count the sentences of a file and find the places of its cuts."""
    m2 = role_is_m2(role, file.uri)
    asked = m2 and (role != "gold" or bool(inputs.annotators))
    seen = 0
    cuts: list[_Cut] = []
    annotators: set[int] = set()
    blank = True
    with opened(file.uri, bounded=False, storage=inputs.storage) as stream:
        for start, line, data in chunks(stream, file.uri, m2=m2):
            if blank and m2:
                refuse_xml(data, file.uri)
            blank = blank and not data.strip()
            held = count(data, m2=m2)
            for number in wanted.within(start, seen, data, held, m2):
                n, at = cut_before(data, number - seen, m2=m2)
                if n == held or (wanted.distinct and seen + n == (cuts[-1][0] if cuts else 0)):
                    continue
                cuts.append(_Cut(seen + n, start + at, line + data.count(b"\n", 0, at)))
            if asked:
                annotators.update(map(int, {*_ANNOTATOR.findall(data)}))
                if role == "gold" and _BARE.search(data + b"\n"):
                    annotators.add(0)
            seen += held
    if m2 and not seen and not blank:
        raise InputError(
            "no line starts with 'S ': this is not an M2 file",
            path=shown_name(file.uri),
            line=1,
            remedy="give an M2 file, or texts as source and references (--source, --refs)",
        )
    return _Scanned(seen, tuple(cuts), frozenset(annotators))


def _refuse_joined(uri: str, cuts: Sequence[_Cut], others: Sequence[_Cut]) -> None:
    """Refuse M2 that has two sentences in one paragraph where it is to be cut between them."""
    for cut, other in zip_longest(cuts, others):
        if other is not None and (cut is None or cut.sentence != other.sentence):
            raise InputError(
                f"the paragraph of sentence {other.sentence} has a second 'S ' line",
                path=uri,
                remedy="put a blank line between sentences",
            )


def refuse_xml(start: bytes, uri: str) -> None:
    """Refuse I-measure's XML, which is one tree and cannot be read in parts."""
    if _XML.match(start):
        raise InputError(
            "I-measure's XML is not read in parts",
            path=shown_name(uri),
            line=1,
            remedy="write it as M2 first (errata convert)",
        )


def refuse_unequal(one: tuple[str, str, int], other: tuple[str, str, int]) -> None:
    """Refuse two files that belong together, each given as role, name and number of sentences."""
    if one[2] != other[2]:
        what = "sentence" if role_is_m2(one[0], one[1]) else "line"
        raise InputError(
            f"{one[2]:,} {plural(what, one[2])}, but {shown_name(other[1])} ({other[0]}) has "
            f"{other[2]:,}",
            path=shown_name(one[1]),
            remedy="files that belong together have one line, or M2 paragraph, per sentence, "
            "empty ones included",
        )


def _shards_of(
    group: Mapping[str, Listed], scanned: Mapping[str, _Scanned], index: int, first: int
) -> Iterator[Shard]:
    lead = next(iter(scanned.values()))
    bounds: dict[str, Sequence[_Cut]] = {
        role: [_Cut(0, 0, 1), *found.cuts, _Cut(lead.sentences, group[role].size, 0)]
        for role, found in scanned.items()
    }
    spans = [*pairwise(range(len(lead.cuts) + 2))]
    for k, (a, b) in enumerate(spans):
        pieces = {}
        for role, file in group.items():
            start, stop = bounds[role][a], bounds[role][b]
            pieces[role] = (Piece(*file, start.byte, stop.byte, start.line, before=start.sentence),)
        at, end = bounds[next(iter(group))][a].sentence, bounds[next(iter(group))][b].sentence
        yield Shard(index + k, first + at, end - at, pieces)


def _check_annotators(inputs: ShardedInputs, found: Mapping[str, set[int]]) -> None:
    """Refuse annotators that nobody is, and several systems in the M2 files of one."""
    known = found["gold"] if "gold" in found else range(len(inputs.references))
    refuse_absent(inputs.annotators, known, name_of(inputs))
    for role, systems in found.items():
        if role.startswith("output:"):
            refuse_several(inputs.roles[role][0], len(systems))

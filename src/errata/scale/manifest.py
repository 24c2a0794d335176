"""The plan of a run in ``manifest.json``: inputs, metrics and shards."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from itertools import takewhile
from typing import Any, NamedTuple

from errata import __version__
from errata.core.errors import InputError
from errata.core.parameters import require
from errata.io.corpus import CorpusFiles
from errata.io.records import decode_json, file_digests
from errata.io.shards.batches import BATCH
from errata.io.shards.inputs import Shard
from errata.io.storage import Folder
from errata.metrics import parse
from errata.scoring.resampling import BootstrapKind

MANIFEST = "manifest.json"
FORMAT = "errata run 1"
_REMEDY = "plan the run again (errata scale plan), or give the folder of a run"


def canonical_json(data: Any) -> str:
    """Return a text that depends on the data alone."""
    return json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def seal(data: dict[str, Any]) -> bytes:
    """What a file holds that tells of itself whether it is as it was written."""
    text = canonical_json(data)
    digest = hashlib.sha256(text.encode("utf-8")).hexdigest()
    return f'{{"record": {text},\n"sha256": "{digest}"}}\n'.encode()


def unseal(data: bytes) -> dict[str, Any]:
    """What `seal` was given; KeyError, TypeError or ValueError where the file is damaged."""
    found = decode_json(data.decode("utf-8"))
    record: dict[str, Any] = found["record"]
    if hashlib.sha256(canonical_json(record).encode("utf-8")).hexdigest() != found["sha256"]:
        raise ValueError("the record is not what was written")
    return record


@dataclass(frozen=True)
class MetricPlan:
    """The results wanted: the metrics by their signatures, and how intervals are made."""

    metrics: tuple[str, ...]
    resamples: int = 1000
    seed: int = 0
    bootstrap: BootstrapKind = "auto"
    batch: int = BATCH  # sentences a worker holds at a time; models see texts by it
    files: tuple[tuple[str, str], ...] = ()  # that metrics read beside the corpus, by SHA-256

    def with_files(self) -> MetricPlan:
        """The same with the digests of the files that the metrics read."""
        names = dict.fromkeys(name for text in self.metrics for name in parse(text).files)
        found = []
        for name in names:
            digest = file_digests([name])[0].sha256
            if digest is None:
                raise InputError(
                    "a metric reads this file, and it is not there", path=name, remedy="check it"
                )
            found.append((name, digest))
        return replace(self, files=tuple(found))

    def check_files(self) -> None:
        """Refuse files of metrics that have changed since the plan."""
        for (name, digest), now in zip(
            self.files, file_digests(name for name, _ in self.files), strict=True
        ):
            if now.sha256 != digest:
                what = "it is gone" if now.sha256 is None else "it was written again"
                raise InputError(
                    f"this file of a metric has changed since the run was planned: {what}",
                    path=name,
                    remedy="plan the run again, or bring back the file",
                )


@dataclass(frozen=True)
class PlannedSet:
    """A test set: its name, the files of source, references and outputs, and where they are cut."""

    name: str
    inputs: CorpusFiles
    systems: tuple[str, ...]
    shards: tuple[Shard, ...]

    @property
    def sentences(self) -> int:
        """How many sentences it has."""
        return sum(shard.sentences for shard in self.shards)

    @cached_property
    def order(self) -> str:
        """A digest of the files in their order, wherever they are and however they are cut.

        They go by their names in the folder that holds all of their role: files of folders in it
        may be called the same.
        """
        files = dict.fromkeys(
            (role, piece.uri, piece.size)
            for shard in self.shards
            for role, pieces in sorted(shard.pieces.items())
            for piece in pieces
        )
        called = {
            each: _names_below([uri for role, uri, _ in files if role == each])
            for each in self.inputs.roles
        }
        text = canonical_json([(role, called[role][uri], size) for role, uri, size in files])
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _names_below(files: Sequence[str]) -> dict[str, str]:
    """Files by their names in the folder that holds all of them.

    >>> _names_below(["logs/day=1/a.txt", "logs/day=2/a.txt"])
    {'logs/day=1/a.txt': 'day=1/a.txt', 'logs/day=2/a.txt': 'day=2/a.txt'}
    """
    parts = {uri: uri.split("/") for uri in files}
    levels = zip(*(each[:-1] for each in parts.values()), strict=False)
    shared = sum(1 for _ in takewhile(lambda level: len({*level}) == 1, levels))
    return {uri: "/".join(each[shared:]) for uri, each in parts.items()}


class Task(NamedTuple):
    """One shard of one test set: what a worker does at a time, all metrics and systems of it."""

    number: int
    set: PlannedSet
    shard: Shard


@dataclass(frozen=True)
class Manifest:
    """A plan: test sets in shards, and the metrics to compute."""

    wanted: MetricPlan
    sets: tuple[PlannedSet, ...]
    version: str = field(default=__version__)

    @cached_property
    def tasks(self) -> tuple[Task, ...]:
        """Every shard of every set, numbered from 0."""
        pairs = [(each, shard) for each in self.sets for shard in each.shards]
        return tuple(Task(number, each, shard) for number, (each, shard) in enumerate(pairs))

    @cached_property
    def digest(self) -> str:
        """What tells this plan from others; result files name it."""
        return hashlib.sha256(canonical_json(self._plain()).encode("utf-8")).hexdigest()

    def _plain(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "errata": self.version,
            "wanted": asdict(self.wanted),
            "sets": [
                {
                    "name": each.name,
                    "inputs": each.inputs.to_json(),
                    "systems": each.systems,
                    "shards": [shard.to_json() for shard in each.shards],
                }
                for each in self.sets
            ],
        }

    def lines(self) -> Iterator[str]:
        """The file, one shard a line: plans are looked at by people too."""
        plain = self._plain()
        yield "{"
        for key in ("format", "errata", "wanted"):
            yield f"{json.dumps(key)}: {canonical_json(plain[key])},"
        yield f'"digest": {json.dumps(self.digest)},'
        yield '"sets": ['
        for last, each in _mark_last(plain["sets"]):
            yield f'{{"name": {canonical_json(each["name"])},'
            yield f'"inputs": {canonical_json(each["inputs"])},'
            yield f'"systems": {canonical_json(each["systems"])},'
            yield '"shards": ['
            for final, shard in _mark_last(each["shards"]):
                yield canonical_json(shard) + ("" if final else ",")
            yield "]}" + ("" if last else ",")
        yield "]}"


def _mark_last(items: list[Any]) -> Iterator[tuple[bool, Any]]:
    for k, item in enumerate(items, 1):
        yield k == len(items), item


def write_manifest(folder: Folder, manifest: Manifest) -> None:
    """Put the plan into the folder of its run."""
    folder.write("".join(f"{line}\n" for line in manifest.lines()).encode("utf-8"), MANIFEST)


def read_manifest(folder: Folder) -> Manifest | None:
    """The plan of a run; None where there is none yet."""
    try:
        text = folder.read_file(MANIFEST).decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise InputError(
            f"not UTF-8: {error.reason}", path=f"{folder.place}/{MANIFEST}", remedy=_REMEDY
        ) from None
    return _manifest(text, f"{folder.place}/{MANIFEST}")


def _manifest(text: str, name: str) -> Manifest:
    try:
        data = decode_json(text)
    except ValueError as error:
        line = getattr(error, "lineno", None)
        raise InputError(f"not JSON: {error}", path=name, line=line, remedy=_REMEDY) from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f"no plan of a run ({FORMAT})", path=name, remedy=_REMEDY)
    if data.get("errata") != __version__:
        raise InputError(
            f"the run was planned by Errata {str(data.get('errata'))[:20]}, this is {__version__}",
            path=name,
            remedy="finish it with the version it was planned by, or plan it again",
        )
    try:
        made = Manifest(_read_metric_plan(data["wanted"]), tuple(map(_planned_set, data["sets"])))
        if data["digest"] != made.digest:
            raise ValueError("its digest is another: it was changed by hand or damaged")
    except InputError as error:
        raise InputError(error.problem, path=name, remedy=_REMEDY) from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"a field is missing or of the wrong kind: {str(error)[:100]}",
            path=name,
            remedy=_REMEDY,
        ) from None
    return made


def _read_metric_plan(data: Mapping[str, Any]) -> MetricPlan:
    known = {each.name: data[each.name] for each in fields(MetricPlan)}
    require("bootstrap", known["bootstrap"], BootstrapKind)
    texts = {"metrics": tuple(map(str, known["metrics"]))}
    files = {"files": tuple((str(name), str(digest)) for name, digest in known["files"])}
    return MetricPlan(**{**known, **texts, **files})


def _planned_set(data: Mapping[str, Any]) -> PlannedSet:
    return PlannedSet(
        str(data["name"]),
        CorpusFiles.from_json(data["inputs"]),
        tuple(map(str, data["systems"])),
        tuple(map(Shard.from_json, data["shards"])),
    )

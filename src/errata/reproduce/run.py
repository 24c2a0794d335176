"""Run experiments: every printed cell, every way, its recomputed value and the verdict."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from errata.errors import InputError, MissingExtraError
from errata.numbers import Progress
from errata.reproduce.lookup import NotRun, Unknown
from errata.reproduce.material import Material
from errata.reproduce.measures import all_measures
from errata.reproduce.paper import (
    ELSEWHERE,
    IN_WORDS,
    Claim,
    Evidence,
    Experiment,
    Known,
    PublishedTable,
    Way,
)
from errata.reproduce.verdict import Value, Verdict, difference, judge, shown

__all__ = [
    "CellResult",
    "ClaimResult",
    "EvidenceResult",
    "Reproduction",
    "TableResult",
    "check_measures",
    "reproduce",
]


@dataclass(frozen=True)
class CellResult:
    """One printed figure recomputed one way; ``software`` is the version that it depends on."""

    key: tuple[str, ...]
    way: str
    published: str | None
    recomputed: Value | None
    difference: float | None
    verdict: Verdict
    software: str = ""


@dataclass(frozen=True)
class TableResult:
    """A published table with all its cells recomputed."""

    table: PublishedTable
    cells: tuple[CellResult, ...]

    def count(self, verdict: str, way: str | None = None) -> int:
        """How many cells have this verdict."""
        return sum(cell.verdict.name == verdict and way in (None, cell.way) for cell in self.cells)


@dataclass(frozen=True)
class EvidenceResult:
    """A figure behind a finding, recomputed; it is confirmed if it comes out as we found it."""

    evidence: Evidence
    recomputed: Value | None
    confirmed: bool | None
    reason: str = ""


@dataclass(frozen=True)
class ClaimResult:
    """A finding with its evidence recomputed."""

    finding: Claim
    evidence: tuple[EvidenceResult, ...]


@dataclass(frozen=True)
class Reproduction:
    """One paper recomputed; ``ok`` says that everything came out as it should."""

    experiment: Experiment
    tables: tuple[TableResult, ...]
    findings: tuple[ClaimResult, ...]

    def distinct(self) -> tuple[int, int]:
        """How many figures were printed, and how many of them come out exactly from raw data.

        A figure that is computed in several ways counts once; words and unprinted bars do not.
        """
        printed, exact = 0, 0
        for result in self.tables:
            if result.table.repeats:
                continue
            raw = {way.origin for way in result.table.ways if way.raw}
            printed += sum(
                text is not None and text[:1] not in (IN_WORDS, ELSEWHERE)
                for text in result.table.cells.values()
            )
            exact += len(
                {c.key for c in result.cells if c.way in raw and c.verdict.name == "exact"}
            )
        return printed, exact

    @property
    def ok(self) -> bool:
        """Whether no cell that should match is off and every finding is confirmed."""
        return not self.mismatches

    @property
    def mismatches(self) -> int:
        """Cells that should match and do not, and evidence that is not confirmed."""
        return sum(cell.verdict.fails for result in self.tables for cell in result.cells) + sum(
            one.confirmed is False for result in self.findings for one in result.evidence
        )


def reproduce(
    experiments: Sequence[Experiment],
    *,
    extractor: str = "errant",
    model: str = "trigram",
    progress: Progress | None = None,
) -> tuple[Reproduction, ...]:
    """Recompute published tables; data sets come from `errata.datasets`.

    Work that several tables need is done once. ``extractor`` types errors where a table needs
    ERRANT's types (``errant:PIPELINE`` with another spaCy pipeline); ``model`` is the language
    model that stands in for GPT-2, which is run too where its weights are at hand; ``progress`` is
    called with the steps done and the steps in all.
    """
    for experiment in experiments:
        check_measures(experiment)
    total = sum(e.cells + sum(len(f.evidence) for f in e.findings) for e in experiments)
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    material = Material(extractor, model, tick=lambda: progress and progress(done, total))
    material.tick()
    return tuple(_run(experiment, material, step) for experiment in experiments)


def check_measures(experiment: Experiment) -> None:
    """Refuse an experiment that asks for measures or arguments that do not exist."""
    for table in experiment.tables:
        for way in table.ways:
            _check(
                f"{experiment.name}, {table.name}",
                table.measure,
                {**way.arguments, **dict.fromkeys(table.by, "")},
            )
    for finding in experiment.findings:
        for one in finding.evidence:
            _check(f"{experiment.name}, {finding.name}", one.measure, one.arguments)


def _check(where: str, measure: str, arguments: Mapping[str, Any]) -> None:
    if measure not in all_measures():
        raise InputError(
            f"{where}: there is no measure {measure!r}",
            remedy=f"known: {', '.join(sorted(all_measures()))}",
        )
    wanted = inspect.signature(all_measures()[measure])
    try:
        wanted.bind(None, **arguments)
    except TypeError as error:
        raise InputError(
            f"{where}: {measure}: {error}",
            remedy="its arguments are " + ", ".join(list(wanted.parameters)[1:]),
        ) from None
    for name, value in arguments.items():
        kind = _kind(str(wanted.parameters[name].annotation))
        if not isinstance(value, kind) or isinstance(value, bool):
            raise InputError(f"{where}: {measure}: {name} = {value!r} is not a {kind.__name__}")


def _kind(annotation: str) -> type:
    """What an argument is in TOML: a text (a name, a word), unless it says something else.

    >>> _kind("Correlation"), _kind("dict[str, str] | None"), _kind("int")
    (<class 'str'>, <class 'dict'>, <class 'int'>)
    """
    kinds = {"int": int, "dict": dict, "Mapping": dict, "Pairs": dict, "Sequence": list}
    return next((kinds[word] for word in kinds if annotation.startswith(word)), str)


def _run(experiment: Experiment, material: Material, step: Callable[[], None]) -> Reproduction:
    material.recipes, material.files = experiment.recipes, experiment.files
    tables = tuple(
        TableResult(
            table,
            tuple(
                _named(_cell(table, way, key, material, step), experiment.published)
                for way in table.ways
                for key in table.cells
            ),
        )
        for table in experiment.tables
    )
    findings = tuple(
        ClaimResult(finding, tuple(_evidence(one, material, step) for one in finding.evidence))
        for finding in experiment.findings
    )
    return Reproduction(experiment, tables, findings)


def _named(cell: CellResult, published: bool) -> CellResult:
    """Where nothing was published, a figure that comes out otherwise is different, no mismatch."""
    if published or cell.verdict.name != "MISMATCH":
        return cell
    return replace(cell, verdict=replace(cell.verdict, name="different"))


def _compute(measure: str, material: Material, arguments: Mapping[str, Any], what: str) -> Value:
    try:
        value: Value = all_measures()[measure](material, **arguments)
    except Unknown as unknown:
        raise InputError(
            f"{what}: {measure}: {unknown}",
            remedy="check the names of the row, the column and the arguments",
        ) from None
    return value


def _cell(
    table: PublishedTable,
    way: Way,
    key: tuple[str, ...],
    material: Material,
    step: Callable[[], None],
) -> CellResult:
    printed = table.cells[key]
    arguments = {**way.arguments, **dict(zip(table.by, key, strict=True))}
    try:
        version = material.version(way.software, arguments)
        value = _compute(table.measure, material, arguments, f"table {table.name}")
    except (NotRun, MissingExtraError) as reason:
        step()
        return CellResult(key, way.origin, printed, None, None, Verdict("not run", str(reason)))
    verdict = _judged(table, way, key, value, version)
    step()
    off = difference(value, printed)
    return CellResult(key, way.origin, printed, value, off, verdict, version)


def _judged(
    table: PublishedTable, way: Way, key: tuple[str, ...], value: Value, version: str
) -> Verdict:
    """A figure that depends on software is held to what is pinned for the version that ran.

    A tolerance that the way states holds for every version.
    """
    cells: Mapping[tuple[str, ...], Known] | None = table.known[way.origin]
    if version:
        cells = next(
            (
                pinned
                for (origin, known), pinned in table.pinned.items()
                if origin == way.origin and version.startswith(known)
            ),
            None,
        )
    verdict = judge(value, table.cells[key], way, (cells or {}).get(key), table.rounding)
    kept = cells is not None or table.cells[key] is None
    if kept or (way.tolerance and verdict.name != "MISMATCH"):
        return verdict
    return Verdict("unpinned", f"made with {version}, whose figures are not kept")


def _evidence(one: Evidence, material: Material, step: Callable[[], None]) -> EvidenceResult:
    try:
        value = _compute(one.measure, material, one.arguments, f"evidence {one.what!r}")
    except (NotRun, MissingExtraError) as reason:
        step()
        return EvidenceResult(one, None, None, str(reason))
    step()
    text = shown(value, one.found)
    return EvidenceResult(one, value, judge(value, one.found, Way("")).name == "exact", text)

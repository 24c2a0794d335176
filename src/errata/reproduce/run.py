"""Recompute cells, compare, tables."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal, InvalidOperation
from importlib import import_module
from typing import Any, TypeVar

from errata.core.errors import InputError, MissingExtraError
from errata.core.stats import Progress
from errata.reproduce.data import ExperimentData as Data
from errata.reproduce.data import NotRun, UnknownName
from errata.reproduce.experiment import (
    ELSEWHERE,
    IN_WORDS,
    Claim,
    Evidence,
    Experiment,
    KnownDifference,
    Method,
    PublishedTable,
)
from errata.tables.cells import Cell
from errata.tables.table import Column, Table, join_signatures, make_signature

Measure = TypeVar("Measure", bound=Callable[..., Any])
_MEASURES: dict[str, Callable[..., Any]] = {}


def register_measure(name: str) -> Callable[[Measure], Measure]:
    """Return a decorator that registers a function under the name that experiment files use."""

    def register(function: Measure) -> Measure:
        _MEASURES[name] = function
        return function

    return register


def all_measures() -> Mapping[str, Callable[..., Any]]:
    """Return all measures by the names that experiment files use."""
    for module in ("metric_measures", "paper_measures", "people_measures", "text_measures"):
        import_module(f"errata.reproduce.{module}")
    return _MEASURES


# ---- Does a recomputed figure agree with the printed one?

Value = float | int | str
VERDICTS = (
    *("exact", "within rounding", "within tolerance", "differs (known)", "unpinned"),
    *("in words", "not printed", "not run", "different", "MISMATCH"),
)


@dataclass(frozen=True)
class Verdict:
    """One of `VERDICTS`, and the reason where there is one."""

    name: str
    reason: str = ""

    @property
    def fails(self) -> bool:
        """Whether a figure that should agree does not."""
        return self.name in ("MISMATCH", "different")


def _parse_decimal(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def format_value(value: Value, like: str, rounding: str = "half") -> str:
    """A value as the paper would print it: with the digits of ``like``.

    >>> format_value(0.69151, "0.691"), format_value(0.69151, ".691", "truncated")
    ('0.692', '0.691')
    """
    printed = _parse_decimal(like)
    if isinstance(value, str) or printed is None or not math.isfinite(value):
        return str(value)
    # A figure that is half of a last digit but for its last bits is meant to be that half.
    exact = Decimal(repr(float(f"{value:.12g}")))
    rounded = exact.quantize(
        Decimal(1).scaleb(printed.as_tuple().exponent),  # type: ignore[arg-type]
        ROUND_HALF_EVEN if rounding == "half" else ROUND_DOWN,
    )
    return format(rounded, "f")


def difference_from_print(value: Value, printed: str | None) -> float | None:
    """Recomputed minus printed; None where one of them is no number."""
    number = None if printed is None else _parse_decimal(printed.lstrip(IN_WORDS + ELSEWHERE))
    if number is None or isinstance(value, str):
        return None
    return float(value) - float(number)


def _prints_alike(value: Value, printed: str, rounding: str) -> bool:
    text = format_value(value, printed, rounding)
    a, b = _parse_decimal(text), _parse_decimal(printed)
    return text == printed if a is None or b is None else a == b


def compare_with_print(
    value: Value,
    printed: str | None,
    way: Method,
    known: KnownDifference | None = None,
    rounding: str = "half",
) -> Verdict:
    """Compare a recomputed value with the printed text.

    Exact is what rounds (or, in a table that truncates, truncates) to the printed digits. A
    figure that the paper gives in words ("about seven") is never called exact. A
    difference within the way's tolerance is named after it: within rounding if the tolerance is
    at most one unit of the last printed digit. A known difference must come out as pinned.

    >>> [compare_with_print(v, "0.691", Method("raw")).name for v in (0.6907, 0.6899)]
    ['exact', 'MISMATCH']
    """
    if printed is None:
        return Verdict("not printed")
    agreed = {IN_WORDS: "in words", ELSEWHERE: "not printed"}.get(printed[:1], "exact")
    printed = printed.lstrip(IN_WORDS + ELSEWHERE)
    if _prints_alike(value, printed, rounding):
        if known is not None:
            return Verdict("MISMATCH", f"expected {known.found}, known to differ")
        return Verdict(agreed)
    if known is not None:
        if _prints_alike(value, known.found, "half"):
            return Verdict("differs (known)", known.reason)
        return Verdict("MISMATCH", f"expected {known.found} ({known.reason})")
    off = difference_from_print(value, printed)
    if off is not None and abs(off) <= way.tolerance * (1 + 1e-9):
        last = 10.0 ** Decimal(printed).as_tuple().exponent  # type: ignore[operator]
        name = "within rounding" if way.tolerance <= last * (1 + 1e-9) else "within tolerance"
        return Verdict(name, way.reason)
    return Verdict("MISMATCH")


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

    def count_verdict(self, verdict: str, way: str | None = None) -> int:
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

    def count_printed_and_exact(self) -> tuple[int, int]:
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
    model used in place of GPT-2, which is run too if its weights are at hand; ``progress`` is
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

    data = Data(extractor, model, tick=lambda: progress and progress(done, total))
    data.tick()
    return tuple(_run_experiment(experiment, data, step) for experiment in experiments)


def check_measures(experiment: Experiment) -> None:
    """Refuse an experiment that asks for measures or arguments that do not exist."""
    for table in experiment.tables:
        for way in table.ways:
            arguments = {**way.arguments, **dict.fromkeys(table.by, "")}
            _check_measure_call(f"{experiment.name}, {table.name}", table.measure, arguments)
    for finding in experiment.findings:
        for one in finding.evidence:
            _check_measure_call(f"{experiment.name}, {finding.name}", one.measure, one.arguments)


def _check_measure_call(where: str, measure: str, arguments: Mapping[str, Any]) -> None:
    if measure not in all_measures():
        remedy = f"known: {', '.join(sorted(all_measures()))}"
        raise InputError(f"{where}: there is no measure {measure!r}", remedy=remedy)
    wanted = inspect.signature(all_measures()[measure])
    try:
        wanted.bind(None, **arguments)
    except TypeError as error:
        remedy = "its arguments are " + ", ".join(list(wanted.parameters)[1:])
        raise InputError(f"{where}: {measure}: {error}", remedy=remedy) from None
    for name, value in arguments.items():
        kind = _toml_type(str(wanted.parameters[name].annotation))
        if not isinstance(value, kind) or isinstance(value, bool):
            raise InputError(f"{where}: {measure}: {name} = {value!r} is not a {kind.__name__}")


def _toml_type(annotation: str) -> type:
    """What an argument is in TOML: a text (a name, a word), unless it says something else.

    >>> _toml_type("Correlation"), _toml_type("dict[str, str] | None"), _toml_type("int")
    (<class 'str'>, <class 'dict'>, <class 'int'>)
    """
    kinds = {"int": int, "dict": dict, "Mapping": dict, "Pairs": dict, "Sequence": list}
    return next((kinds[word] for word in kinds if annotation.startswith(word)), str)


def _run_experiment(experiment: Experiment, data: Data, step: Callable[[], None]) -> Reproduction:
    data.recipes, data.files = experiment.recipes, experiment.files
    tables = []
    for table in experiment.tables:
        pairs = [(way, key) for way in table.ways for key in table.cells]
        cells = [_recompute_cell(table, way, key, data, step) for way, key in pairs]
        if not experiment.published:  # what nobody published is no mistake if it differs
            cells = [
                replace(cell, verdict=replace(cell.verdict, name="different"))
                if cell.verdict.name == "MISMATCH"
                else cell
                for cell in cells
            ]
        tables.append(TableResult(table, tuple(cells)))
    findings = tuple(
        ClaimResult(
            finding, tuple(_recompute_evidence(one, data, step) for one in finding.evidence)
        )
        for finding in experiment.findings
    )
    return Reproduction(experiment, tuple(tables), findings)


def _compute_measure(measure: str, data: Data, arguments: Mapping[str, Any], what: str) -> Value:
    try:
        value: Value = all_measures()[measure](data, **arguments)
    except UnknownName as unknown:
        remedy = "check the names of the row, the column and the arguments"
        raise InputError(f"{what}: {measure}: {unknown}", remedy=remedy) from None
    return value


def _recompute_cell(
    table: PublishedTable, way: Method, key: tuple[str, ...], data: Data, step: Callable[[], None]
) -> CellResult:
    printed = table.cells[key]
    arguments = {**way.arguments, **dict(zip(table.by, key, strict=True))}
    try:
        version = data.software_version(way.software, arguments)
        value = _compute_measure(table.measure, data, arguments, f"table {table.name}")
    except (NotRun, MissingExtraError) as reason:
        return CellResult(key, way.origin, printed, None, None, Verdict("not run", str(reason)))
    finally:
        step()
    verdict = _judge_cell(table, way, key, value, version)
    off = difference_from_print(value, printed)
    return CellResult(key, way.origin, printed, value, off, verdict, version)


def _judge_cell(
    table: PublishedTable, way: Method, key: tuple[str, ...], value: Value, version: str
) -> Verdict:
    """A figure that depends on software must be the one pinned for the version that ran.

    A tolerance that the way states holds for every version.
    """
    cells: Mapping[tuple[str, ...], KnownDifference] | None = table.known[way.origin]
    if version:
        origins = [known for origin, known in table.pinned if origin == way.origin]
        known = next((known for known in origins if version.startswith(known)), None)
        cells = None if known is None else table.pinned[way.origin, known]
    verdict = compare_with_print(
        value, table.cells[key], way, (cells or {}).get(key), table.rounding
    )
    kept = cells is not None or table.cells[key] is None
    if kept or (way.tolerance and verdict.name != "MISMATCH"):
        return verdict
    return Verdict("unpinned", f"made with {version}, whose figures are not kept")


def _recompute_evidence(one: Evidence, data: Data, step: Callable[[], None]) -> EvidenceResult:
    try:
        value = _compute_measure(one.measure, data, one.arguments, f"evidence {one.what!r}")
    except (NotRun, MissingExtraError) as reason:
        return EvidenceResult(one, None, None, str(reason))
    finally:
        step()
    text = format_value(value, one.found)
    return EvidenceResult(
        one, value, compare_with_print(value, one.found, Method("")).name == "exact", text
    )


# ---- Reproductions as tables: every cell, the findings, and how many cells came out how.


def experiment_table(experiments: Iterable[Experiment]) -> Table:
    """What can be reproduced: papers, their tables and how many cells these have."""
    several = list(experiments)
    return Table.of(
        [
            Column("experiment", [e.name for e in several]),
            Column("authors", [e.citation.partition(". ")[0] for e in several]),
            Column("year", [_year(e) for e in several]),
            Column("tables", [", ".join(t.name for t in e.tables) for e in several]),
            Column("cells", [e.cells for e in several]),
            Column("findings", [len(e.findings) for e in several]),
        ],
        title="Published tables that can be recomputed",
        name="experiments",
        caption="errata reproduce NAME recomputes one of them, errata reproduce all "
        "all; cells count every way of recomputing",
    )


def _year(experiment: Experiment) -> Cell:
    year = experiment.citation.split(". ")[1]
    return int(year) if year.isdecimal() else year


def _measure_signature(measure: str, arguments: Mapping[str, object]) -> str:
    return make_signature(f"{measure}({', '.join(f'{k}={v!r}' for k, v in arguments.items())})")


def cell_table(result: TableResult, name: str) -> Table:
    """One published table: a row per cell and way."""
    table, cells = result.table, result.cells
    several = len(table.ways) > 1
    depends = any(way.software for way in table.ways)
    origin = Column("from", [cell.way for cell in cells])
    software = Column("software", [cell.software or None for cell in cells])
    reasons = dict.fromkeys(
        f"{cell.verdict.name}: {cell.verdict.reason}" for cell in cells if cell.verdict.reason
    )
    size = len(table.cells)
    return Table.of(
        [
            *(Column(part, [cell.key[k] for cell in cells]) for k, part in enumerate(table.by)),
            *([origin] if several else []),
            Column("published", [cell.published for cell in cells]),
            Column("recomputed", [cell.recomputed for cell in cells], ".6g"),
            Column("difference", [cell.difference for cell in cells], "+.3g"),
            Column("verdict", [cell.verdict.name for cell in cells]),
            *([software] if depends else []),
        ],
        title=f"{name}, {table.origin}: {table.title}",
        name=f"{name}_{table.name}",
        caption="\n".join((*(() if several else (f"from {table.ways[0].origin}",)), *reasons)),
        signature=join_signatures(
            _measure_signature(table.measure, way.arguments) for way in table.ways
        ),
        rules=range(size - 1, len(cells) - 1, size),
    )


CONFIRMED = {None: "not run", True: "confirmed", False: "NOT CONFIRMED"}


def finding_tables(results: Sequence[ClaimResult], experiment: str) -> list[Table]:
    """One table per finding: printed and recomputed figures."""
    tables = []
    for result in results:
        evidence = [one.evidence for one in result.evidence]
        columns = [
            Column("evidence", [one.what for one in evidence]),
            Column("printed", [one.printed or None for one in evidence]),
            Column("recomputed", [one.recomputed for one in result.evidence], ".6g"),
            Column("verdict", [CONFIRMED[one.confirmed] for one in result.evidence]),
        ]
        table = Table.of(
            columns,
            title=f"Finding, {experiment}: {result.finding.title}",
            name=f"{experiment}_finding_{result.finding.name}",
            caption=result.finding.text,
            signature=join_signatures(
                _measure_signature(one.measure, one.arguments) for one in evidence
            ),
        )
        tables.append(table)
    return tables


def verdict_table(results: Sequence[Reproduction]) -> Table:
    """The number of cells with each verdict, by table and way."""
    rows: list[tuple[Cell, ...]] = []
    rules = []
    for result in results:
        for table in result.tables:
            for way in table.table.ways:
                counts = [table.count_verdict(verdict, way.origin) for verdict in VERDICTS]
                names = (result.experiment.name, table.table.name, way.origin)
                rows.append((*names, sum(counts), *counts))
        rules.append(len(rows) - 1)
    groups = dict.fromkeys(result.experiment.group for result in results)
    several = len(groups) > 1
    for group in [*(groups if several else ()), None]:
        mine = {r.experiment.name for r in results if group in (None, r.experiment.group)}
        total = [
            sum(n for row in rows if row[0] in mine and isinstance(n := row[c], int))
            for c in range(3, 4 + len(VERDICTS))
        ]
        rows.append(("all" if group is None else group or "others", None, None, *total))
    findings = [one for result in results for f in result.findings for one in f.evidence]
    confirmed = sum(one.confirmed is True for one in findings)
    evidence = f"findings: {confirmed} of {len(findings)} pieces of evidence confirmed"
    return Table(
        ("experiment", "table", "from", "cells", *VERDICTS),
        tuple(rows),
        title="Verdicts",
        name="summary",
        rules=frozenset(rules),
        signature=make_signature(*(result.experiment.name for result in results)),
        caption="\n".join(
            [*(_printed_and_exact_line(results, group) for group in groups), evidence]
        ),
    )


def _printed_and_exact_line(results: Sequence[Reproduction], group: str) -> str:
    counts = [
        result.count_printed_and_exact() for result in results if result.experiment.group == group
    ]
    printed, exact = (sum(column) for column in zip(*counts, strict=True))
    name = group or "figures"
    return f"{name}: {printed} printed, each counted once; {exact} exact from raw data"


def reproduction_tables(results: Sequence[Reproduction], *, summary: bool = False) -> list[Table]:
    """All cells and findings of some experiments, then the verdicts; or these alone."""
    tables: list[Table] = []
    for result in results:
        name = result.experiment.name
        if not summary:
            tables += [cell_table(table, name) for table in result.tables]
        tables += finding_tables(result.findings, name)
    return [*tables, verdict_table(results)]

"""Experiment files: model and reader.

An experiment is a TOML file (`docs/reproduction.md`). A table of it names a measure (see
`errata.reproduce.run`), gives the printed cells as a matrix, and one or more ways to recompute
them. Cells are separated by blanks; ``-`` is no cell, ``?`` one that the paper shows without
digits, ``~7`` one that it gives in words ("about seven"), ``=0.015`` one that is known from
elsewhere and checked anyway (the paper shows it in colours). Whatever differs needs evidence:
figures that the run computes (``evidence``, as in a finding), or the name of a ``finding`` that has
them. A key of several parts is written ``a/b``; the parts of row and column together are the
arguments ``by``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from errata.core.errors import InputError
from errata.core.parameters import suggest_name
from errata.datasets.fetch import collections
from errata.io.files import decode, read_bytes
from errata.io.records import RecordReader, parse_toml

Key = tuple[str, ...]
IN_WORDS = "~"
ELSEWHERE = "="


@dataclass(frozen=True)
class Evidence:
    """One figure behind a finding: the measure, the printed and our own value."""

    what: str
    measure: str
    found: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    printed: str = ""

    def __post_init__(self) -> None:
        for text in (self.printed, self.found):
            _check_digit_count(text, self.what)


@dataclass(frozen=True)
class Method:
    """One way to recompute a table: where from, and how far it may be off, and why.

    ``software`` says that figures depend on the version of an ``extractor`` or of a language
    ``model``; then they must be those pinned for the version that ran.
    """

    origin: str = field(metadata={"key": "from"})
    arguments: Mapping[str, Any] = field(default_factory=dict)
    tolerance: float = 0.0
    software: Literal["", "extractor", "model"] = ""
    reason: str = ""
    raw: bool = False
    finding: str = ""
    evidence: tuple[Evidence, ...] = ()

    def __post_init__(self) -> None:
        if self.tolerance and not self.reason:
            raise InputError("a tolerance needs its reason")


@dataclass(frozen=True)
class KnownDifference:
    """A cell that comes out otherwise: what it comes out as, why, and the finding that shows it."""

    found: str
    reason: str
    finding: str = ""


KnownCells = dict[Key, KnownDifference]


@dataclass(frozen=True)
class PublishedTable:
    """The printed cells of one table and how to recompute them.

    ``cells`` maps a key (the values of ``by``) to the printed text, None where the paper prints
    no digits; ``known[way][key]`` are the cells known to differ, ``pinned[way, version][key]``
    cells of a way whose figures depend on software. A table that ``repeats`` figures of another
    one is not counted among what was printed.
    """

    name: str
    title: str
    origin: str
    measure: str
    by: tuple[str, ...]
    cells: Mapping[Key, str | None]
    ways: tuple[Method, ...]
    known: Mapping[str, Mapping[Key, KnownDifference]]
    rounding: str = "half"
    pinned: Mapping[tuple[str, str], Mapping[Key, KnownDifference]] = field(default_factory=dict)
    repeats: bool = False


@dataclass(frozen=True)
class Claim:
    """Something a paper or its data got wrong, with the figures that show it."""

    name: str
    title: str
    text: str
    evidence: tuple[Evidence, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", " ".join(self.text.split()))


@dataclass(frozen=True)
class OwnFiles:
    """Files of one's own under one name: a corpus, outputs of systems and judgments of them.

    ``base`` is the number of the first sentence in the judgments.
    """

    name: str
    gold: str = ""
    source: str = ""
    references: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    judgments: tuple[str, ...] = ()
    base: int = 0

    def __post_init__(self) -> None:
        if self.name in collections() or "/" in self.name or "+" in self.name:
            remedy = "take a name that no public data set has, without / and +"
            raise InputError(f"files cannot be called {self.name!r}", remedy=remedy)


@dataclass(frozen=True)
class Experiment:
    """The tables and findings of one paper; ``recipes`` say how it ran its metrics.

    ``files`` are the user's. Papers of one ``group`` are counted together. Where nothing
    was ``published`` the figures come from an earlier run of the user's, and one that comes out
    otherwise is no mistake.
    """

    name: str
    title: str
    citation: str
    data: tuple[str, ...]
    tables: tuple[PublishedTable, ...]
    findings: tuple[Claim, ...]
    recipes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    group: str = ""
    published: bool = True
    files: Mapping[str, OwnFiles] = field(default_factory=dict)

    @property
    def cells(self) -> int:
        """How many cells are recomputed, each way counted."""
        return sum(len(table.cells) * len(table.ways) for table in self.tables)


UNPRINTED = "?"
MOST_DIGITS = 30  # of a printed figure


@dataclass(frozen=True)
class _KnownEntry:
    origin: str = field(metadata={"key": "from"})
    reason: str
    matrix: str
    version: str = ""
    finding: str = ""
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True)
class _TableEntry:
    name: str
    title: str
    origin: str
    measure: str
    by: tuple[str, ...]
    matrix: str
    way: tuple[Method, ...]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    rounding: Literal["half", "truncated"] = "half"
    repeats: bool = False
    known: tuple[_KnownEntry, ...] = ()


@dataclass(frozen=True)
class _Recipe:
    metric: str = ""
    references: str = ""
    outputs: str = ""
    edits: bool = False
    times: float = 1.0
    digits: int = 0


@dataclass(frozen=True)
class _ExperimentFile:
    name: str
    title: str
    citation: str
    data: tuple[str, ...]
    table: tuple[_TableEntry, ...] = ()
    finding: tuple[Claim, ...] = ()
    recipes: Mapping[str, Any] = field(default_factory=dict)
    group: str = ""
    published: bool = True
    files: Mapping[str, Any] = field(default_factory=dict)


def experiment_names() -> tuple[str, ...]:
    """The experiments that come with Errata, by name.

    >>> experiment_names()
    ('chollampatt18', 'gotou20', 'grundkiewicz15', 'islam21', 'napoles15', 'sakaguchi16')
    """
    folder = files("errata.reproduce") / "experiments"
    names = [entry.name for entry in folder.iterdir()]
    return tuple(sorted(n.removesuffix(".toml") for n in names if n.endswith(".toml")))


def load_experiment(name: str) -> Experiment:
    """An experiment by name, or a file of one's own (``.toml``)."""
    if name.endswith(".toml"):
        return read_experiment(name)
    if name not in experiment_names():
        known = ", ".join(experiment_names())
        remedy = f"{suggest_name(name, experiment_names())}known: {known}, all, or a .toml file"
        raise InputError(f"there is no experiment {name!r}", remedy=remedy)
    source = files("errata.reproduce") / "experiments" / f"{name}.toml"
    return parse_experiment(source.read_text(encoding="utf-8"), f"{name}.toml")


def read_experiment(path: str | Path) -> Experiment:
    """Read an experiment from a file written like ours."""
    return parse_experiment(decode(read_bytes(path), str(path)), str(path))


def parse_experiment(text: str, where: str) -> Experiment:
    """Read an experiment from TOML; ``where`` names it in messages."""
    reader = RecordReader(where, text)
    file = reader.decode(_ExperimentFile, parse_toml(text, where))
    for name, recipe in file.recipes.items():
        reader.decode(_Recipe, recipe, "recipes", name)
    own = {
        name: _resolve_paths(reader.decode(OwnFiles, entry, "files", name, name=name), where)
        for name, entry in file.files.items()
    }
    reasons: list[Claim] = []
    tables = []
    for k, entry in enumerate(file.table):
        try:
            tables.append(_parse_table(entry, reasons))
        except InputError as error:
            raise reader.error(error.problem, "table", k, remedy=error.remedy or "") from None
    findings = (*file.finding, *reasons)
    try:
        _check_finding_names(tables, [claim.name for claim in findings])
    except InputError as error:
        raise InputError(error.problem, path=where, remedy=error.remedy) from None
    same = ("name", "title", "citation", "data", "recipes", "group", "published")
    known = {key: getattr(file, key) for key in same}
    return Experiment(**known, tables=tuple(tables), findings=findings, files=own)


def _resolve_paths(given: OwnFiles, where: str) -> OwnFiles:
    """Return the files with paths below the folder of the experiment."""
    folder = Path(where).parent

    def below_folder(paths: Any) -> Any:
        if isinstance(paths, str):
            return paths and str(folder / paths)
        return tuple(map(below_folder, paths))

    roles = ("gold", "source", "references", "outputs", "judgments")
    return replace(given, **{role: below_folder(getattr(given, role)) for role in roles})


def _check_finding_names(tables: Sequence[PublishedTable], findings: Sequence[str]) -> None:
    """Refuse a reason that names an unknown finding, and two findings of one name."""
    if len({*findings}) < len(findings):
        twice = next(name for name in findings if findings.count(name) > 1)
        raise InputError(f"two findings are called {twice!r}")
    for table in tables:
        named = [way.finding for way in table.ways]
        shown = [*table.known.values(), *table.pinned.values()]
        named += [one.finding for cells in shown for one in cells.values()]
        for name in named:
            if name and name not in findings:
                remedy = f"the findings are {', '.join(findings) or 'none'}"
                raise InputError(f"table {table.name}: there is no finding {name!r}", remedy=remedy)


def _check_digit_count(text: str, what: str) -> None:
    """Refuse a number that nobody prints; other texts pass."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return
    if len(text) > MOST_DIGITS or (number.is_finite() and abs(number.adjusted()) > MOST_DIGITS):
        problem = f"{what}: {text!r} has too many digits for a printed figure"
        raise InputError(problem, remedy=f"give a number of at most {MOST_DIGITS} digits")


def _parse_table(entry: _TableEntry, reasons: list[Claim]) -> PublishedTable:
    ways = tuple(
        replace(
            way,
            arguments={**entry.arguments, **way.arguments},
            reason=" ".join(way.reason.split()),
            finding=_name_finding(way, entry.name, f"How far {entry.name} may be off", reasons),
            evidence=(),
        )
        for way in entry.way
    )
    printed = _parse_matrix(entry.matrix, entry.by)
    cells = {key: None if text == UNPRINTED else text for key, text in printed.items()}
    if len({way.origin for way in ways}) < max(1, len(ways)):
        raise InputError("a table needs ways of different origins")
    known, pinned = _parse_known_cells(entry, ways, cells, reasons)
    same = ("name", "title", "origin", "measure", "by", "rounding", "repeats")
    return PublishedTable(
        **{key: getattr(entry, key) for key in same},
        cells=cells,
        ways=ways,
        known=known,
        pinned=pinned,
    )


def _parse_known_cells(
    table: _TableEntry,
    ways: Sequence[Method],
    cells: Mapping[Key, str | None],
    reasons: list[Claim],
) -> tuple[dict[str, KnownCells], dict[tuple[str, str], KnownCells]]:
    """Return the cells known to differ by way, and by way and version of its software."""
    known: dict[str, KnownCells] = {way.origin: {} for way in ways}
    pinned: dict[tuple[str, str], KnownCells] = {}
    software = {way.origin: way.software for way in ways}
    for entry in table.known:
        origin, version = entry.origin, entry.version
        if origin not in software:
            raise InputError(f"known cells of an unknown way {origin!r}")
        if bool(version) != bool(software[origin]):
            verb = "need" if software[origin] else "have"
            remedy = "a version belongs to a way that names its software, and only there"
            raise InputError(f"known cells of {origin!r} {verb} a version", remedy=remedy)
        finding = _name_finding(entry, table.name, f"Why {table.name} differs", reasons)
        mine = pinned.setdefault((origin, version), {}) if version else known[origin]
        for key, text in _parse_matrix(entry.matrix, table.by).items():
            if key not in cells:
                raise InputError(f"the known cell {'/'.join(key)} is not in the table")
            mine[key] = KnownDifference(text, " ".join(entry.reason.split()), finding)
    return known, pinned


def _name_finding(entry: Method | _KnownEntry, table: str, title: str, reasons: list[Claim]) -> str:
    """Return the name of the finding behind a reason; its own evidence becomes a finding."""
    if not entry.evidence:
        return entry.finding
    if entry.finding:
        raise InputError("give evidence or the name of a finding, not both")
    name = f"{table}-{1 + sum(claim.name.startswith(f'{table}-') for claim in reasons)}"
    reasons.append(Claim(name, title, entry.reason, entry.evidence))
    return name


def _parse_matrix(text: str, by: tuple[str, ...]) -> dict[Key, str]:
    """Return the cells of a matrix by their keys; its first line names the columns."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    if not lines:
        raise InputError("the matrix is empty")
    columns = [tuple(title.split("/")) for title in lines[0]]
    cells: dict[Key, str] = {}
    for row, *found in lines[1:]:
        if len(found) != len(columns):
            problem = f"row {row} has {len(found)} cells under {len(columns)} columns"
            raise InputError(problem, remedy="write - where there is no cell")
        for column, cell in zip(columns, found, strict=True):
            key = (*row.split("/"), *column)
            if len(key) != len(by):
                names = ", ".join(by)
                problem = (
                    f"the key {'/'.join(key)} has {len(key)} parts and not {len(by)} ({names})"
                )
                raise InputError(problem)
            if key in cells:
                raise InputError(f"the cell {'/'.join(key)} is given twice")
            if cell != "-":
                _check_digit_count(cell, "/".join(key))
                cells[key] = cell
    return cells

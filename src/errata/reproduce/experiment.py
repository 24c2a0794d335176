"""Experiment files: model and reader.

An experiment is a TOML file. A table of it names a measure (see `errata.reproduce.run`),
gives the printed cells as a matrix, and one or more ways to recompute them. A way may have a
tolerance, and cells that are known to come out otherwise are pinned with the reason::

    [[table]]
    name = "table2"
    title = "System-level correlation with people"
    origin = "Table 2"
    measure = "correlation"
    by = ["metric", "kind"]
    matrix = '''
             pearson  spearman
    gleu     0.691    0.407
    '''
        [[table.way]]
        from = "raw files"
        arguments = { people = "computed" }

Cells are apart by blanks; ``-`` is no cell, ``?`` one that the paper shows without digits, ``~7``
one that it gives in words ("about seven"), ``=0.015`` one that is known from elsewhere and checked
all the same (the paper shows it in colours). Whatever differs needs evidence: figures that the run
computes (``evidence``, as in a finding), or the name of a ``finding`` that has them. Where figures
depend on ``software`` (an ``extractor``, a language ``model``), known cells name the ``version``
that they were found with; with another they are called unpinned. A key of several parts is written
``a/b``; the parts of row and column together are the arguments ``by``.
``[recipes.NAME]`` says how a metric was run: its signature (``metric``), the ``references``, and
what was printed of it, ``times`` (100 for percent) and ``digits``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from importlib.resources import files
from pathlib import Path
from typing import Any

from errata.core.errors import InputError
from errata.core.parameters import suggest_name
from errata.datasets.fetch import collections
from errata.io.files import decode, read_bytes

# ---- What a paper printed and how each of its figures is recomputed: the parts of an
# experiment.

Key = tuple[str, ...]
IN_WORDS = "~"
ELSEWHERE = "="


@dataclass(frozen=True)
class Method:
    """One way to recompute a table: where from, and how far it may be off, and why.

    ``software`` says that figures depend on the version of an ``extractor`` or of a language
    ``model``; then they are held to what is pinned for the version that ran.
    """

    origin: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    tolerance: float = 0.0
    software: str = ""
    reason: str = ""
    raw: bool = False
    finding: str = ""


@dataclass(frozen=True)
class KnownDifference:
    """A cell that comes out otherwise: what it comes out as, why, and the finding that shows it."""

    found: str
    reason: str
    finding: str = ""


@dataclass(frozen=True)
class PublishedTable:
    """The printed cells of one table and how to recompute them.

    ``cells`` maps a key (the values of ``by``) to the printed text, None where the paper prints
    no digits; ``known[way][key]`` are the cells known to differ, ``pinned[way, version][key]``
    those of a way whose figures depend on software. A table that ``repeats`` figures of another
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
class Evidence:
    """One figure behind a finding: the measure, what is printed, what we found."""

    what: str
    measure: str
    arguments: Mapping[str, Any]
    printed: str
    found: str


@dataclass(frozen=True)
class Claim:
    """Something a paper or its data got wrong, with the figures that show it."""

    name: str
    title: str
    text: str
    evidence: tuple[Evidence, ...]


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


@dataclass(frozen=True)
class Experiment:
    """The tables and findings of one paper; ``recipes`` say how it ran its metrics.

    ``files`` are those of one's own. Papers of one ``group`` are counted together. Where nothing
    was ``published`` the figures are those of an earlier run of one's own, and one that comes out
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


ROUNDINGS = ("half", "truncated")
SOFTWARE = ("extractor", "model")
UNPRINTED = "?"
MOST_DIGITS = 30  # of a printed figure
RECIPE: dict[str, type] = {
    "metric": str,
    "references": str,
    "outputs": str,
    "edits": bool,
    "times": float,
    "digits": int,
}


def experiment_names() -> tuple[str, ...]:
    """The experiments that come with Errata, by name.

    >>> experiment_names()
    ('chollampatt18', 'gotou20', 'grundkiewicz15', 'islam21', 'napoles15', 'sakaguchi16')
    """
    folder = files("errata.reproduce") / "experiments"
    return tuple(
        sorted(
            entry.name.removesuffix(".toml")
            for entry in folder.iterdir()
            if entry.name.endswith(".toml")
        )
    )


def load_experiment(name: str) -> Experiment:
    """An experiment by name, or a file of one's own (``.toml``)."""
    if name.endswith(".toml"):
        return read_experiment(name)
    if name not in experiment_names():
        raise InputError(
            f"there is no experiment {name!r}",
            remedy=f"{suggest_name(name, experiment_names())}known: "
            f"{', '.join(experiment_names())}, all, or a .toml file",
        )
    source = files("errata.reproduce") / "experiments" / f"{name}.toml"
    return parse_experiment(source.read_text(encoding="utf-8"), f"{name}.toml")


def read_experiment(path: str | Path) -> Experiment:
    """Read an experiment from a file written like ours."""
    return parse_experiment(decode(read_bytes(path), str(path)), str(path))


def parse_experiment(text: str, where: str) -> Experiment:
    """Read an experiment from TOML; ``where`` names it in messages."""
    try:
        content = tomllib.loads(text)
    except ValueError as error:  # also of numbers of thousands of digits
        raise InputError(f"not TOML: {error}", path=where) from None
    except RecursionError:
        raise InputError("not TOML that can be read: nested too deep", path=where) from None
    try:
        fields = _fields(
            content,
            "the experiment",
            {
                "name": str,
                "title": str,
                "citation": str,
                "data": list,
                "table": list,
                "finding": list,
                "recipes": dict,
                "group": str,
                "published": bool,
                "files": dict,
            },
            optional=("table", "finding", "recipes", "group", "published", "files"),
        )
        _words(fields["data"], "data")
        for name, recipe in fields.get("recipes", {}).items():
            _fields(recipe, f"recipe {name}", RECIPE, optional=tuple(RECIPE))
        reasons: list[Claim] = []
        tables = tuple(_table(entry, reasons) for entry in fields.get("table", ()))
        findings = (*(_finding(entry) for entry in fields.get("finding", ())), *reasons)
        _check_named(tables, [claim.name for claim in findings])
        return Experiment(
            fields["name"],
            fields["title"],
            fields["citation"],
            tuple(fields["data"]),
            tables,
            findings,
            fields.get("recipes", {}),
            fields.get("group", ""),
            fields.get("published", True),
            _own_files(fields.get("files", {}), Path(where).parent),
        )
    except InputError as error:
        raise InputError(error.problem, path=where, remedy=error.remedy) from None


def _fields(
    entry: Any, what: str, kinds: Mapping[str, type], optional: tuple[str, ...] = ()
) -> dict[str, Any]:
    if not isinstance(entry, dict):
        raise InputError(f"{what} is not a table")
    missing = [name for name in kinds if name not in entry and name not in optional]
    unknown = [name for name in entry if name not in kinds]
    if missing or unknown:
        raise InputError(
            f"{what}: missing {missing or 'nothing'}, unknown {unknown or 'nothing'}",
            remedy=f"it has the fields {', '.join(kinds)}",
        )
    for name, value in entry.items():
        if not isinstance(value, kinds[name]) and not (
            kinds[name] is float and isinstance(value, int)
        ):
            raise InputError(f"{what}: {name} is not a {kinds[name].__name__}")
    return entry


def _own_files(entries: Mapping[str, Any], folder: Path) -> dict[str, OwnFiles]:
    """Files of one's own by their names; paths are those from the folder of the experiment."""
    found = {}
    kinds: dict[str, type] = {"gold": str, "source": str}
    kinds |= {"references": list, "outputs": list, "judgments": list, "base": int}
    for name, entry in entries.items():
        if name in collections() or "/" in name or "+" in name:
            raise InputError(
                f"files cannot be called {name!r}",
                remedy="take a name that no public data set has, without / and +",
            )
        paths = _fields(entry, f"files {name}", kinds, optional=tuple(kinds))
        several: dict[str, tuple[str, ...]] = {}
        for role in ("references", "outputs", "judgments"):
            _words(paths.get(role, []), f"files {name}: {role}")
            several[role] = tuple(str(folder / path) for path in paths.get(role, ()))
        gold, source = (
            str(folder / paths[role]) if role in paths else "" for role in ("gold", "source")
        )
        found[name] = OwnFiles(name, gold, source, **several, base=paths.get("base", 0))
    return found


def _check_named(tables: Sequence[PublishedTable], findings: Sequence[str]) -> None:
    """Refuse a reason that names a finding there is not, and two findings of one name."""
    if len({*findings}) < len(findings):
        twice = next(name for name in findings if findings.count(name) > 1)
        raise InputError(f"the finding {twice!r} stands there twice")
    for table in tables:
        named = [way.finding for way in table.ways]
        shown = [*table.known.values(), *table.pinned.values()]
        named += [one.finding for cells in shown for one in cells.values()]
        for name in named:
            if name and name not in findings:
                raise InputError(
                    f"table {table.name}: there is no finding {name!r}",
                    remedy=f"the findings are {', '.join(findings) or 'none'}",
                )


def _words(values: list[Any], what: str) -> None:
    if not all(isinstance(value, str) for value in values):
        raise InputError(f"{what} is not a list of texts")


def _printed(text: str, what: str) -> str:
    """A printed figure, or a text; refused where it is a number that nobody prints."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text
    if len(text) > MOST_DIGITS or (number.is_finite() and abs(number.adjusted()) > MOST_DIGITS):
        raise InputError(
            f"{what}: {text!r} is no figure that is printed",
            remedy=f"give a number of at most {MOST_DIGITS} digits",
        )
    return text


def _table(entry: Any, reasons: list[Claim]) -> PublishedTable:
    fields = _fields(
        entry,
        "a table",
        {
            "name": str,
            "title": str,
            "origin": str,
            "measure": str,
            "by": list,
            "matrix": str,
            "arguments": dict,
            "rounding": str,
            "repeats": bool,
            "way": list,
            "known": list,
        },
        optional=("arguments", "rounding", "repeats", "known"),
    )
    name = f"table {fields['name']}"
    by = tuple(fields["by"])
    _words(fields["by"], f"{name}: by")
    rounding = fields.get("rounding", "half")
    if rounding not in ROUNDINGS:
        raise InputError(
            f"{name}: rounding {rounding!r} is unknown", remedy=f"use one of {', '.join(ROUNDINGS)}"
        )
    shared = fields.get("arguments", {})
    ways = tuple(_way(way, shared, fields["name"], reasons) for way in fields["way"])
    cells = {
        key: None if text == UNPRINTED else text
        for key, text in _matrix(fields["matrix"], by, name).items()
    }
    if len({way.origin for way in ways}) < max(1, len(ways)):
        raise InputError(f"{name} needs ways of different origins")
    known, pinned = _known(fields, ways, cells, by, reasons)
    return PublishedTable(
        fields["name"],
        fields["title"],
        fields["origin"],
        fields["measure"],
        by,
        cells,
        ways,
        known,
        rounding,
        pinned,
        fields.get("repeats", False),
    )


def _known(
    table: Mapping[str, Any],
    ways: Sequence[Method],
    cells: Mapping[Key, str | None],
    by: tuple[str, ...],
    reasons: list[Claim],
) -> tuple[
    dict[str, dict[Key, KnownDifference]], dict[tuple[str, str], dict[Key, KnownDifference]]
]:
    """The cells known to differ, by way; and by way and version where they depend on software."""
    name = f"table {table['name']}"
    known: dict[str, dict[Key, KnownDifference]] = {way.origin: {} for way in ways}
    pinned: dict[tuple[str, str], dict[Key, KnownDifference]] = {}
    kinds: dict[str, type] = {"from": str, "reason": str, "matrix": str}
    kinds |= {"version": str, "finding": str, "evidence": list}
    for each in table.get("known", ()):
        entry = _fields(each, f"{name}: a known cell", kinds, optional=tuple(kinds)[3:])
        origin, version = entry["from"], entry.get("version", "")
        way = next((way for way in ways if way.origin == origin), None)
        if way is None:
            raise InputError(f"{name}: known cells of an unknown way {origin!r}")
        if bool(version) != bool(way.software):
            raise InputError(
                f"{name}: known cells of {origin!r} {'need' if way.software else 'have'} a version",
                remedy="a version belongs to a way that names its software, and only there",
            )
        finding = _shown_by(entry, table["name"], reasons)
        mine = pinned.setdefault((origin, version), {}) if version else known[origin]
        for key, text in _matrix(entry["matrix"], by, name).items():
            if key not in cells:
                raise InputError(f"{name}: the known cell {'/'.join(key)} is not in the table")
            mine[key] = KnownDifference(text, " ".join(entry["reason"].split()), finding)
    return known, pinned


def _way(entry: Any, shared: Mapping[str, Any], table: str, reasons: list[Claim]) -> Method:
    name = f"table {table}"
    kinds = {"from": str, "arguments": dict, "tolerance": float, "software": str, "reason": str}
    kinds |= {"raw": bool, "finding": str, "evidence": list}
    fields = _fields(entry, f"{name}: a way", kinds, optional=tuple(kinds)[1:])
    way = Method(
        fields["from"],
        {**shared, **fields.get("arguments", {})},
        float(fields.get("tolerance", 0.0)),
        fields.get("software", ""),
        " ".join(fields.get("reason", "").split()),
        fields.get("raw", False),
        _shown_by(fields, table, reasons),
    )
    if way.tolerance and not way.reason:
        raise InputError(f"{name}: a way with a tolerance needs its reason")
    if way.software not in ("", *SOFTWARE):
        raise InputError(
            f"{name}: software {way.software!r} is unknown",
            remedy=f"use one of {', '.join(SOFTWARE)}",
        )
    return way


def _shown_by(entry: Mapping[str, Any], table: str, reasons: list[Claim]) -> str:
    """The finding behind a reason: one that is named, or one made of its own evidence."""
    if "evidence" not in entry:
        return str(entry.get("finding", ""))
    if "finding" in entry:
        raise InputError(f"table {table}: give evidence or the name of a finding, not both")
    name = f"{table}-{1 + sum(claim.name.startswith(f'{table}-') for claim in reasons)}"
    title = f"Why {table} differs" if "matrix" in entry else f"How far {table} may be off"
    reason = entry.get("reason", "")
    reasons.append(
        _finding({"name": name, "title": title, "text": reason, "evidence": entry["evidence"]})
    )
    return name


def _finding(entry: Any) -> Claim:
    fields = _fields(entry, "a finding", {"name": str, "title": str, "text": str, "evidence": list})
    evidence = []
    for each in fields["evidence"]:
        one = _fields(
            each,
            f"finding {fields['name']}: evidence",
            {"what": str, "measure": str, "arguments": dict, "printed": str, "found": str},
            optional=("arguments", "printed"),
        )
        evidence.append(
            Evidence(
                one["what"],
                one["measure"],
                one.get("arguments", {}),
                _printed(one.get("printed", ""), one["what"]),
                _printed(one["found"], one["what"]),
            )
        )
    return Claim(fields["name"], fields["title"], " ".join(fields["text"].split()), tuple(evidence))


def _matrix(text: str, by: tuple[str, ...], name: str) -> dict[Key, str]:
    """The cells of a matrix by their keys; the first line names the columns."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    if not lines:
        raise InputError(f"{name}: the matrix is empty")
    columns = [tuple(title.split("/")) for title in lines[0]]
    cells: dict[Key, str] = {}
    for row, *found in lines[1:]:
        if len(found) != len(columns):
            raise InputError(
                f"{name}: row {row} has {len(found)} cells under {len(columns)} columns",
                remedy="write - where there is no cell",
            )
        for column, cell in zip(columns, found, strict=True):
            key = (*row.split("/"), *column)
            if len(key) != len(by):
                raise InputError(
                    f"{name}: the key {'/'.join(key)} has {len(key)} parts and not "
                    f"{len(by)} ({', '.join(by)})"
                )
            if key in cells:
                raise InputError(f"{name}: the cell {'/'.join(key)} stands there twice")
            if cell != "-":
                cells[key] = _printed(cell, name)
    return cells

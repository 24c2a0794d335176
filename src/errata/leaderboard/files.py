"""Leaderboards on disk: a folder with ``board.toml``, and a folder with a card for each submission.

``board.toml`` says which metrics are computed and how, ``submissions/NAME/card.toml`` whose output
it is (`docs/leaderboard.md`). The output is beside the card, as ``output.txt``, or as ``SET.txt``
where there are several test sets.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from errata.core.errors import InputError, escape_controls, shorten
from errata.core.parameters import suggest_name
from errata.datasets.evaluation_sets import decode_listed_corpus
from errata.datasets.load import sample_file
from errata.io.corpus import CorpusFiles
from errata.io.files import PathLike
from errata.io.records import RecordReader, Texts, read_toml
from errata.io.tokenisers import AS_IS, tokeniser

CARD, BOARD = "card.toml", "board.toml"
OUTPUTS = (".txt", ".m2")
LONGEST_SYSTEM = 100  # characters of a name that all tables of a board must hold
LONGEST_STEM = 100  # a date, a test set and an ending stand beside it in 255 bytes
DEFAULT_METRICS = ("m2", "gleu")
T = TypeVar("T")


@dataclass(frozen=True)
class Card:
    """What a submission says of itself; ``outputs`` are file names by test set.

    ``output`` is the file where there is only one test set.
    """

    system: str = ""
    authors: Texts = ()
    date: datetime.date | str = ""
    description: str = ""
    link: str = ""
    paper: str = ""
    licence: str = ""
    data: str = ""
    model: str = ""
    group: str = ""
    output: str = ""
    outputs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Submission:
    """A card and where it stands; ``name`` is that of its folder, which no other has."""

    name: str
    folder: Path
    card: Card
    outputs: Mapping[str, Path] = field(default_factory=dict)


@dataclass(frozen=True)
class Board:
    """What a leaderboard scores, on which test sets and how."""

    folder: Path
    title: str
    sets: tuple[CorpusFiles, ...]
    metrics: tuple[str, ...] = DEFAULT_METRICS
    about: str = ""
    groups: tuple[str, ...] = ()
    resamples: int = 1000
    seed: int = 0
    confidence: float = 0.95
    tokens: str = AS_IS
    codabench: Mapping[str, str] = field(default_factory=dict)

    @property
    def toml_path(self) -> str:
        return str(self.folder / BOARD)


@dataclass(frozen=True)
class _Codabench:
    docker_image: str | datetime.date = ""
    start: str | datetime.date = ""
    end: str | datetime.date = ""
    description: str | datetime.date = ""
    terms: str | datetime.date = ""


@dataclass(frozen=True)
class _BoardFile:
    title: str = ""
    about: str = ""
    metrics: Texts = ()
    groups: Texts = ()
    resamples: int = 1000
    seed: int = 0
    confidence: float = 0.95
    tokens: str = AS_IS
    sets: Mapping[str, Any] = field(default_factory=dict)
    sample: bool = False
    codabench: _Codabench = _Codabench()


def _read_toml_record(path: Path, kind: type[T], *required: str) -> tuple[RecordReader, T]:
    """Read a TOML file of a board, in which some texts may not be empty."""
    data, text = read_toml(path)
    reader = RecordReader(str(path), text, remedy="see docs/leaderboard.md")
    file = reader.decode(kind, data)
    for key in required:
        if not str(getattr(file, key) or "").strip():
            raise reader.error(f"there is no {key}", remedy=f"write {key} = ..., see docs")
    return reader, file


def _strip_texts(reader: RecordReader, key: str, given: Sequence[str]) -> tuple[str, ...]:
    if not all(word.strip() for word in given):
        raise reader.error("a text is empty", key)
    return tuple(word.strip() for word in given)


def read_board(folder: PathLike) -> Board:
    """Read ``board.toml`` of a folder, and check all it says but the test sets' content."""
    place = Path(folder)
    if not (place / BOARD).is_file():
        remedy = "write one with title, metrics and [sets.NAME]; see docs/leaderboard.md"
        raise InputError(f"there is no {BOARD} here", path=str(place), remedy=remedy)
    reader, file = _read_toml_record(place / BOARD, _BoardFile, "title")
    if bool(file.sets) == file.sample:
        raise reader.error(
            "there is no test set" if not file.sets else "both sample and sets are given",
            *(("sample",) if file.sample else ()),
            remedy='write [sets.NAME] with gold = "gold.m2", or source and references, or '
            'data = "NAME"',
        )
    sets = [decode_listed_corpus(reader, entry, "sets", name) for name, entry in file.sets.items()]
    for name, entry in file.sets.items():
        if "outputs" in entry:
            remedy = "systems come from submissions/NAME, with a card each"
            raise reader.error(f"{name} lists outputs", "sets", name, "outputs", remedy=remedy)
    if not sets:
        with sample_file("gold.m2") as gold:
            sets = [CorpusFiles(gold=str(gold), name="sample", place="sample")]
    if not 0 < file.confidence < 1:
        raise reader.error("not between 0 and 1", "confidence", remedy="0.95 is usual")
    if file.resamples < 2 / (1 - file.confidence) - 1e-9:
        raise reader.error("too few to form clusters", "resamples", remedy="1000 is usual")
    if file.seed < 0:
        raise reader.error("the seed is negative", "seed", remedy="0 is usual")
    tokeniser(file.tokens)
    return Board(
        place,
        file.title.strip(),
        tuple(replace(each, outputs=()) for each in sets),
        _strip_texts(reader, "metrics", file.metrics) or DEFAULT_METRICS,
        file.about.strip(),
        _strip_texts(reader, "groups", file.groups),
        file.resamples,
        file.seed,
        file.confidence,
        file.tokens,
        {key: str(value) for key, value in vars(file.codabench).items() if value},
    )


def submission_folders(board: Board) -> list[Path]:
    """Return the folders of submissions, by name; hidden ones are none."""
    place = board.folder / "submissions"
    if not place.is_dir():
        remedy = f"make one, with a folder that has {CARD} and an output for each system"
        raise InputError("there is no folder submissions", path=str(board.folder), remedy=remedy)
    return sorted(
        entry for entry in place.iterdir() if entry.is_dir() and not entry.name.startswith(".")
    )


def submission_name(folder: PathLike) -> str:
    """Return the listed name of a submission's folder: a link keeps its own name.

    >>> submission_name("essays/submissions/theirs/../ours/.")
    'ours'
    """
    return os.path.basename(os.path.abspath(folder))


def file_stem(name: str) -> str:
    """Return a name in plain characters for files and addresses; a changed one gets a digest.

    >>> file_stem("ours-v1.2"), file_stem("a b/c?")
    ('ours-v1.2', 'a_b_c_-817d7883')
    """
    if re.fullmatch(rf"[A-Za-z0-9_][A-Za-z0-9_.-]{{,{LONGEST_STEM - 1}}}", name):
        return name
    plain = re.sub(r"[^A-Za-z0-9_.-]+|^[.-]+", "_", name)[: LONGEST_STEM - 9]
    return f"{plain}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def read_submission(board: Board, folder: PathLike) -> Submission:
    """Return the submission in a folder: its card, checked, and the outputs that are there."""
    place = Path(folder)
    if not (place / CARD).is_file():
        remedy = 'write one with system = "...", authors = ["..."] and date = 2026-11-16'
        raise InputError(f"there is no {CARD}", path=str(place), remedy=remedy)
    reader, file = _read_toml_record(place / CARD, Card, "system", "authors", "date")
    if len(file.system) > LONGEST_SYSTEM or escape_controls(file.system) != file.system:
        raise reader.error(
            "the name does not fit into a table",
            "system",
            remedy=f"write at most {LONGEST_SYSTEM} characters, and no control characters",
        )
    for key in ("link", "paper"):
        if getattr(file, key) and not getattr(file, key).startswith(("https://", "http://")):
            raise reader.error("not an address", key, remedy="write it with https://")
    if isinstance(file.date, str):
        try:
            datetime.date.fromisoformat(file.date)
        except ValueError:
            remedy = "write date = 2026-11-16"
            raise reader.error(f"{file.date!r} is no date", "date", remedy=remedy) from None
    if board.groups and file.group not in board.groups:
        raise reader.error(
            f"there is no group {file.group!r} on this board"
            if file.group
            else "there is no group",
            "group",
            remedy=f"{suggest_name(file.group, board.groups)}write one of: "
            + ", ".join(board.groups),
        )
    names = _output_names(board, reader, file)
    values: dict[str, Any] = {
        key: value.strip() if isinstance(value, str) else value for key, value in vars(file).items()
    }
    values |= {
        "authors": _strip_texts(reader, "authors", file.authors),
        "date": str(file.date)[:10],
    }
    card = Card(**{**values, "outputs": names})
    found = {name: place / file for name, file in names.items()}
    return Submission(submission_name(place), place, card, found)


def _check_output_file(reader: RecordReader, file: str) -> None:
    """Refuse an output that is not beside its card."""
    shown, folder = shorten(file), Path(reader.path).parent
    try:
        inside = (folder / file).resolve()
        there = inside.is_file()
    except (OSError, ValueError):  # a name too long, or with a NUL in it
        raise reader.error(f"{shown!r} is no name of a file", "output") from None
    if folder.resolve() not in inside.parents:
        raise reader.error(f"{shown!r} is outside the folder of the submission", "output")
    if not there:
        remedy = "put the output beside the card"
        raise reader.error(f"there is no file {shown!r}", "output", remedy=remedy)


def _output_names(board: Board, reader: RecordReader, card: Card) -> dict[str, str]:
    """Return the file of each test set: as the card says, or by the usual names."""
    sets, named = [each.title for each in board.sets], dict(card.outputs)
    for name in named:
        if name not in sets:
            raise reader.error(
                f"there is no test set {name!r} on this board",
                *("outputs", name),
                remedy=f"{suggest_name(name, sets)}there are: {', '.join(sets)}",
            )
    if card.output and (named or len(sets) > 1):
        remedy = f"write [outputs] with {', '.join(sets)}"
        raise reader.error("output is one file", "output", remedy=remedy)
    if card.output:
        named = {sets[0]: card.output}
    if not named:
        named = _find_output_names(sets, reader)
    for file in named.values():
        _check_output_file(reader, file)
    return named


def _find_output_names(sets: Sequence[str], reader: RecordReader) -> dict[str, str]:
    """Return the files beside the card that are named after a test set, or ``output``."""
    named: dict[str, str] = {}
    stems = [*sets, "output"] if len(sets) == 1 else sets
    for stem in stems:
        for ending in OUTPUTS:
            name = sets[0] if stem == "output" else stem
            if name not in named and (Path(reader.path).parent / f"{stem}{ending}").is_file():
                named[name] = f"{stem}{ending}"
    if not named:
        wanted = "output.txt" if len(sets) == 1 else ", ".join(f"{name}.txt" for name in sets)
        raise reader.error("there is no output", remedy=f"put {wanted} beside the card")
    return named

"""Leaderboards on disk: a folder with ``board.toml``, and a folder with a card for each submission.

``board.toml`` says what is scored and how; the test sets are written like the corpora of
`errata.datasets.evaluation_sets`, with paths that count from the file::

    title = "Grammatical error correction, essays"
    metrics = ["errant", "m2", "gleu"]
    groups = ["restricted", "open"]

    [sets.essays]
    gold = "essays.m2"

``submissions/NAME/card.toml`` says whose output it is; the output stands beside it, as
``output.txt``, or as ``SET.txt`` where there are several test sets::

    system = "Ours"
    authors = ["A. Author", "B. Author"]
    date = 2026-11-16
    group = "open"
    link = "https://example.org/ours"
"""

from __future__ import annotations

import datetime
import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from errata.core.errors import InputError, escape_controls, shorten
from errata.core.parameters import suggest_name
from errata.datasets.evaluation_sets import EvaluationFiles, listed_files
from errata.datasets.load import sample_file
from errata.io.files import PathLike
from errata.io.records import key_line, read_toml
from errata.io.tokenisers import AS_IS, tokeniser

CARD, BOARD = "card.toml", "board.toml"
OUTPUTS = (".txt", ".m2")
LONGEST_SYSTEM = 100  # characters of a name that all tables of a board must hold
LONGEST_STEM = 100  # a date, a test set and an ending stand beside it in 255 bytes
DEFAULT_METRICS = ("m2", "gleu")


@dataclass(frozen=True)
class Card:
    """What a submission says of itself; ``outputs`` are file names by test set."""

    system: str
    authors: tuple[str, ...]
    date: str
    description: str = ""
    link: str = ""
    paper: str = ""
    licence: str = ""
    data: str = ""
    model: str = ""
    group: str = ""
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
    sets: tuple[EvaluationFiles, ...]
    metrics: tuple[str, ...] = DEFAULT_METRICS
    about: str = ""
    groups: tuple[str, ...] = ()
    resamples: int = 1000
    seed: int = 0
    confidence: float = 0.95
    tokens: str = AS_IS
    codabench: Mapping[str, str] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """The file that says all this."""
        return str(self.folder / BOARD)


BOARD_KEYS: dict[str, type | tuple[type, ...]] = {
    "title": str,
    "about": str,
    "metrics": list,
    "groups": list,
    "resamples": int,
    "seed": int,
    "confidence": float,
    "tokens": str,
    "sets": dict,
    "sample": bool,
    "codabench": dict,
}
CARD_KEYS: dict[str, type | tuple[type, ...]] = {
    "system": str,
    "authors": (list, str),
    "date": (datetime.date, str),
    "description": str,
    "link": str,
    "paper": str,
    "licence": str,
    "data": str,
    "model": str,
    "group": str,
    "output": str,
    "outputs": dict,
}
CODABENCH_KEYS = ("docker_image", "start", "end", "description", "terms")
WORDS = {
    str: "a text in quotes",
    list: 'a list of texts, ["a", "b"]',
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "a table",
    datetime.date: "a date, 2026-11-16",
}


class _Reader:
    """One TOML file, and how to say what is wrong with it: file, line and remedy."""

    def __init__(self, path: Path, known: Mapping[str, Any], required: Sequence[str]) -> None:
        self.path = path
        self.fields, self.text = read_toml(path)
        for key, value in self.fields.items():
            if key not in known:
                self.wrong(
                    f"there is no {key!r} here",
                    key,
                    f"{suggest_name(key, known)}known are: {', '.join(known)}",
                )
            kinds = known[key] if isinstance(known[key], tuple) else (known[key],)
            if not _is(value, kinds):
                self.wrong(f"{key} should be {' or '.join(WORDS[kind] for kind in kinds)}", key)
        for key in required:
            if not self.fields.get(key) or not str(self.fields[key]).strip():
                self.wrong(f"there is no {key}", "", f"write {key} = ...; see docs/leaderboard.md")

    def wrong(self, problem: str, key: str, remedy: str = "see docs/leaderboard.md") -> NoReturn:
        raise InputError(
            problem,
            path=str(self.path),
            line=key_line(self.text, key) if key else None,
            remedy=remedy,
        )

    def words(self, key: str) -> tuple[str, ...]:
        """A list of texts, or one text for a list of one."""
        given = self.fields.get(key, [])
        found = [given] if isinstance(given, str) else given
        if not all(isinstance(word, str) and word.strip() for word in found):
            self.wrong(f"{key} should be {WORDS[list]}", key)
        return tuple(word.strip() for word in found)


def _is(value: Any, kinds: Sequence[type]) -> bool:
    if isinstance(value, bool):
        return bool in kinds
    return isinstance(value, tuple(kinds)) or (float in kinds and isinstance(value, int))


def read_board(folder: PathLike) -> Board:
    """Read ``board.toml`` of a folder, and check all it says but the test sets' content."""
    place = Path(folder)
    if not (place / BOARD).is_file():
        raise InputError(
            f"there is no {BOARD} here",
            path=str(place),
            remedy="write one with title, metrics and [sets.NAME]; see docs/leaderboard.md",
        )
    reader = _Reader(place / BOARD, BOARD_KEYS, ("title",))
    given = reader.fields
    sets = given.get("sets", {})
    if bool(sets) == bool(given.get("sample")):
        reader.wrong(
            "there is no test set" if not sets else "sample and sets are both given",
            "sample",
            'write [sets.NAME] with gold = "gold.m2", or source and references, or data = "NAME"',
        )
    files = [
        listed_files(name, entry, str(reader.path), reader.text, None)
        for name, entry in sets.items()
    ]
    for each in files:
        if each.outputs and "outputs" in sets[each.name]:
            reader.wrong(
                f"{each.name} lists outputs",
                "outputs",
                "systems come from submissions/NAME, with a card each",
            )
    if not sets:
        with sample_file("gold.m2") as gold:
            files = [EvaluationFiles("sample", str(gold), place="sample")]
    confidence, resamples, seed = (
        given.get("confidence", 0.95),
        given.get("resamples", 1000),
        given.get("seed", 0),
    )
    if not 0 < confidence < 1:
        reader.wrong("confidence lies between 0 and 1", "confidence", "0.95 is usual")
    if resamples < 2 / (1 - confidence) - 1e-9 or seed < 0:
        reader.wrong("clusters need resamples, and a seed from 0 on", "resamples", "1000, and 0")
    tokeniser(given.get("tokens", AS_IS))
    return Board(
        place,
        given["title"].strip(),
        tuple(EvaluationFiles(**{**vars(each), "outputs": ()}) for each in files),
        reader.words("metrics") or DEFAULT_METRICS,
        given.get("about", "").strip(),
        reader.words("groups"),
        resamples,
        seed,
        float(confidence),
        given.get("tokens", AS_IS),
        _codabench(reader),
    )


def _codabench(reader: _Reader) -> dict[str, str]:
    given = reader.fields.get("codabench", {})
    for key, value in given.items():
        if key not in CODABENCH_KEYS:
            reader.wrong(
                f"codabench has no {key!r}",
                key,
                f"{suggest_name(key, CODABENCH_KEYS)}known are: {', '.join(CODABENCH_KEYS)}",
            )
        if not isinstance(value, str | datetime.date):
            reader.wrong(f"{key} should be a text or a date", key)
    return {key: str(value) for key, value in given.items()}


def submission_folders(board: Board) -> list[Path]:
    """The folders of submissions, by name; hidden ones are none."""
    place = board.folder / "submissions"
    if not place.is_dir():
        raise InputError(
            "there is no folder submissions",
            path=str(board.folder),
            remedy=f"make one, with a folder that has {CARD} and an output for each system",
        )
    return sorted(
        entry for entry in place.iterdir() if entry.is_dir() and not entry.name.startswith(".")
    )


def submission_name(folder: PathLike) -> str:
    """The name of a submission's folder as it is listed: that of a link, not of what it leads to.

    >>> submission_name("essays/submissions/theirs/../ours/.")
    'ours'
    """
    return os.path.basename(os.path.abspath(folder))


def file_stem(name: str) -> str:
    """A name as part of a file's name and of an address: plain characters, and not too many.

    What is changed gets a digest, so that names which differ still do.

    >>> file_stem("ours-v1.2"), file_stem("a b/c?")
    ('ours-v1.2', 'a_b_c_-817d7883')
    """
    if re.fullmatch(rf"[A-Za-z0-9_][A-Za-z0-9_.-]{{,{LONGEST_STEM - 1}}}", name):
        return name
    plain = re.sub(r"[^A-Za-z0-9_.-]+|^[.-]+", "_", name)[: LONGEST_STEM - 9]
    return f"{plain}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def card_of(board: Board, folder: PathLike) -> Submission:
    """The submission in a folder: its card, checked, and the outputs that are there."""
    place = Path(folder)
    if not (place / CARD).is_file():
        raise InputError(
            f"there is no {CARD}",
            path=str(place),
            remedy='write one with system = "...", authors = ["..."] and date = 2026-11-16',
        )
    reader = _Reader(place / CARD, CARD_KEYS, ("system", "authors", "date"))
    given, authors = reader.fields, reader.words("authors")
    if len(given["system"]) > LONGEST_SYSTEM or escape_controls(given["system"]) != given["system"]:
        reader.wrong(
            "this is no name that fits into a table",
            "system",
            f"write at most {LONGEST_SYSTEM} characters, and none that steer a terminal",
        )
    for key in ("link", "paper"):
        if given.get(key) and not given[key].startswith(("https://", "http://")):
            reader.wrong(f"{key} is no address", key, "write it with https://")
    if isinstance(given["date"], str):
        try:
            datetime.date.fromisoformat(given["date"])
        except ValueError:
            reader.wrong(f"{given['date']!r} is no date", "date", "write date = 2026-11-16")
    group = given.get("group", "")
    if board.groups and group not in board.groups:
        reader.wrong(
            f"there is no group {group!r} on this board" if group else "there is no group",
            "group",
            f"{suggest_name(group, board.groups)}write one of: {', '.join(board.groups)}",
        )
    names = _output_names(board, reader)
    texts = {key: given.get(key, "").strip() for key, kind in CARD_KEYS.items() if kind is str}
    texts = {key: text for key, text in texts.items() if key != "output"}
    card = Card(authors=authors, date=str(given["date"])[:10], outputs=names, **texts)
    found = {name: place / file for name, file in names.items()}
    return Submission(submission_name(place), place, card, found)


def _check_place(reader: _Reader, file: str) -> None:
    """Refuse an output that is not beside its card."""
    shown = shorten(file)
    try:
        inside = (reader.path.parent / file).resolve()
        there = inside.is_file()
    except (OSError, ValueError):  # a name too long, or with a NUL in it
        reader.wrong(f"{shown!r} is no name of a file", "output")
    if reader.path.parent.resolve() not in inside.parents:
        reader.wrong(f"{shown!r} is outside the folder of the submission", "output")
    if not there:
        reader.wrong(f"there is no file {shown!r}", "output", "put the output beside the card")


def _output_names(board: Board, reader: _Reader) -> dict[str, str]:
    """The file of each test set: as the card says, or as files are called that it need not name."""
    given, sets = reader.fields, [each.name for each in board.sets]
    named = dict(given.get("outputs", {}))
    for name, file in named.items():
        if name not in sets:
            reader.wrong(
                f"there is no test set {name!r} on this board",
                name,
                f"{suggest_name(name, sets)}there are: {', '.join(sets)}",
            )
        if not isinstance(file, str):
            reader.wrong(f"the output of {name} should be a file name", name)
    if "output" in given and (named or len(sets) > 1):
        reader.wrong("output is one file", "output", f"write [outputs] with {', '.join(sets)}")
    if "output" in given:
        named = {sets[0]: given["output"]}
    if not named:
        named = _usual_names(sets, reader)
    for file in named.values():
        _check_place(reader, file)
    return named


def _usual_names(sets: Sequence[str], reader: _Reader) -> dict[str, str]:
    """The files that are there and called as a card need not say."""
    named: dict[str, str] = {}
    stems = [*sets, "output"] if len(sets) == 1 else sets
    for stem in stems:
        for ending in OUTPUTS:
            name = sets[0] if stem == "output" else stem
            if name not in named and (reader.path.parent / f"{stem}{ending}").is_file():
                named[name] = f"{stem}{ending}"
    if not named:
        wanted = "output.txt" if len(sets) == 1 else ", ".join(f"{name}.txt" for name in sets)
        reader.wrong("there is no output", "", f"put {wanted} beside the card")
    return named

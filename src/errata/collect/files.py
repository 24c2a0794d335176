"""Campaign files and writer files.

Settings stand at the top; ``[inputs]`` names the files, ``[serve]`` says where to listen,
``[[tutorial]]`` and ``[[control]]`` are examples of the organiser's own, ``[panel]`` says where
participants come from::

    kind = "rank"
    overlap = 0.25

    [inputs]
    source = "src.txt"
    outputs = ["out/a.txt", "out/b.txt"]

    [[tutorial]]
    source = "He go home ."
    outputs = ["He goes home .", "He go go home ."]
    worse = 2
    better = 1
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from errata.collect.answers import is_storable
from errata.collect.design import Design, design_of
from errata.collect.items import BuiltCampaign, CampaignTexts, normalise_space
from errata.core.errors import InputError
from errata.io.files import PathLike, shown_name, stream_lines
from errata.io.records import (
    LARGEST,
    AtLeast,
    RecordReader,
    Texts,
    decode_json,
    line_of_key,
    read_toml,
)

# ---- Who wrote which line of the texts that `errata collect export --form texts` writes, as
# JSONL::

WRITERS = "writers.jsonl"  # what the name of such a file ends with
_REMEDY = "give what errata collect export --form texts wrote beside the texts"


class WrittenLine(NamedTuple):
    """A sentence (from 0) as a judge wrote it, and the file that has it; none for none.

    ``number`` is the line of the file this was read from.
    """

    sentence: Annotated[int, AtLeast(0)]
    judge: str
    text: str
    file: str = ""
    number: int = 0


def is_writers(path: PathLike) -> bool:
    """Whether a file says by its name that it holds writers.

    >>> is_writers("refs/new.writers.jsonl"), is_writers("refs/new.minimal.0")
    (True, False)
    """
    name = Path(os.fspath(path)).name
    return name == WRITERS or name.endswith(f".{WRITERS}")


def find_writers_file(path: PathLike) -> str | None:
    """The file of writers that was exported with a text, if it is still beside it.

    Of ``refs/new.minimal.0`` it is ``refs/new.writers.jsonl``, whatever was put to the name since.
    """
    place = Path(os.fspath(path))
    words = place.name.split(".")
    for many in range(len(words) - 1, -1, -1):
        found = place.with_name(".".join((*words[:many], WRITERS)))
        if found.is_file():
            return str(found)
    return None


def render_writers(lines: Iterable[WrittenLine]) -> Iterator[str]:
    """The lines of a file of writers."""
    for each in lines:
        data = {"sentence": each.sentence, "judge": each.judge, "text": each.text}
        if each.file:
            data["file"] = each.file
        yield json.dumps(data, ensure_ascii=False)


def read_writers(path: PathLike) -> Iterator[WrittenLine]:
    """Read who wrote what; blank lines are allowed."""
    name = shown_name(path)
    for number, line in enumerate(stream_lines(path), 1):
        if not line.strip():
            continue
        reader = RecordReader(name, line=number, remedy=_REMEDY)
        try:
            data = decode_json(line)
        except ValueError as error:
            raise reader.error(f"not JSON: {error}") from None
        each = reader.decode(WrittenLine, data, number=number)
        if each.sentence > LARGEST or not each.judge:
            raise reader.error(f"sentence {each.sentence} by {each.judge!r} is none")
        yield each


# ---- Who wrote the texts of a review: from the file exported with them to outputs, checked.

Writers = dict[tuple[int, str], tuple[str, ...]]


def match_writers(
    written: Iterable[WrittenLine], outputs: Mapping[str, Sequence[str]], sentences: int, path: str
) -> Writers:
    """The writers of each text of a sentence: all who wrote that very text, blanks aside.

    ``outputs`` are the texts that are reviewed, by the names of their files; where one is named in
    what was ``written``, its line must be what it was.

    >>> lines = [WrittenLine(0, "ann", "He goes .", "m.0"), WrittenLine(0, "bo", "He  goes .")]
    >>> match_writers(lines, {"m.0": ["He goes ."]}, 1, "m.writers.jsonl")
    {(0, 'He goes .'): ('ann', 'bo')}
    """
    found: dict[tuple[int, str], set[str]] = {}
    for each in written:
        if each.sentence >= sentences:
            raise InputError(
                f"sentence {each.sentence}, and there are {sentences}, counted from 0",
                path=path,
                line=each.number,
                remedy="give the writers of these texts: export them again",
            )
        if not is_storable(each.judge):
            raise InputError(
                f"the name {each.judge!r} cannot be stored",
                path=path,
                line=each.number,
                remedy="no judge is called so: delete the line",
            )
        text = normalise_space(each.text)
        lines = outputs.get(each.file)
        if lines is not None and normalise_space(lines[each.sentence]) != text:
            raise InputError(
                f"{each.file}, line {each.sentence + 1}, is another text than was written: "
                f"{lines[each.sentence]!r}",
                path=path,
                line=each.number,
                remedy="export the texts again, or delete this line: nobody is its writer then",
            )
        found.setdefault((each.sentence, text), set()).add(each.judge)
    return {key: tuple(sorted(names)) for key, names in found.items()}


def texts_of_known_writers(texts: CampaignTexts) -> tuple[int, int]:
    """Of how many different texts a writer is known, and how many there are."""
    there = {
        (number, normalise_space(line))
        for lines in texts.systems.values()
        for number, line in enumerate(lines)
    }
    return len(there & texts.writers.keys()), len(there)


def reviews_without_judge(built: BuiltCampaign, judges: Iterable[str]) -> int:
    """How many reviews none of these judges can give, having written the texts themselves."""
    people, lacking = {*judges}, 0
    for item in built.items:
        if item.purpose == "main":
            own = {name for each in item.outputs for name in built.outputs[each.output].kept_from}
            lacking += max(0, (item.wanted or 0) - len(people - own))
    return lacking


ByLanguage = str | Mapping[str, str]  # a file, or files by language


@dataclass(frozen=True)
class InputEntries:
    """``[inputs]`` as written; None is not given."""

    name: str | None = None
    source: str | None = None
    outputs: Texts | None = None
    documents: str | None = None
    references: Texts | None = None
    instructions: ByLanguage | None = None
    consent: ByLanguage | None = None
    language: str | None = None
    text_language: str | None = None
    pilot: Texts | None = None
    separate: Texts | None = None
    writers: Texts | None = None
    sample: bool | None = None
    no_guard: bool | None = None


@dataclass(frozen=True)
class ServeEntries:
    """``[serve]`` as written; None is not given."""

    host: str | None = None
    port: int | None = None
    url: str | None = None
    certificate: str | None = None
    key: str | None = None
    behind_proxy: str | None = None
    plain_http: bool | None = None


@dataclass(frozen=True)
class OwnExample:
    """A tutorial or control as written; ``worse`` and ``better`` count outputs from 1.

    What is expected depends on what judges do: one output worse than another, scores ``between``
    two numbers, a text that is to be accepted or not, or (of corrections) the outputs themselves.
    """

    purpose: Literal["tutorial", "control"]
    source: str
    outputs: tuple[str, ...]
    worse: int | None = None
    better: int | None = None
    why: str = ""
    between: Mapping[str, Any] | None = None
    accept: bool | None = None
    instruction: str = ""
    reference: str = ""

    def __post_init__(self) -> None:
        if not self.outputs or not all(each.strip() for each in self.outputs):
            raise InputError(
                f"a {self.purpose} without outputs", remedy="give outputs = ['…', '…']"
            )
        if self.worse is None and self.better is None:
            return
        places = {*range(1, len(self.outputs) + 1)}
        if self.worse == self.better or not {self.worse, self.better} <= places:
            raise InputError(
                f"the {self.purpose} {self.source[:40]!r} does not say which output is worse than "
                "which",
                remedy="give worse and better as numbers of outputs, from 1",
            )


@dataclass(frozen=True)
class CampaignFile:
    """What a campaign file holds: design, inputs, the organiser's examples, where to listen.

    Of the inputs, lists are tuples of words, and texts by language are a mapping ("" where a file
    says no language).
    """

    design: Design
    inputs: Mapping[str, Any]
    examples: tuple[OwnExample, ...]
    panel: Mapping[str, Any] | None = None
    serve: Mapping[str, Any] = field(default_factory=dict)


def read_campaign_file(path: PathLike, **given: Any) -> CampaignFile:
    """Read a campaign file; what is ``given`` (on the command line) wins over what it says."""
    data, text = read_toml(path)
    reader = RecordReader(shown_name(path), text)
    inputs = _given_fields(reader.decode(InputEntries, data.pop("inputs", {}), "inputs"))
    for key in ("instructions", "consent"):
        if isinstance(inputs.get(key), str):
            inputs[key] = {"": inputs[key]}
    serve = _given_fields(reader.decode(ServeEntries, data.pop("serve", {}), "serve"))
    panel = data.pop("panel", None)
    if panel is not None and not isinstance(panel, dict):
        raise reader.error("not a table", "panel", remedy="write [panel]")
    purposes: tuple[Literal["tutorial", "control"], ...] = ("tutorial", "control")
    examples: list[OwnExample] = []
    for purpose in purposes:
        tables = data.pop(purpose, [])
        if not isinstance(tables, list):
            remedy = f"write [[{purpose}]] before each"
            raise reader.error("not a list of tables", purpose, remedy=remedy)
        for k, each in enumerate(tables):
            examples.append(reader.decode(OwnExample, each, purpose, k, purpose=purpose))
    try:
        design = design_of({**data, **given})
    except InputError as error:
        line = _line_of_setting(error, data, text)
        raise InputError(error.problem, path=reader.path, line=line, remedy=error.remedy) from None
    return CampaignFile(design, inputs, tuple(examples), panel, serve)


def _given_fields(record: Any) -> dict[str, Any]:
    return {key: value for key, value in vars(record).items() if value is not None}


def _line_of_setting(error: InputError, data: Mapping[str, Any], text: str) -> int | None:
    """Return the line of the one setting that alone causes an error, if there is one."""
    for key, value in data.items():
        try:
            design_of({key: value})
        except InputError as alone:
            if alone.problem == error.problem:
                return line_of_key(text, key)
    return None

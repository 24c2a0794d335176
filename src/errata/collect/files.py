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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from errata.collect.answers import is_storable
from errata.collect.items import BuiltCampaign, CampaignTexts, normalise_space
from errata.core.errors import InputError
from errata.core.parameters import unknown_key
from errata.io.files import PathLike, shown_name, stream_lines
from errata.io.records import LARGEST, decode_json, key_line, read_toml

# ---- Who wrote which line of the texts that `errata collect export --form texts` writes, as
# JSONL::

WRITERS = "writers.jsonl"  # what the name of such a file ends with
_KEYS = ("sentence", "file", "judge", "text")
_REMEDY = "give what errata collect export --form texts wrote beside the texts"


class WrittenLine(NamedTuple):
    """A sentence (from 0) as a judge wrote it, and the file that has it; none for none.

    ``number`` is the line of the file this was read from.
    """

    sentence: int
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
    """Read who wrote what; blank lines are allowed, and anything else is refused with its line."""
    name = shown_name(path)
    for number, line in enumerate(stream_lines(path), 1):
        if not line.strip():
            continue
        problem = "not a JSON object"
        try:
            data = decode_json(line)
        except ValueError as error:
            data, problem = None, f"not JSON: {error}"
        if type(data) is not dict:
            raise InputError(problem, path=name, line=number, remedy=_REMEDY)
        for key in data:
            if key not in _KEYS:
                raise unknown_key("a line of writers", key, _KEYS, path=name, line=number)
        sentence = data.get("sentence")
        if type(sentence) is not int or not 0 <= sentence <= LARGEST:
            raise InputError(
                f"sentence {sentence!r} is not a whole number from 0",
                path=name,
                line=number,
                remedy=_REMEDY,
            )
        judge, text, file = data.get("judge"), data.get("text"), data.get("file", "")
        if type(judge) is not str or type(text) is not str or type(file) is not str or not judge:
            raise InputError(
                "judge, text and file should be strings", path=name, line=number, remedy=_REMEDY
            )
        yield WrittenLine(sentence, judge, text, file, number)


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


T = TypeVar("T")
INPUTS: dict[str, type] = {
    "name": str, "source": str, "outputs": list, "documents": str, "references": list,
    "instructions": dict, "consent": dict, "language": str, "text_language": str, "pilot": list,
    "separate": list, "writers": list, "sample": bool, "no_guard": bool,
}  # fmt: skip
SERVE: dict[str, type] = {
    "host": str, "port": int, "url": str, "certificate": str, "key": str, "behind_proxy": str,
    "plain_http": bool,
}  # fmt: skip
# A word may stand for a list of one, and for the text in the campaign's own language.
_SAID: dict[type, str] = {
    str: "a word", int: "a whole number", bool: "true or false",
    list: "a list of words", dict: "a file, or a table of files by language",
}  # fmt: skip
_EXAMPLE = (
    "source", "outputs", "worse", "better", "between", "accept", "instruction", "why", "reference"
)  # fmt: skip
_KIND: dict[type, str] = {dict: "table", bool: "yes or no", str: "text"}  # of examples
_HOW = {
    "between": "between = {fluency = [0, 40]}",
    "accept": "accept = true, or false",
    "instruction": 'instruction = "minimal"',
    "why": 'why = "…"',
    "reference": 'reference = "…"',
}


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


@dataclass(frozen=True)
class CampaignFile(Generic[T]):
    """What a campaign file holds: design, inputs, the organiser's examples, where to listen.

    Of the inputs, lists are tuples of words, and texts by language are a mapping ("" where a file
    says no language).
    """

    design: T
    inputs: Mapping[str, Any]
    examples: tuple[OwnExample, ...]
    panel: Mapping[str, Any] | None = None
    serve: Mapping[str, Any] = field(default_factory=dict)


def read_campaign_file(
    path: PathLike, design: Callable[[Mapping[str, Any]], T], **given: Any
) -> CampaignFile[T]:
    """Read a campaign file; ``design`` makes the settings a design, and refuses what is wrong.

    What is ``given`` (on the command line) wins over what the file says.
    """
    where = shown_name(path)
    data, text = read_toml(path)
    inputs = _table(data.pop("inputs", {}), "inputs", INPUTS, where, text)
    serve = _table(data.pop("serve", {}), "serve", SERVE, where, text)
    panel = data.pop("panel", None)
    if panel is not None and not isinstance(panel, dict):
        raise InputError(
            "panel should be a table", path=where, line=key_line(text, "panel"), remedy="[panel]"
        )
    purposes: tuple[Literal["tutorial", "control"], ...] = ("tutorial", "control")
    examples = tuple(
        _example(purpose, each, where, text)
        for purpose in purposes
        for each in _tables(data.pop(purpose, []), purpose, where, text)
    )
    try:
        made = design({**data, **given})
    except InputError as error:
        raise _placed(error, data, design, where, text) from None
    return CampaignFile(made, inputs, examples, panel, serve)


def _table(
    found: Any, name: str, known: Mapping[str, type], where: str, text: str
) -> dict[str, Any]:
    """A table whose keys and kinds of values are known, each value in its long form."""
    if not isinstance(found, dict):
        raise InputError(
            f"{name} should be a table", path=where, line=key_line(text, name), remedy=f"[{name}]"
        )
    for key in found:
        if key not in known:
            raise unknown_key(f"[{name}]", key, known, path=where, line=key_line(text, key))
    return {
        key: _long(key, value, known[key], where, key_line(text, key))
        for key, value in found.items()
    }


def _long(key: str, value: Any, kind: type, where: str, line: int | None) -> Any:
    if isinstance(value, str) and kind is dict:
        return {"": value}
    if isinstance(value, str) and kind is list:
        return (value,)
    inner = value.values() if isinstance(value, dict) else value if kind is list else ()
    if type(value) is not kind or not all(isinstance(each, str) for each in inner):
        raise InputError(f"{key}={value!r} should be {_SAID[kind]}", path=where, line=line)
    return tuple(inner) if kind is list else value


def _placed(
    error: InputError,
    data: Mapping[str, Any],
    design: Callable[[Mapping[str, Any]], object],
    where: str,
    text: str,
) -> InputError:
    """The error with its line: that of the one setting which is wrong by itself, if one is."""
    line = None
    for key, value in data.items():
        try:
            design({key: value})
        except InputError as alone:
            if alone.problem == error.problem:
                line = key_line(text, key)
                break
    return InputError(error.problem, path=where, line=line, remedy=error.remedy)


def _tables(found: Any, purpose: str, where: str, text: str) -> list[Any]:
    if isinstance(found, list) and all(isinstance(each, dict) for each in found):
        return found
    raise InputError(
        f"{purpose} should be a list of tables",
        path=where,
        line=key_line(text, purpose),
        remedy=f"write [[{purpose}]] before each",
    )


def _example(
    purpose: Literal["tutorial", "control"], given: Mapping[str, Any], where: str, text: str
) -> OwnExample:
    source, outputs = given.get("source"), given.get("outputs")
    if not isinstance(source, str) or not (
        isinstance(outputs, list)
        and outputs
        and all(isinstance(each, str) and each.strip() for each in outputs)
    ):
        raise InputError(
            f"a {purpose} without a source and outputs",
            path=where,
            remedy="give source = '…' and outputs = ['…', '…']",
        )
    for key in given:
        if key not in _EXAMPLE:
            line = key_line(text, key)
            raise unknown_key(f"a {purpose}", key, _EXAMPLE, path=where, line=line)
    places = [given.get(key) for key in ("worse", "better")]
    worse, better = places
    for place in places if places != [None, None] else ():
        if type(place) is not int or not 1 <= place <= len(outputs) or worse == better:
            raise InputError(
                f"the {purpose} {source[:40]!r} does not say which output is worse than which",
                path=where,
                remedy="give worse and better as numbers of outputs, from 1",
            )
    kinds = {"between": dict, "accept": bool, "instruction": str}
    kinds |= {"why": str, "reference": str}
    for key, kind in kinds.items():
        if key in given and type(given[key]) is not kind:
            raise InputError(
                f"{key} of the {purpose} {source[:40]!r} is no {_KIND[kind]}",
                path=where,
                line=key_line(text, key),
                remedy=_HOW[key],
            )
    return OwnExample(
        purpose,
        source,
        tuple(outputs),
        worse,
        better,
        given.get("why", ""),
        given.get("between"),
        given.get("accept"),
        given.get("instruction", ""),
        given.get("reference", ""),
    )

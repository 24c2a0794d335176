"""Who wrote which line of the texts that `errata collect export --form texts` writes, as JSONL::

    {"sentence": 0, "file": "new.minimal.0", "judge": "ann", "text": "He goes home ."}

Sentences count from 0. ``file`` is the name of the file that has the line, in the same folder; it
is missing where no file has it, of corrections that came when others had filled the slots. A line
that several people wrote has several lines here.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from errata.errors import InputError
from errata.io.files import PathLike, shown_name, stream_lines
from errata.io.strict_json import decode_json
from errata.io.whole_numbers import LARGEST
from errata.parameters import unknown_key

__all__ = [
    "WRITERS",
    "WrittenLine",
    "is_writers",
    "read_writers",
    "render_writers",
    "writers_beside",
]

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


def writers_beside(path: PathLike) -> str | None:
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

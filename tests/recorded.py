"""Whole results kept in ``tests/golden/recorded``, so that no part of one changes unnoticed.

What is kept was made by this package where its tests against other implementations hold; it says
that a number is what it was, not that it is right. After a change that is meant,
``PYTHONPATH=src:tests python tests/recorded.py`` writes the files anew, and their difference is
read like code. Words must be the same; numbers may differ in the last digits.
"""

import json
import math
import os
import re
import sys
import tempfile
import warnings
import zlib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np

from errata import __version__
from errata.core.errors import DataWarning, ErrataError
from errata.data import ReferenceTable

GOLDEN = Path(__file__).resolve().parent / "golden" / "recorded"
MODULES = ("human", "meta", "io")
ORIGIN = "errata itself, of results and of files damaged one spot at a time; see tests/recorded.py"
LARGE = 40  # of larger arrays some sums are kept
Cases = Mapping[str, Callable[[], object]]


def plain(value: Any) -> Any:
    """Any result as JSON has it; a large array as its shape, its ends and two sums."""
    if isinstance(value, ReferenceTable):
        value = value.rows
    if isinstance(value, np.ndarray):
        if value.size > LARGE and value.dtype != object:
            flat = np.nan_to_num(value.astype(np.float64).ravel(), nan=-7.0)
            place = np.cos(np.arange(len(flat)))  # so that no order passes for another
            shown = [*value.shape, flat[0], flat[-1], flat.sum(), flat @ place]
            return [str(value.dtype), *map(plain, shown)]
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return float(f"{value:.9g}") if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return value.replace(__version__, "VERSION")
    if is_dataclass(value) and not isinstance(value, type):
        # Texts as read are there only beside tokenised ones, whose values say enough.
        names = [f.name for f in fields(value) if f.name[0] != "_" and f.name != "raw"]
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return plain(value._asdict())
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset | range) or hasattr(value, "__next__"):
        return [plain(each) for each in (sorted(value) if isinstance(value, set) else value)]
    return value if isinstance(value, int | None) else type(value).__name__


def outcome(make: Callable[[], object]) -> Any:
    """What comes of a call: the result or the error, and the warnings before it."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", DataWarning)
        try:
            found = plain(make())
        except ErrataError as error:
            found = f"error: {error}"
    words = [str(each.message) for each in said]
    return {"warnings": words, "result": found} if words else found


def facts(make: Callable[[], object]) -> Any:
    """What comes of a call, without the words: of errors, warnings and findings the facts."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", DataWarning)
        try:
            found = plain(without_words(make()))
        except ErrataError as error:
            found = error_facts(error)
    noted = [values(str(each.message)) for each in said]
    return {"warnings": noted, "result": found} if noted else found


def values(message: str) -> str:
    """Return the place and the values that a message names, and the options of its remedy.

    >>> values("gold.m2:12: edit 3-9 is outside of 5 tokens: 'a b'; as in 1 2, or --compatible")
    "gold.m2:12: 3 9 5 'a b' --compatible"
    """
    problem, _, remedy = message.partition("; ")
    place, rest = re.fullmatch(r"((?:\S+?:(?:\d+:)?(?= ))?)(.*)", problem, re.S).groups()  # type: ignore[union-attr]
    # What parsers of JSON, XML and CSV say is not ours, and changes with their versions.
    rest = re.sub(r"(not (?:JSON|CSV|well-formed)|Expecting |Illegal ).*", "", rest, flags=re.S)
    named = re.findall(r"'[^']*'|\"[^\"]*\"|\d+", rest)
    return " ".join([place, *named, *re.findall(r"--[a-z][a-z-]+|ERRATA_\w+", remedy)])


def error_facts(error: ErrataError) -> str:
    """The class of an error, and the file, line, values and options in its message."""
    return f"{type(error).__name__} {values(str(error))}"


def without_words(value: Any) -> Any:
    """Findings and errors by their facts, in lists too; anything else as it is."""
    if isinstance(value, ErrataError):
        return error_facts(value)
    if hasattr(value, "severity"):
        return [value.severity, value.path, value.line, value.code, values(value.problem)]
    if hasattr(value, "findings"):
        return {**plain(value), "findings": without_words(value.findings)}
    return [without_words(each) for each in value] if isinstance(value, list | tuple) else value


def brief(found: Any) -> str:
    """The facts of a call in short: an error as it is, a result as its check sum."""
    if isinstance(found, str) and re.match(r"\w+Error ", found):
        return found
    return f"result {zlib.crc32(json.dumps(found, ensure_ascii=False).encode()):08x}"


def differences(kept: Any, found: Any, where: str = "") -> list[str]:
    """Where two outcomes differ; numbers by more than rounding."""
    if isinstance(kept, dict) and isinstance(found, dict):
        names = sorted({*kept, *found})
        parts = [(kept.get(n, "nothing"), found.get(n, "nothing"), f"{where}.{n}") for n in names]
    elif isinstance(kept, list) and isinstance(found, list) and len(kept) == len(found):
        parts = [(a, b, f"{where}[{i}]") for i, (a, b) in enumerate(zip(kept, found, strict=True))]
    else:
        same = kept == found
        if isinstance(kept, int | float) and isinstance(found, int | float):
            same = math.isclose(kept, found, rel_tol=1e-6, abs_tol=1e-7)
        return [] if same else [f"{where}: {kept!r} -> {found!r}"]
    return [line for part in parts for line in differences(*part)]


@cache
def kept(group: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDEN / f"{group}.json").read_text(encoding="utf-8"))
    return found


def check(group: str, case: str, found: Any) -> None:
    apart = differences(kept(group)[case], json.loads(json.dumps(found)))
    assert not apart, "\n".join(apart[:20])


def record(group: str, cases: Cases) -> None:
    """Write what is kept of a group, a case a line."""
    lines = [f"{json.dumps('origin')}: {json.dumps(ORIGIN)}"]
    lines += [
        f"{json.dumps(name)}: {json.dumps(make(), ensure_ascii=False)}"
        for name, make in cases.items()
    ]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (GOLDEN / f"{group}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for area in sys.argv[1:] or MODULES:
            for group, cases in run_path(str(here / area / "test_recorded.py"))["GROUPS"].items():
                record(group, cases)

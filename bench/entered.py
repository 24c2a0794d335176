"""Count the Python functions that a command enters, and their files.

``python bench/entered.py`` counts `errata score --sample`; other words are another command, and
``--list`` prints the functions by file. The second figure leaves out bodies of classes, lambdas,
comprehensions and generators.
"""

from __future__ import annotations

import contextlib
import io
import sys
import threading
from collections import defaultdict
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import errata

PACKAGE = str(Path(errata.__file__).parent)


def entered_functions(arguments: list[str]) -> dict[str, list[CodeType]]:
    """Return the functions that a command line enters, by file."""
    entered: set[CodeType] = set()

    def record(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            entered.add(frame.f_code)

    from errata.cli.main import main

    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        threading.setprofile(record)
        sys.setprofile(record)
        try:
            main(arguments)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]
    by_file = defaultdict(list)
    for code in entered:
        if code.co_filename.startswith(PACKAGE) and code.co_name != "<module>":
            by_file[code.co_filename.removeprefix(PACKAGE + "/")].append(code)
    return by_file


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--list"]
    found = entered_functions(words or ["score", "--sample"])
    if "--list" in sys.argv:
        for file, codes in sorted(found.items(), key=lambda item: -len(item[1])):
            print(f"{len(codes):4} {file}: {', '.join(sorted(c.co_qualname for c in codes))}")
    every = [code for codes in found.values() for code in codes]
    named = [c for c in every if c.co_flags & CO_OPTIMIZED and not c.co_name.startswith("<")]
    print(f"{len(every)} functions in {len(found)} files, {len(named)} of them with a name")

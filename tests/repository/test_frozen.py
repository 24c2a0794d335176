"""Data is not changed once it is made: every dataclass is frozen, but those that gather."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "errata"
# What is filled while a file is read or written, and given to nobody; what a server remembers of
# its callers and of its health; what a run knows of a worker process, and up to where it has read.
GATHERING = {"FileSet", "Limiter", "Reading", "Served", "_Cursor", "_Items", "_Worker"}


def test_every_dataclass_is_frozen() -> None:
    found: dict[str, bool] = {}
    for file in sorted(SOURCE.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if "dataclass" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            for decorator in node.decorator_list if isinstance(node, ast.ClassDef) else ():
                said = ast.unparse(decorator)
                if said.startswith("dataclass"):
                    found[node.name] = "frozen=True" in said
    assert len(found) > 60
    assert {name for name, frozen in found.items() if not frozen} == GATHERING

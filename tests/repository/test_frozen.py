"""Data is not changed once it is made: every dataclass is frozen, but those that gather."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "errata"
# What is filled while a file is read or written, and given to nobody.
GATHERING = {"FileSet", "Reading", "_Items"}


def test_every_dataclass_is_frozen() -> None:
    found: dict[str, bool] = {}
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            for decorator in getattr(node, "decorator_list", ()):
                text = ast.unparse(decorator)
                if isinstance(node, ast.ClassDef) and text.startswith("dataclass"):
                    found[node.name] = "frozen=True" in text
    assert len(found) > 60
    assert {name for name, frozen in found.items() if not frozen} == GATHERING

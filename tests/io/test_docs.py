"""The page on checks lists every code, and no other."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TypeGuard

ROOT = Path(__file__).resolve().parents[2]
# Where a code stands among the arguments of a call, by the name of what is called.
POSITION = {"Finding": 5, "warn": 1}


def codes_in_source() -> set[str]:
    """The codes of calls that make findings, and of the tables of checks."""
    found = set()
    for path in (ROOT / "src" / "errata" / "io").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                place = POSITION.get(name, len(node.args))
                found |= {a.value for a in node.args[place : place + 1] if is_code(a)}
            elif isinstance(node, ast.Tuple) and path.parts[-2:] == ("checks", "text.py"):
                found |= {e.value for e in node.elts[-1:] if is_code(e)}
                found |= {e.value for e in node.elts if is_code(e) and "-" in e.value}
            elif isinstance(node, ast.Tuple) and path.parts[-2:] == ("checks", "damage.py"):
                found |= {e.value for e in node.elts[:1] if is_code(e)}
    return found


def is_code(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and bool(re.fullmatch("[a-z-]+", str(node.value)))


def test_every_code_is_documented():
    page = (ROOT / "docs" / "checks.md").read_text()
    documented = set(re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE))
    assert documented == codes_in_source()
    assert {"shifted", "unsorted-edits", "double-space"} <= documented

"""The page on checks lists every code, and no other."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULES = (
    "linter",
    "files",
    "checks/lines",
    "checks/characters",
    "checks/conventions",
    "checks/roles",
    "checks/segmentation",
    "corpus",
    "outputs",
    "m2",
    "m2_lines",
    "scores/checked",
    "scores/handmade",
)
# Where a code stands among the arguments of a call, by the name of what is called.
POSITION = {"Finding": 5, "warn": 1}


def codes_in_source() -> set[str]:
    found = set()
    for module in MODULES:
        tree = ast.parse((ROOT / "src" / "errata" / "io" / f"{module}.py").read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                if name in POSITION and len(node.args) > POSITION[name]:
                    argument = node.args[POSITION[name]]
                    if isinstance(argument, ast.Constant):
                        found.add(argument.value)
            if isinstance(node, ast.Tuple) and module == "checks/conventions" and node.elts:
                last = node.elts[-1]  # tables of checks end in the code
                if isinstance(last, ast.Constant) and re.fullmatch("[a-z]+", str(last.value)):
                    found.add(last.value)
            if isinstance(node, ast.Tuple) and module == "checks/characters":  # tables of checks
                found |= {
                    e.value
                    for e in node.elts
                    if isinstance(e, ast.Constant) and re.fullmatch(r"[a-z]+-[a-z]+", str(e.value))
                }
    return found


def test_every_code_is_documented():
    page = (ROOT / "docs" / "checks.md").read_text()
    documented = set(re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE))
    assert documented == codes_in_source()
    assert {"shifted", "unsorted-edits", "double-space"} <= documented

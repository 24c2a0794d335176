"""The kernels as one body of code: what they share, what they show, how they are written."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from errata.kernels import _doors
from pure import KERNELS, load_pure

ROOT = KERNELS.parents[2]
NAMES = sorted(path.stem for path in KERNELS.glob("[!_]*.py"))


def constants(name: str) -> dict[str, object]:
    """The constants of a kernel and their values."""
    own = {key: value for key, value in vars(load_pure(name)).items() if key.isupper()}
    return {key: value for key, value in own.items() if not hasattr(_doors, key)}


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("threeway", "cuts", {"MISMATCH", "GAP", "LONE", "FAR"}),
        ("maxmatch", "maxmatch_long", {"DIAGONAL", "UP", "LEFT", "INSIDE"}),
    ],
)
def test_kernels_on_the_same_tables_mean_the_same(one: str, other: str, shared: set[str]) -> None:
    """Constants of C cannot be imported: they stand in both files, with one value."""
    a, b = constants(one), constants(other)
    assert a.keys() & b.keys() == shared
    assert {key: a[key] for key in shared} == {key: b[key] for key in shared}


def test_bits_of_maxmatch_do_not_overlap() -> None:
    bits = constants("maxmatch")
    sides = ("DIAGONAL", "UP", "LEFT", "INSIDE")
    for k in (1, 2):
        assert bits[f"LATTICE_{k}"] == sum(bits[f"{side}_{k}"] for side in sides)  # type: ignore[misc]
    for side in sides:
        assert bits[side] == bits[f"{side}_1"] + bits[f"{side}_2"]  # type: ignore[operator]
    assert bits["LATTICE_1"] + bits["LATTICE_2"] == 255  # type: ignore[operator]


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def uses() -> set[tuple[str, str]]:
    """Which (kernel, name) other modules, tests and benchmarks take."""
    found: set[tuple[str, str]] = set()
    for path in (p for folder in ("src", "tests", "bench") for p in (ROOT / folder).rglob("*.py")):
        if "kernels" not in (text := path.read_text(encoding="utf-8")):
            continue
        nodes, aliases = list(ast.walk(ast.parse(text))), {}
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and node.module == "errata.kernels":
                aliases |= {each.asname or each.name: each.name for each in node.names}
            elif isinstance(node, ast.ImportFrom) and "errata.kernels." in (node.module or ""):
                found |= {(str(node.module).split(".")[-1], each.name) for each in node.names}
        for node in nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                found.add((aliases.get(node.value.id, ""), node.attr))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_what_others_use_has_no_underscore_and_the_rest_has(name: str) -> None:
    defined = {
        node.name
        for node in tree(KERNELS / f"{name}.py").body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    public = {each for each in defined if not each.startswith("_")}
    assert public
    assert {each for each in defined if (name, each) in uses()} == public


@pytest.mark.parametrize("name", NAMES)
def test_one_dialect(name: str) -> None:
    """Types are annotations, and constants are const, but for those that C finds too large."""
    for node in ast.walk(tree(KERNELS / f"{name}.py")):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        assert called != "cython.locals"
        if called == "cython.declare":
            kind, value = node.args
            large = eval(compile(ast.Expression(value), name, "eval")) >= 1 << 63
            assert ast.unparse(kind).startswith("cython.const_") != large, ast.unparse(node)

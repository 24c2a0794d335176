"""One direction: a module imports only from the layers before its own."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[2] / "src" / "errata"
LAYERS = [
    {"errors"},
    {"data", "parameters", "numbers", "correlation", "workers", "cache"},
    {"kernels", "edits", "io", "models", "datasets"},
    {"metrics", "human"},
    {"evaluation", "meta"},
    {"studies", "reproduce", "testing"},
    {"report"},
    {"cli"},
    {"__main__"},
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
MODULES = sorted(SRC.rglob("*.py"))


def layer(module: str) -> str | None:
    """The layer's name of errata.X...; None for the package itself."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else None


def imports(path: Path) -> set[str]:
    """The modules of errata that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {
                f"{node.module}.{alias.name}" for alias in node.names if node.module == "errata"
            }
    return {name for name in found if name.split(".")[0] == "errata"}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SRC)))
def test_imports_point_down(path: Path) -> None:
    own = layer("errata." + ".".join(path.relative_to(SRC).with_suffix("").parts))
    if own == "__init__":
        return
    assert own in RANK, f"put {own} into a layer"
    for name in imports(path):
        other = layer(name)
        if other is None or other == "__version__":
            continue
        assert other in RANK, f"{path.name} imports {name}, which is in no layer"
        assert RANK[other] <= RANK[own], f"{own} may not import {name}"


def test_layers_have_no_cycles() -> None:
    """Between the packages of one layer the imports must not form a circle either."""
    edges: dict[str, set[str]] = {}
    for path in MODULES:
        own = layer("errata." + ".".join(path.relative_to(SRC).with_suffix("").parts))
        targets = {layer(name) for name in imports(path)}
        edges.setdefault(str(own), set()).update(str(t) for t in targets if t in RANK)
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join([*path, name])
        if name not in done:
            for target in edges.get(name, set()) - {name}:
                visit(target, (*path, name))
            done.add(name)

    for name in edges:
        visit(name, ())

"""One direction: a module imports only from the layers before its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from errata.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src" / "errata"
PICTURE = re.search(
    r"```layers\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL
)
assert PICTURE is not None
DRAWN = [line.partition("  ")[0] for line in PICTURE[1].splitlines() if line[0] != " "]
LAYERS = [*(set(names.split()) for names in DRAWN), {"__main__"}]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
IMPORT = re.compile(r"^ *(?:from|import) (errata[\w.]*)(?: import (\([^)]*\)|.*))?", re.MULTILINE)
MODULES = sorted(SRC.rglob("*.py"))


def layer(module: str) -> str | None:
    """The layer's name of errata.X...; None for the package itself."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else None


def name_of(path: Path) -> str:
    """The dotted name of a module."""
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(("errata", *(parts[:-1] if parts[-1] == "__init__" else parts)))


@cache
def imports(path: Path) -> set[str]:
    """The modules of errata that a file imports, wherever in it."""
    found = set()
    for module, names in IMPORT.findall(path.read_text(encoding="utf-8")):
        taken = re.findall(r"\w+", re.sub(r" as \w+|#.*", "", names))
        found |= {module} | {f"{module}.{name}" for name in taken}
    return found


def wrong_imports(path: Path) -> Iterator[str]:
    """Yield one complaint for each import that points to a higher layer or to none."""
    own = layer(name_of(path))
    if own is None:
        return
    if own not in RANK:
        yield f"{own} is in no layer"
        return
    for name in imports(path):
        other = layer(name)
        if other is None or other == "__version__":
            continue
        if other not in RANK:
            yield f"{path.relative_to(SRC)} imports {name}, which is in no layer"
        elif RANK[other] > RANK[own]:
            yield f"{path.relative_to(SRC)} imports {name} from a higher layer"


def test_imports_point_down() -> None:
    assert [wrong for path in MODULES for wrong in wrong_imports(path)] == []


def test_layers_have_no_cycles() -> None:
    """Between the packages of one layer the imports must not form a circle either."""
    edges: dict[str, set[str]] = {}
    for path in MODULES:
        targets = {layer(name) for name in imports(path)}
        edges.setdefault(str(layer(name_of(path))), set()).update(
            str(t) for t in targets if t in RANK
        )
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join([*path, name])
        if name not in done:
            for target in edges.get(name, set()) - {name}:
                visit(target, (*path, name))
            done.add(name)

    for name in edges:
        visit(name, ())


def test_commands_do_not_import_each_other() -> None:
    """What two commands share is in a module of its own."""
    commands = {f"errata.cli.{name}" for name in COMMANDS}
    for path in SRC.joinpath("cli").glob("*.py"):
        assert not imports(path) & commands, path.name

"""What functions and classes do without being asked: their defaults, and how they compare."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import FunctionType

import errata
import recorded

SOURCE = Path(errata.__file__).parent
# Where sides of different lengths are meant.
UNEVEN = {
    ("cli/expanded.py", "_alike"),
    ("cluster/manifest.py", "_names_below"),  # folders in folders, up to where the least deep ends
    ("metrics/imeasure/mixtures.py", "_choices"),
    ("metrics/imeasure/mixtures.py", "stages_of"),
}


def modules() -> Iterator[str]:
    """All modules but compiled ones and those that are run."""
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        if "kernels" not in parts and parts[-1] != "__main__":
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def shown(value: object) -> str:
    """A default as it is written; of objects only what they are."""
    text = repr(value)
    return type(value).__name__ if " at 0x" in text else text


def promises(found: object) -> object:
    """The defaults of a function or of a class and its methods."""
    if isinstance(found, FunctionType):
        given = inspect.signature(found).parameters.values()
        return {p.name: shown(p.default) for p in given if p.default is not p.empty}
    methods = {name: each for name, each in vars(found).items() if isinstance(each, FunctionType)}
    defaults = {name: promises(each) for name, each in methods.items() if name[0] != "_"}
    kept: dict[str, object] = {name: each for name, each in defaults.items() if each}
    if "__dataclass_params__" in vars(found):
        kept["__init__"] = promises(found.__init__)  # type: ignore[misc]
        how = vars(found)["__dataclass_params__"]
        slots = "__slots__" in vars(found)
        kept["dataclass"] = f"frozen={how.frozen} eq={how.eq} order={how.order} slots={slots}"
    return kept


def of_module(name: str) -> dict[str, object]:
    own = {
        each: promises(value)
        for each, value in vars(import_module(name)).items()
        if isinstance(value, FunctionType | type) and value.__module__ == name
    }
    return {each: value for each, value in own.items() if value}


def everything() -> dict[str, object]:
    found = {name: of_module(name) for name in modules()}
    return {f"{name}.{each}": value for name, own in found.items() for each, value in own.items()}


GROUPS = {"defaults": {"all": everything}}


def test_no_default_changes() -> None:
    """Of what is new, or has gone to another module, nothing is known yet."""
    found, kept = everything(), recorded.kept("defaults")["all"]
    both = found.keys() & kept.keys()
    assert len(both) > 0.8 * len(found), "record anew: see tests/recorded.py"
    apart = {name: (kept[name], found[name]) for name in both if kept[name] != found[name]}
    assert not apart


def test_no_side_is_cut_to_the_length_of_the_other() -> None:
    """Whatever runs in parallel has one length; what more there is must not be lost in silence."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        functions = [
            node
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.FunctionDef)
        ]
        for function in functions:
            for call in ast.walk(function):
                if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "zip":
                    words = {word.arg: ast.unparse(word.value) for word in call.keywords}
                    if words.get("strict") != "True":
                        found.add((name, function.name))
    assert found == UNEVEN

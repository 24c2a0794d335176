"""The limits that the documentation states are those in the code, and all of them."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| [^|]+ \| (\d+) \| `(errata[\w.]+)\.([A-Z_]+)` \|", PAGE, re.M)
NAMED_AS_LIMITS = re.compile(r"^((?:MOST|LARGEST|LONGEST|LIMIT)(?:_[A-Z]+)*)\b.*=", re.M)


def test_the_figures_are_those_of_the_code() -> None:
    assert len(ROWS) > 10
    for figure, module, name in ROWS:
        assert int(figure) == getattr(import_module(module), name), f"{module}.{name}"


def test_every_limit_is_stated() -> None:
    found = set()
    for path in (ROOT / "src" / "errata").rglob("*.py"):
        parts = path.relative_to(ROOT / "src").with_suffix("").parts
        if "kernels" in parts:  # theirs are parts of a method, as how far words are shifted
            continue
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        for names in NAMED_AS_LIMITS.findall(path.read_text(encoding="utf-8")):
            found.add(f"{module}.{names}")
    stated = {f"{module}.{name}" for _, module, name in ROWS}
    assert found - stated == set()

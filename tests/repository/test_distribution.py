"""On the package index `errata` is another project: nothing here may install that name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("src", "docs", ".github", ".ci", "bench", "requirements", "tests")
BUILT = ("__pycache__", ".egg-info", "site")
# The name as a requirement: with an extra, with a version, or as an argument of pip install.
INSTALLS = re.compile(
    r"""(?<![\w./-])errata\\?\[[a-z]|(?<![\w./-])errata==\d"""
    r"""|pip install (?:-\S+ )*['"]?errata(?![-\w./])"""
)


@pytest.mark.slow
def test_nothing_installs_the_name_of_another_project() -> None:
    files = [path for path in ROOT.iterdir() if path.is_file()]
    files += [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    found = []
    for path in files:
        if path == Path(__file__) or any(part in str(path) for part in BUILT):
            continue
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        place = path.relative_to(ROOT)
        found += [
            f"{place}:{n}: {line}" for n, line in enumerate(lines, 1) if INSTALLS.search(line)
        ]
    assert found == []

"""Where the tests find what stands beside the project; they pass without it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def oracles() -> Path:
    """The folder with the official tools' outputs; skips where it is not there."""
    path = SHARED / "oracles"
    if not path.is_dir():
        pytest.skip("needs ../shared/oracles")
    return path


@pytest.fixture(scope="session")
def data_sets() -> Path:
    """The public data sets, laid out like their download addresses."""
    named = os.environ.get("ERRATA_DATA")
    path = Path(named) if named else SHARED / "data" / "github"
    if not path.is_dir():
        pytest.skip("needs ERRATA_DATA or ../shared/data/github")
    return path


def _one(root: Path, pattern: str) -> Path:
    found = sorted(root.glob(pattern))
    if not found:
        pytest.skip(f"needs {pattern} in the data sets")
    return found[0]


@pytest.fixture(scope="session")
def conll14(data_sets: Path) -> Path:
    """The CoNLL-2014 test set: conll14st-test.m2, conll14st-test.tok.src, refs/."""
    return _one(data_sets, "nusnlp/gecmetrics/*/data/conll14st-test")


@pytest.fixture(scope="session")
def submissions(data_sets: Path) -> Path:
    """The folder with the outputs of the 12 CoNLL-2014 systems and INPUT."""
    return _one(data_sets, "grammatical/evaluation/*/data/original/official_submissions")


@pytest.fixture(autouse=True)
def _no_network_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep caches of a test to the test."""
    monkeypatch.setenv("ERRATA_CACHE", str(tmp_path / "cache"))

"""Where the tests find what stands beside the project; they pass without it."""

import os
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.metadata import EntryPoints, entry_points
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

from browser import browser as browser  # a fixture for every test that asks for it
from fake_chat import chat_server as chat_server
from fake_chat import fake as fake
from tiny_encoder import tiny_models as tiny_models

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"
# Whole data sets, and boards, pages and campaigns that take seconds to make.
SLOW_FIXTURES = {"conll14", "data_sets", "submissions", "made", "written"}
FEW_EXAMPLES = 5
# Tests here run commands, servers or whole studies: make quick takes a few functions of each file.
COSTLY = {"adapters", "cli", "cluster", "report", "repository", "reproduce", "studies", "web"}
FEW_FUNCTIONS = 4
# No test fails by the clock: machines are busy, and the first run of anything imports it.
settings.register_profile("errata", deadline=None)
settings.load_profile("errata")


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


@pytest.fixture(scope="session")
def _caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folders for caches, made only where a test fills one: most do not."""
    base = tmp_path_factory.mktemp("caches")
    return (base / str(number) for number in count())


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, _caches: Iterator[Path]) -> None:
    """Keep caches of a test to the test."""
    monkeypatch.setenv("ERRATA_CACHE", str(next(_caches)))


@cache
def _installed(group: str, _: tuple[str, ...]) -> EntryPoints:
    return entry_points(group=group)


@pytest.fixture(scope="session", autouse=True)
def _installed_once() -> Iterator[None]:
    """Look at the installed packages once: it takes longer than most commands, and none comes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "errata.core.registry.entry_points", lambda *, group: _installed(group, tuple(sys.path))
        )
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests with fixtures that take seconds as slow; leave long tests to make long."""
    for item in items:
        if SLOW_FIXTURES.intersection(getattr(item, "fixturenames", ())):
            item.add_marker("slow")
    selected = items[:]
    if "long" not in config.option.markexpr:
        selected = [item for item in selected if "long" not in item.keywords]
    if "not slow" in config.option.markexpr:
        selected = _quick_cases(selected)
    config.hook.pytest_deselected(items=[*{*items} - {*selected}])
    items[:] = selected


def _quick_cases(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the first case of test functions, with few Hypothesis examples."""
    first: dict[str, pytest.Item] = {}
    functions: Counter[Path] = Counter()
    for item in items:
        name = item.nodeid.split("[")[0]
        if name not in first and functions[item.path] < FEW_FUNCTIONS:
            first[name] = item
            functions[item.path] += item.path.parent.name in COSTLY
    for item in first.values():
        test = getattr(item, "obj", None)
        # Hypothesis has no public way to change the settings of a test; its own plug-in reads this.
        wanted = getattr(test, "_hypothesis_internal_use_settings", None)
        if wanted is not None and wanted.max_examples > FEW_EXAMPLES:
            fewer = settings(wanted, max_examples=FEW_EXAMPLES)
            test._hypothesis_internal_use_settings = fewer  # type: ignore[union-attr]
    return list(first.values())

"""A pytest plug-in that keeps which test runs which line of the package (see mutation.py)."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "errata"
_seconds: dict[str, float] = {}
_tracers: list[Any] = []


def pytest_configure(config: pytest.Config) -> None:
    """Start tracing where tests run: in each worker process, or in the only process there is."""
    import coverage  # only the plug-in needs it; importing this module for its doctests does not

    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        return

    _tracers.append(coverage.Coverage(data_file=None, include=[f"{SOURCE}/*"], branch=False))
    _tracers[0].start()


def pytest_collection_finish() -> None:
    """Import everything, so that lines run at import are not put down to one test's account."""
    for module in walk_packages([str(SOURCE)], "errata.") if _tracers else ():
        if not module.name.endswith("__main__"):
            with suppress(ImportError):
                import_module(module.name)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Fixtures count as the test's own."""
    _tracers[0].switch_context(item.nodeid)
    yield
    _tracers[0].switch_context("")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """How long each test takes, fixtures included."""
    _seconds[report.nodeid] = _seconds.get(report.nodeid, 0.0) + report.duration


def pytest_sessionfinish() -> None:
    """Write what this process saw; mutation.py merges the files."""
    if not _tracers:
        return
    _tracers[0].stop()
    data = _tracers[0].get_data()
    lines: dict[str, dict[int, list[str]]] = defaultdict(dict)
    for file in data.measured_files():
        name = Path(file).relative_to(SOURCE).as_posix()
        for line, tests in data.contexts_by_lineno(file).items():
            lines[name][line] = sorted(test for test in tests if test)
    target = Path(f"{os.environ['ERRATA_MUTATION_MAP']}.{os.getpid()}")
    target.write_text(json.dumps({"lines": lines, "seconds": _seconds}), encoding="utf-8")

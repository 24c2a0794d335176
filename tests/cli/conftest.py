"""Fixtures for the tests of the commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from collecting import fill_with_sample


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files of the sample."""
    return fill_with_sample(tmp_path)


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the sample, for tests that write nothing into it."""
    return fill_with_sample(tmp_path_factory.mktemp("sample"))

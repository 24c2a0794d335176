"""Folders of runs that several processes write into."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from errata.io.storage import WAITING, open_folder


@pytest.mark.slow
def test_many_may_write_side_by_side(tmp_path: Path) -> None:
    """The folder in which files wait is taken away by whoever leaves it empty."""
    folder = open_folder(str(tmp_path))

    def write(number: int) -> None:
        for _ in range(300):
            with folder.waiting() as beside:
                (beside / "file").write_text(str(number))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(8)))
    assert not (tmp_path / WAITING).exists()

"""The wheel that a bundle carries installs without an index and can be imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import errata
from errata.leaderboard import codabench as module
from errata.leaderboard.codabench import _archive, own_wheel


@pytest.mark.slow
def test_the_wheel_installs_and_is_imported(tmp_path: Path) -> None:
    name, files = own_wheel()
    (tmp_path / name).write_bytes(_archive(files))
    site = tmp_path / "site"
    pip = ("-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", str(site))
    subprocess.run([sys.executable, *pip, str(tmp_path / name)], check=True)
    program = "import errata; print(errata.__file__); print(errata.__version__)"
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(site)}, capture_output=True
    )
    assert done.stdout.decode().split() == [str(site / "errata/__init__.py"), errata.__version__]


def test_the_wheel_carries_data_and_no_compiled_kernel() -> None:
    name, files = own_wheel()
    assert name == f"errata_gec-{errata.__version__}-py3-none-any.whl"
    assert "errata/kernels/maxmatch.py" in files
    assert "errata/datasets/sample/source.txt" in files
    assert not [path for path in files if path.endswith((".so", ".pyd", ".c", ".pyc"))]
    metadata = files[f"errata_gec-{errata.__version__}.dist-info/METADATA"].decode()
    assert "Name: errata-gec" in metadata
    assert "Requires-Dist: numpy" in metadata


def test_without_an_installed_package_there_is_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DISTRIBUTION", "no-such-distribution")
    with pytest.raises(errata.core.errors.InputError, match=r"pip install"):
        own_wheel()

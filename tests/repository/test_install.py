"""An install where there is no compiler works, and gives the same numbers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    result = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
        env=os.environ | environment,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result


def reuse_translations(tree: Path) -> None:
    """Take over what Cython made for this clone, where it is up to date: that takes longest."""
    place = Path("build", "cython", "src", "errata", "kernels")
    kernels = list((ROOT / "src" / "errata" / "kernels").glob("[!_]*.py"))
    made = [ROOT / place / f"{kernel.stem}.c" for kernel in kernels]
    if all(
        file.is_file() and file.stat().st_mtime > kernel.stat().st_mtime
        for file, kernel in zip(made, kernels, strict=True)
    ):
        (tree / place).mkdir(parents=True)
        for file in made:
            shutil.copy(file, tree / place)


@pytest.fixture(scope="module", params=["no compiler", "not asked for"])
def plain(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package installed into a folder, with its kernels as plain Python."""
    tree, target = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("target")
    shutil.copytree(
        ROOT / "src",
        tree / "src",
        ignore=shutil.ignore_patterns("*.so", "*.c", "__pycache__", "*.egg-info"),
    )
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    reuse_translations(tree)
    how = {"CC": "/bin/false"} if request.param == "no compiler" else {"ERRATA_COMPILE": "0"}
    install = "-m pip install -q --no-deps --no-build-isolation --disable-pip-version-check"
    run(sys.executable, *install.split(), "--target", str(target), str(tree), **how)
    return target


@pytest.mark.long
def test_it_works_without_a_compiler(plain: Path) -> None:
    kernels = plain / "errata" / "kernels"
    assert not list(kernels.glob("*.so"))
    assert list(kernels.glob("maxmatch*.py"))
    command = "-m errata score --sample -m m2 -m imeasure -m gleu -m bleu --resamples 20 --json"
    here = run(
        sys.executable, "-c", "import errata; print(errata.__file__)", PYTHONPATH=str(plain)
    ).stdout
    assert here.startswith(str(plain))
    uncompiled = json.loads(run(sys.executable, *command.split(), PYTHONPATH=str(plain)).stdout)
    compiled = json.loads(run(sys.executable, *command.split()).stdout)
    assert uncompiled == compiled


@pytest.mark.long
def test_pages_and_data_are_installed(plain: Path, tmp_path: Path) -> None:
    page = tmp_path / "map.html"
    command = ("-m", "errata", "difficulty", "--sample", "--resamples", "0", "--figure", str(page))
    run(sys.executable, *command, PYTHONPATH=str(plain))
    assert "function apply()" in page.read_text("utf-8")


def test_every_file_beside_the_modules_is_packaged() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["errata"]
    package = ROOT / "src" / "errata"
    packaged = {path for pattern in patterns for path in package.glob(pattern)}
    beside = {
        path
        for path in package.rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc", ".so", ".c")
    }
    assert beside - packaged == set()


@pytest.mark.skipif(os.environ.get("ERRATA_COMPILE") == "0", reason="ERRATA_COMPILE=0")
@pytest.mark.skipif(shutil.which(os.environ.get("CC", "cc")) is None, reason="no C compiler")
def test_kernels_are_compiled_where_a_compiler_is() -> None:
    """A kernel that fails to compile would only be slow; nobody would notice."""
    from importlib import import_module

    names = [path.stem for path in (ROOT / "src/errata/kernels").glob("[!_]*.py")]
    assert names
    slow = [n for n in names if str(import_module(f"errata.kernels.{n}").__file__).endswith(".py")]
    assert slow == []

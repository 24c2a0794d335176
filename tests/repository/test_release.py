"""What a release is made with: the check of the tag, the trial of a wheel, the source archive."""

from __future__ import annotations

import json
import os
import runpy
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest

import errata

ROOT = Path(__file__).resolve().parents[2]


def changes(tree: Path) -> str:
    """Return the notes of the release that a repository is ready for."""
    found: str = runpy.run_path(str(ROOT / ".ci" / "release.py"))["changes"]("v1.2.3", tree)
    return found


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository ready to be released as 1.2.3."""
    (tmp_path / "src" / "errata").mkdir(parents=True)
    (tmp_path / "src" / "errata" / "__init__.py").write_text('"""x"""\n__version__ = "1.2.3"\n')
    (tmp_path / "CITATION.cff").write_text(
        "cff-version: 1.2.0\nversion: 1.2.3\ndate-released: 2030-01-31\n"
    )
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## 1.2.3 (2030-01-31)\n\n### Added\n- this\n\n## 1.2.2 (2029-12-01)\n"
    )
    return tmp_path


def test_the_notes_are_the_section_of_the_version(tree: Path) -> None:
    assert changes(tree) == "### Added\n- this"


@pytest.mark.parametrize(
    ("file", "old", "new", "problem"),
    [
        ("src/errata/__init__.py", "1.2.3", "1.2.4", "__init__.py has 1.2.4"),
        ("CITATION.cff", "version: 1.2.3", "version: 1.2.2", "CITATION.cff has 1.2.2"),
        ("CITATION.cff", "2030-01-31", "2029-01-31", "date-released: 2030-01-31"),
        ("CITATION.cff", "date-released: 2030-01-31", "", "date-released: 2030-01-31"),
        ("CHANGELOG.md", "## 1.2.3", "## 1.3.0", "CHANGELOG.md has 1.3.0"),
        ("CHANGELOG.md", "2030-01-31", "unreleased", "no date for v1.2.3: unreleased"),
    ],
)
def test_a_tag_that_does_not_agree_is_stopped(
    tree: Path, file: str, old: str, new: str, problem: str
) -> None:
    before = (tree / file).read_text()
    (tree / file).write_text(before.replace(old, new, 1))
    with pytest.raises(SystemExit, match=problem):
        changes(tree)


def works(*command: str, folder: Path = ROOT, **environment: str) -> str:
    """Return what a Python command prints that must not fail."""
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        cwd=folder,
        env=os.environ | environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.long
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_source_archive_is_the_repository(tmp_path: Path) -> None:
    """All that git keeps (what a build needs, tests, docs) and nothing that was built before."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    kept = {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}
    if "LICENSE" not in kept:
        pytest.skip("needs a clone")
    tree = tmp_path / "tree"
    for name in kept:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tree / name)
    for stale in ("src/errata/kernels/stale.so", "src/errata/kernels/stale.c", "docs/stale.pyc"):
        (tree / stale).touch()
    code = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
    works("-c", code, str(tmp_path), folder=tree, ERRATA_COMPILE="0")
    name = f"errata_gec-{errata.__version__}"
    with tarfile.open(tmp_path / f"{name}.tar.gz") as archive:
        held = {member.name.removeprefix(f"{name}/") for member in archive if member.isfile()}
    made = {"PKG-INFO", "setup.cfg"}
    assert sorted(kept - held) == []
    assert [n for n in held - kept - made if not n.startswith("src/errata_gec.egg-info/")] == []


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
    how = {"CC": "/bin/false"} if request.param == "no compiler" else {"ERRATA_COMPILE": "0"}
    install = "-m pip install -q --no-deps --no-build-isolation --disable-pip-version-check"
    works(*install.split(), "--target", str(target), str(tree), **how)
    return target


@pytest.mark.long
def test_it_works_without_a_compiler(plain: Path) -> None:
    kernels = plain / "errata" / "kernels"
    assert not list(kernels.glob("*.so"))
    assert list(kernels.glob("maxmatch*.py"))
    command = "-m errata score --sample -m m2 -m imeasure -m gleu -m bleu --resamples 20 --json"
    here = works("-c", "import errata; print(errata.__file__)", PYTHONPATH=str(plain))
    assert here.startswith(str(plain))
    uncompiled = json.loads(works(*command.split(), PYTHONPATH=str(plain)))
    compiled = json.loads(works(*command.split()))
    assert uncompiled == compiled


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

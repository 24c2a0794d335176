"""The pages of whole studies: their shell commands run, and print what the pages say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "studies").glob("*.md"))
FENCE = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BREAK = "---- next block ----"


def blocks(page: Path) -> list[tuple[str, list[str]]]:
    """The shell blocks of a page, each with the lines that the page says it prints."""
    found: list[tuple[str, list[str]]] = []
    for kind, text in FENCE.findall(page.read_text("utf-8")):
        if kind == "sh":
            found.append((text, []))
        else:
            found[-1][1].extend(line for line in text.splitlines() if line.strip())
    return found


def run(commands: list[str], folder: Path, data: Path) -> list[str]:
    """What each block prints, all of them run by one shell in a folder of their own.

    A study is two dozen processes and takes a minute or, on a busy machine, many: they run a copy
    of the package, so that all of them run the same one whatever is edited or merged meanwhile.
    """
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("*.c", "*.pyc"))
    programs = folder / "bin"
    programs.mkdir()
    errata = programs / "errata"
    errata.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m errata "$@"\n')
    errata.chmod(0o755)
    script = f"\necho '{BREAK}'\n".join(commands)
    done = subprocess.run(
        ["sh", "-e", "-u"],
        input=script,
        cwd=folder,
        env={
            **os.environ,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "COLUMNS": "200",  # the pages show every column
            "ERRATA_DATA": str(data),
            "PYTHONPATH": str(folder / "src"),
        },
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split(f"{BREAK}\n")


def test_three_studies_have_a_page() -> None:
    assert [page.stem for page in PAGES] == ["chollampatt-ng", "napoles", "sakaguchi"]
    index = (ROOT / "mkdocs.yml").read_text("utf-8")
    for page in PAGES:
        assert f"studies/{page.name}" in index


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_study_comes_out_as_its_page_says(page: Path, tmp_path: Path, data_sets: Path) -> None:
    study = blocks(page)
    printed = run([commands for commands, _ in study], tmp_path, data_sets)
    said = 0
    for (commands, lines), output in zip(study, printed, strict=True):
        have = {" ".join(line.split()) for line in output.splitlines()}
        for line in lines:
            assert " ".join(line.split()) in have, f"{commands}\nsaid: {line}\n{output}"
            said += 1
        for file in re.findall(r"--figure \w+=(\S+\.svg)", commands):
            names = [file] if "$" not in file else []
            for name in names:
                assert (tmp_path / name).read_text("utf-8").startswith("<?xml"), name
    assert said >= 10

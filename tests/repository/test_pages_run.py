"""The pages on metrics of one's own and on what fits where do what they say."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import tomllib
from pathlib import Path

import pytest

from command import errata
from errata.testing import check_metric

DOCS = Path(__file__).resolve().parents[2] / "docs"
SAMPLE = DOCS.parent / "src" / "errata" / "datasets" / "sample"


def blocks(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


@pytest.fixture
def extending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the page on one's own metric shows."""
    for text in blocks("extending.md", "python"):
        name = text.partition("\n")[0].removeprefix("# ")
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("extending")
def test_the_metrics_of_the_page_are_scored() -> None:
    lines = [line for text in blocks("extending.md", "console") for line in text.splitlines()]
    assert len(lines) == 4
    for line in lines:
        run = shlex.split(line.removeprefix("$ errata "))
        done = json.loads(errata(*run, "--resamples", 20, "--json").stdout)
        assert any("from:" in table.get("signature", "") for table in done["tables"]) or (
            run[0] == "meta"
        )
    printed = errata(*shlex.split(lines[0].removeprefix("$ errata "))).stdout
    assert re.search(r"system +overlap +overlap\(cased=False\) +GLEU", printed)
    assert re.search(r"eager +0\.9235 ± 0\.0243 \* +0\.9324", printed)


@pytest.mark.usefixtures("extending")
def test_the_class_of_the_page_keeps_the_contract() -> None:
    from errata.metrics import parse

    check_metric(parse("kept.py:Kept"))


def shell(line: str, folder: Path) -> str:
    """Run one line of the page; > writes a file."""
    command, _, target = line.partition(" > ")
    done = errata(*shlex.split(command)[1:], cwd=folder)
    if target:
        (folder / target).write_text(done.stdout, encoding="utf-8")
    return done.stdout


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    for given, name in (
        ("gold.m2", "gold.m2"),
        ("eager.txt", "A.txt"),
        ("noisy.txt", "B.txt"),
        ("fluent.txt", "C.txt"),
        ("cautious.txt", "ours.txt"),
    ):
        shutil.copy(SAMPLE / given, tmp_path / name)
    return tmp_path


def test_every_line_of_the_joins_runs(sample: Path) -> None:
    printed = {
        line: shell(line, sample)
        for text in blocks("joins.md", "sh")
        for line in text.splitlines()
        if line
    }
    assert len(printed) == 11
    by_gold, by_texts = (
        [row for row in text.splitlines() if row.startswith("ours")]
        for line, text in printed.items()
        if line.startswith("errata score") and "-m gleu ours.txt" in line
    )
    assert by_gold == by_texts


def test_scores_from_a_file_correlate_like_computed_ones(sample: Path) -> None:
    for line in blocks("joins.md", "sh")[0].splitlines():
        last = shell(line, sample)
    at_once = errata(
        *("meta", "--sample", "-m", "gleu", "-m", "m2", "--level", "system"),
        *("--ranker", "expected_wins"),
    ).stdout

    def figures(text: str, metric: str) -> list[str]:
        row = next(line for line in text.splitlines() if line.startswith(metric))
        return row.split()[1:4]

    assert figures(last, "gleu") == figures(at_once, "gleu")
    assert figures(last, "m2") == figures(at_once, "m2")


def test_the_board_of_the_page_is_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = blocks("board.md", "python")
    exec(code, {})
    (shown,) = blocks("board.md", "console")
    command, *wanted = shown.strip().splitlines()
    done = errata(*shlex.split(command.removeprefix("$ errata ")), cwd=tmp_path)
    printed = [re.sub(" +", " ", line) for line in done.stdout.splitlines()]
    assert [line for line in wanted if re.sub(" +", " ", line) not in printed] == []
    assert (tmp_path / "essays/site/systems/eager.html").is_file()
    for text in blocks("board.md", "toml"):
        tomllib.loads(text)

"""``errata leaderboard``: submissions are checked, scored once and ranked; Codabench agrees."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

import command
from board_sample import BOARD, sample_board, submit
from command import errata, python_process, refused
from errata import __version__
from errata.core.errors import InputError
from errata.datasets.load import SAMPLE_SYSTEMS
from errata.io.stored_runs import read_runs
from errata.leaderboard import codabench
from errata.leaderboard.codabench import _zip_files, build_own_wheel

pytest.importorskip("jinja2")
RUN = {"SOURCE_DATE_EPOCH": "1763300000"}


@pytest.fixture(autouse=True)
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole reports of systems are looked at in tests/report/test_board_browser.py."""
    from errata.leaderboard import website
    from errata.reports.report import ReportPage

    monkeypatch.setattr(website, "build_report_page", lambda material: ReportPage("", "", ()))


def tables(*arguments: object, code: int = 0) -> dict[str, dict[str, Any]]:
    return command.tables("leaderboard", *arguments, code=code, env=RUN)


def states(board: Path, code: int = 0) -> dict[str, str]:
    rows = tables(board, code=code)["submissions"]["rows"]
    return {row["submission"]: row["state"] for row in rows}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A board that was made once; tests that change it take a copy."""
    folder = sample_board(tmp_path_factory.mktemp("board"))
    tables(folder)
    return folder


@pytest.fixture
def board(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "board")


@pytest.mark.slow
def test_the_numbers_are_those_of_score(board: Path) -> None:
    ranked = tables(board)["board_sample"]
    outputs = [f"{name}={board}/submissions/{name}/output.txt" for name in SAMPLE_SYSTEMS]
    line = f"score --gold {board}/gold.m2 -m m2 -m gleu --resamples 100"
    overview = command.tables(line, *outputs)["overview"]
    by_system = {row["system"]: row for row in overview["rows"]}
    assert len(ranked["rows"]) == len(by_system) == 5
    for row in ranked["rows"]:
        for metric in ("m2 F0.5", "GLEU"):
            assert row[metric] == by_system[row["system"]][metric]
    assert ranked["signature"] == overview["signature"]


@pytest.mark.slow
def test_a_second_run_scores_only_what_is_new(board: Path) -> None:
    before = tables(board)
    assert {row["state"] for row in before["submissions"]["rows"]} == {"as before"}
    assert "scored 0 new of 5" in errata("leaderboard", board, env=RUN).stderr
    text = (board / "submissions/eager/output.txt").read_text("utf-8")
    submit(board, "newcomer", text.replace(" a ", " the "))
    found = states(board)
    assert found.pop("newcomer") == "scored now"
    assert {*found.values()} == {"as before"}
    gold = (board / "gold.m2").read_text("utf-8")
    changed = gold.replace("|||REQUIRED|||-NONE-|||0", "|||REQUIRED|||x|||0", 1)
    for written, state in ((changed, "scored now"), (gold, "as before")):
        (board / "gold.m2").write_text(written)
        assert {*states(board).values()} == {state}
    (board / "kept.sqlite").unlink()  # only saves time: the numbers are the same without
    again = tables(board)
    assert {row["state"] for row in again["submissions"]["rows"]} == {"scored now"}
    old = [row for row in again["board_sample"]["rows"] if row["system"] != "newcomer"]
    for row, same in zip(old, before["board_sample"]["rows"], strict=True):
        assert {**row, "range": 0, "cluster": 0} == {**same, "range": 0, "cluster": 0}


@pytest.mark.slow
def test_a_metric_of_all_systems_is_counted_again_with_a_newcomer(board: Path) -> None:
    (board / "board.toml").write_text(BOARD.replace('"gleu"', '"difficulty"'), encoding="utf-8")
    tables(board)
    assert {*states(board).values()} == {"as before"}
    # As many systems as before, and another one among them.
    for system in ("noisy", "eager"):
        text = (board / "submissions" / system / "output.txt").read_text("utf-8")
        submit(board, "newcomer", text)
        found = tables(board)
        assert {row["state"] for row in found["submissions"]["rows"]} == {"scored now"}
    outputs = [f"{p.name}={p}/output.txt" for p in sorted((board / "submissions").iterdir())]
    line = f"score --gold {board}/gold.m2 -m difficulty --resamples 0"
    for row in next(iter(command.tables(line, *outputs).values()))["rows"]:
        (own,) = [r for r in found["board_sample"]["rows"] if r["system"] == row["system"]]
        name = next(key for key in own if key.startswith("difficulty"))
        assert own[name]["value"] == row[name.removeprefix("difficulty ")]


def test_history_has_a_run_for_every_new_output(board: Path) -> None:
    assert len(read_runs(board / "runs" / "sample")) == 5
    tables(board)
    assert len(read_runs(board / "runs" / "sample")) == 5
    better = (board / "submissions/eager/output.txt").read_text("utf-8")
    submit(board, "noisy", better)
    errata("leaderboard", board, env={"SOURCE_DATE_EPOCH": "1763400000"})
    runs = [run for run in read_runs(board / "runs" / "sample") if run.system == "noisy"]
    assert [run.when[:10] for run in runs] == ["2025-11-16", "2025-11-17"]
    assert (runs[0].figures[0].value or 0) < (runs[1].figures[0].value or 0)
    front = (board / "site/index.html").read_text("utf-8")
    assert "2025-11-17" in front
    shutil.copy(runs[1].path, board / "runs/sample/stored-twice.json")  # by two at once
    errata("leaderboard", board)
    assert (board / "site/index.html").read_text("utf-8") == front


def test_what_does_not_fit_is_refused_and_the_rest_is_ranked(board: Path) -> None:
    short = "\n".join((board / "submissions/eager/output.txt").read_text("utf-8").split("\n")[:9])
    submit(board, "short", short)
    (submit(board, "nameless", short) / "card.toml").write_text('authors = ["A"]\n')
    twin = submit(board, "twin", (board / "submissions/fluent/output.txt").read_text("utf-8"))
    (twin / "card.toml").write_text((board / "submissions/eager/card.toml").read_text("utf-8"))
    found = tables(board, code=1)
    refusals = [r["submission"] for r in found["submissions"]["rows"] if r["state"] == "refused"]
    assert refusals == ["nameless", "short", "twin"]
    problems = {(row["submission"], row["problem"]) for row in found["findings"]["rows"]}
    assert ("nameless", "there is no system") in problems
    assert ("twin", "eager has a system 'eager' too") in problems
    same = [said for name, said in problems if name == "twin" and "the same text as" in said]
    assert len(same) == 1
    assert len(found["board_sample"]["rows"]) == 5
    assert "3 of 8 submissions were refused" in (board / "site/index.html").read_text("utf-8")


def test_a_check_of_a_submission(board: Path, tmp_path: Path) -> None:
    assert errata("leaderboard", board, "--check", board / "submissions/eager").returncode == 0
    for given in ("eager", "submissions/eager", "submissions"):  # seen from the board
        assert errata("leaderboard", board, "--check", given).returncode == 0
    lines = (board / "submissions/eager/output.txt").read_text("utf-8").split("\n")
    shifted = submit(board, "shifted", "\n".join([lines[-2], *lines[:-2], ""]))
    found = tables(board, "--check", shifted, code=1)["findings"]["rows"]
    assert found[0]["severity"] == "error"
    empty = submit(board, "empty", "\n".join(["", *lines[1:]]))
    assert tables(board, "--check", empty)["findings"]["rows"][0]["severity"] == "warning"
    tables(board, "--check", empty, "--strict", code=1)
    assert not (board / "site/systems/empty.html").exists()
    everything = tables(board, "--check", board / "submissions", code=1)["findings"]["rows"]
    assert {row["submission"] for row in everything} >= {"shifted", "empty", "nothing"}
    guest = shutil.copytree(board / "submissions/eager", tmp_path / "guest")
    (taken, *_) = tables(board, "--check", guest, code=1)["findings"]["rows"]
    assert taken["problem"] == "eager has a system 'eager' too"
    assert "no such folder" in errata("leaderboard", board, "--check", "nobody", code=2).stderr


def test_a_bad_card_is_refused_with_its_line(board: Path) -> None:
    good = "system='A'\nauthors='B'\ndate=2026-01-01\n"
    for card, line, words in (
        ("system = 'A'\nauthors = ['B']\ndate = 2026-13-01\n", 3, "TOML"),
        ("system = 'A'\nauthors = ['B']\ndate = 'soon'\n", 3, "'soon'"),
        ("system = 'A'\nautors = ['B']\n", 2, "'authors'"),
        ("system = 'A'\nauthors = [3]\ndate = 2026-01-01\n", 2, "authors"),
        ("system = 3\n", 1, "system"),
        ("system = 'A'\nauthors = ['B']\n", None, "no date"),
        ("system = ' '\nauthors = ['B']\ndate = 2026-01-01\n", None, "no system"),
        ('system = "A\\u001b[2J"\nauthors = "B"\ndate = 2026-01-01\n', 1, "name"),
        (f"system = '{'A' * 101}'\nauthors = 'B'\ndate = 2026-01-01\n", 1, "100"),
        (f"{good}link='x.org'\n", 4, "link"),
        (good, None, "no group"),
        (f"{good}group='opn'\n", 4, "'open'"),
        (f"{good}group='open'\noutput='../../gold.m2'\n", 5, "outside the folder"),
        (f"{good}group='open'\noutput='x'\n", 5, "'x'"),
        (f"{good}group='open'\n[outputs]\nx='x'\n", 6, "test set 'x'"),
    ):
        folder = submit(board, "bad", "")
        (folder / "card.toml").write_text(card, encoding="utf-8")
        (row,) = tables(board, "--check", folder, code=1)["findings"]["rows"]
        assert words.casefold() in f"{row['problem']}; {row['remedy']}".casefold(), card
        assert (row["file"], row["line"]) == ("card.toml", line), card


def test_a_bad_board_is_refused(board: Path) -> None:
    sample = "title = 'T'\nsample = true\n"
    for text, words in (
        ("metrics = ['m2']\n", "board.toml: ... title"),
        ("title = 'T'\n", "test set"),
        (f"{sample}[sets.a]\ngold = 'gold.m2'\n", "both"),
        (f"{sample}metrics = 'm2(beta=-1)'\n", "beta"),
        (f"{sample}metrics = ['m9']\n", "'m9'"),
        (f"{sample}resamples = 5\n", "resamples"),
        (f"{sample}confidence = 2\n", "board.toml:3: confidence"),
        (f"{sample}[codabench]\nimage = 'x'\n", "codabench.image: unknown"),
        ("title = 'T'\n[sets.a]\ngold = 'nowhere.m2'\n", "nowhere.m2"),
        ("title = 'T'\n[sets.a]\ngold = 'gold.m2'\noutputs = 'x'\n", "outputs"),
    ):
        (board / "board.toml").write_text(text, encoding="utf-8")
        wrong = refused(f"leaderboard {board} | {words}")
        assert not wrong, wrong


def test_folders_that_are_no_boards(tmp_path: Path) -> None:
    assert not refused(f"leaderboard {tmp_path} | board.toml")
    (tmp_path / "board.toml").write_text("title = 'T'\nsample = true\n")
    assert not refused(f"leaderboard {tmp_path} | submissions")
    submit(tmp_path, "none", "one line\n")
    assert "1 of 1" in errata("leaderboard", tmp_path, code=2).stderr


def test_several_sets_and_pages_that_go(board: Path) -> None:
    shutil.copy(board / "gold.m2", board / "second.m2")
    text = BOARD.replace("[sets.sample]", '[sets.other]\ngold = "second.m2"\n[sets.sample]')
    (board / "board.toml").write_text(text, encoding="utf-8")
    for system in SAMPLE_SYSTEMS[:3]:
        folder = board / "submissions" / system
        (folder / "output.txt").rename(folder / "other.txt")
    shutil.copy(board / "submissions/eager/other.txt", board / "submissions/eager/sample.txt")
    for system in SAMPLE_SYSTEMS[3:]:
        shutil.rmtree(board / "submissions" / system)
    found = tables(board)
    assert len(found["board_other"]["rows"]) == 3
    assert [row["system"] for row in found["board_sample"]["rows"]] == ["eager"]
    pages = {path.stem for path in (board / "site/systems").iterdir()}
    assert pages == {*SAMPLE_SYSTEMS[:3], "eager.sample"}
    assert 'href="eager.sample.html"' in (board / "site/systems/eager.html").read_text("utf-8")
    beside = shutil.copy(board / "site/index.html", board / "site/report.html")
    tables(board)
    assert Path(beside).is_file()
    (board / "site/index.html").write_text("<p>mine")
    assert "not made by Errata" in errata("leaderboard", board, code=2).stderr
    tables(board, "--site", board / "elsewhere")
    assert (board / "elsewhere/index.html").is_file()


def test_what_one_submission_is_does_not_stop_the_others(board: Path) -> None:
    """Edits of three systems, links out of the folder or to another, folders of any name."""
    text = (board / "submissions/eager/output.txt").read_text("utf-8")
    several = submit(board, "several", "")
    (several / "output.txt").unlink()
    shutil.copy(board / "gold.m2", several / "output.m2")
    linked = submit(board, "stolen", "")
    (linked / "output.txt").unlink()
    (linked / "output.txt").symlink_to(board / "submissions/eager/output.txt")
    (board / "submissions/again").symlink_to(board / "submissions/noisy")
    for folder in (b"a b#?%", b"y" * 240, b"caf\xe9"):
        odd = board / "submissions" / os.fsdecode(folder)
        submit(board, "odd", text.replace(" a ", " the ")).rename(odd)
        card = (odd / "card.toml").read_text("utf-8")
        system = f'"odd {len(folder)}"'
        (odd / "card.toml").write_text(card.replace('"odd"', system), encoding="utf-8")
    found = tables(board, code=1)
    refusals = {r["submission"] for r in found["submissions"]["rows"] if r["state"] == "refused"}
    assert refusals == {"several", "stolen", "noisy"}
    errors = [row for row in found["findings"]["rows"] if row["severity"] == "error"]
    problems = {row["submission"]: row["problem"] for row in errors}
    assert "edits of 3 annotators" in problems["several"]
    assert "outside the folder" in problems["stolen"]
    assert "again has a system 'noisy' too" in problems["noisy"]
    assert "refused" in errata("leaderboard", board, "--check", several, code=1).stdout
    front = (board / "site/index.html").read_text("utf-8")
    pages = {unquote(page) for page in re.findall(r'href="(systems/[^"]*)"', front)}
    assert pages == {f"systems/{path.name}" for path in (board / "site/systems").iterdir()}
    assert len(pages) == 8


def unpacked(data: bytes, folder: Path) -> Path:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(folder)
    return folder


@pytest.mark.slow
def test_the_bundle_scores_where_codabench_mounts_it(board: Path, tmp_path: Path) -> None:
    """/app/program, /app/input/ref, /app/input/res and /app/output, as folders in tmp."""
    yaml = pytest.importorskip("yaml")
    ranked = tables(board, "--codabench", tmp_path / "bundle.zip")["board_sample"]
    first = (tmp_path / "bundle.zip").read_bytes()
    tables(board, "--codabench", tmp_path / "bundle.zip", "--force")
    assert (tmp_path / "bundle.zip").read_bytes() == first
    for _ in range(2):  # it may stand in the board's own folder
        errata("leaderboard", board, "--codabench", board / "bundle.zip", "--force")
    assert (board / "bundle.zip").read_bytes() == first
    refused = errata("leaderboard", board, "--codabench", board / "gold.m2", "--force", code=2)
    assert "ends in .zip" in refused.stderr
    bundle = unpacked(first, tmp_path / "bundle")
    competition = yaml.safe_load((bundle / "competition.yaml").read_text("utf-8"))
    assert competition["version"] == 2
    named = [competition["image"], competition["terms"], *(p["file"] for p in competition["pages"])]
    (task,), (phase,) = competition["tasks"], competition["phases"]
    named += [task["reference_data"], task["scoring_program"], phase["public_data"]]
    assert sorted(named) == sorted(p.name for p in bundle.iterdir() if p.name != "competition.yaml")
    assert phase["tasks"] == [task["index"]]
    columns = competition["leaderboards"][0]["columns"]
    assert {column["precision"] for column in columns} == {4}  # the platform shows 2 else
    app = tmp_path / "app"
    kept = unpacked((bundle / task["reference_data"]).read_bytes(), app / "input/ref")
    assert [file.name for file in kept.glob("set*/*")] == ["gold.m2"]
    said = "".join((bundle / page["file"]).read_text("utf-8") for page in competition["pages"])
    assert "Submit a ZIP archive with `output.txt`, not in a folder" in said
    assert tomllib.loads(f"x = {codabench._toml_string('😀')}") == {"x": "😀"}
    program = unpacked((bundle / task["scoring_program"]).read_bytes(), app / "program")
    sources = unpacked((bundle / phase["public_data"]).read_bytes(), app / "public")
    assert len((sources / "sample.txt").read_text("utf-8").splitlines()) == 72
    (app / "input/res").mkdir()
    shutil.copy(board / "submissions/fluent/output.txt", app / "input/res")
    line = yaml.safe_load((program / "metadata.yaml").read_text("utf-8"))["command"]
    assert line == "python3 /app/program/scoring.py /app/input /app/output"
    run = f"import runpy, sys; sys.argv = {line.replace('/app', str(app)).split()[1:]!r}; "
    python_process(run + "runpy.run_path(sys.argv[0], run_name='__main__')")
    scores = json.loads((app / "output/scores.json").read_text("utf-8"))
    assert list(scores) == [column["key"] for column in columns]
    (row,) = [row for row in ranked["rows"] if row["system"] == "fluent"]
    assert scores == {"m2": row["m2 F0.5"]["value"], "gleu": row["GLEU"]["value"]}
    (app / "input/res/output.txt").write_text("too short\n")
    done = python_process(run + "runpy.run_path(sys.argv[0], run_name='__main__')", code=1)
    assert "1 line" in done.stderr or "72" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_the_wheel_installs_and_is_imported(tmp_path: Path) -> None:
    name, files = build_own_wheel()
    (tmp_path / name).write_bytes(_zip_files(files))
    site = tmp_path / "site"
    pip = ("-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", str(site))
    subprocess.run([sys.executable, *pip, str(tmp_path / name)], check=True)
    program = "import errata; print(errata.__file__); print(errata.__version__)"
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(site)}, capture_output=True
    )
    assert done.stdout.decode().split() == [str(site / "errata/__init__.py"), __version__]


def test_without_an_installed_package_there_is_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codabench, "DISTRIBUTION", "no-such-distribution")
    with pytest.raises(InputError, match=r"pip install"):
        build_own_wheel()

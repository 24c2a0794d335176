"""`errata check` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command import Done, errata

REST = "REQUIRED|||-NONE-|||0"
GOLD = f"S He go home .\nA 1 2|||V|||goes|||{REST}\n\nS I is fine .\nA 1 2|||V|||am|||{REST}\n"


def check(*arguments: object, cwd: Path, stdin: str = "") -> Done:
    return errata("check", *arguments, cwd=cwd, stdin=stdin, code=None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "gold.m2").write_text(GOLD)
    (tmp_path / "s.txt").write_text("He go home .\nI is fine .\n")
    (tmp_path / "good.txt").write_text("He goes home .\nI is fine .\n")
    (tmp_path / "empty.txt").write_text("He go home !\n\n")
    (tmp_path / "short.txt").write_text("He go home .\n")
    return tmp_path


def test_clean_files(folder):
    done = check("--gold", "gold.m2", "good.txt", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("0 errors, 0 warnings, 0 notes\n")
    assert "output of good" in done.stdout
    assert check("gold.m2", "good.txt", cwd=folder).stdout == done.stdout


def test_warnings_fail_only_with_strict(folder):
    done = check("gold.m2", "empty.txt", cwd=folder)
    assert done.returncode == 0
    assert "warning  empty.txt:2  [empty-line]\n    the line is empty" in done.stdout
    assert check("gold.m2", "empty.txt", "--strict", cwd=folder).returncode == 2


def test_errors_fail(folder):
    done = check("gold.m2", "short.txt", "nowhere.txt", cwd=folder)
    assert done.returncode == 2
    assert "error  short.txt:2  [line-count]" in done.stdout
    assert "error  nowhere.txt  [unreadable]" in done.stdout
    assert done.stderr == ""


def test_shared_edits_are_not_called_what_they_are_not(folder):
    """--compatible gives a sentence edits of another: the file has no two spaces in them."""
    edit = "A 1 2|||V|||goes|||REQUIRED|||-NONE-|||0\n"
    (folder / "two.m2").write_text(f"S He go home .\nS I am .\n{edit}\n")
    found = errata("check", "--gold", folder / "two.m2", "--compatible").stdout
    assert "[several-sources]" in found
    assert "[double-space]" not in found


def test_all_errors_of_a_gold_file_are_found(folder):
    (folder / "bad.m2").write_text(GOLD.replace("1 2", "1 9"))
    done = check("bad.m2", "good.txt", "--json", cwd=folder)
    assert done.returncode == 2
    tables = {t["name"]: t["rows"] for t in json.loads(done.stdout)["tables"]}
    assert [(f["severity"], f["file"], f["line"]) for f in tables["findings"]] == [
        ("error", "bad.m2", 2),
        ("error", "bad.m2", 5),
    ]
    assert [f["sentences"] for f in tables["files"]] == [2, 2]


def test_statistics(folder):
    done = check("gold.m2", "good.txt", "--json", cwd=folder)
    tables = {t["name"]: t["rows"] for t in json.loads(done.stdout)["tables"]}
    assert tables["findings"] == []
    assert tables["files"] == [
        {
            "file": "gold.m2",
            "role": "gold",
            "sentences": 2,
            "tokens": 8,
            "annotators": 1,
            "edits": 2,
            "changed": 1.0,
        },
        {
            "file": "good.txt",
            "role": "output of good",
            "sentences": 2,
            "tokens": 8,
            "annotators": None,
            "edits": None,
            "changed": 0.5,
        },
    ]


def test_swapped_source_and_output(folder):
    done = check("--gold", "gold.m2", "--source", "good.txt", "s.txt", cwd=folder)
    assert done.returncode == 2
    assert "error  good.txt:1  [swapped]" in done.stdout
    assert "this is not the source of gold.m2, but s.txt is" in done.stdout
    done = check("--gold", "gold.m2", "--source", "good.txt", "good.txt", cwd=folder)
    assert "error  good.txt:1  [other-source]" in done.stdout
    assert check("--gold", "gold.m2", "--source", "s.txt", "good.txt", cwd=folder).returncode == 0


def test_parallel_text_and_stdin(folder):
    (folder / "r0.txt").write_text("He goes home .\n-\n")
    done = check(
        "--source",
        "s.txt",
        "--refs",
        "r0.txt",
        "--missing",
        "-",
        "ours=-",
        "--json",
        cwd=folder,
        stdin="He goes home .\nI am fine .\n",
    )
    assert done.returncode == 0
    files = json.loads(done.stdout)["tables"][1]["rows"]
    assert [(f["role"], f["changed"]) for f in files] == [
        ("source", None),
        ("reference", 0.5),
        ("output of ours", 1.0),
    ]
    assert check("--source", "s.txt", "--refs", "short.txt", cwd=folder).returncode == 2


def test_the_same_text_twice(folder):
    done = check("gold.m2", "good.txt", "other=good.txt", cwd=folder)
    assert "[same-text]" in done.stdout
    done = check("gold.m2", "good.txt", "good.txt", cwd=folder)
    assert done.returncode == 2
    assert "[same-name]" in done.stdout


def test_texts_alone(folder):
    (folder / "odd.txt").write_text("a\u200bb\n")
    done = check("good.txt", "odd.txt", cwd=folder)
    assert done.returncode == 0
    assert "warning  odd.txt:1  [invisible-character]" in done.stdout


def test_many_findings_are_summed_up(folder):
    (folder / "many.m2").write_text("\n".join(f"S a\nA 0 1|||X|||a|||{REST}\n" for _ in range(9)))
    done = check("many.m2", cwd=folder)
    assert done.stdout.count("[identity-edit]") == 1
    assert "and 8 more like it: lines 4, 7, 10, 13, 16, ..." in done.stdout
    assert check("many.m2", "--every", cwd=folder).stdout.count("[identity-edit]") == 9


def test_usage(folder):
    assert check(cwd=folder).returncode == 2
    assert "Example:" in check("--help", cwd=folder).stdout


@pytest.mark.parametrize("form", ["tsv", "latex", "markdown"])
def test_formats(folder, form):
    done = check("gold.m2", "empty.txt", "--format", form, cwd=folder)
    assert done.returncode == 0
    assert "empty.txt" in done.stdout


def test_conll14(conll14, submissions):
    done = check(
        conll14 / "conll14st-test.m2",
        *sorted(p.name for p in submissions.iterdir()),
        "--json",
        cwd=submissions,
    )
    assert done.returncode == 0
    tables = {t["name"]: t["rows"] for t in json.loads(done.stdout)["tables"]}
    assert [(f["file"], f["line"]) for f in tables["findings"] if f["severity"] == "warning"] == [
        ("NTHU", 38),
        ("NTHU", 165),
        ("NTHU", 167),
        ("POST", 24),
    ]
    gold = tables["files"][0]
    assert (gold["sentences"], gold["tokens"], gold["annotators"], gold["edits"]) == (
        1312,
        30144,
        2,
        5598,
    )


def test_an_empty_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("")
    result = check("empty.txt", cwd=tmp_path)
    assert result.returncode == 2
    assert "[empty-file]" in result.stdout

"""``errata check`` as a user runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import run, tables

REST = "REQUIRED|||-NONE-|||0"
GOLD = f"S He go home .\nA 1 2|||V|||goes|||{REST}\n\nS I is fine .\nA 1 2|||V|||am|||{REST}\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, text in {
        "gold.m2": GOLD,
        "bad.m2": GOLD.replace("1 2", "1 9"),
        "two.m2": f"S He go home .\nS I am .\nA 1 2|||V|||goes|||{REST}\n\n",
        "many.m2": "\n".join(f"S a\nA 0 1|||X|||a|||{REST}\n" for _ in range(9)),
        "s.txt": "He go home .\nI is fine .\n",
        "good.txt": "He goes home .\nI is fine .\n",
        "gap.txt": "He go home !\n\n",
        "short.txt": "He go home .\n",
        "odd.txt": "a\u200bb\n",
        "empty.txt": "",
        "r0.txt": "He goes home .\n-\n",
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("line", "code", "findings"),
    [
        ("--gold gold.m2 good.txt", 0, []),
        ("gold.m2 good.txt", 0, []),
        ("gold.m2 gap.txt", 0, ["warning  gap.txt:2  [empty-line]"]),
        ("gold.m2 gap.txt --strict", 2, ["warning  gap.txt:2  [empty-line]"]),
        (
            "gold.m2 short.txt nowhere.txt",
            2,
            ["error  short.txt:2  [line-count]", "error  nowhere.txt  [unreadable]"],
        ),
        ("--gold gold.m2 --source good.txt s.txt", 2, ["error  good.txt:1  [swapped]"]),
        ("--gold gold.m2 --source good.txt good.txt", 2, ["error  good.txt:1  [other-source]"]),
        ("--gold gold.m2 --source s.txt good.txt", 0, []),
        ("--source s.txt --refs short.txt", 2, ["error  short.txt:2  [line-count]"]),
        ("gold.m2 good.txt other=good.txt", 0, ["[same-text]"]),
        ("gold.m2 good.txt good.txt", 2, ["[same-name]"]),
        ("good.txt odd.txt", 0, ["warning  odd.txt:1  [invisible-character]"]),
        ("empty.txt", 2, ["[empty-file]"]),
        ("many.m2", 0, ["[identity-edit]", "and 8 more like it: lines 4, 7, 10, 13, 16, ..."]),
        ("--gold two.m2 --compatible", 0, ["[several-sources]"]),
    ],
)
def test_findings(files: Path, line: str, code: int, findings: list[str]) -> None:
    done = run(f"check {line}", cwd=files, code=code)
    assert done.stderr == ""
    for finding in findings or ["0 errors, 0 warnings, 0 notes\n"]:
        assert finding in done.stdout
    # --compatible gives a sentence edits of another: the file has no two spaces in them.
    assert "[double-space]" not in done.stdout


def test_all_errors_of_a_gold_file_are_found(files: Path) -> None:
    found = tables("check bad.m2 good.txt", cwd=files, code=2)
    assert [(f["severity"], f["file"], f["line"]) for f in found["findings"]["rows"]] == [
        ("error", "bad.m2", 2),
        ("error", "bad.m2", 5),
    ]
    assert [f["sentences"] for f in found["files"]["rows"]] == [2, 2]

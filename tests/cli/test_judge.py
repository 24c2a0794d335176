"""``errata judge``: rankings that other commands read, costs before, and no key anywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from command import errata, run, tables
from errata.core.cache import cache_folder
from errata.io import read_judgments
from fake_chat import SECRET, FakeChat

FILES = ("--source", "src.txt", "good.txt", "fair.txt", "poor.txt")
# The judge counts words: the more, the better.
TEXTS = {
    "src.txt": ["a b c d e", "f g h i j", "k l m n o"],
    "good.txt": ["a b c d e", "f g h i j", "k l m n o"],
    "fair.txt": ["a b c d", "f g h i", "k l m n o"],
    "poor.txt": ["a b c", "f g h i", "k l"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, lines in TEXTS.items():
        (tmp_path / name).write_text("\n".join([*lines, ""]))
    return tmp_path


def rows(line: str, folder: Path) -> dict[str, Any]:
    return {name: table["rows"] for name, table in tables(line, cwd=folder).items()}


def test_rankings_scores_and_costs(fake: FakeChat, folder: Path) -> None:
    judge = f"judge {' '.join(FILES)}"
    (costs,) = rows(f"{judge} --dry-run", folder)["judge_costs"]
    assert (costs["requests"], costs["kept"]) == (6, 0)
    assert not fake.asked
    done = run(f"{judge} -o j.jsonl --json", cwd=folder)
    assert "note: judge fake-1: 6 requests, about " in done.stderr
    found = {table["name"]: table["rows"] for table in json.loads(done.stdout)["tables"]}
    assert [row["score"] for row in found["judge_scores"]] == pytest.approx([5, 13 / 3, 3])
    assert found["judge_trust"][0]["agreement"] == 1
    assert found["judge_trust"][0]["τ position"] == 0
    assert found["judge_usage"][0]["tokens in"] == 600
    assert [row["seen"] for row in found["judge_positions"]] == [6, 6, 2]
    rankings = list(read_judgments(folder / "j.jsonl"))
    assert len(rankings) == 6
    first, again = rankings[2:4]  # of the second sentence, whose last two outputs are the same
    assert dict(zip(first.groups, first.ranks, strict=True)) == {("good",): 1, ("fair", "poor"): 2}
    assert first.groups == again.groups[::-1]
    ranked = rows("rank j.jsonl", folder)["ranking"]
    assert [row["system"] for row in ranked] == ["good", "fair", "poor"]
    # errata score asks the same questions, and pays nothing for them.
    assert rows(f"score {' '.join(FILES)} -m judge", folder)["judge"][0]["judge"] == 5
    assert len(fake.asked) == 6
    assert rows(f"{judge} --dry-run", folder)["judge_costs"][0]["kept"] == 6


@pytest.mark.parametrize("deed", ["", "500", "401", "prose"])
def test_the_key_is_printed_nowhere(fake: FakeChat, folder: Path, deed: str) -> None:
    """Nor kept: whatever the server answers, and though a traceback is asked for."""
    fake.always = deed
    fake.reports = f"model {SECRET}"
    done = errata(
        *("--traceback", "judge", *FILES, "-v", "-o", "j.jsonl", "--json"),
        *("--signature", "full"),
        cwd=folder,
        code=None,
    )
    assert fake.keys[0] == f"Bearer {SECRET}"
    assert done.returncode == (0 if not deed else 2)
    assert SECRET not in done.stdout + done.stderr
    kept = [path for path in cache_folder().rglob("*") if path.is_file()]
    assert kept or deed not in ("", "prose")
    for path in (*kept, *folder.iterdir()):
        assert SECRET.encode() not in path.read_bytes()

"""``--data``: a name in place of paths, in every command that takes such files."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import errata, refused, run, tables
from errata.datasets import fetch
from errata.datasets.fetch import Collection, Member, Role

SAMPLE = Path(__file__).parents[2] / "src" / "errata" / "datasets" / "sample"


def _stand_in(**roles: tuple[str, ...]) -> Collection:
    members: dict[Role, tuple[Member, ...]] = {
        role: tuple(Member("sample", file) for file in files)  # type: ignore[misc]
        for role, files in roles.items()
    }
    return Collection("toy", "The sample by name", members, base=0)


KNOWN = {
    "toy": _stand_in(
        gold=("gold.m2",),
        outputs=("cautious.txt", "eager.txt", "noisy.txt"),
        judgments=("judgments.jsonl",),
    ),
    "texts": _stand_in(source=("source.txt",), references=("reference0.txt", "reference1.txt")),
}
WORDS = {
    "TEXTS": "--source source.txt --refs reference0.txt --refs reference1.txt",
    "TOY": "--gold gold.m2 cautious.txt eager.txt noisy.txt",
    "FILES": f"--gold {SAMPLE}/gold.m2 "
    + " ".join(f"{SAMPLE}/{name}.txt" for name in ("cautious", "eager", "noisy")),
    "QUICK": "--resamples 0",
}


@pytest.fixture(autouse=True)
def _sample_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def role_files(chosen: Collection, role: Role, progress: object = None) -> tuple[str, ...]:
        return tuple(str(SAMPLE / member.file) for member in chosen.members.get(role, ()))

    monkeypatch.setattr(fetch, "collection", KNOWN.__getitem__)
    monkeypatch.setattr(fetch, "role_files", role_files)


@pytest.mark.parametrize(
    "lines",
    [
        "score --data toy -m m2 QUICK = score TOY -m m2 QUICK",
        # outputs of one's own on the corpus of the set
        "score --data toy -m m2 fluent.txt QUICK = score --gold gold.m2 fluent.txt -m m2 QUICK",
        # a corpus of one's own, the outputs of the set: never half a corpus of each
        "score --data toy TEXTS -m gleu QUICK"
        " = score TEXTS cautious.txt eager.txt noisy.txt -m gleu QUICK",
        "score --data texts -m gleu eager.txt QUICK = score TEXTS -m gleu eager.txt QUICK",
        "rank --data toy = rank judgments.jsonl",
        "agree --data toy = agree judgments.jsonl",
        "plan --data toy = plan judgments.jsonl",
        "meta --data toy -m m2 QUICK = meta --judgments judgments.jsonl TOY -m m2 QUICK",
        "check --data toy = check FILES",
        "references --data texts QUICK = references TEXTS QUICK",
        "judge --data toy = judge TOY",
        "judge --data texts eager.txt = judge --source source.txt eager.txt",
        "stress gleu --data texts QUICK = stress gleu TEXTS QUICK",
        "difficulty --data toy QUICK = difficulty TOY QUICK",
    ],
)
def test_a_name_stands_for_the_files(lines: str, chat_server: object) -> None:
    for word, meaning in WORDS.items():
        lines = lines.replace(word, meaning)
    named, given = (
        [table["rows"] for table in tables(f"{line} -q", cwd=SAMPLE).values()]
        for line in lines.split(" = ")
    )
    assert named == given


def test_a_name_stands_for_files_to_convert() -> None:
    for named, given in (("toy --only-source", "gold.m2 --only-source"), ("texts", WORDS["TEXTS"])):
        text = run(f"convert {given}", cwd=SAMPLE).stdout
        assert run(f"convert --data {named}", cwd=SAMPLE).stdout == text


def test_judgments_are_counted_as_the_set_does(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Collection("one", "", KNOWN["toy"].members, base=1)
    monkeypatch.setattr(fetch, "collection", lambda name: counted)
    # The sample counts from 0, and there is no sentence -1.
    assert "sentence" in errata("rank", "--data", "one", "-q", cwd=SAMPLE, code=2).stderr
    errata("rank", "--data", "one", "--base", 0, "-q", cwd=SAMPLE)


def test_a_name_that_adds_nothing_is_refused() -> None:
    assert not refused(
        """
        score --data toy --sample | --data ... --sample
        rank --data toy judgments.jsonl | nothing
        rank --data texts | source, references
        """,
        SAMPLE,
    )

"""``--data``: a name in place of paths, in every command that takes such files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from command import errata
from errata.datasets import collections
from errata.datasets.collections import Collection, Member, Role

SAMPLE = Path(__file__).parents[2] / "src" / "errata" / "datasets" / "sample"
OUTPUTS = ("cautious", "eager", "noisy")


def _stand_in(**roles: tuple[str, ...]) -> Collection:
    members: dict[Role, tuple[Member, ...]] = {
        role: tuple(Member("sample", file) for file in files)  # type: ignore[misc]
        for role, files in roles.items()
    }
    return Collection("toy", "The sample by name", members, base=0)


KNOWN = {
    "toy": _stand_in(
        gold=("gold.m2",),
        outputs=tuple(f"{name}.txt" for name in OUTPUTS),
        judgments=("judgments.jsonl",),
    ),
    "texts": _stand_in(source=("source.txt",), references=("reference0.txt", "reference1.txt")),
}


@pytest.fixture(autouse=True)
def _sample_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def role_files(chosen: Collection, role: Role, progress: object = None) -> tuple[str, ...]:
        return tuple(str(SAMPLE / member.file) for member in chosen.members.get(role, ()))

    monkeypatch.setattr(collections, "collection", KNOWN.__getitem__)
    monkeypatch.setattr(collections, "role_files", role_files)


def _tables(*arguments: object) -> Any:
    return json.loads(errata(*arguments, "--json", "-q", cwd=SAMPLE).stdout)["tables"]


FILES = [f"{name}.txt" for name in OUTPUTS]
TEXTS = ("--source", "source.txt", "--refs", "reference0.txt", "--refs", "reference1.txt")
QUICK = ("--resamples", 0)


@pytest.mark.parametrize(
    ("by_name", "by_path"),
    [
        (
            ("score", "--data", "toy", "-m", "m2", *QUICK),
            ("score", "--gold", "gold.m2", *FILES, "-m", "m2", *QUICK),
        ),
        (  # outputs of one's own on the corpus of the set
            ("score", "--data", "toy", "-m", "m2", "fluent.txt", *QUICK),
            ("score", "--gold", "gold.m2", "fluent.txt", "-m", "m2", *QUICK),
        ),
        (  # a corpus of one's own, the outputs of the set: never half a corpus of each
            ("score", "--data", "toy", *TEXTS, "-m", "gleu", *QUICK),
            ("score", *TEXTS, *FILES, "-m", "gleu", *QUICK),
        ),
        (
            ("score", "--data", "texts", "-m", "gleu", "eager.txt", *QUICK),
            ("score", *TEXTS, "-m", "gleu", "eager.txt", *QUICK),
        ),
        (("rank", "--data", "toy"), ("rank", "judgments.jsonl")),
        (("agree", "--data", "toy"), ("agree", "judgments.jsonl")),
        (("plan", "--data", "toy"), ("plan", "judgments.jsonl")),
        (
            ("meta", "--data", "toy", "-m", "m2", *QUICK),
            ("meta", "--judgments", "judgments.jsonl", "--gold", "gold.m2", *FILES, "-m", "m2")
            + QUICK,
        ),
        (
            ("check", "--data", "toy"),
            ("check", "--gold", SAMPLE / "gold.m2", *(SAMPLE / file for file in FILES)),
        ),
        (("convert", "--data", "toy", "--only-source"), ("convert", "gold.m2", "--only-source")),
        (("convert", "--data", "texts"), ("convert", *TEXTS)),
        (("refs", "--data", "texts", *QUICK), ("refs", *TEXTS, *QUICK)),
        (("judge", "--data", "toy"), ("judge", "--gold", "gold.m2", *FILES)),
        (
            ("judge", "--data", "texts", "eager.txt"),
            ("judge", "--source", "source.txt", "eager.txt"),
        ),
        (("stress", "gleu", "--data", "texts", *QUICK), ("stress", "gleu", *TEXTS, *QUICK)),
        (
            ("difficulty", "--data", "toy", *QUICK),
            ("difficulty", "--gold", "gold.m2", *FILES, *QUICK),
        ),
    ],
    ids=lambda arguments: " ".join(map(str, arguments[:3])) if "--data" in arguments else "paths",
)
def test_a_name_stands_for_the_files(
    by_name: tuple[object, ...], by_path: tuple[object, ...], chat_server: object
) -> None:
    if by_name[0] == "convert":
        named, given = (errata(*line, cwd=SAMPLE).stdout for line in (by_name, by_path))
        assert named == given
    else:
        assert [table["rows"] for table in _tables(*by_name)] == [
            table["rows"] for table in _tables(*by_path)
        ]


def test_judgments_are_counted_as_the_set_does(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Collection("one", "", KNOWN["toy"].members, base=1)
    monkeypatch.setattr(collections, "collection", lambda name: counted)
    refused = errata("rank", "--data", "one", "-q", cwd=SAMPLE, code=2).stderr
    assert "sentence" in refused  # the sample counts from 0, and there is no sentence -1
    errata("rank", "--data", "one", "--base", 0, "-q", cwd=SAMPLE)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("score", "--data", "toy", "--sample"), "--data and --sample"),
        (("rank", "--data", "toy", "judgments.jsonl"), "nothing that is missing"),
        (("rank", "--data", "texts"), "it has source, references"),
    ],
)
def test_a_name_that_adds_nothing_is_refused(arguments: tuple[str, ...], problem: str) -> None:
    assert problem in errata(*arguments, cwd=SAMPLE, code=2).stderr

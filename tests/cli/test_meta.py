"""``errata meta``: metrics judged, in tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from command import run, tables
from errata import parse
from errata.core.correlation import pearson
from errata.data import Judgment
from errata.datasets import sample_corpus, sample_systems
from errata.io.judgments import write_judgments
from errata.scoring import evaluate

JUDGED = "meta --judgments judgments.jsonl --gold gold.m2 --resamples 20"
FOUR = "-m m2 -m gleu cautious.txt eager.txt fluent.txt noisy.txt"  # judgments know five


def rows(line: str, *more: object, **options: Any) -> dict[str, Any]:
    return {name: table["rows"] for name, table in tables(line, *more, **options).items()}


@pytest.mark.parametrize("word", ["--without", "--hide"])
def test_a_system_is_left_out_alike_in_rank_and_meta(word: str) -> None:
    """--without ranks as if it had never been judged, --hide ranks it and does not look at it."""

    def ranked(more: str = "") -> dict[str, float]:
        (table,) = tables(f"rank --sample --resamples 40 {more}").values()
        assert (f"{word[2:]}:noisy" in table["signature"]) == bool(more)
        return {row["system"]: row["Expected Wins"] for row in table["rows"]}

    everybody, people = ranked(), ranked(f"{word} noisy")
    assert people.keys() == everybody.keys() - {"noisy"}
    assert (people == {name: everybody[name] for name in people}) == (word == "--hide")
    line = f"meta --sample -m gleu --ranker expected_wins --resamples 0 --level system {word} noisy"
    table = tables(line)["system_level"]
    metric = evaluate.evaluate(parse("gleu"), sample_corpus(), sample_systems(), resamples=0)
    names = sorted(people)
    expected = pearson([people[n] for n in names], [metric[n] for n in names])
    assert table["rows"][0]["r"] == pytest.approx(float(expected), abs=1e-12)
    assert f"{word[2:]}:noisy" in table["signature"]
    line = "meta --sample -m m2 --resamples 0"
    plain, fewer = tables(line), tables(f"{line} {word} noisy")
    pairs = [each["sentence_level"]["rows"][0]["pairs"] for each in (fewer, plain)]
    assert pairs[0] < pairs[1]
    assert "noisy" not in str([each["rows"] for each in fewer.values()])


def test_intervals_hold_their_values_and_signatures_name_the_inputs(sample: Path) -> None:
    found = tables(f"{JUDGED} {FOUR} --common --window 3", cwd=sample)
    for row in found["system_level"]["rows"]:
        low, high = row["r 95 %"]
        assert low <= row["r"] <= high
    for row in found["sentence_level"]["rows"]:
        low, high = row["95 % interval"]
        assert low <= row["value"] <= high
    for name, table in found.items():
        level = "sentence" if "sentence" in name or name.endswith("_confusion") else "system"
        assert table["signature"].startswith(f"level:{level} | ")
        for part in ("people: ", "members:all", "metric: m2(beta=0.5", "metric: gleu(n=4"):
            assert part in table["signature"], name
    assert "over:systems | resamples:20 | seed:0" in found["system_level"]["signature"]
    assert "people: expected_wins(" in found["pairs"]["signature"]
    assert "unit:sentences | resamples:20 | seed:0" in found["m2_confusion"]["signature"]


def test_a_system_that_only_a_metric_knows_is_refused_at_sentence_level(sample: Path) -> None:
    outputs = "-m gleu cautious.txt eager.txt fluent.txt niosy=noisy.txt"
    line = f"{JUDGED} --level sentence --signature full {outputs}"
    assert "niosy" in run(line, cwd=sample, code=2).stderr
    assert "hide:noisy" in run(f"{line} --common", cwd=sample).stdout
    assert "no metric scored noisy" in run(f"{line} --hide niosy", cwd=sample).stdout
    one = run(f"{JUDGED} --level sentence -m gleu eager.txt", cwd=sample, code=2)
    assert "two or more" in one.stderr


def test_means_of_sentence_scores_cause_a_note(tmp_path: Path) -> None:
    """A file of sentence scores has no corpus scores; their means are something else."""
    by_sentence = run("score --sample -m gleu --by-sentence --json").stdout
    (tmp_path / "gleu.json").write_text(by_sentence)
    (tmp_path / "people.json").write_text(run("rank --sample --json").stdout)
    done = run("meta --human people.json --scores gleu.json", cwd=tmp_path)
    assert "note: gleu: systems have the means of sentence scores" in done.stdout
    assert "the means of" not in run("meta --sample -m gleu").stdout


def test_judgments_belong_to_the_texts_that_people_saw(tmp_path: Path) -> None:
    """In tokens, texts that differ in spaces alone are the same, and were judged separately."""
    texts = {"A": "He don't go .", "B": "He do n't go .", "C": "He don't goes ."}
    for name, text in {"s": "He do n't went .", "r": "He do n't go .", **texts}.items():
        (tmp_path / f"{name}.txt").write_text(f"{text}\n" * 3)
    groups = (("A",), ("B",), ("C",))
    write_judgments([Judgment("ann", i, groups, (1, 2, 3)) for i in range(3)], tmp_path / "j.jsonl")
    line = "--source s.txt --refs r.txt --tokens characters --judgments j.jsonl -m gleu"
    line += " --resamples 0 A.txt B.txt C.txt"
    for command in ("meta --outputs A.txt --level system", "references --set one=r.txt"):
        found = tables(f"{command} {line}", cwd=tmp_path)
        assert "tokens:characters" in str(found)

"""Several corpora: their statistics, ranks and how stable they are; the command."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from command import errata
from errata.core.correlation import kendall_w, spearman
from errata.core.errors import InputError
from errata.corpora import (
    AcrossCorpora,
    corpus_statistics,
    first_place_changes,
    group_by_sources,
    ranking_stability,
)
from errata.data import Corpus, Edit, Reference, Scores
from errata.edits import extract
from errata.logs import LogPart, count_log_edits, edits_per_sentence


@given(arrays(np.int64, (4, 5), elements=st.integers(0, 99), unique=True))
def test_without_ties_w_is_the_mean_correlation_of_ranks(table: Any) -> None:
    pairs = [float(spearman(a, b)) for k, a in enumerate(table) for b in table[:k]]
    assert float(kendall_w(table)) == pytest.approx((3 * np.mean(pairs) + 1) / 4)


def test_w_with_ties_as_in_a_textbook() -> None:
    """Siegel & Castellan's correction, by hand: ranks 1 2.5 2.5 4 and 1 2 3 4."""
    sums = np.array([2, 4.5, 5.5, 8])
    s = ((sums - 5) ** 2).sum()
    assert float(kendall_w([[4, 3, 3, 1], [4, 3, 2, 1]])) == pytest.approx(
        12 * s / (4 * 60 - 2 * 6)
    )


def _scores(values: dict[str, float], *, resampled: Any = None) -> Scores:
    drawn = None if resampled is None else np.array(resampled, float)
    return Scores("m()", tuple(values), np.array([*values.values()]), resampled=drawn)


def test_systems_that_a_corpus_lacks_are_named_and_not_ranked_there() -> None:
    one = _scores({"A": 3.0, "B": 2.0, "C": 1.0})
    two = _scores({"B": 3.0, "A": 2.0})
    across = AcrossCorpora(("one", "two"), (one, two))
    assert across.systems == ("A", "B", "C")
    assert across.missing_corpora() == {"C": ("two",)}
    assert [across.rank_on_corpus(k, "C") for k in (0, 1)] == [3, None]
    assert across.score_on_corpus(1, "C", 0.95) is None
    found = ranking_stability(across)
    assert (found.systems, found.w.value, found.changes.value) == (2, 0.0, 1.0)
    assert found.first == {"one": ("A",), "two": ("B",)}
    alone = ranking_stability(AcrossCorpora(("one", "two"), (one, _scores({"D": 1.0}))))
    assert np.isnan(alone.w.value)
    assert alone.systems == 0


def test_first_places_that_tie_are_shared() -> None:
    assert float(first_place_changes(np.array([[1.0, 1.0], [2.0, 1.0]]))) == 0
    assert float(first_place_changes(np.array([[np.nan, 1.0], [2.0, 1.0]]))) == 1
    assert float(first_place_changes(np.array([[np.nan, np.nan], [2.0, 1.0]]))) == 1


def test_resamples_are_paired_only_where_sentences_are_the_same() -> None:
    """Two corpora with one seed: drawn alike, the first place would never change."""
    drawn = [[1.0, 0.0], [0.0, 1.0]] * 50
    one, two = (_scores({"A": 0.5, "B": 0.4}, resampled=drawn) for _ in range(2))
    same, other = (AcrossCorpora(("x", "y"), (one, two), alike) for alike in ((0, 0), (0, 1)))
    assert ranking_stability(same).changes_drawn == 0
    assert ranking_stability(other).changes_drawn == 1
    a, b = Corpus.from_texts(["a b"]), Corpus.from_texts(["c d"])
    assert group_by_sources([a, b, a]) == (0, 1, 0)


def test_statistics_of_a_corpus() -> None:
    edits = (Edit(1, 2, "goes", "R:VERB:SVA"), Edit(3, 3, "now", "M:ADV"))
    overlapping = (Edit(0, 2, "x", "R"), Edit(1, 3, "y", "R"))
    corpus = Corpus(
        ("He go home .", "Fine ."),
        ((Reference(0, edits), Reference(1, overlapping)), (Reference(0, ()),)),
    )
    facts = corpus_statistics(corpus, tier=1)
    assert (facts.sentences, facts.tokens, facts.read_tokens) == (2, 6, 10)
    assert (facts.fewest_references, facts.most_references, facts.uncarried) == (1, 2, 1)
    assert facts.error_rate == pytest.approx(2 / 6)
    assert (facts.changed, facts.edits, facts.kinds) == (0.5, 4, {"R": 3, "M": 1})
    assert facts.edits_per_100_tokens == pytest.approx(40)
    nothing = corpus_statistics(Corpus.from_texts(["a b"]))
    assert np.isnan([nothing.error_rate, nothing.edits_per_100_tokens]).all()


def _tables(*arguments: object, **given: Any) -> dict[str, Any]:
    found = json.loads(errata("corpora", *arguments, "--json", **given).stdout)["tables"]
    return {table["name"]: table for table in found}


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    for name, systems in (("one", "AB"), ("two", "AC"), ("three", "")):
        (tmp_path / name / "outputs").mkdir(parents=True)
        (tmp_path / name / "gold.m2").write_text(
            "S He go home .\nA 1 2|||V|||goes|||REQUIRED|||-NONE-|||0\n\n"
        )
        for system in systems:
            (tmp_path / name / "outputs" / f"{system}.txt").write_text("He goes home .\n")
        if not systems:
            (tmp_path / name / "outputs").rmdir()
    found = _tables("one", "two", "three", "-m", "m2", "--resamples", 0, cwd=tmp_path)
    assert "note: three has no outputs" in found["corpora"]["caption"]
    assert "note: no output on two: B" in found["m2"]["caption"]
    assert found["m2"]["rows"][1]["two"] is None or found["m2"]["rows"][2]["two"] is None
    assert "without a part in this: B, C" in found["stability"]["caption"]
    for name in "BD":
        (tmp_path / "one" / "outputs" / f"{name}.txt").write_text("He goes home .\n")
    found = _tables("one", "two", "-m", "m2", "--resamples", 0, cwd=tmp_path)
    assert "note: no output on two: B, D\nnote: no output on one: C" in found["m2"]["caption"]
    assert "share fewer than two systems" in found["stability"]["caption"]
    (tmp_path / "two" / "outputs" / "B.txt").write_text("He goes home .\n")
    found = _tables("one", "two", "-m", "m2", "--resamples", 0, cwd=tmp_path)["stability"]
    assert found["rows"][0]["W"] is None
    assert "note: m2: all systems tie everywhere, so that W is undefined" in found["caption"]
    (tmp_path / "one" / "outputs" / "D.txt").unlink()
    (tmp_path / "two" / "outputs" / "B.txt").unlink()
    done = errata("corpora", "three", "-m", "m2", cwd=tmp_path, code=2)
    assert "--metric goes with outputs to score" in done.stderr
    (tmp_path / "two" / "outputs" / "C.txt").unlink()
    assert {*_tables("three", cwd=tmp_path)} == {"corpora", "kinds"}
    for more, said in (
        (("--missing", "<none>"), "--missing goes with reference texts"),
        (("-m", "m2", "--against", "m2"), "m2 is compared with itself"),
        (("-m", "m2", "-m", "m2"), "m2 is given twice"),
        (("--extract", "aligned"), "no metric here counts edits that are found"),
        (("-m", "difficulty(leave_out=True)"), "difficulty on two: difficulty: leave_out needs"),
    ):
        assert said in errata("corpora", "one", "two", *more, cwd=tmp_path, code=2).stderr
    assert "no corpus is named" in errata("corpora", code=2).stderr


def test_public_systems_of_gotou_et_al(data_sets: Path) -> None:
    """Tables 2 and 3: order and arrows as printed, values within 0.6; Table 1's JFLEG."""
    (weights,) = data_sets.glob("gotutiyan/GTS/*/weight_files/conll14_8sys.txt")
    f, a = (f"difficulty(weights='{weights}', measure='{measure}')" for measure in "FA")
    found = _tables(
        *("conll14-public", "--annotator", 0, "-m", f, "-m", a, "--against", "m2"),
        *("--resamples", 0, "--kinds", 0),
        env={"ERRATA_DATA": str(data_sets)},
    )
    published = {
        f: {"kiyono19": (26.09, 0), "junczys18": (21.40, 1), "ge18": (19.14, -1),
            "junczys16": (15.76, 0)},
        a: {"kiyono19": (25.19, 0), "junczys16": (24.10, 2), "ge18": (23.76, -1),
            "junczys18": (22.98, -1)},
    }  # fmt: skip
    weighted = [table for name, table in found.items() if name.startswith("difficulty")]
    for table, printed in zip(weighted, published.values(), strict=True):
        assert [row["system"] for row in table["rows"]] == [*printed]
        for row in table["rows"]:
            value, change = printed[row["system"]]
            assert 100 * row["conll14-public"]["value"] == pytest.approx(value, abs=0.6)
            assert row["conll14-public change"] == change


def test_over_two_corpora_the_first_place_stays_by_weighted_f_only(data_sets: Path) -> None:
    found = _tables(
        *("conll14-public", "jfleg", "--annotator", 0, "-m", "m2", "-m", "difficulty"),
        *("--resamples", 0, "--kinds", 0, "-q"),
        env={"ERRATA_DATA": str(data_sets)},
    )
    facts = {row["corpus"]: row for row in found["corpora"]["rows"]}
    assert facts["jfleg"]["sentences"] == 747
    assert round(facts["jfleg"]["error rate"], 2) == 0.20  # Gotou et al., Table 1
    assert round(facts["conll14-public"]["error rate"], 3) == 0.107  # printed 0.12
    rows = {row["metric"]: row for row in found["stability"]["rows"]}
    assert (rows["m2"]["first changes"], rows["difficulty"]["first changes"]) == (1, 0)
    assert rows["difficulty"]["first places"] == "kiyono19"
    assert rows["m2"]["W"] == pytest.approx(0.9)


TEXT = st.lists(st.sampled_from(["a", "go", "goes", "dog", "dogs", "."]), max_size=4).map(" ".join)
ROW = st.tuples(
    TEXT,
    TEXT,
    st.sampled_from([None, True, False]),
    st.sampled_from([None, True, False]),
    st.sampled_from(["de", "en"]),
)
LOGS = st.lists(ROW, max_size=12)


def counted(rows):
    columns = list(zip(*rows, strict=True)) if rows else [()] * 5
    return count_log_edits(
        columns[0], columns[1], accepted=columns[2], clean=columns[3], slices={"locale": columns[4]}
    )


def slow(rows, kind: str | None = None) -> LogPart:
    edits = [
        [e for e in extract(source, output) if kind in (None, e.kind)]
        for source, output, *_ in rows
    ]
    pairs = zip(rows, edits, strict=True)
    touched = [r for r, found in pairs if (found if kind else r[0].split() != r[1].split())]
    return LogPart(
        sentences=len(rows),
        changed=len(touched),
        edits=sum(map(len, edits)),
        squares=sum(len(found) ** 2 for found in edits),
        clean=sum(row[3] is True for row in rows),
        alarms=sum(row[3] is True for row in touched),
        answered=sum(row[2] is not None for row in touched),
        accepted=sum(row[2] is True for row in touched),
    )


@given(LOGS)
def test_every_figure_is_the_slow_count(rows) -> None:
    counts = counted(rows)
    assert counts.totals() == slow(rows)
    kinds = {e.kind for source, output, *_ in rows for e in extract(source, output)}
    assert counts.totals_by_kind().keys() == kinds
    for kind, part in counts.totals_by_kind().items():
        assert part == slow(rows, kind)
    for value in {row[4] for row in rows}:
        mine = [row for row in rows if row[4] == value]
        assert counts.totals("locale", value) == slow(mine)
        for kind, part in counts.totals_by_kind("locale", value).items():
            assert part == slow(mine, kind)
    order = [(-part.edits, kind) for kind, part in counts.totals_by_kind().items()]
    assert order == sorted(order)


@given(LOGS, st.data())
def test_parts_add_up_to_the_whole(rows, data) -> None:
    cut = data.draw(st.integers(0, len(rows)))
    whole, parts = counted(rows), counted(rows[cut:]) + counted(rows[:cut])
    assert whole.totals() == parts.totals()
    assert whole.totals_by_kind() == parts.totals_by_kind()
    assert [whole.totals("locale", v) for v in whole.slice_values("locale")] == [
        parts.totals("locale", v) for v in parts.slice_values("locale")
    ]


def test_the_interval_of_edits_is_that_of_the_bootstrap() -> None:
    rng = np.random.default_rng(5)
    numbers = rng.poisson(0.7, 400)
    sources = ["a . b . c . d . e . f ."] * 400
    words = ["a", "b", "c", "d", "e", "f"]
    outputs = [" . ".join([*(f"x{w}y" for w in words[:n]), *words[n:]]) + " ." for n in numbers]
    part = count_log_edits(sources, outputs).totals()
    assert part.edits == numbers.sum()
    means = rng.choice(numbers, (4000, 400)).mean(axis=1)
    value, low, high = edits_per_sentence(part)
    assert value == numbers.mean()
    assert np.allclose([low, high], np.percentile(means, [2.5, 97.5]), atol=0.01)
    assert math.isnan(edits_per_sentence(count_log_edits([], []).totals()).value)


def test_what_does_not_add_up() -> None:
    with pytest.raises(InputError, match="1 values of 'clean' for 2 sentences"):
        count_log_edits(["a", "b"], ["a", "b"], clean=[True])
    one = count_log_edits(["a"], ["a"])
    other = type(one)(one.counts, "errant")
    with pytest.raises(InputError, match="by aligned and by errant do not add up"):
        one + other
    many = count_log_edits(["a"] * 201, ["a"] * 201, slices={"user": list(map(str, range(201)))})
    with pytest.raises(InputError, match="'user' has more than 200 different values"):
        one + many

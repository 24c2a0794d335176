"""Comparisons against a slow count, sacrebleu's tests, and what must hold of any two systems."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import errata
import slow_comparison as slow
from errata.comparison.compare import Comparison, compare, score_metric
from errata.comparison.edits import JudgedEdit, JudgedSentence, edit_changes, judge_edits
from errata.comparison.paired_tests import TwoSystems, draw_swaps, swap_p_values
from errata.comparison.tables import comparison_summary, comparison_tables
from errata.core.errors import InputError
from errata.data import Corpus, Edit, Hypotheses, Reference
from errata.datasets import sample_corpus, sample_systems
from errata.metrics import parse
from errata.metrics.errant import Edits
from errata.metrics.errant_by_type import (
    counts_by_kind,
    scores_by_type,
    source_words,
    with_comparable_types,
)
from errata.scoring.evaluate import evaluate, resample_weights
from errata.tables.table import render

STATES = ("right", "wrong", "missed")
WORDS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=5).map(" ".join)


def moves(found: Comparison) -> Counter[tuple[str | None, str | None]]:
    return Counter((change.before, change.after) for change in found.changes)


def check_against_slow(corpus: Corpus, old: Hypotheses, new: Hypotheses) -> None:
    (found,) = compare((), corpus, old, [new], resamples=0, trials=0, guard=False)
    expected = slow.compared(corpus, old, new)
    assert moves(found) == expected.states
    counted = found.counts._asdict()
    for (before, after), name in {
        **{(a, b): f"{a}_{b}" for a in STATES for b in STATES if a != b},
        (None, "wrong"): "new_alarms",
        ("wrong", None): "alarms_gone",
    }.items():
        assert counted.pop(name) == expected.states[before, after]
    assert not counted
    by_kind = Counter((change.kind, change.before, change.after) for change in found.changes)
    assert by_kind == expected.by_kind
    assert {each.kind: each.errors for each in found.kinds if each.errors} == expected.errors
    for part in found.slices:
        assert part.column == "length"
        mine = {k[1:]: n for k, n in expected.by_length.items() if k[0] == part.value}
        assert sum(part.changes) == sum(mine.values())
        assert part.changes.gained == sum(n for k, n in mine.items() if k[1] == "right")
    assert {each.sentence: each.gain for each in found.sentences} == expected.gains
    assert [abs(each.gain) for each in found.sentences] == sorted(
        map(abs, expected.gains.values()), reverse=True
    )
    for kind in found.kinds:
        for system, side in ((old, "old"), (new, "new")):
            (tp, fp, fn), success, positive = slow.alone(corpus, system, kind.kind)
            figures = {name: getattr(each, side) for name, each in kind.figures.items()}
            assert figures["P"] == (tp / (tp + fp) if tp + fp else 1.0)
            assert figures["R"] == (tp / (tp + fn) if tp + fn else 1.0)
            assert figures["success"] == pytest.approx(
                success / positive if positive else np.nan, nan_ok=True, abs=1e-15
            )
            words = sum(len(source.split()) for source in corpus.sources)
            assert figures["false alarms"] == pytest.approx(1000 * fp / words, rel=1e-12)
    touched = sum(new.sentences[i] != corpus.sources[i] for i in expected.clean)
    rates = {each.label: each.new for each in found.rates}
    if expected.clean:
        assert rates["clean sentences touched"] == touched / len(expected.clean)


def test_sample_equals_a_slow_count() -> None:
    systems = sample_systems()
    for new in systems[1:3]:
        check_against_slow(sample_corpus(), systems[0], new)


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_any_two_systems(data: st.DataObject) -> None:
    """As a slow count has it; nothing changes against oneself; swapped, every sign turns."""
    sources = data.draw(st.lists(WORDS, min_size=1, max_size=4))
    texts = st.lists(WORDS, min_size=len(sources), max_size=len(sources))
    corpus = Corpus.from_texts(sources, data.draw(st.lists(texts, min_size=1, max_size=3)))
    a, b = (Hypotheses(name, tuple(data.draw(texts))) for name in "AB")
    check_against_slow(corpus, a, b)
    drawn = {"resamples": 20, "trials": 40, "guard": False}
    twin = Hypotheses("twin", a.sentences)
    (same,) = compare(["edits", "gleu"], corpus, a, [twin], **drawn)
    every = [*same.differences, *same.rates, *(f for k in same.kinds for f in k.figures.values())]
    assert {each.p for each in every if not np.isnan(each.difference.value)} <= {1.0}
    assert {each.difference.value for each in every if each.old == each.old} <= {0.0}
    assert same.changes == same.sentences == ()
    assert not any(same.counts)
    (one,) = compare(["edits", "gleu"], corpus, a, [b], **drawn)
    (other,) = compare(["edits", "gleu"], corpus, b, [a], **drawn)
    turned = Counter({(after, before): n for (before, after), n in moves(one).items()})
    assert turned == moves(other)
    for mine, theirs in zip(
        one.differences + one.rates, other.differences + other.rates, strict=True
    ):
        low, high = mine.difference[1:]
        assert np.allclose(
            (mine.difference.value, low, high, mine.p),
            (-theirs.difference.value, -theirs.difference.high, -theirs.difference.low, theirs.p),
            equal_nan=True,
        )
    assert {s.sentence: s.gain for s in one.sentences} == {
        s.sentence: -s.gain for s in other.sentences
    }


def planted(loss: float, sentences: int = 1200) -> tuple[Corpus, list[str], list[str], list[str]]:
    """A corpus in four slices, and two outputs: of one slice the new one corrects less."""
    rng = random.Random(7)
    sources = [f"He go to w{rng.randrange(50)} on day {i} ." for i in range(sentences)]
    right = [source.replace(" go ", " goes ") for source in sources]
    corpus = Corpus.from_texts(sources, [right])
    slices = [("email", "chat", "essay", "report")[i % 4] for i in range(sentences)]

    def output(share: Callable[[str], float]) -> list[str]:
        return [
            good if rng.random() < share(part) else bad
            for bad, good, part in zip(sources, right, slices, strict=True)
        ]

    return (
        corpus,
        slices,
        output(lambda part: 0.7),
        output(lambda part: 0.7 - loss if part == "email" else 0.72),
    )


def test_a_planted_regression_is_the_answer() -> None:
    corpus, slices, old, new = planted(0.25)
    (found,) = compare(
        ["m2", "bleu"], corpus, {"v1": old}, {"v2": new}, slices={"domain": slices}, trials=2000
    )
    assert found.answer is not None
    assert found.answer.outcome in ("worse_in", "worse")
    assert "email" in found.answer.sentence
    assert {part.name for part in found.parts} >= {"email", "chat", "essay", "report"}
    # The numbers of the sentence stand in the tables.
    first = render(comparison_summary(found))
    email = next(part for part in found.parts if part.name == "email")
    assert f"{email.difference.value:+.1f}" in first
    assert first.startswith(found.answer.sentence)
    data = json.loads(render(comparison_tables(found), "json"))["tables"][0]
    assert data["answer"] == found.answer._asdict()


def test_answers_need_intervals_tests_and_points() -> None:
    corpus, _, old, new = planted(0.0, 200)
    for more in ({"resamples": 0}, {"trials": 0}):
        (found,) = compare("m2", corpus, {"v1": old}, {"v2": new}, **more)
        assert found.answer is None
    (found,) = compare("m2", corpus, {"v1": old}, {"v2": old}, trials=10, resamples=10)
    assert found.answer is not None
    assert found.answer.outcome == "too_few"
    (found,) = compare((), corpus, {"v1": old}, {"v2": new}, trials=10, resamples=10)
    assert found.answer is None


def test_bleu_p_values_are_those_of_sacrebleu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Approximate randomisation digit for digit; and its bootstrap p of our resamples."""
    from sacrebleu.metrics.bleu import BLEU as SacreBLEU
    from sacrebleu.significance import PairedTest

    corpus, systems = sample_corpus(), sample_systems()
    # sacrebleu wants as many references of every sentence.
    refs = [
        [r.corrected(s) for r in rs[:2]]
        for s, rs in zip(corpus.sources, corpus.references, strict=False)
    ]
    corpus = Corpus.from_texts(corpus.sources, zip(*refs, strict=True))
    monkeypatch.setenv("SACREBLEU_SEED", "7")
    names = [(each.system, each.sentences) for each in systems[:3]]
    texts = [list(column) for column in zip(*refs, strict=True)]

    def theirs(test: str, trials: int) -> list[float]:
        scorer = {"BLEU": SacreBLEU(tokenize="none", references=texts)}
        _, scores = PairedTest(names, scorer, None, test_type=test, n_samples=trials)()
        return [each.p_value for each in scores["BLEU"][1:]]

    found = compare("bleu", corpus, systems[0], systems[1:3], trials=999, rng=7)
    assert [each.differences[0].p for each in found] == theirs("ar", 999)
    scores = errata.evaluate("bleu", corpus, systems[:3], resamples=400, rng=7)
    assert scores.resampled is not None
    for s, p in enumerate(theirs("bs", 400), start=1):
        apart = np.abs(scores.resampled[:, s] - scores.resampled[:, 0])
        larger = (apart - apart.mean() > abs(scores.values[s] - scores.values[0])).sum()
        assert (1 + larger) / (1 + 400) == p


@pytest.mark.parametrize("block", [7 * 40, 1])
def test_swaps_in_blocks_are_one_draw(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    whole = np.random.default_rng(3).integers(2, size=(100, 7), dtype=bool)
    monkeypatch.setattr("errata.core.stats.BLOCK", block)
    blocks = list(draw_swaps(7, 100, 3))
    assert len(blocks) == 4
    assert (np.concatenate(blocks) == whole).all()


def test_p_values_by_hand() -> None:
    """All swaps of all sentences: the share that differs at least as much, each with +1."""
    rng = np.random.default_rng(0)
    old, new = rng.integers(0, 3, (5, 3)).astype(float), rng.integers(0, 3, (5, 3)).astype(float)
    metric = parse("edits")
    pair = TwoSystems(lambda totals: {"F": metric.score(totals)}, old, new)
    found = swap_p_values({"pair": pair}, 5, trials=200, rng=1)["pair"]["F"]
    seen = abs(metric.score(new.sum(0)) - metric.score(old.sum(0)))
    hits = 0
    for coins in np.random.default_rng(1).integers(2, size=(200, 5), dtype=bool):
        a = sum(new[i] if coin else old[i] for i, coin in enumerate(coins))
        b = sum(old[i] if coin else new[i] for i, coin in enumerate(coins))
        hits += abs(metric.score(b) - metric.score(a)) >= seen - 1e-12
    assert found == (1 + hits) / 201


def test_equal_sums_are_equal_at_any_scale() -> None:
    """Where one sentence differs, a swap turns the difference round and nothing else: p is 1."""
    for old in np.random.default_rng(0).random((50, 3, 1)):
        new = old.copy()
        new[0] *= 0.1
        pair = TwoSystems(lambda t: {"x": 1e6 * t[..., 0]}, old, new)
        assert swap_p_values({"pair": pair}, 3, trials=20)["pair"]["x"] == 1.0


def test_alarms_are_counted_as_often_as_they_stand() -> None:
    """An edit about several tokens stands once for each of them (mode="token_detection")."""
    alarm = JudgedEdit(Edit(0, 2, "x"), "R:OTHER", "wrong")
    thrice, twice = (JudgedSentence(0, (alarm,) * 3), JudgedSentence(0, (alarm,) * 2))
    gone = edit_changes([thrice], [twice])
    assert [change.name for change in gone] == ["false alarm gone"]
    assert [change.name for change in edit_changes([twice], [thrice])] == ["new false alarm"]


def test_holm_over_metrics_and_over_kinds() -> None:
    """Step by step: the smallest p times how many there are, and never less than the one before."""

    def holm(p: list[float]) -> list[float]:
        left = {k: value for k, value in enumerate(p) if value == value}
        found, most = [float("nan")] * len(p), 0.0
        while left:
            k = min(left, key=lambda j: (left[j], j))
            most = max(most, min(1.0, left[k] * len(left)))
            found[k] = most
            del left[k]
        return found

    systems = sample_systems()
    compared = compare(["m2", "gleu", "bleu", "edits"], sample_corpus(), systems[0], systems[1:3])
    firsts = [found.differences[0] for found in compared]  # one family over the systems
    assert [each.p_holm for each in firsts] == holm([each.p for each in firsts])
    for found in compared:
        families = [found.differences[1:], found.rates]
        families += [[k.figures[name] for k in found.kinds] for name in ("F0.5", "R", "success")]
        families.append([s.figures["F0.5"] for s in found.slices])
        for family in families:
            expected = holm([each.p for each in family])
            assert np.allclose([each.p_holm for each in family], expected, equal_nan=True)
        assert any(each.p_holm > each.p for each in found.differences)


def test_figures_and_intervals_are_those_of_the_scores() -> None:
    corpus, systems = sample_corpus(), sample_systems()
    (_, found, *_) = compare(["m2", "gleu"], corpus, systems[0], systems[1:], rng=5, trials=10)
    for name, each in zip(("m2", "gleu"), found.differences, strict=True):
        scores = errata.evaluate(name, corpus, [systems[0], systems[2]], rng=5)
        assert scores.resampled is not None
        assert (each.old, each.new) == tuple(scores.values)
        assert each.old_interval == pytest.approx(scores.interval()[0].tolist(), rel=1e-12)
        gap = scores.resampled[:, 1] - scores.resampled[:, 0]
        bounds = np.quantile(gap, [0.025, 0.975])
        assert each.difference[1:] == pytest.approx(bounds.tolist(), rel=1e-12)
        assert each.signature.startswith(scores.scorer)
    assert "trials:10 | seed:5" in found.tests


def test_resamples_without_a_rare_kind_are_left_out_of_its_interval() -> None:
    """Recall of a kind that a resample does not have is 1 by convention, and no news."""
    corpus = sample_corpus()
    cautious, eager = (s for s in sample_systems() if s.system in ("cautious", "eager"))
    resamples = 300
    (found,) = compare("edits", corpus, eager, [cautious], resamples=resamples, trials=0)
    (weights,) = resample_weights(corpus, resamples, 0)
    punctuation = found.kind("M:PUNCT")
    assert punctuation is not None
    metric = Edits()
    gold, outputs, _ = with_comparable_types(metric, corpus, [eager, cautious])
    old, new = (
        counts_by_kind(metric, gold, each)["M:PUNCT"].statistics(source_words(corpus))
        for each in outputs
    )

    def recalls(counts: np.ndarray) -> list[float | None]:
        sums = [(w @ counts[:, 0], w @ counts[:, 2]) for w in weights]
        return [tp / (tp + fn) if tp + fn else None for tp, fn in sums]

    pairs = list(zip(recalls(old), recalls(new), strict=True))
    assert any(b is None for _, b in pairs)  # or this tests nothing
    known = [b for _, b in pairs if b is not None]
    figure = punctuation.figures["R"]
    assert figure.new_interval == pytest.approx(np.quantile(known, [0.025, 0.975]))
    assert figure.new_interval.high < 1
    apart = [b - a for a, b in pairs if a is not None and b is not None]
    by = figure.difference
    assert (by.low, by.high) == pytest.approx(np.quantile(apart, [0.025, 0.975]))
    # What no resample has is what convention says, in all of them: nothing of the kind is wrong.
    precision = punctuation.figures["P"]
    assert (precision.new, *precision.new_interval) == (1, 1, 1)
    assert precision.difference.low < precision.difference.high
    mean = next(each for each in found.rates if each.label.startswith("mean F"))
    assert mean.difference.low < mean.difference.value < mean.difference.high
    assert mean.new_interval.low < mean.new < mean.new_interval.high


def test_without_references_edits_are_counted() -> None:
    whole, systems = sample_corpus(), sample_systems()
    corpus = Corpus.from_texts(whole.sources)
    (found,) = compare((), corpus, systems[0], [systems[1]], trials=50, resamples=50)
    assert not found.judged
    assert found.changes == found.bands == ()
    words = sum(len(source.split()) for source in corpus.sources)
    made = [
        sum(
            len(slow.triples(slow.extract(s, t)))
            for s, t in zip(corpus.sources, each.sentences, strict=True)
        )
        for each in systems[:2]
    ]
    rates = {each.label: (each.old, each.new) for each in found.rates}
    assert rates["edits"] == pytest.approx([1000 * n / words for n in made])
    assert sum(kind.figures["edits"].new for kind in found.kinds) == pytest.approx(
        rates["edits"][1]
    )
    apart = [i for i in range(len(corpus)) if systems[0].sentences[i] != systems[1].sentences[i]]
    assert sorted(each.sentence for each in found.sentences) == apart
    assert found.differing == len(apart)
    sizes = [each.size for each in found.sentences]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] > 0


def test_slices_and_difficulty() -> None:
    corpus, systems = sample_corpus(), sample_systems()
    level = ["low" if i % 3 else "high" for i in range(len(corpus))]
    found = compare((), corpus, systems[0], systems[1:], slices={"level": level}, trials=20)[0]
    parts = {each.value: each for each in found.slices if each.column == "level"}
    assert {*parts} == {"high", "low"}
    assert parts["low"].sentences == level.count("low")
    inside = [change for change in found.changes if level[change.sentence] == "low"]
    assert sum(parts["low"].changes) == len(inside)
    for change in found.changes:
        if change.before is None or change.after is None:
            assert np.isnan(change.difficulty)
        else:
            right = sum(
                (change.edit.start, change.edit.end, "||".join(change.edit.replacements))
                in slow.triples(
                    slow.extract(corpus.sources[change.sentence], each.sentences[change.sentence])
                )
                for each in systems
            )
            assert change.difficulty == pytest.approx(1 - right / len(systems))
    assert [band.name for band in found.bands] == ["easy", "medium", "hard"]
    assert sum(band.changes.gained for band in found.bands) == found.counts.gained


def test_what_is_refused() -> None:
    corpus, systems = sample_corpus(), sample_systems()
    with pytest.raises(InputError, match="two systems are called"):
        compare("m2", corpus, systems[0], [systems[0]])
    with pytest.raises(InputError, match="one system, not 2"):
        compare("m2", corpus, systems[:2], systems[2])
    with pytest.raises(InputError, match="known of 1 sentences"):
        compare("m2", corpus, systems[0], systems[1], slices={"level": ["low"]})
    with pytest.raises(InputError, match="no system to compare"):
        compare("m2", corpus, systems[0], [])


METRICS = [
    Edits(),
    Edits(mode="detection"),
    Edits(mode="token_detection"),
    Edits(types=True, gold="reextracted"),
    Edits(alternatives="any", duplicates=True),
    Edits(choice="isolated", ignore=("M:",)),
]


def states_of(metric: Edits, corpus: Corpus, systems: list[Hypotheses]) -> list[Counter[str]]:
    return [
        Counter(each.state for sentence in judged for each in sentence.edits)
        for judged in judge_edits(metric, corpus, systems)
    ]


@settings(max_examples=40, deadline=None)
@given(st.data(), st.sampled_from(METRICS))
def test_states_are_the_counts_of_the_metric(data: st.DataObject, metric: Edits) -> None:
    sources = data.draw(st.lists(WORDS, min_size=1, max_size=4))
    texts = st.lists(WORDS, min_size=len(sources), max_size=len(sources))
    corpus = Corpus.from_texts(sources, data.draw(st.lists(texts, min_size=1, max_size=3)))
    systems = [Hypotheses(name, tuple(data.draw(texts))) for name in "AB"]
    scores = evaluate(metric, corpus, systems, resamples=0, guard=False)
    for s, found in enumerate(states_of(metric, corpus, systems)):
        expected = [int(scores.parts[part][s]) for part in ("TP", "FP", "FN")]
        assert [found["right"], found["wrong"], found["missed"]] == expected


def test_kinds_are_those_of_the_table_by_type() -> None:
    corpus, systems = sample_corpus(), sample_systems()
    for metric in (Edits(), Edits(alternatives="any")):
        for system, judged in zip(systems, judge_edits(metric, corpus, systems), strict=True):
            table = scores_by_type(metric, corpus, system)
            found = Counter((each.kind, each.state) for s in judged for each in s.edits)
            for kind, row in zip(table.kinds, table.counts.tolist(), strict=True):
                assert [found[kind, state] for state in ("right", "wrong", "missed")] == row


def test_together_one_annotator_judges_all() -> None:
    """What two systems wrote alike is judged alike, whatever came before."""
    corpus, systems = sample_corpus(), sample_systems()
    alone = judge_edits(Edits(), corpus, systems)
    assert any(len({s.annotator for s in column}) > 1 for column in zip(*alone, strict=True))
    judged = judge_edits(Edits(), corpus, systems, together=True)
    for i, column in enumerate(zip(*judged, strict=True)):
        assert len({s.annotator for s in column}) == 1
        assert len({tuple(e.gold for e in s.gold_edits) for s in column}) == 1
        by_text: dict[str, set[object]] = {}
        for system, sentence in zip(systems, column, strict=True):
            by_text.setdefault(system.sentences[i], set()).add(sentence)
        assert all(len(several) == 1 for several in by_text.values())
    turned = judge_edits(Edits(), corpus, systems[::-1], together=True)
    assert turned == judged[::-1]  # nobody's edits count for more
    pair = [systems[0], systems[3]]
    (found,) = compare((), corpus, pair[0], pair[1], resamples=0, trials=0)
    changes = edit_changes(*judge_edits(Edits(), corpus, pair, together=True))
    assert [replace(each, difficulty=0.0) for each in found.changes] == [
        replace(each, difficulty=0.0) for each in changes
    ]


def test_an_alternative_is_shown_as_the_system_wrote_it() -> None:
    asked = Edit(1, 2, "goes", "R:INFL", ("went",))
    corpus = Corpus(("He go home",), ((Reference(3, (asked,)),),))
    system = Hypotheses("A", ("He went home",))
    ((found,),) = judge_edits(Edits(alternatives="any"), corpus, [system])
    assert found.annotator == 3
    assert [(e.edit.replacement, e.state, e.gold) for e in found.edits] == [
        ("went", "right", asked)
    ]
    ((found,),) = judge_edits(Edits(), corpus, [system])
    assert [e.state for e in found.edits] == ["missed", "wrong"]
    with pytest.raises(InputError, match="no references"):
        judge_edits(Edits(), replace(corpus, references=((),)), [system])


def test_systems_scored_in_another_order_compare_alike() -> None:
    corpus, (first, *others) = sample_corpus(), sample_systems()
    scored = [score_metric(parse(name), corpus, [*others, first], 40, 0) for name in ("m2", "gleu")]
    drawn = {"resamples": 40, "trials": 20}
    expected = compare(["m2", "gleu"], corpus, first, others, **drawn)
    assert compare(["m2", "gleu"], corpus, first, others, scored=scored, **drawn) == expected

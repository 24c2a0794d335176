"""Stress cards: the damage, the verdicts, every metric, the command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from rapidfuzz.distance import Indel

import errata.models as lm
from command import errata, refused
from errata import stress as errata_stress
from errata.core.errors import DataWarning, InputError, MissingExtraError
from errata.core.stats import Floats, Ints
from errata.data import Corpus, Hypotheses
from errata.datasets import sample_corpus, sample_systems
from errata.metrics import METRICS, parse
from errata.metrics.base import Before
from errata.scoring.evaluate import evaluate
from errata.stress import PERTURBATIONS, Attack, Perturbation, stress, stress_table
from fake_chat import fake_chat, shown_targets
from fake_lm import FakeModel
from toy import Toy

NAMES = [p.name for p in PERTURBATIONS]
SENTENCE = "He goes to School every single day ."


def damage(name: str, *sentences: str, seed: int = 0) -> list[str]:
    chosen = PERTURBATIONS[NAMES.index(name)]
    assert isinstance(chosen, Perturbation)
    return chosen.damage(
        [f"source {i}" for i in range(len(sentences))], sentences, np.random.default_rng(seed)
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("copy the source", ["source 0", "source 1", "source 2"]),
        ("repeat a word", ["He He He He He He He .", "Well", ""]),
        ("lower-case", ["he goes to school every single day .", "well", ""]),
        ("truncate", ["He goes to School", "Well", ""]),
        (
            "append a sentence",
            [
                SENTENCE + " The weather was fine that day .",
                "Well The weather was fine that day .",
                "The weather was fine that day .",
            ],
        ),
        ("shift lines", ["", SENTENCE, "Well"]),
    ],
)
def test_damage_by_hand(name: str, expected: list[str]) -> None:
    assert damage(name, SENTENCE, "Well", "") == expected


@given(st.lists(st.text("ab .", max_size=20), max_size=5), st.integers(0, 2**32))
def test_shuffling_and_deleting(sentences: list[str], seed: int) -> None:
    for before, after in zip(sentences, damage("shuffle", *sentences, seed=seed), strict=True):
        assert sorted(before.split()) == sorted(after.split())
    for before, after in zip(sentences, damage("delete words", *sentences, seed=seed), strict=True):
        rest = iter(before.split())
        assert all(word in rest for word in after.split())  # the same order
        assert len(after.split()) < len(before.split()) or not before.split()


def texts(name: str, sources: list[str], sentences: list[str]) -> list[list[str]]:
    chosen = PERTURBATIONS[NAMES.index(name)]
    assert isinstance(chosen, Attack)
    return chosen.texts(sources, sentences, np.random.default_rng(0))


@given(st.lists(st.text("abc ", max_size=8), min_size=1, max_size=9), st.booleans())
def test_neighbours_are_nearest_first(sentences: list[str], swapped: bool) -> None:
    sources = sentences[::-1] if swapped else [sentence + " x" for sentence in sentences]
    found = texts("nearest neighbour", sources, sentences)
    for i, (source, own) in enumerate(zip(sources, sentences, strict=True)):
        others = {*sentences} - {own, source}
        mine = [text[i] for text in found]
        if not others:
            assert set(mine) == {"The weather is mild ."}
            continue
        assert set(mine) <= others
        assert len(set(mine)) == min(len(mine), len(others))
        nearest = sorted((Indel.normalized_similarity(source, o) for o in others), reverse=True)
        like = [Indel.normalized_similarity(source, text) for text in mine]
        assert_allclose(like[: len(others)], nearest[: len(mine)], atol=1e-6)


def test_neighbours_are_looked_for_among_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errata_stress, "POOL", 3)
    monkeypatch.setattr(errata_stress, "AT_ONCE", 2)
    sentences = [f"{letter} word" for letter in "abcdefg"]
    found = texts("nearest neighbour", sentences, sentences)
    assert len({text for several in found for text in several}) <= 3


def test_the_attacker_takes_what_the_metric_likes_best() -> None:
    corpus = Corpus.from_texts(["a", "b", "c"], [["x", "y", "z"]])
    tries = [["x", "-", "z"], ["-", "-", "-"], ["x", "y", "-"]]
    attack = Attack("tries", "", lambda sources, sentences, rng: tries)
    card = stress(Toy(), corpus, perturbations=[attack], resamples=0)
    assert card.scores.values.tolist() == [1.0, 1.0]
    assert card.altered.tolist() == [0.0]


def test_what_a_judge_cannot_score_is_not_what_it_likes(monkeypatch: pytest.MonkeyPatch) -> None:
    with fake_chat() as fake:
        monkeypatch.setenv("OPENAI_BASE_URL", fake.url)
        judge = parse("judge(group=1, repeats=1, concurrency=1)")
        sources = [f"s {i}" for i in range(6)]
        corpus = Corpus.from_texts(sources, [sources])
        tries = [[f"t {i}" for i in range(6)], [f"u {i}" for i in range(6)]]
        fake.plan.extend(["prose", "prose"])  # the first text of the first sentence
        attack = Attack("tries", "", lambda sources, sentences, rng: tries)
        with pytest.warns(DataWarning, match="1 of 12 answers"):
            card = stress(judge, corpus, perturbations=[attack], resamples=0)
        # Where both have a score they are alike, and the first is taken; else the other.
        liked = shown_targets(fake.prompts()[0])[0]
        assert [shown_targets(prompt)[0] for prompt in fake.prompts()].count(liked) == 2
        assert card.scores.parts["judged"].tolist() == [6, 6]


def test_the_card_is_what_evaluate_says() -> None:
    corpus = sample_corpus()
    base = sample_systems()[1]
    card = stress(parse("gleu"), corpus, base, resamples=200, rng=3)
    assert card.base == base.system
    assert card.scores.systems == (base.system, *NAMES)
    alone = evaluate(
        parse("gleu"), corpus, [base, Hypotheses("copy", corpus.sources)], resamples=200, rng=3
    )
    assert card.scores[base.system] == alone[base.system]
    assert card.changes[0] == alone["copy"] - alone[base.system]
    assert alone.resampled is not None
    assert_allclose(
        card.intervals[0],
        np.quantile(alone.resampled[:, 1] - alone.resampled[:, 0], [0.025, 0.975]),
    )


def test_the_seed_decides_the_damage_and_nothing_else_does() -> None:
    corpus = sample_corpus()
    first, again, other = (
        stress(parse("bleu"), corpus, resamples=50, rng=seed) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first.scores.values, again.scores.values)
    np.testing.assert_array_equal(first.intervals, again.intervals)
    assert first.scores["shuffle"] != other.scores["shuffle"]
    few = stress(parse("bleu"), corpus, resamples=0, rng=1, perturbations=PERTURBATIONS[3:4])
    assert few.scores["shuffle"] == first.scores["shuffle"]
    generators = [np.random.default_rng(5), np.random.default_rng(5), np.random.default_rng(6)]
    one, two, three = (
        stress(parse("bleu"), corpus, resamples=0, rng=g).scores["shuffle"] for g in generators
    )
    assert one == two != three


def test_verdicts() -> None:
    corpus = Corpus.from_texts(["a b"] * 40, [["b a"] * 20 + ["a b"] * 20])
    base = Hypotheses("half", ("a b",) * 40)
    kinds = [
        Perturbation("right", "", lambda s, h, rng: ["b a"] * 20 + ["a b"] * 20),
        Perturbation("equal", "", lambda s, h, rng: ["b a"] * 40),
        Perturbation("wrong", "", lambda s, h, rng: ["?"] * 40),
        Perturbation("none", "", lambda s, h, rng: list(h)),
    ]
    for resamples in (0, 300):
        card = stress(Toy(), corpus, base, perturbations=kinds, resamples=resamples)
        assert card.verdicts == ("HIGHER", "same", "lower", "same")
        assert card.changes.tolist() == [0.5, 0.0, -0.5, 0.0]
        assert card.altered.tolist() == [0.5, 1.0, 1.0, 0.0]
        assert card.rewarded.tolist() == [1.0, 0.5, 0.0, 0.0]


def test_only_altered_sentences_can_be_rewarded() -> None:
    class Drifting(Toy):
        """Takes the second reference everywhere once any sentence equals the first one."""

        def choose(self, counts: Floats, before: Before | None = None) -> Ints:
            return np.full((1, len(counts)), int(counts[:, 0, 0].any()))

    corpus = Corpus.from_texts(["a", "b"], [["x", "y"], ["z", "b"]])
    base = Hypotheses("base", ("a", "b"))
    kinds = [Perturbation("first", "", lambda s, h, rng: ["x", "b"])]
    card = stress(Drifting(), corpus, base, perturbations=kinds, resamples=0)
    assert card.scores.sentences is not None
    assert card.scores.sentences.tolist() == [[0.0, 0.0], [0.0, 1.0]]
    assert card.rewarded.tolist() == [0.0]


def test_bad_input() -> None:
    bare = Corpus.from_texts(["a", "b"])
    with pytest.raises(InputError, match="sentence 1 has no reference to damage"):
        stress(Toy(), bare)
    with pytest.raises(InputError, match="A has 1 sentences, the corpus 2"):
        stress(Toy(), bare, Hypotheses("A", ("a",)))


# Metrics that need weights, with those that tests have.
WITH_MODELS = {
    "scribendi": "scribendi(model=fake)",
    "fluency": "fluency(model=fake)",
    "some": "some(models=some)",
    "impara": "impara(model=impara, similarity=encoder, threshold=0.5)",
    "bertscore": "bertscore(model=encoder, layer=2)",
    "pt_m2": "pt_m2(model=encoder, layer=2)",
    "pt_errant": "pt_errant(model=encoder, layer=2, extractor=aligned)",
}
OF_TORCH = [name for name, text in WITH_MODELS.items() if "(model=fake)" not in text]


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.lm] * (n in OF_TORCH)) for n in METRICS.builtin]
)
def test_every_metric_has_a_card(
    name: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if name in OF_TORCH:
        monkeypatch.chdir(request.getfixturevalue("tiny_models"))
    lm.register("fake", FakeModel)
    metric, corpus = parse(WITH_MODELS.get(name, name)), sample_corpus()[:25]
    with fake_chat() as fake:
        fake.score = lambda target, place: len(target) % 5 + 1
        monkeypatch.setenv("OPENAI_BASE_URL", fake.url)
        try:
            card = stress(metric, corpus, resamples=20)
        except MissingExtraError as missing:
            pytest.skip(str(missing))
    assert np.isfinite(card.scores.values).all()
    assert len(card.verdicts) == len(PERTURBATIONS)
    assert stress_table(card).rows[1][0] == "copy the source"
    # Whatever the metric: one that gives every text the same score would be none.
    assert len(set(card.scores.values.tolist())) > 2


@pytest.mark.slow
def test_the_command_on_files(tmp_path: Path) -> None:
    (tmp_path / "src.txt").write_text("He go home .\nI likes tea .\n", "utf-8")
    (tmp_path / "ref.txt").write_text("He goes home .\nI like tea .\n", "utf-8")
    (tmp_path / "out.txt").write_text("He goes home .\nI likes tea .\n", "utf-8")
    line = "gleu --source src.txt --refs ref.txt --damage ours=out.txt --attack theirs=ref.txt"
    done = errata("stress", *line.split(), "--resamples", 0, "--format", "tsv", cwd=tmp_path)
    lines = done.stdout.splitlines()
    assert lines[1].startswith("(ours)\t")
    assert lines[-1].startswith("theirs\t1.0")
    assert len(lines) == 14


def test_the_command_on_bad_input() -> None:
    cases = """
        stress gleu --figure x.bmp | cannot draw into 'x.bmp'
        stress gleu --damage x.txt | belong to no source
        stress m3 | no metric 'm3'
    """
    assert refused(cases) == []

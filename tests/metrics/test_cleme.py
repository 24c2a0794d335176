"""CLEME and CLEME2.0: the official program's figures, and what merged chunks are."""

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.data import Corpus, Edit, Hypotheses, Reference, Vocabulary
from errata.data.edits import offsets
from errata.io.corpus import read_corpus
from errata.io.outputs import read_hypotheses_m2
from errata.kernels import merged_chunks as kernel
from errata.metrics import parse
from errata.metrics.cleme import MergedChunks, merge_chunks
from errata.scoring.evaluate import evaluate
from fake_bertscore import FakeBERTScore
from pure import load_pure
from scored import scored

SYSTEMS = ("CUUI", "CAMB", "INPUT", "AMU")
MODES = {"dep": "dependent", "ind": "independent"}
PRF = {"tp": "TP", "fp": "FP", "fn": "FN", "tn": "TN", "p": "P", "r": "R", "acc": "accuracy"}
HEUO = {"tp": "TP", "fp": "FP", "fn": "FN", "tn": "TN", "fp_ne": "FPne"}
HEUO |= {"hit": "hit", "err": "wrong", "und": "under", "ove": "over"}
# The program's own run gave sentences the factors of the corpus score.
FACTORS = "sentence_factors=(0.45, 0.35, 0.15, 0.05)"


@pytest.fixture(scope="module")
def demo(data_sets: Path) -> tuple[Corpus, dict[str, Hypotheses]]:
    """CoNLL-2014 and four systems with ERRANT's edits, as the program's demonstration has them."""
    (folder,) = data_sets.glob("THUKElab/CLEME/*/demo/examples")
    return read_corpus(gold=folder / "conll14.errant"), {
        name: read_hypotheses_m2(folder / f"conll14-{name}.errant", [name])[0] for name in SYSTEMS
    }


@pytest.mark.parametrize("level", ["corpus", "sentence"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("system", SYSTEMS)
def test_figures_of_the_official_program(
    system: str, mode: str, level: str, demo: tuple[Corpus, dict[str, Hypotheses]], oracles: Path
) -> None:
    corpus, outputs = demo
    total = "sum" if level == "corpus" else "mean"
    seen = 0
    for line in (oracles / "learned" / "cleme.txt").read_text("utf-8").splitlines():
        if not line.startswith(f"{system} {mode} ") or f"_{level}_" not in line:
            continue
        _, _, variant, figures = line.split(None, 3)
        wanted = ast.literal_eval(figures)
        weights = "none" if "unweighted" in variant else "length"
        prf = variant.startswith("prf")
        text = (
            f"cleme(mode={MODES[mode]}, weights={weights}, total={total})"
            if prf
            else f"cleme2(mode={MODES[mode]}, total={total}, {FACTORS})"
        )
        scores = scored(text, corpus, outputs[system])
        digits = 4 if prf and level == "corpus" else 6
        assert round(scores[system], digits) == wanted["f" if prf else "com"]
        for key, part in (PRF if prf else HEUO).items():
            # Of the sentences' means only the score is one of ours.
            if level == "corpus" or part[:2] in ("TP", "FP", "FN", "TN"):
                found = float(scores.parts[part][0])
                rounded = digits if key in ("p", "r", "acc") else 6
                assert round(found, rounded) == pytest.approx(wanted[key], abs=1e-9), (text, key)
        seen += 1
    assert seen >= 3


def chunked(source: list[str], texts: list[list[Edit]]) -> MergedChunks:
    """The chunks of one sentence, whose output is the first of the texts."""
    references = tuple(Reference(k, tuple(edits)) for k, edits in enumerate(texts[1:]))
    gold = Corpus((" ".join(source),), (references,))
    return merge_chunks(gold, Hypotheses("A", ("",), (tuple(texts[0]),)))


def words_of(found: MergedChunks) -> list[list[str]]:
    """The words of the output and of each reference, chunk by chunk."""
    known = found.gold.vocabulary.words()
    return [
        [found.words(entry, known) for entry in (own, *found.gold_entries[found.chunk == c])]
        for c, own in enumerate(found.output_entries.tolist())
    ]


def test_chunks_are_merged_where_edits_touch() -> None:
    source = ["a", "b", "c", "d", "e"]
    first = [Edit(1, 2, "x"), Edit(4, 4, "y")]
    second = [Edit(2, 2, "z"), Edit(3, 4, "")]
    found = chunked(source, [first, second])
    assert words_of(found) == [["x", "b z"], ["d y", ""]]  # an insertion joins the edit before it
    assert found.changed.all()
    assert not found.same.any()
    assert found.between.tolist() == [3]  # a, c, e


edits = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2), st.sampled_from(["", "x", "y z"])))


@given(st.lists(edits, min_size=1, max_size=3))
def test_chunks_put_together_are_the_texts(drawn: list[list[tuple[int, int, str]]]) -> None:
    source = ["a", "b", "c", "d", "e", "f"]
    texts = []
    for several in drawn:
        kept: list[Edit] = []
        for start, width, words in sorted(several):
            end = min(start + width, len(source))
            if start <= len(source) and (not kept or start > kept[-1].end):
                kept.append(Edit(start, end, words))
        texts.append(kept)
    found = chunked(source, [*texts, [Edit(0, 0, "v")]])
    entries = [
        (own, *found.gold_entries[found.chunk == c])
        for c, own in enumerate(found.output_entries.tolist())
    ]
    assert found.between[0] <= len(entries) + 1
    width = (found.end - found.start).sum()
    for k, several in enumerate(texts):
        grown = sum(found.sizes[each[k]] for each in entries) - width
        assert grown == sum(len(e.replacement.split()) - (e.end - e.start) for e in several)
        assert any(found.changed[each[k]] for each in entries) == bool(several)
    assert width <= len(source)
    for c, each in enumerate(words_of(found)):
        same = found.same[found.chunk == c].tolist()
        assert same == [text == each[0] for text in each[1:]]


@given(st.lists(st.lists(edits, min_size=2, max_size=4), max_size=3))
def test_the_kernel_gives_the_same_uncompiled(drawn: list[list[Any]]) -> None:
    texts = [sorted((s, min(s + w, 6), t) for s, w, t in each) for some in drawn for each in some]
    flat = [edit for text in texts for edit in text]
    vocabulary = Vocabulary()
    tokens = vocabulary.intern(["a b c d e f"] * len(drawn))
    words = vocabulary.intern([text for _, _, text in flat])
    arguments = (
        tokens.ids,
        tokens.offsets,
        offsets(np.array([len(some) for some in drawn], np.int64)),
        offsets(np.array([len(text) for text in texts], np.int64)),
        np.array([start for start, _, _ in flat], np.intc),
        np.array([end for _, end, _ in flat], np.intc),
        words.offsets,
        words.ids,
    )
    found = kernel.merge(*arguments)
    for mine, theirs in zip(found, load_pure("merged_chunks").merge(*arguments), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_a_reference_that_deletes_everything_does_not_count() -> None:
    corpus = Corpus.from_texts(["He go home"], [["He goes home"], [""]])
    counts = parse("cleme(weights=none)").count(corpus, Hypotheses("A", ("He goes home",)))
    assert counts[0, 0].tolist() == [1, 0, 0, 2, 0]
    assert counts[0, 1].tolist() != counts[0, 1].tolist()  # NaN
    alone = Corpus.from_texts(["He go home"], [[""]])
    assert evaluate("cleme", alone, Hypotheses("A", ("",)))["A"] == 1.0


@pytest.mark.parametrize("mode", MODES.values())
def test_one_of_two_references_that_delete_everything_counts(mode: str) -> None:
    """Both would count twice for the mean length that decides weights."""
    sources, output = ["a b", "He go home"], Hypotheses("A", ("", "He go to home"))
    once = Corpus.from_texts(sources, [["", "He goes home"]])
    twice = Corpus.from_texts(sources, [["", "He goes home"], ["", "He goes home"]])
    twice = Corpus(sources=twice.sources, references=(twice.references[0], once.references[1]))
    metric = f"cleme(mode={mode})"
    assert evaluate(metric, twice, output)["A"] == evaluate(metric, once, output)["A"]


def test_any_reference_may_be_right_or_one_must_be() -> None:
    corpus = Corpus.from_texts(["a b c d e"], [["x b c d e"], ["a b c d y"]])
    both = Hypotheses("A", ("x b c d y",))
    assert evaluate("cleme(mode=independent)", corpus, both)["A"] == 1.0
    dependent = evaluate("cleme(weights=none)", corpus, both)
    assert (dependent.parts["TP"][0], dependent.parts["FP"][0]) == (1, 1)


def test_chunks_weigh_the_difference_they_make(monkeypatch: pytest.MonkeyPatch) -> None:
    """By hand: a chunk of each fate, beside one reference and beside two."""
    source, first, second = "a b c d e f g", "x b z d e f w", "x b q d e f v"
    likeness = {
        ("a b c d e f g", first): 0.5,
        ("a b c d e f g", second): 0.25,
        ("x b c d e f g", first): 0.75,  # the output's x: right beside both
        ("x b c d e f g", second): 0.125,
        ("a b y d e f g", first): 0.375,  # y: wrong where z and q are due
        ("a b y d e f g", second): 0.5,
        ("a b c d u f g", first): 0.5,  # u: wrong where nothing is due, and no difference
        ("a b c d u f g", second): 0.25,
        ("a b c d e f w", first): 1.0,  # missed
        ("a b c d e f v", second): 1.25,
    }
    fake = FakeBERTScore(lambda text, reference: likeness[text, reference]).put(monkeypatch)
    output = Hypotheses("A", ("x b y d u f g",))
    both = Corpus.from_texts([source], [[first], [second]])
    dependent = "cleme2(weights=similarity)"
    rows = parse(dependent).count(both, output)[0].tolist()
    #         TP     FP     FN    TN: b d f  FPne
    assert rows[0] == [0.25, 0.125, 0.5, 3.0, 0.125]
    assert rows[1] == [0.125, 0.25, 1.0, 3.0, 0.25]
    assert len(fake.asked) == len(likeness)
    (together,) = parse("cleme2(weights=similarity, mode=independent)").count(both, output)[0]
    assert together.tolist() == [0.1875, 0.1875, 0.75, 3.0, 0.1875]  # the means of both
    # Where F counts, what makes no difference weighs 1.
    plain = parse("cleme(weights=similarity)").count(both, output)[0].tolist()
    assert plain[0] == [0.25, 1.125, 0.5, 3.0, 0.125]
    # Of the references only those speak for what is right that agree.
    other = Corpus.from_texts([source], [[first], ["k b c d e f g"]])
    likeness.update({(text, "k b c d e f g"): 0.875 for text, _ in list(likeness)})
    likeness["k b c d e f g", "k b c d e f g"] = 1.0
    (apart,) = parse("cleme2(weights=similarity, mode=independent)").count(other, output)[0]
    assert apart[0] == 0.25


def test_sentences_have_factors_of_their_own() -> None:
    """An output that changes nothing: .35 + .05 as a corpus, .25 + .20 as a sentence."""
    corpus = Corpus.from_texts(["He go to home"], [["He goes home"]])
    scores = evaluate("cleme2", corpus, {"A": corpus.sources})
    assert scores["A"] == pytest.approx(0.4)
    assert scores.sentences[0, 0] == pytest.approx(0.45)


def test_of_sentence_scores_that_are_equal_the_larger_share_of_over_decides() -> None:
    metric = parse("cleme2(choice=isolated, factors=(0.0, 0.0, 1.0, 0.0))")
    #  TP   FP   FN   TN  FPne: under is 0 beside both; over is 0, and 1/2
    counts = np.array([[[1.0, 1.0, 0.0, 9.0, 1.0], [1.0, 1.0, 0.0, 1.0, 0.0]]])
    assert metric.choose(counts).tolist() == [[1]]
    assert metric.choose(counts[:, ::-1]).tolist() == [[0]]

"""The nouns refuse what cannot be true."""

import dataclasses
import itertools
import pickle
from collections.abc import Callable
from copy import copy, deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from errata.core.errors import InputError
from errata.core.parallel import parallel_map
from errata.data import (
    Corpus,
    Edit,
    Hypotheses,
    Judgment,
    Reference,
    Scores,
    apply_edits,
    short_names,
)
from errata.data.digest import corpus_digest
from errata.io import read_corpus
from errata.io.m2 import read_m2_text
from errata.scoring.evaluate import evaluate

sentences = st.lists(st.text(alphabet="ab é", max_size=12), max_size=6)


TWICE = (Reference(0, ()), Reference(0, ()))
OUTSIDE = (Reference(0, (Edit(0, 1, ""),)), Reference(1, (Edit(1, 2, "x"),)))
REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: Edit(3, 2, "x"), "0 <= start <= end"),
    (lambda: Edit(-1, -1, ""), "0 <= start <= end"),
    (lambda: Reference(0), "no edits, no text"),
    (lambda: apply_edits(["a", "b", "c"], [Edit(0, 2, "x"), Edit(1, 3, "y")]), "overlaps"),
    (lambda: apply_edits(["a"], [Edit(0, 2, "x")]), "leaves the sentence"),
    (lambda: Corpus(("a", "b"), ((),)), "2 sources but 1"),
    (lambda: Corpus(("a",), (TWICE,)), "two references of one annotator"),
    (lambda: Corpus(("a",), ((Reference(0, (Edit(0, 2, "x"),)),),)), "of 1 tokens"),
    (lambda: Corpus.from_texts(["a", "b"], [["a"]]), "set 0 has 1 sentences"),
    # The first sentence that is wrong is named.
    (lambda: Corpus(("a",) * 3, ((), TWICE, OUTSIDE)), "sentence 1 has two references"),
    (lambda: Corpus(("a",) * 3, ((), OUTSIDE, TWICE)), "sentence 1: edit 1-2"),
    (lambda: Corpus(("a",), ((Reference(0, (Edit(0, 2**70, ""),)),),)), "the end of an edit"),
    (lambda: Corpus(("a",), ((Reference(1, ()), Reference(-(2**70), ())),)), "the annotator"),
    (lambda: Corpus.from_texts(["a", "b"]).in_documents(["one"]), "of 1 sentences.* are 2"),
    (lambda: Corpus.from_texts(["a"], [["b"]]).keep_annotators(), "no annotator to keep"),
    (lambda: Hypotheses("A", ("x",), ()), "1 sentences but 0 sets"),
    (lambda: Judgment("j", 0, (("A",), ("B",)), (1,)), "2 groups but 1 ranks"),
    (lambda: Judgment("j", 0, (("A",), ("A",)), (1, 2)), "named twice"),
    (lambda: Judgment("j", 0, (("A",),), (0,)), "ranks start at 1"),
    (lambda: Scores("m", ("A", "A"), np.zeros(2)), "two systems are called 'A'"),
    (lambda: Scores("m", ("A", "B"), np.zeros(3)), "arrays of shapes"),
    (lambda: Scores("m", ("A",), np.zeros(1)).select(["C"]), "knows no system 'C'"),
]


def test_what_cannot_be_true_is_refused() -> None:
    for make, problem in REFUSED:
        with pytest.raises(InputError, match=problem):
            make()


def test_edits_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Edit(1, 2, "x").start = 3  # type: ignore[misc]
    assert Edit(0, 1, "a", alternatives=("b", "")).replacements == ("a", "b", "")


def test_edits_are_applied_in_order() -> None:
    tokens = ["a", "b", "c"]
    edits = [Edit(3, 3, "z"), Edit(1, 1, "x"), Edit(1, 1, "y"), Edit(1, 2, "")]
    assert apply_edits(tokens, edits) == ["a", "x", "y", "c", "z"]
    assert apply_edits(tokens, []) == tokens


def test_references_have_edits_or_text() -> None:
    assert Reference(0, ()).corrected("a  b") == "a  b"
    assert Reference(0, (Edit(0, 1, "x"),)).corrected("a b") == "x b"
    assert Reference(0, text="anything").corrected("a b") == "anything"


def test_annotators_far_apart_stand_in_order() -> None:
    near, far = Reference(-(2**63), ()), Reference(2**63 - 1, ())
    assert Corpus(("a",), ((far, near),)).references == ((near, far),)


numbered_edits = st.tuples(st.integers(0, 2), st.integers(0, 1)).map(
    lambda pair: Edit(pair[0], pair[0] + pair[1], "x")
)
some_references = st.lists(
    st.one_of(
        st.builds(lambda edits: (tuple(edits), None), st.lists(numbered_edits, max_size=3)),
        st.just((None, "a")),
    ),
    max_size=3,
)


@given(st.lists(some_references, max_size=6))
@example([[((Edit(k, k + 1, "x"),), None)] for k in range(3)])
def test_columns_are_those_of_the_references(
    given_sets: list[list[tuple[tuple[Edit, ...] | None, str | None]]],
) -> None:
    references = tuple(
        tuple(Reference(k, edits, text) for k, (edits, text) in enumerate(several))
        for several in given_sets
    )
    sources = ("a b c",) * len(references)
    corpus = Corpus(sources, tuple(refs[::-1] for refs in references))
    assert corpus.references == references
    assert Corpus(sources, list(references)).references == references
    ends = range(-1, len(references) + 1)
    parts = itertools.starmap(slice, [*itertools.product(ends, ends), (None, None, 2)])
    for each, own in [(corpus, references), *((corpus[part], references[part]) for part in parts)]:
        table, flat = each.edits, [r for refs in own for r in refs]
        assert each.most_references == max(map(len, own), default=0)
        assert each.has_gold_edits == all(r.edits is not None for r in flat)
        assert each.annotators == tuple(sorted({r.annotator for r in flat}))
        assert table.sizes.tolist() == [len(refs) for refs in own]
        assert table.annotators.tolist() == [r.annotator for r in flat]
        spans = list(zip(table.start.tolist(), table.end.tolist(), strict=True))
        assert [spans[a:b] for a, b in itertools.pairwise(table.edit_offsets.tolist())] == [
            [(edit.start, edit.end) for edit in r.edits or ()] for r in flat
        ]
        assert table.last_ends().tolist() == [
            max((e.end for r in refs for e in r.edits or ()), default=0) for refs in own
        ]


def test_corpora_can_be_cut() -> None:
    corpus = Corpus.from_texts([f"s{i} a" for i in range(2500)], [[f"r{i}" for i in range(2500)]])
    assert [len(chunk) for chunk in corpus.batches] == [1024, 1024, 452]
    assert corpus.batches[1].vocabulary is corpus.vocabulary
    assert sum((c.sources for c in corpus.batches), ()) == corpus.sources
    small = corpus[:3]
    assert small.batches == (small,)
    assert not corpus.has_gold_edits


M2_TEXT = (
    "S He go home\nA 1 2|||V|||goes||went|||REQUIRED|||-NONE-|||0\n"
    "A 2 2|||P|||to|||REQUIRED|||-NONE-|||1\n\nS Hi\n"
)


@pytest.mark.parametrize(
    "corpus",
    [
        Corpus.from_texts(["He go ."], [["He goes ."], ["He went ."]], name="texts"),
        read_m2_text(M2_TEXT, name="read").corpus,
        read_m2_text(M2_TEXT).corpus[1:].starting_at(1).in_documents(["letter"]),
        read_m2_text(M2_TEXT).corpus.without_sentences(0),
        read_m2_text(M2_TEXT).corpus.keep_annotators(1),
    ],
)
def test_corpora_can_be_copied_and_sent_elsewhere(corpus: Corpus) -> None:
    hypotheses = Hypotheses("A", ("He goes to home",) * len(corpus))
    wanted = evaluate("m2", corpus, hypotheses, guard=False, resamples=10)
    for make in (copy, deepcopy, lambda each: pickle.loads(pickle.dumps(each))):
        other = make(corpus)
        assert other == corpus
        assert repr(other) == repr(corpus)
        for name in ("documents", "first", "whole", "skipped", "kept"):
            assert getattr(other, name) == getattr(corpus, name)
        # Of what is numbered here nothing is known there, where words get other numbers.
        assert other.vocabulary is not corpus.vocabulary
        again = evaluate("m2", other, hypotheses, guard=False, resamples=10)
        assert (again["A"], again.signature) == (wanted["A"], wanted.signature)


def test_documents_can_be_named_later() -> None:
    corpus = Corpus(("a b", "c"), ((Reference(0, (Edit(0, 1, "x"),)),), (Reference(0, ()),)))
    named = corpus.in_documents(["one", "two"])
    assert named == corpus
    assert named.documents == ("one", "two")
    assert named.edits is corpus.edits
    assert not corpus.documents


def test_scores_are_ordered() -> None:
    values = np.array([0.2, 0.4, 0.4])
    scores = Scores(
        "m2(beta=0.5)",
        ("A", "B", "C"),
        values,
        context=("n:3",),
        parts={"P": values},
        resampled=np.array([[0.1, 0.4, 0.4], [0.3, 0.2, 0.5]]),
    )
    assert scores.order == (1, 2, 0)
    assert scores["B"] == 0.4
    assert dict(scores) == {"A": 0.2, "B": 0.4, "C": 0.4}
    assert scores.signature == "m2(beta=0.5) | n:3"
    np.testing.assert_allclose(scores.interval(0.5), [[0.15, 0.25], [0.25, 0.35], [0.425, 0.475]])
    with pytest.raises(TypeError):
        scores.parts["P"] = values  # type: ignore[index]


def test_paired_p_values() -> None:
    draws = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    p = Scores("m", ("A", "B"), np.array([0.7, 0.5]), resampled=draws).p_values()
    np.testing.assert_allclose(p, [[3 / 5, 2.5 / 5], [3.5 / 5, 3 / 5]])


def test_what_is_derived_is_made_once_and_goes_with_the_corpus() -> None:
    corpus = Corpus(("a",), ((Reference(3, ()),),))
    made: list[int] = []
    for _ in range(2):
        assert corpus.derived("x", lambda: made.append(1) or "y") == "y"
    assert made == [1]
    assert "x" not in corpus[:]._derived


def test_a_selection_keeps_all_that_scores_hold() -> None:
    scores = Scores(
        "m2(beta=0.5)",
        ("A", "B"),
        np.array([0.3, 0.4]),
        np.array([[0.1, 0.2], [0.3, 0.4]]),
        {"gold": np.array([129, 7])},
        np.array([[0.3, 0.4]] * 3),
        {"annotator": np.array([[0, 1], [1, 0]])},
        "F0.5",
        ("references:1",),
        ("a note",),
        "m2",
        "m2(beta=0.5)",
    )
    one = scores.without("A")
    assert one.systems == ("B",)
    assert one.parts["gold"].tolist() == [7]
    assert one.parts["gold"].dtype.kind == "i"
    assert one.resampled.shape == (3, 1)
    assert one.sentence_parts["annotator"].tolist() == [[1, 0]]
    assert one.context == ("references:1", "without:A")
    assert scores.hide("A").context == ("references:1", "hide:A")
    for name in ("scorer", "headline", "notes", "name", "label"):
        assert getattr(one, name) == getattr(scores, name)


def test_short_names_are_as_long_as_they_must_be() -> None:
    def named(scorer: str, label: str) -> Scores:
        return Scores(scorer, (), np.zeros(0), name="m2", label=label)

    first, second = named("m2(beta=0.5)", "m2"), named("m2(beta=1.0)", "m2(beta=1.0)")
    assert short_names([first]) == ("m2",)
    assert short_names([first, second]) == ("m2", "m2(beta=1.0)")
    assert short_names([first, named("m2(beta=2.0)", "m2")]) == ("m2(beta=0.5)", "m2(beta=2.0)")


def test_what_is_derived_may_derive_in_threads() -> None:
    corpus = Corpus(("a",), ((Reference(3, ()),),))

    def many() -> list[int]:
        return parallel_map(lambda x: corpus.derived(("x", x), lambda: x), [1, 2, 3], threads=2)

    assert corpus.derived("many", many) == [1, 2, 3]


def test_large_values_are_shown_in_one_line() -> None:
    corpus = Corpus(("a\n",) * 500, ((Reference(0, ()), Reference(3, ())),) * 500, name="gold\x1b")
    assert repr(corpus) == r"<Corpus 'gold\x1b': 500 sentences, annotators 0, 3>"
    output = Hypotheses("A", ("a b",), ((Edit(0, 1, "b"),),))
    assert repr(output) == "<Hypotheses 'A': 1 sentence, 1 edits>"
    scores = Scores("m2(x)", tuple("ABCDEFGHIJ"), np.arange(10.0), label="m2")
    assert repr(scores).startswith("<Scores 'm2': A 0.0000, B 1.0000, ")
    assert repr(scores).endswith("H 7.0000 and 2 more>")


def test_resamples_without_a_score_decide_nothing() -> None:
    """Neither system beats the other where one of them has no score."""
    drawn = np.array([[0.5, np.nan]] * 50 + [[0.5, 0.4]] * 3 + [[0.3, 0.4]])
    scores = Scores("m()", ("A", "B"), np.array([0.5, 0.4]), resampled=drawn)
    p = scores.p_values()
    assert (p[0, 1], p[1, 0]) == (2 / 5, 4 / 5)
    nothing = Scores("m()", ("A", "B"), np.array([0.5, 0.4]), resampled=drawn[:50])
    assert nothing.p_values()[0, 1] == 1


def test_hypotheses_can_be_copied_and_sent_elsewhere() -> None:
    edited = Hypotheses("A", ("a", "c"), ((Edit(0, 1, "b"),), ()))
    for make in (copy, deepcopy, lambda each: pickle.loads(pickle.dumps(each))):
        assert make(edited) == edited
    assert edited[1:] == Hypotheses("A", ("c",), ((),))
    assert edited.without_sentences(1) == edited[:1]


def test_other_sources_take_the_place_of_those_that_were_read() -> None:
    corpus = read_m2_text("S He go .\n\nS I\n").corpus
    other = replace(corpus, sources=("a", "b"))
    assert (other.sources, len(other)) == (("a", "b"), 2)
    assert corpus.without_sentences(0).sources == ("I",)
    assert len(corpus.without_sentences(0)) == 1
    assert corpus.keep_annotators(0).sources == ("He go .", "I")


@given(st.lists(st.tuples(st.text("a\\\t\n", max_size=2), some_references), max_size=2), st.data())
def test_a_digest_stands_for_sources_and_references(
    rows: list[tuple[str, list[tuple[tuple[Edit, ...] | None, str | None]]]], data: st.DataObject
) -> None:
    def corpus(rows: list[tuple[str, list[Any]]]) -> Corpus:
        sources = tuple(f"{text} w w w" for text, _ in rows)
        sets = (tuple(Reference(k, *each) for k, each in enumerate(several)) for _, several in rows)
        return Corpus(sources, tuple(sets))

    others = data.draw(st.permutations(rows)) + data.draw(st.sampled_from([[], rows[:1]]))
    same = others == rows
    assert (corpus_digest(corpus(rows)) == corpus_digest(corpus(others))) == same


def test_digests_of_the_specification(oracles: Path) -> None:
    cases = oracles.parent / "specs" / "cases" / "records"
    texts = {"source": cases / "00-plain/source.txt", "references": [cases / "00-plain/ref0.txt"]}
    assert corpus_digest(read_corpus(**texts)).startswith("a62750990b7e2837")
    assert corpus_digest(read_corpus(gold=cases / "27-edits/gold.m2")).startswith("2daa47e5")

"""Evaluation against what can be computed by hand."""

import random
import threading
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import errata.scoring.evaluate
from errata.core.errors import DataWarning, InputError, PluginError
from errata.core.parameters import About
from errata.core.stats import Floats
from errata.data import Corpus, Edit, Hypotheses, Reference
from errata.datasets import sample_corpus, sample_systems
from errata.io import read_hypotheses
from errata.io.checks.alignment import check_text_alignment
from errata.metrics import parse
from errata.metrics.base import join_counts
from errata.scoring.accumulator import chosen_counts, sentence_scores
from errata.scoring.contract import validate_counts
from errata.scoring.evaluate import evaluate, scores_of
from errata.scoring.resampling import bootstrap
from errata.scoring.tables import summary_table, unique_labels
from errata.testing import example_corpus, example_systems
from toy import Toy


def corpus_of(n: int) -> tuple[Corpus, list[Hypotheses]]:
    sources = [f"w{i}" for i in range(n)]
    corpus = Corpus.from_texts(sources, [[f"r{i}" for i in range(n)]])
    half = tuple(f"r{i}" if i % 2 else f"w{i}" for i in range(n))
    return corpus, [Hypotheses("half", half), Hypotheses("none", tuple(sources))]


def test_scores_and_sentences() -> None:
    scores = evaluate(Toy(), example_corpus(), example_systems(), resamples=50)
    assert scores["perfect"] == 1.0
    assert scores["unchanged"] == pytest.approx(2 / 6)
    assert scores.sentences[1].tolist() == [0, 0, 1, 0, 0, 1]
    assert scores.sentence_parts["annotator"][0].tolist() == [0, 0, 0, 0, 1, 0]
    assert "references:1-2" in scores.signature
    assert "seed:0" in scores.signature


def test_the_signature_says_whose_references_were_kept() -> None:
    corpus = example_corpus().keep_annotators(1)
    scores = evaluate(Toy(), corpus, example_systems(), resamples=0)
    assert "references:1 of annotator 1 |" in scores.signature
    assert corpus[1:3].kept == (1,)


def test_the_bootstrap_has_the_right_spread() -> None:
    corpus, systems = corpus_of(400)
    scores = evaluate(Toy(), corpus, systems, resamples=4000, rng=1)
    assert scores.resampled[:, 0].std() == pytest.approx((0.25 / 400) ** 0.5, rel=0.05)
    assert scores.resampled[:, 0].mean() == pytest.approx(0.5, abs=0.002)
    assert not scores.resampled[:, 1].any()
    again = evaluate(Toy(), corpus, systems, resamples=4000, rng=1)
    np.testing.assert_array_equal(scores.resampled, again.resampled)
    assert evaluate(Toy(), corpus, systems, resamples=0).resampled is None


def test_a_generator_draws_what_its_seed_does_and_then_goes_on() -> None:
    corpus, systems = corpus_of(40)
    generator = np.random.default_rng(1)
    seeded, drawn, later = (
        evaluate(Toy(), corpus, systems, resamples=20, rng=rng, bootstrap="sentences").resampled
        for rng in (1, generator, generator)
    )
    np.testing.assert_array_equal(seeded, drawn)
    assert not np.array_equal(drawn, later)


def test_sentences_that_take_no_reference_have_no_annotator() -> None:
    """Not even where there is none to take."""

    both = Reference(3, (), None), Reference(7, (), None)
    corpus = Corpus(("a",) * 4, (both, both, both[1:], ()))
    annotators = corpus.edits.annotators_by_sentence()
    _, more = sentence_scores(choosing(np.array([[1, -1, 0, -1]])), np.ones((4, 2, 2)), annotators)
    np.testing.assert_array_equal(more["annotator"], [7, np.nan, 7, np.nan])
    counts = np.arange(16.0).reshape(4, 2, 2)
    scores, _ = sentence_scores(choosing(np.array([[1, -1, 0, -1]])), counts, annotators)
    np.testing.assert_array_equal(scores, [2 / 3, np.nan, 8 / 9, np.nan])


def test_joining_fills_missing_references() -> None:
    joined = join_counts([np.ones((1, 1, 2)), np.ones((1, 3, 2))])
    assert np.isnan(joined[0, 1:]).all()
    assert (joined[1] == 1).all()


def test_bad_input() -> None:
    one, fits = Corpus.from_texts(["a"], [["a"]]), Hypotheses("A", ("a",))
    bare = Corpus(("a", "b"), ((Reference(0, ()),), ()))
    for corpus, systems, problem in (
        (one, [], "no system"),
        (Corpus((), ()), [Hypotheses("A", ())], "empty"),
        (one, [Hypotheses("A", ("a", "b"))], "A has 2 sentences"),
        (Corpus.from_texts(["a"]), [fits], "no references"),
        (bare, [Hypotheses("A", ("a", "b"))], "sentence 2 has no reference"),
        (one, [fits] * 2, "two systems are called"),
    ):
        with pytest.raises(InputError, match=problem):
            evaluate(Toy(), corpus, systems)


def test_counts_made_elsewhere_give_the_same_scores() -> None:
    corpus, systems = example_corpus(), example_systems()
    counts = [
        join_counts([Toy().count(corpus[a:b], h[a:b]) for a, b in ((0, 4), (4, 6))])
        for h in systems
    ]
    made = scores_of(Toy(), corpus, systems, counts, resamples=20)
    whole = evaluate(Toy(), corpus, systems, resamples=20)
    assert made.signature == whole.signature
    for name in ("values", "sentences", "resampled"):
        np.testing.assert_array_equal(getattr(made, name), getattr(whole, name))
    with pytest.raises(InputError, match="counts of 2 systems for 3"):
        scores_of(Toy(), corpus, systems, counts[:2])
    with pytest.raises(InputError, match=r"does not fit 6 sentences and 2 statistics"):
        scores_of(Toy(), corpus, systems, [each[:-1] for each in counts])


def test_the_annotator_taken_is_named_whatever_the_order_of_references() -> None:
    one = Reference(1, (Edit(0, 1, "B"),))
    corpus = Corpus(("a",), ((one, Reference(0, (Edit(0, 1, "C"),))),))
    for metric in ("m2", "edits", "difficulty", "imeasure"):
        scores = evaluate(parse(metric), corpus, [Hypotheses("A", ("B",))], resamples=0)
        assert scores.sentence_parts["annotator"].tolist() == [[1]], metric


def parallel() -> tuple[Corpus, Hypotheses]:
    """Thirty sentences, and an output whose lines stand one too late from the third on."""
    words = ["apple", "river", "garden", "window", "letter", "summer", "teacher", "market"]
    triples = [(words[i % 8], i * 7, words[i * 3 % 8]) for i in range(30)]
    sources = [f"The {a} number {i} are very {b} ." for a, i, b in triples]
    right = [source.replace(" are ", " is ") for source in sources]
    shifted = [*right[:2], "An extra line that nobody asked for .", *right[2:-1]]
    return Corpus.from_texts(sources, [right]), Hypotheses("late", tuple(shifted))


@pytest.fixture
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let 200 sentences be so many that they are counted beside the guard, in four batches."""
    monkeypatch.setattr("errata.scoring.contract.MANY", 100)
    monkeypatch.setattr("errata.scoring.evaluate.MANY", 100)
    monkeypatch.setattr("errata.data.corpus.BATCH", 50)


def many_sentences() -> tuple[Corpus, Hypotheses]:
    """200 sentences, and an output a line too early."""
    words = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in "lmnrst"]
    draw = random.Random(0)
    sources = tuple(" ".join([*draw.choices(words, k=9), "."]) for _ in range(200))
    return Corpus.from_texts(sources, [sources]), Hypotheses("late", (*sources[1:], sources[0]))


@pytest.mark.usefixtures("few_are_many")
def test_many_sentences_are_counted_while_their_output_is_looked_at() -> None:
    corpus, late = many_sentences()
    sources = corpus.sources
    for threads in (1, 2):
        with pytest.raises(InputError, match=r"late.*1 line earlier"):
            evaluate("m2", corpus, late, resamples=0, threads=threads)
    odd = Hypotheses("odd", ("", *sources[1:11], "", *(f"{s[:-2]}." for s in sources[12:])))
    seen: list[tuple[int, int]] = []
    with pytest.warns(DataWarning) as said:
        first = evaluate(
            "gleu", corpus, odd, resamples=0, threads=2, progress=lambda *at: seen.append(at)
        )
    assert seen[-1] == (len(corpus), len(corpus))
    worse, spaces = sorted(str(each.message) for each in said)  # and none of empty lines
    assert "are further from every reference" in worse
    assert "spaces before punctuation" in spaces
    again = evaluate("gleu", corpus, odd, resamples=0, threads=1)  # and nothing more
    assert first["odd"] == again["odd"]


@pytest.mark.usefixtures("few_are_many")
def test_of_many_sentences_that_two_systems_have_is_spoken_once() -> None:
    corpus, _ = many_sentences()
    lines = tuple(f"{source[:-2]}." for source in corpus.sources)
    for threads in (1, 2):
        with pytest.warns(DataWarning) as said:
            evaluate("gleu", corpus[:], {"A": lines, "B": lines}, resamples=0, threads=threads)
        assert [str(each.message)[:2] for each in said] == ["A:", "A:"]
        assert {each.filename for each in said} == {errata.scoring.evaluate.__file__}


@pytest.mark.parametrize("metric", ["m2", "gleu", "imeasure"])
@pytest.mark.parametrize("resamples", [0, 20])
def test_two_threads_score_what_one_does(
    metric: str, resamples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("errata.scoring.evaluate.MANY", 1)
    found = []
    for threads in (1, 2):
        corpus, systems = example_corpus(), example_systems()
        scores = evaluate(metric, corpus, systems, resamples=resamples, threads=threads)
        parts = {name: part.tolist() for name, part in scores.sentence_parts.items()}
        resampled = None if scores.resampled is None else scores.resampled.tolist()
        found.append((list(scores), scores.sentences.tolist(), parts, resampled))
        each = [evaluate(metric, corpus, system, resamples=0) for system in systems]
        wanted = [one.sentences[0].tolist() for one in each if one.sentences is not None]
        np.testing.assert_array_equal(scores.sentences, wanted)
    assert found[0] == found[1]


def test_no_sentence_has_a_score_below_nothing_that_is_nothing() -> None:
    class Below(Toy):
        def score(self, totals: Floats) -> Floats:
            return -super().score(totals)

    counts = np.array([[[0.0, 1.0]], [[1.0, 1.0]]])
    scores, _ = sentence_scores(Below(), counts)
    assert [str(value) for value in scores.tolist()] == ["0.0", "-1.0"]


def test_counts_stay_what_they_are_whatever_a_metric_does_to_sums() -> None:
    class Writing(Toy):
        def score(self, totals: Floats) -> Floats:
            totals[..., 1] += 1
            return super().score(totals)

    corpus, systems = corpus_of(9)
    counts = Toy().count_all(corpus, systems)
    for each in counts:
        each.flags.writeable = False
    for resamples in (0, 5):
        scores_of(Writing(), corpus, systems, counts, resamples=resamples)


@pytest.mark.usefixtures("few_are_many")
def test_what_does_not_fit_is_said_before_what_cannot_be_counted() -> None:
    """A metric that needs more, or does not say, begins when the outputs were looked at."""
    corpus, late = many_sentences()
    counted: list[int] = []

    class Costly(Toy):
        def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Any:
            counted.append(len(corpus))
            raise ValueError("no more money")

    costly, free = Costly(), Costly()
    object.__setattr__(costly, "about", About(needs=("a server",)))
    object.__setattr__(free, "about", About(needs=("references",)))
    for metric, threads, begins in (
        (costly, 2, False),
        (Costly(), 2, False),
        (free, 1, False),
        (free, 2, True),
    ):
        counted.clear()
        with pytest.raises(InputError, match=r"late.*1 line earlier"):
            evaluate(metric, corpus, late, resamples=0, threads=threads)
        assert bool(counted) is begins
    lines = [*corpus.sources[:-1], "bal del ."]  # with which nothing is wrong
    with pytest.raises(PluginError, match="no more money"):
        evaluate(free, corpus, lines, resamples=0, threads=2)


@pytest.mark.usefixtures("few_are_many")
@pytest.mark.parametrize("trouble", [KeyboardInterrupt, ValueError])
def test_what_has_ended_waits_for_one_output_only(
    trouble: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interruption is one also where an output is to be refused."""
    corpus, late = many_sentences()
    looked: list[str] = []
    ended = threading.Event()

    class Pool(ThreadPoolExecutor):
        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            super().shutdown(False, cancel_futures=cancel_futures)
            ended.set()
            super().shutdown(wait)

    def look(corpus: Corpus, hypotheses: Hypotheses, threads: int) -> Any:
        if looked:
            ended.wait(60)  # the first output alone is looked at before all has ended
        looked.append(hypotheses.system)
        return check_text_alignment(corpus, hypotheses)

    class Broken(Toy):
        about = About(needs=("references",))

        def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Any:
            raise trouble

    monkeypatch.setattr("errata.scoring.contract.check_text_alignment", look)
    monkeypatch.setattr("errata.scoring.contract.ThreadPoolExecutor", Pool)
    systems = {f"late {k}": late for k in range(9)}
    with pytest.raises(KeyboardInterrupt if trouble is KeyboardInterrupt else InputError) as caught:
        evaluate(Broken(), corpus, systems, resamples=0, threads=2)
    assert len(looked) <= 2
    assert caught.value.__context__ is None


@pytest.mark.usefixtures("few_are_many")
def test_counting_ends_when_the_output_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the first sign of progress after the output was looked at."""
    corpus, late = many_sentences()
    looking: list[Future[Any]] = []
    seen: list[tuple[int, int]] = []

    class Pool(ThreadPoolExecutor):
        def submit(self, *given: Any, **more: Any) -> Future[Any]:
            looking.append(super().submit(*given, **more))
            return looking[-1]

    class Patient(Toy):
        about = About(needs=("references",))

        def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Any:
            wait(looking, timeout=60)
            return super().count(corpus, hypotheses)

    monkeypatch.setattr("errata.scoring.contract.ThreadPoolExecutor", Pool)
    with pytest.raises(InputError, match=r"late.*1 line earlier"):
        evaluate(
            *(Patient(), corpus, late), resamples=0, threads=2, progress=lambda *at: seen.append(at)
        )
    assert seen == []


def test_a_shifted_output_is_refused_unless_the_guard_is_off() -> None:
    corpus, late = parallel()
    for _ in range(2):  # to ask again is not to switch it off
        with pytest.raises(
            InputError, match=r"late:4: output lines 4–30 look like source lines 3–29"
        ):
            evaluate("m2", corpus, late, resamples=0)
    with pytest.raises(InputError, match="late:4: "):
        validate_counts(parse("m2"), corpus, [late], guard=True)
    assert evaluate("m2", corpus, late, resamples=0, guard=False)["late"] < 0.4


@pytest.mark.parametrize("odd", [{"resamples": -1}, {"resamples": 10.0}, {"rng": -1}])
def test_what_cannot_be_drawn_is_refused(odd: dict[str, int]) -> None:
    with pytest.raises(InputError, match=r"should be (a whole number, )?0 or more"):
        evaluate("m2", example_corpus(), example_systems(), **odd)


def test_an_odd_output_is_warned_of_once() -> None:
    corpus, _ = parallel()
    lower = Hypotheses("lower", tuple(r[0].corrected("").lower() for r in corpus.references))
    with pytest.warns(DataWarning, match="the output is in lower case"):
        evaluate("m2", corpus, lower, resamples=0)
    evaluate("gleu", corpus, lower, resamples=0)
    again = Corpus(corpus.sources, corpus.references)
    with pytest.warns(DataWarning, match="the output is in lower case"):
        evaluate("gleu", again, lower, resamples=0)


def test_an_output_checked_when_it_was_read_is_not_checked_again(tmp_path: Path) -> None:
    corpus, _ = parallel()
    path = tmp_path / "lower.txt"
    path.write_text("".join(r[0].corrected("").lower() + "\n" for r in corpus.references))
    with pytest.warns(DataWarning, match="the output is in lower case"):
        system = read_hypotheses(path, corpus=corpus)
    evaluate("m2", corpus, system, resamples=0)


def test_a_metric_may_be_its_signature_and_systems_one() -> None:
    corpus, systems = example_corpus(), example_systems()
    one = evaluate("m2(beta=1)", corpus, systems[0], resamples=10)
    other = evaluate(parse("m2(beta=1)"), corpus, [systems[0]], resamples=10)
    assert one.signature == other.signature
    assert one["perfect"] == other["perfect"]
    with pytest.raises(InputError, match="there is no metric"):
        evaluate("m3", corpus, systems[0])


def spoilt(change: Any) -> Any:
    """A metric of somebody else's whose counts are wrong in one way."""

    class Spoilt(Toy):
        def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Any:
            return change(super().count(corpus, hypotheses))

    return Spoilt()


def with_value(value: float, where: Any) -> Any:
    def change(counts: Any) -> Any:
        counts[where] = value
        return counts

    return change


CHANGES: list[tuple[Any, str]] = [
    (lambda counts: counts[:-1], r"\(5, 2, 2\).* 6 sentences"),
    (lambda counts: counts[..., :1], r"\(6, 2, 1\)"),
    (lambda counts: counts[:, 0], r"\(6, 2\)"),
    (lambda counts: counts[:, :0], r"\(6, 0, 2\)"),
    (lambda counts: np.ones_like(counts, int), "int64"),
    (lambda counts: counts.tolist(), "list"),
    (with_value(np.nan, (3, 0, 1)), "sentence 4"),
    (with_value(np.nan, 2), "sentence 3"),
    (with_value(np.inf, (0, 0, 0)), "sentence 1"),
]


def test_counts_are_checked_in_every_run() -> None:
    for change, problem in CHANGES:
        with pytest.raises(PluginError, match=rf"from .*test_evaluate: .* perfect .*{problem}"):
            evaluate(spoilt(change), example_corpus(), example_systems()[0], resamples=0)


def test_counts_of_nothing_are_refused() -> None:
    class Nothing(Toy):
        @property
        def statistics(self) -> tuple[str, ...]:
            return ()

    corpus, perfect = example_corpus(), example_systems()[0]
    with pytest.raises(InputError, match=r"the shape \(6, 2, 0\)"):
        scores_of(Nothing(), corpus, [perfect], [np.zeros((6, 2, 0))])


def choosing(choice: Any) -> Any:
    class Choosing(Toy):
        def choose(self, counts: Any, before: Any = None) -> Any:
            return choice

    return Choosing()


def test_choices_are_checked_in_every_run() -> None:
    for choice, problem in (
        *((np.full((1, 6), k), "not there") for k in (2, -2)),
        *((np.zeros(shape, int), "whole numbers") for shape in (6, (1, 5), (0, 6))),
        (np.zeros((1, 6)), "whole numbers"),
    ):
        with pytest.raises(PluginError, match=rf"toy, .*from .*test_evaluate: choose .*{problem}"):
            evaluate(choosing(choice), example_corpus(), example_systems()[0], resamples=0)


def test_a_missing_reference_is_not_taken() -> None:
    metric = parse("m2")
    counts = np.full((2, 2, 3), np.nan)
    counts[:, 0] = 1.0

    class Second(type(metric)):  # type: ignore[misc]
        name = "second"

        def choose(self, counts: Any, before: Any = None) -> Any:
            return np.array([[0, 1]])

    corpus = Corpus.from_texts(["a", "b"], [["a", "b"]])
    with pytest.raises(PluginError, match="took a missing reference in sentence 2"):
        scores_of(Second(), corpus, [Hypotheses("A", ("a", "b"))], [counts], resamples=0)


def test_systems_as_people_have_them() -> None:
    corpus = Corpus.from_texts(["He go home ."] * 2, [["He goes home ."] * 2])
    lines = ["He goes home .", "He go home ."]
    wanted = evaluate("m2", corpus, Hypotheses("a", tuple(lines)), resamples=0)
    for given in (lines, tuple(lines)):
        bare = evaluate("m2", corpus, given, resamples=0)
        assert bare.systems == ("hypotheses",)
        assert bare.values.tolist() == wanted.values.tolist()
    named = evaluate("m2", corpus, {"a": lines, "b": Hypotheses("x", tuple(lines))}, resamples=0)
    assert named.systems == ("a", "b")
    assert named["b"] == wanted["a"]


def test_what_is_no_system_is_refused() -> None:
    corpus = Corpus.from_texts(["He go home ."], [["He goes home ."]])
    for given, problem in (
        ("He goes home .", "a single text"),
        ({"a": "He goes home ."}, "a: a single text"),
        ({"a": [3]}, "a: .*int"),
        ([3], "int"),
        (None, "NoneType"),
        ([Hypotheses("a", ("x",)), "He goes home ."], "together with texts"),
        ([["He goes home ."]], "list; name"),
        ({}, "no system"),
    ):
        with pytest.raises(InputError, match=problem):
            evaluate("m2", corpus, given)  # type: ignore[arg-type]


def test_resamples_are_scored_block_by_block() -> None:
    """So that memory grows with the scores of the resamples only, and not with their counts."""
    seen = []

    class Watched(Toy):
        def score(self, totals: Any) -> Any:
            seen.append(totals.shape)
            return super().score(totals)

    counts = [chosen_counts(each, np.zeros((1, 6), int)) for each in (np.ones((6, 1, 2)),) * 3]
    blocks = [np.ones((size, 6)) for size in (4, 4, 2)]
    whole = bootstrap(Watched().score, counts, blocks)
    assert seen == [(4, 3, 2), (4, 3, 2), (2, 3, 2)]
    assert whole.shape == (10, 3)


def test_scores_that_are_no_numbers_are_named() -> None:
    corpus, systems = corpus_of(4)
    assert evaluate(Toy(), corpus, systems, resamples=0).notes == ()
    noted = evaluate(Toy(weight=float("nan")), corpus, systems, resamples=0).notes
    assert noted == ("no score, being no number: half, none",)


def test_columns_and_metrics_of_one_name_are_numbered() -> None:
    scores = evaluate("gleu", sample_corpus(), sample_systems(), resamples=0)
    assert summary_table([scores] * 3).columns == ("system", "GLEU", "GLEU [2]", "GLEU [3]")
    assert [each.label for each in unique_labels([scores] * 2)] == ["gleu", "gleu [2]"]

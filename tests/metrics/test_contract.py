"""Every metric, ours and every variant of it, keeps the contract."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from errata.core.errors import InputError, MissingExtraError
from errata.core.parameters import Parameterised, name_in
from errata.core.stats import Floats, Ints, Progress
from errata.data import Corpus, Hypotheses, Reference
from errata.metrics import METRICS, parse
from errata.metrics.base import Before, Description, Metric, MetricFacts, to_int
from errata.scoring.evaluate import evaluate
from errata.testing import check_metric, example_corpus, example_systems
from fake_chat import fake_chat
from tiny_encoder import LEARNED  # whose contract test_learned.py checks
from toy import Toy
from variants import ENCODED, VARIANTS


@pytest.fixture(scope="module")
def judge() -> Iterator[str]:
    """The address of a judge that knows what is right."""
    perfect, unchanged = (system.sentences for system in example_systems()[:2])

    def score(target: str, _: int) -> int:
        text = " ".join(re.sub(r"\[[^→]*→([^]]*)]", r" \1 ", target).split())
        return 5 if text in perfect else 3 if text in unchanged else 1

    with fake_chat() as fake:
        fake.score = score
        yield fake.url


@pytest.mark.parametrize(
    "text", [*VARIANTS, *(pytest.param(text, marks=pytest.mark.lm) for text in ENCODED)]
)
def test_keeps_the_contract(text: str, judge: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", judge)
    try:
        check_metric(parse(text))
    except MissingExtraError as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("name", METRICS.builtin)
def test_every_metric_is_in_the_suite(name: str) -> None:
    assert any(name_in(text) == name for text in (*VARIANTS, *ENCODED, *LEARNED))
    assert METRICS.get(name).name == name
    assert METRICS.get(name).__doc__


OPTIONAL = (
    *("choose", "scope", "divisible", "unsettled", "files", "figures", "for_sentences", "columns"),
    *("count_all", "headline", "facts", "describe"),
)


def test_the_contract_has_fifteen_members_and_no_more() -> None:
    own = {name for name in vars(Metric) if not name.startswith("_")}
    assert own == {"statistics", "count", "score", *OPTIONAL}
    assert {name for name in Metric.__annotations__ if not name.startswith("_")} == set()
    assert Metric.__abstractmethods__ == {"statistics", "count", "score"}  # and a name
    assert "name" in Parameterised.__annotations__


@pytest.mark.parametrize("member", OPTIONAL)
def test_no_member_is_there_for_one_metric(member: str) -> None:
    overriding = [n for n in METRICS.builtin if member in vars(METRICS.get(n))]
    # Only the length weights of CLEME hang on a whole corpus; what else did has facts instead.
    assert overriding == ["cleme"] if member == "unsettled" else len(overriding) > 1


@pytest.mark.parametrize("name", METRICS.builtin)
def test_every_override_says_what_it_does(name: str) -> None:
    cls = METRICS.get(name)
    for member in ("statistics", "count", "score", *OPTIONAL):
        if member in vars(cls):
            own = vars(cls)[member]
            assert (own.fget if isinstance(own, property) else own).__doc__, member


def test_a_sound_metric_passes() -> None:
    check_metric(Toy())


class ChoosesMissing(Toy):
    def choose(self, counts: Floats, before: Before | None = None) -> Ints:
        return np.full((1, len(counts)), counts.shape[1] - 1)


class ForgetsShape(Toy):
    def score(self, totals: Floats) -> Floats:
        return np.atleast_1d(super().score(totals))


class DependsOnNeighbours(Toy):
    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        counts = super().count(corpus, hypotheses)
        counts[..., 1] += len(corpus)
        return counts


class NotANumber(Toy):
    def score(self, totals: Floats) -> Floats:
        with np.errstate(all="ignore"):
            return totals[..., 0] / totals[..., 1]


class LosesASentence(Toy):
    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        return super().count(corpus, hypotheses)[:-1]


class LikesErrors(Toy):
    def score(self, totals: Floats) -> Floats:
        return 1 - super().score(totals)


class ChangesCounts(Toy):
    def choose(self, counts: Floats, before: Before | None = None) -> Ints:
        chosen = super().choose(counts)
        np.nan_to_num(counts, copy=False)
        return chosen


class ChoosesByChance(Toy):
    def choose(self, counts: Floats, before: Before | None = None) -> Ints:
        draws = np.random.default_rng().random((1000, len(counts))) < 0.5
        return np.where(draws, -1, super().choose(counts))


class SumsSentences(Toy):
    def score(self, totals: Floats) -> Floats:
        return super().score(totals.sum(axis=0)) if totals.ndim > 1 else super().score(totals)


class ScoresNoSentence(Toy):
    def choose(self, counts: Floats, before: Before | None = None) -> Ints:
        return np.full((1, len(counts)), -1)


class PartsOfAnotherShape(Toy):
    def figures(self, totals: Floats) -> dict[str, Floats | Ints]:
        return {"equal": totals}


class PartsWholeByChance(Toy):
    def figures(self, totals: Floats) -> dict[str, Floats | Ints]:
        equal = totals[..., 0]
        return {"equal": to_int(equal) if len(totals) == 1 else equal}


class PartsOfWords(Toy):
    def figures(self, totals: Floats) -> dict[str, Floats | Ints]:
        return {"equal": totals[..., 0].astype(str)}  # type: ignore[dict-item]


class NeverSingle(Toy):
    @property
    def for_sentences(self) -> Toy:
        return replace(self, weight=self.weight + 1)


class AnotherSingle(Toy):
    @property
    def for_sentences(self) -> Toy:
        return Toy()


class SingleCountsOtherwise(Toy):
    @property
    def for_sentences(self) -> Toy:
        return replace(self, weight=2.0)

    def count(self, corpus: Corpus, hypotheses: Hypotheses) -> Floats:
        return self.weight * super().count(corpus, hypotheses)


class CountsOthers(Toy):
    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        return [2 * self.count(corpus, h) for h in systems]


class CountsByPlace(Toy):
    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        return [(k + 1) * self.count(corpus, h) for k, h in enumerate(systems)]


class CountsTooFew(Toy):
    def count_all(
        self,
        corpus: Corpus,
        systems: Sequence[Hypotheses],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Floats]:
        return super().count_all(corpus, systems[1:])


class ColumnsOfItsOwn(Toy):
    columns = "judges"  # type: ignore[assignment]


class SpellsContext(Toy):
    def describe(self, facts: MetricFacts) -> Description:
        return Description("abc")  # type: ignore[arg-type]


class ListsFacts(Toy):
    def facts(self, corpus: Corpus, systems: Sequence[Hypotheses]) -> MetricFacts:
        return {"systems": [each.system for each in systems]}


class RunsUnsaid(Toy):
    def choose(self, counts: Floats, before: Before | None = None) -> Ints:
        there = np.where(np.isnan(counts[..., 0]), 0, 1).sum(axis=1)
        return ((np.arange(len(counts)) + 1) % 2 * (there - 1))[None]


class ScopeOfItsOwn(Toy):
    scope = "document"  # type: ignore[assignment]


class NameOfTwoWords(Toy):
    name = "my metric"


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        (ChoosesMissing, "chose a missing reference"),
        (ForgetsShape, "score must map"),
        (DependsOnNeighbours, "must not depend on the other sentences"),
        (NotANumber, "must be a number"),
        (LosesASentence, "do not fit 6 sentences"),
        (LikesErrors, "must not score below"),
        (ChangesCounts, "choose must not change the counts"),
        (ChoosesByChance, "choose must be repeatable"),
        (SumsSentences, "score must map"),
        (ScoresNoSentence, "some sentence must have a score"),
        (PartsOfAnotherShape, "part equal must have the scores' shape"),
        (PartsWholeByChance, "part equal must stay what it is"),
        (PartsOfWords, "part equal must be float or whole"),
        (NeverSingle, "for_sentences.for_sentences must be itself"),
        (AnotherSingle, "for_sentences must be the same kind of metric"),
        (SingleCountsOtherwise, "for_sentences must read the same counts"),
        (CountsOthers, "count_all must count what count does"),
        (CountsByPlace, "must not depend on the order of systems"),
        (CountsTooFew, "count_all must count every system"),
        (ColumnsOfItsOwn, "columns must be one of"),
        (SpellsContext, "the context that describe gives must be a tuple"),
        (ListsFacts, "facts must be whole numbers"),
        (RunsUnsaid, "choose does not keep to scope='sentence'"),
        (ScopeOfItsOwn, "scope must be one of"),
        (NameOfTwoWords, "name must be one word"),
    ],
)
def test_broken_metrics_are_caught(broken: type[Metric], problem: str) -> None:
    with pytest.raises(AssertionError, match=problem):
        check_metric(broken())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("m3", "no metric 'm3'"),
        ("m2(gamma=1)", "no parameter 'gamma'"),
        ("m2(beta=1, beta=0.5)", "'beta' is given twice"),
        ("m2(beta=x)", "should be a float"),
        ("m2(1)", "cannot read"),
        ("m2(", "cannot read"),
        ("m2(beta=[x])", "cannot read"),
        ("m2(**x)", "cannot read"),
        ("", "cannot read"),
        ("m2(choice=best)", "choice='best' is unknown"),
        ("m2(beta=-1)", "beta"),
    ],
)
def test_bad_signatures(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem.replace("[", r"\[").replace("(", r"\(")):
        parse(text)


def test_label_shows_what_differs() -> None:
    assert parse("m2").label == "m2"
    assert parse("m2(beta=1)").label == "m2(beta=1.0)"


def test_examples_have_every_shape() -> None:
    corpus = example_corpus()
    assert {len(refs) for refs in corpus.references} == {1, 2}
    assert any("" in h.sentences for h in example_systems())


# What each signature is refused for, by a pattern of the message.
REFUSED = {
    "is unknown": (
        *("bleu(tokenize=spm)", "bleu(smooth=laplace)", "gleu(references=best)"),
        *("gleu(formula=eq1)", "gleu(brevity=none)", "gleu2015(version='2016')"),
        *("m2(choice=first)", "m2(duplicates=never)", "imeasure(references=both)"),
        *("imeasure(aspect=all)", "imeasure(choice=best)", "imeasure(tokenise=moses)"),
        *("scribendi(perplexity=median)", "scribendi(rounding=up)", "scribendi(total=max)"),
        *("fluency(embeddings=bert)", "cleme(mode=both)", "green(unit=byte)"),
    ),
    "between 1 and": (
        *("bleu(n=0)", "bleu(n=1000000)", "gleu(n=0)", "gleu(n=1000000)"),
        *("gleu(draws=0)", "gleu(draws=10000000)", "green(n=0)", "green(n=10)"),
    ),
    "does not go with": ("bleu(smooth_value=1)", "bleu(smooth=floor, smooth_value=-1)"),
    "from 0 to 1000": ("gleu2015(lam=-1)", "gleu2015(lam=1e999)", "gleu2015(lam=1e308)"),
    r"between 0\.001 and 1000": (
        *("m2(beta=0)", "m2(beta=-1)", "m2(beta=1e999)", "cleme(beta=0)", "green(beta=0)"),
        *("imeasure(weight=0)", "imeasure(weight=1e999)", "imeasure(weight=1e-9)"),
        *("imeasure(beta=0)", "imeasure(beta=-1)", "imeasure(beta=1e200)", "pt_m2(beta=0)"),
    ),
    "alpha and gamma lie between 0 and 1": (
        *("meteor(alpha=2)", "meteor(gamma=-1)", "meteor(beta=1000)"),
    ),
    "should (be|hold) words": (
        *("edits(only=(1, 2))", "difficulty(ignore=([],))", "edits(ignore=('a', None))"),
    ),
    r"should lie in 0\.\.1": ("scribendi(threshold=80)",),
    "m2|cleme2|difficulty|bleu|imeasure": (
        *("m2(max_unchanged=-1)", "m2(max_unchanged=0.5)", "m2(ignore_case=1)"),
        *("m2(max_unchanged=True)", "pt_m2(max_unchanged=-1)"),
        *("cleme2(factors=(1.0,))", "cleme2(factors=(0.5, 0.5, 0.5, -0.5))"),
        "cleme2(sentence_factors=(0.1, 0.1, 0.1, 0.1))",
        *(f"difficulty({name}={value})" for name in "abc" for value in ("1e308", "1e999")),
        *("bleu(smooth=floor, smooth_value=1e308)", "imeasure(longest=0)"),
    ),
}


@pytest.mark.parametrize("problem", REFUSED)
def test_parameters_that_cannot_be_computed_with_are_refused(problem: str) -> None:
    for text in REFUSED[problem]:
        with pytest.raises(InputError, match=problem):
            parse(text)


@pytest.mark.parametrize("text", ["bleu", "gleu", "m2", "cleme", "imeasure", "edits", "ter"])
def test_a_sentence_without_a_reference_is_refused(text: str) -> None:
    corpus = Corpus(("a b", "c d"), ((Reference(text="a b"),), ()))
    with pytest.raises(InputError, match="sentence 2 has no reference"):
        evaluate(text, corpus, Hypotheses("A", ("a b", "c d")))

"""Every metric, ours and every variant of it, keeps the contract."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from command import errata
from errata.core.errors import DataWarning, InputError, MissingExtraError
from errata.core.parameters import name_in
from errata.core.stats import Floats, Ints
from errata.data import Corpus, Edit, Hypotheses, Reference
from errata.metrics import METRICS, parse
from errata.metrics.base import Description, Metric, to_int
from errata.scoring.evaluate import evaluate
from errata.testing import check_metric, example_corpus, example_systems
from fake_chat import fake_chat
from scored import scored
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


def test_a_sound_metric_passes() -> None:
    check_metric(Toy())


def broken(**members: Any) -> Metric:
    """A metric with one member that breaks the contract; it is found where it is pickled."""
    name = f"Broken{sum(each.startswith('Broken') for each in globals())}"
    globals()[name] = found = type(name, (Toy,), {"__module__": __name__, **members})
    return found()


def counting(change: Callable[[Floats, Corpus], Floats]) -> Metric:
    return broken(count=lambda self, c, h: change(Toy.count(self, c, h), c))


def choosing(choose: Callable[[Floats], Ints]) -> Metric:
    return broken(choose=lambda self, counts, before=None: choose(counts))


def scoring(change: Callable[[Floats], Floats]) -> Metric:
    return broken(score=lambda self, totals: change(totals))


def counting_all(count_all: Callable[..., list[Floats]]) -> Metric:
    return broken(
        count_all=lambda self, c, s, *, threads=None, progress=None: count_all(self, c, s)
    )


def figuring(figure: Callable[[Floats], Any]) -> Metric:
    return broken(figures=lambda self, totals: {"equal": figure(totals)})


def single(make: Callable[[Any], Metric], **members: Any) -> Metric:
    return broken(for_sentences=property(make), **members)


SOUND = Toy()


def not_a_number(totals: Floats) -> Floats:
    with np.errstate(all="ignore"):
        return totals[..., 0] / totals[..., 1]


def changing(counts: Floats) -> Ints:
    chosen = SOUND.choose(counts)
    np.nan_to_num(counts, copy=False)
    return chosen


def by_chance(counts: Floats) -> Ints:
    draws = np.random.default_rng().random((1000, len(counts))) < 0.5
    return np.where(draws, -1, SOUND.choose(counts))


def running(counts: Floats) -> Ints:
    there = np.where(np.isnan(counts[..., 0]), 0, 1).sum(axis=1)
    return ((np.arange(len(counts)) + 1) % 2 * (there - 1))[None]


@pytest.mark.parametrize(
    ("metric", "problem"),
    [
        (choosing(lambda c: np.full((1, len(c)), c.shape[1] - 1)), "chose a missing reference"),
        (scoring(lambda totals: np.atleast_1d(SOUND.score(totals))), "score must map"),
        (
            counting(lambda counts, corpus: counts + [0, len(corpus)]),
            "must not depend on the other sentences",
        ),
        (scoring(not_a_number), "must be a number"),
        (counting(lambda counts, _: counts[:-1]), "do not fit 6 sentences"),
        (scoring(lambda totals: 1 - SOUND.score(totals)), "must not score below"),
        (choosing(changing), "choose must not change the counts"),
        (choosing(by_chance), "choose must be repeatable"),
        (scoring(lambda t: SOUND.score(t.sum(axis=0) if t.ndim > 1 else t)), "score must map"),
        (choosing(lambda counts: np.full((1, len(counts)), -1)), "some sentence must have a score"),
        (figuring(lambda totals: totals), "part equal must have the scores' shape"),
        (
            figuring(lambda t: to_int(t[..., 0]) if len(t) == 1 else t[..., 0]),
            "part equal must stay what it is",
        ),
        (figuring(lambda totals: totals[..., 0].astype(str)), "part equal must be float or whole"),
        (
            single(lambda self: replace(self, weight=self.weight + 1)),
            "for_sentences.for_sentences must be itself",
        ),
        (single(lambda self: Toy()), "for_sentences must be the same kind of metric"),
        (
            single(
                lambda self: replace(self, weight=2.0),
                count=lambda self, c, h: self.weight * Toy.count(self, c, h),
            ),
            "for_sentences must read the same counts",
        ),
        (
            counting_all(lambda self, c, systems: [2 * self.count(c, h) for h in systems]),
            "count_all must count what count does",
        ),
        (
            counting_all(lambda self, c, s: [(k + 1) * self.count(c, h) for k, h in enumerate(s)]),
            "must not depend on the order of systems",
        ),
        (
            counting_all(lambda self, c, systems: Toy.count_all(self, c, systems[1:])),
            "count_all must count every system",
        ),
        (broken(columns="judges"), "columns must be one of"),
        (
            broken(describe=lambda self, facts: Description("abc")),  # type: ignore[arg-type]
            "the context that describe gives must be a tuple",
        ),
        (
            broken(facts=lambda self, c, systems: {"systems": [each.system for each in systems]}),
            "facts must be whole numbers",
        ),
        (choosing(running), "choose does not keep to scope='sentence'"),
        (broken(scope="document"), "scope must be one of"),
        (broken(name="my metric"), "name must be one word"),
    ],
)
def test_broken_metrics_are_caught(metric: Metric, problem: str) -> None:
    with pytest.raises(AssertionError, match=problem):
        check_metric(metric)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("m3", "no metric 'm3'"),
        ("m2(gamma=1)", "no parameter 'gamma'"),
        ("m2(beta=1, beta=0.5)", "'beta' is given twice"),
        ("m2(beta=x)", "should be a float"),
        *((text, "cannot read") for text in ("m2(1)", "m2(", "m2(beta=[x])", "m2(**x)", "")),
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


EDITS = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 3)).map(
        lambda at: Edit(at[0], min(6, at[0] + at[1]), "x")
    ),
    max_size=4,
)


@given(st.lists(st.lists(EDITS, max_size=2), max_size=3))
def test_overlaps_are_known(several: list[list[list[Edit]]]) -> None:
    """And what can be carried out whole is carried out whole."""
    references = tuple(
        tuple(Reference(k, tuple(edits)) for k, edits in enumerate(sentence))
        for sentence in several
    )
    source = "a b c d e f"
    corpus = Corpus((source,) * len(references), references)
    failed = False
    for reference in (each for sentence in references for each in sentence):
        with_first = reference.corrected(source, overlapping=True)
        try:
            assert reference.corrected(source) == with_first
        except InputError:
            failed = True
    assert corpus.edits.has_overlaps() == failed


@pytest.mark.parametrize("metric", ["gleu", "bleu", "ter", "green", "edits(gold=reextracted)"])
def test_metrics_take_the_first_from_the_left(metric: str) -> None:
    edits = (Edit(3, 5, "z w"), Edit(0, 2, "x"), Edit(1, 4, "y"))
    corpus = Corpus(("a b c d e", "f g"), ((Reference(0, edits),), (Reference(0, ()),)))
    plain = Corpus(corpus.sources, ((Reference(0, edits[:2]),), (Reference(0, ()),)))
    outputs = Hypotheses("A", ("x c z w", "f g"))
    wanted = scored(parse(metric), plain, outputs)
    if "reextracted" in metric:
        found = scored(parse(metric), corpus, outputs)
    else:
        with pytest.warns(DataWarning, match="edits of one annotator overlap"):
            found = scored(parse(metric), corpus, outputs)
    assert found.values.tolist() == wanted.values.tolist()


def test_studies_take_the_first_from_the_left_too(tmp_path: Path) -> None:
    """`references`, `stress` and `report --old` ended with an error; chunks name what helps."""
    edits = [(0, 2, "x", 0), (1, 3, "y", 0), (1, 2, "z", 1)]
    lines = "".join(f"A {s} {e}|||R|||{c}|||REQUIRED|||-NONE-|||{k}\n" for s, e, c, k in edits)
    (tmp_path / "gold.m2").write_text("".join(f"S a b c {k}\n{lines}\n" for k in range(40)))
    (tmp_path / "old").write_text("".join(f"x c {k}\n" for k in range(40)))
    (tmp_path / "new").write_text("".join(f"x c {k}\n" if k % 2 else "q\n" for k in range(40)))
    commands = (
        ("references",),
        ("stress", "-m", "gleu", "--resamples", "0"),
        ("report", "old", "new", "--old", "old", "-o", "page.html", "-m", "m2"),
    )
    for command in commands:
        errata(*command, "--gold", "gold.m2", cwd=tmp_path)
    refused = errata("score", "--gold", "gold.m2", "old", "-m", "cleme", cwd=tmp_path, code=2)
    assert "gold='reextracted'" in refused.stderr

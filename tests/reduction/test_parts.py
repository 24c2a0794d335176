"""Every metric in parts, wherever they were cut: all digits, intervals and words of the whole."""

import contextlib
import gc
import itertools
import json
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, reduce
from operator import add
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from errata.core.errors import InputError, MissingExtraError
from errata.core.parameters import name_in
from errata.core.stats import Floats, Ints
from errata.data import Corpus, Edit, Hypotheses, Reference, Scores
from errata.data.digest import corpus_digest
from errata.edits import with_edits
from errata.metrics import METRICS, gleu, parse
from errata.metrics.base import Metric, join_counts
from errata.metrics.difficulty import chunk_references, write_weights
from errata.scoring.accumulator import (
    CountParts,
    check_divisible,
    count_part,
    sentence_scores,
    settle_parts,
)
from errata.scoring.evaluate import evaluate, evaluate_batches, score_parts
from errata.scoring.resampling import LIMITS, BootstrapLimits
from errata.scoring.results import Facts, covered_by
from errata.testing import example_corpus, example_systems
from tiny_encoder import LEARNED
from variants import ENCODED, VARIANTS

# A corpus that is put together, one that is read part by part, and one without a histogram.
READ, MANY = BootstrapLimits(held=5, share=1), BootstrapLimits(held=5, distinct=2)
# One sentence alone is too little to know the language of.
pytestmark = pytest.mark.filterwarnings("ignore:the language model trigram")
# What no part can be scored by, with the reason that the documentation gives (docs/scale.md).
REFUSED = {
    "judge": "it shows the sentences around one, and what it says of its answers is of all of them"
}
TILES = 11


def tiled(tiles: int) -> tuple[Corpus, list[Hypotheses]]:
    """The example again and again, so that vectors of counts are few."""
    one = example_corpus()
    corpus = Corpus(one.sources * tiles, one.references * tiles, name="example")
    return corpus, [Hypotheses(h.system, h.sentences * tiles) for h in example_systems()]


@pytest.fixture(autouse=True, scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A file of weights, where the tests run: five systems, of whom some got each chunk right."""
    place = tmp_path_factory.mktemp("weights")
    corpus = tiled(TILES)[0].keep_annotators(0)
    gold = with_edits(corpus, "as_is", "aligned")
    sizes = np.diff(chunk_references(gold).bounds).tolist()
    write_weights(
        5, [[(i + c) % 6 for c in range(n)] for i, n in enumerate(sizes)], place / "weights.txt"
    )
    with contextlib.chdir(place):
        yield


class Counted(NamedTuple):
    """The counts ``[sentence][system]`` of a corpus and the facts, sentence by sentence."""

    metric: Metric
    counts: list[list[Floats]]
    facts: list[Facts]


@cache
def counted(text: str) -> Counted:
    metric = parse(text)
    found = [part_of(metric, i, i + 1) for i in range(6 * TILES)]
    return Counted(metric, [counts for counts, _ in found], [facts for _, facts in found])


def part_of(metric: Metric, start: int, stop: int) -> tuple[list[Floats], Facts]:
    """The counts of all systems in a part of the corpus, and its facts."""
    corpus, systems = corpus_for(metric)
    part = replace(corpus[start:stop], first=start)
    counts, facts = count_part([metric], part, [h[start:stop] for h in systems], guard=False)
    return counts[0], facts


def facts_of_all(metric: Metric, facts: Sequence[Facts]) -> Facts:
    """The facts of all parts, with the digest that only the whole has."""
    covered = covered_by(metric)
    digests = {covered: corpus_digest(corpus_for(metric)[0], covered)}
    return replace(reduce(add, facts), digests=digests)


def corpus_for(metric: Metric, tiles: int = TILES) -> tuple[Corpus, list[Hypotheses]]:
    """Return the corpus; a file of weights covers one annotator."""
    corpus, systems = tiled(tiles)
    return (corpus.keep_annotators(0) if "weights.txt" in repr(metric) else corpus), systems


@contextmanager
def enumerating(limits: BootstrapLimits) -> Iterator[None]:
    """GLEU goes through all combinations of a corpus that is always put together."""
    usual = gleu.ENUMERATED
    gleu.ENUMERATED = usual if limits.held >= usual else 0
    try:
        yield
    finally:
        gleu.ENUMERATED = usual


@cache
def of_the_whole(text: str, limits: BootstrapLimits) -> Scores:
    with enumerating(limits):
        metric = parse(text)
        return evaluate(metric, *corpus_for(metric), resamples=20, guard=False, limits=limits)


def of_parts(text: str, cuts: Sequence[int], limits: BootstrapLimits) -> Scores:
    metric, counts, facts = counted(text)
    ends = list(itertools.pairwise((0, *cuts, len(counts))))
    if metric.unsettled is not None:  # sentences of one part are not those of several
        several = [part_of(metric, a, b)[0] for a, b in ends]
        parts = [[each[s] for each in several] for s in range(3)]
    else:
        nothing = np.zeros((0, 1, len(metric.statistics)))
        parts = [
            [join_counts([nothing, *(each[s] for each in counts[a:b])]) for a, b in ends]
            for s in range(3)
        ]
    together = facts_of_all(metric, facts)
    with enumerating(limits):
        scores = score_parts(metric, together.systems, together, parts, resamples=20, limits=limits)
    alone = [sentences_of(metric, each) for each in settle_parts(metric, parts)]
    sentences = np.stack([scores for scores, _ in alone])
    figures = {name: np.stack([more[name] for _, more in alone]) for name in alone[0][1]}
    return replace(scores, sentences=sentences, sentence_parts=figures)


def sentences_of(metric: Metric, parts: CountParts) -> tuple[Floats, dict[str, Floats | Ints]]:
    """Return the scores and figures of sentences, part by part."""
    found = [sentence_scores(metric, each) for each in parts if len(each)]
    figures = {name: np.concatenate([more[name] for _, more in found]) for name in found[0][1]}
    return np.concatenate([scores for scores, _ in found]), figures


def assert_same(found: Scores, wanted: Scores) -> None:
    assert found.values.tolist() == wanted.values.tolist()
    assert (found.context, found.notes) == (wanted.context, wanted.notes)
    assert {k: v.tolist() for k, v in found.parts.items()} == {
        k: v.tolist() for k, v in wanted.parts.items()
    }
    np.testing.assert_array_equal(found.resampled, wanted.resampled)
    for name in ("scorer", "systems", "headline", "name", "label", "shares", "skipped"):
        assert getattr(found, name) == getattr(wanted, name)


def assert_same_sentences(found: Scores, wanted: Scores) -> None:
    np.testing.assert_array_equal(found.sentences, wanted.sentences)
    # Counts alone do not say who the annotators of a sentence are.
    assert {*found.sentence_parts} == {*wanted.sentence_parts} - {"annotator"}
    for name, part in found.sentence_parts.items():
        np.testing.assert_array_equal(part, wanted.sentence_parts[name])


# What the whole corpus settles: mean lengths, and places in a file of weights.
SETTLED = [
    "cleme",
    "cleme(total=mean, mode=independent)",
    "cleme(choice=isolated, beta=1)",
    "difficulty(weights='weights.txt')",
    "difficulty(weights='weights.txt', measure=A, a=2, b=1, c=3)",
]
IN_PARTS = [text for text in (*VARIANTS, *SETTLED) if name_in(text) not in REFUSED]
MODELLED = [*LEARNED, *ENCODED]
# Parts without a sentence or with one, 8 parts, 64, the whole, and halves.
CUTS = [(0, 0, 1, 1, 65, 66, 66), range(9, 63, 9)]
MORE_CUTS = [range(1, 64), (), (31,)]
# One metric for every way to choose references, draw or settle counts.
KINDS = ["m2", "m2(choice=optimal)", "gleu", "edits", "imeasure", "cleme", SETTLED[3]]
FEW, SEVERAL = settings(max_examples=4), settings(max_examples=25)


def assert_parts_score_as_the_whole(
    text: str, limits: BootstrapLimits, several: Sequence[Sequence[int]]
) -> None:
    wanted = of_the_whole(text, limits)
    for cuts in several:
        found = of_parts(text, tuple(cuts), limits)
        assert_same(found, wanted)
        assert_same_sentences(found, wanted)


@pytest.mark.parametrize("text", IN_PARTS)
def test_parts_score_as_the_whole(text: str) -> None:
    assert_parts_score_as_the_whole(text, READ, CUTS)


@pytest.mark.long
@pytest.mark.parametrize("limits", [LIMITS, READ, MANY], ids=["held", "read", "many"])
def test_parts_score_as_the_whole_under_every_limit(limits: BootstrapLimits) -> None:
    for text in IN_PARTS:
        assert_parts_score_as_the_whole(text, limits, [*CUTS, *MORE_CUTS])


def test_every_metric_is_scored_in_parts_or_refused() -> None:
    """All that `errata metrics` lists; what is left out is refused, and has a reason."""
    names = {name_in(text) for text in (*IN_PARTS, *MODELLED)}
    assert names | {*REFUSED} == {*METRICS.builtin}
    for text in (*IN_PARTS, *MODELLED):
        check_divisible(parse(text))
    for text in (
        *REFUSED,
        *(f"interpolate(first={each}, second=m2)" for each in ("judge", "cleme")),
    ):
        with pytest.raises(InputError, match="fewer sentences"):
            check_divisible(parse(text))


@pytest.mark.lm
@pytest.mark.parametrize("text", MODELLED)
def test_models_score_parts_as_the_whole(
    text: str, tiny_models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every text goes through a model once: what it says is kept."""
    monkeypatch.chdir(tiny_models)
    try:
        for limits in (LIMITS, MANY):
            for cuts in ((31,), (0, 0, 1, 1, 65, 66, 66)):
                assert_same(of_parts(text, cuts, limits), of_the_whole(text, limits))
    except MissingExtraError as missing:
        pytest.skip(str(missing))


def test_limits_decide_the_kind_of_bootstrap() -> None:
    for limits, kind in ((LIMITS, "histogram"), (READ, "histogram"), (MANY, "poisson")):
        assert f"bootstrap:{kind}" in of_the_whole("m2", limits).context
    assert "bootstrap:sentences" in evaluate("m2", *tiled(1), guard=False).context


@pytest.mark.parametrize("text", ["m2", "gleu", "difficulty"])
@pytest.mark.parametrize("kind", ["histogram", "sentences", "poisson", "blocks"])
def test_kind_of_bootstrap_that_is_asked_for(text: str, kind: str) -> None:
    drawn: dict[str, Any] = {"resamples": 20, "bootstrap": kind}
    wanted = evaluate(text, *tiled(TILES), guard=False, **drawn)
    assert f"bootstrap:{kind}" in wanted.context
    metric, counts, facts = counted(text)
    together = facts_of_all(metric, facts)
    parts = [[each[s] for each in counts] for s in range(3)]
    assert_same(score_parts(metric, together.systems, together, parts, **drawn), wanted)


@pytest.mark.parametrize("text", ["m2", "gleu"])
@FEW
@given(cuts=st.lists(st.integers(0, 66), max_size=5), limits=st.sampled_from([LIMITS, MANY]))
def test_blocks_of_documents_are_those_of_the_whole(
    text: str, cuts: list[int], limits: BootstrapLimits
) -> None:
    corpus, systems = tiled(TILES)
    documented = replace(corpus, documents=tuple(f"essay {i // 7}" for i in range(66)))
    ends = itertools.pairwise((0, *sorted(cuts), 66))
    batches = ((documented[a:b], [h[a:b] for h in systems]) for a, b in ends)
    drawn: dict[str, Any] = {"resamples": 20, "bootstrap": "blocks", "guard": False}
    with enumerating(limits):
        (found,) = evaluate_batches([parse(text)], batches, limits=limits, **drawn)
        wanted = evaluate(text, documented, systems, limits=limits, **drawn)
        other = evaluate(text, corpus, systems, limits=limits, **drawn)
    assert_same(found, wanted)
    assert "bootstrap:blocks of documents" in found.context
    assert "bootstrap:blocks" in other.context
    assert not np.array_equal(found.resampled, other.resampled)


def test_documents_of_some_sentences_are_refused() -> None:
    corpus, systems = tiled(1)
    documented = replace(corpus, documents=("essay",) * 6)
    batches = [(documented[:3], [h[:3] for h in systems]), (corpus[3:], [h[3:] for h in systems])]
    with pytest.raises(InputError, match="only some sentences have a document"):
        evaluate_batches([parse("m2")], batches, bootstrap="blocks", guard=False)
    with pytest.raises(InputError, match="documents of 2 sentences, but there are 6"):
        replace(corpus, documents=("essay",) * 2)
    assert documented.without_sentences(1).documents == ("essay",) * 5


@pytest.mark.parametrize("limits", [LIMITS, READ, MANY], ids=["held", "read", "many"])
def test_batches_score_as_the_whole(limits: BootstrapLimits) -> None:
    corpus, systems = corpus_for(parse(SETTLED[3]))
    ends = itertools.pairwise((0, 2, 2, 9, 18, 66))
    batches = ((replace(corpus[a:b], first=a), [h[a:b] for h in systems]) for a, b in ends)
    metrics = [parse(text) for text in KINDS]
    with enumerating(limits):
        found = evaluate_batches(metrics, batches, resamples=20, guard=False, limits=limits)
        for metric, scores in zip(metrics, found, strict=True):
            drawn: dict[str, Any] = {"resamples": 20, "limits": limits}
            assert_same(scores, evaluate(metric, corpus, systems, guard=False, **drawn))


def test_batches_of_unrelated_texts_are_refused_unless_meant() -> None:
    """As those of the whole are, however they came in."""
    sources = [f"the {word} of number {word} stands here ." for word in "abcdefghijklmnopqrst"]
    corpus = Corpus.from_texts(sources, [sources])
    other = Hypotheses("A", tuple(f"{word} {word} nothing alike at all" for word in range(20)))
    batches = [(corpus[a : a + 10], [other[a : a + 10]]) for a in (0, 10)]
    with pytest.raises(InputError, match="A: ") as whole:
        evaluate("m2", corpus, [other], resamples=0)
    with pytest.raises(InputError, match="A: ") as parts:
        evaluate_batches([parse("m2")], batches, resamples=0)
    assert parts.value.remedy == whole.value.remedy
    assert len(evaluate_batches([parse("m2")], batches, resamples=0, guard=False)) == 1


TOLD = [parse(text) for text in ("m2", "bleu", "imeasure", "green")]
TOLD.append(parse("errant(extractor=aligned, ignore=('Nn',), outputs=mixed)"))


@st.composite
def small_corpora(draw: st.DrawFn) -> tuple[Corpus, list[Hypotheses]]:
    """Kinds of two inventories, edits beside texts, corrections to be split, empty references."""
    kinds = st.sampled_from(["R:VERB", "Nn", "R:PUNCT", "noop2"])
    edits = st.builds(
        lambda kind, word: (Edit(0, 1, word, kind),), kinds, st.sampled_from(["b", "b's"])
    )
    references = st.lists(
        st.one_of(
            st.just(Reference(0, text="b")),
            edits.map(lambda several: Reference(0, several)),
            st.just(Reference(0, (), implied=True)),
        ),
        min_size=1,
        max_size=2,
    ).map(lambda several: tuple(Reference(i, r.edits, r.text) for i, r in enumerate(several)))
    sets = draw(st.lists(references, min_size=2, max_size=7))
    n = len(sets)
    proposed = tuple(draw(st.lists(edits, min_size=n, max_size=n)))
    systems = [Hypotheses("Z", ("b",) * n, proposed), Hypotheses("B", ("",) * n)]
    return Corpus(("a",) * n, tuple(sets)), systems


@SEVERAL
@given(given=small_corpora(), cuts=st.tuples(*[st.integers(0, 7)] * 2))
def test_facts_of_parts_add_up_to_those_of_the_whole(
    given: tuple[Corpus, list[Hypotheses]], cuts: tuple[int, int]
) -> None:
    corpus, systems = given
    n = len(corpus)
    a, b, c = (
        Facts.of(TOLD, corpus[i:j], [h[i:j] for h in systems])
        for i, j in itertools.pairwise((0, *(min(n, cut) for cut in sorted(cuts)), n))
    )
    together = (a + b) + c
    assert together.to_json() == (a + (b + c)).to_json()
    stored = Facts.from_json(json.loads(json.dumps(together.to_json(), sort_keys=True)))
    assert stored == together
    assert together.sentences == n
    for metric in TOLD:
        facts = metric.facts(corpus, systems)
        assert together.by_metric[repr(metric)] == facts
        assert stored.describe(metric) == together.describe(metric)
        assert metric.describe(facts).notes == together.describe(metric).notes


def test_skipped_sentences_keep_their_places() -> None:
    corpus = Corpus.from_texts([*"abcd"], [[*"abcd"]])
    systems = [Hypotheses("A", (*"abcd",))]
    first = Facts.of([], corpus.without_sentences(1), [systems[0].without_sentences(1)])
    second = Facts.of([], corpus.without_sentences(0, 3), [systems[0].without_sentences(0, 3)])
    together = first + second
    assert together.skipped == (1, 4, 7)
    assert together.sentences == 5


def test_parts_must_fit() -> None:
    m2, corpus = parse("m2"), Corpus.from_texts(["a"], [["a"]]).keep_annotators(0)
    a = Facts.of([m2], corpus, [Hypotheses("A", ("a",))])
    with pytest.raises(InputError, match="in one order"):
        a + Facts(("B",), 1, parts=1)
    with pytest.raises(InputError, match=r"read differently \(kept\)"):
        a + Facts(("A",), 1, parts=1)
    with pytest.raises(InputError, match="empty"):
        score_parts(m2, ["A"], Facts(("A",)), [[]])
    with pytest.raises(InputError, match="counts of 2 systems"):
        score_parts(m2, ["A"], a, [[], []])
    for limits in (LIMITS, BootstrapLimits(held=0)):
        with pytest.raises(InputError, match=r"(A|the standing) has counts of 2 sentences, of 1"):
            score_parts(m2, ["A"], a, [[np.ones((2, 1, 3))]], limits=limits)


def test_weights_of_another_corpus_are_refused() -> None:
    """Too few sentences, shifted ones, and parts that do not know their places."""
    metric = parse("difficulty(weights='weights.txt')")
    small, few = corpus_for(metric, 1)
    whole, systems = corpus_for(metric)
    shifted = (replace(whole[1:], first=0), [h[1:] for h in systems])
    halves = [(small[a:b], [h[a:b] for h in few]) for a, b in ((0, 3), (3, 6))]
    for several, message in (
        ([(small, few)], "weights of 66 sentences, but the corpus has 6"),
        ([shifted], r"weights.txt.*(66 sentences|chunks)"),
        (halves, "where in it they begin|chunks"),
        ([(small[:3], [h[:3] for h in few])] * 2, "where in it they begin"),
    ):
        with pytest.raises(InputError, match=message):
            scored_in_parts(metric, several)


def scored_in_parts(metric: Metric, several: list[tuple[Corpus, list[Hypotheses]]]) -> Scores:
    parts = [count_part([metric], *part, guard=False) for part in several]
    facts = reduce(add, (facts for _, facts in parts))
    counts = [[part[0][s] for part, _ in parts] for s in range(3)]
    return score_parts(metric, facts.systems, facts, counts)


@pytest.mark.parametrize("frozen", [False, True])
def test_what_the_caller_froze_stays_so_and_else_nothing_does(frozen: bool) -> None:
    corpus, systems = tiled(1)
    assert not gc.get_freeze_count()
    if frozen:
        gc.freeze()
    circle: Any = type("Circle", (), {})()  # garbage that has to be looked for
    circle.itself = circle
    left = weakref.ref(circle)
    del circle
    try:
        evaluate_batches([parse("m2")], [(corpus, systems)], resamples=0)
        with pytest.raises(ZeroDivisionError):
            evaluate_batches([parse("m2")], ((corpus, systems) for _ in [1 // 0]), resamples=0)
        assert bool(gc.get_freeze_count()) == frozen
        gc.collect()
        assert left() is None
    finally:
        gc.unfreeze()
    assert gc.isenabled()

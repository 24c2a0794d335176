"""Measures aimed at one kind of edit, against GECLens and by hand."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from errata.core.stats import holm
from errata.data import Corpus, Edit, Hypotheses, Reference
from errata.edits import edits_of, retype
from errata.io import read_m2, write_m2
from errata.io.outputs import read_systems
from errata.metrics.errant import Edits
from errata.metrics.errant_by_type import (
    TargetedScores,
    aimed_figures,
    changed_sentences,
    targeted_scores,
)

SVA, DET = "R:VERB:SVA", "M:DET"


def edits(*several: tuple[int, int, str, str]) -> tuple[Edit, ...]:
    return tuple(Edit(start, end, text, kind) for start, end, kind, text in several)


# Five sentences, as the edge case of GECLens's own tests is described: missed, unnecessary and
# replaced words, two annotators, two edits of one kind in a sentence, a sentence left alone.
SOURCES = (
    "He go to school every day .",
    "I has cat and she sleep .",
    "They was at the home .",
    "All is well .",
    "She walk and he run fast .",
)
GOLD = (
    (edits((3, 3, DET, "the")), edits((1, 2, SVA, "goes"))),
    (edits((2, 2, DET, "a")), edits((2, 2, DET, "the"))),
    (edits((1, 2, SVA, "were"), (3, 4, "U:DET", "")), edits((1, 2, SVA, "were"))),
    ((), ()),
    (edits((1, 2, SVA, "walks"), (4, 5, SVA, "runs")), edits((1, 2, SVA, "walks"))),
)
MADE = (
    edits((1, 2, SVA, "goes")),
    (),
    edits((1, 2, SVA, "were"), (3, 4, "U:DET", "")),
    edits((2, 3, "R:ADJ", "good")),
    edits((1, 2, SVA, "walks"), (5, 6, "R:ADV", "quickly")),
)


def small() -> tuple[Corpus, Hypotheses]:
    references = tuple(tuple(Reference(k, e) for k, e in enumerate(both)) for both in GOLD)
    corpus = Corpus(SOURCES, references)
    texts = (Reference(0, e).corrected(s) for s, e in zip(SOURCES, MADE, strict=True))
    return corpus, Hypotheses("hyp", tuple(texts), MADE)


def test_by_hand() -> None:
    """All three sentences with agreement errors are mended for one of two annotators."""
    found = targeted_scores(Edits(), *small())
    at = found.kinds.index(SVA)
    assert found.counts[at].tolist() == [3, 0, 0]
    assert (found.solved[at], found.asked[at], found.success[at]) == (3, 3, 1.0)
    at = found.kinds.index(DET)
    assert found.counts[at].tolist() == [0, 0, 1]
    assert (found.solved[at], found.asked[at]) == (0, 2)
    assert (found.clean, found.overcorrected, found.changed) == (1, 1.0, 0.8)
    at = found.kinds.index("R:ADJ")
    assert math.isnan(found.success[at])
    assert found.alarms[at] == 1000 / 31
    assert found.all_alarms == 2000 / 31
    known = [found.kinds.index(kind) for kind in (SVA, DET, "U:DET")]
    assert found.macro(found.f) == pytest.approx(np.mean(found.f[known]))
    merged = targeted_scores(Edits(), *small(), tier=2)
    at = merged.kinds.index("DET")
    assert merged.counts[at].tolist() == [1, 0, 1]


def theirs(folder: Path, corpus: Corpus, system: Hypotheses, kind: str) -> dict[str, Any]:
    score = pytest.importorskip("geclens.score", reason="needs GECLens and ERRANT")
    gold, made, source = folder / "gold.m2", folder / "made.m2", folder / "source.txt"
    if not gold.exists():
        write_m2(corpus, gold)
        write_m2(
            Corpus(corpus.sources, tuple((Reference(0, e),) for e in system.edits or ())), made
        )
        source.write_text("".join(f"{s}\n" for s in corpus.sources), "utf-8")
    return score.score_system("x", str(source), str(gold), str(made), kind).metrics


def check(folder: Path, corpus: Corpus, system: Hypotheses, metric: Edits, tier: int) -> int:
    """Compare every kind; how many there are."""
    found: TargetedScores = targeted_scores(metric, corpus, system, tier=tier)
    for k, kind in enumerate(found.kinds):
        if kind == "UNK":
            continue
        other = theirs(folder, corpus, system, kind)
        only = other["type_only"]
        assert found.counts[k].tolist() == [only["tp"], only["fp"], only["fn"]], kind
        assert (found.precision[k], found.recall[k]) == (only["P"], only["R"])
        assert found.f[k] == pytest.approx(only["F0.5"], rel=1e-15)
        assert (found.solved[k], found.asked[k]) == (
            other["success"]["count"],
            other["success"]["of"],
        ), kind
        assert found.clean == other["overcorrection"]["of"]
    # Of a text GECLens compares the text, of M2 the edits, among which are those of spaces.
    bare = pytest.importorskip("geclens.score").normalise
    texts = zip(corpus.sources, system.sentences, strict=True)
    changed = [bare(source) != bare(text) for source, text in texts]
    clean = [not any(r.edits for r in refs) for refs in corpus.references]
    assert found.changed == np.mean(changed)
    if any(clean):
        assert found.overcorrected == np.mean(np.array(changed)[clean])
    else:
        assert math.isnan(found.overcorrected)
    return len(found.kinds)


@pytest.mark.errant
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("tier", [2, 3])
def test_equals_geclens_on_the_example_it_describes(tmp_path: Path, tier: int) -> None:
    corpus, system = small()
    assert check(tmp_path, corpus, system, Edits(), tier) >= 4
    empty = theirs(tmp_path, corpus, system, "R:CONJ")
    assert empty["type_only"]["F0.5"] == 1.0
    assert math.isnan(empty["success"]["rate"])


@pytest.mark.errant
@pytest.mark.filterwarnings("ignore")
def test_equals_geclens_on_what_stands_in_its_tests(tmp_path: Path) -> None:
    """The M2 block, the p-values and the counts that the tests of its source package spell out.

    Their files (examples/toy, tests/data/edge) are in none of its packages.
    """
    stats = pytest.importorskip("geclens.stats", reason="needs GECLens and ERRANT")
    (tmp_path / "block.m2").write_text(
        "S She go to school .\nA 1 2|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||0\n"
        "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1\n\n"
    )
    block = read_m2(tmp_path / "block.m2")
    for text in ("She goes to school .", "She go to school .", "She went to the school ."):
        (system,) = edits_of(block, [Hypotheses("x", (text,))])
        edits = tuple(Edit(e.start, e.end, e.replacement, SVA) for e in (system.edits or ((),))[0])
        folder = tmp_path / text.split()[1]
        folder.mkdir()
        made = Hypotheses("x", (text,), (edits,))
        check(folder, block, made, Edits(), 3)
        assert not targeted_scores(Edits(), block, made).clean  # one annotator changed it
    assert holm([0.01, 0.04, 0.03]).tolist() == stats.holm([0.01, 0.04, 0.03]) == [0.03, 0.06, 0.06]
    assert holm([0.5]).tolist() == stats.holm([0.5])
    totals = np.array([[0, 0, 0], [0, 0, 5], [3, 1, 2]], np.float64)
    mine = aimed_figures(np.concatenate([totals, np.ones((3, 3))], axis=1), 0.5)["F0.5"]
    assert mine == pytest.approx(stats._vec_metric("type_only", totals), rel=1e-15)


@pytest.mark.errant
@pytest.mark.filterwarnings("ignore")
def test_equals_geclens_on_conll14(tmp_path: Path, conll14: Path, submissions: Path) -> None:
    """Two annotators and 1,312 sentences, whose edits all have the kinds of one inventory."""
    corpus = retype(read_m2(conll14 / "conll14st-test.m2"), "aligned", ("UNK",))
    (text,) = read_systems([str(submissions / "CAMB")], corpus=corpus)
    (system,) = edits_of(corpus, [text])
    assert check(tmp_path, corpus, system, Edits(duplicates=True), 3) > 10


@st.composite
def annotated(draw: st.DrawFn) -> tuple[Edit, ...]:
    """Some edits of a sentence of four words, none on another."""
    found = []
    for start in range(4):
        kind = draw(st.sampled_from(["", "", SVA, DET, "R:ADJ"]))
        if kind:
            end = start if kind == DET else start + 1
            found.append(Edit(start, end, draw(st.sampled_from("xy")), kind))
    return tuple(found)


@pytest.mark.errant
@pytest.mark.filterwarnings("ignore")
@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(annotated(), st.lists(annotated(), min_size=1, max_size=3)), min_size=1))
def test_equals_geclens_on_anything(
    drawn: list[tuple[tuple[Edit, ...], list[tuple[Edit, ...]]]],
) -> None:
    """Any edits of any annotators: what GECLens counts with both sides restricted to a kind."""
    score = pytest.importorskip("geclens.score", reason="needs GECLens and ERRANT")
    types = pytest.importorskip("geclens.types")

    def block(several: Sequence[tuple[Edit, ...]]) -> str:
        lines = ["S a b c d"]
        for annotator, edits in enumerate(several):
            end = f"|||REQUIRED|||-NONE-|||{annotator}"
            lines += [f"A {e.start} {e.end}|||{e.kind}|||{e.replacement}{end}" for e in edits]
            lines += [] if edits else [f"A -1 -1|||noop|||-NONE-{end}"]
        return "\n".join(lines)

    references = tuple(
        tuple(Reference(k, each) for k, each in enumerate(gold)) for _, gold in drawn
    )
    corpus = Corpus(("a b c d",) * len(drawn), references)
    made = tuple(mine for mine, _ in drawn)
    texts = tuple(Reference(0, mine).corrected("a b c d") for mine in made)
    found = targeted_scores(Edits(), corpus, Hypotheses("x", texts, made))
    for k, kind in enumerate(found.kinds):
        counts, _, _ = score.errant_counts(
            [block([mine]) for mine in made],
            [block(gold) for _, gold in drawn],
            types.as_selector(kind),
            restrict=True,
        )
        assert found.counts[k].tolist() == counts.sum(0).tolist()


def test_tokenising_is_no_change() -> None:
    corpus = Corpus.from_texts(["a ' b", "a b", "a b"])
    system = Hypotheses("A", ("a ’ b", "ab", "a c"))
    assert changed_sentences(corpus, system).tolist() == [False, False, True]

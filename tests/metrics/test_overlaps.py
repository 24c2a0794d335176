"""Gold edits that overlap: metrics that need a corrected text take the first from the left."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from command import errata
from errata.core.errors import DataWarning, InputError
from errata.data import Corpus, Edit, Hypotheses, Reference
from errata.metrics import parse
from scored import scored

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

"""The GLEU of 2015 against what its two scripts gave, and against counters."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conll_texts import SYSTEMS, read_conll, read_table
from errata.data import Corpus, Hypotheses, Reference
from errata.metrics.gleu import GLEU2015
from scored import scored

SENTENCE = st.lists(st.sampled_from("abcd"), max_size=8).map(" ".join)


@pytest.mark.parametrize(
    ("variant", "version", "lam"),
    [
        ("jun2015_paper", "2015-06", "0.0"),
        ("jun2015_paper", "2015-06", "0.1"),
        *(("mar2016_denomfix", "2016-03", lam) for lam in ("0.0", "0.1", "0.5", "1.0")),
    ],
)
def test_equals_the_scripts(
    variant: str, version: str, lam: str, conll14: Path, submissions: Path, oracles: Path
) -> None:
    rows = {
        row["system"]: float(row["score"])
        for row in read_table(oracles / "gleu" / "gleu2015.tsv")
        if (row["variant"], row["lambda"]) == (variant, lam)
    }
    assert len(rows) == 13
    metric = GLEU2015(lam=float(lam), version=version)
    scores = scored(metric, *read_conll(conll14, submissions))
    np.testing.assert_allclose(scores.values, [rows[s] for s in SYSTEMS], rtol=0, atol=1e-11)


def test_table_2_of_the_paper(conll14: Path, submissions: Path) -> None:
    """GLEU_0 ranks the 13 systems as the paper does."""
    scores = scored(GLEU2015(lam=0.0), *read_conll(conll14, submissions))
    assert [scores.systems[i] for i in scores.order] == [
        "CUUI",
        "AMU",
        "UFC",
        "CAMB",
        "INPUT",
        "IITB",
        "SJTU",
        "PKU",
        "UMC",
        "NTHU",
        "POST",
        "RAC",
        "IPN",
    ]


def slow(
    source: str, hypothesis: str, references: list[str], lam: float, version: str
) -> list[float]:
    """One sentence's statistics: h, r, then numerators and denominators."""
    h = len(hypothesis.split())
    lengths = [len(text.split()) for text in references]
    nearest = min(lengths, key=lambda length: abs(length - h))
    result: list[float] = [h, h if version == "2015-06" else nearest]
    for n in range(1, 5):
        grams = [
            Counter(tuple(t[i : i + n]) for i in range(len(t) - n + 1))
            for t in map(str.split, [source, hypothesis, *references])
        ]
        S, H, R = grams[0], grams[1], Counter[tuple[str, ...]]()
        for reference in grams[2:]:
            R |= reference
        total = max(0, h + 1 - n)
        if version == "2015-06":
            result.append((H & (R - S)).total() + (H & R).total() - lam * (H & (S - R)).total())
            result.append((R - S).total() + total)
        else:
            gained = sum((H & R)[g] for g in H if g not in S)
            kept = sum((H & S)[g] for g in H if g not in R)
            result.append(gained + max(0, (H & R).total() - lam * kept))
            result.append(gained + total)
    return result


@settings(max_examples=60, deadline=None)
@given(
    SENTENCE,
    SENTENCE,
    st.lists(SENTENCE, min_size=1, max_size=3),
    st.sampled_from([0.0, 0.1, 1.0]),
    st.sampled_from(["2015-06", "2016-03"]),
)
def test_equals_counters(
    source: str, hypothesis: str, references: list[str], lam: float, version: str
) -> None:
    corpus = Corpus((source,), (tuple(Reference(k, text=t) for k, t in enumerate(references)),))
    gleu = GLEU2015(lam=lam, version=version)
    counts = gleu.count(corpus, Hypotheses("A", (hypothesis,)))
    expected = slow(source, hypothesis, references, lam, version)
    np.testing.assert_allclose(counts[0, 0], expected, rtol=0, atol=1e-12)
    score = 0.0
    if min(expected) > 0:
        h, r, *rest = expected
        logs = [math.log(rest[i] / rest[i + 1]) for i in range(0, 8, 2)]
        score = math.exp(min(0, 1 - h / r) + sum(logs) / 4)
    assert float(gleu.score(counts[0, 0])) == pytest.approx(score, abs=1e-12)

"""The first screen of scores: within the terminal, marks and verdicts that agree."""

from __future__ import annotations

import re

import numpy as np
import pytest

from command import errata
from errata.data import Scores
from errata.datasets import sample_corpus, sample_systems
from errata.scoring.evaluate import evaluate
from errata.scoring.tables import displayed_scores, summary_table
from errata.scoring.verdicts import lead_over, tied_with_best, verdict_sentence
from errata.tables.cells import display_width
from errata.tables.table import render


@pytest.mark.parametrize("width", [40, 47, 60, 80])
@pytest.mark.parametrize(
    "name", ["日本語のとても長い名前のシステムです", "a_name_" * 9, "many short words " * 4]
)
def test_no_line_is_wider_than_the_terminal(name: str, width: int) -> None:
    """Wide characters take two places; a name without blanks is cut in the end."""
    values = np.array([0.5, 0.25])
    results = [
        Scores(f"{m}()", (name.strip(), "B"), values, headline=f"{m} score", shares=(f"{m} score",))
        for m in ("m2", "gleu", "imeasure")
    ]
    table = displayed_scores(results)[0]
    lines = render(table, width=width).splitlines()
    shown = [line for line in lines if not line.startswith("signature: ")]
    assert max(map(display_width, shown)) <= max(width, 16 + display_width(name) * ("_" in name))
    grid = shown[: next(i for i, line in enumerate(shown) if line.startswith(("note", "*")))]
    assert max(map(display_width, grid)) <= width
    assert "".join(name.split()) in "".join("".join(shown).split())


def test_verdicts_have_the_digits_asked_for() -> None:
    one = Scores("m2()", ("A",), np.array([0.5]), headline="F", shares=("F",), label="m2")
    # No place is kept for marks that nobody has.
    assert render(summary_table([one])).splitlines()[1:4:2] == ["system  m2 F", "A       50.0"]
    two = Scores(
        "m2()", ("A", "B"), np.array([0.51234, 0.25]), headline="F", shares=("F",), label="m2"
    )
    assert verdict_sentence(two) == "m2: A is ahead of B by 26.2"
    assert verdict_sentence(two, digits=3) == "m2: A is ahead of B by 26.234"
    shown = errata("score", "--sample", "-m", "m2", "--digits", 3).stdout
    assert re.search(r"m2: eager is tied with cautious: \d+\.\d{3} \[", shown)


@pytest.mark.parametrize("metric", ["m2", "gleu", "bleu"])
def test_marks_intervals_and_p_values_say_the_same(metric: str) -> None:
    """Against a slow count over the resamples, for every pair of systems."""
    scores = evaluate(metric, sample_corpus(), sample_systems(), resamples=200, rng=1)
    assert scores.resampled is not None
    drawn = scores.resampled.tolist()
    one_sided = scores.p_values()
    alike = tied_with_best(scores)
    best = scores.order[0]
    for a in range(len(scores)):
        for b in set(range(len(scores))) - {a}:
            apart = sorted(row[a] - row[b] for row in drawn)
            lost = sum(d < -1e-12 for d in apart) + sum(abs(d) <= 1e-12 for d in apart) / 2
            assert one_sided[a, b] == pytest.approx((lost + 1) / 201)
            lead = lead_over(scores, a, b)
            other = (200 - lost + 1) / 201
            assert lead.p == pytest.approx(min(1, 2 * min((lost + 1) / 201, other)))
            assert lead.by.low == pytest.approx(np.quantile(apart, 0.025))
            assert (lead.p > 0.05) == (lead.by.low <= 0 <= lead.by.high)
            if a == best:
                assert alike[b] == (lead.p > 0.05)

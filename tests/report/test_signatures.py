"""Short signatures: they make the metric again, and differ where anything differs."""

from __future__ import annotations

import pytest

from errata.core.signatures import short_signature, signature_id
from errata.metrics import parse


@pytest.mark.parametrize("text", ["m2", "m2(beta=1)", "gleu(n=2)", "imeasure(weight=1.5)", "bleu"])
def test_a_short_signature_makes_its_metric_again(text: str) -> None:
    metric = parse(text)
    short = short_signature(f"{metric!r} | sentences:72 | errata:0.1.0")
    assert short.partition("#")[0] == metric.label
    assert parse(short.partition("#")[0]) == metric


def test_every_fact_changes_the_id() -> None:
    ids = {signature_id(f"{parse('m2')!r} | sentences:{n}") for n in range(100)}
    assert len(ids) == 100


def test_what_is_no_metric_keeps_its_first_words() -> None:
    assert short_signature("agreement of judges | x").startswith("agreement_of_judges#")
    assert short_signature("mine.py:overlap(n=2) | x").startswith("mine.py:overlap(n=2)#")

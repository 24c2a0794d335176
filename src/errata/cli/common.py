"""Old doors to `errata.cli.options` and `errata.cli.output`, until nobody knocks at them."""

from __future__ import annotations

from errata.cli.options import DEFAULT_METRICS, Inputs, seed_option
from errata.cli.output import ProgressBar as Progress
from errata.cli.output import emit, format_option
from errata.data import Corpus, Hypotheses

__all__ = ["DEFAULT_METRICS", "Progress", "emit", "format_option", "load", "seed_option"]


def load(
    outputs: tuple[str, ...],
    gold: str | None,
    source: str | None,
    refs: tuple[str, ...],
    sample: bool,
) -> tuple[Corpus, list[Hypotheses]]:
    """The corpus and the systems that the options name."""
    return Inputs(gold, source, refs, sample=sample).scored(outputs)

"""Scores alone: without intervals, and of any outputs, also such as fit their sources badly."""

from typing import Any

from errata.data import Scores
from errata.scoring.evaluate import evaluate


def scored(metric: Any, corpus: Any, systems: Any, **more: Any) -> Scores:
    return evaluate(metric, corpus, systems, resamples=0, guard=False, **more)

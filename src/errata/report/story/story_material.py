"""What a report is made from: whatever was given, and how it is to be counted."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

from errata.data import Corpus, Hypotheses, Judgment, Members, Scores
from errata.errors import DataWarning
from errata.human.comparisons import Unit
from errata.io.digests import FileDigest
from errata.io.linter import Checked
from errata.io.runs import StoredRun
from errata.metrics import Metric
from errata.numbers import Progress
from errata.report.table import Table
from errata.studies.gate import GateBound

__all__ = ["GateVerdict", "StoryMaterial", "heard_warnings"]


@dataclass(frozen=True)
class GateVerdict:
    """Whether thresholds hold: the table has one row per threshold."""

    passed: bool
    table: Table


@dataclass(frozen=True)
class StoryMaterial:
    """Everything a report may be told from; nothing but what is there is told.

    ``systems`` are scored by ``metrics`` on ``corpus``; ``scores`` were computed elsewhere.
    ``judgments`` are ranked, ``human`` are people's scores of systems. The systems are compared
    with ``base``, one of them, by the metrics ``compared``, and held to the conditions ``fail_if``
    (or ``gate`` says what became of them elsewhere). ``slices`` say of every sentence what it
    belongs to, by column. ``checked`` and ``warnings`` are what was
    found in the files, ``files`` their fingerprints, ``command`` what makes the report again.
    ``origin`` is what a signature says of how judgments were read; ``hide`` and ``common`` choose
    the systems of metrics against people.
    """

    corpus: Corpus | None = None
    systems: Sequence[Hypotheses] = ()
    metrics: Sequence[Metric] = ()
    compared: Sequence[Metric] = ()
    scores: Sequence[Scores] = ()
    judgments: Sequence[Judgment] | None = None
    human: Scores | None = None
    base: str | None = None
    slices: Mapping[str, Sequence[str]] | None = None
    runs: Sequence[StoredRun] = ()
    fail_if: Sequence[str] = ()
    bound: GateBound = "confident"
    gate: GateVerdict | None = None
    checked: Checked | None = None
    warnings: Sequence[str] = ()
    files: Sequence[FileDigest] = ()
    command: str = ""
    title: str = ""
    extractor: str | None = None
    ranker: str = "expected_wins"
    members: Members = "all"
    unit: Unit = "sentences"
    origin: Sequence[str] = ()
    hide: Sequence[str] = ()
    common: bool = False
    resamples: int = 1000
    confidence: float = 0.95
    seed: int = 0
    threads: int | None = None
    progress: Progress | None = None

    @property
    def level(self) -> str:
        """How sure intervals are, in words (``95 %``, which no line breaks)."""
        return f"{self.confidence * 100:g}\N{NO-BREAK SPACE}%"


@contextmanager
def heard_warnings() -> Iterator[list[str]]:
    """Collect what is warned of data within, and let it be shown as before."""
    heard: list[str] = []
    with warnings.catch_warnings():
        before = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, DataWarning):
                heard.append(str(message))
            before(message, category, filename, lineno, file, line)

        warnings.showwarning = show
        yield heard

"""The alignment guard: do this corpus and this output belong together?"""

from __future__ import annotations

from errata.data import Corpus, Hypotheses
from errata.io.findings import Finding

__all__ = ["check_alignment"]


def check_alignment(corpus: Corpus, hypotheses: Hypotheses, *, path: str | None = None
                    ) -> list[Finding]:
    """Everything suspicious about one system's output, worst first."""
    path = path or hypotheses.system
    n, m = len(corpus), len(hypotheses)
    if n != m:
        return [Finding("error", path, min(n, m) + 1, f"{m} sentences, but the corpus has {n}",
                        "an output has one line per source sentence", "line-count")]
    return []

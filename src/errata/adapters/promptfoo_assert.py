"""An assertion of promptfoo: ``type: python``, ``value: file://promptfoo_assert.py``.

A test has the variables ``source`` and ``reference`` (or ``references``); ``config`` of the
assertion may name a ``metric`` and a ``threshold``. The score is that of the sentence. A corpus
score is no mean of those: what it is made of is passed on as named scores, which promptfoo adds up
over all tests, and ``derivedMetrics`` makes F of the sums (docs/inside.md).
"""

from __future__ import annotations

from typing import Any

from errata.data import Corpus
from errata.scoring.evaluate import evaluate


def get_assert(output: str, context: dict[str, Any]) -> dict[str, Any]:
    """Whether a corrected sentence is good enough, how good, and why.

    >>> found = get_assert("He goes .", {"vars": {"source": "He go .", "reference": "He goes ."}})
    >>> found["pass"], found["score"], found["namedScores"]
    (True, 1.0, {'correct': 1.0, 'proposed': 1.0, 'gold': 1.0})
    """
    given, config = context["vars"], context.get("config") or {}
    references = given.get("references") or [given["reference"]]
    if isinstance(references, str):
        references = [line for line in references.splitlines() if line.strip()]
    corpus = Corpus.from_texts([given["source"]], [[each] for each in references])
    answer = " ".join(str(output).split())
    metric = config.get("metric", "m2")
    scores = evaluate(metric, corpus, [answer], resamples=0, guard=False)
    value = float(scores.values[0])
    counts = {name: float(part[0]) for name, part in scores.parts.items() if part.dtype.kind == "i"}
    threshold = float(config.get("threshold", 0.5))
    said = ", ".join(f"{name} {count:g}" for name, count in counts.items())
    return {
        "pass": value >= threshold,
        "score": value,
        "reason": f"{scores.label} {scores.headline} {value:.4f} (wanted {threshold:g}; {said})",
        "namedScores": counts,
    }

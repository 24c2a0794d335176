"""Every metric by name; nothing is imported before it is asked for.

Other packages add metrics with an entry point in the group ``errata.metrics``.
"""

from __future__ import annotations

from errata.core.parameters import class_of
from errata.core.registry import Registry
from errata.metrics.base import Metric

__all__ = ["DEFAULT_METRICS", "METRICS", "Metric", "parse"]

# The metrics that are computed by default.
DEFAULT_METRICS = ("m2", "imeasure", "gleu", "bleu")

METRICS: Registry[type[Metric]] = Registry(
    what="metric",
    builtin={
        "m2": "errata.metrics.m2:M2",
        "imeasure": "errata.metrics.imeasure:IMeasure",
        "gleu": "errata.metrics.gleu:GLEU",
        "gleu2015": "errata.metrics.gleu:GLEU2015",
        "bleu": "errata.metrics.bleu:BLEU",
        "ter": "errata.metrics.ter:TER",
        "meteor": "errata.metrics.meteor:METEOR",
        "green": "errata.metrics.green:GREEN",
        "errant": "errata.metrics.errant:Errant",
        "edits": "errata.metrics.errant:Edits",
        "cleme": "errata.metrics.cleme:CLEME",
        "cleme2": "errata.metrics.cleme:CLEME2",
        "pt_m2": "errata.metrics.pt_metrics:PTM2",
        "pt_errant": "errata.metrics.pt_metrics:PTErrant",
        "difficulty": "errata.metrics.difficulty:Difficulty",
        "scribendi": "errata.metrics.scribendi:Scribendi",
        "fluency": "errata.metrics.fluency:Fluency",
        "some": "errata.metrics.sub_metrics:SOME",
        "impara": "errata.metrics.impara:IMPARA",
        "bertscore": "errata.metrics.bertscore:BERTScore",
        "harper": "errata.metrics.grammar_errors:Harper",
        "errors": "errata.metrics.grammar_errors:Errors",
        "judge": "errata.metrics.judge:Judge",
        "interpolate": "errata.metrics.interpolate:Interpolate",
    },
    group="errata.metrics",
    accepts=class_of(Metric),
    must="it must be a Metric with @parameterised; see errata.testing.check_metric",
    example="m2(beta=0.5)",
    adapter="errata.metrics.user_function:metric_from_function",
)


def parse(text: str) -> Metric:
    """Read a metric from its signature: ``parse(repr(m)) == m``.

    >>> parse("m2(beta=1)").beta
    1.0
    """
    found: Metric = METRICS.parse(text)
    return found

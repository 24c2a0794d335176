"""Scores in MLflow: a number per metric with interval and parts, the table, the signature."""

from __future__ import annotations

import re
from collections.abc import Sequence

from errata.core.errors import InputError, MissingExtraError, install_extra
from errata.data import Scores
from errata.scoring.tables import score_table, unique_labels
from errata.tables.table import render


def log_scores(
    scores: Scores | Sequence[Scores], system: str | None = None, *, step: int | None = None
) -> dict[str, float]:
    """Log what metrics say of a system into the active run of MLflow; what was logged.

    ``m2`` is the score, ``m2.low`` and ``m2.high`` its interval, ``m2.P`` a part. The tables of all
    systems are kept as TSV, the signatures as tags: no number without what made it.
    """
    try:
        import mlflow
    except ModuleNotFoundError:
        raise MissingExtraError("MLflow", install_extra("mlflow")) from None

    results = unique_labels([scores] if isinstance(scores, Scores) else scores)
    if system is None and any(len(each) != 1 for each in results):
        raise InputError("whose scores?", remedy=f"name one of: {', '.join(results[0].systems)}")
    logged: dict[str, float] = {}
    for each in results:
        name, whose = _key(each.label), system or each.systems[0]
        s = each.systems.index(whose)
        logged[name] = each[whose]
        if each.resampled is not None:
            logged[f"{name}.low"], logged[f"{name}.high"] = each.interval()[s].tolist()
        logged |= {f"{name}.{_key(part)}": float(v[s]) for part, v in each.parts.items()}
        mlflow.set_tag(f"errata.signature.{name}", each.signature)
        mlflow.log_text(render(score_table(each), "tsv"), f"errata/{name}.tsv")
    mlflow.log_metrics(logged, step=step)
    return logged


def _key(name: str) -> str:
    """A name that MLflow takes: letters, digits, and a few signs."""
    return re.sub(r"[^\w.\-/ ]+", "_", name).strip("_ ")

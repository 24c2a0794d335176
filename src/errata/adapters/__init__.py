"""Errata inside what people already run: where the files are that other tools load.

``python -m errata.adapters NAME`` prints the place of one: a folder for ``lm_eval --include_path``
and for ``evaluate.load``, a file for promptfoo. MLflow calls `errata.adapters.mlflow_logging`.
"""

from __future__ import annotations

from pathlib import Path

from errata.core.errors import InputError

__all__ = ["ADAPTERS", "adapter_path"]

ADAPTERS = {"lm_eval": "lm_eval", "evaluate": "errata_gec", "promptfoo": "promptfoo_assert.py"}


def adapter_path(name: str) -> Path:
    """Where the files of an adapter are.

    >>> adapter_path("lm_eval").name, adapter_path("promptfoo").name
    ('lm_eval', 'promptfoo_assert.py')
    """
    if name not in ADAPTERS:
        raise InputError(f"there is no adapter {name!r}", remedy=f"known: {', '.join(ADAPTERS)}")
    return Path(__file__).parent / ADAPTERS[name]

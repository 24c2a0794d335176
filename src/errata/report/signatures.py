"""Signatures in short: what people read under a table, and paste into a paper."""

from __future__ import annotations

from collections.abc import Iterable

from errata.data import signature_id
from errata.errors import InputError
from errata.parameters import parameters_of, parse_arguments

__all__ = ["short_signature", "short_signatures", "signature_id"]


def short_signature(signature: str) -> str:
    """The scorer with the parameters that are not as usual, and the id of the whole signature.

    `errata verify` takes it: the parameters make the metric again, and the id says whether
    everything else (sentences, references, versions) was the same too.

    >>> short_signature("m2(beta=1.0, max_unchanged=2) | sentences:1312 | errata:0.1.0")
    'm2(beta=1.0)#a51f8209'
    >>> short_signature("level:system | sentences:1312")
    'level:system#256afea3'
    """
    return f"{_scorer(signature.partition(' | ')[0])}#{signature_id(signature)}"


def short_signatures(signatures: Iterable[str]) -> str:
    """Several in one line, each once."""
    return " ".join(dict.fromkeys(map(short_signature, signatures)))


def _scorer(head: str) -> str:
    """What stands before the facts, without the parameters that are the defaults."""
    from errata.human import RANKERS
    from errata.metrics import METRICS

    try:
        name, given = parse_arguments(head)
    except InputError:
        return head.partition("(")[0].strip().replace(" ", "_")
    scorers = next((known for known in (METRICS, RANKERS) if name in known.builtin), None)
    if scorers is None:
        return head
    usual = {p.name: p.default for p in parameters_of(scorers.get(name))}
    shown = [f"{key}={value!r}" for key, value in given.items() if value != usual.get(key)]
    return name + (f"({', '.join(shown)})" if shown else "")

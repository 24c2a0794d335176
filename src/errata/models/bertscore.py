"""BERTScore of two texts: how well the tokens of each find their like in the other.

Zhang, Kishore, Wu, Weinberger & Artzi 2020, "BERTScore: Evaluating text generation with BERT"
(ICLR). With the vectors of one layer of an encoder, made to length 1, of candidate x̂ and
reference x:

    P = mean over tokens of x̂ of max over tokens of x of x̂ᵢ·xⱼ      R the other way round
    F = 2PR / (P + R)

The mean goes over all tokens but the text's own special ones ([CLS], [SEP]); the maximum does not
leave out those of the other text, which is what the authors' program does. Every token has the
same weight (no idf). Where a side has no token, all three are 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from errata.errors import InputError
from errata.models.checkpoint import INSTALL
from errata.models.encoder import Encoder, parted
from errata.models.language import Options, in_batches, load_extra
from errata.models.memo import Cache, Memo, default_cache, shared
from errata.numbers import Floats

__all__ = ["BASELINES", "LAYERS", "default_layer", "open_bertscore"]

# The layers that the authors chose by correlation with people on WMT16. MiniLM, which they did not
# look at, has six; with SEEDA's people the fifth agrees best (r .792 with TS_edit on the 12 base
# systems; .781 to .791 below it, .736 with the last).
LAYERS = {"bert-base-uncased": 9, "roberta-large": 17, "minilm": 5}
# P, R and F of unrelated sentences, by model and layer (the authors' figures). MiniLM has none: on
# CoNLL-2014 they are .535, on short sentences .43.
BASELINES = {
    ("bert-base-uncased", 9): (0.35375935, 0.3537393, 0.35219112),
    ("roberta-large", 17): (0.83150584, 0.8314941, 0.83122575),
}
WINDOW = 256  # pairs whose texts are held together
CHARACTERS = 100_000  # of distinct texts held together: 25,000 vectors or so
SPACED = ("roberta", "gpt2")  # kinds of model whose program puts a blank before a text


def default_layer(model: str) -> int:
    """The layer to take of a model, by its name (or that of its folder).

    >>> default_layer("bert-base-uncased"), default_layer("models/roberta-large")
    (9, 17)
    """
    layer = LAYERS.get(_known(model))
    if layer is None:
        known = ", ".join(f"{name}: {layer}" for name, layer in LAYERS.items())
        raise InputError(
            f"no layer is known to be good for BERTScore with {_known(model)!r}",
            remedy=f"give layer=9, say; known are {known}",
        )
    return layer


def _known(model: str) -> str:
    return model if model in LAYERS else Path(model).name


def open_bertscore(
    model: str = "bert-base-uncased",
    options: Options | None = None,
    *,
    layer: int | None = None,
    rescale: bool = False,
    tokenizer: str = "",
    max_length: int = 512,
    cache: Cache | None = None,
) -> Memo:
    """BERTScore with a cache: ``rows(paired(candidate, reference))`` are P, R, F and tokens cut.

    Every distinct text goes through the model once for a window of pairs, so give pairs that share
    texts one after the other. ``rescale`` gives ``(x - b) / (1 - b)`` with the baselines b that
    are known of the model and layer.
    """
    options, where = options or Options(), cache or default_cache()
    chosen = default_layer(model) if layer is None else layer
    encoder = Encoder(
        model, options, where, tokenizer=tokenizer, max_length=max_length, layers=chosen
    )
    revision = f"{encoder.revision} role:bertscore layer:{chosen}"

    def scores(pairs: Sequence[str]) -> Floats:
        sides = [parted(pair) for pair in pairs]
        rows: list[tuple[float, ...]] = []
        for window in _windows([(a.strip(), b.strip()) for a, b in sides]):
            tokens = _encoded(encoder, list(dict.fromkeys(chain(*window))), options.batch_size)
            rows += [_score(tokens[a], tokens[b]) for a, b in window]
        return np.array(rows, np.float64)

    plain = shared(
        ("bertscore", encoder.key, where),
        lambda: Memo(scores, revision, where, columns=4, batch_size=WINDOW, sort=False),
    )
    if not rescale:
        return plain
    baseline = BASELINES.get((_known(model), chosen))
    if baseline is None:
        raise InputError(
            f"no baseline is known of {_known(model)!r}, layer {chosen}", remedy="leave rescale out"
        )
    low = np.array([*baseline, 0.0])
    return shared(
        ("rescaled bertscore", encoder.key, where),
        lambda: Memo(
            lambda pairs: (plain.rows(pairs) - low) / (1 - low),
            f"{revision} baseline:{','.join(map(str, baseline))}",
            where,
            columns=4,
            batch_size=WINDOW,
            sort=False,
        ),
    )


class TokenVectors(NamedTuple):
    """The vectors of a text's tokens, which of them count, and how many tokens were cut."""

    vectors: Any
    counts: Any
    cut: int


def _windows(pairs: Sequence[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """Pairs in their order, as many at a time as their distinct texts fit into memory."""
    window: list[tuple[str, str]] = []
    held: dict[str, None] = {}
    for pair in pairs:
        held.update(dict.fromkeys(pair))
        if window and sum(map(len, held)) > CHARACTERS:
            yield window
            window, held = [], dict.fromkeys(pair)
        window.append(pair)
    if window:
        yield window


def _encoded(encoder: Encoder, texts: Sequence[str], batch_size: int) -> dict[str, TokenVectors]:
    found: dict[str, TokenVectors] = {}
    torch = load_extra("torch", encoder.checkpoint.label, INSTALL)
    tokenizer, model, _ = encoder.loaded
    own = (tokenizer.cls_token_id, tokenizer.sep_token_id)
    special = torch.tensor([token for token in own if token is not None])
    spaced = model.config.model_type in SPACED

    def encode(batch: Sequence[str]) -> Floats:
        # An empty text stays empty: a blank would be a token.
        read = encoder.read([text and f" {text}" for text in batch] if spaced else batch)
        vectors = torch.nn.functional.normalize(
            read.output.last_hidden_state.cpu().double(), dim=-1
        )
        ids, mask = (read.inputs[name].cpu() for name in ("input_ids", "attention_mask"))
        counts = mask.bool() & ~torch.isin(ids, special)
        for i, text in enumerate(batch):
            there = mask[i].bool()
            kept = vectors[i][there]
            found[text] = TokenVectors(kept, counts[i][there], int(read.cut[i]))
        return np.zeros((len(batch), 0))

    for _ in in_batches(encode, texts, batch_size, 0):
        pass
    return found


def _score(candidate: TokenVectors, reference: TokenVectors) -> tuple[float, float, float, float]:
    cut = float(candidate.cut + reference.cut)
    if not (candidate.counts.any() and reference.counts.any()):
        return 0.0, 0.0, 0.0, cut
    like = candidate.vectors @ reference.vectors.T
    precision = like.max(1).values[candidate.counts].mean().item()
    recall = like.max(0).values[reference.counts].mean().item()
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total else 0.0, cut

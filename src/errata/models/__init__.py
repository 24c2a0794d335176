"""Language models behind one method: `LanguageModel.log_probs`.

``gpt2`` (or any causal model by hub name, folder or GGUF file), ``smollm2`` and ``trigram`` are
ours; other packages add models with an entry point in the group ``errata.language_models``, and
a program with `register`. Results are kept on disk, see `errata.models.language`.
"""

from __future__ import annotations

from collections.abc import Callable

from errata.core.errors import ErrataError, InputError
from errata.core.registry import Registry
from errata.models.language import (
    Cache,
    CachedModel,
    LanguageModel,
    Options,
    default_cache,
    drop_memos,
    in_batches,
    perplexity,
    shared_model,
    warn_of_foreign,
)

__all__ = [
    "MODELS",
    "Cache",
    "CachedModel",
    "LanguageModel",
    "Options",
    "default_cache",
    "in_batches",
    "model_names",
    "open_model",
    "perplexity",
    "register",
    "warn_of_foreign",
]

Factory = Callable[[Options], LanguageModel]

MODELS: Registry[Factory] = Registry(
    what="language model",
    builtin={
        "smollm2": "errata.models.causal:open_smollm2",
        "trigram": "errata.models.causal:TrigramModel",
    },
    group="errata.language_models",
    accepts=callable,
    must="it must be called with Options and give a LanguageModel",
)
_registered: dict[str, Factory] = {}


def model_names() -> list[str]:
    """The models that have a name of their own; any other name is one for transformers."""
    return [*MODELS.names(), *sorted(_registered)]


def register(name: str, factory: Factory) -> None:
    """Make a language model known in this program: ``factory(options)`` is called to open it."""
    if not name.isidentifier() or name in MODELS.builtin:
        raise InputError(
            f"a language model cannot be called {name!r}",
            remedy="use a new name of letters, digits and underscores",
        )
    _registered[name] = factory
    drop_memos(name)


def open_model(
    name: str = "gpt2", options: Options | None = None, cache: Cache | None = None
) -> CachedModel:
    """Open a language model with its cache; the weights are loaded when a sentence needs them.

    The default is GPT-2 (small), the model of Islam & Magnani (2021). The same model is opened
    once in a process.
    """
    chosen, where = options or Options(), cache or default_cache()

    def make() -> CachedModel:
        model = _open_new_model(name, chosen, where)
        return CachedModel(
            model.log_probs,
            model.revision,
            where,
            batch_size=getattr(model, "batch_size", chosen.batch_size),
        )

    return shared_model((name, chosen, where), make)


def _open_new_model(name: str, options: Options, cache: Cache) -> LanguageModel:
    factory = _registered.get(name) or MODELS.find(name)
    if factory is not None:
        return _call_factory(name, factory, options)
    from errata.models.causal import CausalModel

    return CausalModel(name, options, cache)


def _call_factory(name: str, factory: Factory, options: Options) -> LanguageModel:
    """Call a factory; where that of a plug-in fails, the message names its package."""
    package = "" if name in _registered else MODELS.package(name)
    try:
        model = factory(options)
    except Exception as error:
        if not package or isinstance(error, ErrataError):
            raise
        raise InputError(
            f"the language model {name!r} of {package} cannot be opened: "
            f"{type(error).__name__}: {error}",
            remedy=f"mend or uninstall {package}",
        ) from error
    if package and not (hasattr(model, "log_probs") and hasattr(model, "revision")):
        raise InputError(
            f"the language model {name!r} of {package} opens a {type(model).__name__}",
            remedy=MODELS.must,
        )
    return model

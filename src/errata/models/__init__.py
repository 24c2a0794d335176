"""Language models behind one method: `LanguageModel.log_probs`.

``gpt2`` (or any causal model by hub name, folder or GGUF file), ``smollm2`` and ``trigram`` are
ours; other packages add models with an entry point in the group ``errata.language_models``, and
a program with `register`. Results are kept on disk, see `errata.models.memo`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points

from errata.errors import InputError
from errata.models.language import LanguageModel, Options, in_batches, perplexity
from errata.models.memo import Cache, Memo, default_cache, forget, shared

__all__ = [
    "Cache",
    "LanguageModel",
    "Memo",
    "Options",
    "default_cache",
    "in_batches",
    "model_names",
    "open_model",
    "perplexity",
    "register",
]

Factory = Callable[[Options], LanguageModel]

_registered: dict[str, Factory] = {}


def model_names() -> list[str]:
    """The models that have a name of their own; any other name is one for transformers."""
    return [
        "smollm2",
        "trigram",
        *sorted(_registered),
        *sorted(p.name for p in entry_points(group="errata.language_models")),
    ]


def register(name: str, factory: Factory) -> None:
    """Make a language model known in this program: ``factory(options)`` is called to open it."""
    if not name.isidentifier() or name in ("smollm2", "trigram"):
        raise InputError(
            f"a language model cannot be called {name!r}",
            remedy="use a new name of letters, digits and underscores",
        )
    _registered[name] = factory
    forget(name)


def open_model(
    name: str = "gpt2", options: Options | None = None, cache: Cache | None = None
) -> Memo:
    """Open a language model with its cache; the weights are loaded when a sentence needs them.

    The default is GPT-2 (small), the model of Islam & Magnani (2021). The same model is opened
    once in a process.
    """
    chosen, where = options or Options(), cache or default_cache()

    def make() -> Memo:
        model = _new(name, chosen, where)
        return Memo(
            model.log_probs,
            model.revision,
            where,
            batch_size=getattr(model, "batch_size", chosen.batch_size),
        )

    return shared((name, chosen, where), make)


def _new(name: str, options: Options, cache: Cache) -> LanguageModel:
    if name in _registered:
        return _registered[name](options)
    if name == "smollm2":
        from errata.models.causal import open_smollm2

        return open_smollm2(options, cache)
    if name == "trigram":
        from errata.models.trigram import TrigramModel

        return TrigramModel(options)
    for plugin in entry_points(group="errata.language_models", name=name):
        factory: Factory = plugin.load()
        return factory(options)
    from errata.models.causal import CausalModel

    return CausalModel(name, options, cache)

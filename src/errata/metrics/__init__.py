"""Every metric by name; nothing is imported before it is asked for.

Other packages add metrics with an entry point in the group ``errata.metrics``.
"""

from __future__ import annotations

from dataclasses import is_dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from errata.errors import InputError
from errata.metrics.base import Metric, build, parse_arguments

__all__ = ["BUILTIN", "Metric", "metric_class", "metric_names", "parse"]

BUILTIN = {
    "m2": "errata.metrics.m2:M2",
    "imeasure": "errata.metrics.imeasure:IMeasure",
    "gleu": "errata.metrics.gleu:GLEU",
    "gleu2015": "errata.metrics.gleu2015:GLEU2015",
    "bleu": "errata.metrics.bleu:BLEU",
    "errant": "errata.metrics.errant:Errant",
    "difficulty": "errata.metrics.difficulty:Difficulty",
    "scribendi": "errata.metrics.scribendi:Scribendi",
    "fluency": "errata.metrics.fluency:Fluency",
    "harper": "errata.metrics.fluency:Harper",
}


def metric_names() -> list[str]:
    """All known metrics: ours, then those of installed plug-ins."""
    plugins = {plugin.name for plugin in entry_points(group="errata.metrics")}
    return [*BUILTIN, *sorted(plugins - set(BUILTIN))]


def metric_class(name: str) -> type[Metric]:
    """The class behind a metric's name."""
    if name in BUILTIN:
        module, _, attribute = BUILTIN[name].partition(":")
        cls: type[Metric] = getattr(import_module(module), attribute)
        return cls
    for plugin in entry_points(group="errata.metrics", name=name):
        return _load(plugin)
    raise InputError(f"there is no metric {name!r}", remedy=f"known: {', '.join(metric_names())}")


def _load(plugin: EntryPoint) -> type[Metric]:
    """The class of a plug-in; whatever is wrong with it, the message names its package."""
    package = plugin.dist.name if plugin.dist else "an installed package"
    try:
        loaded = plugin.load()
    except Exception as error:
        raise InputError(
            f"the metric {plugin.name!r} of {package} cannot be loaded from "
            f"{plugin.value}: {error}",
            remedy=f"mend or uninstall {package}",
        ) from error
    if not (isinstance(loaded, type) and issubclass(loaded, Metric) and is_dataclass(loaded)):
        raise InputError(
            f"{plugin.value} of {package} is not a metric",
            remedy="it must be a Metric with @metric; see errata.testing.check_metric",
        )
    return loaded


def parse(text: str) -> Metric:
    """Read a metric from its signature: ``parse(repr(m)) == m``.

    >>> parse("m2(beta=1)").beta
    1.0
    """
    name, arguments = parse_arguments(text)
    return build(metric_class(name), arguments)

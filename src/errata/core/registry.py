"""Metrics, rankers and models by name: built in, from installed packages, or from a file.

Nothing is imported before it is asked for. Whatever is wrong with a plug-in, the message names
the package or file it comes from; signatures name the origin of everything not built in.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any, Generic, TypeVar, cast

from errata.core.errors import DataWarning, ErrataError, InputError, PluginError
from errata.core.parameters import build, parse_arguments, suggest_name

T = TypeVar("T")
FROM_FILE = "errata_own_"  # the name of a module from a file: this and a digest of its path


@dataclass(frozen=True)
class Registry(Generic[T]):
    """Things known by name: ours as ``module:attribute``, imported on use, and plug-ins.

    Other packages add theirs with an entry point in ``group``; ``accepts`` says whether what an
    entry point loads is such a thing, ``must`` what it has to be. A place in Python code,
    ``module:name`` or ``file.py:name``, is a name too; ``adapter`` is our ``module:function``
    that makes such a thing of a plain function there. Names are found in any case.
    """

    what: str
    builtin: dict[str, str]
    group: str
    accepts: Callable[[object], bool]
    must: str
    example: str = ""
    adapter: str = ""

    def names(self) -> list[str]:
        """Return all known names: built-in ones, then installed plug-ins."""
        plugins = {plugin.name for plugin in _installed_plugins(self.group)}
        return [*self.builtin, *sorted(plugins - set(self.builtin))]

    def package(self, name: str) -> str:
        """Return the installed package behind a name; empty for built-in names."""
        if name in self.builtin:
            return ""
        return next((_package(p) for p in _installed_plugins(self.group) if p.name == name), "")

    def find(self, name: str) -> T | None:
        """What stands behind a name; None where it is not known."""
        claims = {
            (_package(plugin), plugin.value): plugin
            for plugin in _installed_plugins(self.group)
            if plugin.name.casefold() == name.casefold()
        }
        ours = next((own for own in self.builtin if own.casefold() == name.casefold()), None)
        if ours is not None:
            for package, _ in claims:
                warnings.warn(
                    f"{package} has a {self.what} {name!r} too; Errata's own is meant by it",
                    DataWarning,
                    stacklevel=3,
                )
            found: T = _load_attribute(self.builtin[ours])
            return found
        if len(claims) > 1:
            claimants = sorted({package for package, _ in claims})
            raise InputError(
                f"the {self.what} {name!r} is claimed by {' and by '.join(claimants)}",
                remedy="uninstall all of them but one",
            )
        for plugin in claims.values():
            return self._load_plugin(plugin)
        return None

    def get(self, name: str) -> T:
        """What stands behind a name, which must be known."""
        found = self.find(name)
        if found is None:
            known = self.names()
            raise InputError(
                f"there is no {self.what} {name!r}",
                remedy=f"{suggest_name(name, known)}known: {', '.join(known)}",
            )
        return found

    def resolve(self, name: str) -> T:
        """What stands behind a name, or in a place like ``file.py:Class``."""
        if ":" not in name:
            return self.get(name)
        loaded = load_place(name)
        if not self.accepts(loaded):
            raise InputError(
                f"{name} is not a class of a {self.what}, and so has no parameters that are known",
                remedy=self.must,
            )
        own: Any = loaded
        self._refuse_name(own, name)
        return cast(T, own)

    def parse(self, text: str) -> Any:
        """Read one from its signature: ``parse(repr(x)) == x``."""
        bare = text.partition("(")[0].strip()
        if re.fullmatch(r"\w+([-.]\w+)+", bare):  # pt-m2, cleme2.0: as papers write names
            self.get(bare)
        name, arguments = parse_arguments(text, self.what, self.example)
        if ":" not in name:
            cls: Any = self.get(name)
            return build(cls, arguments)
        loaded = load_place(name)
        if self.accepts(loaded):
            own: Any = loaded
            self._refuse_name(own, name)
            return build(own, arguments)
        if self.adapter and callable(loaded) and not isinstance(loaded, type):
            return _load_attribute(self.adapter)(name, arguments)
        raise InputError(f"{name} is not a {self.what}", remedy=self.must)

    def unparse(self, thing: Any, signature: str) -> str:
        """The signature as `parse` reads it: a class that has no known name goes by its place."""
        cls = type(thing)
        if _ours(cls) or self.find(thing.name) is cls:
            return signature
        where = next(iter(source_files(cls)), cls.__module__)
        return f"{where}:{cls.__qualname__}{signature.removeprefix(thing.name)}"

    def refuse_disguise(self, thing: Any) -> None:
        """No metric or ranker from elsewhere may sign, or head a table, as another one."""
        if _ours(type(thing)):
            return
        self._refuse_name(type(thing), _module_of(type(thing)))
        shown = [repr(thing)] + ([] if _ours_to_say(type(thing)) else [str(thing.label)])
        for text in shown:
            if text.partition("(")[0] != thing.name:
                raise PluginError(
                    f"{with_origin(thing)}, calls itself {text[:60]!r}",
                    remedy="leave __repr__ and label as they are; they start with its name",
                )

    def _load_plugin(self, plugin: EntryPoint) -> T:
        """The thing of a plug-in; whatever is wrong with it, the message names its package."""
        package = _package(plugin)
        try:
            loaded = plugin.load()
        except (Exception, SystemExit) as error:
            raise InputError(
                f"the {self.what} {plugin.name!r} of {package} cannot be loaded from "
                f"{plugin.value}: {_short_reason(error)}",
                remedy=f"mend or uninstall {package}",
            ) from error
        if not self.accepts(loaded):
            raise InputError(f"{plugin.value} of {package} is not a {self.what}", remedy=self.must)
        if isinstance(loaded, type) and getattr(loaded, "name", plugin.name) != plugin.name:
            raise InputError(
                f"the {self.what} {plugin.name!r} of {package} calls itself "
                f"{getattr(loaded, 'name', None)!r}",
                remedy="its name and that of its entry point must be one",
            )
        thing: T = loaded
        return thing

    def _refuse_name(self, cls: Any, place: str) -> None:
        """No class from elsewhere may sign with a name that is ours."""
        if not _ours(cls) and str(cls.name).casefold() in {
            name.casefold() for name in self.builtin
        }:
            raise InputError(
                f"{place} calls itself {cls.name!r}, which is a {self.what} of Errata",
                remedy="give the class another name",
            )


def _installed_plugins(group: str) -> tuple[EntryPoint, ...]:
    """The entry points of a group, which are looked for again only where a folder has changed.

    To go through all installed packages takes longer than to score a system, and every signature
    asks.
    """
    folders = tuple((path, _folder_changed(path)) for path in sys.path)
    return _entry_points(entry_points, group, folders)


def _folder_changed(path: str) -> int:
    """When something was last added to a folder; 0 where there is none."""
    try:
        return os.stat(path or ".").st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=8)
def _entry_points(
    find: Callable[..., Iterable[EntryPoint]], group: str, folders: tuple[tuple[str, int], ...]
) -> tuple[EntryPoint, ...]:
    return tuple(find(group=group))


def _package(plugin: EntryPoint) -> str:
    return plugin.dist.name if plugin.dist else "an installed package"


def _load_attribute(place: str) -> Any:
    """What stands at a place of our own."""
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)


def _short_reason(error: BaseException) -> str:
    """An error in a few words; an exit is no message."""
    if isinstance(error, SystemExit):
        return f"it ends the program (sys.exit({error.code!r}))"
    text = " ".join(str(error).split())
    return text[:300] or type(error).__name__


def load_place(place: str) -> Any:
    """What stands at ``package.module:name`` or ``file.py:name``.

    A module may lie in the current folder, which is looked into last.
    """
    where, _, attribute = place.rpartition(":")
    try:
        module = _load_module(where)
    except (Exception, SystemExit) as error:
        raise InputError(
            f"{where} cannot be imported: {_short_reason(error)}",
            remedy="name an importable module or a file, as in package.module:name or file.py:name",
        ) from error
    if not hasattr(module, attribute):
        public = [name for name in vars(module) if not name.startswith("_")]
        raise InputError(
            f"{where} has no {attribute!r}",
            remedy=f"{suggest_name(attribute, public)}name a class or a function of it",
        )
    return getattr(module, attribute)


@cache
def _load_module(where: str) -> ModuleType:
    if where.endswith(".py"):
        name = FROM_FILE + hashlib.sha256(os.path.abspath(where).encode()).hexdigest()[:12]
        spec = importlib.util.spec_from_file_location(name, where)
        if spec is None or spec.loader is None or not os.path.isfile(where):
            raise InputError("there is no such file", path=where)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # dataclasses and pickles look their module up
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        return module
    here = os.getcwd()
    sys.path.append(here)
    try:
        return import_module(where)
    finally:
        sys.path.remove(here)


def source_files(cls: type) -> tuple[str, ...]:
    """The file of a class that was named as ``file.py:Class``; none of a class of a module."""
    if not cls.__module__.startswith(FROM_FILE):
        return ()
    path = str(sys.modules[cls.__module__].__file__)
    below = os.path.relpath(path)
    return (path if below.startswith(os.pardir) else below,)


def origin(thing: Any) -> tuple[str, ...]:
    """Where a class or function that is not Errata's own comes from, for the signature.

    The digest covers the file that defines it: an edited metric is another metric.

    >>> import errata.core.stats
    >>> origin(errata.core.stats.ratio)
    ()
    """
    if _ours(thing):
        return ()
    module = thing.__module__
    try:
        digest = "@" + hashlib.sha256(inspect.getsource(sys.modules[module]).encode()).hexdigest()
    except (KeyError, OSError, TypeError):  # typed in, or without its source
        digest = ""
    return (f"from:{_module_of(thing)}:{thing.__qualname__}{digest[:13]}",)


def _ours(thing: Any) -> bool:
    return str(thing.__module__).partition(".")[0] == "errata"


def _ours_to_say(cls: Any) -> bool:
    """Whether a class from elsewhere has the label of one of ours: ``errant`` may be ``edits``."""
    return _ours(cls.label.fget) if isinstance(cls.label, property) else False


def _module_of(thing: Any) -> str:
    """Return the module that defines a class or function, or the name of the user's file."""
    module = str(thing.__module__)
    if module.startswith(FROM_FILE):
        return os.path.basename(str(sys.modules[module].__file__))
    return module


def with_origin(thing: Any) -> str:
    """The name of a metric or ranker, and where it comes from if it is none of ours."""
    cls = type(thing)
    return str(thing.name) if _ours(cls) else f"{thing.name}, which comes from {_module_of(cls)}"


def contract_error(thing: Any, problem: str, remedy: str | None = None) -> ErrataError:
    """The error for a result that breaks the contract: whose it is decides how the run ends."""
    said = f"{with_origin(thing)}: {problem}"
    return InputError(said, remedy=remedy) if _ours(type(thing)) else PluginError(said, remedy)


@contextmanager
def plugin_errors(thing: Any) -> Iterator[None]:
    """Name a plug-in by whose fault something went wrong; our own faults are not touched."""
    try:
        yield
    except (ErrataError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        if _ours(type(thing)):
            raise
        raise PluginError(
            f"{with_origin(thing)}, failed: {type(error).__name__}: {_short_reason(error)}",
            remedy="mend it, or report it to its authors; errata.testing.check_metric finds more",
        ) from error

"""Options of ``errata scale``: the folder of a run, what is scored in it, and who counts."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from errata.cli.inputs import Inputs, corpus_options
from errata.cli.options import (
    DEFAULT_METRICS,
    Bootstrap,
    Decorator,
    FiniteRange,
    bootstrap_options,
    gathered,
    metric_option,
    refuse_unless,
)
from errata.cli.words import choice_of
from errata.cluster.engines import Engine
from errata.errors import InputError

if TYPE_CHECKING:
    from errata.cluster.engines import EngineSettings
    from errata.cluster.manifest import Wanted
    from errata.datasets.evaluation_sets import EvaluationFiles
    from errata.io.folders import Folder
    from errata.io.shards import ShardedInputs

__all__ = ["RunInputs", "engine_options", "run_inputs_options", "run_option", "storage_option"]

# What a plan decides, as commands receive it.
PLANNED = (
    "metrics shard_bytes shard_sentences missing compatible annotators tokens no_guard resamples "
    "seed kind"
)
_SIZE = re.compile(r"([1-9][0-9]{0,15})([kKmMgG]?)")

run_option = click.option(
    "--run",
    "place",
    metavar="FOLDER",
    required=True,
    help="The folder of the run; also an address such as s3://bucket/run.",
)


def _storage(
    ctx: click.Context, parameter: click.Parameter, given: Sequence[str]
) -> dict[str, Any]:
    found = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise InputError(f"--storage {text[:60]!r} is not KEY=VALUE")
        try:
            found[key] = json.loads(value)
        except ValueError:
            found[key] = value
    return found


storage_option = click.option(
    "--storage",
    multiple=True,
    metavar="KEY=VALUE",
    callback=_storage,
    help="An option for the object store (fsspec), as endpoint_url=http://127.0.0.1:5000; JSON "
    "where it is no text. It is not kept with the run.",
)


def _bytes(ctx: click.Context, parameter: click.Parameter, text: str | None) -> int | None:
    if text is None:
        return None
    match = _SIZE.fullmatch(text)
    if match is None:
        raise InputError(f"--shard-size {text[:40]!r} is not a size", remedy="write it as 64M")
    return int(match[1]) << {"": 0, "k": 10, "m": 20, "g": 30}[match[2].lower()]


@dataclass(frozen=True)
class RunInputs:
    """What a run is made of, as it was given; nothing where the run is planned already."""

    outputs: tuple[str, ...]
    inputs: Inputs
    parquet: str | None
    places: tuple[str, ...]
    metrics: tuple[str, ...]
    bootstrap: Bootstrap
    shard_bytes: int | None
    shard_sentences: int | None

    @property
    def given(self) -> bool:
        """Whether anything was named that is to be scored; else what is in the plan counts."""
        named = bool(self.outputs or self.inputs.named or self.parquet or self.places)
        refuse_unless(named, PLANNED, "inputs: this run is planned already")
        return named

    @property
    def wanted(self) -> Wanted:
        """The metrics, by their whole signatures, and how intervals are made."""
        from errata.cli.chosen import refuse_twins
        from errata.cluster.manifest import Wanted
        from errata.metrics import parse

        chosen = [parse(text) for text in self.metrics or DEFAULT_METRICS]
        refuse_twins(chosen)
        drawn = self.bootstrap
        return Wanted(tuple(map(repr, chosen)), drawn.resamples, drawn.seed, drawn.kind)

    def sets(self, storage: dict[str, Any]) -> list[tuple[str, ShardedInputs]]:
        """The test sets: one of files, or those of folders and lists."""
        if not self.places:
            return [self._one(storage)]
        if self.outputs or self.inputs.named or self.parquet:
            raise InputError(
                "--sets stands beside files of one test set",
                remedy="name either sets, or --gold (or --source and --refs) and outputs",
            )
        return [
            (
                each.name,
                self._sharded(each.gold, each.source, each.references, each.outputs, storage),
            )
            for each in _listed(self.places)
        ]

    def _one(self, storage: dict[str, Any]) -> tuple[str, ShardedInputs]:
        self.inputs.check_used()
        if self.parquet is None and not self.outputs:
            raise InputError("no output to score", remedy="name one file or pattern per system")
        given = self.inputs
        name = self.parquet or given.gold or given.source or "corpus"
        return _called(name), self._sharded(
            given.gold, given.source, given.refs, self.outputs, storage, self.parquet
        )

    def _sharded(
        self,
        gold: str | None,
        source: str | None,
        references: Sequence[str],
        outputs: Sequence[str],
        storage: dict[str, Any],
        parquet: str | None = None,
    ) -> ShardedInputs:
        from errata.io.outputs import split_name
        from errata.io.shards import ShardedInputs

        named = [(name or _called(path), path) for name, path in map(split_name, outputs)]
        return ShardedInputs(
            gold=_absolute(gold),
            source=_absolute(source),
            references=tuple(str(_absolute(each)) for each in references),
            outputs=tuple((name, str(_absolute(path))) for name, path in named),
            parquet=_absolute(parquet),
            missing=self.inputs.missing,
            compatible=self.inputs.compatible,
            annotators=self.inputs.chosen,
            tokens=self.inputs.tokens,
            guard=not self.inputs.no_guard,
            storage=storage,
        )


def _listed(places: Sequence[str]) -> Iterator[EvaluationFiles]:
    """The files of test sets, every output by itself."""
    from errata.datasets.evaluation_sets import files_of_sets
    from errata.io.outputs import files_in

    for each in files_of_sets(places):
        if each.skipped is not None:
            raise InputError(
                f"{each.name}: sentences are left out, which a run cannot do",
                path=each.place,
                remedy="leave them out of the files, or score this set with errata corpora",
            )
        outputs = tuple(os.fspath(path) for path in files_in(each.outputs))
        if not outputs:
            raise InputError(
                f"{each.name} has no outputs to score", path=each.place, remedy="give some"
            )
        yield replace(each, outputs=outputs)


def _absolute(path: str | None) -> str | None:
    """A path that means the same to workers started elsewhere."""
    return path if path is None or "://" in path or path == "-" else os.path.abspath(path)


def _called(path: str) -> str:
    """The name of a test set from its files."""
    from errata.io.outputs import system_name

    return re.sub(r"[-_.]*[*?\[].*", "", system_name(path.rstrip("/"))) or "corpus"


def run_inputs_options(command: Any, *, shown: bool = True) -> Any:
    """Add what a run is made of; the command receives ``given``.

    With ``--confidence`` where intervals are ``shown``: a plan holds resamples, and no level.
    """
    options: dict[str, Decorator] = {
        "outputs": click.argument("outputs", nargs=-1, metavar="[[NAME=]PATTERN...]"),
        "parquet": click.option(
            "--parquet",
            metavar="PATTERN",
            help="Parquet files with source, references and outputs as columns, instead of texts.",
        ),
        "places": click.option(
            "--sets",
            "places",
            multiple=True,
            metavar="PLACE",
            help="Test sets with the outputs on them, as errata corpora reads them: folders or a "
            ".toml file; may be repeated.",
        ),
        "metrics": metric_option(*DEFAULT_METRICS),
        "shard_bytes": click.option(
            "--shard-size",
            "shard_bytes",
            metavar="SIZE",
            callback=_bytes,
            help="About how much text a task reads; default 64M.",
        ),
        "shard_sentences": click.option(
            "--shard-sentences",
            type=click.IntRange(1),
            metavar="N",
            help="Sentences of a shard, instead of its size.",
        ),
    }
    gather = gathered("more", dict, options)
    drawn = bootstrap_options(kinds=True, shown=shown)

    def decorate(inner: Any) -> Any:
        def run(*, more: dict[str, Any], inputs: Inputs, bootstrap: Bootstrap, **rest: Any) -> Any:
            return inner(given=RunInputs(inputs=inputs, bootstrap=bootstrap, **more), **rest)

        run.__doc__, run.__name__ = inner.__doc__, inner.__name__
        run.__click_params__ = getattr(inner, "__click_params__", [])  # type: ignore[attr-defined]
        return gather(corpus_options("sample", "skipped")(drawn(run)))

    return decorate(command)


def engine_options(command: Any) -> Any:
    """Add who counts; the command receives ``settings``."""
    options: dict[str, Decorator] = {
        "engine": click.option(
            "--engine",
            type=choice_of(Engine),
            default="local",
            show_default=True,
            help="Who counts: worker processes of this machine, a loop in this process, or Dask.",
        ),
        "workers": click.option(
            "--workers", type=click.IntRange(1), metavar="N", help="Default: all cores."
        ),
        "scheduler": click.option(
            "--scheduler",
            metavar="ADDRESS",
            help="Dask: a scheduler that runs already (tcp://... or tls://...); default: one of "
            "our own, on this machine only.",
        ),
        "certificates": click.option(
            "--certificates",
            nargs=3,
            metavar="CA CERT KEY",
            help="Dask over tls://: the files of the authority, of the certificate and its key.",
        ),
        "life": click.option(
            "--life",
            type=FiniteRange(1, min_open=False),
            default=60.0,
            show_default=True,
            metavar="SECONDS",
            help="A worker of ours without a sign of life for so long is replaced.",
        ),
        "allow_failed": click.option(
            "--allow-failed",
            type=click.IntRange(0),
            default=0,
            show_default=True,
            metavar="N",
            help="Leave out up to N sentences that end the process that counts them; the result "
            "names them.",
        ),
    }
    return gathered("settings", _settings, options)(command)


def _settings(certificates: tuple[str, str, str] | None, **given: Any) -> EngineSettings:
    from errata.cluster.engines import EngineSettings

    dask = given["engine"] == "dask"
    refuse_unless(dask, "scheduler certificates", "--engine dask")
    refuse_unless(given["scheduler"] is not None, "certificates", "--scheduler tls://...")
    refuse_unless(not dask or given["scheduler"] is None, "workers life", "workers of our own")
    refuse_unless(given["engine"] != "loop", "workers life allow_failed", "workers, not a loop")
    return EngineSettings(**given, certificates=certificates)


def opened_run(place: str, storage: dict[str, Any]) -> Folder:
    """The folder of a run."""
    from errata.io.folders import open_folder

    return open_folder(place, storage)

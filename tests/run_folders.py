"""Runs for tests: plan and count the sample, repeated and cut as a test asks."""

from __future__ import annotations

import json
import subprocess
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from errata.data import Corpus, Hypotheses
from errata.datasets.load import SAMPLE_SYSTEMS, sample_file
from errata.io import read_corpus, read_hypotheses
from errata.io.corpus import CorpusFiles
from errata.io.shards.inputs import Shard
from errata.io.shards.plan import _plan_texts, _Wanted
from errata.io.storage import Folder
from errata.metrics import parse
from errata.scale.executors import EngineSettings
from errata.scale.manifest import Manifest, MetricPlan
from errata.scale.run import RunOutcome, count_tasks, finish_run, plan_run
from processes import wait_until

SLOW = '''"""A metric that waits while the file `hold` exists, so that its process can be killed."""
import json
import os
import time
from pathlib import Path


def slow(source, hypothesis, references):
    given = json.loads(Path(__file__).with_name("slow.json").read_text())
    time.sleep(given["pause"])
    while Path(__file__).with_name("hold").exists():
        Path(__file__).with_name(f"held-{os.getpid()}").touch()
        time.sleep(0.01)
    if source == given["deadly"]:
        os.kill(os.getpid(), 9)
    return float(len(hypothesis.split()))
'''


@dataclass(frozen=True)
class SampleFiles:
    folder: Path
    systems: tuple[str, ...]

    @property
    def hold(self) -> Path:
        """While this file exists, the slow metric waits."""
        return self.folder / "hold"

    @property
    def held(self) -> int:
        """How many processes have waited for that."""
        return len([*self.folder.glob("held-*")])

    @property
    def gold(self) -> Path:
        return self.folder / "gold.m2"

    def output(self, system: str) -> Path:
        return self.folder / f"{system}.txt"

    @property
    def arguments(self) -> list[str]:
        """As a command takes them."""
        return ["--gold", str(self.gold), *(f"{s}={self.output(s)}" for s in self.systems)]

    def inputs(self, **more: Any) -> CorpusFiles:
        outputs = tuple((name, str(self.output(name))) for name in self.systems)
        return CorpusFiles(gold=str(self.gold), outputs=outputs, **more)

    def read(self) -> tuple[Corpus, list[Hypotheses]]:
        corpus = read_corpus(gold=self.gold)
        return corpus, [read_hypotheses(self.output(s), corpus=corpus) for s in self.systems]

    def slow_metric(self, pause: float = 0.0, deadly: str = "") -> str:
        """Write a metric that takes ``pause`` seconds per sentence, and kills itself at one."""
        path = self.folder / "slow.py"
        path.write_text(SLOW)
        given = path.with_name(".slow.json")
        given.write_text(json.dumps({"pause": pause, "deadly": deadly}))
        given.rename(path.with_suffix(".json"))
        return repr(parse(f"{path}:slow"))


def tiled_sample(
    folder: Path, copies: int = 1, systems: Sequence[str] = SAMPLE_SYSTEMS
) -> SampleFiles:
    folder.mkdir(parents=True, exist_ok=True)
    made = SampleFiles(folder, tuple(systems))
    for name, target in (("gold.m2", made.gold), *((f"{s}.txt", made.output(s)) for s in systems)):
        with sample_file(name) as path:
            text = path.read_text(encoding="utf-8")
        end = "\n\n" if name == "gold.m2" else "\n"
        target.write_text((text.rstrip("\n") + end) * copies, encoding="utf-8")
    return made


def planned(
    place: Path, files: SampleFiles, *metrics: str, resamples: int = 100, **cuts: Any
) -> tuple[Folder, Manifest]:
    folder = Folder(str(place))
    texts = tuple(repr(parse(each)) for each in metrics or ("m2",))
    wanted = MetricPlan(texts, resamples=resamples)
    return folder, plan_run(folder, wanted, [("gold", files.inputs())], **cuts)


@dataclass(frozen=True)
class PlannedRun:
    """A run that is planned, and what a test does with it."""

    files: SampleFiles
    place: Path
    folder: Folder
    manifest: Manifest

    @classmethod
    def of(cls, place: Path, files: SampleFiles, *metrics: str, **cuts: Any) -> PlannedRun:
        return cls(files, place, *planned(place, files, *metrics, **cuts))

    @property
    def tasks(self) -> range:
        return range(len(self.manifest.tasks))

    def count(self) -> PlannedRun:
        count_tasks(self.folder, self.manifest, self.tasks)
        return self

    def finish(
        self, settings: EngineSettings | None = None, *, counting: bool = False
    ) -> RunOutcome:
        settings = settings or EngineSettings("loop")
        return finish_run(self.folder, self.manifest, settings, counting=counting)

    def result(self) -> bytes:
        """Read everything that is counted, and return the bytes of the result."""
        self.finish()
        return result_of(self.place)


def run_of(
    place: Path,
    files: SampleFiles,
    *metrics: str,
    settings: EngineSettings | None = None,
    **more: Any,
) -> RunOutcome:
    return PlannedRun.of(place, files, *metrics, **more).finish(settings, counting=True)


def joined(batches: Iterable[tuple[Corpus, list[Hypotheses]]]) -> tuple[Corpus, list[Hypotheses]]:
    """Put batches together again; each must know its place."""
    batches = list(batches)
    first = 0
    for corpus, _ in batches:
        assert (corpus.first, corpus.number(0)) == (first, first + 1)
        assert len(corpus) > 0
        first += len(corpus)
    corpora = [corpus for corpus, _ in batches]
    ((name, tokens, kept),) = {(c.name, c.tokens, c.kept) for c in corpora}
    systems = []
    for parts in zip(*(systems for _, systems in batches), strict=True):
        (system,) = {part.system for part in parts}
        edits = None if parts[0].edits is None else sum((part.edits for part in parts), ())
        systems.append(Hypotheses(system, sum((part.sentences for part in parts), ()), edits))
    sources, references = (
        tuple(chain.from_iterable(getattr(c, n) for c in corpora))
        for n in ("sources", "references")
    )
    return Corpus(sources, references, name, tokens=tokens, kept=kept), systems


def until_records(place: Path, number: int, driver: subprocess.Popen[str]) -> None:
    """Wait until a driver has counted so many tasks of a run."""

    def enough() -> bool:
        assert driver.poll() is None, driver.communicate()[1]
        return len(list((place / "records").glob("*.json"))) >= number

    wait_until(enough)


def result_of(place: Path) -> bytes:
    return (place / "result.json").read_bytes()


def cut_shards(inputs: CorpusFiles, cuts: Iterable[int]) -> tuple[Shard, ...]:
    """Cut inputs before these sentences, from 0; one that is there twice makes an empty shard."""
    numbers = sorted(cuts)
    return _plan_texts(
        inputs, lambda first: _Wanted(given=deque(n - first for n in numbers if n >= first)), None
    )

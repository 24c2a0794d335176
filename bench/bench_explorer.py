"""How large the sentence explorer is, how long it takes to make and to open, and what it costs.

    python bench/bench_explorer.py [DATA]

DATA is the folder of the public data sets (default: ERRATA_DATA). First CoNLL-2014 with its 13
outputs, then the same again and again up to 50,000 sentences. What a reader waits for is measured
in Chromium, where there is one: from navigation to the first rows, a filter, a search through all
texts, and the memory of the process that shows the page. Nothing fails by the clock.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from common import ROOT, data_folder, processor_time, read_conll14

from errata.comparison.edits import JudgedSentence, judge_edits
from errata.core.errors import DataWarning
from errata.data import Corpus, Hypotheses, Scores
from errata.metrics.difficulty import DifficultyMap, build_difficulty_map
from errata.metrics.errant import Edits
from errata.reports.explorer import explorer_section
from errata.reports.page import render_page
from errata.scoring.evaluate import evaluate

METRICS = ("m2", "gleu", "edits", "ter", "bleu", "green")
MANY = 50_000
READY = "performance.getEntriesByName('explorer-ready')[0]?.startTime"
FILTER = """
const field = document.getElementById(arguments[0]), before = performance.now();
field.value = arguments[1];
field.dispatchEvent(new Event("change", {bubbles: true}));
return performance.now() - before;
"""
SEARCH = """
const done = arguments[1], field = document.getElementById("x-q"), before = performance.now();
field.value = arguments[0];
field.dispatchEvent(new Event("change", {bubbles: true}));
(function look() {
  if (document.getElementById("x-count").textContent.startsWith("searching")) setTimeout(look, 5);
  else done(performance.now() - before);
})();
"""


def main() -> None:
    data = data_folder()
    corpus, systems = read_conll14(data)
    judge = Edits()
    used = processor_time()
    states = judge_edits(judge.for_sentences, corpus, systems)
    said("judging every edit", f"{processor_time() - used:8.2f} s of the processor")
    results = [evaluate(metric, corpus, systems, resamples=0) for metric in METRICS]
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small.html", Path(folder) / "large.html"
        write(small, corpus, systems, results, states, build_difficulty_map(corpus, systems))
        write(large, *repeated(corpus, systems, results, states))
        for name, path in (("CoNLL-2014", small), (f"{MANY:,} sentences", large)):
            browse(name, path)


def said(what: str, value: str) -> None:
    print(f"{what:<58}{value}", flush=True)


def write(
    path: Path,
    corpus: Corpus,
    systems: list[Hypotheses],
    results: list[Scores],
    states: tuple[tuple[JudgedSentence, ...], ...],
    difficulty: DifficultyMap | None,
) -> None:
    used = processor_time()
    section = explorer_section(
        corpus, systems, results, states=states, difficulty=difficulty, base=systems[0].system
    )
    spent = processor_time() - used
    path.write_text(render_page("Explorer", [section]), encoding="utf-8")
    size = path.stat().st_size / 1e6
    what = f"{len(corpus):,} sentences, {len(systems)} systems, {len(results)} metrics"
    said(what, f"{spent:8.2f} s of the processor, {size:.2f} MB")


def repeated(
    corpus: Corpus,
    systems: list[Hypotheses],
    results: list[Scores],
    states: tuple[tuple[JudgedSentence, ...], ...],
) -> Any:
    """The same sentences again and again."""
    again = [i for i, _ in zip(cycle(range(len(corpus))), range(MANY), strict=False)]
    texts = Corpus(
        tuple(corpus.sources[i] for i in again), tuple(corpus.references[i] for i in again)
    )
    outputs = [Hypotheses(h.system, tuple(h.sentences[i] for i in again)) for h in systems]
    scores = [
        Scores(r.scorer, r.systems, r.values, r.sentences[:, again], label=r.label)
        for r in results
        if r.sentences is not None
    ]
    judged = tuple(tuple(islice(cycle(each), MANY)) for each in states)
    return texts, outputs, scores, judged, None


def browse(name: str, path: Path) -> None:
    sys.path.insert(0, str(ROOT / "tests"))
    from browser import chromium, opened

    with tempfile.TemporaryDirectory() as profile, chromium(Path(profile)) as driver:
        if driver is None:
            said(name, "not opened: needs selenium, chromium and chromium-driver")
            return
        opened(driver, path)
        said(f"{name}: from navigation to the first rows", f"{wait(driver):8.0f} ms")
        time.sleep(2)  # what is read in idle time
        for what, field, value in (
            ("one kind", "x-kind", "R:INFL"),
            ("and one state", "x-state", "wrong"),
            ("all, ordered by disagreement", "x-sort", "disagreement"),
        ):
            if field == "x-sort":
                driver.execute_script("document.querySelector('#x-filters').reset()")
                time.sleep(1)
            taken = driver.execute_script(FILTER, field, value)
            said(f"{name}: filter, {what}", f"{taken:8.0f} ms")
        driver.set_script_timeout(600)
        taken = driver.execute_async_script(SEARCH, "genetic disorder")
        said(f"{name}: search through all texts", f"{taken:8.0f} ms")
        driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
        said(f"{name}: memory of the page's process", f"{renderer_memory(driver) / 1e6:8.0f} MB")


def wait(driver: Any) -> float:
    while True:
        found = driver.execute_script(f"return {READY}")
        if found is not None:
            return float(found)
        time.sleep(0.02)


def renderer_memory(driver: Any) -> int:
    """Bytes that the largest renderer of this browser holds, as Linux counts them."""
    own = {str(driver.service.process.pid)}
    held = []
    for status in sorted(Path("/proc").glob("[0-9]*/status"), key=lambda p: int(p.parent.name)):
        try:
            lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
            command = (status.parent / "cmdline").read_bytes()
        except (OSError, ValueError):
            continue
        if lines["PPid"].strip() in own:
            own.add(status.parent.name)
            if b"--type=renderer" in command:
                held.append(int(lines["VmRSS"].split()[0]) * 1024)
    return max(held, default=0)


if __name__ == "__main__":
    warnings.simplefilter("ignore", DataWarning)
    main()

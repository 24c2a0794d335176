"""Check, score and rank submissions; history; tables.

Counts of each output are kept by a digest of output, corpus and metric, so that a second run counts
only new outputs. A metric whose weights depend on all systems (difficulty) is recounted when any is
new.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from errata import __version__
from errata.core.cache import BlobCache
from errata.core.errors import DataWarning, InputError
from errata.core.registry import origin, plugin_errors
from errata.core.stats import Floats, Progress, plural
from errata.data import Corpus, Hypotheses, Scores, duplicate_name_errors
from errata.datasets.evaluation_sets import read_evaluation_set
from errata.human.ranking import Ranking, cluster
from errata.io.atomic import file_set
from errata.io.checks import Finding, join_similar_findings
from errata.io.corpus import CorpusFiles, check_files
from errata.io.outputs import read_hypotheses
from errata.io.stored_runs import StoredRun, corpus_digests, make_run, read_runs, write_run
from errata.leaderboard.files import (
    Board,
    Submission,
    file_stem,
    read_submission,
    submission_folders,
    submission_name,
)
from errata.metrics import parse
from errata.metrics.base import Metric, describe_data
from errata.scoring.contract import check_inputs
from errata.scoring.evaluate import scores_of
from errata.scoring.tables import summary_table, unique_labels
from errata.tables.cells import Cell, Ranks, percent_suffix
from errata.tables.table import Column, Table, join_signatures, make_signature

REVISION = "board counts 1"


@dataclass(frozen=True)
class CheckedSubmission:
    """A submission, if its card could be read, and the findings in it."""

    name: str
    findings: tuple[Finding, ...]
    submission: Submission | None = None

    def count_findings(self, severity: str) -> int:
        return sum(finding.severity == severity for finding in self.findings)

    @property
    def can_be_scored(self) -> bool:
        """Return whether there is a card, and no finding is an error."""
        return self.submission is not None and not self.count_findings("error")


@dataclass(frozen=True, eq=False)
class RankedSet:
    """A test set with its systems, what each metric says of them, and which had to be counted."""

    name: str
    corpus: Corpus
    systems: tuple[Hypotheses, ...]
    results: tuple[Scores, ...]
    rankings: tuple[Ranking, ...]
    new: tuple[str, ...]
    submissions: Mapping[str, Submission] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class BoardResult:
    """Where a board stands: every submission as it was checked, every test set ranked."""

    board: Board
    checked: tuple[CheckedSubmission, ...]
    sets: tuple[RankedSet, ...]

    @property
    def refused(self) -> tuple[CheckedSubmission, ...]:
        """Return the submissions that were not scored."""
        return tuple(each for each in self.checked if not each.can_be_scored)

    @property
    def scored(self) -> tuple[Submission, ...]:
        return tuple(
            s for each in self.checked if each.can_be_scored and (s := each.submission) is not None
        )

    @property
    def newly_scored(self) -> tuple[str, ...]:
        """Return the systems that were scored in this run, and not taken from an earlier one."""
        return tuple(dict.fromkeys(name for each in self.sets for name in each.new))


def check_submissions(board: Board, folders: Sequence[Path]) -> tuple[CheckedSubmission, ...]:
    """Return submissions with the findings in card, lengths, lines out of place, and characters.

    Of several submissions of one system's name all but the first (by folder) are refused.
    """
    owners: dict[str, str] = {}
    others = submission_folders(board) if (board.folder / "submissions").is_dir() else []
    for folder in others:
        with contextlib.suppress(InputError):
            owners.setdefault(read_submission(board, folder).card.system, submission_name(folder))
    found = []
    for checked in _check_cards_and_outputs(board, folders):
        if checked.submission is not None:
            system, place = checked.submission.card.system, checked.submission.folder
            owner = owners.setdefault(system, checked.name)
            if owner != checked.name:
                path, problem = str(place / "card.toml"), f"{owner} has a system {system!r} too"
                twin = Finding("error", path, None, problem, "name them apart", "namesake")
                checked = replace(checked, findings=(twin, *checked.findings))
        found.append(checked)
    return tuple(found)


def _check_cards_and_outputs(board: Board, folders: Sequence[Path]) -> list[CheckedSubmission]:
    """Return submissions with what was found in cards and outputs; a test set is read once."""
    found: list[CheckedSubmission] = []
    for folder in folders:
        name = submission_name(folder)
        try:
            found.append(CheckedSubmission(name, (), read_submission(board, folder)))
        except InputError as error:
            found.append(CheckedSubmission(name, (_error_finding(error, folder),)))
    for files in board.sets:
        outputs = {
            k: each.submission.outputs[files.title]
            for k, each in enumerate(found)
            if each.submission is not None and files.title in each.submission.outputs
        }
        by_path = find_output_faults(files, list(outputs.values()), board.tokens)
        for k, each in enumerate(found):
            more: list[Finding] = []
            if k in outputs:
                more = by_path.get(str(outputs[k]), [])
            elif each.submission is not None:
                problem = f"there is no output on {files.title}"
                remedy = f"put {files.title}.txt beside the card to be ranked there"
                place = str(each.submission.folder)
                more = [Finding("note", place, None, problem, remedy, "no-output")]
            found[k] = replace(each, findings=(*each.findings, *more))
    return found


def find_output_faults(
    files: CorpusFiles, outputs: Sequence[Path], tokens: str
) -> dict[str, list[Finding]]:
    """Return findings in outputs, by file; a test set that cannot be read raises an error.

    What passes the checks is read as for scoring, so that an output which cannot be read is refused
    and does not stop the others.
    """
    known = files if files.gold is None else replace(files, source=None, references=())
    checked = check_files([f"{k}={output}" for k, output in enumerate(outputs)], known)
    by_path: dict[str, list[Finding]] = {}
    for finding in checked.findings:
        by_path.setdefault(finding.path, []).append(finding)
    corpus = read_evaluation_set(replace(files, tokens=tokens)).corpus
    for output in outputs:
        own = by_path.setdefault(str(output), [])
        if not any(finding.severity == "error" for finding in own):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DataWarning)  # they are among the findings
                try:
                    read_hypotheses(str(output), name="submission", corpus=corpus)
                except InputError as error:
                    own.insert(0, _error_finding(error, output, "output"))
    return by_path


def _error_finding(error: InputError, place: Path, code: str = "card") -> Finding:
    return Finding(
        "error", error.path or str(place), error.line, error.problem, error.remedy or "", code
    )


def read_standing(
    board: Board,
    kept: BlobCache,
    *,
    threads: int | None = None,
    progress: Callable[[str], Progress] | None = None,
) -> BoardResult:
    """Check every submission, count new outputs, and rank the valid ones on every test set."""
    metrics = [parse(text) for text in board.metrics]
    checked = check_submissions(board, submission_folders(board))
    fit = BoardResult(board, checked, ()).scored
    sets = []
    for files in board.sets:
        corpus = read_evaluation_set(replace(files, tokens=board.tokens)).corpus
        there = [each for each in fit if files.title in each.outputs]
        if not there:
            continue
        systems = [
            read_hypotheses(str(each.outputs[files.title]), name=each.card.system, corpus=corpus)
            for each in there
        ]
        ranked = rank_test_set(
            files.title, metrics, corpus, systems, board, kept, threads=threads, progress=progress
        )
        sets.append(replace(ranked, submissions={each.card.system: each for each in there}))
    if not sets:
        raise InputError(
            f"no submission can be scored: {sum(not each.can_be_scored for each in checked)} of "
            f"{len(checked)} were refused",
            path=str(board.folder / "submissions"),
            remedy="errata leaderboard FOLDER --check SUBMISSION says why",
        )
    return BoardResult(board, checked, tuple(sets))


def rank_test_set(
    name: str,
    metrics: Sequence[Metric],
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    board: Board,
    kept: BlobCache,
    *,
    threads: int | None = None,
    progress: Callable[[str], Progress] | None = None,
) -> RankedSet:
    """Score systems with each metric, from kept counts where there are any, and cluster them."""
    for error in duplicate_name_errors([each.system for each in systems]):
        raise error
    results, new = [], set[str]()
    for metric in metrics:
        check_inputs(metric, corpus, systems)
        counts, counted = _cached_counts(
            metric, corpus, systems, kept, threads, progress(metric.name) if progress else None
        )
        new |= counted
        results.append(
            scores_of(metric, corpus, systems, counts, resamples=board.resamples, rng=board.seed)
        )
    return RankedSet(
        name,
        corpus,
        tuple(systems),
        tuple(results),
        tuple(cluster(scores, confidence=board.confidence) for scores in results),
        tuple(each.system for each in systems if each.system in new),
    )


def _cached_counts(
    metric: Metric,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    kept: BlobCache,
    threads: int | None,
    progress: Progress | None,
) -> tuple[list[Floats], set[str]]:
    """Return the counts of every system, and the names of those that had to be counted."""
    together = describe_data(metric, corpus, systems).context
    # What weighs by all systems says of one alone something else, and is counted for all or none.
    joint = any(describe_data(metric, corpus, [each]).context != together for each in systems)
    keys = _cache_keys(metric, corpus, systems, together, joint)
    found = {key: _bytes_to_array(data) for key, data in kept.get(REVISION, keys).items()}
    lost = [k for k, key in enumerate(keys) if found.get(key) is None]
    if joint and lost:
        lost = list(range(len(keys)))
    missing = [systems[k] for k in lost]
    if missing:
        with plugin_errors(metric):
            counted = metric.count_all(corpus, missing, threads=threads, progress=progress)
        fresh = dict(zip([keys[k] for k in lost], counted, strict=True))
        kept.store(REVISION, {key: _array_to_bytes(array) for key, array in fresh.items()})
        found.update(fresh)
    arrays = [array for key in keys if (array := found[key]) is not None]
    return arrays, {each.system for each in missing}


def _cache_keys(
    metric: Metric,
    corpus: Corpus,
    systems: Sequence[Hypotheses],
    together: tuple[str, ...],
    joint: bool,
) -> list[str]:
    """Return a key per system from output (``joint``: all outputs), corpus, metric and version."""
    texts = [
        repr((each.sentences, each.edits)).encode("utf-8", "surrogatepass") for each in systems
    ]
    digests = [hashlib.sha256(text).hexdigest() for text in texts]
    about = (repr(metric), origin(type(metric)), together, sorted(corpus_digests(corpus).items()))
    every = tuple(digests) if joint else ()
    return [repr((*about, own, every, __version__)) for own in digests]


def _array_to_bytes(array: Floats) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def _bytes_to_array(data: bytes) -> Floats | None:
    """Return kept counts, or None if the file was damaged."""
    try:
        found: Floats = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError, OSError):
        return None
    return found if found.dtype == np.float64 and found.ndim == 3 else None


# ---- A leaderboard as tables: the ranking, the findings in submissions, the history.


def board_table(ranked: RankedSet, *, groups: bool) -> Table:
    """Return systems in the order of the first metric, with its clusters, and every metric."""
    first, results = ranked.rankings[0], ranked.results
    summary = summary_table(results, confidence=first.confidence, notes=True)
    figures = {row[0]: row[1:] for row in summary.rows}
    rows: list[tuple[Cell, ...]] = []
    for position, system in enumerate(first.systems):
        card = ranked.submissions[system].card
        ranks = Ranks(int(first.low[position]), int(first.high[position]))
        details = (card.group, str(card.date)) if groups else (str(card.date),)
        rows.append((int(first.cluster[position]), ranks, system, *figures[system], *details))
    ends = [k for k in range(len(rows) - 1) if first.cluster[k] != first.cluster[k + 1]]
    by = unique_labels(results)[0].label
    group = ("group",) if groups else ()
    return replace(
        summary,
        columns=("cluster", "range", "system", *summary.columns[1:], *group, "date"),
        rows=tuple(rows),
        title=f"{ranked.name}: {len(rows)} {plural('system', len(rows))}, clusters by {by}"
        + percent_suffix(results),
        name=f"board_{ranked.name}",
        rules=frozenset(ends),
    )


def submission_table(standing: BoardResult) -> Table:
    """Return for every submission whether it was scored, now or before, and the findings."""
    checked, new = standing.checked, standing.newly_scored
    submissions = [each.submission for each in checked]
    systems = [None if each is None else each.card.system for each in submissions]
    states = [
        "refused" if not each.can_be_scored else "scored now" if system in new else "as before"
        for each, system in zip(checked, systems, strict=True)
    ]
    return Table.of(
        [
            Column("submission", [each.name for each in checked]),
            Column("system", systems),
            Column("state", states),
            *(
                Column(f"{severity}s", [each.count_findings(severity) for each in checked])
                for severity in ("error", "warning")
            ),
        ],
        title="Submissions",
        name="submissions",
        signature=make_signature("board", f"submissions:{len(checked)}"),
    )


def finding_table(checked: Sequence[CheckedSubmission]) -> Table:
    """Return the findings in submissions, the fourth and later of a kind counted."""
    rows = [
        (each.name, finding) for each in checked for finding in join_similar_findings(each.findings)
    ]
    paths = [finding.path.replace("\\", "/") for _, finding in rows]
    columns = [
        Column("submission", [name for name, _ in rows]),
        Column("severity", [finding.severity for _, finding in rows]),
        Column("file", [path.rpartition("/")[2] for path in paths]),
        Column("line", [finding.line for _, finding in rows]),
        Column("problem", [finding.problem for _, finding in rows], width=40),
        Column("remedy", [finding.remedy for _, finding in rows], width=30),
    ]
    return Table.of(
        columns, title="Findings", name="findings", signature=make_signature("board", "check")
    )


def history_table(runs: Sequence[StoredRun]) -> Table:
    """Return every run, the newest first: the score of each metric for the output of that day."""
    labels = list(dict.fromkeys(figure.label for run in runs for figure in run.figures))
    newest = runs[::-1]
    values = [{figure.label: figure.value for figure in run.figures} for run in newest]
    return Table.of(
        [
            Column("scored on", [run.when[:10] for run in newest]),
            Column("system", [run.system for run in newest]),
            *(Column(label, [of_run.get(label) for of_run in values]) for label in labels),
        ],
        title="Every run",
        name="history",
        signature=join_signatures(f.signature for run in runs for f in run.figures),
    )


def board_runs(standing: BoardResult) -> dict[str, tuple[StoredRun, ...]]:
    """Return the stored runs of every test set, oldest first, without repetitions.

    Two processes, or two branches that were merged, may have stored the same run.
    """
    found = {}
    for ranked in standing.sets:
        folder = _run_folder(standing, ranked)
        there = folder.is_dir() and any(folder.glob("*.json"))
        told: list[StoredRun] = []
        for run in read_runs(folder) if there else ():
            if not _is_stored(run, told):
                told.append(run)
        found[ranked.name] = tuple(told)
    return found


def store_runs(standing: BoardResult) -> tuple[str, ...]:
    """Store a run for every output, test set or metric that has none yet; return their names."""
    before = board_runs(standing)
    stored = []
    for ranked in standing.sets:
        folder = _run_folder(standing, ranked)
        for hypotheses in ranked.systems:
            level = standing.board.confidence
            run = make_run(ranked.corpus, hypotheses, ranked.results, confidence=level)
            if _is_stored(run, before[ranked.name]):
                continue
            folder.mkdir(parents=True, exist_ok=True)
            name = file_stem(ranked.submissions[hypotheses.system].name)
            day = run.when.replace(":", "").replace("-", "")
            with file_set(force=True):  # at once, whatever the command keeps back
                write_run(_unused_path(folder, f"{name}-{day}"), run)
            stored.append(hypotheses.system)
    return tuple(dict.fromkeys(stored))


def _run_folder(standing: BoardResult, ranked: RankedSet) -> Path:
    return standing.board.folder / "runs" / file_stem(ranked.name)


def _is_stored(run: StoredRun, runs: Sequence[StoredRun]) -> bool:
    """Return whether the last run of the system is the same but for the day."""
    own = [each for each in runs if each.system == run.system]
    return bool(own) and (
        own[-1].changed == run.changed
        and own[-1].edits == run.edits
        and own[-1].corpus == run.corpus
        and [f.signature for f in own[-1].figures] == [f.signature for f in run.figures]
    )


def _unused_path(folder: Path, stem: str) -> Path:
    """Return a file name that is not used yet: two runs may share a second."""
    path, nth = folder / f"{stem}.json", 1
    while path.exists():
        nth += 1
        path = folder / f"{stem}-{nth}.json"
    return path

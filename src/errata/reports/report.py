"""report(): the sections of the page in order, and only those with content."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from errata.comparison.gate import parse_condition
from errata.core.parallel import circles_left
from errata.core.stats import plural
from errata.data import Corpus, Hypotheses, Judgment, Scores
from errata.io.atomic import write_bytes
from errata.io.files import PathLike
from errata.io.stored_runs import StoredRun
from errata.metrics import DEFAULT_METRICS, Metric, parse
from errata.reports.explorer import sentences_section
from errata.reports.page import Section, render_page
from errata.reports.results import ReportInputs, ReportResults, captured_warnings
from errata.reports.sections import changes
from errata.reports.sections.answer import answer_section
from errata.reports.sections.files import findings_section, provenance_section
from errata.reports.sections.kinds import (
    difficulty_section,
    kinds_section,
    references_section,
    scores_of_kinds,
)
from errata.reports.sections.leaderboard import leaderboard_section, trend_section
from errata.reports.sections.people import agreement_section, people_section
from errata.tables.html_table import check_templates
from errata.tables.table import Table


@dataclass(frozen=True)
class ReportPage:
    """A report: its page, the sections it is made of, and whether all conditions held."""

    title: str
    html: str
    sections: tuple[Section, ...]
    passed: bool = True

    @property
    def tables(self) -> tuple[Table, ...]:
        """Every table of the page, in its order."""
        return tuple(table for section in self.sections for table in section.tables)

    def save(self, path: PathLike) -> None:
        """Write the page to a file."""
        write_bytes(self.html.encode("utf-8", "replace"), path)

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that a notebook's styles and scripts stay apart."""
        return (
            f'<iframe title="{html.escape(self.title)}" sandbox="allow-scripts '
            'allow-downloads" width="100%" height="800" '
            f'srcdoc="{html.escape(self.html)}"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<ReportPage {self.title!r}: {', '.join(section.key for section in self.sections)}>"


def build_report_page(material: ReportInputs) -> ReportPage:
    """Build the report from the given inputs; missing sections are left out with a note."""
    check_templates()
    # Hundreds of thousands of edits are made, none of them in a circle.
    with circles_left(), captured_warnings() as heard:
        results = ReportResults(material)
        results.scores  # noqa: B018 - what cannot be scored is refused, and not left out
        kinds = results.try_or_note("kinds of error", lambda: scores_of_kinds(results)) or []
        compared, gate = changes.compare_with_base(results)
        makers: dict[str, Callable[[], Section | None]] = {
            "answer": lambda: answer_section(results, kinds, compared, gate),
            "gate": lambda: changes.gate_section(gate),
            "leaderboard": lambda: leaderboard_section(results),
            "changes": lambda: changes.changes_section(results, compared),
            "people": lambda: people_section(results),
            "metrics and people": lambda: agreement_section(results),
            "kinds": lambda: kinds_section(results, kinds),
            "difficulty": lambda: difficulty_section(results),
            "sentences": lambda: sentences_section(results),
            "references": lambda: references_section(results),
            "trend": lambda: trend_section(results),
            "how it was made": lambda: provenance_section(results),
        }
        found = [results.try_or_note(what, make) for what, make in makers.items()]
    warned = [*material.warnings, *heard]
    checked = material.checked
    serious = checked is not None and (checked.count("error") or checked.count("warning"))
    # What should be read before anything else comes first, the rest before how it was made.
    found.insert(0 if warned or serious else len(found) - 1, findings_section(results, warned))
    sections = tuple(section for section in found if section is not None)
    title = material.title or _default_title(material)
    made = render_page(title, sections, about=_summary_line(results))
    return ReportPage(title, made, sections, gate is None or gate.passed)


def _default_title(material: ReportInputs) -> str:
    if material.corpus is not None and material.systems:
        several = len(material.systems) > 1
        what = f"{len(material.systems)} systems" if several else material.systems[0].system
        return f"{what} on {material.corpus.name}" if material.corpus.name else f"{what}, scored"
    return "What people say of systems" if material.judgments else "A report"


def _summary_line(results: ReportResults) -> str:
    given = results.material
    said = []
    if given.corpus is not None and given.systems:
        n = len(given.corpus)
        most = given.corpus.most_references
        said.append(f"{n:,} {plural('sentence', n)}")
        said.append(f"{most} {plural('reference', most)}" if most else "no references")
        said.append(f"{len(given.systems)} {plural('system', len(given.systems))}")
    if results.scores:
        said.append(", ".join(scores.label for scores in results.scores))
    if given.judgments:
        n = len(given.judgments)
        said.append(f"{n:,} {plural('judgment', n)}")
    return " · ".join(said)


def report(
    corpus: Corpus | None = None,
    systems: Sequence[Hypotheses] = (),
    *,
    metrics: Sequence[Metric | str] | None = None,
    scores: Sequence[Scores] = (),
    judgments: Sequence[Judgment] = (),
    human: Scores | None = None,
    base: str | None = None,
    slices: Mapping[str, Sequence[str]] | None = None,
    fail_if: Sequence[str] = (),
    runs: Sequence[StoredRun] = (),
    title: str = "",
    resamples: int = 1000,
    confidence: float = 0.95,
    rng: int = 0,
    threads: int | None = None,
) -> ReportPage:
    """Build one page on systems from whatever is given.

    ``metrics`` are as in `errata score` where there are references, unless named. ``scores``
    were computed elsewhere; ``judgments`` are people's rankings, ``human`` their scores. Systems
    are compared with ``base``, the name of one of them, and held to the conditions ``fail_if``
    (`errata.comparison.gate`); ``slices`` say of every sentence what it belongs to, by column
    (domain, level); ``runs`` are drawn over time.

    >>> import errata
    >>> corpus = errata.Corpus.from_texts(["He go home ."], [["He goes home ."]])
    >>> ours = errata.Hypotheses("ours", ("He goes home .",))
    >>> made = errata.report(corpus, [ours], metrics=["m2"], title="Ours")
    >>> [section.key for section in made.sections]
    ['answer', 'leaderboard', 'kinds', 'sentences', 'made']
    >>> made.save("report.html")  # doctest: +SKIP
    """
    scored = corpus is not None and len(corpus) > 0 and all(corpus.references)
    usual = DEFAULT_METRICS if scored and systems else ()
    named = usual if metrics is None else metrics
    chosen = [parse(each) if isinstance(each, str) else each for each in named]
    return build_report_page(
        ReportInputs(
            corpus=corpus,
            systems=tuple(systems),
            metrics=chosen,
            compared=changes.metrics_to_compare(chosen, usual=metrics is None),
            scores=tuple(scores),
            judgments=tuple(judgments) or None,
            human=human,
            base=base,
            slices=slices,
            fail_if=tuple(map(parse_condition, fail_if)),
            runs=tuple(runs),
            title=title,
            resamples=resamples,
            confidence=confidence,
            rng=rng,
            threads=threads,
        )
    )

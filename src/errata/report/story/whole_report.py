"""From material to a page: every section that has something to say, and no other."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from errata.data import Corpus, Hypotheses, Judgment, Scores
from errata.io.files import PathLike
from errata.io.runs import StoredRun
from errata.io.writing import write_bytes
from errata.metrics import DEFAULT_METRICS, Metric, parse
from errata.numbers import plural
from errata.report.page import Section, page
from errata.report.page.templates import check_templates
from errata.report.story.agreeing import agreement_section
from errata.report.story.answer import three_sentences
from errata.report.story.changes import changes_section, comparisons_of_base, metrics_compared
from errata.report.story.error_kinds import kinds_section, scores_of_kinds
from errata.report.story.file_health import findings_section
from errata.report.story.hard_places import difficulty_section
from errata.report.story.judged import people_section
from errata.report.story.leaderboard import leaderboard_section
from errata.report.story.made_by import made_section
from errata.report.story.over_time import trend_section
from errata.report.story.reference_study import references_section
from errata.report.story.results import Results
from errata.report.story.sentences_shown import sentences_section
from errata.report.story.story_material import StoryMaterial, heard_warnings
from errata.report.story.thresholds import gate_section, held_gate
from errata.report.table import Table

__all__ = ["ReportPage", "make_report", "report"]


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
            f'<iframe title="{html.escape(self.title, quote=True)}" sandbox="allow-scripts '
            'allow-downloads" width="100%" height="800" '
            f'srcdoc="{html.escape(self.html, quote=True)}"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<ReportPage {self.title!r}: {', '.join(section.key for section in self.sections)}>"


def make_report(material: StoryMaterial) -> ReportPage:
    """The report of what is given; what is missing is left out, and why is said."""
    check_templates()
    with heard_warnings() as heard:
        results = Results(material)
        results.scores  # noqa: B018 - what cannot be scored is refused, and not left out
        kinds = results.or_say("kinds of error", lambda: scores_of_kinds(results)) or []
        compared = comparisons_of_base(results)
        gate = held_gate(results, compared)
        makers: dict[str, Callable[[], Section | None]] = {
            "answer": lambda: three_sentences(results, kinds, compared, gate),
            "gate": lambda: gate_section(gate),
            "leaderboard": lambda: leaderboard_section(results),
            "changes": lambda: changes_section(results, compared),
            "people": lambda: people_section(results),
            "metrics and people": lambda: agreement_section(results),
            "kinds": lambda: kinds_section(results, kinds),
            "difficulty": lambda: difficulty_section(results),
            "sentences": lambda: sentences_section(results),
            "references": lambda: references_section(results),
            "trend": lambda: trend_section(results),
            "how it was made": lambda: made_section(results),
        }
        found = [results.or_say(what, make) for what, make in makers.items()]
    material = replace(material, warnings=(*material.warnings, *heard))
    noted = replace_material(results, material)
    findings = findings_section(noted)
    place = 0 if _serious(noted) else len(found) - 1
    found.insert(place, findings)
    sections = tuple(section for section in found if section is not None)
    title = material.title or _title(material)
    made = page(title, sections, about=_about(results))
    return ReportPage(title, made, sections, gate is None or gate.passed)


def replace_material(results: Results, material: StoryMaterial) -> Results:
    """The same results, of which more is known now."""
    noted = Results(material)
    noted.missing.extend(results.missing)
    return noted


def _serious(results: Results) -> bool:
    """Whether what was found should be read before anything else."""
    checked = results.material.checked
    return bool(results.material.warnings) or (
        checked is not None and bool(checked.count("error") or checked.count("warning"))
    )


def _title(material: StoryMaterial) -> str:
    if material.corpus is not None and material.systems:
        several = len(material.systems) > 1
        what = f"{len(material.systems)} systems" if several else material.systems[0].system
        return f"{what} on {material.corpus.name}" if material.corpus.name else f"{what}, scored"
    return "What people say of systems" if material.judgments else "A report"


def _about(results: Results) -> str:
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
    """One page that tells what is known of systems, from whatever is given.

    ``metrics`` are those of `errata score` where there are references, unless named. ``scores``
    were computed elsewhere; ``judgments`` are people's rankings, ``human`` their scores. Systems
    are compared with ``base``, the name of one of them, and held to the conditions ``fail_if``
    (`errata.studies.gate`); ``slices`` say of every sentence what it belongs to, by column
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
    return make_report(
        StoryMaterial(
            corpus=corpus,
            systems=tuple(systems),
            metrics=chosen,
            compared=metrics_compared(chosen, usual=metrics is None),
            scores=tuple(scores),
            judgments=tuple(judgments) or None,
            human=human,
            base=base,
            slices=slices,
            fail_if=tuple(fail_if),
            runs=tuple(runs),
            title=title,
            resamples=resamples,
            confidence=confidence,
            seed=rng,
            threads=threads,
        )
    )

"""The answer: who is best, how sure that is, or what a new version changed; and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from errata.comparison.compare import Comparison
from errata.core.stats import plural
from errata.data import Scores
from errata.metrics.errant_by_type import TypeScores
from errata.reports.page import Section, SectionBuilder
from errata.reports.results import GateVerdict, ReportResults
from errata.reports.sections.kinds import weakest_kind
from errata.scoring.decisions import RULES, p_value, too_few_to_rank
from errata.scoring.verdicts import first_lead, tied_with_best
from errata.tables.cells import as_text, score_format
from errata.tables.html_table import fill_html, term_html

if TYPE_CHECKING:
    from markupsafe import Markup

FEW_MISSED = 0.2  # if at most this share of a kind is missed, no advice is given on it
TOO_FEW = 5  # with fewer sentences resamples hardly differ, and intervals mean nothing
FEW_SENTENCES = 300  # below, intervals are too wide for most differences between systems


def answer_section(
    results: ReportResults,
    kinds: Sequence[TypeScores],
    compared: Sequence[Comparison] = (),
    gate: GateVerdict | None = None,
) -> Section | None:
    """Return sentences written from the numbers: of two systems, what their comparison says."""
    if results.leader() is None:
        return _unscored_section(results)
    few = _too_few_sentence(results)
    if len(compared) == 1 and compared[0].answer is not None:
        said = [compared[0].answer.sentence]
    else:
        said = [few] if few else [_leader_sentence(results), _certainty_sentence(results)]
    return _list_sentences([*said, _advice_sentence(results, kinds, compared, gate)])


def _list_sentences(sentences: Sequence[str]) -> Section:
    pieces = SectionBuilder("answer")
    pieces.template("answer.html.j2", sentences=sentences)
    return pieces.section("The answer")


def _too_few_sentence(results: ReportResults) -> str:
    """Return what `errata score` says on too few sentences; empty where people judged."""
    corpus = results.material.corpus
    if results.human_scores is not None or corpus is None or len(corpus) >= RULES.sentences:
        return ""
    systems = len(results.scores[0]) if results.scores else 0
    return too_few_to_rank(systems, len(corpus)) if systems > 1 else ""


def _unscored_section(results: ReportResults) -> Section | None:
    """Return the answer for outputs without references and judgments."""
    given = results.material
    if given.corpus is None or not given.systems:
        return None
    n, shown = len(given.corpus), given.systems[:4]
    sources = given.corpus.sources
    changed = [
        fill_html(
            "<bdi>{}</bdi> changes {:,} of {:,}",
            each.system,
            sum(a != b for a, b in zip(each.sentences, sources, strict=True)),
            n,
        )
        for each in shown
    ]
    left = len(given.systems) - len(shown)
    more = f", and {left} more" if left else ""
    return _list_sentences(
        [
            "Who is best cannot be said: there are no references, and nobody judged the outputs.",
            fill_html("{} {}{}.", fill_html(", ").join(changed), plural("sentence", n), more),
            fill_html(
                'Next: <a href="#sentences">read the sentences</a>, and give references (--refs, '
                "--gold) or judgments."
            ),
        ]
    )


def _system_html(system: str) -> Markup:
    return fill_html("<strong><bdi>{}</bdi></strong>", system)


def _names_html(systems: Sequence[str], most: int = 4) -> Markup:
    shown = [fill_html("<bdi>{}</bdi>", system) for system in systems[:most]]
    if len(systems) > most:
        left = len(systems) - most
        shown.append(fill_html("{} {}", left, plural("other", left)))
    if len(shown) == 1:
        return shown[0]
    return fill_html("{} and {}", fill_html(", ").join(shown[:-1]), shown[-1])


def _first_systems(scores: Scores) -> list[str]:
    """Return the system, or those that share the first place."""
    return [scores.systems[s] for s in scores.order if scores.ranks[s] == 1]


def _leader_sentence(results: ReportResults) -> Markup:
    people, found = results.human_scores, results.scores
    main = found[0] if found else people
    assert main is not None
    first, n = _first_systems(main), len(main)
    value = _score_text(main, float(main.values[main.order[0]])) + _unit_suffix(main, "%")
    by = "people" if main is people else main.label
    figure = fill_html("{} {}", term_html(main.headline), value)
    if n == 1:
        return fill_html("{} scores {} by {}.", _system_html(first[0]), figure, by)
    if len(first) > 1:
        said = "{} share the first place of {} systems by {} ({})."
        return fill_html(said, _names_html(first), n, by, figure)
    best = "{} is best of {} systems by {} ({})"
    parts = [fill_html(best, _system_html(first[0]), n, by, figure)]
    others = [scores for scores in found[1:] if len(scores) > 1]
    differ = [scores for scores in others if _first_systems(scores) != first]
    if len(others) > 1 and not differ:
        parts.append(fill_html(", and by every other metric"))
    elif others and not differ:
        parts.append(fill_html(" and {}", others[0].label))
    firsts: dict[tuple[str, ...], list[str]] = {}
    for scores in differ:
        firsts.setdefault(tuple(_first_systems(scores)), []).append(scores.label)
    for others_first, labels in firsts.items():
        verb = "put" if len(labels) > 1 else "puts"
        said = "; {} {} {} first"
        parts.append(fill_html(said, _names_html(labels), verb, _names_html(others_first)))
    if main is not people and people is not None and len(people) > 1:
        liked = _first_systems(people)
        said = "; people agree" if liked == first else "; people put {} first"
        parts.append(fill_html(said, _names_html(liked)))
    return fill_html("{}.", fill_html("").join(parts))


def _certainty_sentence(results: ReportResults) -> str:
    people = results.human_scores
    main = results.scores[0] if results.scores else people
    assert main is not None
    if main.resampled is None:
        return "How sure that is cannot be said: nothing was resampled."
    corpus = results.material.corpus
    if main is not people and corpus is not None and len(corpus) < TOO_FEW:
        n = len(corpus)
        return f"How sure that is cannot be said from {n} {plural('sentence', n)}."
    confidence, level = results.material.confidence, results.material.confidence_text
    if len(main) > 1:
        by = "the judgments" if main is people else main.label
        return _lead_sentence(main, by, confidence, level)
    low, high = (_score_text(main, bound) for bound in main.interval(confidence)[0].tolist())
    return fill_html(
        "Resampling the {} puts it between {} and {}{} ({} {}).",
        "judgments" if main is people else "sentences",
        low,
        high,
        _unit_suffix(main, "%"),
        level,
        term_html("interval"),
    )


def _lead_sentence(main: Scores, by: str, confidence: float, level: str) -> str:
    """Return what the lead of the best over the next is worth (`errata.scoring.verdicts`)."""
    lead = first_lead(main, confidence)
    if lead is None or lead.p is None:
        return ""
    best = main.order[0]
    alike = tied_with_best(main, confidence)
    beside = [main.systems[s] for s in main.order if alike[s] and s != best]
    first = _first_systems(main)
    if len(first) > 1:
        others = [name for name in beside if name not in first]
        close = fill_html(", nor them from {}", _names_html(others)) if others else ""
        return fill_html("At the {} level {} cannot tell them apart{}.", level, by, close)
    value, low, high = (_score_text(main, float(number)) for number in lead.by)
    ahead = fill_html(
        "it is ahead of <bdi>{}</bdi> by {}{} [{}, {}], {}",
        *(lead.worse, value, _unit_suffix(main, "points"), low, high),
        term_html(p_value(lead.p), "p-value"),
    )
    if not beside:
        return fill_html("That is sure at the {} level: {}.", level, ahead)
    unsure = "That is not sure: at the {} level {} cannot tell it from {}; {}."
    return fill_html(unsure, level, by, _names_html(beside), ahead)


def _score_text(scores: Scores, number: float) -> str:
    """Return a score, or a difference of two, as the tables show it."""
    return as_text(number, score_format(scores, scores.headline))


def _unit_suffix(scores: Scores, word: str) -> str:
    """Return what follows a number that is shown in percent."""
    return f"\N{NO-BREAK SPACE}{word}" if scores.headline in scores.shares else ""


def _advice_sentence(
    results: ReportResults,
    kinds: Sequence[TypeScores],
    compared: Sequence[Comparison],
    gate: GateVerdict | None,
) -> Markup:
    given = results.material
    advice = [*_file_and_gate_advice(results, gate), *_regression_advice(compared)]
    ranking = results.human_ranking
    main = results.scores[0] if results.scores else None
    if main is None and ranking is not None:
        if sum(tied_with_best(ranking.scores, given.confidence)) > 1:
            advice.append("collect more judgments of the systems at the top before naming a winner")
    elif main is not None and main.resampled is not None:
        together = sum(tied_with_best(main, given.confidence)) > 1
        few = given.corpus is not None and len(given.corpus) < FEW_SENTENCES
        if len(main) > 1 and together:
            advice.append(
                "score more sentences before naming a winner"
                if few
                else "report the systems that share the first place as tied"
            )
    weak = weakest_kind(kinds, results.leader())
    if weak is not None and weak[1] > FEW_MISSED * weak[2]:
        kind, missed, asked = weak
        query = urlencode({"system": results.leader() or "", "state": "missed", "kind": kind})
        most = 'most is missed in <a href="#sentences?{}">{}</a>: {:,} of {:,}'
        advice.append(fill_html(most, query, kind, missed, asked))
    if not advice and given.corpus is not None and given.systems:
        read = '<a href="#sentences">read the sentences</a> before you publish the numbers'
        advice.append(fill_html(read))
    elif not advice:
        advice.append("give the outputs too, to see which sentences decide this")
    return fill_html("Next: {}.", fill_html("; ").join(advice[:2]))


def _file_and_gate_advice(results: ReportResults, gate: GateVerdict | None) -> list[str]:
    checked, advice = results.material.checked, list[str]()
    many = checked.count("error") + checked.count("warning") if checked is not None else 0
    if many:
        link = 'look at the <a href="#findings">{} {} of the file check</a> first'
        advice.append(fill_html(link, many, plural("finding", many)))
    if gate is not None and not gate.passed:
        advice.append(fill_html('fix what <a href="#gate">fails its threshold</a>'))
    return advice


def _regression_advice(compared: Sequence[Comparison]) -> list[str]:
    """Return what a new version did worse than the old one, if it is one."""
    if len(compared) != 1:
        return []
    found = compared[0]
    worse = [each.label for each in found.differences if each.difference.high < 0]
    if worse:
        why = 'find out why <bdi>{}</bdi> got worse by {} (<a href="#changes">what changed</a>)'
        return [fill_html(why, found.system, _names_html(worse))]
    if found.worse:
        n = len(found.worse)
        read = 'read the <a href="#changes">{:,} {} that got worse</a>'
        return [fill_html(read, n, plural("sentence", n))]
    return []

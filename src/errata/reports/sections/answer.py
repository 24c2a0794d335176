"""The answer: who is best, how sure that is, or what a new version changed; and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlencode

from errata.comparison.compare import Comparison
from errata.core.stats import plural
from errata.data import Scores
from errata.metrics.errant_by_type import TypeScores
from errata.reports.page import Section
from errata.reports.results import GateVerdict, ReportResults
from errata.reports.sections.kinds import weakest_kind
from errata.scoring.decisions import RULES, p_value, too_few_to_rank
from errata.scoring.verdicts import first_lead, tied_with_best
from errata.tables.cells import as_text, score_format
from errata.tables.html_table import escape_html, term_html

FEW_MISSED = 0.2  # if at most this share of a kind is missed, no advice is given on it
TOO_FEW = 5  # with fewer sentences resamples hardly differ, and intervals mean nothing
FEW_SENTENCES = 300  # below, intervals are too wide for most differences between systems


def answer_section(
    results: ReportResults,
    kinds: Sequence[TypeScores],
    compared: Sequence[Comparison] = (),
    gate: GateVerdict | None = None,
) -> Section | None:
    """Sentences of HTML, written from the numbers: of two systems, what their comparison says."""
    if results.leader() is None:
        return _unscored_section(results)
    pair = compared[0].answer if len(compared) == 1 else None
    few = _too_few_sentence(results)
    if pair is not None:
        said = [str(escape_html(pair.sentence))]
    else:
        said = [few] if few else [_leader_sentence(results), _certainty_sentence(results)]
    said.append(_advice_sentence(results, kinds, compared, gate))
    listed = "".join(f"<li>{sentence}</li>" for sentence in said if sentence)
    return Section("answer", "The answer", f'<ol class="answer">{listed}</ol>')


def _too_few_sentence(results: ReportResults) -> str:
    """What `errata score` says of systems on too few sentences; empty where people judged."""
    corpus = results.material.corpus
    if results.human_scores is not None or corpus is None or len(corpus) >= RULES.sentences:
        return ""
    systems = len(results.scores[0]) if results.scores else 0
    return too_few_to_rank(systems, len(corpus)) if systems > 1 else ""


def _unscored_section(results: ReportResults) -> Section | None:
    """The answer for outputs without references and judgments."""
    given = results.material
    if given.corpus is None or not given.systems:
        return None
    n, shown = len(given.corpus), given.systems[:4]
    sources = given.corpus.sources
    changed = [
        f"<bdi>{escape_html(each.system)}</bdi> changes "
        f"{sum(a != b for a, b in zip(each.sentences, sources, strict=True)):,} of {n:,}"
        for each in shown
    ]
    left = len(given.systems) - len(shown)
    more = f", and {left} more" if left else ""
    said = (
        "Who is best cannot be said: there are no references, and nobody judged the outputs.",
        f"{', '.join(changed)} {plural('sentence', n)}{more}.",
        'Next: <a href="#sentences">read the sentences</a>, and give references (--refs, --gold) '
        "or judgments.",
    )
    listed = "".join(f"<li>{sentence}</li>" for sentence in said)
    return Section("answer", "The answer", f'<ol class="answer">{listed}</ol>')


def _system_html(system: str) -> str:
    return f"<strong><bdi>{escape_html(system)}</bdi></strong>"


def _names_html(systems: Sequence[str], most: int = 4) -> str:
    shown = [f"<bdi>{escape_html(system)}</bdi>" for system in systems[:most]]
    if len(systems) > most:
        left = len(systems) - most
        shown.append(f"{left} {plural('other', left)}")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _first_systems(scores: Scores) -> list[str]:
    """The system, or those that share the first place."""
    return [scores.systems[s] for s in scores.order if scores.ranks[s] == 1]


def _leader_sentence(results: ReportResults) -> str:
    people, found = results.human_scores, results.scores
    main = found[0] if found else people
    assert main is not None
    first, n = _first_systems(main), len(main)
    value = _score_text(main, float(main.values[main.order[0]])) + _unit_text(main, "%")
    by = "people" if main is people else escape_html(main.label)
    figure = f"{term_html(main.headline)} {value}"
    if n == 1:
        return f"{_system_html(first[0])} scores {figure} by {by}."
    if len(first) > 1:
        return f"{_names_html(first)} share the first place of {n} systems by {by} ({figure})."
    said = f"{_system_html(first[0])} is best of {n} systems by {by} ({figure})"
    others = [scores for scores in found[1:] if len(scores) > 1]
    differ = [scores for scores in others if _first_systems(scores) != first]
    if others and not differ:
        said += (
            ", and by every other metric"
            if len(others) > 1
            else f" and {escape_html(others[0].label)}"
        )
    elif differ:
        firsts: dict[tuple[str, ...], list[str]] = {}
        for scores in differ:
            firsts.setdefault(tuple(_first_systems(scores)), []).append(scores.label)
        for others_first, labels in firsts.items():
            verb = "put" if len(labels) > 1 else "puts"
            said += f"; {_names_html(labels)} {verb} {_names_html(others_first)} first"
    if main is not people and people is not None and len(people) > 1:
        same = _first_systems(people) == first
        said += (
            "; people agree"
            if same
            else f"; people put {_names_html(_first_systems(people))} first"
        )
    return said + "."


def _certainty_sentence(results: ReportResults) -> str:
    people = results.human_scores
    main = results.scores[0] if results.scores else people
    assert main is not None
    by = "the judgments" if main is people else escape_html(main.label)
    if main.resampled is None:
        return "How sure that is cannot be said: nothing was resampled."
    corpus = results.material.corpus
    if main is not people and corpus is not None and len(corpus) < TOO_FEW:
        n = len(corpus)
        return f"How sure that is cannot be said from {n} {plural('sentence', n)}."
    confidence, level = results.material.confidence, escape_html(results.material.confidence_text)
    if len(main) == 1:
        low, high = (_score_text(main, bound) for bound in main.interval(confidence)[0].tolist())
        what = "judgments" if main is people else "sentences"
        return (
            f"Resampling the {what} puts it between {low} and {high}{_unit_text(main, '%')} "
            f"({level} {term_html('interval')})."
        )
    return _lead_sentence(main, by, confidence, level)


def _lead_sentence(main: Scores, by: str, confidence: float, level: str) -> str:
    """What the lead of the best over the next is worth, as `errata.scoring.verdicts` says it."""
    lead = first_lead(main, confidence)
    if lead is None or lead.p is None:
        return ""
    best = main.order[0]
    alike = tied_with_best(main, confidence)
    beside = [main.systems[s] for s in main.order if alike[s] and s != best]
    first = _first_systems(main)
    if len(first) > 1:
        others = [name for name in beside if name not in first]
        close = f", nor them from {_names_html(others)}" if others else ""
        return f"At the {level} level {by} cannot tell them apart{close}."
    value, low, high = (_score_text(main, float(number)) for number in lead.by)
    ahead = (
        f"it is ahead of <bdi>{escape_html(lead.worse)}</bdi> by {value}"
        f"{_unit_text(main, 'points')} [{low}, {high}], {term_html(p_value(lead.p), 'p-value')}"
    )
    if not beside:
        return f"That is sure at the {level} level: {ahead}."
    unsure = f"at the {level} level {by} cannot tell it from {_names_html(beside)}"
    return f"That is not sure: {unsure}; {ahead}."


def _score_text(scores: Scores, number: float) -> str:
    """A score, or a difference of two, as the tables show them."""
    return escape_html(as_text(number, score_format(scores, scores.headline)))


def _unit_text(scores: Scores, word: str) -> str:
    """What follows a number that is shown in percent."""
    shares = scores.headline in scores.shares
    return f"\N{NO-BREAK SPACE}{word}" if shares else ""


def _advice_sentence(
    results: ReportResults,
    kinds: Sequence[TypeScores],
    compared: Sequence[Comparison],
    gate: GateVerdict | None,
) -> str:
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
        said = {"system": results.leader() or "", "state": "missed", "kind": kind}
        link = escape_html(f"#sentences?{urlencode(said)}")
        advice.append(
            f'most is missed in <a href="{link}">{escape_html(kind)}</a>: {missed:,} of {asked:,}'
        )
    if not advice:
        if given.corpus is not None and given.systems:
            return (
                'Next: <a href="#sentences">read the sentences</a> before you publish the numbers.'
            )
        return "Next: give the outputs too, to see which sentences decide this."
    joined = "; ".join(advice[:2])
    return f"Next: {joined}."


def _file_and_gate_advice(results: ReportResults, gate: GateVerdict | None) -> list[str]:
    given = results.material
    advice = []
    checked = given.checked
    if checked is not None and (checked.count("error") or checked.count("warning")):
        many = checked.count("error") + checked.count("warning")
        link = f'<a href="#findings">{many} {plural("finding", many)} of the file check</a>'
        advice.append(f"look at the {link} first")
    if gate is not None and not gate.passed:
        advice.append('fix what <a href="#gate">fails its threshold</a>')
    return advice


def _regression_advice(compared: Sequence[Comparison]) -> list[str]:
    """What a new version did worse than the old one, if it is one."""
    advice = []
    for found in compared[:1] if len(compared) == 1 else ():
        worse = [d for d in found.differences if d.difference.high < 0]
        if worse:
            names = _names_html([each.label for each in worse])
            advice.append(
                f"find out why <bdi>{escape_html(found.system)}</bdi> got worse by {names} "
                '(<a href="#changes">what changed</a>)'
            )
        elif found.worse:
            n = len(found.worse)
            advice.append(
                f'read the <a href="#changes">{n:,} {plural("sentence", n)} that got worse</a>'
            )
    return advice

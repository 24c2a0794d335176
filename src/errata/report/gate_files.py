"""What a gate tells build servers: JUnit's XML, GitHub's annotations, a summary in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from errata.data import number_beside
from errata.errors import visible
from errata.report.table import Table, render
from errata.report.tables.comparison import comparison_tables
from errata.report.tables.gate import gate_table
from errata.studies.comparison import Comparison
from errata.studies.gate import HeldCondition

__all__ = ["gate_summary", "github_annotations", "junit_xml", "verdict_text"]

SHOWN = 5  # sentences that a message names


def verdict_text(verdict: HeldCondition) -> str:
    """A verdict in a line, and below it the first sentences that a count is made of."""
    low, high = verdict.interval
    between = "" if low != low else f" [{low:.4g}, {high:.4g}]"
    ending = "holds" if verdict.failed else "does not hold"
    lines = [
        f"{verdict.system}: {verdict.condition.text!r} {ending}: "
        f"{verdict.figure} is {verdict.value:.4g}{between}"
    ]
    comparison = verdict.comparison
    if comparison is not None and verdict.failed:
        shown = {each.sentence: f": {each.old} → {each.new}" for each in comparison.sentences}
        for i in verdict.sentences[:SHOWN]:
            number = number_beside(comparison.skipped, i)
            lines.append(f"  sentence {number}{shown.get(i, '')}")
        if len(verdict.sentences) > SHOWN:
            lines.append(f"  and {len(verdict.sentences) - SHOWN} more")
    return "\n".join(map(visible, lines))


def _xml(text: str) -> str:
    """A text without the two characters that visible() lets through and XML does not."""
    return text.replace("\ufffe", r"\ufffe").replace("\uffff", r"\uffff")


def junit_xml(verdicts: Sequence[HeldCondition], seconds: float = 0.0) -> bytes:
    """A test suite with a case for every condition and system."""
    failed = sum(each.failed for each in verdicts)
    counts = {"tests": str(len(verdicts)), "failures": str(failed), "errors": "0"}
    suites = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(
        suites, "testsuite", {"name": "errata gate", "time": f"{seconds:.3f}", **counts}
    )
    for each in verdicts:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            {
                "classname": f"errata.{_xml(visible(each.system))}",
                "name": _xml(visible(each.condition.text)),
                "time": "0",
            },
        )
        if each.failed:
            said = _xml(verdict_text(each))
            failure = ElementTree.SubElement(
                case, "failure", {"message": said.partition("\n")[0], "type": "regression"}
            )
            failure.text = said
    ElementTree.indent(suites)
    text: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def github_annotations(verdicts: Sequence[HeldCondition], *, file: str = "") -> list[str]:
    """Lines that GitHub shows at the run: an error for what failed, a notice for the rest.

    What stands in them is escaped as its workflow commands want it.
    """
    place = f" file={_property(file)},title=errata gate" if file else " title=errata gate"
    return [
        f"::{'error' if each.failed else 'notice'}{place}::{_data(verdict_text(each))}"
        for each in verdicts
    ]


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(visible(text)).replace(":", "%3A").replace(",", "%2C")


def gate_summary(
    verdicts: Sequence[HeldCondition], comparisons: Sequence[Comparison], *, largest: int = 5
) -> str:
    """A page in Markdown: pass or fail, the metrics, what got worse."""
    failed = any(each.failed for each in verdicts)
    head = "## Errata: " + ("failed" if failed else "passed" if verdicts else "what changed")
    signature = comparisons[0].edits if comparisons else ""
    tables: list[Table] = [gate_table(verdicts, signature=signature)] if verdicts else []
    for each in comparisons:
        tables += comparison_tables(each, largest=largest)
    return f"{head}\n\n" + render(tables, "markdown") + "\n"

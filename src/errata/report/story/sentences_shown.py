"""The sentence explorer in a report."""

from __future__ import annotations

from errata.report.explorer.as_section import explorer_section
from errata.report.page.section import Section
from errata.report.story.results import Results
from errata.studies.compared_parts import length_slices
from errata.studies.edit_states import judged_edits

__all__ = ["sentences_section"]


def sentences_section(results: Results) -> Section | None:
    """Every sentence with every output, where there are outputs."""
    given = results.material
    if given.corpus is None or not given.systems:
        return None
    corpus, systems = given.corpus, given.systems
    judge = results.edits.single
    states = None
    if results.references is not None:
        states = results.or_say("judged edits", lambda: judged_edits(judge, corpus, systems))
    names = {system.system for system in given.systems}
    return explorer_section(
        corpus,
        systems,
        [scores for scores in results.scores if names <= {*scores.systems}],
        states=states,
        judge=judge if states is not None else None,
        difficulty=None if results.difficulty is None else results.difficulty[0],
        base=given.base,
        slices={"length": length_slices(corpus)} | dict(given.slices or {}),
    )

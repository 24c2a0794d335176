"""Several reference sets: what each annotator changes, and how far they agree."""

from __future__ import annotations

from errata.evaluation import corpus_facts
from errata.report.page.section import Section
from errata.report.story.building import Pieces
from errata.report.story.results import Results
from errata.report.table import signed
from errata.report.tables.reference_sets import study_tables
from errata.studies.reference_sets import annotators_of, study_references

__all__ = ["references_section"]

MOST_PAIRS = 30_000  # of sentences to compare; more take longer than all the rest


def references_section(results: Results) -> Section | None:
    """What `errata refs` says of the annotators, where there are several."""
    corpus = results.references
    if corpus is None:
        return None
    several = annotators_of(corpus)
    n = len(several)
    if n < 2:
        return None
    if n * (n - 1) // 2 * len(corpus) > MOST_PAIRS:
        results.missing.append(
            f"reference sets: {n} annotators of {len(corpus):,} sentences take too long here; see "
            "errata refs"
        )
        return None
    found = study_references(corpus, lowercase=True, worst=5)
    signature = signed("ster(lowercase=True)", *corpus_facts(corpus))
    pieces = Pieces("references")
    for k, table in enumerate(study_tables(found, signature=signature)):
        pieces.table(table, folded=k > 1)
    lead = f"{n} annotators corrected these sentences, and no two of them alike."
    if found.pairs:
        same = sum(p.identical * p.sentences for p in found.pairs) / sum(
            p.sentences for p in found.pairs
        )
        lead = f"{n} annotators corrected these sentences; two of them agree on {same:.0%}."
    return pieces.section("References", lead)

"""The published judgments, for tests; each function skips where the data are not there."""

from functools import cache
from pathlib import Path

import pytest
from hypothesis import strategies as st

from errata.data import Judgment
from errata.human import Comparisons, compare
from errata.io.judgments import read_judgments, read_outputs_by_system

SHARED = Path(__file__).resolve().parents[2] / "shared"


def data_file(pattern: str) -> Path:
    found = sorted((SHARED / "data" / "github").glob(pattern))
    if not found:
        pytest.skip(f"needs {pattern} in ../shared/data/github")
    return found[0]


def grundkiewicz_file() -> Path:
    return data_file("grammatical/evaluation/*/data/judgments.xml")


@cache
def grundkiewicz() -> tuple[Judgment, ...]:
    return tuple(read_judgments(grundkiewicz_file()))


@cache
def grundkiewicz_comparisons() -> Comparisons:
    return compare(grundkiewicz())


def sakaguchi_file(name: str) -> Path:
    return data_file(f"keisks/reassess-gec/*/inter_annotator_agreements/{name}")


@cache
def submissions() -> dict[str, tuple[str, ...]]:
    return dict(
        read_outputs_by_system(
            data_file("grammatical/evaluation/*/data/original/official_submissions")
        )
    )


@st.composite
def judgments(draw: st.DrawFn, names: str = "ABCDE", unranked: bool = True) -> Judgment:
    """A ranking of some systems, in groups, with ties, perhaps with outputs left unranked."""
    systems = draw(st.permutations(list(names)))[: draw(st.integers(0, len(names)))]
    groups: list[list[str]] = []
    for system in systems:
        if groups and draw(st.booleans()):
            groups[-1].append(system)
        else:
            groups.append([system])
    rank = st.integers(1, 5) | st.none() if unranked else st.integers(1, 5)
    return Judgment(
        draw(st.sampled_from(("ann", "bob", "été"))),
        draw(st.integers(0, 3)),
        tuple(map(tuple, groups)),
        tuple(draw(rank) for _ in groups),
        draw(st.sampled_from(("", "item 1", "doc/7"))),
        draw(st.none() | st.integers(0, 10**6).map(lambda n: n / 1000)),
        draw(st.sampled_from((None, "2025-03-03T09:03:20Z"))),
    )

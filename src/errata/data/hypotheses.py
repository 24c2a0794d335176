"""The output of one system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from errata.core.errors import InputError
from errata.core.stats import plural
from errata.data.corpus import check_skipped, describe_briefly
from errata.data.edits import Edit


@dataclass(frozen=True)
class Hypotheses:
    """The output of one system: one sentence per source, and its edits where known.

    >>> Hypotheses("A", ("He goes home .",))
    <Hypotheses 'A': 1 sentence>
    """

    system: str
    sentences: tuple[str, ...]
    edits: Sequence[tuple[Edit, ...]] | None = None

    def __post_init__(self) -> None:
        if self.edits is not None and len(self.edits) != len(self.sentences):
            raise InputError(
                f"system {self.system}: {len(self.sentences)} sentences but "
                f"{len(self.edits)} sets of edits"
            )

    def __repr__(self) -> str:
        edited = () if self.edits is None else (f"{sum(map(len, self.edits))} edits",)
        size = f"{len(self)} {plural('sentence', len(self))}"
        return describe_briefly(self, self.system, size, *edited)

    def __len__(self) -> int:
        return len(self.sentences)

    def __getitem__(self, which: slice) -> Hypotheses:
        """Return a part of the output, of the same system."""
        edits = None if self.edits is None else self.edits[which]
        return Hypotheses(self.system, self.sentences[which], edits)

    def without_sentences(self, *sentences: int) -> Hypotheses:
        """Return the output without these sentences, counted from 0.

        >>> Hypotheses("A", ("a", "b", "c")).without_sentences(0, 2).sentences
        ('b',)
        """
        if not sentences:
            return self
        gone = {*sentences}
        check_skipped(gone, len(self))
        stay = [i for i in range(len(self)) if i not in gone]
        return Hypotheses(
            self.system,
            tuple(self.sentences[i] for i in stay),
            None if self.edits is None else tuple(self.edits[i] for i in stay),
        )


def duplicate_name_errors(
    systems: Sequence[str], places: Sequence[str] = ()
) -> Iterator[InputError]:
    """Return an error for each system that has the name of an earlier one.

    ``places`` are the files they come from, where known.

    >>> [error.problem for error in duplicate_name_errors(["A", "B", "A"])]
    ["two systems are called 'A'"]
    >>> [str(error) for error in duplicate_name_errors(["A", "A"], ["x.txt", "y.txt"])]
    ["y.txt: the system 'A' is also in x.txt; name them apart with name=path"]
    """
    first: dict[str, str] = {}
    for system, place in zip(systems, places or [""] * len(systems), strict=True):
        if system in first:
            yield InputError(
                f"two systems are called {system!r}"
                if first[system] == place
                else f"the system {system!r} is also in {first[system]}",
                path=place or None,
                remedy="name them apart with name=path",
            )
        first.setdefault(system, place)

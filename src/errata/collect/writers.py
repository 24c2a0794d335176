"""Who wrote the texts of a review: from the file exported with them to outputs, checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from errata.collect.answers import storable
from errata.collect.items import Built, CampaignTexts, squeezed
from errata.errors import InputError
from errata.io.writers import WrittenLine

__all__ = ["known_writers", "reviews_without_judge", "texts_of_known_writers"]

Writers = dict[tuple[int, str], tuple[str, ...]]


def known_writers(
    written: Iterable[WrittenLine], outputs: Mapping[str, Sequence[str]], sentences: int, path: str
) -> Writers:
    """The writers of each text of a sentence: all who wrote that very text, blanks aside.

    ``outputs`` are the texts that are reviewed, by the names of their files; where one is named in
    what was ``written``, its line must be what it was.

    >>> lines = [WrittenLine(0, "ann", "He goes .", "m.0"), WrittenLine(0, "bo", "He  goes .")]
    >>> known_writers(lines, {"m.0": ["He goes ."]}, 1, "m.writers.jsonl")
    {(0, 'He goes .'): ('ann', 'bo')}
    """
    found: dict[tuple[int, str], set[str]] = {}
    for each in written:
        if each.sentence >= sentences:
            raise InputError(
                f"sentence {each.sentence}, and there are {sentences}, counted from 0",
                path=path,
                line=each.number,
                remedy="give the writers of these texts: export them again",
            )
        if not storable(each.judge):
            raise InputError(
                f"the name {each.judge!r} cannot be stored",
                path=path,
                line=each.number,
                remedy="no judge is called so: delete the line",
            )
        text = squeezed(each.text)
        lines = outputs.get(each.file)
        if lines is not None and squeezed(lines[each.sentence]) != text:
            raise InputError(
                f"{each.file}, line {each.sentence + 1}, is another text than was written: "
                f"{lines[each.sentence]!r}",
                path=path,
                line=each.number,
                remedy="export the texts again, or delete this line: nobody is its writer then",
            )
        found.setdefault((each.sentence, text), set()).add(each.judge)
    return {key: tuple(sorted(names)) for key, names in found.items()}


def texts_of_known_writers(texts: CampaignTexts) -> tuple[int, int]:
    """Of how many different texts a writer is known, and how many there are."""
    there = {
        (number, squeezed(line))
        for lines in texts.systems.values()
        for number, line in enumerate(lines)
    }
    return len(there & texts.writers.keys()), len(there)


def reviews_without_judge(built: Built, judges: Iterable[str]) -> int:
    """How many reviews none of these judges can give, having written the texts themselves."""
    people, lacking = {*judges}, 0
    for item in built.items:
        if item.purpose == "main":
            own = {name for each in item.outputs for name in built.outputs[each.output].kept_from}
            lacking += max(0, (item.wanted or 0) - len(people - own))
    return lacking

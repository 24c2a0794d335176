"""Who wrote the texts that are reviewed: named, met by a pattern, or found beside the outputs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from errata.cli.collect_design import DesignGiven
from errata.cli.running import note
from errata.collect.design import Design
from errata.errors import InputError

if TYPE_CHECKING:
    from errata.collect.items import CampaignTexts

__all__ = ["with_writers", "without_writers"]


def without_writers(
    outputs: tuple[str, ...], given: DesignGiven
) -> tuple[tuple[str, ...], DesignGiven]:
    """Outputs alone; what says by its name who wrote them is none: folders and patterns have it."""
    from errata.io.outputs import files_in
    from errata.io.writers import is_writers

    files = [str(each) for each in files_in(outputs)]
    found = tuple(each for each in files if is_writers(each))
    alone = tuple(each for each in files if not is_writers(each))
    return alone, given._replace(writers=(*given.writers, *found))


def with_writers(
    design: Design, texts: CampaignTexts, outputs: tuple[str, ...], given: DesignGiven
) -> CampaignTexts:
    """The texts of reviews with their writers; every file that was read is told."""
    from errata.io.outputs import split_name
    from errata.io.writers import writers_beside

    if design.kind != "review":
        if given.writers:
            raise InputError(
                f"who wrote texts matters to reviews alone, and the kind is {design.kind!r}",
                path=given.writers[0],
                remedy="say --kind review, or leave the file out",
            )
        return texts
    names = [split_name(each)[1] for each in outputs]
    own = list(texts.systems.values())[: len(names)]  # references come after them
    lines = dict(zip(names, own, strict=True))
    beside = [found for name in names if name != "-" and (found := writers_beside(name))]
    several = {Path(path).resolve(): path for path in (*beside, *given.writers)}
    known: dict[tuple[int, str], tuple[str, ...]] = {}
    for place, path in several.items():
        near = {n: some for n, some in lines.items() if Path(n).resolve().parent == place.parent}
        for key, judges in _read(path, near or lines, texts).items():
            known[key] = tuple(sorted({*known.get(key, ()), *judges}))
    return texts._replace(writers=known)


def _read(
    path: str, lines: dict[str, tuple[str, ...]], texts: CampaignTexts
) -> dict[tuple[int, str], tuple[str, ...]]:
    """The writers that one file names; a file that fits none of the texts is refused."""
    from errata.collect.writers import known_writers, texts_of_known_writers
    from errata.io.writers import read_writers

    called = {Path(name).name: some for name, some in lines.items()}
    found = known_writers(read_writers(path), called, len(texts.sources), path)
    some, every = texts_of_known_writers(texts._replace(writers=found))
    if found and not some:
        raise InputError(
            "it names the writer of none of the texts",
            path=path,
            remedy="give the file that was exported with them",
        )
    note(f"{path} says who wrote {some} of {every} texts: judges of these names get other ones")
    return found

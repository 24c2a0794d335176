"""Read what a campaign is made of: texts to show, references, writers, pilot and examples."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from errata.collect.budget import judgments_wanted
from errata.collect.design import Design, Panel, panel_of
from errata.collect.files import (
    OwnExample,
    find_writers_file,
    match_writers,
    read_writers,
    texts_of_known_writers,
)
from errata.collect.items import CampaignTexts, Example
from errata.collect.qualification import example_for
from errata.core.errors import NOTICE, InputError
from errata.core.stats import Progress
from errata.data import Judgment
from errata.io.corpus import read_text
from errata.io.files import decode, read_bytes, shown_name
from errata.io.outputs import split_name

_LANGUAGE = re.compile(r"([a-z]{2,3}(?:-[A-Za-z0-9]{1,8})*)=(.+)")
_HTML = re.compile(r"</?[A-Za-z][A-Za-z0-9]*(?:\s[^<>]*)?/?>")
_LOG = logging.getLogger(__name__)


def note(message: str) -> None:
    """Log what the user should know, which the command line prints."""
    _LOG.log(NOTICE, "%s", message)


# ---- The panel of a campaign file.


def design_with_panel(
    design: Design, settings: Mapping[str, Any], path: str | None
) -> tuple[Design, Panel]:
    """Return the panel of a campaign file, and the design with a judge for each of its places."""
    try:
        panel = panel_of(settings)
        if design.judges not in (1, panel.places):
            raise InputError(
                f"judges={design.judges}, and the panel has {panel.places} places",
                remedy="leave out judges; errata collect judges add invites others",
            )
    except InputError as error:
        raise InputError(error.problem, path=path, remedy=error.remedy) from None
    return replace(design, judges=panel.places), panel


# ---- References and documents.


def read_references(
    design: Design, paths: Sequence[str], system_names: set[str]
) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Return references as systems, and the one to show, as far as the design asks for them."""
    if (design.show_reference or design.reference_is_system) and not paths:
        word = "show_reference" if design.show_reference else "reference_is_system"
        raise InputError(f"{word} is set, and there is no reference", remedy="give --refs")
    if not paths:
        return {}, ()
    if not (design.reference_is_system or design.show_reference):
        raise InputError(
            "references are no systems, and are not shown",
            remedy="give --reference-is-system or --show-reference, or leave out --refs",
        )
    texts = [read_text(path) for path in paths]
    shown = texts[0] if design.show_reference else ()
    if not design.reference_is_system:
        return {}, shown
    several = len(texts) > 1
    systems = {f"reference{k if several else ''}": text for k, text in enumerate(texts)}
    for name in systems.keys() & system_names:
        raise InputError(f"a system is called {name!r}", remedy="give it another name: NAME=FILE")
    return systems, shown


def read_documents(path: str | None, sentences: int) -> tuple[str, ...]:
    """Return the name of the document of each sentence; nothing without a file."""
    if path is None:
        return ()
    documents = read_text(path)
    if len(documents) != sentences:
        raise InputError(
            f"{len(documents)} lines, and there are {sentences} sentences",
            path=shown_name(path),
            line=min(len(documents), sentences) + 1,
            remedy="give the name of a document for each sentence",
        )
    return documents


# ---- Texts to show: instructions and consent, in several languages.


def instruction_texts(
    named: Mapping[str, Iterable[str]], language: str | None, text_language: str | None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return texts to show, as a campaign stores them, and their languages, its main one first.

    A file without a language is in the main one: ``language``, or that of the first text that
    has one, or English.
    """
    files = {name: [_split_language(word) for word in words] for name, words in named.items()}
    first = next((code for each in files.values() for code, _ in each if code), None)
    main = language or first or "en"
    by_language: dict[str, dict[str, str]] = {}
    for name, paths in files.items():
        for code, path in paths:
            texts = by_language.setdefault(code or main, {})
            if name in texts:
                raise InputError(
                    f"two files of {name} in {code or main}",
                    remedy="write their languages before them: LANGUAGE=FILE",
                )
            texts[name] = _read_markdown(path)
    for name, paths in files.items():
        missing = [code for code in (main, *by_language) if name not in by_language.get(code, {})]
        if paths and missing:
            raise InputError(
                f"there is no text of {name} in {missing[0]}",
                remedy=f"give --{name} {missing[0]}=FILE",
            )
    stored: dict[str, Any] = {"language": main, **by_language.pop(main, {})}
    if text_language is not None:
        stored["text_language"] = text_language
    if by_language:
        stored["translations"] = by_language
    return stored, (main, *by_language)


def changed_texts(before: Mapping[str, Any], named: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the texts of a campaign, stored and from files; nothing without files."""
    if not any(named.values()):
        return {}
    stored, _ = instruction_texts(named, str(before.get("language", "en")), None)
    translations = {code: dict(texts) for code, texts in before.get("translations", {}).items()}
    for code, texts in stored.pop("translations", {}).items():
        translations.setdefault(code, {}).update(texts)
    if translations:
        stored["translations"] = translations
    return stored


def _split_language(word: str) -> tuple[str, str]:
    match = _LANGUAGE.fullmatch(word)
    return (match[1], match[2]) if match else ("", word)


def _read_markdown(path: str) -> str:
    where = shown_name(path)
    text = decode(read_bytes(path), where)
    if not text.strip():
        raise InputError("the file is empty", path=where, remedy="leave the option out")
    for number, line in enumerate(text.splitlines(), 1):
        if tag := _HTML.search(line):
            note(f"{where}:{number}: {tag[0]} is shown as text: Markdown here has no HTML")
            break
    return text


# ---- Writers of the texts that are reviewed.


def texts_with_writers(
    design: Design, texts: CampaignTexts, outputs: Sequence[str], paths: Sequence[str]
) -> CampaignTexts:
    """Return the texts of reviews with their writers: from files named, or beside the outputs."""
    if design.kind != "review":
        if paths:
            raise InputError(
                f"writers of texts matter only to reviews, and the kind is {design.kind!r}",
                path=paths[0],
                remedy="give --kind review, or leave the file out",
            )
        return texts
    names = [split_name(each)[1] for each in outputs]
    systems = list(texts.systems.values())[: len(names)]  # references come after them
    lines = dict(zip(names, systems, strict=True))
    beside = [file for name in names if name != "-" and (file := find_writers_file(name))]
    files = {Path(path).resolve(): path for path in (*beside, *paths)}
    writers: dict[tuple[int, str], tuple[str, ...]] = {}
    for place, path in files.items():
        near = {n: some for n, some in lines.items() if Path(n).resolve().parent == place.parent}
        for key, judges in _read_writers(path, near or lines, texts).items():
            writers[key] = tuple(sorted({*writers.get(key, ()), *judges}))
    return texts._replace(writers=writers)


def _read_writers(
    path: str, lines: Mapping[str, tuple[str, ...]], texts: CampaignTexts
) -> dict[tuple[int, str], tuple[str, ...]]:
    """Return the writers that a file names; refuse a file that fits none of the texts."""
    by_name = {Path(name).name: some for name, some in lines.items()}
    writers = match_writers(read_writers(path), by_name, len(texts.sources), path)
    some, every = texts_of_known_writers(texts._replace(writers=writers))
    if writers and not some:
        raise InputError(
            "the file names no writer of these texts",
            path=path,
            remedy="give the file that was exported with them",
        )
    note(f"{path} names the writers of {some} of {every} texts: they get texts of others")
    return writers


# ---- The budget that a pilot asks for.


def design_from_pilot(
    design: Design,
    pilot: list[Judgment],
    separate: Sequence[str],
    systems: Sequence[str],
    *,
    path: str | None = None,
    progress: Progress | None = None,
) -> Design:
    """Return the design with the budget that separates two systems, by the pilot."""
    from errata.human import DEFAULT_RANKER, compare, parse_ranker
    from errata.human.plan import plan

    if len(separate) != 2:
        raise InputError("separate names two systems", path=path)
    for name in separate:
        if name not in systems:
            raise InputError(
                f"--separate names {name!r}, which is no system",
                remedy=f"there are: {', '.join(sorted(systems))}",
            )
    first, second = separate
    ranker, pairs = parse_ranker(DEFAULT_RANKER), compare(pilot, keep="sentences")
    planned = plan(pairs, ranker, first, second, rng=design.seed, progress=progress)
    for message in planned.notes:
        note(message)
    shown = [len(each.groups) for each in pilot if each.groups]
    usual = sum(shown) / len(shown)
    if round(usual) != design.outputs:
        note(
            f"the pilot ranked {usual:.3g} outputs at a time and the campaign shows "
            f"{design.outputs}: the pilot's estimate is in rankings of its own size"
        )
    wanted = judgments_wanted(design)
    if planned.rankings is None:
        problem = (
            f"in the pilot, even {int(planned.sizes[-1])} rankings do not separate {first} and "
        )
        if wanted is None:
            raise InputError(
                problem + second,
                remedy="give a budget (--rankings, --hours or --money) to go on anyway",
            )
        note(problem + second)
        return design
    if wanted is None:
        note(f"the budget is {planned.rankings} rankings, as errata plan estimates from the pilot")
        return replace(design, rankings=planned.rankings)
    if wanted < planned.rankings:
        note(
            f"the budget allows {wanted} judgments, and errata plan estimates {planned.rankings} "
            f"to separate {first} and {second}"
        )
    return design


# ---- The organiser's own examples.


def design_example(design: Design, own: OwnExample, path: str | None) -> Example:
    """Return an example of a campaign file as tasks show it."""
    if design.show_reference != bool(own.reference):
        raise InputError(
            f"the {own.purpose} {own.source[:40]!r} has "
            + ("a reference" if own.reference else "no reference"),
            path=path,
            remedy="give one where show_reference is set, and only there: tasks look alike",
        )
    expected: dict[str, Any] = {"why": own.why, "between": own.between, "accept": own.accept}
    if own.worse is not None and own.better is not None:  # organisers count outputs from 1
        expected |= {"worse": own.worse - 1, "better": own.better - 1}
    made = Example(own.source, own.outputs, expected, own.purpose, own.instruction, own.reference)
    try:
        return example_for(design, made)
    except InputError as error:
        raise InputError(error.problem, path=path, remedy=error.remedy) from None

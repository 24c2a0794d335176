"""What a campaign is made of, from the command line and its campaign file, read and checked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from errata.cli.collect_design import DesignGiven
from errata.cli.collect_options import needs_web
from errata.cli.collect_writers import with_writers, without_writers
from errata.cli.inputs import Inputs
from errata.cli.options import refuse_unless
from errata.cli.output import ProgressBar
from errata.cli.running import note
from errata.collect.design import Design, design_of
from errata.errors import InputError, visible

if TYPE_CHECKING:
    from errata.collect.items import CampaignTexts, Example
    from errata.collect.panel import Panel
    from errata.data import Judgment
    from errata.human.counts import Counts
    from errata.io.campaign_files import CampaignFile, OwnExample
    from errata.web.founding import PlannedCampaign

__all__ = ["planned_campaign", "served_by", "words_of"]

_LANGUAGE = re.compile(r"([a-z]{2,3}(?:-[A-Za-z0-9]{1,8})*)=(.+)")
_HTML = re.compile(r"</?[A-Za-z][A-Za-z0-9]*(?:\s[^<>]*)?/?>")


def served_by(given: DesignGiven) -> Mapping[str, Any]:
    """What a campaign file says of where to listen."""
    from errata.io.campaign_files import read_campaign_file

    if given.campaign is None:
        return {}
    return read_campaign_file(given.campaign, design_of, **given.settings).serve


def planned_campaign(
    place: str, outputs: tuple[str, ...], inputs: Inputs, given: DesignGiven
) -> PlannedCampaign:
    """Read what a campaign is made of: checked as `errata score` checks it."""
    needs_web()
    from errata.collect.items import CampaignTexts
    from errata.web.founding import PlannedCampaign

    file: CampaignFile[Design] | None = None
    if given.campaign is not None:
        from errata.io.campaign_files import read_campaign_file

        file = read_campaign_file(given.campaign, design_of, **given.settings)
        inputs, outputs, given = _filled(file, inputs, outputs, given)
    design = design_of(given.settings) if file is None else file.design
    panel = None
    if file is not None and file.panel is not None:
        design, panel = _with_panel(design, file.panel, given.campaign)
    if inputs.source is None and not inputs.sample:
        raise InputError("no sentences to judge", remedy="give --source, or --sample to look first")
    corpus = inputs.corpus()
    outputs, given = without_writers(outputs, given)
    systems = {each.system: each.sentences for each in inputs.systems(outputs, corpus)}
    more, shown = _references(design, inputs, set(systems))
    if design.kind == "rank":  # no item shows more than there are: so hours are of what is shown
        design = replace(design, outputs=max(2, min(design.outputs, len(systems) + len(more))))
    texts = CampaignTexts(
        corpus.sources, systems | more, _documents(given.documents, len(corpus)), shown
    )
    texts = with_writers(design, texts, outputs, given)
    words, languages = words_of(
        {"instructions": given.instructions, "consent": given.consent},
        given.language,
        given.text_language,
    )
    design, earlier = _by_pilot(design, texts, given)
    name = given.name or ("campaign" if "://" in place else visible(Path(place).stem))
    examples = tuple(_example(design, each, given) for each in file.examples) if file else ()
    _refuse_idle(design, given, tutorial=any(each.purpose == "tutorial" for each in examples))
    return PlannedCampaign(name, design, texts, examples, words, languages, earlier, panel)


def _with_panel(
    design: Design, settings: Mapping[str, Any], path: str | None
) -> tuple[Design, Panel]:
    """The panel of a campaign file; a place is a judge of the design."""
    from errata.collect.panel import panel_of

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


def _refuse_idle(design: Design, given: DesignGiven, *, tutorial: bool) -> None:
    """Refuse options that would do nothing in this design."""
    for used, names, goes_with in (
        (design.sampling == "strata", "strata", "--sampling strata"),
        (bool(design.until), "looks alpha", "--until"),
        (design.kind == "score", "margin side_by_side", "--kind score"),
        (design.repeats > 0, "distance", "--repeats"),
        (design.overlap > 0, "judges_per_item", "--overlap"),
        (design.control_share > 0, "block", "--controls"),
        (given.documents is not None, "context", "--documents"),
        (tutorial, "attempts", "a [[tutorial]] in the campaign file"),
    ):
        refuse_unless(used, " ".join(f"design_{name}" for name in names.split()), goes_with)


def _filled(
    file: CampaignFile[Design], inputs: Inputs, outputs: tuple[str, ...], given: DesignGiven
) -> tuple[Inputs, tuple[str, ...], DesignGiven]:
    """The inputs, with those of the campaign file (beside it) where the command line has none."""
    beside, said = Path(given.campaign or "").parent, file.inputs

    def path(value: str) -> str:
        name, equals, file_name = value.rpartition("=")
        return f"{name}{equals}{beside / file_name}"

    def one(key: str, own: str | None) -> str | None:
        return own if own is not None or key not in said else path(said[key])

    def texts(key: str, own: tuple[str, ...]) -> tuple[str, ...]:
        found = said.get(key, {}).items()
        return own or tuple(f"{k}={beside / v}" if k else str(beside / v) for k, v in found)

    if said.get("sample") and not (inputs.named or outputs):
        inputs = replace(inputs, sample=True)
    if not inputs.sample:
        inputs = replace(
            inputs,
            source=one("source", inputs.source),
            refs=inputs.refs or tuple(map(path, said.get("references", ()))),
            no_guard=inputs.no_guard or bool(said.get("no_guard")),
        )
        outputs = outputs or tuple(map(path, said.get("outputs", ())))
    return (
        inputs,
        outputs,
        given._replace(
            instructions=texts("instructions", given.instructions),
            consent=texts("consent", given.consent),
            documents=one("documents", given.documents),
            name=given.name or said.get("name"),
            language=given.language or said.get("language"),
            text_language=given.text_language or said.get("text_language"),
            pilot=given.pilot or tuple(map(path, said.get("pilot", ()))),
            separate=given.separate or tuple(said.get("separate", ())),
            writers=given.writers or tuple(map(path, said.get("writers", ()))),
        ),
    )


def _references(
    design: Design, inputs: Inputs, taken: set[str]
) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """References as systems, and the one that is shown, where the campaign says so."""
    from errata.io.text import read_text

    if (design.show_reference or design.reference_is_system) and not inputs.refs:
        word = "show_reference" if design.show_reference else "reference_is_system"
        raise InputError(f"{word} is set, and there is no reference", remedy="give --refs")
    if not inputs.refs:
        return {}, ()
    if not (design.reference_is_system or design.show_reference):
        raise InputError(
            "references are no systems, and are not shown",
            remedy="say --reference-is-system or --show-reference, or leave out --refs",
        )
    texts = [read_text(path) for path in inputs.refs]
    shown = texts[0] if design.show_reference else ()
    if not design.reference_is_system:
        return {}, shown
    several = len(texts) > 1
    named = {f"reference{k if several else ''}": text for k, text in enumerate(texts)}
    for name in named.keys() & taken:
        raise InputError(f"a system is called {name!r}", remedy="give it another name: NAME=FILE")
    return named, shown


def _documents(path: str | None, sentences: int) -> tuple[str, ...]:
    from errata.io.files import shown_name
    from errata.io.text import read_text

    if path is None:
        return ()
    found = read_text(path)
    if len(found) != sentences:
        raise InputError(
            f"{len(found)} lines, and there are {sentences} sentences",
            path=shown_name(path),
            line=min(len(found), sentences) + 1,
            remedy="give the name of a document for each sentence",
        )
    return found


def words_of(
    named: Mapping[str, Iterable[str]], language: str | None, text_language: str | None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Texts to show, as a campaign stores them, and their languages, the campaign's own first.

    A file without a language is in the campaign's own: the one said, or of the first text that
    has one, or English.
    """
    split = {name: [_tongue(word) for word in words] for name, words in named.items()}
    first = next((tongue for each in split.values() for tongue, _ in each if tongue), None)
    own = language or first or "en"
    found: dict[str, dict[str, str]] = {}
    for name, files in split.items():
        for tongue, path in files:
            texts = found.setdefault(tongue or own, {})
            if name in texts:
                raise InputError(
                    f"two files of {name} in {tongue or own}", remedy="name their languages apart"
                )
            texts[name] = _prose(path)
    for name, files in split.items():
        lacking = [tongue for tongue in (own, *found) if name not in found.get(tongue, {})]
        if files and lacking:
            raise InputError(
                f"there is no text of {name} in {lacking[0]}",
                remedy=f"give --{name} {lacking[0]}=FILE",
            )
    words: dict[str, Any] = {"language": own, **found.pop(own, {})}
    if text_language is not None:
        words["text_language"] = text_language
    if found:
        words["translations"] = found
    return words, (own, *found)


def _tongue(word: str) -> tuple[str, str]:
    found = _LANGUAGE.fullmatch(word)
    return (found[1], found[2]) if found else ("", word)


def _prose(path: str) -> str:
    from errata.io.files import decode, read_bytes, shown_name

    where = shown_name(path)
    text = decode(read_bytes(path), where)
    if not text.strip():
        raise InputError("the file is empty", path=where, remedy="leave the option out")
    for number, line in enumerate(text.splitlines(), 1):
        if tag := _HTML.search(line):
            note(f"{where}:{number}: {tag[0]} is shown as it stands: there is no HTML in Markdown")
            break
    return text


def _by_pilot(
    design: Design, texts: CampaignTexts, given: DesignGiven
) -> tuple[Design, Counts | None]:
    """The design with the budget that a pilot asks for, and what the pilot says of the systems."""
    if not given.pilot:
        if given.separate:
            raise InputError("--separate goes with --pilot", remedy="name earlier judgments")
        return design, None
    if not given.separate and design.policy != "adaptive":
        raise InputError(
            "a pilot serves to plan the budget, or to start adaptive pairs",
            remedy="say --separate A B, or --policy adaptive",
        )
    from errata.io.judgments import read_judgment_files
    from errata.web.imports import earlier_counts

    pilot = list(read_judgment_files(given.pilot))
    earlier = earlier_counts(pilot, sorted(texts.systems), given.pilot)
    if not given.separate:
        return design, earlier
    if len(given.separate) != 2:
        raise InputError("separate names two systems", path=given.campaign)
    for name in given.separate:
        if name not in texts.systems:
            raise InputError(
                f"--separate names {name!r}, which is no system",
                remedy=f"there are: {', '.join(sorted(texts.systems))}",
            )
    return _planned(design, pilot, given.separate), earlier


def _planned(design: Design, pilot: list[Judgment], separate: tuple[str, ...]) -> Design:
    from errata.collect.budget import judgments_wanted, size_by_pilot
    from errata.human import DEFAULT_RANKER, parse_ranker

    first, second = separate
    with ProgressBar("campaigns") as progress:
        planned = size_by_pilot(
            pilot, parse_ranker(DEFAULT_RANKER), first, second, rng=design.seed, progress=progress
        )
    for said in planned.notes:
        note(said)
    shown = [len(each.groups) for each in pilot if each.groups]
    usual = sum(shown) / len(shown)
    if round(usual) != design.outputs:
        note(
            f"the pilot ranked {usual:.3g} outputs at a time and the campaign shows "
            f"{design.outputs}: what the pilot asks for is in rankings of its own size"
        )
    wanted = judgments_wanted(design)
    if planned.rankings is None:
        tried = int(planned.sizes[-1])
        if wanted is None:
            raise InputError(
                f"by the pilot not even {tried} rankings tell {first} and {second} apart",
                remedy="give a budget (--rankings, --hours or --money) to go on all the same",
            )
        note(f"by the pilot not even {tried} rankings tell {first} and {second} apart")
        return design
    if wanted is None:
        note(f"the budget is {planned.rankings} rankings, as errata plan asks for by the pilot")
        return replace(design, rankings=planned.rankings)
    if wanted < planned.rankings:
        note(
            f"the budget allows {wanted} judgments, and errata plan asks for {planned.rankings} "
            f"to tell {first} and {second} apart"
        )
    return design


def _example(design: Design, own: OwnExample, given: DesignGiven) -> Example:
    from errata.collect.items import Example
    from errata.collect.lessons import example_for

    if design.show_reference != bool(own.reference):
        raise InputError(
            f"the {own.purpose} {own.source[:40]!r} has "
            + ("a reference" if own.reference else "no reference"),
            path=given.campaign,
            remedy="give one where show_reference is set, and only there: tasks look alike",
        )
    expected: dict[str, Any] = {"why": own.why, "between": own.between, "accept": own.accept}
    if own.worse is not None and own.better is not None:  # organisers count outputs from 1
        expected |= {"worse": own.worse - 1, "better": own.better - 1}
    made = Example(own.source, own.outputs, expected, own.purpose, own.instruction, own.reference)
    try:
        return example_for(design, made)
    except InputError as error:
        raise InputError(error.problem, path=given.campaign, remedy=error.remedy) from None

"""Options of ``errata collect``, and the campaign that they and a campaign file describe."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from errata.cli import params
from errata.cli.input_options import Inputs
from errata.cli.options import FiniteRange
from errata.cli.output import ProgressBar
from errata.cli.params import argument, choice_option, count_option, flag, goes_with, group, option
from errata.collect.design import Allotment, Design, Instruction, Kind, Policy, Sampling, design_of
from errata.core.errors import InputError, MissingExtraError, escape_controls, install_extra

if TYPE_CHECKING:
    from errata.collect.files import CampaignFile
    from errata.collect.items import CampaignTexts
    from errata.collect.web.campaign import PlannedCampaign
    from errata.collect.web.database import Database
    from errata.collect.web.server import Address
    from errata.human.comparisons import Counts


# ---- Settings of a campaign: each in campaign files has an option, which wins.

_SCALE = re.compile(r"([^:]+)(?::(-?\d{1,6})-(-?\d{1,6})(?::(.+))?)?")


def _parse_scales(texts: tuple[str, ...]) -> tuple[dict[str, Any], ...]:
    """Return scales from words such as ``fluency:0-4:bad,good``."""
    scales = []
    for text in texts:
        match = _SCALE.fullmatch(text)
        if match is None:
            remedy = "write fluency or fluency:0-4:bad,good"
            raise InputError(f"--scale {text!r} is no scale", remedy=remedy)
        name, low, high, labels = match.groups()
        scale: dict[str, Any] = {"name": name.strip()}
        if low is not None:
            scale |= {"low": int(low), "high": int(high)}
        if labels is not None:
            scale["labels"] = [label.strip() for label in labels.split(",")]
        scales.append(scale)
    return tuple(scales)


def _share_option(flag: str, help: str) -> Any:
    return option(f"{flag} SHARE", help, type=FiniteRange(0, 1))


def positive_option(flag: str, help: str) -> Any:
    """Declare an option for a number above 0."""
    return option(flag, help, type=FiniteRange(0, min_open=True))


def _switch_option(flag: str, help: str) -> Any:
    return option(f"{flag}/--no-{flag.removeprefix('--')}", help)


@dataclass(frozen=True)
class DesignSettings:
    """Settings of a campaign by their names in campaign files; None is the default."""

    kind: Kind | None = choice_option("--kind", Kind, "What judges do (default: rank).")
    outputs: int | None = count_option(
        "--outputs-per-item",
        "Outputs that are judged together, 2 to 9 (default: 5; of pairs 2).",
        least=0,
    )
    sentences: Sampling | None = choice_option(
        "--sampling",
        Sampling,
        "Which sentences are drawn (default: wmt for rank, where systems differ more often; "
        "else all).",
    )
    sample: int | None = count_option("--items", "Draw at most so many items.")
    strata: Allotment | None = choice_option(
        "--strata", Allotment, "With --sampling strata: how many of each (default: proportional)."
    )
    judges: int | None = count_option("--judges", "Judges to make links for (default: 1).")
    quota: int | None = count_option("--quota", "Most tasks of a judge, checks included.")
    overlap: float | None = _share_option("--overlap", "Items with several judges (default: 0.25).")
    judges_per_item: int | None = count_option(
        "--judges-per-item", "Judges of an item of the overlap (default: 2)."
    )
    repeats: float | None = _share_option(
        "--repeats", "Tasks that a judge gets again (default: 0.05)."
    )
    distance: int | None = count_option(
        "--distance", "Fewest tasks between an item and its repeat (default: 20)."
    )
    controls: float | None = _share_option(
        "--controls", "Tasks with a damaged output (default: 0.05)."
    )
    margin: int | None = count_option(
        "--margin",
        "Scores: by how much a damaged output must be lower (default: a tenth of the scale).",
    )
    block: str | None = option(
        "--block '3 of 5'", "Block a judge who fails so many of the last controls."
    )
    policy: Policy | None = choice_option(
        "--policy", Policy, "Which outputs meet (default: balanced)."
    )
    other_outputs: bool | None = _switch_option(
        "--other-outputs",
        "A judge may see other outputs of a sentence (default where a task shows one output).",
    )
    rankings: int | None = count_option("--rankings", "The budget: so many judgments.")
    hours: float | None = positive_option("--hours H", "The budget: hours of judges.")
    money: float | None = positive_option("--money MONEY", "The budget: money, at --rate an hour.")
    rate: float | None = positive_option("--rate MONEY", "The price of an hour of a judge.")
    seconds: float | None = positive_option(
        "--seconds S", "How long a task takes (default: published medians)."
    )
    until: tuple[str, ...] = option(
        "--until RULE",
        "Pause when this holds, 'A>B' or clusters=3; may be repeated, and then all must hold.",
        multiple=True,
    )
    looks: int | None = count_option(
        "--looks", "How often --until is checked, evenly spread (default: 4)."
    )
    alpha: float | None = option(
        "--alpha SHARE",
        "The probability of a wrong stop over all checks (default: 0.05).",
        type=FiniteRange(0, 0.5, min_open=True),
    )
    scales: tuple[dict[str, Any], ...] = option(
        "--scale NAME[:LOW-HIGH[:WORDS]]",
        "Scores: a scale, as fluency:0-4:bad,good (default: quality:0-100); may be repeated.",
        multiple=True,
        parse=_parse_scales,
    )
    side_by_side: bool | None = _switch_option(
        "--side-by-side", "Scores: all outputs of an item at once (default: one)."
    )
    instructions: tuple[Instruction, ...] = choice_option(
        "--write",
        Instruction,
        "Corrections: what to write (default: minimal); may be repeated.",
        multiple=True,
    )
    slots: int | None = count_option(
        "--slots", "Corrections of a sentence for each --write (default: 1)."
    )
    marks: bool | None = _switch_option("--marks", "Mark what outputs change (default: yes).")
    marks_may_change: bool | None = _switch_option(
        "--marks-may-change", "Judges may switch marks on and off (default: yes)."
    )
    context: int | None = count_option(
        "--context",
        "Sentences shown before and after, where --documents are known (default: 1).",
        least=0,
    )
    attempts: int | None = count_option("--attempts", "Attempts at the tutorial (default: 2).")
    pass_mark: float | None = _share_option(
        "--pass-mark", "How much of the tutorial must be right (default: 0)."
    )
    blind: bool | None = _switch_option(
        "--blind", "The organiser sees the ranking only when the campaign is closed."
    )
    lease: int | None = count_option(
        "--lease SECONDS",
        "After so long without a sign of life a task is given to another judge (default: 1800).",
        least=60,
    )
    reference_is_system: bool | None = _switch_option(
        "--reference-is-system", "Judge the references of --refs among the systems."
    )
    show_reference: bool | None = _switch_option(
        "--show-reference", "Show the first reference of --refs beside the source."
    )
    seed: int | None = count_option("--design-seed", "Seed of the draws (default: 0).", least=0)

    @property
    def as_dict(self) -> dict[str, Any]:
        """The settings that are given, as a campaign file has them."""
        values = vars(self).items()
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values
            if value is not None and value != ()
        }


def text_files_option(flag: str, help: str) -> Any:
    """Declare an option for the files of a text, in one or several languages."""
    return option(f"{flag} [LANGUAGE=]FILE", help, multiple=True)


@dataclass(frozen=True)
class DesignOptions:
    """A campaign: its file, settings, texts to show, and pilot."""

    campaign: str | None = option(
        "--campaign FILE", "A campaign file (TOML): settings, inputs, tutorials; options win."
    )
    name: str | None = option(
        "--name NAME", "The name of the campaign (default: that of its file)."
    )
    instructions: tuple[str, ...] = text_files_option(
        "--instructions", "What judges read first (Markdown); a file for each language."
    )
    consent: tuple[str, ...] = text_files_option(
        "--consent", "What judges agree to before they work (Markdown); as above."
    )
    language: str | None = option(
        "--language LANGUAGE",
        "The language of pages, unless a judge chooses another (default: that of the first "
        "text, or en).",
    )
    text_language: str | None = option(
        "--text-language LANGUAGE",
        "The language of the sentences, for screen readers (default: en).",
    )
    documents: str | None = option(
        "--documents FILE", "The document of each sentence, a name a line; context ends with it."
    )
    pilot: tuple[str, ...] = option(
        "--pilot FILE",
        "Earlier judgments, in any form that errata rank reads: adaptive pairs start from "
        "them, and --separate plans by them. They are not merged into the campaign's.",
        multiple=True,
    )
    separate: tuple[str, ...] = option(
        "--separate A B",
        "The budget: what errata plan estimates from the --pilot to separate these two.",
        nargs=2,
    )
    writers: tuple[str, ...] = option(
        "--writers FILE",
        "Reviews: the writers of the texts, from export --form texts, so that nobody reviews "
        "their own (default: the file that was exported beside them, if there is one).",
        multiple=True,
    )
    settings: DesignSettings = group(DesignSettings)

    @property
    def is_empty(self) -> bool:
        return self == DesignOptions(separate=self.separate) and not self.separate

    def campaign_file(self) -> CampaignFile | None:
        """Return the campaign file, with the settings given."""
        if self.campaign is None:
            return None
        from errata.collect.files import read_campaign_file

        return read_campaign_file(self.campaign, **self.settings.as_dict)


# ---- The place of a campaign, and the address it is served at.

PLACE_VARIABLE = "ERRATA_DATABASE_URL"
NEEDED = ("sqlalchemy", "starlette", "jinja2", "uvicorn", "anyio")


def _parse_campaign_place(text: str) -> str:
    """Return the place; the name of the variable stands for its value."""
    place = os.environ.get(PLACE_VARIABLE, "") if text == PLACE_VARIABLE else text
    if not place:
        raise InputError(f"{PLACE_VARIABLE} is not set", remedy="set it, or name a file")
    return place


def campaign_place_argument() -> Any:
    return argument(metavar="PLACE", envvar=PLACE_VARIABLE, parse=_parse_campaign_place)


def url_option(**more: Any) -> Any:
    return option(
        "--url URL", "The start of links, where judges reach the server by another address.", **more
    )


def require_web_packages() -> None:
    """Refuse to go on without the packages of ``errata-gec[web]``."""
    for package in NEEDED:
        try:
            import_module(package)
        except ImportError:
            raise MissingExtraError(package, install_extra("web")) from None


@contextmanager
def opened_campaign(place: str) -> Iterator[Database]:
    """Open the database of a campaign, and close it at the end."""
    require_web_packages()
    from errata.collect.web.database import open_database

    database = open_database(place)
    try:
        yield database
    finally:
        database.close()


@dataclass(frozen=True)
class AddressOptions:
    """Where to listen."""

    host: str | None = option(
        "--host ADDRESS", "The address to listen at (default: 127.0.0.1, loopback)."
    )
    port: int | None = count_option("--port", "The port (default: 8765).", most=65535)
    url: str | None = url_option()
    certificate: str | None = option(
        "--certificate FILE", "Certificate for TLS, with its chain (PEM)."
    )
    key: str | None = option("--key FILE", "The key of the certificate (PEM).")
    behind_proxy: str | None = option(
        "--behind-proxy CIDR",
        "Trust what a proxy at these addresses, which has the certificate, reports about callers.",
    )
    plain_http: bool = flag("--plain-http", "Serve other machines without encryption anyway.")

    def address(self, entries: Mapping[str, Any] | None = None) -> Address:
        """Return the address: of these options, else of the campaign file."""
        from errata.collect.web.server import Address

        own = {name: value for name, value in vars(self).items() if value}
        return Address(**{**(entries or {}), **own})


# ---- What a campaign is made of, from the command line and its campaign file.


def planned_campaign(
    place: str, outputs: tuple[str, ...], inputs: Inputs, given: DesignOptions
) -> PlannedCampaign:
    """Read what a campaign is made of, checked as ``errata score`` checks it."""
    require_web_packages()
    from errata.collect import planning
    from errata.collect.items import CampaignTexts
    from errata.collect.web.campaign import PlannedCampaign

    file = given.campaign_file()
    panel = None
    if file is None:
        design = design_of(given.settings.as_dict)
    else:
        inputs, outputs, given = _fill_from_file(file, inputs, outputs, given)
        design = file.design
        if file.panel is not None:
            design, panel = planning.design_with_panel(design, file.panel, given.campaign)
    if inputs.source is None and not inputs.sample:
        raise InputError("no sentences to judge", remedy="give --source, or --sample to try it")
    corpus = inputs.corpus()
    outputs, writers = _split_off_writer_files(outputs, given.writers)
    systems = {each.system: each.sentences for each in inputs.systems(outputs, corpus)}
    references, shown = planning.read_references(design, inputs.refs, set(systems))
    if design.kind == "rank":  # so that hours are estimated from the outputs that items show
        most = len(systems) + len(references)
        design = replace(design, outputs=max(2, min(design.outputs, most)))
    documents = planning.read_documents(given.documents, len(corpus))
    texts = CampaignTexts(corpus.sources, systems | references, documents, shown)
    texts = planning.texts_with_writers(design, texts, outputs, writers)
    words, languages = planning.instruction_texts(
        {"instructions": given.instructions, "consent": given.consent},
        given.language,
        given.text_language,
    )
    design, earlier = _plan_budget_by_pilot(design, texts, given)
    name = given.name or ("campaign" if "://" in place else escape_controls(Path(place).stem))
    own = file.examples if file else ()
    examples = tuple(planning.design_example(design, each, given.campaign) for each in own)
    _refuse_idle_options(
        design, given, tutorial=any(each.purpose == "tutorial" for each in examples)
    )
    return PlannedCampaign(name, design, texts, examples, words, languages, earlier, panel)


def _refuse_idle_options(design: Design, given: DesignOptions, *, tutorial: bool) -> None:
    """Refuse options that would have no effect in this design."""
    flags = {each.name: each.label for each in params.parameters_in(DesignSettings)}
    for used, names, condition in (
        (design.sampling == "strata", "strata", "--sampling strata"),
        (bool(design.until), "looks alpha", "--until"),
        (design.kind == "score", "margin side_by_side", "--kind score"),
        (design.repeats > 0, "distance", "--repeats"),
        (design.overlap > 0, "judges_per_item", "--overlap"),
        (design.control_share > 0, "block", "--controls"),
        (given.documents is not None, "context", "--documents"),
        (tutorial, "attempts", "a [[tutorial]] in the campaign file"),
    ):
        for name in {*names.split()} & given.settings.as_dict.keys() if not used else ():
            raise goes_with(flags[name], condition)


def _fill_from_file(
    file: CampaignFile, inputs: Inputs, outputs: tuple[str, ...], given: DesignOptions
) -> tuple[Inputs, tuple[str, ...], DesignOptions]:
    """Fill inputs that the command line lacks from the campaign file, whose folder is the base."""
    folder, entries = Path(given.campaign or "").parent, file.inputs

    def path(value: str) -> str:
        name, equals, file_name = value.rpartition("=")
        return f"{name}{equals}{folder / file_name}"

    def paths(key: str, own: tuple[str, ...]) -> tuple[str, ...]:
        return own or tuple(map(path, entries.get(key, ())))

    def texts(key: str, own: tuple[str, ...]) -> tuple[str, ...]:
        by_language = entries.get(key, {}).items()
        return own or tuple(f"{k}={folder / v}" if k else str(folder / v) for k, v in by_language)

    if entries.get("sample") and not (inputs.has_files or outputs):
        inputs = replace(inputs, sample=True)
    if not inputs.sample:
        source = inputs.source or (path(entries["source"]) if "source" in entries else None)
        inputs = replace(
            inputs,
            source=source,
            refs=paths("references", inputs.refs),
            no_guard=inputs.no_guard or bool(entries.get("no_guard")),
        )
        outputs = paths("outputs", outputs)
    documents = given.documents or (path(entries["documents"]) if "documents" in entries else None)
    filled = replace(
        given,
        instructions=texts("instructions", given.instructions),
        consent=texts("consent", given.consent),
        documents=documents,
        pilot=paths("pilot", given.pilot),
        writers=paths("writers", given.writers),
        separate=given.separate or tuple(entries.get("separate", ())),
        name=given.name or entries.get("name"),
        language=given.language or entries.get("language"),
        text_language=given.text_language or entries.get("text_language"),
    )
    return inputs, outputs, filled


def _split_off_writer_files(
    outputs: tuple[str, ...], writers: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return outputs and files of writers, which folders and patterns of outputs may contain."""
    from errata.collect.files import is_writers
    from errata.io.outputs import list_files_in

    files = [str(each) for each in list_files_in(outputs)]
    more = tuple(each for each in files if is_writers(each))
    return tuple(each for each in files if not is_writers(each)), (*writers, *more)


def _plan_budget_by_pilot(
    design: Design, texts: CampaignTexts, given: DesignOptions
) -> tuple[Design, Counts | None]:
    """Return the design with the budget that a pilot asks for, and the pilot's comparisons."""
    if not given.pilot:
        if given.separate:
            raise InputError("--separate goes with --pilot", remedy="name earlier judgments")
        return design, None
    if not given.separate and design.policy != "adaptive":
        problem = "a pilot serves to plan the budget, or to start adaptive pairs"
        raise InputError(problem, remedy="give --separate A B, or --policy adaptive")
    from errata.collect.planning import design_from_pilot
    from errata.collect.web.campaign import earlier_counts
    from errata.io.judgments import read_judgment_files

    pilot = list(read_judgment_files(given.pilot))
    earlier = earlier_counts(pilot, sorted(texts.systems), given.pilot)
    if given.separate:
        with ProgressBar("campaigns") as progress:
            design = design_from_pilot(
                design,
                pilot,
                given.separate,
                tuple(texts.systems),
                path=given.campaign,
                progress=progress,
            )
    return design, earlier

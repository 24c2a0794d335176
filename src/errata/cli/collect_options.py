"""Options of errata collect; reading of a campaign's inputs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import click

from errata.cli.input_options import Inputs
from errata.cli.main import note
from errata.cli.options import FiniteRange, refuse_unless
from errata.cli.output import ProgressBar
from errata.cli.params import Function, ScaleWords, choice_of, option_group
from errata.collect.design import Allotment, Design, Instruction, Kind, Policy, Sampling, design_of
from errata.core.errors import InputError, MissingExtraError, escape_controls, install_extra

if TYPE_CHECKING:
    from errata.collect.design import Panel
    from errata.collect.files import CampaignFile, OwnExample
    from errata.collect.items import CampaignTexts, Example
    from errata.collect.web.app import Address
    from errata.collect.web.campaign import PlannedCampaign
    from errata.collect.web.database import Database
    from errata.data import Judgment
    from errata.human.comparisons import Counts


# ---- Options that design a campaign: each setting of a campaign file has one, and wins over it.

_share = FiniteRange(0, 1)
_count = click.IntRange(1)
_amount = FiniteRange(0, min_open=True)


class Setting(NamedTuple):
    """How a setting is said on the command line."""

    spelling: str
    kind: Any  # None for what is switched on and off
    metavar: str
    help: str
    several: bool = False


# By the name of the setting in campaign files.
SETTINGS: dict[str, Setting] = {
    "kind": Setting("--kind", choice_of(Kind), "", "What judges do (default: rank)."),
    "outputs": Setting(
        "--outputs-per-item",
        click.IntRange(0),
        "N",
        "Outputs that are judged together, 2 to 9 (default: 5; of pairs 2).",
    ),
    "sentences": Setting(
        "--sampling",
        choice_of(Sampling),
        "",
        "Which sentences are drawn (default: wmt for rank, where systems differ more often; else "
        "all).",
    ),
    "sample": Setting("--items", _count, "N", "Draw at most so many items."),
    "strata": Setting(
        "--strata",
        choice_of(Allotment),
        "",
        "With --sampling strata: how many of each (default: proportional).",
    ),
    "judges": Setting("--judges", _count, "N", "Judges to make links for (default: 1)."),
    "quota": Setting("--quota", _count, "N", "Tasks a judge gets at most, checks among them."),
    "overlap": Setting("--overlap", _share, "SHARE", "Items that several judge (default: 0.25)."),
    "judges_per_item": Setting(
        "--judges-per-item", _count, "N", "How many judge an item of the overlap (default: 2)."
    ),
    "repeats": Setting(
        "--repeats", _share, "SHARE", "Tasks that a judge gets again (default: 0.05)."
    ),
    "distance": Setting(
        "--distance", _count, "N", "Tasks between an item and its repeat at least (default: 20)."
    ),
    "controls": Setting(
        "--controls", _share, "SHARE", "Tasks with a damaged output (default: 0.05)."
    ),
    "margin": Setting(
        "--margin",
        _count,
        "N",
        "Scores: by how much a damaged output must be lower (default: a tenth of the scale).",
    ),
    "block": Setting(
        "--block", str, "'3 of 5'", "Block a judge who fails so many of the last controls."
    ),
    "policy": Setting("--policy", choice_of(Policy), "", "Which outputs meet (default: balanced)."),
    "other_outputs": Setting(
        "--other-outputs",
        None,
        "",
        "A judge may see other outputs of a sentence (default where a task shows one output).",
    ),
    "rankings": Setting("--rankings", _count, "N", "The budget: so many judgments."),
    "hours": Setting("--hours", _amount, "H", "The budget: hours of judges."),
    "money": Setting("--money", _amount, "MONEY", "The budget: money, at --rate an hour."),
    "rate": Setting("--rate", _amount, "MONEY", "What an hour of a judge costs."),
    "seconds": Setting(
        "--seconds", _amount, "S", "How long a task takes (default: published medians)."
    ),
    "until": Setting(
        "--until",
        str,
        "RULE",
        "Pause when this holds, 'A>B' or clusters=3; may be repeated, and then all must hold.",
        True,
    ),
    "looks": Setting(
        "--looks", _count, "K", "How often --until is looked at, evenly spread (default: 4)."
    ),
    "alpha": Setting(
        "--alpha",
        FiniteRange(0, 0.5, min_open=True),
        "SHARE",
        "The chance of a wrong stop over all looks (default: 0.05).",
    ),
    "scales": Setting(
        "--scale",
        ScaleWords(),
        "NAME[:LOW-HIGH[:WORDS]]",
        "Scores: a scale, as fluency:0-4:bad,good (default: quality:0-100); may be repeated.",
        True,
    ),
    "side_by_side": Setting(
        "--side-by-side", None, "", "Scores: all outputs of an item at once (default: one)."
    ),
    "instructions": Setting(
        "--write",
        choice_of(Instruction),
        "",
        "Corrections: what to write (default: minimal); may be repeated.",
        True,
    ),
    "slots": Setting(
        "--slots", _count, "N", "Corrections of a sentence for each --write (default: 1)."
    ),
    "marks": Setting("--marks", None, "", "Mark what outputs change (default: yes)."),
    "marks_may_change": Setting(
        "--marks-may-change", None, "", "Judges may switch marks on and off (default: yes)."
    ),
    "context": Setting(
        "--context",
        click.IntRange(0),
        "N",
        "Sentences shown before and after, where --documents are known (default: 1).",
    ),
    "attempts": Setting("--attempts", _count, "N", "Attempts at the tutorial (default: 2)."),
    "pass_mark": Setting(
        "--pass-mark", _share, "SHARE", "How much of the tutorial must be right (default: 0)."
    ),
    "blind": Setting(
        "--blind", None, "", "The organiser sees the ranking when the campaign is closed."
    ),
    "lease": Setting(
        "--lease",
        click.IntRange(60),
        "SECONDS",
        "After so long without a sign of life a task goes to others (default: 1800).",
    ),
    "reference_is_system": Setting(
        "--reference-is-system", None, "", "Judge the references of --refs among the systems."
    ),
    "show_reference": Setting(
        "--show-reference", None, "", "Show the first reference of --refs beside the source."
    ),
    "seed": Setting("--design-seed", click.IntRange(0), "N", "Seed of what is drawn (default: 0)."),
}


class DesignOptions(NamedTuple):
    """What the command line says of a campaign: its file, settings, texts to show, pilot."""

    campaign: str | None = None
    settings: Mapping[str, Any] = {}
    instructions: tuple[str, ...] = ()
    consent: tuple[str, ...] = ()
    documents: str | None = None
    name: str | None = None
    language: str | None = None
    text_language: str | None = None
    pilot: tuple[str, ...] = ()
    separate: tuple[str, ...] = ()
    writers: tuple[str, ...] = ()

    @property
    def anything(self) -> bool:
        """Whether anything was said at all."""
        return any(self)


def _given(separate: tuple[str, str] | None, **said: Any) -> DesignOptions:
    own = {name: said.pop(name) for name in list(said) if name.startswith("design_")}
    settings = {
        name.removeprefix("design_"): list(value) if isinstance(value, tuple) else value
        for name, value in own.items()
        if value is not None and value != ()
    }
    return DesignOptions(settings=settings, separate=separate or (), **said)


def design_options(command: Function) -> Function:
    """Add the options that design a campaign; the command receives ``given``."""
    file, words = {"metavar": "FILE"}, {"metavar": "[LANGUAGE=]FILE", "multiple": True}
    some: dict[str, tuple[dict[str, Any], str]] = {
        "campaign": (file, "A campaign file (TOML): settings, inputs, tutorials; options win."),
        "name": ({"metavar": "NAME"}, "What the campaign is called (default: as its file)."),
        "instructions": (words, "What judges read first (Markdown); a file for each language."),
        "consent": (words, "What judges agree to before they work (Markdown); as above."),
        "language": (
            {"metavar": "LANGUAGE"},
            "The language of pages, unless a judge chooses another (default: that of the first "
            "text, or en).",
        ),
        "text_language": (
            {"metavar": "LANGUAGE"},
            "The language of the sentences, for screen readers (default: en).",
        ),
        "documents": (file, "The document of each sentence, a name a line; context ends with it."),
        "pilot": (
            {"metavar": "FILE", "multiple": True},
            "Earlier judgments, in any form that errata rank reads: adaptive pairs start from "
            "them, and --separate plans by them. They are not merged into the campaign's.",
        ),
        "separate": (
            {"metavar": "A B", "nargs": 2},
            "The budget: what errata plan asks for by the --pilot to tell these two apart.",
        ),
        "writers": (
            {"metavar": "FILE", "multiple": True},
            "Reviews: who wrote the texts, as export --form texts says it, so that nobody gets an "
            "own one (default: the file that was exported beside them, if it is there).",
        ),
    }
    options: dict[str, Callable[[Function], Function]] = {
        name: click.option(f"--{name.replace('_', '-')}", **how, help=help)
        for name, (how, help) in some.items()
    }
    for name, setting in SETTINGS.items():
        # Outputs and samples are something else among the inputs.
        own = f"design_{name}"
        if setting.kind is None:
            no = f"--no-{setting.spelling.removeprefix('--')}"
            options[own] = click.option(
                f"{setting.spelling}/{no}", own, default=None, help=setting.help
            )
        else:
            options[own] = click.option(
                setting.spelling,
                own,
                type=setting.kind,
                metavar=setting.metavar or None,
                multiple=setting.several,
                help=setting.help,
            )
    return option_group("given", _given, options)(command)


PLACE_VARIABLE = "ERRATA_DATABASE_URL"
NEEDED = ("sqlalchemy", "starlette", "jinja2", "uvicorn", "anyio")


def _place(ctx: click.Context, _: click.Parameter, given: str) -> str:
    """The place meant; the name of the variable stands for what it holds."""
    if given == PLACE_VARIABLE:
        import os

        given = os.environ.get(PLACE_VARIABLE, "")
        if not given and not ctx.resilient_parsing:
            raise InputError(f"{PLACE_VARIABLE} is not set", remedy="set it, or name a file")
    return given


place_argument = click.argument("place", metavar="PLACE", envvar=PLACE_VARIABLE, callback=_place)


def needs_web() -> None:
    """Refuse, in the usual line, to go on without the packages of ``errata-gec[web]``."""
    for package in NEEDED:
        try:
            import_module(package)
        except ImportError:
            raise MissingExtraError(package, install_extra("web")) from None


@contextmanager
def opened_campaign(place: str) -> Iterator[Database]:
    """The database of a campaign, closed at the end."""
    needs_web()
    from errata.collect.web.database import open_database

    database = open_database(place)
    try:
        yield database
    finally:
        database.close()


class AddressOptions(Protocol):
    """Makes the address that was said on the command line, else in the campaign file."""

    def __call__(self, file: Mapping[str, Any] = ..., /) -> Address: ...


def _address(**given: Any) -> AddressOptions:
    def made(file: Mapping[str, Any] = {}, /) -> Address:
        from errata.collect.web.app import Address

        said = {name: value for name, value in given.items() if value not in (None, False)}
        return Address(**{**file, **said})

    return made


url_option = click.option(
    "--url",
    metavar="URL",
    help="What links begin with, where judges reach the server by another address.",
)


def address_options(command: Function) -> Function:
    """Add the options that say where to listen; the command receives ``address``."""
    options: dict[str, Callable[[Function], Function]] = {
        "host": click.option(
            "--host", metavar="ADDRESS", help="Where to listen (default: 127.0.0.1, loopback)."
        ),
        "port": click.option(
            "--port", type=click.IntRange(1, 65535), metavar="N", help="The port (default: 8765)."
        ),
        "url": url_option,
        "certificate": click.option(
            "--certificate", metavar="FILE", help="Certificate for TLS, with its chain (PEM)."
        ),
        "key": click.option("--key", metavar="FILE", help="The key of the certificate (PEM)."),
        "behind_proxy": click.option(
            "--behind-proxy",
            metavar="CIDR",
            help="A proxy at these addresses has the certificate; what it says of callers holds.",
        ),
        "plain_http": click.option(
            "--plain-http", is_flag=True, help="Serve others without encryption all the same."
        ),
    }
    return option_group("address", _address, options)(command)


# ---- Who wrote the texts that are reviewed: named, met by a pattern, or found beside the
# outputs.


def without_writers(
    outputs: tuple[str, ...], given: DesignOptions
) -> tuple[tuple[str, ...], DesignOptions]:
    """Outputs alone; what says by its name who wrote them is none: folders and patterns have it."""
    from errata.collect.files import is_writers
    from errata.io.outputs import files_in

    files = [str(each) for each in files_in(outputs)]
    found = tuple(each for each in files if is_writers(each))
    alone = tuple(each for each in files if not is_writers(each))
    return alone, given._replace(writers=(*given.writers, *found))


def with_writers(
    design: Design, texts: CampaignTexts, outputs: tuple[str, ...], given: DesignOptions
) -> CampaignTexts:
    """The texts of reviews with their writers; every file that was read is told."""
    from errata.collect.files import find_writers_file
    from errata.io.outputs import split_name

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
    beside = [found for name in names if name != "-" and (found := find_writers_file(name))]
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
    from errata.collect.files import match_writers, read_writers, texts_of_known_writers

    called = {Path(name).name: some for name, some in lines.items()}
    found = match_writers(read_writers(path), called, len(texts.sources), path)
    some, every = texts_of_known_writers(texts._replace(writers=found))
    if found and not some:
        raise InputError(
            "it names the writer of none of the texts",
            path=path,
            remedy="give the file that was exported with them",
        )
    note(f"{path} says who wrote {some} of {every} texts: judges of these names get other ones")
    return found


# ---- What a campaign is made of, from the command line and its campaign file, read and checked.

_LANGUAGE = re.compile(r"([a-z]{2,3}(?:-[A-Za-z0-9]{1,8})*)=(.+)")
_HTML = re.compile(r"</?[A-Za-z][A-Za-z0-9]*(?:\s[^<>]*)?/?>")


def served_by(given: DesignOptions) -> Mapping[str, Any]:
    """What a campaign file says of where to listen."""
    from errata.collect.files import read_campaign_file

    if given.campaign is None:
        return {}
    return read_campaign_file(given.campaign, design_of, **given.settings).serve


def planned_campaign(
    place: str, outputs: tuple[str, ...], inputs: Inputs, given: DesignOptions
) -> PlannedCampaign:
    """Read what a campaign is made of: checked as `errata score` checks it."""
    needs_web()
    from errata.collect.items import CampaignTexts
    from errata.collect.web.campaign import PlannedCampaign

    file: CampaignFile[Design] | None = None
    if given.campaign is not None:
        from errata.collect.files import read_campaign_file

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
    words, languages = instruction_texts(
        {"instructions": given.instructions, "consent": given.consent},
        given.language,
        given.text_language,
    )
    design, earlier = plan_budget_from_pilot(design, texts, given)
    name = given.name or ("campaign" if "://" in place else escape_controls(Path(place).stem))
    examples = tuple(_example(design, each, given) for each in file.examples) if file else ()
    _refuse_idle(design, given, tutorial=any(each.purpose == "tutorial" for each in examples))
    return PlannedCampaign(name, design, texts, examples, words, languages, earlier, panel)


def _with_panel(
    design: Design, settings: Mapping[str, Any], path: str | None
) -> tuple[Design, Panel]:
    """The panel of a campaign file; a place is a judge of the design."""
    from errata.collect.design import panel_of

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


def _refuse_idle(design: Design, given: DesignOptions, *, tutorial: bool) -> None:
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
    file: CampaignFile[Design], inputs: Inputs, outputs: tuple[str, ...], given: DesignOptions
) -> tuple[Inputs, tuple[str, ...], DesignOptions]:
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
    from errata.io.corpus import read_text

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
    from errata.io.corpus import read_text
    from errata.io.files import shown_name

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


def instruction_texts(
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


def plan_budget_from_pilot(
    design: Design, texts: CampaignTexts, given: DesignOptions
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
    from errata.collect.web.campaign import earlier_counts
    from errata.io.judgments import read_judgment_files

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


def _example(design: Design, own: OwnExample, given: DesignOptions) -> Example:
    from errata.collect.items import Example
    from errata.collect.qualification import example_for

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

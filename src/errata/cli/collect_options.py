"""Options of ``errata collect``: where a campaign is kept, what it is made of, who is served."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from errata.cli.inputs import Inputs
from errata.cli.options import FiniteRange, Function, gathered
from errata.cli.words import choice_of
from errata.collect.design import Design, Kind, Policy, design_of
from errata.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from errata.collect.items import Example
    from errata.collect.panel import Panel
    from errata.io.campaign_files import CampaignFile, OwnExample
    from errata.web.address import Address
    from errata.web.database import Database
    from errata.web.founding import PlannedCampaign

__all__ = [
    "DesignGiven",
    "address_options",
    "design_options",
    "opened_campaign",
    "place_argument",
    "planned_campaign",
    "url_option",
]

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
    """Refuse, in the usual line, to go on without the packages of ``errata[web]``."""
    for package in NEEDED:
        try:
            import_module(package)
        except ImportError:
            raise MissingExtraError(package, "pip install 'errata[web]'") from None


@contextmanager
def opened_campaign(place: str) -> Iterator[Database]:
    """The database of a campaign, closed at the end."""
    needs_web()
    from errata.web.database import open_database

    database = open_database(place)
    try:
        yield database
    finally:
        database.close()


_share = FiniteRange(0, 1)
_count = click.IntRange(1)
_DESIGN: dict[str, tuple[str, Any, str, str]] = {
    "kind": ("--kind", choice_of(Kind), "", "What judges do (default: rank)."),
    "outputs": (
        "--outputs-per-item",
        click.IntRange(0),
        "N",
        "Outputs that are judged together, 2 to 9 (default: 5; of pairs 2).",
    ),
    "judges": ("--judges", _count, "N", "Judges to make links for (default: 1)."),
    "quota": ("--quota", _count, "N", "Tasks a judge gets at most, checks among them."),
    "overlap": ("--overlap", _share, "SHARE", "Items that several judge (default: 0.25)."),
    "repeats": ("--repeats", _share, "SHARE", "Tasks that a judge gets again (default: 0.05)."),
    "controls": ("--controls", _share, "SHARE", "Tasks with a damaged output (default: 0.05)."),
    "sample": ("--items", _count, "N", "Draw at most so many items."),
    "policy": ("--policy", choice_of(Policy), "", "Which outputs meet (default: balanced)."),
    "rankings": ("--rankings", _count, "N", "The budget: so many judgments."),
    "hours": ("--hours", FiniteRange(0, min_open=True), "H", "The budget: hours of judges."),
    "rate": ("--rate", FiniteRange(0, min_open=True), "MONEY", "What an hour of a judge costs."),
    "seed": ("--design-seed", click.IntRange(0), "N", "Seed of what is drawn (default: 0)."),
}


class DesignGiven(NamedTuple):
    """What the command line says of a campaign: its file, settings, texts to show, documents."""

    campaign: str | None
    settings: Mapping[str, Any]
    instructions: str | None
    consent: str | None
    documents: str | None

    @property
    def anything(self) -> bool:
        """Whether anything was said at all."""
        return bool(self.settings) or any((self.campaign, *self[2:]))


def _given(
    campaign: str | None,
    instructions: str | None,
    consent: str | None,
    documents: str | None,
    **settings: Any,
) -> DesignGiven:
    said = {
        name.removeprefix("design_"): value for name, value in settings.items() if value is not None
    }
    return DesignGiven(campaign, said, instructions, consent, documents)


def design_options(command: Function) -> Function:
    """Add the options that design a campaign; the command receives ``given``."""
    files = {
        "campaign": "A campaign file (TOML): settings, inputs, tutorials; options win over it.",
        "instructions": "What judges read first (Markdown).",
        "consent": "What judges agree to before they work (Markdown).",
        "documents": "The document of each sentence, a name a line; context ends with it.",
    }
    options: dict[str, Callable[[Function], Function]] = {
        name: click.option(f"--{name}", metavar="FILE", help=help) for name, help in files.items()
    }
    for name, (spelling, kind, metavar, help) in _DESIGN.items():
        # Outputs and samples are something else among the inputs.
        own = f"design_{name}"
        options[own] = click.option(spelling, own, type=kind, metavar=metavar or None, help=help)
    return gathered("given", _given, options)(command)


def _address(**given: Any) -> Callable[[], Address]:
    def made() -> Address:
        from errata.web.address import Address

        return Address(**{name: value for name, value in given.items() if value is not None})

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
    return gathered("address", _address, options)(command)


def planned_campaign(
    place: str, outputs: tuple[str, ...], inputs: Inputs, given: DesignGiven
) -> PlannedCampaign:
    """Read what a campaign is made of: checked as `errata score` checks it."""
    needs_web()
    from errata.collect.items import CampaignTexts
    from errata.io.campaign_files import read_campaign_file
    from errata.web.founding import PlannedCampaign

    file: CampaignFile[Design] | None = None
    if given.campaign is not None:
        file = read_campaign_file(given.campaign, design_of, **given.settings)
        inputs, outputs, given = _filled(file, inputs, outputs, given)
    design = design_of(given.settings) if file is None else file.design
    panel = None
    if file is not None and file.panel is not None:
        design, panel = _with_panel(design, file.panel, given.campaign)
    if inputs.source is None and not inputs.sample:
        raise InputError("no sentences to judge", remedy="give --source, or --sample to look first")
    corpus = inputs.corpus()
    systems = {each.system: each.sentences for each in inputs.systems(outputs, corpus)}
    if inputs.refs:
        systems |= _references(design, inputs, set(systems))
    texts = CampaignTexts(corpus.sources, systems, _documents(given.documents, len(corpus)))
    words = {
        name: _read(path)
        for name, path in (("instructions", given.instructions), ("consent", given.consent))
        if path is not None
    }
    name = str(file.inputs.get("name", "")) if file else ""
    name = name or ("campaign" if "://" in place else Path(place).stem)
    examples = tuple(_example(design, e, given.campaign) for e in file.examples) if file else ()
    return PlannedCampaign(name, design, texts, examples, words, panel)


def _filled(
    file: CampaignFile[Design], inputs: Inputs, outputs: tuple[str, ...], given: DesignGiven
) -> tuple[Inputs, tuple[str, ...], DesignGiven]:
    """The inputs, with those of the campaign file (beside it) where the command line has none."""
    beside = Path(given.campaign or "").parent

    def path(value: Any, key: str) -> str:
        if not isinstance(value, str):
            raise InputError(
                f"{key} should name a file", path=given.campaign, remedy=f'{key} = "FILE"'
            )
        name, equals, file_name = value.rpartition("=")
        return f"{name}{equals}{beside / file_name}"

    def paths(key: str) -> tuple[str, ...]:
        value = file.inputs.get(key, [])
        return tuple(path(each, key) for each in (value if isinstance(value, list) else [value]))

    def one(key: str, said: str | None) -> str | None:
        return said if said is not None or key not in file.inputs else path(file.inputs[key], key)

    if not inputs.sample:
        inputs = replace(
            inputs, source=one("source", inputs.source), refs=inputs.refs or paths("references")
        )
        outputs = outputs or paths("outputs")
    return (
        inputs,
        outputs,
        given._replace(
            instructions=one("instructions", given.instructions),
            consent=one("consent", given.consent),
            documents=one("documents", given.documents),
        ),
    )


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


def _references(design: Design, inputs: Inputs, taken: set[str]) -> dict[str, tuple[str, ...]]:
    """References as systems, where the campaign says that they are."""
    from errata.io.text import read_text

    if not design.reference_is_system:
        raise InputError(
            "references are no systems, and are not shown",
            remedy="set reference_is_system = true in the campaign file, or leave out --refs",
        )
    several = len(inputs.refs) > 1
    named = {f"reference{k if several else ''}": p for k, p in enumerate(inputs.refs)}
    for name in named.keys() & taken:
        raise InputError(f"a system is called {name!r}", remedy="give it another name: NAME=FILE")
    return {name: read_text(path) for name, path in named.items()}


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


def _read(path: str) -> str:
    from errata.io.files import decode, read_bytes, shown_name

    text = decode(read_bytes(path), shown_name(path))
    if not text.strip():
        raise InputError("the file is empty", path=shown_name(path), remedy="leave the option out")
    return text


def _example(design: Design, own: OwnExample, path: str | None) -> Example:
    from errata.collect.items import Example
    from errata.collect.lessons import example_for

    expected: dict[str, Any] = {"why": own.why, "between": own.between, "accept": own.accept}
    if own.worse is not None and own.better is not None:  # organisers count outputs from 1
        expected |= {"worse": own.worse - 1, "better": own.better - 1}
    given = Example(own.source, own.outputs, expected, own.purpose, own.instruction)
    try:
        return example_for(design, given)
    except InputError as error:
        raise InputError(error.problem, path=path, remedy=error.remedy) from None

"""Options that design a campaign: each setting of a campaign file has one, and wins over it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import click

from errata.cli.options import FiniteRange, Function, gathered
from errata.cli.words import ScaleWords, choice_of
from errata.collect.design import Allotment, Instruction, Kind, Policy, Sampling

__all__ = ["DesignGiven", "design_options"]

_share = FiniteRange(0, 1)
_count = click.IntRange(1)
_amount = FiniteRange(0, min_open=True)


class SaidSetting(NamedTuple):
    """How a setting is said on the command line."""

    spelling: str
    kind: Any  # None for what is switched on and off
    metavar: str
    help: str
    several: bool = False


# By the name of the setting in campaign files.
SETTINGS: dict[str, SaidSetting] = {
    "kind": SaidSetting("--kind", choice_of(Kind), "", "What judges do (default: rank)."),
    "outputs": SaidSetting(
        "--outputs-per-item",
        click.IntRange(0),
        "N",
        "Outputs that are judged together, 2 to 9 (default: 5; of pairs 2).",
    ),
    "sentences": SaidSetting(
        "--sampling",
        choice_of(Sampling),
        "",
        "Which sentences are drawn (default: wmt for rank, where systems differ more often; else "
        "all).",
    ),
    "sample": SaidSetting("--items", _count, "N", "Draw at most so many items."),
    "strata": SaidSetting(
        "--strata",
        choice_of(Allotment),
        "",
        "With --sampling strata: how many of each (default: proportional).",
    ),
    "judges": SaidSetting("--judges", _count, "N", "Judges to make links for (default: 1)."),
    "quota": SaidSetting("--quota", _count, "N", "Tasks a judge gets at most, checks among them."),
    "overlap": SaidSetting(
        "--overlap", _share, "SHARE", "Items that several judge (default: 0.25)."
    ),
    "judges_per_item": SaidSetting(
        "--judges-per-item", _count, "N", "How many judge an item of the overlap (default: 2)."
    ),
    "repeats": SaidSetting(
        "--repeats", _share, "SHARE", "Tasks that a judge gets again (default: 0.05)."
    ),
    "distance": SaidSetting(
        "--distance", _count, "N", "Tasks between an item and its repeat at least (default: 20)."
    ),
    "controls": SaidSetting(
        "--controls", _share, "SHARE", "Tasks with a damaged output (default: 0.05)."
    ),
    "margin": SaidSetting(
        "--margin",
        _count,
        "N",
        "Scores: by how much a damaged output must be lower (default: a tenth of the scale).",
    ),
    "block": SaidSetting(
        "--block", str, "'3 of 5'", "Block a judge who fails so many of the last controls."
    ),
    "policy": SaidSetting(
        "--policy", choice_of(Policy), "", "Which outputs meet (default: balanced)."
    ),
    "other_outputs": SaidSetting(
        "--other-outputs",
        None,
        "",
        "A judge may see other outputs of a sentence (default where a task shows one output).",
    ),
    "rankings": SaidSetting("--rankings", _count, "N", "The budget: so many judgments."),
    "hours": SaidSetting("--hours", _amount, "H", "The budget: hours of judges."),
    "money": SaidSetting("--money", _amount, "MONEY", "The budget: money, at --rate an hour."),
    "rate": SaidSetting("--rate", _amount, "MONEY", "What an hour of a judge costs."),
    "seconds": SaidSetting(
        "--seconds", _amount, "S", "How long a task takes (default: published medians)."
    ),
    "until": SaidSetting(
        "--until",
        str,
        "RULE",
        "Pause when this holds, 'A>B' or clusters=3; may be repeated, and then all must hold.",
        True,
    ),
    "looks": SaidSetting(
        "--looks", _count, "K", "How often --until is looked at, evenly spread (default: 4)."
    ),
    "alpha": SaidSetting(
        "--alpha",
        FiniteRange(0, 0.5, min_open=True),
        "SHARE",
        "The chance of a wrong stop over all looks (default: 0.05).",
    ),
    "scales": SaidSetting(
        "--scale",
        ScaleWords(),
        "NAME[:LOW-HIGH[:WORDS]]",
        "Scores: a scale, as fluency:0-4:bad,good (default: quality:0-100); may be repeated.",
        True,
    ),
    "side_by_side": SaidSetting(
        "--side-by-side", None, "", "Scores: all outputs of an item at once (default: one)."
    ),
    "instructions": SaidSetting(
        "--write",
        choice_of(Instruction),
        "",
        "Corrections: what to write (default: minimal); may be repeated.",
        True,
    ),
    "slots": SaidSetting(
        "--slots", _count, "N", "Corrections of a sentence for each --write (default: 1)."
    ),
    "marks": SaidSetting("--marks", None, "", "Mark what outputs change (default: yes)."),
    "marks_may_change": SaidSetting(
        "--marks-may-change", None, "", "Judges may switch marks on and off (default: yes)."
    ),
    "context": SaidSetting(
        "--context",
        click.IntRange(0),
        "N",
        "Sentences shown before and after, where --documents are known (default: 1).",
    ),
    "attempts": SaidSetting("--attempts", _count, "N", "Attempts at the tutorial (default: 2)."),
    "pass_mark": SaidSetting(
        "--pass-mark", _share, "SHARE", "How much of the tutorial must be right (default: 0)."
    ),
    "blind": SaidSetting(
        "--blind", None, "", "The organiser sees the ranking when the campaign is closed."
    ),
    "lease": SaidSetting(
        "--lease",
        click.IntRange(60),
        "SECONDS",
        "After so long without a sign of life a task goes to others (default: 1800).",
    ),
    "reference_is_system": SaidSetting(
        "--reference-is-system", None, "", "Judge the references of --refs among the systems."
    ),
    "show_reference": SaidSetting(
        "--show-reference", None, "", "Show the first reference of --refs beside the source."
    ),
    "seed": SaidSetting(
        "--design-seed", click.IntRange(0), "N", "Seed of what is drawn (default: 0)."
    ),
}


class DesignGiven(NamedTuple):
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


def _given(separate: tuple[str, str] | None, **said: Any) -> DesignGiven:
    own = {name: said.pop(name) for name in list(said) if name.startswith("design_")}
    settings = {
        name.removeprefix("design_"): list(value) if isinstance(value, tuple) else value
        for name, value in own.items()
        if value is not None and value != ()
    }
    return DesignGiven(settings=settings, separate=separate or (), **said)


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
    return gathered("given", _given, options)(command)

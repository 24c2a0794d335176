"""Size, cost, stop rules; tables of campaigns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb
from typing import NamedTuple

from errata.collect.design import COMPARING, LARGEST_NUMBER, Design
from errata.collect.items import BuiltCampaign, judges_of_overlap
from errata.collect.schedule import checks_among, stretch_length
from errata.core.errors import InputError
from errata.core.stats import Seed, percentiles, plural
from errata.human import Comparisons, Ranker, rank
from errata.human.ranking import cluster
from errata.tables.table import Table

# Median seconds of a ranking of 2 to 5 outputs, as published; a further output adds as much as the
# fifth did.
SECONDS = {2: 13.0, 3: 21.0, 4: 31.0, 5: 54.0}
COMMON_PAIRS = 50  # pairs of outputs that two judges need in common for a κ
LEAST_RESAMPLES = 1000


def seconds_per_task(design: Design, own: Sequence[float] = ()) -> float | None:
    """The seconds a task takes: the median of own times, the setting, or published medians.

    None where nothing is published of the kind. Answers that took no time (programs') say nothing.

    >>> seconds_per_task(Design()), seconds_per_task(Design(kind="pair"), [10.0, 12.0, 50.0])
    (54.0, 12.0)
    """
    ordered = sorted(seconds for seconds in own if seconds > 0)
    if ordered:
        middle = len(ordered) // 2
        return (ordered[middle] + ordered[~middle]) / 2
    if design.seconds is not None:
        return design.seconds
    if design.kind not in COMPARING:
        return None
    many = design.outputs
    return SECONDS[min(many, 5)] + max(0, many - 5) * (SECONDS[5] - SECONDS[4])


def judgments_wanted(design: Design, own: Sequence[float] = ()) -> int | None:
    """How many main judgments the budget allows; None without a budget."""
    if design.rankings is not None:
        return design.rankings
    hours = design.hours
    if design.money is not None and design.rate is not None:
        hours = design.money / design.rate
    if hours is None:
        return None
    seconds = seconds_per_task(design, own)
    if seconds is None:
        raise InputError(
            f"how long a task of the kind {design.kind!r} takes is not known",
            remedy="give seconds, or the budget as a number of rankings",
        )
    # A bound, and one beyond all items is none: it must only be a number that can be stored.
    tasks = min(hours * 3600 / seconds, 1000.0 * LARGEST_NUMBER)
    main = int(round(tasks * (1 - design.repeats - design.control_share), 6))
    if main < 1:
        raise InputError(
            f"{hours:g} hours are less than one judgment of {seconds:g} s", remedy="give more"
        )
    return main


def main_tasks(design: Design, quota: int) -> int:
    """How many of a judge's tasks are main ones; the rest are repeats and controls."""
    length = stretch_length(design.control_share, design.repeats)
    checks = 0
    for start in range(0, quota, length):
        tasks = min(length, quota - start)
        late = tasks if start else max(0, tasks - design.distance - 1)
        again = min(checks_among(tasks, design.repeats), late)
        checks += again + checks_among(tasks, design.control_share)
    return quota - checks


def check_capacity(design: Design, built: BuiltCampaign) -> None:
    """Refuse a campaign that the judges cannot finish within their quotas."""
    writers = len(design.instructions) * design.slots
    if design.kind == "correct" and writers > design.judges and not design.other_outputs:
        raise InputError(
            f"{writers} corrections of a sentence need as many judges, and there are "
            f"{design.judges}",
            remedy="ask more judges, lower slots, or allow other_outputs",
        )
    if design.quota is None:
        return
    each = main_tasks(design, design.quota)
    if each * design.judges < built.judgments:
        raise InputError(
            f"{design.judges} judges with a quota of {design.quota} give {each * design.judges} "
            f"judgments ({each} each beside checks), and {built.judgments} are wanted",
            remedy="raise the quota, ask more judges, or lower the budget",
        )


@dataclass(frozen=True)
class Forecast:
    """What will happen, for `errata collect new` to say before anybody works."""

    items: int
    judgments: int
    tasks: int
    seconds: float | None
    hours: float | None
    cost: float | None
    common_items: float
    common_pairs: float
    notes: tuple[str, ...]


def outlook(design: Design, built: BuiltCampaign, own: Sequence[float] = ()) -> Forecast:
    """Count items, tasks, hours and cost, and the pairs that every two judges will share."""
    main = [item for item in built.items if item.purpose == "main"]
    share = 1 - design.repeats - design.control_share
    tasks = round(built.judgments / share)
    seconds = seconds_per_task(design, own)
    hours = None if seconds is None else tasks * seconds / 3600
    cost = None if hours is None or design.rate is None else hours * design.rate
    several = judges_of_overlap(design)
    shared = [item for item in main if (item.wanted or 0) > 1]
    judge_pairs = comb(design.judges, 2)
    each = comb(several, 2) / judge_pairs if judge_pairs else 0.0
    shown = [len(item.outputs) or 2 for item in shared]
    items, pairs = len(shared) * each, sum(comb(n, 2) for n in shown) * each
    notes = []
    if design.judges > 1 and design.kind in COMPARING and pairs < COMMON_PAIRS:
        notes.append(
            f"every two judges will have {pairs:.0f} {plural('pair', round(pairs))} of outputs in "
            f"common, and a κ needs {COMMON_PAIRS}: raise overlap, or ask fewer judges for more"
        )
    if built.alike:
        noun = plural("sentence", built.alike)
        notes.append(f"{built.alike} {noun} left out: nothing to judge")
    if built.reserved:
        noun = plural("sentence", built.reserved)
        notes.append(f"{built.reserved} {noun} kept for controls")
    wanted = judgments_wanted(design, own)
    if wanted is not None and built.judgments < 0.9 * wanted:
        notes.append(
            f"the budget allows {wanted} judgments, and there are texts and judges for "
            f"{built.judgments}"
        )
    return Forecast(
        len(main), built.judgments, tasks, seconds, hours, cost, items, pairs, tuple(notes)
    )


class InterimAnalysis(NamedTuple):
    """What one look at a stop rule found; ``judgments`` is when it was due."""

    judgments: int
    confidence: float
    met: bool
    found: str


def interim_points(design: Design, total: int) -> tuple[int, ...]:
    """After how many judgments the stop rules are looked at: K times, evenly, last at the end.

    >>> interim_points(Design(looks=4), 1000)
    (250, 500, 750, 1000)
    """
    return tuple(max(1, total * k // design.looks) for k in range(1, design.looks + 1))


def check_interim(
    design: Design, comparisons: Comparisons, ranker: Ranker, *, rng: Seed = 0
) -> list[InterimAnalysis]:
    """Evaluate every stop rule, each at confidence ``1 - α / K``, K being the looks planned.

    ``A>B`` is met if the lower bound of the interval of the difference is above 0, ``clusters=n``
    if there are at least n clusters. By Bonferroni's inequality the chance that any of the
    looks is wrong by luck is at most α.
    """
    confidence = 1 - design.alpha / design.looks
    resamples = max(LEAST_RESAMPLES, int(10 / (1 - confidence)))
    scores = rank(ranker, comparisons, resamples=resamples, rng=rng)
    assert scores.resampled is not None
    found = []
    for rule in design.until:
        if rule.startswith("clusters="):
            many = int(cluster(scores, confidence=confidence).cluster.max())
            met = many >= int(rule.partition("=")[2])
            said = f"{many} clusters"
        else:
            a, b = (scores.systems.index(name.strip()) for name in rule.split(">"))
            low, high = percentiles(
                scores.resampled[:, a] - scores.resampled[:, b], confidence
            ).tolist()
            met, said = low > 0, f"{rule}: {low:.4f} to {high:.4f}"
        found.append(InterimAnalysis(comparisons.rankings, confidence, met, said))
    return found


def check_rules(design: Design, systems: Iterable[str]) -> None:
    """Refuse stop rules about systems that are not there."""
    known = {*systems}
    for rule in design.until:
        if rule.startswith("clusters="):
            continue
        for name in (part.strip() for part in rule.split(">")):
            if name not in known:
                raise InputError(
                    f"until={rule!r} names {name!r}, which is no system",
                    remedy=f"there are: {', '.join(sorted(known))}",
                )


# ---- Campaigns as tables: what will happen, how far they are, and the links.


def outlook_table(name: str, found: Forecast, built: BuiltCampaign) -> Table:
    """Items, judgments, hours and cost of a campaign, before anybody works."""
    rows = [
        ("items", found.items),
        ("judgments", found.judgments),
        ("tasks, checks among them", found.tasks),
        ("seconds a task", found.seconds),
        ("hours of judges", None if found.hours is None else round(found.hours, 2)),
        ("cost", None if found.cost is None else round(found.cost, 2)),
        ("items two judges share", round(found.common_items, 2)),
        ("pairs of outputs two judges share", round(found.common_pairs, 2)),
        ("sentences left out, all outputs alike", built.alike),
        ("sentences kept for controls", built.reserved),
    ]
    return Table(
        ("figure", "value"),
        tuple(row for row in rows if row[1] is not None),
        title=f"{name}: what will happen",
        name="outlook",
        row_formats={
            "seconds a task": ".0f",
            "hours of judges": ".1f",
            "cost": ".2f",
            "items two judges share": ".0f",
            "pairs of outputs two judges share": ".0f",
        },
    )


def status_table(name: str, state: str, figures: Sequence[Sequence[str]]) -> Table:
    """How far a campaign is."""
    rows = [("State", state, ""), *(tuple(row) for row in figures)]
    return Table(("figure", "value", "note"), tuple(rows), title=name, name="status")


def link_table(links: Iterable[tuple[str, str, str]]) -> Table:
    """Who has which link."""
    return Table(("who", "state", "link"), tuple(links), title="Links", name="links")

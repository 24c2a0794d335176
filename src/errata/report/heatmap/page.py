"""The difficulty heat map as one HTML file that needs nothing else.

No network (its policy forbids every connection, and every script and style but its own, which it
knows by their hashes), no other file, every text escaped. Markup, style
and script are ``page.html``, ``page.css`` and ``page.js`` beside this module; places to fill are
written ``{{name}}``.
"""

from __future__ import annotations

import html
import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from importlib.resources import files
from typing import Any, get_args

from errata.errors import visible
from errata.metrics.difficulty.map import DifficultyMap
from errata.numbers import plural
from errata.report.heatmap.pieces import (
    STEPS,
    Concealed,
    MarkedPiece,
    MarkedSentence,
    marked_sentences,
    shade,
    weights_from,
)
from errata.report.page.inline import content_policy, script_json

__all__ = ["heat_map"]


def _file(ending: str) -> str:
    return (files("errata.report.heatmap") / f"page.{ending}").read_text("utf-8")


def heat_map(
    found: DifficultyMap,
    *,
    title: str = "Difficulty heat map",
    signature: str = "",
    sentences: Sequence[int] | None = None,
    conceal: Collection[Concealed] = (),
) -> str:
    """One self-contained HTML page.

    Errors are red from pale (every system corrects them) to deep (none does), false alarms blue,
    corrections stand beside them; pointing at or focusing one shows kind, correction, weight and
    systems. The page filters by kind, weight, system and text, and works with the keyboard. What is
    to ``conceal`` is hidden when it opens, and can be shown.
    """
    several = marked_sentences(found, sentences)
    details: list[list[Any]] = []
    kinds: dict[str, int] = {}
    annotators = len({row.annotator for row in several})
    body = "\n".join(_sentence(row, details, kinds, annotators > 1) for row in several)
    frequency = Counter(kind for _, kind, *_ in details)
    counted = [(name, frequency[k]) for name, k in kinds.items()]
    systems = [visible(name) for name in found.systems]
    style, script = f"\n{_file('css')}{_shades()}\n", f"\n{_file('js')}\n"
    data = {"systems": systems, "kinds": list(kinds), "marks": details}
    n = sum(count for _, count in counted)
    weights = [weight for _, _, weight, *_ in details]
    return _fill(
        _file("html"),
        {
            "style": style,
            "script": script,
            "policy": content_policy([style], [script]),
            "title": html.escape(visible(title)),
            "signature": html.escape(visible(signature)),
            "body": body,
            "data": script_json(data),
            "legend": _legend(),
            **{kind: "" if kind in conceal else "checked" for kind in get_args(Concealed)},
            "low": str(min(0, math.floor(min(weights, default=0)))),
            "high": str(max(1, math.ceil(max(weights, default=1)))),
            "summary": html.escape(
                f"{_counted(several, annotators)}, {n:,} {plural('error', n)}; "
                + weights_from(found)
            ),
            "kinds": "".join(
                f'<option value="{kinds[name]}">{html.escape(name)} ({count})</option>'
                for name, count in sorted(counted)
            ),
            "systems": "".join(
                f'<option value="{s}">{html.escape(name)}</option>'
                for s, name in enumerate(systems)
            ),
        },
    )


def _counted(several: list[MarkedSentence], annotators: int) -> str:
    """How many sentences there are: one that two annotators corrected is one."""
    n = len({row.sentence for row in several})
    return f"{n:,} {plural('sentence', n)}" + (f", {annotators} annotators" * (annotators > 1))


def _fill(page: str, parts: dict[str, str]) -> str:
    """Put parts into ``{{name}}`` places in one pass, so that no part is read as a template."""
    pieces = page.split("{{")
    done = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        done += [parts[name], rest]
    return "".join(done)


def _sentence(
    row: MarkedSentence, details: list[list[Any]], kinds: dict[str, int], several: bool
) -> str:
    number = row.number
    anchor = f"s{number}a{row.annotator}" if several else f"s{number}"
    label = f"{number}/{row.annotator}" if several else str(number)
    text = " ".join(_piece(piece, details, kinds) for piece in row.pieces)
    return f'<p id="{anchor}"><a href="#{anchor}">{label}</a><span dir="auto">{text}</span></p>'


def _piece(piece: MarkedPiece, details: list[list[Any]], kinds: dict[str, int]) -> str:
    text = html.escape(piece.text)
    if piece.what == "plain":
        return text
    alarm = piece.what == "alarm"
    kind = -1 if alarm else kinds.setdefault(piece.kind, len(kinds))
    details.append(
        [
            int(alarm),
            kind,
            round(piece.weight, 4),
            piece.text,
            None if alarm else piece.correction,
            piece.right,
            [[proposal, who] for proposal, who in piece.wrong],
        ]
    )
    shape = "ins" if not piece.text else "del" if not alarm and not piece.correction else "rep"
    shown = "" if alarm else f'<i dir="auto">{html.escape(piece.correction or "∅")}</i>'
    step = round(min(1.0, max(0.0, piece.weight)) * STEPS)
    name = "alarm" if alarm else "error"
    spoken = html.escape(f"{'false alarm' if alarm else piece.kind}, weight {piece.weight:.2f}")
    return (
        f'<span class="m {name} {shape} w{step}" data-i="{len(details) - 1}" tabindex="-1" '
        f'role="button" aria-label="{text or "insertion"}: {spoken}"><u>{text or "‸"}</u>'
        f"{shown}<sup>{piece.weight:.2f}</sup></span>"
    )


def _shades() -> str:
    lines = []
    for step in range(STEPS + 1):
        for name, alarm in (("error", False), ("alarm", True)):
            tint, white = shade(step / STEPS, alarm=alarm)
            ink = "#fff" if white else "#111"
            lines.append(f".{name}.w{step} u{{background:{tint};color:{ink}}}")
    return "\n".join(lines)


def _legend() -> str:
    def ramp(name: str) -> Iterable[str]:
        for step in range(0, STEPS + 1, 2):
            yield f'<span class="m {name} w{step}"><u>{step / STEPS:.1f}</u></span>'

    return (
        "<span>error, every system corrects it <span>"
        + "".join(ramp("error"))
        + '</span> no system does</span> <span class="alarms">false alarm, rarely <span>'
        + "".join(ramp("alarm"))
        + "</span> every system raises it</span>"
    )

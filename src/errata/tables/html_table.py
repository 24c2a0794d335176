"""Tables in HTML, templates, content policy, glossary terms."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from errata.core.errors import MissingExtraError, escape_controls, install_extra
from errata.core.stats import Estimate
from errata.tables.cells import (
    BestScore,
    Cell,
    PValue,
    RankChange,
    RankedScore,
    is_empty,
    is_number,
)
from errata.tables.table import SIGNATURE, Table, render

if TYPE_CHECKING:
    from jinja2 import Environment


# ---- Jinja2 templates that stand as files beside the modules that fill them.


def package_text(package: str, name: str) -> str:
    """The text of a file that comes with a package of Errata.

    >>> package_text("errata.reports", "templates/page.html.j2").splitlines()[0]
    '<!DOCTYPE html>'
    """
    return (files(package) / name).read_text("utf-8")


def render_template(package: str, name: str, **values: object) -> str:
    """A template of a package with its places filled."""
    return _environment().get_template(f"{package}/{name}").render(**values)


def check_templates() -> None:
    """Say at once what is to be installed, and not after the work."""
    _environment()


@cache
def _environment() -> Environment:
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ModuleNotFoundError:
        raise MissingExtraError("Jinja2", install_extra("report")) from None

    return Environment(
        loader=FunctionLoader(lambda name: package_text(*name.split("/", 1))),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


# ---- The words of the field, explained in a sentence each: one keeper for pages and
# documentation.

_USED = re.compile(r'data-term="([a-z0-9-]+)"')


class Term(NamedTuple):
    """A word, its address in a page, and the sentence that explains it."""

    name: str
    key: str
    says: str
    also: tuple[str, ...] = ()
    begins: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()


@cache
def glossary() -> Mapping[str, Term]:
    """All terms by name, in the order in which a reader meets them.

    >>> glossary()["cluster"].says
    'Systems that the data cannot tell apart; between clusters no rank ranges overlap.'
    """
    read = tomllib.loads(package_text("errata.tables", "glossary.toml"))
    return MappingProxyType(
        {
            name: Term(
                row.get("title", name),
                _address(row.get("title", "")) or _address(name),
                row["says"],
                tuple(row.get("also", ())),
                tuple(row.get("begins", ())),
                tuple(row.get("ends", ())),
            )
            for name, row in read.items()
        }
    )


def _address(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


@cache
def term_of(heading: str) -> Term | None:
    """What a heading of a table means, where the glossary knows it.

    >>> [term_of(name).name for name in ("95 % interval", "P", "m2 F0.5")]
    ['confidence interval', 'precision', 'F0.5']
    >>> term_of("AMU")
    """
    known = glossary()
    if heading in known:
        return known[heading]
    for term in known.values():
        if heading in term.also or heading == term.name:
            return term
    for term in known.values():
        if (term.begins and heading.startswith(term.begins)) or (
            term.ends and heading.endswith(term.ends)
        ):
            return term
    return None


def terms_used(bodies: Iterable[str]) -> list[Term]:
    """The terms that some HTML refers to, in the order of the glossary."""
    keys = {key for body in bodies for key in _USED.findall(body)}
    return [term for term in glossary().values() if term.key in keys]


# ---- What a page carries inside itself: how its policy knows it, and how data stand in a
# script.


def policy_hash(text: str) -> str:
    """What a page's policy knows its own style or script by; nothing else is run.

    >>> policy_hash("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def content_policy(styles: Iterable[str], scripts: Iterable[str]) -> str:
    """The policy of a page that fetches nothing and runs what it brought along, and only that.

    >>> content_policy(["a{}"], []).split("; ")[::2]
    ["default-src 'none'", "script-src 'none'", "form-action 'none'"]
    """
    style = " ".join(map(policy_hash, styles)) or "'none'"
    script = " ".join(map(policy_hash, scripts)) or "'none'"
    return (
        f"default-src 'none'; style-src {style}; script-src {script}; base-uri 'none'; "
        "form-action 'none'"
    )


def script_json(data: object) -> str:
    """JSON that may stand in a script element whatever it holds.

    >>> script_json({"a": "</script>"})
    '{"a":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


LONG = 24  # characters from which on a cell is a text to be wrapped
ENDLESS = 30  # characters of a word from which on it may be broken anywhere
RULE = ' class="rule"'


def term_html(text: str, heading: str = "") -> str:
    """A word in running text, with its explanation where the glossary has one.

    >>> term_html("rank range")[:60]
    '<span class="term" tabindex="0" data-term="rank-range" aria-'
    """
    term = term_of(heading or text)
    shown = html.escape(escape_controls(text))
    if term is None:
        return shown
    return (
        f'<span class="term" tabindex="0" data-term="{term.key}" '
        f'aria-describedby="term-{term.key}">{shown}</span>'
    )


def table_html(
    table: Table,
    key: str = "",
    *,
    interactive: bool = True,
    best: Collection[str] = (),
    folded: bool = False,
    links: Mapping[str, str] | None = None,
) -> str:
    """A table as HTML, every text escaped.

    With ``interactive`` it has buttons that sort its rows, copy it and save it (as TSV and as
    LaTeX, the same as `render` writes), explanations of its headings, and its signature folded;
    ``key`` tells it from the other tables of a page. Without, it is a plain table element for
    notebooks and files. The largest value of the columns ``best`` stands out; ``folded`` shows the
    title alone until it is opened; ``links`` are addresses of other pages, by what heads a row.

    >>> shown = table_html(Table(("system", "P"), (("<A>", 0.5),), title="m2"), "m2")
    >>> '<th scope="row" dir="auto">&lt;A&gt;</th><td class="n" data-v="0.5">0.5000</td>' in shown
    True
    """
    if not interactive:
        return _plain(table)
    return _figure(table, key or table.name or "table", best, folded, links or {})


def _plain(table: Table) -> str:
    def row(tag: str, cells: list[str]) -> str:
        return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"

    lines = (escape_controls(table.title), *table.remarks(), *table.signature_lines())
    caption = "<br>".join(_parted(line) for line in lines if line)
    return "\n".join(
        [
            f'<table><caption style="caption-side:bottom">{caption}</caption>',
            f"<thead>{row('th', table.heads())}</thead>",
            "<tbody>",
            *(row("td", cells) for cells in table.texts()),
            "</tbody></table>",
        ]
    )


def _figure(
    table: Table, key: str, best: Collection[str], folded: bool, links: Mapping[str, str]
) -> str:
    name = "t-" + "".join(c if c.isascii() and c.isalnum() else "-" for c in key.lower())
    title = html.escape(escape_controls(table.title) or escape_controls(table.name) or "Table")
    copies = {
        "name": escape_controls(table.name or key),
        "tsv": render(table, "tsv"),
        "latex": render(table, "latex"),
    }
    notes, signatures = _remarks(table)
    head = f'<figcaption id="{name}-title">{title}</figcaption>'
    inside = "\n".join(
        [
            f'<div class="scroll" tabindex="0" role="region" aria-labelledby="{name}-title">',
            f'<table><caption class="unseen">{title}</caption>',
            f"<thead><tr>{''.join(_heads(table))}</tr></thead>",
            "<tbody>",
            *_rows(table, best, links),
            "</tbody></table></div>",
            *(f'<p class="note">{_parted(note)}</p>' for note in notes),
            '<div class="tools">',
            *_signature(signatures),
            f'<details class="copies"><summary>Copy or save<span class="unseen"> {title}</span>'
            '</summary><span class="choices">',
            *_buttons(title),
            "</span></details></div>",
            f'<script type="application/json" class="data">{script_json(copies)}</script>',
        ]
    )
    if folded:
        inside = f'<details class="fold"><summary>{title}</summary>\n{inside}\n</details>'
        head = f'<figcaption id="{name}-title" class="unseen">{title}</figcaption>'
    kind = "table folded" if folded else "table"
    return f'<figure class="{kind}" id="{name}">\n{head}\n{inside}\n</figure>'


def _parted(line: str) -> str:
    """A line in which wide gaps part what stands beside each other, which HTML would close."""
    return html.escape(re.sub(r"(?<=\S) {2,}", " \N{MIDDLE DOT} ", line))


def _remarks(table: Table) -> tuple[list[str], list[str]]:
    """The lines below a table, and its signatures apart from them."""
    signatures = [line.removeprefix(SIGNATURE) for line in table.signature_lines()]
    return table.remarks(), signatures


def _signature(lines: list[str]) -> list[str]:
    if not lines:
        return []
    said = "\n".join(lines)
    return [
        '<details class="signature"><summary>'
        + ("Signature" if len(lines) == 1 else "Signatures")
        + f"</summary><code>{html.escape(said)}</code> "
        '<button type="button" data-copy="signature">Copy</button></details>'
    ]


def _buttons(title: str) -> list[str]:
    return [
        f'<button type="button" data-{verb.lower()}="{form}">{verb} '
        f'{shown}<span class="unseen"> of {title}</span></button>'
        for form, shown in (("tsv", "TSV"), ("latex", "LaTeX"))
        for verb in ("Copy", "Save")
    ]


def _heads(table: Table) -> list[str]:
    found = []
    for name, right in zip(table.heads(), table.numeric(), strict=True):
        place = ' class="n"' if right else ""
        if not name:
            found.append(f'<td{place}><span class="unseen">row</span></td>')
            continue
        term = term_of(name)
        about = (
            f' data-term="{term.key}" aria-describedby="term-{term.key}"'
            if term is not None
            else ""
        )
        endless = " endless" if any(len(word) > ENDLESS for word in name.split()) else ""
        found.append(
            f'<th scope="col"{place} aria-sort="none">'
            f'<button type="button" class="sort{endless}"{about}>'
            f'<span dir="auto">{html.escape(name)}</span></button></th>'
        )
    return found


def _rows(table: Table, best: Collection[str], links: Mapping[str, str]) -> list[str]:
    right = table.numeric()
    header = next((c for c, _ in enumerate(right) if _named(table, c)), None)
    tops = {c: _top(table, c) for c, name in enumerate(table.columns) if name in best}
    lines = []
    for position, (row, texts) in enumerate(zip(table.rows, table.texts(), strict=True)):
        cells = "".join(
            _cell(
                cell,
                text,
                number=right[c],
                header=c == header,
                top=tops.get(c),
                link=links.get(str(cell), "") if c == header else "",
            )
            for c, (cell, text) in enumerate(zip(row, texts, strict=True))
        )
        ruled = position in table.rules and position + 1 < len(table.rows)
        lines.append(f"<tr{RULE if ruled else ''}>{cells}</tr>")
    return lines


def _named(table: Table, column: int) -> bool:
    """Whether a column holds names, by which a row is known."""
    cells = [row[column] for row in table.rows]
    return any(isinstance(cell, str) for cell in cells) and all(
        cell is None or isinstance(cell, str) for cell in cells
    )


def _top(table: Table, column: int) -> float | None:
    known = [value for row in table.rows if (value := _value(row[column])) is not None]
    return max(known) if len(known) > 1 else None


def _value(cell: Cell) -> float | None:
    """What a cell is sorted by, where that is a number."""
    if is_empty(cell) or isinstance(cell, str | bool):
        return None
    number = cell[0] if isinstance(cell, tuple) else cell
    return float(number) if isinstance(number, int | float) and math.isfinite(number) else None


def _cell(
    cell: Cell, text: str, *, number: bool, header: bool, top: float | None, link: str
) -> str:
    value = _value(cell)
    exact = (
        cell[0]
        if isinstance(cell, Estimate | RankedScore | BestScore | PValue | RankChange)
        else cell
    )
    kept = f' data-v="{exact if is_number(exact) else value!r}"' if value is not None else ""
    classes = ["n"] if number or value is not None else []
    classes += ["long"] if len(text) > LONG and value is None else []
    classes += ["endless"] if any(len(word) > ENDLESS for word in text.split()) else []
    classes += ["best"] if top is not None and value == top else []
    about = f' class="{" ".join(classes)}"' if classes else ""
    about += kept or ' dir="auto"'
    shown = html.escape(text)
    if isinstance(cell, BestScore) and not is_empty(cell):  # so that numbers stand below each other
        mark = text[-1] if cell.lead and text[-2:-1] == " " else ""
        shown = html.escape(text.removesuffix(mark).rstrip())
        shown += f'<span class="mark">{mark}</span>'
    tag = 'th scope="row"' if header else "td"
    if link:
        shown = f'<a href="{html.escape(link)}">{shown}</a>'
    return f"<{tag}{about}>{shown}</{tag[:2]}>"

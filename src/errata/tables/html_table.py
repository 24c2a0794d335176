"""HTML: tables, templates, content policy and glossary."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from errata.core.errors import escape_controls, import_extra
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
    from markupsafe import Markup


def package_text(package: str, name: str) -> str:
    """Return the text of a file that belongs to a package of Errata.

    >>> package_text("errata.reports", "templates/page.html.j2").splitlines()[0]
    '<!DOCTYPE html>'
    """
    return (files(package) / name).read_text("utf-8")


def render_template(package: str, name: str, **values: object) -> Markup:
    """Return a template of a package filled with values; texts are escaped, Markup is not."""
    from markupsafe import Markup

    return Markup(_jinja_environment().get_template(f"{package}/{name}").render(**values))


def check_templates() -> None:
    """Raise MissingExtraError if Jinja2 is not installed: before the work, not after it."""
    _jinja_environment()


@cache
def _jinja_environment() -> Environment:
    jinja2 = import_extra("jinja2", "report", "Jinja2")
    made: Environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: package_text(*name.split("/", 1))),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        # Control characters of the data become visible on every page.
        finalize=lambda value: escape_controls(value) if type(value) is str else value,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return made


# ---- The glossary, shared by pages and documentation.

_USED = re.compile(r'data-term="([a-z0-9-]+)"')


class Term(NamedTuple):
    """A term, its address on a page, and the sentence that explains it."""

    name: str
    key: str
    says: str
    also: tuple[str, ...] = ()
    begins: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()


@cache
def glossary() -> Mapping[str, Term]:
    """Return all terms by name, in the order in which a reader meets them.

    >>> glossary()["cluster"].says
    'Systems that the data cannot tell apart; between clusters no rank ranges overlap.'
    """
    found = {}
    for name, row in tomllib.loads(package_text("errata.tables", "glossary.toml")).items():
        title = row.get("title", name)
        texts = {key: tuple(row.get(key, ())) for key in ("also", "begins", "ends")}
        key = _term_slug(row.get("title", "")) or _term_slug(name)
        found[name] = Term(title, key, row["says"], **texts)
    return MappingProxyType(found)


def _term_slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


@cache
def term_of(heading: str) -> Term | None:
    """Return the glossary term for a table heading, or None.

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
    """Return the terms that some HTML refers to, in glossary order."""
    keys = {key for body in bodies for key in _USED.findall(body)}
    return [term for term in glossary().values() if term.key in keys]


# ---- Content security policy, and data inside a page.


def policy_hash(text: str) -> str:
    """Return the hash by which a content policy allows one style or script.

    >>> policy_hash("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def content_policy(styles: Iterable[str], scripts: Iterable[str]) -> str:
    """Return the policy of a page that fetches nothing and runs only the given texts.

    >>> content_policy(["a{}"], []).split("; ")[::2]
    ["default-src 'none'", "script-src 'none'", "form-action 'none'"]
    """
    style = " ".join(map(policy_hash, styles)) or "'none'"
    script = " ".join(map(policy_hash, scripts)) or "'none'"
    return (
        f"default-src 'none'; style-src {style}; script-src {script}; base-uri 'none'; "
        "form-action 'none'"
    )


def script_json(data: object) -> Markup:
    """Return JSON that is safe inside a script element.

    >>> script_json({"a": "</script>"})
    Markup('{"a":"\\\\u003c/script\\\\u003e"}')
    """
    from markupsafe import Markup

    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


LONG = 24  # characters; longer texts are wrapped
ENDLESS = 30  # characters; longer words may be broken anywhere


def fill_html(template: str, *values: object) -> Markup:
    """Fill HTML with values; texts are escaped, with control characters made visible.

    >>> fill_html("<p>{}, {}</p>", "a<b", fill_html("<b>{:,}</b>", 1000))
    Markup('<p>a&lt;b, <b>1,000</b></p>')
    """
    from markupsafe import Markup

    shown = (escape_controls(value) if type(value) is str else value for value in values)
    return Markup(template).format(*shown)


def term_html(text: str, heading: str = "") -> Markup:
    """Return a word of running text as HTML, linked to its glossary entry if it has one.

    >>> term_html("rank range")[:60]
    Markup('<span class="term" tabindex="0" data-term="rank-range" aria-')
    """
    term = term_of(heading or text)
    if term is None:
        return fill_html("{}", text)
    opening = (
        '<span class="term" tabindex="0" data-term="{0}" aria-describedby="term-{0}">{1}</span>'
    )
    return fill_html(opening, term.key, text)


def plain_table_html(table: Table) -> str:
    """Return a bare table element for notebooks and files; needs no Jinja2."""

    def row(tag: str, cells: list[str]) -> str:
        return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"

    answer = escape_controls(table.answer.sentence) if table.answer else ""
    lines = (answer, escape_controls(table.title), *table.remarks(), *table.signature_lines())
    caption = "<br>".join(html.escape(_replace_wide_gaps(line)) for line in lines if line)
    rows = "\n".join(row("td", cells) for cells in table.texts())
    return (
        f'<table><caption style="caption-side:bottom">{caption}</caption>\n'
        f"<thead>{row('th', table.heads())}</thead>\n<tbody>\n{rows}\n</tbody></table>"
    )


def table_html(
    table: Table,
    key: str = "",
    *,
    best: Collection[str] = (),
    folded: bool = False,
    links: Mapping[str, str] | None = None,
) -> Markup:
    """Return a table for a page: sortable, explained, to be copied and saved as TSV or LaTeX.

    ``key`` identifies the table on its page. The largest value in each of the columns ``best`` is
    highlighted. A ``folded`` table shows only its title until it is opened. ``links`` maps row
    names to the addresses of other pages.

    >>> shown = table_html(Table(("system", "P"), (("<A>", 0.5),), title="m2"), "m2")
    >>> '<th scope="row" dir="auto">&lt;A&gt;</th><td class="n" data-v="0.5">0.5000</td>' in shown
    True
    """
    key = key or table.name or "table"
    copies = {
        "name": escape_controls(table.name or key),
        "tsv": render(table, "tsv"),
        "latex": render(table, "latex"),
    }
    return render_template(
        "errata.tables",
        "templates/table.html.j2",
        id="t-" + "".join(c if c.isascii() and c.isalnum() else "-" for c in key.lower()),
        title=table.title or table.name or "Table",
        folded=folded,
        heads=_template_heads(table),
        rows=_template_rows(table, best, links or {}),
        notes=[_replace_wide_gaps(remark) for remark in table.remarks()],
        signatures=[line.removeprefix(SIGNATURE) for line in table.signature_lines()],
        copies=script_json(copies),
    )


def _replace_wide_gaps(line: str) -> str:
    """Replace wide gaps, which HTML would close, by dots."""
    return re.sub(r"(?<=\S) {2,}", " \N{MIDDLE DOT} ", line)


def _has_long_word(text: str) -> bool:
    return any(len(word) > ENDLESS for word in text.split())


def _template_heads(table: Table) -> list[dict[str, Any]]:
    heads = []
    for name, right in zip(table.heads(), table.numeric(), strict=True):
        term = term_of(name)
        key = "" if term is None else term.key
        heads.append({"name": name, "right": right, "term": key, "endless": _has_long_word(name)})
    return heads


def _template_rows(
    table: Table, best: Collection[str], links: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    right = table.numeric()
    columns = [[row[c] for row in table.rows] for c in range(len(right))]
    names = [{type(cell) for cell in cells} - {type(None)} == {str} for cells in columns]
    header = names.index(True) if any(names) else None  # the first that can name the rows
    known = {
        c: [value for cell in columns[c] if (value := _sort_value(cell)) is not None]
        for c, name in enumerate(table.columns)
        if name in best
    }
    tops = {c: max(values) for c, values in known.items() if len(values) > 1}
    for position, (row, texts) in enumerate(zip(table.rows, table.texts(), strict=True)):
        cells = [
            _template_cell(cell, text, number=right[c], top=tops.get(c))
            | {"header": c == header, "link": links.get(str(cell), "") if c == header else ""}
            for c, (cell, text) in enumerate(zip(row, texts, strict=True))
        ]
        ruled = position in table.rules and position + 1 < len(table.rows)
        yield {"cells": cells, "ruled": ruled}


def _sort_value(cell: Cell) -> float | None:
    """Return the number by which a cell is sorted, or None for a text."""
    if is_empty(cell) or isinstance(cell, str | bool):
        return None
    number = cell[0] if isinstance(cell, tuple) else cell
    return float(number) if isinstance(number, int | float) and math.isfinite(number) else None


def _template_cell(cell: Cell, text: str, *, number: bool, top: float | None) -> dict[str, Any]:
    value = _sort_value(cell)
    exact = (
        cell[0]
        if isinstance(cell, Estimate | RankedScore | BestScore | PValue | RankChange)
        else cell
    )
    classes = {
        "n": number or value is not None,
        "long": len(text) > LONG and value is None,
        "endless": _has_long_word(text),
        "best": top is not None and value == top,
    }
    mark = None
    if isinstance(cell, BestScore) and not is_empty(cell):  # keeps the numbers aligned
        mark = text[-1] if cell.lead and text[-2:-1] == " " else ""
        text = text.removesuffix(mark).rstrip()
    return {
        "text": text,
        "mark": mark,
        "value": None if value is None else exact if is_number(exact) else value,
        "classes": " ".join(name for name, applies in classes.items() if applies),
    }

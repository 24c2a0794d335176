"""Instructions and consent in Markdown, read into blocks that a page builds from text nodes.

Headings, paragraphs, lists, quotations, **strong**, *emphasis*, ``code`` and links to http, https
and mailto addresses. There is no raw HTML: what looks like it is shown as it stands.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["Block", "read_prose"]

Block = dict[str, Any]  # kind, and inline parts or items
ProsePart = list[str]  # [kind, text], and for a link the address

_HEADING = re.compile(r"(#{1,3})\s+(.*?)\s*#*")
_ITEM = re.compile(r"(?:([-*+])|(\d{1,4})[.)])\s+(.*)")
_QUOTE = re.compile(r">\s?(.*)")
_INLINE = re.compile(
    r"`(?P<code>[^`]+)`"
    r"|\*\*(?P<strong>[^*]+)\*\*"
    r"|\*(?P<em>[^*\s](?:[^*]*[^*\s])?)\*"
    r"|\[(?P<text>[^\]]+)\]\((?P<link>(?:https?://|mailto:)[^\s()]+)\)"
)


def read_prose(markdown: str) -> list[Block]:
    """The blocks of a text.

    >>> read_prose("# Hello\\n\\nRank *all*.")
    [{'kind': 'h1', 'inline': [['text', 'Hello']]}, \
{'kind': 'p', 'inline': [['text', 'Rank '], ['em', 'all'], ['text', '.']]}]
    >>> read_prose("<b>no</b>")
    [{'kind': 'p', 'inline': [['text', '<b>no</b>']]}]
    """
    blocks: list[Block] = []
    for lines in _paragraphs(markdown):
        blocks += _block(lines)
    return blocks


def _paragraphs(markdown: str) -> list[list[str]]:
    """Lines that stand together; a heading stands alone."""
    groups: list[list[str]] = [[]]
    for line in markdown.splitlines():
        if not line.strip():
            groups.append([])
        elif _HEADING.fullmatch(line.strip()):
            groups += [[line.strip()], []]
        else:
            groups[-1].append(line.strip())
    return [group for group in groups if group]


def _block(lines: list[str]) -> list[Block]:
    heading = _HEADING.fullmatch(lines[0])
    if heading:
        return [{"kind": f"h{len(heading[1])}", "inline": _inline(heading[2])}]
    if all(_QUOTE.fullmatch(line) for line in lines):
        return [{"kind": "quote", "inline": _inline(" ".join(line[1:].strip() for line in lines))}]
    first = _ITEM.fullmatch(lines[0])
    if first:
        items: list[str] = []
        for line in lines:
            item = _ITEM.fullmatch(line)
            if item:
                items.append(item[3])
            else:
                items[-1] += " " + line
        kind = "ol" if first[2] else "ul"
        return [{"kind": kind, "items": [_inline(item) for item in items]}]
    at = next((k for k, line in enumerate(lines) if _ITEM.fullmatch(line)), None)
    if at is not None and _ITEM.fullmatch(lines[at])[1]:  # type: ignore[index]
        return _block(lines[:at]) + _block(lines[at:])
    return [{"kind": "p", "inline": _inline(" ".join(lines))}]


def _inline(text: str) -> list[ProsePart]:
    parts: list[ProsePart] = []
    position = 0
    for found in _INLINE.finditer(text):
        if found.start() > position:
            parts.append(["text", text[position : found.start()]])
        if found["link"]:
            parts.append(["link", found["text"], found["link"]])
        else:
            kind = str(found.lastgroup)
            parts.append([kind, found[kind]])
        position = found.end()
    if position < len(text):
        parts.append(["text", text[position:]])
    return parts

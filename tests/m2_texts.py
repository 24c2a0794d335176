"""Texts of M2, sound and broken, and what the reader that goes line by line makes of them."""

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from errata.core.errors import InputError
from errata.io.files import scan_lines
from errata.io.m2 import M2File, parse_m2

REST = "REQUIRED|||-NONE-|||"
NOOP = f"A -1 -1|||noop|||-NONE-|||{REST}"


def line(span: str, correction: str = "x", annotator: object = 0, kind: str = "X") -> str:
    return f"A {span}|||{kind}|||{correction}|||{REST}{annotator}"


SOURCES = ("S a b c d", "S a b", "S He go home é 😀 .", "S ", "S  a\tb  c ")
EDITS = (
    line("0 1"),
    line("1 2", "goes home"),
    line("1 2", "gœs", 1, "R:VERB"),
    line("2 2", "-NONE-", 1),
    line("0 0", "", 2),
    line("0 2", "y", 12),
    line("2 2", "é 😀", 0, "Ö"),
    "A 0 1|||X|||x|||OPTIONAL|||wår um|||3",
    *(f"{NOOP}{annotator}" for annotator in (0, 1, 7)),
)
# What there is something to say of, or what only the reader by lines reads.
OTHERS = (
    "S",
    "S x|||y",
    "S a\u00a0b c",
    "S a\u3000b\u2003c む",
    "S a\x0bb c",
    "S a\rb",
    "S a\x1fb \x1c c",
    "S a \ud800 b",
    "I 0 1",
    "A",
    "A ",
    "Q",
    "# 1",
    *map(line, ("0 9", "2 1", "-1 -1", "1", "01 002", " 1 2", "1  2", "1 2 ", "1\t2")),
    line("1 1234567890"),
    *(line("0 1", each) for each in ("x||y||-NONE-", "x||", "x|y", " x ", "x\u00a0", "a  b")),
    *(line("0 1", each) for each in ("REQUIRED", "OPTIONAL", "-NONE- ")),
    *(line("0 1", "x", who) for who in ("x", "-1", " 4 ", "1234567890", "999999999", "")),
    *(line("0 1", each) for each in ("x\u2028y", "x\x85")),
    *(line("0 1", "x", 0, kind) for kind in ("a|", "|a", "\u2009")),
    "A 0 1|||X|||x|||required|||-NONE-|||0",
    "A 0 1|||X|||x||||REQUIRED|||-NONE-|||0",
    "A 0 1|||X|||x|||REQUIRED||||||0",
    "A 0 1|||X|||x|||REQUIRED|||a||||0",
    "A 0 1|||X|||x|||REQUIRED|||0",
    "A 0 1|||X|||x|||y|||REQUIRED|||-NONE-|||0",
    "A 0 1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0",
    "A -1 -1|||noop|||x||y|||z|||w|||2",
    "A -1  -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0",
    "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||x",
    "A\t0 1|||X|||x|||REQUIRED|||-NONE-|||0",
)
BLANKS = (" ", "\t", "\u00a0", "\u2028", "\u3000 ", "\r", "\x1f", "\u1681", "む", "\u202a")
CHARACTERS = " |\n\r\tSAI0129-noop\x0b\x1c\x1f\x85\xa0é\u1680\u2028\u202f\u205f\u3000😀\ud83d\x00"


@st.composite
def m2_texts(draw: st.DrawFn) -> str:
    """Paragraphs, most of them sound; now and then a character is another, or there is one more."""
    found: list[str] = []
    for _ in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(["sound", "sound", "sound", "any", "broken"]))
        if kind == "broken":
            found += draw(st.lists(st.sampled_from([*SOURCES, *EDITS, *OTHERS]), max_size=5))
        else:
            pool = EDITS if kind == "sound" else EDITS + OTHERS
            found.append(draw(st.sampled_from(SOURCES)))
            found += draw(st.lists(st.sampled_from(pool), max_size=4))
        if draw(st.integers(0, 15)):
            found += [""] * draw(st.sampled_from([1, 1, 1, 2]))
        if not draw(st.integers(0, 24)):
            found.append(draw(st.sampled_from(BLANKS)))
    ends = draw(st.sampled_from(["\n", "\n", "\n", "\r\n", "\r\r\n"]))
    text = ends.join(found) + draw(st.sampled_from(["", ends, "\r", "\r\r", "\n\n"]))
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 1, 2]))):
        at = draw(st.integers(0, len(text)))
        put = draw(st.sampled_from(["", *CHARACTERS]))
        text = text[:at] + put + text[at + draw(st.integers(0, 1)) :]
    return text


def by_lines(text: str, path: str = "<text>", *, first_line: int = 1, **asked: Any) -> M2File:
    lines, findings = scan_lines(text, path, first_line=first_line)
    file = parse_m2(lines, path, first_line=first_line, **asked)
    return replace(file, findings=(*findings, *file.findings))


def refused(read: Any, *given: Any, **asked: Any) -> M2File | tuple[Any, ...]:
    """What is read, or all that the error says."""
    try:
        file: M2File = read(*given, **asked)
    except InputError as error:
        return error.path, error.line, error.problem, error.remedy, str(error)
    return file

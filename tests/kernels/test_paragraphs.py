"""Paragraphs of M2 in a kernel: what is sound, and where everything stands."""

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from errata.core.errors import InputError
from errata.io.files import ODD_BREAKS
from errata.kernels import paragraphs
from m2_texts import EDITS, NOOP, OTHERS, SOURCES, line, m2_texts
from pure import load_pure

X = line("0 1")


@pytest.fixture(params=["compiled", "plain"])
def kernel(request: pytest.FixtureRequest) -> ModuleType:
    return paragraphs if request.param == "compiled" else load_pure("paragraphs")


def scan(kernel: ModuleType, text: str) -> tuple[Any, Any, int]:
    found: tuple[Any, Any, int] = kernel.scan(np.frombuffer(text.encode(), np.uint8))
    return found


def sound(kernel: ModuleType, text: str) -> list[int]:
    rows: list[int] = scan(kernel, text)[0][:, paragraphs.SOUND].tolist()
    return rows


def field(text: str, row: Any, column: int) -> str:
    return text.encode()[row[column] : row[column + 1]].decode()


@pytest.mark.parametrize(
    "text",
    [
        *("S ", "S a", "S  a\tb ", "S a 😀 é b", "S a \x00"),
        *("S a b\nA 0 1||||||x|||OPTIONAL||||||0", "S a b\nA -1 -1|||noop||| x||y ||||z|||w|||2"),
        "\n".join(["S a b", *(line("0 1", "x", k) for k in range(64))]),
        # What follows a sentence of two words.
        *(
            f"S a b\n{lines}"
            for lines in (
                *(f"{NOOP}0", f"{X}\n{NOOP}1\n{line('1 1', 'y', 999999999)}"),
                f"{line('0 0')}\n{line('0 1')}\n{line('1 2')}\n{line('2 2')}",
                *(f"{line('0 0')}\n{line('0 2')}", line("00 000000002")),
                f"{line('0 1', 'x', 5)}\n{line('0 1', 'x', 2)}\n{line('1 2', 'x', 5)}",
                *(line("0 1", ""), line("0 1", "-NONE-"), line("0 1", "a  b")),
                *(line("0 1", "é 😀 -NONE-", 0, "a|b"), f"{line('0 0')}\n{line('0 0', 'y')}"),
                f"{line('0 0', 'x')}\n{line('0 0', 'x y')}\n{line('0 1')}",
                f"{line('0 0', 'x y')}\n{line('0 0', 'x')}\n{line('0 1')}",
                f"{line('0 0')}\n{line('0 0', '-NONE-')}",
                f"{line('0 0')}\n{line('0 0', 'y')}\n{line('1 1')}\n{line('1 1', 'y')}",
                f"{line('0 0')}\n{line('0 0', 'x', 1)}\n{line('0 0', 'y')}",
            )
        ),
    ],
)
def test_what_is_sound(kernel: ModuleType, text: str) -> None:
    assert sound(kernel, text) == [1]
    assert sound(kernel, f"\n\n{text}\n\n\n{text}\n") == [1, 1]


@pytest.mark.parametrize(
    "text",
    [
        *("S", "Sa", "A ", X, "S a|||b", "S |||", "S a\u00a0b", "S a\nS b", "S a\nI 0", "S a b\nA"),
        *("S a b\nA ", "S a b\n" + line("0 1", "x\t"), f"S a b c\n{line('0 2')}\n{line('1 3')}"),
        f"S a b c d\n{line('0 1')}\n{line('2 4')}\n{line('3 4')}",
        "\n".join(["S a b", *(line("0 1", "x", k) for k in range(65))]),
        # What follows a sentence of two words.
        *(
            f"S a b\n{lines}"
            for lines in (
                *(f"{X[1:]}", line("0 3"), line("1 0"), line("0  1"), line("0"), line("0 ")),
                *(line(""), line("0 0000000001"), line("0 :"), line("0 /"), line("-1 -1")),
                *(line("0 1", "x", "1234567890"), line("0 1", "x", ""), line("0 1", "x", "-1")),
                *(line("0 1", "x", ":"), line("0 1", "x", "/"), line("0 1", "x", " 1")),
                *(line("0 1", " x"), line("0 1", "x||y"), line("0 1", "x|y"), line("0 1", "|")),
                *(line("0 1", "REQUIRED"), line("0 1", "OPTIONAL"), line("0 1", "x", 0, "noop")),
                *(f"{X.replace('REQUIRED', 'REQUIRE')}", f"{X.replace('REQUIRED', 'REQUIREX')}"),
                *(f"{X.replace('REQUIRED', '|REQUIRED')}", f"{X}|||"),
                *(f"{X.replace('|||-NONE-', '')}", f"{X}\n{X}"),
                *(f"{line('0 1')}\n{line('0 1', 'y')}", f"{line('0 0')}\n{line('0 0')}"),
                f"{line('0 1', 'y')}\n{line('2 2')}\n{line('2 2')}",
                f"{line('0 0', '-NONE-')}\n{line('0 0', '')}",
                f"{line('0 0')}\n{line('0 0', 'y')}\n{line('0 0', 'z')}",
                f"{line('0 0')}\n{line('0 0', 'y')}\n{line('0 0', 'x')}",
                f"{line('0 0')}\n{line('0 0', 'x', 1)}\n{line('0 0')}",
                f"{line('1 2')}\n{line('0 1')}",
                *(f"{X}\n{line('0 1', 'x', 1)}\n{line('0 1', 'y', 0)}", f"{X}\n{NOOP}0"),
                *(f"{NOOP}0\n{X}", f"{NOOP}0\n{NOOP}0", f"{X}\n" + line("1 2", "x", 0, "\u2003")),
            )
        ),
    ],
)
def test_what_is_not(kernel: ModuleType, text: str) -> None:
    assert sound(kernel, text) == [0]
    # Nothing of it stays, and its neighbours are as they are without it.
    rows, edits, _ = scan(kernel, f"S é a\n{X}\n\n{text}\n\nS b\n")
    assert rows[:, paragraphs.SOUND].tolist() == [1, 0, 1]
    assert edits[:, paragraphs.OWNER].tolist() == [0, 2]
    assert edits[:, paragraphs.WHAT].tolist() == [paragraphs.EDIT, paragraphs.IMPLIED]


def test_what_an_unsound_paragraph_leaves_in_the_table_does_not_count(kernel: ModuleType) -> None:
    text = f"S a b c\n{line('0 1')}\n{line('2 3')}\nQ\n\nS a b\n{X}\n{NOOP}0\n\nS d\n"
    rows, edits, _ = scan(kernel, text)
    assert rows[:, paragraphs.SOUND].tolist() == [0, 0, 1]
    assert edits[:, paragraphs.ANNOTATOR].tolist() == [0]
    text = f"S a b\n{line('0 1', 'x', 7)}\nQ\n\nS d\n"
    assert scan(kernel, text)[1][:, paragraphs.ANNOTATOR].tolist() == [0]


def test_places_are_counted_in_bytes(kernel: ModuleType) -> None:
    text = f"\nS é 😀 b\nA 1 3|||Ö|||gœs x|||OPTIONAL|||wår|||12\n{NOOP}3\n\n\nS ñ\n\nQ ö\nS a"
    rows, edits, odd = scan(kernel, text)
    assert odd & (paragraphs.BLANKS | paragraphs.BREAKS) == 0
    assert rows[:, paragraphs.LINE].tolist() == [1, 6, 8]
    data = text.encode()
    assert [data[r[paragraphs.BEGIN] : r[paragraphs.END]].decode() for r in rows] == [
        text[1 : text.index("\n\n\n")],
        "S ñ",
        "Q ö\nS a",
    ]
    sources = [data[r[paragraphs.BEGIN] + 2 : r[paragraphs.SOURCE_END]] for r in rows[:2]]
    assert sources == ["é 😀 b".encode(), "ñ".encode()]
    assert edits[:, paragraphs.OWNER].tolist() == [0, 0, 1]
    assert edits[:, paragraphs.ANNOTATOR].tolist() == [12, 3, 0]
    assert edits[0, [paragraphs.START, paragraphs.STOP]].tolist() == [1, 3]
    columns = (paragraphs.KIND, paragraphs.CORRECTION, paragraphs.REQUIRED, paragraphs.COMMENT)
    assert [field(text, edits[0], column) for column in columns] == [
        "Ö",
        "gœs x",
        "OPTIONAL",
        "wår",
    ]


def test_a_correction_of_nothing_is_empty(kernel: ModuleType) -> None:
    text = f"S a b\n{line('0 1', '-NONE-')}\n{line('1 2', '-NONE- x')}\n"
    _, edits, _ = scan(kernel, text)
    assert [field(text, edit, paragraphs.CORRECTION) for edit in edits] == ["", "-NONE- x"]


@pytest.mark.parametrize(
    ("text", "odd"),
    [
        ("S a\n\n\nS b\n", 0),
        ("S a\t\x1f\x00\x08\x1b\n", 0),
        *(
            (text, paragraphs.BREAKS)
            for text in ("S a\x0bb\n", "S a\r", "S a\x1eb", "S a\x85b", "S a\nS a\u2029")
        ),
        ("S a\n \nS b", paragraphs.BLANKS),
        ("\t\x1f\nS b", paragraphs.BLANKS),
        ("S b\n\u3000\u1680\u205f", paragraphs.BLANKS),
        ("S b\n\u2028", paragraphs.BLANKS | paragraphs.BREAKS),
        ("S b\n\x0c", paragraphs.BLANKS | paragraphs.BREAKS),
        *((f"S b\n{end}", 0) for end in ("\x1b ", " é", "\u2003x", "\u2003\u200b")),
    ],
)
def test_what_is_odd_about_lines(kernel: ModuleType, text: str, odd: int) -> None:
    assert scan(kernel, text)[2] & (paragraphs.BLANKS | paragraphs.BREAKS) == odd


def test_nothing_is_no_paragraph(kernel: ModuleType) -> None:
    for text in ("", "\n", "\n\n\n"):
        rows, edits, odd = scan(kernel, text)
        assert (len(rows), len(edits), odd) == (0, 0, 0)


@pytest.mark.slow
def test_every_character_is_taken_as_python_takes_it(kernel: ModuleType) -> None:
    most = sys.maxunicode + 1 if kernel is paragraphs else 0x3101
    characters = [c for c in map(chr, range(most)) if c != "\n" and not "\ud800" <= c <= "\udfff"]
    for at in range(0, len(characters), 1 << 16):
        some = characters[at : at + (1 << 16)]
        lines = [f"S a{c}b {c}" for c in some]
        words = [len(each.split()) - 1 for each in lines]
        edits = [line(f"{n} {n}", f"{c}x{c}") for n, c in zip(words, some, strict=True)]
        both = zip(lines, edits, strict=True)
        rows, found, odd = scan(kernel, "\n\n".join(f"{a}\n{b}" for a, b in both))
        is_sound = rows[:, paragraphs.SOUND].tolist()
        # White space and bars are left to others, and few characters else.
        plain = [not c.isspace() and c != "|" for c in some]
        assert all(p or not s for s, p in zip(is_sound, plain, strict=True))
        assert [c for c, s, p in zip(some, is_sound, plain, strict=True) if p and not s] == [
            c for c, p in zip(some, plain, strict=True) if p and seems_white(c)
        ]
        assert found[:, paragraphs.STOP].tolist() == [
            n for n, s in zip(words, is_sound, strict=True) if s
        ]
        broken = any(ODD_BREAKS.search(c) for c in some)
        assert bool(odd & paragraphs.BREAKS) == broken
        assert not odd & paragraphs.BROKEN


def seems_white(c: str) -> bool:
    """Characters that share bytes with white space, and are not worth a closer look."""
    return "\u1680" <= c <= "\u16bf" or "\u2000" <= c <= "\u200a" or "\u2028" <= c <= "\u202f"


@pytest.mark.parametrize("c", [*"\t\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u2028\u2029", "\u205f"])
def test_each_white_character_alone(kernel: ModuleType, c: str) -> None:
    odd = scan(kernel, f"S a\n{c}\n")[2]
    assert bool(odd & paragraphs.BLANKS)
    assert bool(odd & paragraphs.BREAKS) == (ODD_BREAKS.search(c) is not None)


@settings(max_examples=150)
@given(m2_texts() | st.lists(st.sampled_from([*SOURCES, *EDITS, *OTHERS, ""])).map("\n".join))
def test_compiled_and_plain_give_the_same(text: str) -> None:
    alike(bytearray(text, "utf-8", "surrogatepass"))


@given(st.binary(max_size=60) | st.text("SA |\n0-\x85\u3000", max_size=40).map(str.encode))
def test_compiled_and_plain_give_the_same_of_any_bytes(data: bytes) -> None:
    alike(bytearray(data))


def is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


# Bytes at which what is UTF-8 begins or ends, with all that can stand behind them.
BOUNDS = [0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1]
BOUNDS += [0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF]


def test_what_is_not_utf8_is_told_of(kernel: ModuleType) -> None:
    every = [bytes([a, b, *more]) for a in BOUNDS for b in BOUNDS for more in ((), (0x80,))]
    every += [bytes([a, b, 0x80, c]) for a in BOUNDS for b in BOUNDS for c in (0x7F, 0x80, 0xBF)]
    every += [bytes([a]) for a in range(256)]
    assert sum(map(is_utf8, every)) > 200
    for each in every:
        for data in (each, b"S a " + each + b" b\n\nS c\n"):
            odd = kernel.scan(np.frombuffer(data, np.uint8))[2]
            assert bool(odd & paragraphs.BROKEN) != is_utf8(data), data


def alike(data: bytearray) -> None:
    ways = [paragraphs.scan, load_pure("paragraphs").scan]
    (rows, edits, odd), (plain_rows, plain_edits, plain_odd) = [
        way(np.frombuffer(bytearray(data), np.uint8)) for way in ways
    ]
    np.testing.assert_array_equal(rows, plain_rows)
    assert rows.dtype == plain_rows.dtype == edits.dtype == plain_edits.dtype == np.intc
    assert odd == plain_odd
    # Of what is no edit only what it is, whose, and of which paragraph is told.
    told = [paragraphs.OWNER, paragraphs.ANNOTATOR, paragraphs.WHAT]
    np.testing.assert_array_equal(edits[:, told], plain_edits[:, told])
    real = edits[:, paragraphs.WHAT] == paragraphs.EDIT
    np.testing.assert_array_equal(edits[real], plain_edits[real])


def test_what_is_too_large_for_its_numbers_is_refused(
    kernel: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("errata.kernels._doors.LARGEST", 5)
    assert len(scan(kernel, "S abc")[0]) == 1
    with pytest.raises(InputError, match="do not fit"):
        scan(kernel, "S abcd")

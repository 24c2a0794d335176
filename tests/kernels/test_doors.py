"""No entry of a kernel reads or writes outside an array, whatever it is given.

Arguments that fit are spoilt in one place: a number, a size, a shape, a type. The entry must refuse
them or give a result. As plain Python an index that gets past the door is an IndexError; compiled
it would be silent, and is for `make sanitize` to notice, which runs this file too.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from errata.core.errors import InputError
from errata.human import parse_ranker
from errata.human.comparisons import Counts
from errata.kernels import _doors, alignment, chunks, cuts, threeway
from errata.kernels._doors import LARGEST
from pure import KERNELS, load_maxmatch, load_pure

I32, I64 = np.intc, np.int64
COMPILED = not str(alignment.__file__).endswith(".py")
REFUSED = (InputError, ValueError, TypeError, OverflowError)
# The edits of three references of two sentences, as `errata.metrics.m2.matching.GoldEdits`.
GOLD = (
    *(np.array([0, 2, 2, 3], I64), np.array([0, 1, 2], I32), np.array([1, 1, 3], I32)),
    *(np.array([0, 1, 3, 4], I64), np.array([0, 1, 1, 3, 4], I64), np.array([5, 1, 2, 3], I32)),
)
FIRST = np.array([0, 2, 3], I64)
SOURCE, SOURCE_AT = np.array([0, 1, 2, 3, 1, 2], I32), np.array([0, 3, 6], I64)
M2 = "S é go\n\u3000\nA 1 2|||V|||goes\u00a0|||REQUIRED|||-NONE-|||0\n\nS a\n".encode()
HOME = np.frombuffer("He goes\u00a0home.".encode(), np.uint8)
OUTPUT, OUTPUT_AT = np.array([5, 1, 2, 3, 1, 3, 4], I32), np.array([0, 4, 7], I64)


def lattice() -> Any:
    """The table of "a b" and "a c": along the diagonal, and around the changed word."""
    both = 64 | 128
    table = np.zeros((3, 3), np.uint8)
    table[0, 0] = both
    table[1, 1] = both | 1 | 8
    table[1, 2] = 128 | 32
    table[2, 1] = 128 | 16
    table[2, 2] = both | 1 | 16 | 32
    return table.ravel()


def planes() -> tuple[Any, ...]:
    a, b = np.array([0, 1, 2], I32), np.array([0, 3, 2], I32)
    low, high, at, *_ = threeway.band(a, b)
    nodes = np.array([0, 3], I32), np.array([0, 3], I32)
    stages, options = np.array([0, 2], I64), np.array([0, 2, 3], I64)
    return (a, b, low, high, at, *nodes, stages, options, np.array([1, 2, 4], I32))


def league(*batch: int) -> tuple[Any, ...]:
    shares = np.full((*batch, 3, 3), 0.4)
    return shares, shares / 4, np.ones((*batch, 3, 3), np.uint8)


def entries() -> dict[str, tuple[str, tuple[Any, ...]]]:
    """Every public entry: its module and name, and arguments that fit."""
    edits = np.array([[0, 1, 0, 1], [1, 2, 1, 2], [0, 0, 0, 1]], I32)
    cut = (np.array([0, 1, 2, 2], I64), np.array([0, 2], I32), np.array([1, 2], I32))
    texts, empty = np.array([7, 8], I32), 9
    units = np.array([0, 1, 1], I32)
    gold, bounds = chunks.chunk(units, SOURCE, SOURCE_AT, *cut, texts, empty)
    by_sentence = (np.array([0, 1, 2], I64), *cut[1:])
    compared = (units, SOURCE, SOURCE_AT, gold, bounds, *by_sentence, texts, empty)
    longs = [each.astype(I64) for each in (SOURCE, OUTPUT)]
    vocabulary = (
        np.array([0, 1, 2, 2, 3, 4], I32),
        np.zeros(6, I32),
        np.array([0, 1, 2, 0, 0, 1], I32),
        np.array([0, 1, 2, 3, 4, 5, 6], I32),
        3,
    )
    steps = np.array([[0, 1, 0, 0, 0, 1, 0], [0, 3, 0, 2, 1, 2, 0], [1, 4, 0, 3, 0, 3, 0]], I32)
    merged = (steps, SOURCE, SOURCE_AT, OUTPUT, OUTPUT_AT, *vocabulary[1:4])
    pair = (lattice(), 2, 2, np.array([0, 1], I32), 0, np.array([0, 2], I32), 0, 0, 1)
    one = (np.array([0, 1], I64), np.array([1], I32), np.array([2], I32), np.array([0, 1], I64))
    runs = (np.array([1, 2], np.uint64), 5, 0.5, 0.25, 0.1, 0.0, np.zeros((2, 3)), np.zeros((2, 3)))
    flow = (np.full(2, 9.0), 3, 0.5, np.full(2, 0.25), np.full(2, 0.1), 0.0, np.zeros((2, 3)))
    return {
        "align": ("alignment.align", (SOURCE, SOURCE_AT, OUTPUT, OUTPUT_AT, *vocabulary)),
        **{
            name: ("aligned_edits.merge_steps", (*merged, np.array([0, 2, 5], I32), whole))
            for name, whole in (("merge_steps", False), ("whole", True))
        },
        "chunk": ("chunks.chunk", (units, SOURCE, SOURCE_AT, *cut, texts, empty)),
        "released": ("chunks.compare", (*compared, False)),
        "elastic": ("chunks.compare", (*compared, True)),
        "planes": ("cuts.planes", planes()),
        "held": (
            "cuts.held",
            (np.ones((2, 3), I32), np.array([[0, 1, 1], [2, 1, 0]], I32), np.array([0, 2], I64)),
        ),
        "choose": (
            "m2_counts.choose",
            (np.ones((2, 2, 3), I64), np.array([5, 4, 1]), np.array([3, 4, 5]), False),
        ),
        "decide": (
            "running.decide",
            (np.ones((2, 2, 3)), np.ones((1, 3)), np.ones((1, 3)), np.ones(1))
            + (np.array([[0, 1], [2, -1]], I64), np.zeros((3, 2)), 0.0, True, False, 0)
            + (np.zeros(2, I64),),
        ),
        "merge": (
            "merged_chunks.merge",
            (SOURCE, SOURCE_AT, FIRST, np.array([0, 1, 2, 3], I64), np.array([0, 1, 2], I32))
            + (np.array([2, 1, 3], I32), np.array([0, 1, 1, 3], I64), np.array([5, 1, 2], I32)),
        ),
        "propose": (
            "maxmatch.propose",
            (SOURCE, SOURCE_AT, OUTPUT, OUTPUT_AT, FIRST, GOLD, 2, 1000),
        ),
        "states": ("maxmatch.propose", (SOURCE, SOURCE_AT, OUTPUT, OUTPUT_AT, FIRST, GOLD, 2, 1)),
        "tally": (
            "maxmatch.tally",
            (edits, np.array([0, 2, 2, 3], I64), np.ones(3, np.uint8))
            + (OUTPUT, OUTPUT_AT, FIRST, GOLD, False),
        ),
        "propose_long": (
            "maxmatch_long.propose_long",
            (*pair, (*one, np.array([0, 1], I64), np.array([2], I32)), 2),
        ),
        "overlaps": (
            "ngrams.overlaps",
            (
                *(longs[0], SOURCE_AT, longs[1], OUTPUT_AT, longs[1], OUTPUT_AT),
                np.array([0, 1, 2], I64),
            )
            + (4, False),
        ),
        "log_ndtr": ("normal.log_ndtr", (np.array([-40.0, -3.0, 0.0, 2.0]),)),
        "count_edits": ("ter.count_edits", (SOURCE, SOURCE_AT, OUTPUT, OUTPUT_AT)),
        "count_columns": (
            "threeway.count_columns",
            (OUTPUT, np.array([0, 2, 4, 7], I64), np.array([[0, 1, 2], [2, 1, 1]])),
        ),
        "band": ("threeway.band", (SOURCE, OUTPUT)),
        "rate": ("trueskill.rate", (0.0, 1.0, 0.0, 1.0, 1, 0.5, 0.1, 0.0)),
        "play_runs": ("trueskill.play_runs", (*league(), *runs)),
        "mean_field": ("trueskill.mean_field", (*league(2), *flow)),
        "show": (
            "letters.show",
            (np.frombuffer(b"He goes . Home!", np.uint8), np.array([0, 9]), np.array([9, 15])),
        ),
        "scan": ("paragraphs.scan", (np.frombuffer(M2, np.uint8),)),
        "gather": ("words.gather", (HOME, np.array([9, 0]), np.array([14, 9]))),
        "number": ("words.number", (HOME, np.array([0, 9]), np.array([9, 14]), False)),
    }


ENTRIES = entries()


def function(key: str, compiled: bool) -> Callable[..., Any]:
    module, name = ENTRIES[key][0].split(".")
    if compiled:
        return getattr(import_module(f"errata.kernels.{module}"), name)
    return getattr(load_maxmatch() if module == "maxmatch" else load_pure(module), name)


def test_every_public_entry_is_here() -> None:
    places = {place for place, _ in ENTRIES.values()}
    modules = {place.split(".")[0] for place in places}
    assert modules == {path.stem for path in KERNELS.glob("[!_]*.py")}
    for module in modules:
        pure = load_pure(module)
        own = {
            name
            for name, value in vars(pure).items()
            if callable(value) and getattr(value, "__module__", "") == pure.__name__
        }
        public = {f"{module}.{name}" for name in own if not name.startswith("_")}
        assert public == {place for place in places if place.startswith(f"{module}.")}


@pytest.mark.parametrize("key", ENTRIES)
@pytest.mark.parametrize("compiled", [True, False])
def test_what_fits_is_taken(key: str, compiled: bool) -> None:
    function(key, compiled)(*copied(ENTRIES[key][1]))


def copied(arguments: tuple[Any, ...]) -> list[Any]:
    return [
        each.copy()
        if isinstance(each, np.ndarray)
        else tuple(copied(each))
        if isinstance(each, tuple)
        else each
        for each in arguments
    ]


OF_FLOATS = ("rate", "play_runs", "mean_field")
NUMBERS = (-1, -(2**31), 0, 1, 2, 3, 5, 7, 100, 2**30, 2**31 - 1)


@st.composite
def hostile(draw: st.DrawFn, array: Any, how: str) -> Any:
    """An array with numbers, its size, its shape or its type changed."""
    array = array.copy()
    if how in ("number", "numbers") and array.size:
        for _ in range(1 if how == "number" else 3):
            at = draw(st.integers(0, array.size - 1))
            value = draw(st.sampled_from(NUMBERS))
            if array.dtype.kind == "f":
                value = draw(st.sampled_from([np.nan, np.inf, -1.0, 0.0, 1e300]))
            elif array.dtype.kind == "u":
                value = draw(st.integers(0, 255))
            array.ravel()[at] = value
        return array
    if how == "size":
        axis = draw(st.integers(0, array.ndim - 1))
        size = draw(st.integers(0, array.shape[axis] + 2))
        return np.ascontiguousarray(
            np.resize(array, (*array.shape[:axis], size, *array.shape[axis + 1 :]))
        )
    if how == "shape":
        return draw(st.sampled_from([array[None], array.ravel(), array[:0], array.T]))
    return array.astype(
        draw(st.sampled_from([np.int32, np.int64, np.float64, np.uint8])), order="C"
    )


@pytest.mark.parametrize("key", ENTRIES)
@given(data=st.data())
@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_does_not_fit_is_refused_or_harmless(key: str, data: st.DataObject) -> None:
    arguments = copied(ENTRIES[key][1])
    at = data.draw(st.integers(0, len(arguments) - 1))
    how = data.draw(st.sampled_from(["number", "number", "numbers", "size", "shape", "type"]))
    if isinstance(arguments[at], tuple):
        several = list(arguments[at])
        k = data.draw(st.integers(0, len(several) - 1))
        several[k] = data.draw(hostile(several[k], how))
        arguments[at] = tuple(several)
    elif isinstance(arguments[at], np.ndarray):
        arguments[at] = data.draw(hostile(arguments[at], how))
    elif isinstance(arguments[at], float):
        arguments[at] = data.draw(st.sampled_from([np.nan, np.inf, -1.0, 0.0, 1e300]))
    else:
        arguments[at] = data.draw(st.sampled_from([-1, -(2**31), 0, 1, 2, 5, 40]))
    # Types and dimensions are Cython's to check: plain Python has none.
    ways = [*([False] * (how not in ("shape", "type"))), *([True] * COMPILED)]
    for compiled in ways:
        try:
            function(key, compiled)(*copied(tuple(arguments)))
        except REFUSED:
            pass
        except ZeroDivisionError:
            # Of floating-point numbers C makes infinities; of integers it would end the program.
            assert not compiled
            assert key in OF_FLOATS


@pytest.mark.parametrize("compiled", [False, True])
def test_words_without_a_letter_are_aligned(compiled: bool) -> None:
    """Their length stood under a fraction of integers, which ends a compiled program."""
    one = np.array([0, 1], I64)
    empty = np.zeros(3, I32)
    folded = np.array([0, 1], I32)
    words = (np.array([0], I32), one, np.array([1], I32), one)
    found = function("align", compiled)(*words, folded, np.zeros(2, I32), empty[:0], empty, 1)
    assert found[:, 0].tolist() in ([0], [0, 0])


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("ranker", ["trueskill(runs=200)", "trueskill"])
def test_a_ranker_of_no_comparisons_at_all(ranker: str, n: int) -> None:
    """This corrupted the heap: the most uncertain of no systems was number -1."""
    counts = Counts(np.zeros((n, n)), np.zeros((n, n)))
    found = parse_ranker(ranker).score(counts)
    assert np.shape(found)[-1] == n


@pytest.mark.parametrize("key", ["count_edits", "overlaps", "count_columns", "align"])
def test_offsets_that_go_round_are_refused(key: str) -> None:
    """Steps of two to the 63rd add up to nothing, and none of them seems to fall."""
    arguments = copied(ENTRIES[key][1])
    for position, array in enumerate(arguments):
        if isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype == I64:
            if array[0] or (np.diff(array) < 0).any():
                continue  # no offsets
            ends = np.iinfo(I64)
            spoilt = copied(tuple(arguments))
            round_about = [0, ends.max, ends.min, -1, *array[1:]]
            for other, each in enumerate(spoilt):  # as many parts everywhere
                if isinstance(each, np.ndarray) and each.shape == array.shape:
                    spoilt[other] = np.array([0, 0, 0, 0, *each[1:]], each.dtype)
            spoilt[position] = np.array(round_about, I64)
            with pytest.raises(InputError, match="do not fit"):
                function(key, COMPILED)(*spoilt)


def test_the_largest_number_is_no_token() -> None:
    arguments = planes()
    arguments[-1][0] = LARGEST
    for kernel in (cuts, load_pure("cuts")):
        with pytest.raises(InputError, match="tokens goes from"):
            kernel.planes(*arguments)


def constants(name: str) -> dict[str, object]:
    own = {key: value for key, value in vars(load_pure(name)).items() if key.isupper()}
    return {key: value for key, value in own.items() if not hasattr(_doors, key)}


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("threeway", "cuts", {"MISMATCH", "GAP", "LONE", "FAR"}),
        ("maxmatch", "maxmatch_long", {"DIAGONAL", "UP", "LEFT", "INSIDE"}),
    ],
)
def test_kernels_on_the_same_tables_mean_the_same(one: str, other: str, shared: set[str]) -> None:
    """Constants of C cannot be imported: they stand in both files, with one value."""
    a, b = constants(one), constants(other)
    assert a.keys() & b.keys() == shared
    assert {key: a[key] for key in shared} == {key: b[key] for key in shared}


def test_bits_of_maxmatch_do_not_overlap() -> None:
    bits = constants("maxmatch")
    sides = ("DIAGONAL", "UP", "LEFT", "INSIDE")
    for k in (1, 2):
        assert bits[f"LATTICE_{k}"] == sum(bits[f"{side}_{k}"] for side in sides)  # type: ignore[misc]
    for side in sides:
        assert bits[side] == bits[f"{side}_1"] + bits[f"{side}_2"]  # type: ignore[operator]
    assert bits["LATTICE_1"] + bits["LATTICE_2"] == 255  # type: ignore[operator]

"""Logs: every figure counted slowly beside, parts that add up, intervals that cover."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.core.errors import InputError
from errata.edits import extract
from errata.logs import LogPart, count_logs, edits_per_sentence, log_tables

TEXT = st.lists(st.sampled_from(["a", "go", "goes", "dog", "dogs", "."]), max_size=4).map(" ".join)
ROW = st.tuples(
    TEXT,
    TEXT,
    st.sampled_from([None, True, False]),
    st.sampled_from([None, True, False]),
    st.sampled_from(["de", "en"]),
)
LOGS = st.lists(ROW, max_size=12)


def counted(rows):
    columns = list(zip(*rows, strict=True)) if rows else [()] * 5
    return count_logs(
        columns[0], columns[1], accepted=columns[2], clean=columns[3], slices={"locale": columns[4]}
    )


def slow(rows, kind: str | None = None) -> LogPart:
    """The same figures, sentence by sentence."""
    edits = [
        [e for e in extract(source, output) if kind in (None, e.kind)]
        for source, output, *_ in rows
    ]
    touched = [
        rows[i]
        for i, found in enumerate(edits)
        if (found if kind else rows[i][0].split() != rows[i][1].split())
    ]
    return LogPart(
        sentences=len(rows),
        changed=len(touched),
        edits=sum(map(len, edits)),
        squares=sum(len(found) ** 2 for found in edits),
        clean=sum(row[3] is True for row in rows),
        alarms=sum(row[3] is True for row in touched),
        answered=sum(row[2] is not None for row in touched),
        accepted=sum(row[2] is True for row in touched),
    )


@given(LOGS)
def test_every_figure_is_the_slow_count(rows) -> None:
    counts = counted(rows)
    assert counts.totals() == slow(rows)
    kinds = {e.kind for source, output, *_ in rows for e in extract(source, output)}
    assert counts.kinds().keys() == kinds
    for kind, part in counts.kinds().items():
        assert part == slow(rows, kind)
    for value in {row[4] for row in rows}:
        mine = [row for row in rows if row[4] == value]
        assert counts.totals("locale", value) == slow(mine)
        for kind, part in counts.kinds("locale", value).items():
            assert part == slow(mine, kind)
    order = [(-part.edits, kind) for kind, part in counts.kinds().items()]
    assert order == sorted(order)


@given(LOGS, st.data())
def test_parts_add_up_to_the_whole(rows, data) -> None:
    cut = data.draw(st.integers(0, len(rows)))
    whole, parts = counted(rows), counted(rows[cut:]) + counted(rows[:cut])
    assert whole.totals() == parts.totals()
    assert whole.kinds() == parts.kinds()
    assert [whole.totals("locale", v) for v in whole.values("locale")] == [
        parts.totals("locale", v) for v in parts.values("locale")
    ]


def test_the_interval_of_edits_is_that_of_the_bootstrap() -> None:
    rng = np.random.default_rng(5)
    numbers = rng.poisson(0.7, 400)
    sources = ["a . b . c . d . e . f ."] * 400
    words = ["a", "b", "c", "d", "e", "f"]
    outputs = [" . ".join([*(f"x{w}y" for w in words[:n]), *words[n:]]) + " ." for n in numbers]
    part = count_logs(sources, outputs).totals()
    assert part.edits == numbers.sum()
    means = rng.choice(numbers, (4000, 400)).mean(axis=1)
    value, low, high = edits_per_sentence(part)
    assert value == numbers.mean()
    assert np.allclose([low, high], np.percentile(means, [2.5, 97.5]), atol=0.01)
    assert math.isnan(edits_per_sentence(count_logs([], []).totals()).value)


def test_what_does_not_add_up() -> None:
    with pytest.raises(InputError, match="1 values of 'clean' for 2 sentences"):
        count_logs(["a", "b"], ["a", "b"], clean=[True])
    one = count_logs(["a"], ["a"])
    other = type(one)(one.counts, "errant")
    with pytest.raises(InputError, match="by aligned and by errant do not add up"):
        one + other
    many = count_logs(["a"] * 201, ["a"] * 201, slices={"user": list(map(str, range(201)))})
    with pytest.raises(InputError, match="'user' has more than 200 different values"):
        one + many


def test_tables_leave_out_what_is_not_known() -> None:
    counts = count_logs(["He go ."], ["He goes ."])
    overall, kinds = log_tables(counts)
    names = ["sentences", "changed", "change rate", "edits", "edits per sentence"]
    assert [row[0] for row in overall.rows] == names
    assert kinds.columns == ("kind", "edits", "change rate", "change rate interval")
    assert kinds.rows[0][:3] == ("R:INFL", 1, 1.0)

"""The thread pool."""

from __future__ import annotations

import sys

import pytest

from errata.workers import in_order


def test_threads_take_turns_quickly_and_leave_things_as_they_were() -> None:
    before = sys.getswitchinterval()
    seen = in_order(
        lambda n: (
            sys.getswitchinterval(),
            in_order(lambda _: sys.getswitchinterval(), [1, 2], threads=n),
        ),
        [2, 2, 2],
        threads=2,
    )
    assert [each for each, _ in seen] == pytest.approx([1e-3] * 3)
    assert all(value == pytest.approx(1e-3) for _, inner in seen for value in inner)
    assert sys.getswitchinterval() == before

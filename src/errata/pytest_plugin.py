"""A pytest plug-in: the fixture ``errata_gate`` fails a test where a system got worse.

It is there once Errata is installed::

    def test_no_regression(errata_gate):
        errata_gate(
            gold="gold.m2", old="main.txt", new="out.txt",
            fail_if=["m2 < -0.005", "new false alarms > 0 on clean.txt"],
        )

What it takes is what ``errata compare`` takes; ``baseline`` stands for ``old``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import pytest

if TYPE_CHECKING:
    from os import PathLike

    from errata.comparison.gate import Bound, CheckedCondition


class ErrataGate(Protocol):
    """What the fixture gives: call it with files and conditions."""

    def __call__(
        self,
        *,
        new: str | PathLike[str],
        old: str | PathLike[str] | None = None,
        baseline: str | PathLike[str] | None = None,
        gold: str | PathLike[str] | None = None,
        source: str | PathLike[str] | None = None,
        refs: Sequence[str | PathLike[str]] = (),
        annotators: Sequence[int] | None = None,
        tokens: str = "as_is",
        fail_if: Sequence[str] = ("m2 < -0.005",),
        metrics: Sequence[str] = ("m2", "edits"),
        slices: str | PathLike[str] | None = None,
        bound: Bound = "confident",
        resamples: int = 1000,
        confidence: float = 0.95,
        seed: int = 0,
    ) -> tuple[CheckedCondition, ...]:
        """Hold the conditions; fail the test with what holds of them."""


@pytest.fixture
def errata_gate() -> ErrataGate:
    """Fail a test where a grammatical error correction system got worse."""
    from errata.comparison.gate import check_files_gate

    def gate(**given: object) -> tuple[CheckedCondition, ...]:
        from errata.comparison.gate import verdict_text

        verdicts, _ = check_files_gate(**given)  # type: ignore[arg-type]
        failed = [each for each in verdicts if each.failed]
        if failed:
            said = "\n".join(map(verdict_text, failed))
            pytest.fail(f"{len(failed)} of {len(verdicts)} conditions hold\n{said}", pytrace=False)
        return verdicts

    return gate

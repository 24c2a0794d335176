"""Does a recomputed figure agree with the printed one?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal, InvalidOperation

from errata.reproduce.paper import ELSEWHERE, IN_WORDS, Known, Way

__all__ = ["VERDICTS", "Verdict", "difference", "judge", "shown"]

Value = float | int | str
VERDICTS = (
    "exact",
    "within rounding",
    "within tolerance",
    "differs (known)",
    "unpinned",
    "in words",
    "not printed",
    "not run",
    "different",
    "MISMATCH",
)


@dataclass(frozen=True)
class Verdict:
    """One of `VERDICTS`, and the reason where there is one."""

    name: str
    reason: str = ""

    @property
    def fails(self) -> bool:
        """Whether a figure that should agree does not."""
        return self.name in ("MISMATCH", "different")


def _decimal(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def shown(value: Value, like: str, rounding: str = "half") -> str:
    """A value as the paper would print it: with the digits of ``like``.

    >>> shown(0.69151, "0.691"), shown(0.69151, ".691", "truncated"), shown("1-2", "1-2")
    ('0.692', '0.691', '1-2')
    """
    printed = _decimal(like)
    if isinstance(value, str) or printed is None or not math.isfinite(value):
        return str(value)
    # A figure that is half of a last digit but for its last bits is meant to be that half.
    exact = Decimal(repr(float(f"{value:.12g}")))
    rounded = exact.quantize(
        Decimal(1).scaleb(printed.as_tuple().exponent),  # type: ignore[arg-type]
        ROUND_HALF_EVEN if rounding == "half" else ROUND_DOWN,
    )
    return format(rounded, "f")


def difference(value: Value, printed: str | None) -> float | None:
    """Recomputed minus printed; None where one of them is no number."""
    number = None if printed is None else _decimal(printed.lstrip(IN_WORDS + ELSEWHERE))
    if number is None or isinstance(value, str):
        return None
    return float(value) - float(number)


def _agrees(value: Value, printed: str, rounding: str) -> bool:
    text = shown(value, printed, rounding)
    a, b = _decimal(text), _decimal(printed)
    return text == printed if a is None or b is None else a == b


def judge(
    value: Value, printed: str | None, way: Way, known: Known | None = None, rounding: str = "half"
) -> Verdict:
    """Compare a recomputed value with the printed text.

    Exact is what rounds (or, in a table that truncates, truncates) to the printed digits. A
    figure that the paper gives in words ("about seven") is never called exact. A
    difference within the way's tolerance is named after it: within rounding if the tolerance is
    at most one unit of the last printed digit. A known difference must come out as it is pinned.

    >>> judge(0.6907, "0.691", Way("raw")).name, judge(0.6899, "0.691", Way("raw")).name
    ('exact', 'MISMATCH')
    """
    if printed is None:
        return Verdict("not printed")
    agreed = {IN_WORDS: "in words", ELSEWHERE: "not printed"}.get(printed[:1], "exact")
    printed = printed.lstrip(IN_WORDS + ELSEWHERE)
    if _agrees(value, printed, rounding):
        if known is not None:
            return Verdict("MISMATCH", f"expected {known.found}, known to differ")
        return Verdict(agreed)
    if known is not None:
        if _agrees(value, known.found, "half"):
            return Verdict("differs (known)", known.reason)
        return Verdict("MISMATCH", f"expected {known.found} ({known.reason})")
    off = difference(value, printed)
    if off is not None and abs(off) <= way.tolerance * (1 + 1e-9):
        last = 10.0 ** Decimal(printed).as_tuple().exponent  # type: ignore[operator]
        name = "within rounding" if way.tolerance <= last * (1 + 1e-9) else "within tolerance"
        return Verdict(name, way.reason)
    return Verdict("MISMATCH")

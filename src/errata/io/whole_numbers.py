"""Whole numbers as files write them."""

from __future__ import annotations

__all__ = ["LARGEST", "whole_number"]

LARGEST = 2**31 - 1  # sentences, ranks and offsets are kept as 32-bit numbers


def whole_number(text: str, least: int) -> int | None:
    """The number that digits write; None for other texts and for numbers out of bounds.

    >>> whole_number(" 12 ", 1), whole_number("0", 1), whole_number("²", 1), whole_number("", 0)
    (12, None, None, None)
    """
    text = text.strip()
    # Digits are counted first: Python refuses to convert thousands of them.
    if not (text.isascii() and text.isdigit() and len(text.lstrip("0")) <= 10):
        return None
    number = int(text)
    return number if least <= number <= LARGEST else None

"""Old doors to `errata.cli.options.judgment_options`, until nobody knocks at them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import wraps
from typing import Any

from errata.cli import options
from errata.data import Judgment

__all__ = ["judgment_options", "load_judgments"]


def judgment_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options `load_judgments` reads; the command receives them as keywords."""

    @wraps(command)
    def run(*arguments: Any, judged: options.JudgmentInputs, **given: Any) -> Any:
        return command(*arguments, **given, **asdict(judged))

    return options.judgment_options()(run)


def load_judgments(files: tuple[str, ...], **given: Any) -> Iterator[Judgment]:
    """The judgments of all files, one after the other."""
    return options.JudgmentInputs(**given).read(files)

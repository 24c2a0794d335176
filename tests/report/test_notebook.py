"""Scores in a notebook."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

import errata
from command import python_process
from errata.data import Scores
from errata.report.notebook import register_scores, scores_html


class Formatter:
    """What IPython's formatter of HTML does with types that are named."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, str], Callable[[object], str]] = {}

    def for_type_by_name(self, module: str, name: str, show: Callable[[object], str]) -> None:
        self.known[module, name] = show

    def __call__(self, thing: object) -> str:
        return self.known[type(thing).__module__, type(thing).__name__](thing)


@pytest.fixture
def html(monkeypatch: pytest.MonkeyPatch) -> Formatter:
    """The formatter of a running IPython."""
    formatter = Formatter()
    shell = SimpleNamespace(display_formatter=SimpleNamespace(formatters={"text/html": formatter}))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    return formatter


def test_scores_in_a_notebook_are_escaped(html: Formatter) -> None:
    assert errata.Scores is Scores  # the first use of a name tells IPython
    scores = html(
        Scores(
            "m2()",
            ("A", "B"),
            np.array([0.5, 0.5]),
            notes=("look <here>",),
            parts={"P": np.array([1.0, 2 / 3]), "gold": np.array([12, 1234567])},
        )
    )
    assert scores.count("<td>1</td>") == 2  # equal scores share a rank
    for cell in ("1.0000", "0.6667", "12", "1234567"):
        assert f"<td>{cell}</td>" in scores
    assert scores.index("<caption") < scores.index("<thead>")
    assert "look &lt;here&gt;" in scores
    page = html(Scores("m<b>", ("<script>",), np.array([0.5])))
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "0.5000" in page


def test_the_interval_is_shown_where_there_is_one() -> None:
    scores = Scores("m2()", ("A",), np.array([0.5]), resampled=np.full((9, 1), 0.25))
    assert "<td>0.2500 – 0.2500</td>" in scores_html(scores)


def test_without_a_shell_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not register_scores()
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: None))
    assert not register_scores()


@pytest.mark.parametrize("running", [False, True])
def test_telling_costs_nothing(running: bool) -> None:
    """No report is loaded in a program; in a notebook the door is, and nothing behind it."""
    program = (
        "import sys, types\n"
        f"shell = types.SimpleNamespace(get_ipython=lambda: None)\n"
        f"if {running}: sys.modules['IPython'] = shell\n"
        "import errata; errata.InputError\n"
        "print(sorted(m for m in sys.modules if m.startswith('errata.report') or m == 'numpy'))"
    )
    shown = python_process(program).stdout
    assert shown == f"{['errata.report', 'errata.report.notebook'] if running else []}\n"

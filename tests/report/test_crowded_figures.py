"""Figures of many systems, many metrics, odd names and any script."""

from __future__ import annotations

import warnings
from itertools import count
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from errata.data import Scores
from errata.errors import DataWarning
from errata.report.figures import figure_bytes, new_figure
from errata.report.figures.corpora import corpora_plot
from errata.report.figures.several_sets import correlation_bars, slope_graph
from errata.studies.corpora import AcrossCorpora

pytest.importorskip("matplotlib")


def across(metric: str, systems: tuple[str, ...], corpora: int = 2) -> AcrossCorpora:
    values = np.linspace(0.2, 0.8, len(systems))
    scores = [Scores(metric, systems, np.roll(values, k)) for k in range(corpora)]
    return AcrossCorpora(tuple(f"corpus {k}" for k in range(corpora)), tuple(scores))


def test_every_system_of_a_crowd_is_in_the_legend() -> None:
    names = ("_base", "$x_1$", *(f"system {k}" for k in range(38)))
    figure = corpora_plot([across("m()", names)])
    figure_bytes(figure, "svg")
    (legend,) = figure.legends
    shown = legend.get_texts()
    assert {text.get_text() for text in shown} == {*names}
    assert not any(text.get_parse_math() for text in shown)
    box, whole = legend.get_window_extent(), figure.bbox
    assert whole.y0 <= box.y0 < box.y1 <= whole.y1
    assert box.x1 <= whole.x1
    looks = {(line.get_color(), line.get_marker()) for line in figure.axes[0].get_lines()}
    assert len(looks) == len(names)
    reach = [np.ptp([line.get_xdata()[k] for line in figure.axes[0].get_lines()]) for k in (0, 1)]
    assert max(reach) < 0.8  # the systems of one corpus do not reach into the next


def test_many_metrics_stand_in_rows_and_no_title_runs_into_the_next() -> None:
    names = [f"metric{k}(first_parameter=1.0, second='something')" for k in range(7)]
    figure = corpora_plot([across(name, ("A", "B")) for name in names])
    figure_bytes(figure, "svg")
    assert figure.get_figwidth() < 20
    boxes = [axes.title.get_window_extent() for axes in figure.axes if axes.get_title()]
    assert len(boxes) == 7
    boxes += [figure.legends[0].get_window_extent()]
    assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[k + 1 :])


def test_rankings_of_many_sets_and_long_names_stand_apart() -> None:
    names = tuple(f"a-rather-long-name-of-a-system-{k}" for k in range(12))
    values = np.round(np.linspace(0, 1, 12), 1)  # which ties some of them
    columns = {
        f"a-long-name-of-a-set-{k}": Scores("m", names, np.roll(values, k)) for k in range(9)
    }
    figure = slope_graph({"m": columns})
    figure_bytes(figure, "svg")
    panel = figure.axes[0]
    heads = [label.get_window_extent() for label in panel.get_xticklabels()]
    sides = [text.get_window_extent() for text in panel.texts]
    assert sum(text.get_text().count("\n") + 1 for text in panel.texts) == 24
    for box in (*heads, *sides):
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
    for boxes in (heads, sides):
        assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[k + 1 :])


def test_bars_of_ten_sets_are_told_apart() -> None:
    sets = [SimpleNamespace(name=f"set {k}", references=2) for k in range(10)]
    agreement = SimpleNamespace(values={"spearman": 0.5, "pearson": 0.4}, intervals={})
    found: Any = SimpleNamespace(
        scored=[SimpleNamespace(sets=sets)], agreements=[[agreement] * len(sets)]
    )
    bars = [bar for each in correlation_bars(found, ["m"]).axes[0].containers for bar in each]
    looks = {(bar.get_facecolor(), bar.get_hatch()) for bar in bars}
    assert len(looks) == len(sets)


@pytest.mark.parametrize(("form", "told"), [("png", 1), ("pdf", 1), ("svg", 0)])
def test_what_no_font_has_is_named_once(form: str, told: int) -> None:
    number = count(0xE000)  # a private area that no font draws
    figure = new_figure(3, 1)
    figure.subplots().set_title("".join(chr(next(number)) for _ in range(3)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figure_bytes(figure, form)  # type: ignore[arg-type]
    assert [each.category for each in caught] == [DataWarning] * told
    assert all("install a font" in str(each.message) for each in caught)

"""Figures of many systems, many metrics, odd names and any script."""

from __future__ import annotations

import warnings
from itertools import count

import numpy as np
import pytest

from errata.data import Scores
from errata.errors import DataWarning
from errata.report.figures import figure_bytes, new_figure
from errata.report.figures.corpora import corpora_plot
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

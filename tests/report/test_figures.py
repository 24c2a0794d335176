"""Figures: their files, names in them, and crowds of systems, metrics and sets."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from command import errata
from errata.core.errors import InputError
from errata.core.stats import Estimate
from errata.corpora import AcrossCorpora, corpora_plot
from errata.data import Scores
from errata.datasets.load import sample_file
from errata.meta.matching import match
from errata.meta.sentence_level import AccuracyPair, SentenceLevel, SentenceLevels
from errata.meta.tables import scatter_plot, sentence_plot, significance_map
from errata.plots import Matrix, Panels
from errata.plots.mpl import FigureForm, draw, figure_bytes, figure_form, save_figure
from errata.references.tables import slope_graph

pytest.importorskip("matplotlib")
STARTS: dict[FigureForm, bytes] = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}


TITLED = Panels([Matrix(("a", "b"), np.eye(2), "a title")], width=2, height=2)


def drawn(form: FigureForm) -> bytes:
    return figure_bytes(draw(TITLED), form)


@pytest.mark.parametrize("form", STARTS)
def test_the_same_figure_is_the_same_file(
    form: FigureForm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    first = drawn(form)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")  # another day
    assert drawn(form) == first
    assert first.startswith(STARTS[form])
    save_figure(TITLED, str(tmp_path / f"x.{form.upper()}"))
    assert (tmp_path / f"x.{form.upper()}").read_bytes() == first
    if form == "svg":
        assert b">a title</text>" in first


def test_other_forms_are_refused() -> None:
    for name in ("x.gif", "svg.", "x", ".svgz", "svg/x"):
        with pytest.raises(InputError, match=r"use a name in \.svg, \.png or \.pdf"):
            figure_form(name)


STEERING = "\x1b]\x00\n\u202e"


def test_names_with_control_characters_make_sound_svg(tmp_path: Path) -> None:
    names = tuple(f"{name}{STEERING}$\\x$" for name in "ABC")
    people = Scores("p", names, np.array([1.0, 2.0, 3.0]))
    metric = Scores(f"m{STEERING}", names, np.array([1.0, 3.0, 2.0]))
    paired = match(people, [metric])
    for figure in (
        scatter_plot(paired, outliers=[names[0]]),
        significance_map({f"t{STEERING}": np.full((3, 3), 0.2)}, names),
    ):
        svg = figure_bytes(draw(figure), "svg").decode()
        ElementTree.fromstring(svg)
        assert r"A\x1b]\x00\n\u202e$\x$" in svg


@pytest.mark.slow
def test_names_do_not_cover_each_other() -> None:
    """Also of systems that one metric scores alike, or that people put in one place."""
    pytest.importorskip("adjustText")
    names = tuple(f"system {k}" for k in range(12))
    close = 0.5 + 0.002 * np.arange(12.0)
    people = Scores("p", names, np.array([*close[:11], 1.0]))
    metrics = [Scores("a", names, close[::-1].copy()), Scores("b", names, np.full(12, 0.5))]
    figure = draw(scatter_plot(match(people, metrics)))
    figure.draw_without_rendering()
    for panel in figure.axes:
        boxes = [text.get_window_extent() for text in panel.texts if text.get_text() in names]
        assert len(boxes) == 12
        assert not [(a, b) for a, b in combinations(boxes, 2) if a.overlaps(b)]
        frame = panel.get_window_extent()
        assert all(frame.x0 - 1 < box.x0 and box.x1 < frame.x1 + 1 for box in boxes)


def test_a_map_without_p_values_is_grey() -> None:
    p = np.array([[np.nan, 0.03], [0.97, np.nan]])
    figure = draw(significance_map({"r": p, "ρ": p.T}, ("a", "b")))
    assert [panel.get_title() for panel in figure.axes] == ["r", "ρ"]
    for panel, filled in zip(figure.axes, ((0, 1), (1, 0)), strict=True):
        empty = np.ma.getmaskarray(panel.images[0].get_array())
        assert [tuple(cell) for cell in np.argwhere(~empty).tolist()] == [filled]
        red, green, blue, _ = panel.get_facecolor()
        assert red == green == blue < 0.9


def test_stars_say_that_the_best_metric_leads() -> None:
    levels = tuple(
        SentenceLevel(name, "noties", Estimate(value, value - 0.1, value + 0.1), 0.0, 0.7)
        for name, value in (("c", 0.2), ("a", 0.5), ("b", 0.4), ("d", 0.1))
    )
    contests = tuple(
        AccuracyPair("noties", better, worse, 0.1, 0.0, holm, "bootstrap")
        for better, worse, holm in (("a", "b", 0.2), ("a", "c", 0.03), ("a", "d", 0.0005))
    )
    found = SentenceLevels(levels, ("c", "a", "b", "d"), (), 9.0, "sentences", 0.95, "s")
    left, right = draw(sentence_plot(replace(found, contests=contests))).axes
    assert [tick.get_text() for tick in left.get_yticklabels()] == ["a", "b", "c", "d"]
    assert [tick.get_text() for tick in right.get_yticklabels()] == ["", "", "*", "***"]


def test_ratings_are_drawn_with_the_best_metric_on_top(tmp_path: Path) -> None:
    with sample_file("ratings.csv") as path:
        ratings = path
    run = ("meta", "--sample", "--resamples", 20, "--figure", "ratings=r.svg", "--force")
    done = errata(*run, "--human", ratings, "--level", "sentence", "--json", cwd=tmp_path)
    (rows,) = (
        table["rows"] for table in json.loads(done.stdout)["tables"] if table["name"] == "ratings"
    )
    within = {row["metric"]: row["r"] for row in rows if row["outputs of"] == "one sentence"}
    shown = re.findall(r">(m2|gleu|bleu|imeasure)</text>", (tmp_path / "r.svg").read_text("utf-8"))
    assert shown == sorted(within, key=lambda name: -within[name])
    for more in ((), ("--human", ratings, "--level", "system")):
        refused = errata(*run, *more, cwd=tmp_path, code=2).stderr
        assert "the figure ratings shows agreement with ratings of outputs" in refused


def across(metric: str, systems: tuple[str, ...], corpora: int = 2) -> AcrossCorpora:
    values = np.linspace(0.2, 0.8, len(systems))
    scores = [Scores(metric, systems, np.roll(values, k)) for k in range(corpora)]
    return AcrossCorpora(tuple(f"corpus {k}" for k in range(corpora)), tuple(scores))


def test_every_system_of_a_crowd_is_in_the_legend() -> None:
    names = ("_base", "$x_1$", *(f"system {k}" for k in range(38)))
    figure = draw(corpora_plot([across("m()", names)]))
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


def test_rankings_of_many_sets_and_long_names_stand_apart() -> None:
    names = tuple(f"a-rather-long-name-of-a-system-{k}" for k in range(12))
    values = np.round(np.linspace(0, 1, 12), 1)  # which ties some of them
    columns = {
        f"a-long-name-of-a-set-{k}": Scores("m", names, np.roll(values, k)) for k in range(9)
    }
    figure = draw(slope_graph({"m": columns}))
    figure_bytes(figure, "svg")
    panel = figure.axes[0]
    heads = [label.get_window_extent() for label in panel.get_xticklabels()]
    sides = [text.get_window_extent() for text in panel.texts]
    assert sum(text.get_text().count("\n") + 1 for text in panel.texts) == 24
    for box in (*heads, *sides):
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
    for boxes in (heads, sides):
        assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[k + 1 :])

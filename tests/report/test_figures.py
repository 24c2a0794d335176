"""What every figure is written with."""

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
from errata.data import Scores
from errata.datasets.sample import sample_file
from errata.errors import InputError
from errata.meta.paired import match
from errata.meta.sentences import AccuracyPair, SentenceLevel, SentenceLevels
from errata.numbers import Estimate
from errata.report.figures import FigureForm, figure_bytes, figure_form, new_figure, save_figure
from errata.report.figures.correlations import scatter_plot, sentence_plot, significance_map

STARTS: dict[FigureForm, bytes] = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}


def draw(form: FigureForm) -> bytes:
    figure = new_figure(2, 1)
    figure.subplots().set_title("a title")
    return figure_bytes(figure, form)


@pytest.mark.parametrize("form", STARTS)
def test_the_same_figure_is_the_same_file(
    form: FigureForm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    first = draw(form)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")  # another day
    assert draw(form) == first
    assert first.startswith(STARTS[form])
    figure = new_figure(2, 1)
    figure.subplots().set_title("a title")
    save_figure(figure, str(tmp_path / f"x.{form.upper()}"))
    assert (tmp_path / f"x.{form.upper()}").read_bytes() == first
    if form == "svg":
        assert b">a title</text>" in first


@pytest.mark.parametrize("name", ["x.gif", "svg.", "x", ".svgz", "svg/x"])
def test_other_forms_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"use a name in \.svg, \.png or \.pdf"):
        figure_form(name)


STEERING = "\x1b]\x00\n\u202e"


def test_names_with_control_characters_make_sound_svg(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    names = tuple(f"{name}{STEERING}$\\x$" for name in "ABC")
    people = Scores("p", names, np.array([1.0, 2.0, 3.0]))
    metric = Scores(f"m{STEERING}", names, np.array([1.0, 3.0, 2.0]))
    paired = match(people, [metric])
    for figure in (
        scatter_plot(paired, outliers=[names[0]]),
        significance_map({f"t{STEERING}": np.full((3, 3), 0.2)}, names),
    ):
        svg = figure_bytes(figure, "svg").decode()
        ElementTree.fromstring(svg)
        assert r"A\x1b]\x00\n\u202e$\x$" in svg


def test_names_do_not_cover_each_other() -> None:
    """Also of systems that one metric scores alike, or that people put in one place."""
    pytest.importorskip("matplotlib")
    pytest.importorskip("adjustText")
    names = tuple(f"system {k}" for k in range(12))
    close = 0.5 + 0.002 * np.arange(12.0)
    people = Scores("p", names, np.array([*close[:11], 1.0]))
    metrics = [Scores("a", names, close[::-1].copy()), Scores("b", names, np.full(12, 0.5))]
    figure = scatter_plot(match(people, metrics))
    figure.draw_without_rendering()
    for panel in figure.axes:
        boxes = [text.get_window_extent() for text in panel.texts if text.get_text() in names]
        assert len(boxes) == 12
        assert not [(a, b) for a, b in combinations(boxes, 2) if a.overlaps(b)]
        frame = panel.get_window_extent()
        assert all(frame.x0 - 1 < box.x0 and box.x1 < frame.x1 + 1 for box in boxes)


def test_a_map_without_p_values_is_grey() -> None:
    pytest.importorskip("matplotlib")
    p = np.array([[np.nan, 0.03], [0.97, np.nan]])
    figure = significance_map({"r": p, "ρ": p.T}, ("a", "b"))
    assert [panel.get_title() for panel in figure.axes] == ["r", "ρ"]
    for panel, filled in zip(figure.axes, ((0, 1), (1, 0)), strict=True):
        empty = np.ma.getmaskarray(panel.images[0].get_array())
        assert [tuple(cell) for cell in np.argwhere(~empty).tolist()] == [filled]
        red, green, blue, _ = panel.get_facecolor()
        assert red == green == blue < 0.9


def test_stars_say_that_the_best_metric_leads() -> None:
    pytest.importorskip("matplotlib")
    levels = tuple(
        SentenceLevel(name, "noties", Estimate(value, value - 0.1, value + 0.1), 0.0, 0.7)
        for name, value in (("c", 0.2), ("a", 0.5), ("b", 0.4), ("d", 0.1))
    )
    contests = tuple(
        AccuracyPair("noties", better, worse, 0.1, 0.0, holm, "bootstrap")
        for better, worse, holm in (("a", "b", 0.2), ("a", "c", 0.03), ("a", "d", 0.0005))
    )
    found = SentenceLevels(levels, ("c", "a", "b", "d"), (), 9.0, "sentences", 0.95, "s")
    left, right = sentence_plot(replace(found, contests=contests)).axes
    assert [tick.get_text() for tick in left.get_yticklabels()] == ["a", "b", "c", "d"]
    assert [tick.get_text() for tick in right.get_yticklabels()] == ["", "", "*", "***"]


def test_ranked_names_with_control_characters_make_sound_svg(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    ranking = {"judge": "j", "systems": [f"A{STEERING}", "B"], "ranks": [1, 2]}
    ranks = [{**ranking, "sentence": i} for i in range(9)]
    (tmp_path / "j.jsonl").write_text("\n".join(map(json.dumps, ranks)))
    done = errata("rank", "j.jsonl", "--figure", "r.svg", "--resamples", 20, cwd=tmp_path)
    svg = (tmp_path / "r.svg").read_text()
    ElementTree.fromstring(svg)
    for text in (svg, done.stdout):
        assert r"A\x1b]\x00\n\u202e" in text


def test_ratings_are_drawn_with_the_best_metric_on_top(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
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

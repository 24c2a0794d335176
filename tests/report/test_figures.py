"""What every figure is written with."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from command import errata
from errata.data import Scores
from errata.errors import InputError
from errata.meta.paired import match
from errata.report.figures import FigureForm, figure_bytes, figure_form, new_figure, save_figure
from errata.report.figures.correlations import scatter_plot, significance_map

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
        significance_map(np.full((3, 3), 0.2), names, title=f"t{STEERING}"),
    ):
        svg = figure_bytes(figure, "svg").decode()
        ElementTree.fromstring(svg)
        assert r"A\x1b]\x00\n\u202e$\x$" in svg


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

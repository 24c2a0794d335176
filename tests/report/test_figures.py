"""What every figure is written with."""

from __future__ import annotations

from pathlib import Path

import pytest

from errata.errors import InputError
from errata.report.figures import FigureForm, figure_bytes, figure_form, new_figure, save_figure

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

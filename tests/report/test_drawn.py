"""Every figure, described artist by artist, and every map; kept whole in ``tests/golden/drawn``.

What is drawn changes only when somebody means it to: after a change that is meant,
``python tests/report/test_drawn.py`` writes the files anew, and their difference is read like
code. Figures are described before they are rendered, so that no font and no version of
matplotlib decides; the picture of the heat map is set with letters of one width.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib.resources import files
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock
from xml.etree import ElementTree

import numpy as np
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from command import Done, errata, run
from errata.core.errors import InputError
from errata.core.stats import Estimate
from errata.data import Scores
from errata.datasets.load import sample_file
from errata.meta.matching import match
from errata.meta.sentence_level import AccuracyPair, SentenceLevel, SentenceLevels
from errata.meta.tables import scatter_plot, sentence_plot, significance_map
from errata.plots import Matrix, Panels
from errata.plots.mpl import FigureForm, draw_panels, figure_bytes, figure_form_of_path, save_figure
from printed import alike

if TYPE_CHECKING:
    from matplotlib.figure import Figure

pytest.importorskip("matplotlib")
GOLDEN = Path(__file__).parents[1] / "golden" / "drawn"
WORDS = {
    "QUICK": "--sample --resamples 40 --figure",
    "BARE": "--sample --resamples 0 --figure",
    "MAP": "difficulty --sample --resamples 0 --sentences 24-26 --annotator 0 --figure",
    "SETS": "--set a=annotator:0 --set b=annotator:1 --set both=a+b --curve both",
}
DRAWN = {
    "ranking": "rank QUICK x.svg",
    "ranking-narrow": "rank QUICK x.svg --confidence 0.2",
    "stress": "stress QUICK x.svg m2 gleu",
    "stress-bare": "stress BARE x.svg bleu",
    "scatter": "meta QUICK scatter=x.svg",
    "scatter-without": "meta QUICK scatter=x.svg --outlier noisy -m gleu",
    "significance": "meta QUICK significance=x.svg",
    "sentences": "meta QUICK sentences=x.svg",
    "matrix": "meta QUICK matrix=x.svg --level system",
    "benchmark": "benchmark QUICK pearson=x.svg -m gleu -m m2",
    "benchmark-bare": "benchmark BARE accuracy=x.svg -m gleu -m m2",
    "corpora": "corpora QUICK x.svg -m m2 -m gleu",
    "sets-edits": "references QUICK edits=x.svg SETS",
    "sets-curve": "references QUICK curve=x.svg SETS",
    "sets-correlations": "references QUICK correlations=x.svg SETS",
    "sets-rankings": "references QUICK rankings=x.svg SETS",
    "sets-curves": "references QUICK curve=x.svg --set a=annotator:0,1 --set b=annotator:all"
    " --curve a --curve b -m gleu",
    "groups": "agree --sample --group two=ana,bo --group rest=* --figure x.svg",
    "map": "MAP x.svg",
    "map-concealed": "MAP x.svg --conceal omissions --conceal alarms",
}
PAGES = {"page": "MAP x.html"}
COLOURED = {
    "terminal": "difficulty --sample --terminal --sentences 2-9 --resamples 40",
    "table": "rank --sample --resamples 40 --head-to-head",
    "compared": "score --sample --resamples 40 --compare -m m2 -m gleu",
}


def _run(line: str, *more: str, **given: Any) -> Done:
    return run(" ".join(WORDS.get(word, word) for word in line.split()), *more, **given)


def _figure(line: str, folder: Path) -> str:
    drawn: list[Figure] = []

    def keep(figure: Figure, form: str) -> bytes:
        drawn.append(figure)
        return form.encode()

    with (
        mock.patch("errata.plots.mpl.figure_bytes", keep),
        mock.patch("errata.difficulty.heatmap.figure_bytes", keep),
        mock.patch("errata.plots.mpl._separate_labels"),  # by the size of letters
        mock.patch(
            "errata.difficulty.heatmap._text_width", lambda text, size: len(text) * size / 2
        ),
    ):
        _run(line, "--force", cwd=folder)
    assert (folder / "x.svg").read_bytes() == b"svg" * len(drawn)
    return "\n".join(line for figure in drawn for line in described(figure)) + "\n"


def _page(line: str, folder: Path) -> str:
    _run(line, "--force", cwd=folder)
    text = (folder / "x.html").read_text(encoding="utf-8")
    for ending in ("css", "js"):
        own = files("errata.difficulty").joinpath(f"templates/heatmap.{ending}").read_text("utf-8")
        assert text.count(own) == 1
        text = text.replace(own, f"({ending})\n")
    return re.sub(r"sha256-[\w+/=]+", "sha256-…", text)


def _coloured(line: str, folder: Path) -> str:
    text = _run(line, cwd=folder, terminal=100).stdout
    return re.sub(r"errata:[\w.+]+", "errata:VERSION", text).replace("\x1b", "ESC")


def described(figure: Figure) -> Iterator[str]:
    width, height = figure.get_size_inches()
    layout = figure.get_layout_engine()
    yield f"figure {_numbers((width, height))} {type(layout).__name__}"
    for panel in figure.axes:
        yield f"panel {'on' if panel.axison else 'off'} margins {_numbers(panel.margins())}"
        yield f"  limits {_numbers((*panel.get_xlim(), *panel.get_ylim()))}"
        for what, text in (
            ("title", panel.title),
            ("x", panel.xaxis.label),
            ("y", panel.yaxis.label),
        ):
            yield f"  {what}: {_text(text)}"
        for axis in (panel.xaxis, panel.yaxis):
            if type(axis.get_major_locator()).__name__ == "FixedLocator":  # chosen by us
                ticks = " | ".join(_text(tick.label1) for tick in axis.get_major_ticks())
                yield f"  ticks {_numbers(axis.get_ticklocs())}: {ticks}"
            yield f"    {axis.get_ticks_position()} {_plain(axis.get_tick_params())}"
        shown = [name for name, spine in panel.spines.items() if spine.get_visible()]
        yield f"  spines {' '.join(shown)}"
        yield from (f"  text {_numbers(t.get_position())} {_text(t)}" for t in panel.texts)
        for line in panel.lines:
            data = _numbers((*line.get_xdata(), *line.get_ydata()))
            style = f"{line.get_linestyle()} {_numbers([line.get_linewidth()])}"
            yield f"  line {data} {line.get_color()} {style} {line.get_zorder()}"
        for patch in panel.patches:
            box = _numbers((*patch.get_xy(), patch.get_width(), patch.get_height()))  # type: ignore[attr-defined]
            colours = _numbers((*patch.get_facecolor(), *patch.get_edgecolor()))
            yield f"  box {box} {colours} {patch.get_zorder()}"
        for points in panel.collections:
            yield f"  {type(points).__name__} {points.get_zorder()} {_plain(_collection(points))}"
        for image in panel.images:
            seen = _numbers(np.ma.filled(image.get_array(), np.nan).ravel())
            yield f"  image {seen} {image.get_cmap().name} {_numbers(image.get_clim())}"
            yield f"    where empty {_numbers(panel.get_facecolor())}"  # type: ignore[arg-type]


def _collection(points: Any) -> dict[str, object]:
    found = {"colours": points.get_facecolors(), "edges": points.get_edgecolors()}
    found |= {"at": points.get_offsets(), "widths": points.get_linewidths()}
    if hasattr(points, "get_sizes"):
        found["sizes"] = points.get_sizes()
    if hasattr(points, "get_segments"):
        found["segments"] = [point for segment in points.get_segments() for point in segment]
    return {name: _numbers(_flat(value)) for name, value in found.items()}


def _flat(values: Any) -> Iterable[float]:
    return [number for row in values for number in (row if hasattr(row, "__len__") else [row])]


def _text(text: Any) -> str:
    words = (text.get_color(), text.get_ha(), text.get_va(), text.get_parse_math())
    place = _numbers((text.get_fontsize(), text.get_rotation()))
    offset = f"{_numbers((*text.xy, *text.xyann))} {text.anncoords}" if hasattr(text, "xy") else ""
    return f"{text.get_text()!r} {place} {' '.join(map(str, words))} {offset}".rstrip()


def _numbers(values: Iterable[float]) -> str:
    return " ".join(f"{float(value):.6f}" for value in values)


def _plain(given: Any) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(given.items()))


KINDS = (
    *((name, _figure, arguments) for name, arguments in DRAWN.items()),
    *((name, _page, arguments) for name, arguments in PAGES.items()),
    *((name, _coloured, arguments) for name, arguments in COLOURED.items()),
)


@pytest.mark.parametrize("name", [name for name, _, _ in KINDS])
def test_what_is_drawn_stays(name: str, tmp_path: Path) -> None:
    draw, arguments = next((draw, given) for known, draw, given in KINDS if known == name)
    before = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    now = draw(arguments, tmp_path)
    if not alike(before, now):
        assert now == before, "if this is meant: python tests/report/test_drawn.py"


def test_a_picture_shows_ten_sentences_unless_told(tmp_path: Path) -> None:
    shown = _figure("difficulty --sample --annotator 0 --figure x.svg", tmp_path)
    numbers = re.findall(r"text \S+ \S+ '(\d+)' 6.75", shown)
    assert numbers == [str(number) for number in range(1, 11)]


def test_a_text_is_as_wide_as_its_letters() -> None:
    from errata.difficulty.heatmap import _text_width

    assert _text_width("iii", 9) < _text_width("www", 9)
    assert _text_width("ww", 9) == pytest.approx(2 * _text_width("w", 9), rel=0.02)
    assert _text_width("w", 18) == pytest.approx(2 * _text_width("w", 9), rel=0.02)
    assert _text_width("a b", 9) > _text_width("ab", 9)  # blanks count
    assert _text_width("$x$", 9) > _text_width("xx", 9)  # no formula
    assert 5 < _text_width("w", 9) < 9


def test_no_word_of_a_picture_runs_over_the_margin() -> None:
    """Of a marked word its correction stays on the line, and lines are filled."""
    from errata.data import Corpus, Hypotheses
    from errata.difficulty import heatmap
    from errata.difficulty.heatmap import marked_sentences
    from errata.metrics.difficulty import build_difficulty_map

    source, size = ["a bb ccc dddd eeeee ffffff ggggggg " * 3], 9.0
    gold = Corpus.from_texts(source, [[source[0].replace("ccc", "cc")]])
    found = build_difficulty_map(gold, [Hypotheses("A", tuple(source))])
    right: list[float] = []

    def note(_: object, x: float, y: float, text: str, advance: float, *__: object) -> None:
        right.append(x + advance)

    with (
        mock.patch.object(heatmap, "_text_width", lambda text, size: len(text) * size / 2),
        mock.patch.object(heatmap, "_draw_word", note),
        mock.patch.object(heatmap, "_draw_legend", return_value=0.0),
    ):
        for width in range(150, 400):
            right.clear()
            heatmap._draw_sentences(mock.Mock(), marked_sentences(found), width, size, alarms=True)
            assert max(right) <= width - size
            assert max(right) > width - size - 12 * size / 2


STARTS: dict[FigureForm, bytes] = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}


TITLED = Panels([Matrix(("a", "b"), np.eye(2), "a title")], width=2, height=2)


def drawn(form: FigureForm) -> bytes:
    return figure_bytes(draw_panels(TITLED), form)


@pytest.mark.parametrize("form", STARTS)
def test_figure_bytes(form: FigureForm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
            figure_form_of_path(name)


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
        svg = figure_bytes(draw_panels(figure), "svg").decode()
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
    figure = draw_panels(scatter_plot(match(people, metrics)))
    figure.draw_without_rendering()
    for panel in figure.axes:
        boxes = [text.get_window_extent() for text in panel.texts if text.get_text() in names]
        assert len(boxes) == 12
        assert not [(a, b) for a, b in combinations(boxes, 2) if a.overlaps(b)]
        frame = panel.get_window_extent()
        assert all(frame.x0 - 1 < box.x0 and box.x1 < frame.x1 + 1 for box in boxes)


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
    left, right = draw_panels(sentence_plot(replace(found, contests=contests))).axes
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


def _write() -> None:
    import tempfile

    GOLDEN.mkdir(exist_ok=True, parents=True)
    for file in GOLDEN.glob("*.txt"):
        file.unlink()
    with tempfile.TemporaryDirectory() as place:
        for name, draw, arguments in KINDS:
            (GOLDEN / f"{name}.txt").write_text(draw(arguments, Path(place)), encoding="utf-8")


if __name__ == "__main__":
    _write()

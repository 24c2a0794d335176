"""Every figure, described artist by artist, and every map; kept whole in ``tests/golden/drawn``.

What is drawn changes only when somebody means it to: after a change that is meant,
``python tests/report/test_drawn.py`` writes the files anew, and their difference is read like
code. Figures are described before they are rendered, so that no font and no version of
matplotlib decides; the picture of the heat map is set with letters of one width.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from command import errata
from printed import alike

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GOLDEN = Path(__file__).parents[1] / "golden" / "drawn"
QUICK = ("--resamples", 40)
DIFFICULTY = ("difficulty", "--sample", "--resamples", 0, "--sentences", "24-26", "--figure")
DRAWN: dict[str, tuple[object, ...]] = {
    "ranking": ("rank", "--sample", *QUICK, "--figure", "x.svg"),
    "ranking-narrow": ("rank", "--sample", *QUICK, "--confidence", 0.2, "--figure", "x.svg"),
    "stress": ("stress", "--sample", "m2", "gleu", *QUICK, "--figure", "x.svg"),
    "stress-bare": ("stress", "--sample", "bleu", "--resamples", 0, "--figure", "x.svg"),
    "scatter": ("meta", "--sample", *QUICK, "--figure", "scatter=x.svg"),
    "scatter-without": (
        *("meta", "--sample", *QUICK, "--figure", "scatter=x.svg"),
        *("--outlier", "noisy", "-m", "gleu"),
    ),
    "significance": ("meta", "--sample", *QUICK, "--figure", "significance=x.svg"),
    "sentences": ("meta", "--sample", *QUICK, "--figure", "sentences=x.svg"),
    "matrix": ("meta", "--sample", *QUICK, "--figure", "matrix=x.svg", "--level", "system"),
    "benchmark": (
        *("benchmark", "--sample", *QUICK, "-m", "gleu", "-m", "m2"),
        *("--figure", "pearson=x.svg"),
    ),
    "benchmark-bare": (
        *("benchmark", "--sample", "--resamples", 0, "-m", "gleu", "-m", "m2"),
        *("--figure", "accuracy=x.svg"),
    ),
    "corpora": ("corpora", "--sample", *QUICK, "-m", "m2", "-m", "gleu", "--figure", "x.svg"),
    **{
        f"sets-{kind}": (
            *("references", "--sample", *QUICK, "--set", "a=annotator:0", "--set", "b=annotator:1"),
            *("--set", "both=a+b", "--curve", "both", "--figure", f"{kind}=x.svg"),
        )
        for kind in ("edits", "curve", "correlations", "rankings")
    },
    "sets-curves": (
        *("references", "--sample", *QUICK, "--set", "a=annotator:0,1", "--set", "b=annotator:all"),
        *("--curve", "a", "--curve", "b", "--figure", "curve=x.svg", "-m", "gleu"),
    ),
    "groups": (
        *("agree", "--sample", "--group", "two=ana,bo", "--group", "rest=*", "--figure", "x.svg"),
    ),
    "map": (*DIFFICULTY, "x.svg", "--annotator", 0),
    "map-concealed": (
        *(*DIFFICULTY, "x.svg", "--annotator", 0),
        *("--conceal", "omissions", "--conceal", "alarms"),
    ),
}
PAGES: dict[str, tuple[object, ...]] = {"page": (*DIFFICULTY, "x.html", "--annotator", 0)}
COLOURED: dict[str, tuple[object, ...]] = {
    "terminal": ("difficulty", "--sample", "--terminal", "--sentences", "2-9", *QUICK),
    "table": ("rank", "--sample", *QUICK, "--head-to-head"),
    "compared": ("score", "--sample", *QUICK, "--compare", "-m", "m2", "-m", "gleu"),
}


def _figure(arguments: tuple[object, ...], folder: Path) -> str:
    """What a command draws, in words."""
    drawn: list[Figure] = []

    def keep(figure: Figure, form: str) -> bytes:
        drawn.append(figure)
        return form.encode()

    with (
        mock.patch("errata.plots.mpl.figure_bytes", keep),
        mock.patch("errata.difficulty.heatmap.figure_bytes", keep),
        mock.patch("errata.plots.mpl._push_apart"),  # by the size of letters
        mock.patch("errata.difficulty.heatmap._width", lambda text, size: len(text) * size / 2),
    ):
        errata(*arguments, "--force", cwd=folder)
    assert (folder / "x.svg").read_bytes() == b"svg" * len(drawn)
    return "\n".join(line for figure in drawn for line in described(figure)) + "\n"


def _page(arguments: tuple[object, ...], folder: Path) -> str:
    """A page without its style sheet and its script, which are files of their own."""
    errata(*arguments, "--force", cwd=folder)
    text = (folder / "x.html").read_text(encoding="utf-8")
    for ending in ("css", "js"):
        own = files("errata.difficulty").joinpath(f"templates/heatmap.{ending}").read_text("utf-8")
        assert text.count(own) == 1
        text = text.replace(own, f"({ending})\n")
    return re.sub(r"sha256-[\w+/=]+", "sha256-…", text)


def _coloured(arguments: tuple[object, ...], folder: Path) -> str:
    text = errata(*arguments, cwd=folder, terminal=100).stdout
    return re.sub(r"errata:[\w.+]+", "errata:VERSION", text).replace("\x1b", "ESC")


def described(figure: Figure) -> Iterator[str]:
    """Whatever decides what a figure shows."""
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
    pytest.importorskip("matplotlib")
    draw, arguments = next((draw, given) for known, draw, given in KINDS if known == name)
    before = (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    now = draw(arguments, tmp_path)
    if not alike(before, now):
        assert now == before, "if this is meant: python tests/report/test_drawn.py"


def test_a_picture_shows_ten_sentences_unless_told(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    shown = _figure(("difficulty", "--sample", "--annotator", 0, "--figure", "x.svg"), tmp_path)
    numbers = re.findall(r"text \S+ \S+ '(\d+)' 6.75", shown)
    assert numbers == [str(number) for number in range(1, 11)]


def test_a_text_is_as_wide_as_its_letters() -> None:
    pytest.importorskip("matplotlib")
    from errata.difficulty.heatmap import _width

    assert _width("iii", 9) < _width("www", 9)
    assert _width("ww", 9) == pytest.approx(2 * _width("w", 9), rel=0.02)
    assert _width("w", 18) == pytest.approx(2 * _width("w", 9), rel=0.02)
    assert _width("a b", 9) > _width("ab", 9)  # blanks count
    assert _width("$x$", 9) > _width("xx", 9)  # no formula
    assert 5 < _width("w", 9) < 9


def test_no_word_of_a_picture_runs_over_the_margin() -> None:
    """Of a marked word its correction stays on the line, and lines are filled."""
    pytest.importorskip("matplotlib")
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
        mock.patch.object(heatmap, "_width", lambda text, size: len(text) * size / 2),
        mock.patch.object(heatmap, "_word", note),
        mock.patch.object(heatmap, "_draw_legend", return_value=0.0),
    ):
        for width in range(150, 400):
            right.clear()
            heatmap._draw(mock.Mock(), marked_sentences(found), width, size, alarms=True)
            assert max(right) <= width - size
            assert max(right) > width - size - 12 * size / 2


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

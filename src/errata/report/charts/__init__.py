"""Charts as SVG texts, drawn without a library.

A report has five kinds of chart, each a few dozen lines. A library in the page would be many times
as large as all of them, would need a policy that lets it run, and would print nothing where scripts
are off; one in Python would bring fonts and colours that do not follow the page into the dark. Here
every colour is a class (``page/chart.css``), every chart has a title and a description for those
who hear it, and what is drawn is text that can be searched and saved.
"""

from __future__ import annotations

from errata.report.charts.drawing import Chart, chart_html
from errata.report.charts.forest import ForestRow, forest_plot
from errata.report.charts.points import PlacedSystem, scatter_chart
from errata.report.charts.spreads import Spread, spread_chart
from errata.report.charts.squares import square_chart
from errata.report.charts.trend import Track, trend_chart

__all__ = [
    "Chart",
    "ForestRow",
    "PlacedSystem",
    "Spread",
    "Track",
    "chart_html",
    "forest_plot",
    "scatter_chart",
    "spread_chart",
    "square_chart",
    "trend_chart",
]

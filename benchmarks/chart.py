"""The chart of a run: times on a logarithmic scale, as an SVG that reads on light and dark pages."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from benchmarks.engines import ENGINES

_PANELS = ("warm-20x5000", "warm-100000", "add-10000")
_LIMITS = {"numpy": "bare numpy product", "apsw": "bare SQLite"}

_PERFECT = 0.9995

_WIDTH, _LEFT, _RIGHT = 860, 198, 130
_TOP, _BAR, _PITCH, _HEAD, _GAP, _FOOT = 70, 12, 20, 28, 18, 74

_STYLE = """
    text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #24292f }
    .title { font-size: 17px; font-weight: 600 }
    .row { font-weight: 600 }
    .note, .tick, .value { font-size: 11px; fill: #57606a }
    .grid { stroke: #d0d7de; stroke-width: 1 }
    .peer { fill: #8c959f }
    .limit { fill: none; stroke: #8c959f; stroke-dasharray: 3 2 }
    .own { fill: #0969da }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 }
      .note, .tick, .value { fill: #9198a1 }
      .grid { stroke: #3d444d }
      .peer { fill: #6e7681 }
      .limit { stroke: #9198a1 }
      .own { fill: #4493f8 }
    }
"""


class Bar(NamedTuple):
    """One engine in one row; `kind` is the class of the bar: own, peer or limit."""

    title: str
    milliseconds: float
    kind: str
    recall: float | None = None


class Panel(NamedTuple):
    """The bars of one row, fastest first."""

    title: str
    bars: list[Bar]


class Scale(NamedTuple):
    """Powers of ten of a millisecond, from the left edge to the right."""

    lowest: int
    highest: int

    def x(self, milliseconds: float) -> float:
        share = (math.log10(milliseconds) - self.lowest) / (self.highest - self.lowest)
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)


def draw(document: Mapping[str, Any], path: Path) -> None:
    """Write the chart; a run without any of its rows has none."""
    if panels := [panel for name in _PANELS if (panel := _panel(document["rows"].get(name)))]:
        path.write_text(render(panels, _footer(document)))


def render(panels: list[Panel], footer: list[str]) -> str:
    """Return the SVG of these panels, with lines of small print below."""
    heights = [_HEAD + _PITCH * len(panel.bars) for panel in panels]
    bottom = _TOP + sum(heights) + _GAP * (len(panels) - 1)
    height = bottom + _FOOT
    scale = _scale([bar.milliseconds for panel in panels for bar in panel.bars])
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">',
            "  <title>Times of vectormem and its peers</title>",
            f"  <style>{_STYLE}  </style>",
            _text(16, 30, "Time of one operation, shorter is better", "title"),
            *_ticks(scale),
            *_panels(panels, heights, scale),
            *(_text(16, bottom + 26 + 16 * line, words, "note") for line, words in enumerate(footer)),
            "</svg>\n",
        ]
    )


def _panel(row: Mapping[str, Any] | None) -> Panel | None:
    bars = [bar for name, figures in (row or {"engines": {}})["engines"].items() for bar in _bars(name, figures)]
    return Panel(row["work"], sorted(bars, key=lambda bar: bar.milliseconds)) if row and bars else None


def _bars(name: str, figures: Mapping[str, Any]) -> Iterator[Bar]:
    if "median_ms" not in figures:
        return
    spec = ENGINES[name]
    yield Bar(spec.title, figures["median_ms"], "own" if spec.is_vectormem else "peer", figures.get("recall@10"))
    for limit, title in _LIMITS.items():
        if limit in figures and name == "vectormem":
            yield Bar(title, figures[limit]["median_ms"], "limit")


def _scale(times: list[float]) -> Scale:
    lowest = math.floor(math.log10(min(times)) - 0.1)
    return Scale(lowest, max(lowest + 1, math.ceil(math.log10(max(times)))))


def _ticks(scale: Scale) -> Iterator[str]:
    for power in range(scale.lowest, scale.highest + 1):
        yield _text(scale.x(10.0**power), _TOP - 16, _duration(10.0**power), "tick", "middle")


def _panels(panels: list[Panel], heights: list[int], scale: Scale) -> Iterator[str]:
    top = _TOP
    for panel, height in zip(panels, heights, strict=True):
        yield _text(16, top + 14, panel.title, "row")
        for power in range(scale.lowest, scale.highest + 1):
            x = scale.x(10.0**power)
            yield f'  <line class="grid" x1="{x:.1f}" y1="{top + _HEAD - 6}" x2="{x:.1f}" y2="{top + height}"/>'
        for number, bar in enumerate(panel.bars):
            yield from _bar(bar, top + _HEAD + number * _PITCH, scale)
        top += height + _GAP


def _bar(bar: Bar, top: int, scale: Scale) -> Iterator[str]:
    left, right = scale.x(10.0**scale.lowest), scale.x(bar.milliseconds)
    recall = "" if bar.recall is None or bar.recall >= _PERFECT else f", recall {bar.recall:.3f}"
    yield _text(_LEFT - 8, top + 11, bar.title, "row" if bar.kind == "own" else "", "end")
    yield f'  <rect class="{bar.kind}" x="{left:.1f}" y="{top}" width="{right - left:.1f}" height="{_BAR}" rx="2"/>'
    yield _text(right + 6, top + 11, _duration(bar.milliseconds) + recall, "value")


def _text(x: float, y: float, words: str, style: str, anchor: str = "start") -> str:
    return f'  <text x="{x:.1f}" y="{y:.1f}" class="{style}" text-anchor="{anchor}">{escape(words)}</text>'


def _duration(milliseconds: float) -> str:
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.3g} s"
    return f"{milliseconds:.2g} ms" if milliseconds < 100 else f"{milliseconds:.0f} ms"


def _footer(document: Mapping[str, Any]) -> list[str]:
    machine, settings = document["machine"], document["settings"]
    scaled = "" if settings["scale"] == 1 else f", every size scaled by {settings['scale']}"
    return [
        f"Vectors: {settings['vectors']}{scaled}. Logarithmic scale, medians; the embedder costs nothing.",
        "Recall is of the ten nearest, against exact search; it is 1.000 where none is given.",
        f"{machine['cpu']}, {machine['os']}, Python {machine['python']}, {document['date'][:10]}.",
    ]

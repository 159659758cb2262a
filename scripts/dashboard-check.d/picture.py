#!/usr/bin/env python3
"""Draws a dashboard from the answers that queries.py has recorded, as SVG.

    picture.py ANSWERS >dashboard.svg

Panels lie where the dashboard's gridPos says; panels that have no series are left out. A guest has one colour in all panels.
"""
import json
import math
import re
import sys
from html import escape

WIDTH, MARGIN, GAP, TOP, COLUMNS, ROW = 960, 10, 8, 50, 24, 22
LEFT, RIGHT, HEAD, TICKS, LINE = 68, 22, 30, 18, 16  # of a panel: around its plot, of a line of its legend
PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5c5c5c"]
MOST_NAMES = 6  # with more series in a panel, those that are always 0 share one entry of the legend
STYLE = """svg text { font-size: 11px; fill: #1d2329; }
svg text.head { font-size: 16px; font-weight: 600; }
svg text.title { font-size: 12.5px; font-weight: 600; }
svg text.tick { fill: #5b6670; }
svg text.stat { font-size: 30px; font-weight: 600; }
svg text.end { text-anchor: end; }
svg text.middle { text-anchor: middle; }
svg .panel { fill: white; stroke: #d5dbe1; }
svg .grid { stroke: #e4e8ec; }
svg .axis { stroke: #8b959e; }
svg .line { fill: none; stroke-width: 1.6; stroke-linejoin: round; }
"""


def number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".")


def place(value):
    return f"{value:.1f}".rstrip("0").rstrip(".")


def wide(text):
    """The width of a text of 11 px, which no sans-serif font exceeds by much."""
    return 6.4 * len(text)


def text(x, y, what, kind=""):
    return f'<text x="{number(x)}" y="{number(y)}" class="{kind}">{escape(what)}</text>'


def shown(value, unit, decimals=None):
    if unit == "percentunit":
        return f"{number(value * 100)} %"
    if unit == "bytes":
        for name in ("B", "KiB", "MiB", "GiB"):
            if abs(value) < 1024 or name == "GiB":
                return f"{number(value)} {name}"
            value /= 1024
    suffix = {"short": "{}", "Bps": " {}B/s", "ops": "{} ops/s", "cps": "{}/s"}[unit]
    if decimals == 0:
        value = round(value)
    for prefix in ("", "k", "M", "G"):
        if abs(value) < 1000 or prefix == "G":
            return number(value) + suffix.format(prefix)
        value /= 1000


def ticks(most, unit, decimals):
    """Round values from 0 to one that is not below the largest, at most six."""
    if most <= 0:
        most = 1.0
    base = 1024 if unit == "bytes" else 1000
    factor = base ** max(0, math.floor(math.log(most, base))) if most >= 1 else 1
    if unit == "bytes":
        steps = [factor * 2**power for power in range(-4, 11)]
    else:
        exponent = math.floor(math.log10(most))
        steps = [m * 10.0**e for e in (exponent - 1, exponent) for m in (1, 2, 2.5, 5)]
    if decimals == 0:
        steps = [step for step in steps if step >= 1] or [1]
    step = next((s for s in steps if most / s <= 5), steps[-1])
    return [step * i for i in range(math.ceil(most / step - 1e-9) + 1)]


class Colours:
    def __init__(self, panels):
        found = {one["labels"]["guest"] for p in panels for t in p["targets"] for one in t["series"] if "guest" in one["labels"]}
        self.guests = {guest: PALETTE[i % len(PALETTE)] for i, guest in enumerate(sorted(found))}

    def of(self, series):
        """A colour for each series of a panel: its guest's, or the next one for whatever else tells it apart."""
        others, colours = {}, []
        for one in series:
            key = one["labels"].get("guest")
            if key is None:
                key = str(sorted(one["labels"].items())) if one["labels"] else one["name"]
                others.setdefault(key, PALETTE[(len(self.guests) + len(others)) % len(PALETTE)])
            colours.append(self.guests.get(key) or others[key])
        return colours


def threshold_colour(steps, value):
    colour = [step["color"] for step in steps if step["value"] is None or value >= step["value"]][-1]
    return {"green": "#00734f", "red": "#b3261e"}[colour]


def stat(panel, width, height):
    defaults = panel["fieldConfig"]["defaults"]
    values = [(one["name"], one["values"][-1][1]) for target in panel["targets"] for one in target["series"]]
    for i, (name, value) in enumerate(values):
        x = width * (i + 0.5) / len(values)
        colour = threshold_colour(defaults["thresholds"]["steps"], value)
        what = shown(value, defaults["unit"], defaults.get("decimals"))
        yield f'<text x="{number(x)}" y="{height - 24}" class="stat middle" style="fill:{colour}">{escape(what)}</text>'
        if len(values) > 1:
            yield text(x, height - 8, name, "tick middle")


def dashed(panel, ref):
    return any(
        override["matcher"] == {"id": "byFrameRefID", "options": ref}
        and any(p["id"] == "custom.lineStyle" and p["value"]["fill"] == "dash" for p in override["properties"])
        for override in panel["fieldConfig"]["overrides"]
    )


def legend(entries, width):
    """Rows of (x, entry), which wrap at the width."""
    rows, x = [[]], LEFT
    for entry in entries:
        wants = 24 + wide(entry[0]) + 10
        if rows[-1] and x + wants > width:
            rows.append([])
            x = LEFT
        rows[-1].append((x, entry))
        x += wants
    return rows


def stacked(series, times):
    """The lower and upper edge of each series at each time; a series that is not there counts as 0."""
    below, edges = [0.0] * len(times), []
    for one in series:
        values = dict(one["values"])
        above = [low + values.get(at, 0.0) for low, at in zip(below, times)]
        edges.append((below, above))
        below = above
    return edges


def runs(points, step):
    """Splits points where there is none for longer than a step."""
    run = []
    for point in points:
        if run and point[0] - run[-1][0] > 1.5 * step:
            yield run
            run = []
        run.append(point)
    if run:
        yield run


def path(points):
    return "M" + "L".join(f"{place(x)} {place(y)}" for x, y in points)


def timeseries(panel, width, height, span, colours):
    defaults = panel["fieldConfig"]["defaults"]
    custom, unit, decimals = defaults["custom"], defaults["unit"], defaults.get("decimals")
    series = [{**one, "dash": dashed(panel, t["refId"])} for t in panel["targets"] for one in t["series"]]
    still = [one for one in series if not any(value for _, value in one["values"])]
    if len(series) > MOST_NAMES:
        series = [one for one in series if one not in still]
    else:
        still = []
    of = colours.of(series)
    entries = [(one["name"], colour, one["dash"]) for one, colour in zip(series, of)]
    if still:
        entries.append((f"{len(still)} others, always 0", None, False))
    rows = legend(entries, width)
    bottom = height - TICKS - LINE * len(rows) - 6
    times = sorted({at for one in series for at, _ in one["values"]})
    stacking = custom["stacking"]["mode"] == "normal"
    edges = stacked(series, times) if stacking else []
    most = max([value for _, above in edges for value in above] or [value for one in series for _, value in one["values"]])
    marks = ticks(max(most, custom.get("axisSoftMax", 0)), unit, decimals)

    def at_x(at):
        return LEFT + (at - span[0]) / (span[1] - span[0]) * (width - LEFT - RIGHT)

    def at_y(value):
        return bottom - value / marks[-1] * (bottom - HEAD - 6)

    for mark in marks:
        y = number(at_y(mark))
        yield f'<line x1="{LEFT}" x2="{width - RIGHT:g}" y1="{y}" y2="{y}" class="{"grid" if mark else "axis"}"/>'
        yield text(LEFT - 7, at_y(mark) + 4, shown(mark, unit, decimals), "tick end")
    every = next(s for s in (10, 15, 30, 60, 120, 300, 600, 1200, 3600) if (span[1] - span[0]) / s <= 6)
    for after in range(0, span[1] - span[0] + 1, every):
        yield text(at_x(span[0] + after), bottom + 15, f"{after // 60}:{after % 60:02}", "tick middle")
    if custom.get("thresholdsStyle", {}).get("mode") == "dashed":
        for step in defaults["thresholds"]["steps"]:
            if step["value"] is not None:
                y = number(at_y(step["value"]))
                yield f'<line x1="{LEFT}" x2="{width - RIGHT:g}" y1="{y}" y2="{y}" stroke="#b3261e" stroke-dasharray="2 3"/>'
    if stacking:
        for (low, high), colour in zip(edges, of):
            outline = [(at_x(at), at_y(v)) for at, v in zip(times, high)] + [(at_x(at), at_y(v)) for at, v in zip(times, low)][::-1]
            yield f'<path d="{path(outline)}Z" fill="{colour}" fill-opacity="{custom["fillOpacity"] / 100}"/>'
    for i, (one, colour) in reversed(list(enumerate(zip(series, of)))):  # one that is 0 hides none that is stacked below it
        points = one["values"]
        if stacking:
            there = {at for at, _ in points}
            points = [(at, value) for at, value in zip(times, edges[i][1]) if at in there]
        dash = ' stroke-dasharray="6 4"' if one["dash"] else ""
        for run in runs(points, times[1] - times[0] if len(times) > 1 else 1):
            yield f'<path d="{path([(at_x(at), at_y(v)) for at, v in run])}" class="line" stroke="{colour}"{dash}/>'
    for i, row in enumerate(rows):
        y = bottom + TICKS + LINE * (i + 1) - 4
        for x, (name, colour, dash) in row:
            style = ' stroke-dasharray="6 3"' if dash else ""
            if colour:
                yield f'<line x1="{number(x)}" x2="{number(x + 18)}" y1="{y - 4}" y2="{y - 4}" stroke="{colour}" stroke-width="2.5"{style}/>'
            yield text(x + (24 if colour else 0), y, name, "" if colour else "tick")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1]) as file:
        answers = json.load(file)
    panels = [p for p in answers["panels"] if any(t["series"] for t in p["targets"])]
    span, colours = answers["span"], Colours(panels)
    cell = (WIDTH - 2 * MARGIN + GAP) / COLUMNS
    height = TOP + max(p["gridPos"]["y"] + p["gridPos"]["h"] for p in panels) * ROW - GAP + MARGIN
    version = re.sub(r"\+.*", "", answers["prometheus"])
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">')
    print(f"<title>{escape(answers['title'])}</title><style>{STYLE}</style>")
    print('<rect width="100%" height="100%" fill="#f4f6f8"/>')
    print(text(MARGIN + 2, 22, answers["title"], "head"))
    print(text(MARGIN + 2, 39, f"Queries evaluated by Prometheus {version}; drawn by scripts/dashboard-check, not by Grafana", "tick"))
    for panel in panels:
        grid = panel["gridPos"]
        wide_, high = grid["w"] * cell - GAP, grid["h"] * ROW - GAP
        print(f'<g transform="translate({number(MARGIN + grid["x"] * cell)},{TOP + grid["y"] * ROW})">')
        print(f'<rect width="{number(wide_)}" height="{high}" rx="3" class="panel"/>')
        print(text(12, 20, panel["title"], "title"))
        parts = stat(panel, wide_, high) if panel["type"] == "stat" else timeseries(panel, wide_, high, span, colours)
        print("".join(parts) + "</g>")
    print("</svg>")


main()

#!/usr/bin/env python3
"""Draws the figures of a report from their data, with matplotlib (Debian: apt install python3-matplotlib).

usage: plot.py [--format FORMAT] [--output FOLDER] [FIGURE...]

  plot.py                                     draws all figures as PDF into the folder drawn
  plot.py --format svg figure-01-overview     draws one figure as SVG

Reads figures.json and FIGURE.csv of the folder that this file is in. Graft writes this file again with each report:
change a copy of it.
"""
import argparse
import csv
import json
import os
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
CAPTION_WIDTH = {True: 110, False: 62}  # characters, of wide figures and of narrow ones
MARKERS = ["o", "s", "^", "D"]


def read(figure):
    with open(os.path.join(HERE, figure["file"] + ".csv"), newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def number(text):
    return float(text) if text else None


def margins(rows, column):
    """The distances from each value to the ends of its interval; zero where there is no interval."""
    values = [float(row[column]) for row in rows]
    lows = [number(row["low"]) for row in rows]
    highs = [number(row["high"]) for row in rows]
    return [
        [0 if low is None else max(0, value - low) for value, low in zip(values, lows)],
        [0 if high is None else max(0, high - value) for value, high in zip(values, highs)],
    ]


def size(value):
    for factor, unit in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if value >= factor and value % factor == 0:
            return "%d %s" % (value // factor, unit)
    return "%g" % value


def curves(axes, figure, rows):
    places = sorted({float(row["x"]) for row in rows})
    for name in figure["names"]:
        mine = [row for row in rows if row["setting"] == name["name"]]
        axes.errorbar(
            [places.index(float(row["x"])) for row in mine],
            [float(row["y"]) for row in mine],
            yerr=margins(mine, "y"),
            label=name["name"],
            color=name["colour"],
            marker=MARKERS[name["marker"]],
            capsize=2,
        )
    every = -(-len(places) // 7)
    ticks = [i for i in range(len(places)) if (len(places) - 1 - i) % every == 0]
    axes.set_xticks(ticks, [size(places[i]) if "bytes" in figure["x"] else "%g" % places[i] for i in ticks])
    if figure["logarithmic"]:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)


def places_of(rows, group):
    """A place on the vertical axis for each bar, groups apart from each other, and the middles of the groups."""
    bars, middles, place = {}, {}, 0.0
    for name in dict.fromkeys(row[group] for row in rows):
        settings = list(dict.fromkeys(row["setting"] for row in rows if row[group] == name))
        middles[name] = place + (len(settings) - 1) / 2
        for setting in settings:
            bars[name, setting] = place
            place += 1
        place += 0.7
    return bars, middles


def overheads(axes, figure, rows):
    bars, middles = places_of(rows, "row")
    for name in figure["names"]:
        mine = [row for row in rows if row["setting"] == name["name"]]
        ratios = [float(row["ratio"]) for row in mine]
        axes.barh(
            [bars[row["row"], row["setting"]] for row in mine],
            [ratio - 1 for ratio in ratios],
            left=1,
            height=0.85,
            xerr=margins(mine, "ratio"),
            error_kw={"elinewidth": 0.8, "capsize": 1.5},
            label=name["name"],
            color=name["colour"],
        )
    axes.axvline(1, color="black", linewidth=1)
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    fine = [0.25, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.5, 2, 3, 5]
    coarse = [part * 10.0**power for power in range(-3, 5) for part in ((1, 2, 5) if high / low < 100 else (1,))]
    ticks = [tick for tick in (fine if high / low < 5 else coarse) if low <= tick <= high]
    axes.set_xticks(ticks, ["%g×" % tick for tick in ticks])
    axes.minorticks_off()
    axes.set_yticks(list(middles.values()), list(middles))
    axes.invert_yaxis()


def stack(axes, figure, rows):
    bars, _ = places_of(rows, "case")
    before = dict.fromkeys(bars, 0.0)
    for name in figure["names"]:
        mine = [row for row in rows if row["part"] == name["name"]]
        keys = [(row["case"], row["setting"]) for row in mine]
        axes.barh(
            [bars[key] for key in keys],
            [float(row["ms"]) for row in mine],
            left=[before[key] for key in keys],
            height=0.85,
            xerr=margins(mine, "ms"),
            error_kw={"elinewidth": 0.8, "capsize": 1.5},
            label=name["name"],
            color=name["colour"],
        )
        for key, row in zip(keys, mine):
            before[key] += float(row["ms"])
    for row in rows:
        if row["flag"]:
            key = row["case"], row["setting"]
            axes.text(before[key], bars[key], "  " + row["flag"], va="center", fontsize=7, color="#b3261e")
    axes.set_yticks(list(bars.values()), ["%s  %s" % key for key in bars])
    axes.invert_yaxis()


KINDS = {"curves": curves, "overheads": overheads, "stack": stack}


def draw(pyplot, figure, file):
    rows = read(figure)
    wide = figure["kind"] != "curves"
    bars = len({(row.get("row") or row.get("case"), row["setting"]) for row in rows})
    drawing, axes = pyplot.subplots(figsize=(7.2, max(2.0, 1.2 + 0.17 * bars)) if wide else (4.2, 3.2))
    KINDS[figure["kind"]](axes, figure, rows)
    axes.set_xlabel(figure["x"])
    axes.set_ylabel(figure["y"])
    axes.grid(True, axis="x" if wide else "y", linewidth=0.4)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8)
    axes.legend(fontsize=7)
    caption = "Figure %s. %s. %s" % (figure["number"], figure["title"], figure["caption"])
    wrapped = "\n".join(textwrap.wrap(caption.strip(), CAPTION_WIDTH[wide]))
    drawing.text(0.01, 0, wrapped.replace("$", r"\$"), fontsize=8, va="top", ha="left")
    drawing.tight_layout()
    drawing.savefig(file, bbox_inches="tight")
    pyplot.close(drawing)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS
    )
    parser.add_argument("--format", default="pdf", choices=["pdf", "svg", "png"])
    parser.add_argument("--output", default=os.path.join(HERE, "drawn"))
    parser.add_argument("figures", nargs="*", metavar="FIGURE")
    options = parser.parse_args()
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError as error:
        sys.exit("plot.py: %s; on Debian: apt install python3-matplotlib" % error)
    with open(os.path.join(HERE, "figures.json"), encoding="utf-8") as file:
        known = {figure["file"]: figure for figure in json.load(file)["figures"]}
    for name in options.figures:
        if name not in known:
            sys.exit("plot.py: no figure %s; there are: %s" % (name, ", ".join(known)))
    os.makedirs(options.output, exist_ok=True)
    for name in options.figures or known:
        draw(pyplot, known[name], os.path.join(options.output, name + "." + options.format))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Reads gpu-check's results folder and prints the tables: table.py FOLDER."""
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
ways = [w for w in ("native", "shm", "unix", "tcp") if (folder / w).is_dir()]


def figures(way):
    rows = {}
    try:
        for line in (folder / way / "remoting.tsv").read_text().splitlines():
            name, size, value, unit = line.split("\t")
            rows[name, int(size)] = float(value), unit
    except OSError:
        pass
    return rows


def size_text(size):
    for unit, bytes_ in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= bytes_:
            return f"{size // bytes_} {unit}"
    return "" if not size else str(size)


def ratio(value, native, unit):
    if not native or not value:
        return ""
    return f"{value / native:.2f}"


data = {w: figures(w) for w in ways}
native = data.get("native", {})
print("## Bridge: ratio to native in the same run (rates: higher is better; times: lower is better)\n")
print("| figure | size | unit | native | " + " | ".join(f"{w} | ratio" for w in ways if w != "native") + " |")
print("|---|---|---|---|" + "---|---|" * (len(ways) - 1))
for key in native or next(iter(data.values()), {}):
    n = native.get(key, (0, ""))
    cells = []
    for w in ways:
        if w == "native":
            continue
        v = data[w].get(key)
        cells += [f"{v[0]:.4g}", ratio(v[0], n[0], n[1])] if v else ["-", ""]
    print(f"| {key[0]} | {size_text(key[1])} | {n[1]} | {n[0]:.4g} | " + " | ".join(cells) + " |")

print("\n## Programs: seconds, ratio to native, and whether the result is the same\n")
print("| program | " + " | ".join(ways) + " | same result |")
print("|---|" + "---|" * (len(ways) + 1))
names = []
for w in ways:
    for f in sorted((folder / w).glob("*.json")):
        if f.stem not in names:
            names.append(f.stem)
for name in names:
    cells, results = [], []
    base = None
    for w in ways:
        f = folder / w / f"{name}.json"
        try:
            d = json.loads(f.read_text().strip().splitlines()[-1])
        except (OSError, ValueError, IndexError):
            cells.append("failed" if f.exists() else "-")
            if f.exists():
                results.append(None)
            continue
        results.append(json.dumps(d.get("result")))
        s = d.get("seconds")
        if w == "native":
            base = s
        cells.append("ok" if s is None else f"{s * 1e3:.2f} ms" + (f" ({s / base:.2f})" if base and w != "native" else ""))
    same = "yes" if len(set(results)) == 1 and results[0] is not None else "NO"
    print(f"| {name} | " + " | ".join(cells) + f" | {same} |")

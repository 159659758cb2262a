#!/usr/bin/env python3
"""Reads gpu-check's results folder and prints the table of the programs: table.py FOLDER."""
import json
import pathlib
import re
import sys

folder = pathlib.Path(sys.argv[1])
ways = [w for w in ("native", "shm", "unix", "tcp") if (folder / w).is_dir()]



def round_trips(way, name):
    """What GRAFT_STATS=1 says, the most of the program's processes."""
    log = (folder / way / f"{name}.log").read_text(errors="replace")
    return max((int(n) for n in re.findall(r"^graft: .*round-trips=(\d+)", log, re.MULTILINE)), default=None)


print("### Programs: seconds, ratio to native, whether the result is the same, and how often the program waited for the server\n")
print("| program | " + " | ".join(ways) + " | same result | round trips |")
print("|---|" + "---|" * (len(ways) + 2))
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
    trips = ", ".join(f"{w} {n}" for w in ways[1:] if (n := round_trips(w, name)) is not None)
    print(f"| {name} | " + " | ".join(cells) + f" | {same} | {trips} |")

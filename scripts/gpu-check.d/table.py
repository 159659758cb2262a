#!/usr/bin/env python3
"""Reads gpu-check's results folder and prints the table of the programs: table.py FOLDER."""
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
ways = [w for w in ("native", "shm", "unix", "tcp") if (folder / w).is_dir()]

print("### Programs: seconds, ratio to native, and whether the result is the same\n")
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

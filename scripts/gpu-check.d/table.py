#!/usr/bin/env python3
"""Reads gpu-check's results folder and prints the table of the programs: table.py FOLDER."""
import collections
import json
import pathlib
import re
import statistics
import sys

folder = pathlib.Path(sys.argv[1])
ways = [w for w in ("native", "shm", "unix", "tcp") if (folder / w).is_dir()]
STATES = {"empty": "caches empty", "filled": "fresh process, caches filled", "warm": "warm"}


class Program:
    def __init__(self):
        self.times = {state: {way: [] for way in ways} for state in STATES}
        self.results, self.failed = set(), collections.Counter()
        self.trips = collections.defaultdict(set)


def read(program, way, state, file):
    try:
        d = json.loads(file.read_text().strip().splitlines()[-1])
    except (OSError, ValueError, IndexError):
        program.failed[way] += 1
        return
    program.results.add(json.dumps(d.get("result")))
    program.times[state][way].append(d["fresh"])
    if state == "filled":
        program.times["warm"][way].append(statistics.median(d["warm"]))
    # What GRAFT_STATS=1 says, the most of the program's processes.
    said = re.findall(r"^graft: .*round-trips=(\d+)", file.with_suffix(".log").read_text(errors="replace"), re.MULTILINE)
    if said:
        program.trips[way].add(max(map(int, said)))


def cell(times, base):
    if not times:
        return "failed"
    median = statistics.median(times)
    unit, scale = ("s", 1) if median >= 0.5 else ("ms", 1e3)
    text = f"{median * scale:.3g} {unit}"
    if base is not None and base > 0:
        text += f" ({median / base:.2f})"
    if len(times) > 1:
        text += f" [{min(times) * scale:.3g} to {max(times) * scale:.3g}]"
    return text


programs = {}
for way in ways:
    for file in sorted((folder / way).glob("*.*.*.json"), key=lambda f: f.stat().st_mtime):
        name, state, _ = file.stem.rsplit(".", 2)
        read(programs.setdefault(name, Program()), way, state, file)

print("### Programs: median (ratio to native) [least to most], whether all results are the same, and how often a program waited for the server\n")
print("| program | state | " + " | ".join(ways) + " | same result | round trips |")
print("|---|---|" + "---|" * (len(ways) + 2))
for name, p in programs.items():
    same = "yes" if len(p.results) == 1 and not p.failed else "NO" + "".join(f", {w} failed {n} times" for w, n in p.failed.items())
    trips = ", ".join(f"{w} {min(t)}" + (f" to {max(t)}" if len(t) > 1 else "") for w, t in p.trips.items())
    for state, title in STATES.items():
        native = p.times[state].get("native")
        base = statistics.median(native) if native else None
        cells = [cell(p.times[state][w], None if w == "native" else base) for w in ways]
        print(f"| {name} | {title} | " + " | ".join(cells) + f" | {same} | {trips} |")

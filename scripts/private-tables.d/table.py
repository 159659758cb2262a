#!/usr/bin/env python3
"""Reads what private-tables left and prints it: table.py FOLDER "NAME NAME..."."""
import collections
import pathlib
import re
import sys

folder, names = pathlib.Path(sys.argv[1]), sys.argv[2].split()
WAYS = ("native", "shm")


class Table:
    def __init__(self):
        self.bytes, self.answer = {}, collections.defaultdict(set)
        self.askers, self.programs = set(), set()
        self.slots = {way: collections.defaultdict(int) for way in WAYS}


tables = collections.defaultdict(Table)
print("| program | native | shm | last line of what failed |\n|---|---|---|---|")
for name in names:
    ends, said = [], ""
    for way in WAYS:
        rc = (folder / f"{way}-{name}.rc").read_text().strip()
        ends.append("ok" if rc == "0" else f"exit {rc}")
        if rc != "0":
            lines = (folder / f"{way}-{name}.log").read_text(errors="replace").strip().splitlines()
            said = (lines or [""])[-1][:160].replace("|", "/")
        listed = folder / f"{way}-{name}.tables"
        for line in listed.read_text().splitlines() if listed.exists() else []:
            words = line.split(" ", 4)
            table = tables[words[1]]
            if words[0] == "asked":
                table.answer[way].add(words[3])
                if words[3] == "served":
                    table.bytes[way] = words[2]
                table.askers.add(re.sub(r"\.so.*|python.*", "", words[4]))
                table.programs.add(name)
            else:
                table.slots[way][int(words[2])] += int(words[3])
    print(f"| {name} | {ends[0]} | {ends[1]} | {said} |")
not_served = collections.Counter()
for log in folder.glob("shm-*.log"):
    not_served.update(re.findall(r"slot (\d+) of a private table", log.read_text(errors="replace")))
print("\n| table | bytes native, Graft | native | Graft | asked by | in | slots called natively | over shm |")
print("|---|---|---|---|---|---|---|---|")
for key, t in sorted(tables.items(), key=lambda kv: -len(kv[1].programs)):
    cells = [key, f"{t.bytes.get('native', '-')}, {t.bytes.get('shm', '-')}"]
    cells += [", ".join(sorted(t.answer[w])) or "not asked" for w in WAYS]
    cells += [", ".join(sorted(t.askers)), ", ".join(sorted(t.programs))]
    cells += [", ".join(f"{s} ({n})" for s, n in sorted(t.slots[w].items())) or "-" for w in WAYS]
    print("| " + " | ".join(cells) + " |")
print("\nSlots answered with NOT_SUPPORTED over shm:", dict(not_served) or "none")

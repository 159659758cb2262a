"""Prints what a profiler saw over each channel beside native as a table in Markdown. Ends with 1 if other kernels were seen, or another number of them."""

import json
import os
import sys

out, programs, settings = sys.argv[1], sys.argv[2].split(), sys.argv[3].split()


def read(setting, program):
    try:
        with open(os.path.join(out, f"{setting}-{program}.json")) as file:
            return json.loads(file.read().splitlines()[-1])
    except (OSError, ValueError, IndexError):
        return None


def total(seen):
    return sum(item[0] for item in seen.values()), sum(item[1] for item in seen.values())


bad = False
print("| program | over | kernels seen | of them with an operation | kinds of kernels as native | kernels' time, us | to native | copies and fills | calls | plain s | profiled s |")
print("|---|---|---|---|---|---|---|---|---|---|---|")
for program in programs:
    native = read("native", program)
    for setting in settings:
        seen = read(setting, program)
        if not seen or "kernels" not in seen:
            print(f"| {program} | {setting} | failed, see the log | | | | | | | | |")
            bad |= setting != "native"
            continue
        count, time = total(seen["kernels"])
        linked = sum(item[2] for item in seen["kernels"].values())
        same, ratio = "", ""
        if native:
            before = {name: item[0] for name, item in native["kernels"].items()}
            now = {name: item[0] for name, item in seen["kernels"].items()}
            same = f"{len(before.keys() & now.keys())} of {len(before)}, {sum(before[name] == now.get(name) for name in before)} as often"
            ratio = f"{time / total(native['kernels'])[1]:.2f}" if total(native["kernels"])[1] else ""
            bad |= before != now and program != "graph"
        copies = ", ".join(f"{item[0]} {name}" for name, item in sorted(seen["copies"].items()))
        calls = ", ".join(f"{n} {name}" for name, n in sorted(seen["calls"].items(), key=lambda x: -x[1])[:5])
        print(f"| {program} | {setting} | {count} | {linked} | {same} | {time:.0f} | {ratio} | {copies} | {calls} | {seen['plain']:.3f} | {seen['profiled']:.3f} |")
print()
print("The longest kernels, us each:\n")
print("| program | kernel | " + " | ".join(settings) + " |")
print("|---|---|" + "---|" * len(settings))
for program in programs:
    all_seen = {setting: (read(setting, program) or {}).get("kernels", {}) for setting in settings}
    first = next((seen for seen in all_seen.values() if seen), {})
    for name in sorted(first, key=lambda n: -first[n][1])[:6]:
        cells = [f"{seen[name][1] / seen[name][0]:.2f}" if name in seen and seen[name][0] else "" for seen in all_seen.values()]
        print(f"| {program} | {name[:70]} | " + " | ".join(cells) + " |")
print()
for setting in settings:
    pair = read(setting, "pair")
    if pair:
        print(f"{setting}: between two events with nothing between them: idle {pair['idle'] * 1000:.2f} us, busy {pair['busy'] * 1000:.2f} us; libraries {pair['library']}")
sys.exit(bad)

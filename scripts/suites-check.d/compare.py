#!/usr/bin/env python3
"""Compares the tests of suites natively and over channels: compare.py NATIVE.jsonl... -- CHANNEL.jsonl...

The files are named SUITE-SETTING.jsonl; those before "--" are native runs, of which tests are left out that do not end the same way in all of them, or
do not end in time. A test that lacks a line over a channel has not been run there. "(process)" stands for the process of a file.
Prints a table in Markdown and each difference, and ends with 1 if there are any.
"""
import collections
import json
import pathlib
import sys

SHOWN = 40  # differences of a suite and channel


def read(name):
    lines = {}
    for text in pathlib.Path(name).read_text().splitlines():
        line = json.loads(text)
        lines[line["test"]] = line
    return lines


def end(line):
    return line.get("outcome"), line.get("result")


def main():
    names = sys.argv[1:]
    split = names.index("--")
    native, channels = collections.defaultdict(list), collections.defaultdict(dict)
    for name in names[:split]:
        native[pathlib.Path(name).stem.rsplit("-", 1)[0]].append(read(name))
    for name in names[split + 1:]:
        suite, setting = pathlib.Path(name).stem.rsplit("-", 1)
        channels[suite][setting] = read(name)
    print("| suite | channel | ran natively and over the channel | not run | passed natively | end as natively | differ |")
    print("|---|---|---|---|---|---|---|")
    differences = []
    for suite, runs in native.items():
        steady = {test: line for test, line in runs[0].items() if line["outcome"] != "timeout" and all(test not in run or end(run[test]) == end(line) for run in runs)}
        unsteady = len(runs[0]) - len(steady)
        if not channels[suite]:
            differences.append(f"{suite}: has been run natively alone")
        for setting, lines in channels[suite].items():
            both = [test for test in steady if test in lines]
            differ = [test for test in both if end(steady[test]) != end(lines[test])]
            passed = sum(steady[test]["outcome"] == "passed" for test in both)
            print(f"| {suite} | {setting} | {len(both)} | {len(steady) - len(both)} | {passed} | {len(both) - len(differ)} | {len(differ)} |")
            for test in differ[:SHOWN]:
                here, there = steady[test], lines[test]
                differences.append(f"{suite} {setting}: {test}: {there['outcome']} {there.get('why') or there.get('result', '')}; natively "
                                   f"{here['outcome']} {here.get('why') or here.get('result', '')}")
        if unsteady:
            print(f"\n{suite}: {unsteady} tests do not end the same way each time natively\n")
    print()
    for difference in differences:
        print(difference)
    sys.exit(bool(differences))


if __name__ == "__main__":
    main()

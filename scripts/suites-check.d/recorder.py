"""A plugin of pytest, which tests.py loads: takes a share of a file's tests and appends one JSON line for each test to a file as soon as
the test has ended, so that a killed process leaves what it had done. Its journal tells tests.py which tests were to run, began and ended."""
import hashlib
import json
import os

import pytest

SUITE, LABEL, RECORDS, JOURNAL = (os.environ["RECORDER_" + name] for name in ("SUITE", "LABEL", "RECORDS", "JOURNAL"))
SHARE, OF = (int(number) for number in os.environ["RECORDER_SHARE"].split("/"))
ONLY = os.environ.get("RECORDER_ONLY")
GRAVITY = ["passed", "skipped", "xfailed", "failed", "error"]

outcome, why, seconds = "passed", "", 0.0

if SUITE == "numba":
    import numpy

    if not hasattr(numpy, "row_stack"):  # NumPy 2.5 lacks this function, and numba-cuda 0.30 needs it to compile kernels with arrays
        numpy.row_stack = numpy.vstack


def append(path, line):
    with open(path, "ab", 0) as file:  # one write in append mode: the processes of other files write there too
        file.write((line + "\n").encode(errors="replace"))


def record(test, outcome, seconds=0.0, why=""):
    line = {"suite": SUITE, "test": test, "outcome": outcome, "seconds": round(seconds, 3)}
    if why:
        line["why"] = why
    append(RECORDS, json.dumps(line))


def name(node):
    """The file's own label and what follows it: pytest's name of a file depends on where the file lies."""
    return LABEL + "::" + (node.split("::", 1)[1:] or ["(collection)"])[0].replace("\n", " ")


def reason(report):
    crash = getattr(report.longrepr, "reprcrash", None)
    lines = [line.strip() for line in (crash.message if crash else str(report.longrepr)).splitlines() if line.strip()]
    return " … ".join(dict.fromkeys([lines[0], lines[-1]]))[:200] if lines else "?"


def taken(test):
    return int.from_bytes(hashlib.sha256(test.encode()).digest()[:8], "big") % OF == SHARE % OF


@pytest.hookimpl(trylast=True)  # behind those that leave tests out
def pytest_collection_modifyitems(config, items):
    ended = set()
    if os.path.exists(JOURNAL):
        with open(JOURNAL, encoding="utf-8") as file:
            ended = {line[6:].rstrip("\n") for line in file if line.startswith("ended ")}
    only = set(open(ONLY, encoding="utf-8").read().splitlines()) if ONLY else None
    chosen = [item for item in items if (name(item.nodeid) in only if only is not None else taken(name(item.nodeid)))]
    append(JOURNAL, "\n".join([f"collected {len(items)}"] + ["chosen " + name(item.nodeid) for item in chosen]))
    chosen = [item for item in chosen if name(item.nodeid) not in ended]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
    items[:] = chosen


def pytest_collectreport(report):
    if report.outcome != "passed":
        record(name(report.nodeid), *(["skipped"] if report.skipped else ["error", 0.0, reason(report)]))


def pytest_runtest_logstart(nodeid):
    global outcome, why, seconds
    outcome, why, seconds = "passed", "", 0.0
    append(JOURNAL, "began " + name(nodeid))


def pytest_runtest_logreport(report):
    """Called for setup, call and teardown, and for each subtest: the gravest outcome is the test's."""
    global outcome, why, seconds
    seconds += report.duration
    now = report.outcome
    if now == "skipped" and hasattr(report, "wasxfail"):
        now = "xfailed"
    elif now == "failed" and report.when != "call":
        now = "error"
    if GRAVITY.index(now) > GRAVITY.index(outcome):
        outcome, why = now, reason(report) if now in ("failed", "error") else ""


def pytest_runtest_logfinish(nodeid):
    record(name(nodeid), outcome, seconds, why)
    append(JOURNAL, "ended " + name(nodeid))

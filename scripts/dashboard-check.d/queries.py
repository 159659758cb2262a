#!/usr/bin/env python3
"""Evaluates the queries of a dashboard by Prometheus, as Grafana would.

    queries.py check DASHBOARD PROMETHEUS BEGIN END DEVICE TOP ACCOUNTING ANSWERS
    queries.py busiest PROCESS

check prints tables and writes the answers; TOP is what `graft top --output json` printed meanwhile, and ACCOUNTING the
server's file of sessions that have ended. busiest prints the of a process that uses most of a CPU.
"""
import calendar
import json
import os
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

STEP = SCRAPE = 1  # seconds; Grafana's $__interval is no shorter than a scrape
RATE_INTERVAL = max(STEP + SCRAPE, 4 * SCRAPE)  # as Grafana defines $__rate_interval
UNITS = {"short", "percentunit", "bytes", "Bps", "ops", "cps"}
# What a server without NVML, a healthy GPU, and a machine without dcgm-exporter have no series of.
NOT_OF_SOFTWARE = ("graft_gpu_", "DCGM_")
NOT_OF_HEALTHY = ("graft_gpu_xid_errors_total", "graft_gpu_slowed", "graft_gpu_memory_errors_total", "DCGM_")


class Prometheus:
    def __init__(self, address):
        self.address = address

    def ask(self, path, **parameters):
        query = urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(f"{self.address}/api/v1/{path}?{query}", timeout=60) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            sys.exit(f"queries.py: Prometheus refuses {path} with {parameters}: {error.read().decode(errors='replace')}")

    def series(self, query, begin, end):
        """The series as pairs of labels and a list of (time, value)."""
        data = self.ask("query_range", query=query, start=begin, end=end, step=STEP)
        return [
            {"labels": series["metric"], "values": [(at, float(value)) for at, value in series["values"]]}
            for series in data["result"]
        ]


def substituted(query, variables):
    query = query.replace("$__rate_interval", f"{RATE_INTERVAL}s").replace("$__interval", f"{STEP}s")
    for name, value in variables.items():
        query = query.replace("${" + name + "}", value).replace("$" + name, value)
    if "$" in query:
        sys.exit(f"queries.py: a variable of the query is not known: {query}")
    return query


def legend(form, labels):
    missing = [name for name in re.findall(r"\{\{\s*(\w+)\s*\}\}", form) if name not in labels]
    return re.sub(r"\{\{\s*(\w+)\s*\}\}", lambda match: labels.get(match[1], ""), form), missing


def variables_of(dashboard, prometheus):
    """All values of each variable that is a query, and what Grafana puts in the place of "All"."""
    values, everything = {}, {}
    for variable in dashboard["templating"]["list"]:
        if variable["type"] != "query":
            continue
        match = re.fullmatch(r"label_values\((.+), *(\w+)\)", variable["query"]["query"])
        if not match:
            sys.exit(f"queries.py: the variable {variable['name']} asks for {variable['query']['query']}")
        values[variable["name"]] = prometheus.ask(f"label/{match[2]}/values", **{"match[]": match[1]})
        everything[variable["name"]] = variable["allValue"]
    return values, everything


def may_be_empty(query, device):
    return any(name in query for name in (NOT_OF_SOFTWARE if device == "software" else NOT_OF_HEALTHY))


class Check:
    def __init__(self):
        self.bad = 0

    def that(self, condition, what):
        if not condition:
            self.bad += 1
            print(f"dashboard-check: {what}", file=sys.stderr)
        return "ok" if condition else "**wrong**"


def evaluate(dashboard, prometheus, span, device, check):
    values, everything = variables_of(dashboard, prometheus)
    for name, known in values.items():
        check.that(known, f"the variable {name} has no values")
        print(f"Variable {name}: {', '.join(known)}\n")
    panels = []
    print("| panel | query | series | last values | |\n|---|---|---|---|---|")
    for panel in dashboard["panels"]:
        unit = panel["fieldConfig"]["defaults"]["unit"]
        check.that(unit in UNITS, f"{panel['title']}: the unit {unit} is not known")
        names, targets = [], []
        for target in panel["targets"]:
            query = substituted(target["expr"], everything)
            series = prometheus.series(query, *span)
            for one in series:
                one["name"], missing = legend(target["legendFormat"], one["labels"])
                check.that(not missing, f"{panel['title']}: no label {missing} in {one['labels']} for {target['legendFormat']}")
            names += [one["name"] for one in series]
            state = "none on this machine"
            if series or not may_be_empty(query, device):
                state = check.that(series, f"{panel['title']}: no series for {query}")
            for guest in values["guest"]:  # a guest that is chosen is shown alone
                if "$guest" in target["expr"] and "guest" in target["legendFormat"]:
                    alone = prometheus.series(substituted(target["expr"], {**everything, "guest": guest}), *span)
                    found = {one["labels"].get("guest") for one in alone}
                    check.that(found <= {guest}, f"{panel['title']}: with guest {guest} it shows {found}")
            last = "; ".join(f"{one['name']} {one['values'][-1][1]:.4g}" for one in series)
            print(f"| {panel['title']} | `{target['expr'].replace('|', chr(92) + '|')}` | {len(series)} | {last} | {state} |")
            targets.append({"refId": target["refId"], "legend": target["legendFormat"], "series": series})
        check.that(len(set(names)) == len(names), f"{panel['title']}: two series have the same name: {sorted(names)}")
        panels.append({**panel, "targets": targets})
    return panels


def seconds(text):
    return calendar.timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S"))


class Top:
    """What Graft said of the sessions until a time: `graft top` of those that were served, the accounting of those that have ended."""

    def __init__(self, top, accounting, end):
        self.last, self.sessions, self.waiting, self.used, self.limits = {}, {}, {}, {}, {}
        with open(top) as lines:
            for line in lines:
                self.add(json.loads(line), end)
        with open(accounting) as lines:
            for line in lines:
                session = json.loads(line)
                if seconds(session["at"]) <= end:
                    self.last[session["session"]] = {**session, "guest": session["who"]}

    def add(self, look, end):
        at = seconds(look["at"])
        if at > end:
            return
        server = look["servers"][0]
        now = {}
        for session in server.get("sessions", []):
            self.last[session["session"]] = session
            now.setdefault(session["guest"], []).append(session)
        self.waiting[at] = len(server["server"]["waiting"]) if "server" in server else 0
        for guest, sessions in now.items():
            self.sessions.setdefault(guest, {})[at] = len(sessions)
            self.used.setdefault(guest, {})[at] = sum(s["memoryBytes"] or 0 for s in sessions)
            self.limits[guest] = sessions[0]["guestMemoryLimitBytes"] or sessions[0]["memoryLimitBytes"]

    def sums(self, field, key="guest"):
        sums = {}
        for session in self.last.values():
            sums[session[key]] = sums.get(session[key], 0) + (session[field] or 0)
        return sums


def compare(panels, top, check):
    """Figures of the dashboard beside those of Graft."""
    by_title = {panel["title"]: panel for panel in panels}

    def series(title, ref):
        target = next(t for t in by_title[title]["targets"] if t["refId"] == ref)
        return {one["labels"].get("guest") or one["labels"].get("channel") or "": [value for _, value in one["values"]] for one in target["series"]}

    print("\n| figure | | dashboard | Graft | |\n|---|---|---|---|---|")

    def row(what, who, shown, said, tolerance, least=0.0):
        same = abs(shown - said) <= max(tolerance * abs(said), least)
        state = check.that(same, f"{what} of {who}: the dashboard shows {shown:.4g}, Graft says {said:.4g}")
        print(f"| {what} | {who} | {shown:.4g} | {said:.4g} | {state} |")

    # The area below a rate is what was counted, less what came before a session's first scrape and in the last seconds.
    for what, title, ref, said in [
        ("GPU seconds", "GPU time by guest", "A", top.sums("gpuSeconds")),
        ("seconds of waiting", "Waiting for the GPU by guest", "A", top.sums("leaseWaitSeconds")),
        ("calls", "Calls and round trips by guest", "A", top.sums("calls")),
        ("bytes from clients", "Bytes by channel", "A", top.sums("bytesIn", "channel")),
        ("bytes to clients", "Bytes by channel", "B", top.sums("bytesOut", "channel")),
    ]:
        shown = series(title, ref)
        for who in sorted(said):
            row(what, who, sum(shown.get(who, [])) * STEP, said[who], 0.12, 0.5)
    for who in sorted(top.used):
        most = max(top.used[who].values())
        row("most memory, bytes", who, max(series("Device memory by guest", "A").get(who, [0])), most, 0)
        row("most memory, of the limit", who, max(series("Device memory of the limit", "A").get(who, [0])), most / top.limits[who], 1e-9)
        row("most sessions", who, max(series("Sessions by guest", "A").get(who, [0])), max(top.sessions[who].values()), 0)
        begun = sum(session["guest"] == who for session in top.last.values())
        row("sessions begun", who, series("Sessions by guest", "B").get(who, [0])[-1], begun, 0.05)
    row("most that wait", "all", max(series("Sessions by guest", "C")[""]), max(top.waiting.values()), 0)
    row("sessions", "all", series("Sessions", "A")[""][-1], sum(s[max(top.waiting)] for s in top.sessions.values() if max(top.waiting) in s), 0)
    # These are not in graft top: scripts/dashboard-check has made them.
    row("refused, of 3 made", "all", series("Refused, last hour", "A")[""][-1], 3, 0.05)
    row("faults, of 1 made", "all", series("Faults, last hour", "A")[""][-1], 1, 0.05)


def busiest(root):
    def ticks():
        parents, used = {}, {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat") as stat:
                    fields = stat.read().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended
            parents[pid], used[pid] = fields[1], int(fields[11]) + int(fields[12])
        return parents, used

    _, before = ticks()
    time.sleep(1)
    parents, after = ticks()

    def descends(pid):
        while pid in parents:
            pid = parents[pid]
            if pid == root:
                return True
        return False

    found = {pid: after[pid] - before.get(pid, 0) for pid in after if descends(pid)}
    if not found:
        sys.exit(f"queries.py: the process {root} has no descendants")
    print(max(found, key=found.get))


def main():
    if sys.argv[1:2] == ["busiest"] and len(sys.argv) == 3:
        return busiest(sys.argv[2])
    if sys.argv[1:2] != ["check"] or len(sys.argv) != 10:
        sys.exit(__doc__)
    path, address, begin, end, device, top, accounting, answers = sys.argv[2:]
    with open(path) as file:
        dashboard = json.load(file)
    prometheus, span, check = Prometheus(address), (int(begin), int(end)), Check()
    version = prometheus.ask("status/buildinfo")["version"]
    print(f"Prometheus {version}\n")
    panels = evaluate(dashboard, prometheus, span, device, check)
    with open(answers, "w") as file:
        json.dump({"title": dashboard["title"], "prometheus": version, "device": device, "span": span, "panels": panels}, file)
    compare(panels, Top(top, accounting, span[1]), check)
    return 1 if check.bad else 0


sys.exit(main())

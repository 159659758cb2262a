"""Runs a public test suite, each of its files in a process of pytest of its own, and appends one JSON line for each test to a file:
suite, test, outcome (passed, failed, skipped, xfailed, error, crashed, timeout), seconds and, of failed ones, why."""
import argparse
import concurrent.futures
import contextlib
import fnmatch
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESTARTS = 5


def installed_numba():
    """numba's tests are those of the installed package: they import each other by its name."""
    question = [sys.executable, "-c", "import numba.cuda; print(numba.cuda.__path__[0])"]
    return Path(subprocess.run(question, check=True, capture_output=True, text=True).stdout.splitlines()[-1]) / "tests"


def last_words(lines):
    """What a process that crashed wrote before Python's own report of the crash."""
    report = next((i for i, line in enumerate(lines) if line.startswith("Fatal Python error")), 0)
    return ": " + lines[report - 1] if report else ""


class Suite:
    def __init__(self, name, folder):
        self.name, self.root, self.working_folder = name, folder / name, folder / name
        if name == "numba":
            self.root, self.working_folder = installed_numba(), folder / "numba" / "testing"

    def arguments(self, file):
        if self.name == "numba":  # tests outside of the folder of conftest.py see its fixtures only if it is a plugin
            return ["-o", "addopts=", "--noconftest", "-p", "conftest", "--pyargs", "numba.cuda.tests." + file.removesuffix(".py").replace("/", ".")]
        return ["-m", "not slow", file] if self.name == "cupy" else [file]

    def files(self, lists):
        """A folder below the suite's, or a file of patterns of paths, of which those after an exclamation mark are left out."""
        lines = lists.read_text().split() if lists.is_file() else [f"{lists}/**/*_test.py", f"{lists}/**/test_*.py"]
        found = {str(path.relative_to(self.root)) for line in lines if line[0] != "!" for path in self.root.glob(line)}
        files = sorted(file for file in found if not any(fnmatch.fnmatch(file, line[1:]) for line in lines if line[0] == "!"))
        random.Random(1).shuffle(files)  # the same order in every setting, so that what has been run by some time is a fair sample
        return files


class Run:
    def __init__(self, suite, options):
        self.suite, self.options = suite, options
        self.records = options.out.resolve()
        self.folder = Path(str(self.records) + ".d")
        self.folder.mkdir(parents=True, exist_ok=True)

    def environment(self, file, journal):
        environment = os.environ | dict(
            PYTHONPATH=os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")])), PYTHONFAULTHANDLER="1",
            PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", RECORDER_SUITE=self.suite.name, RECORDER_LABEL=file, RECORDER_RECORDS=str(self.records),
            RECORDER_JOURNAL=str(journal), RECORDER_SHARE=self.options.share)
        if self.options.only:
            environment["RECORDER_ONLY"] = str(self.options.only.resolve())
        # Every setting compiles its own kernels, and few threads a process, since many processes share the machine.
        for name, value in {"CUPY_CACHE_DIR": self.folder / "cupy", "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
                            "OMP_NUM_THREADS": 2, "OPENBLAS_NUM_THREADS": 2}.items():
            environment.setdefault(name, str(value))
        return environment

    def record(self, test, outcome, **why):
        line = {"suite": self.suite.name, "test": test, "outcome": outcome, "seconds": 0.0} | why
        with open(self.records, "ab", 0) as file:
            file.write((json.dumps(line) + "\n").encode())

    def file(self, file):
        if time.monotonic() > self.options.end:
            return f"{file}: not begun"
        name = file.replace("/", ".")
        journal, log = self.folder / (name + ".journal"), self.folder / (name + ".log")
        journal.unlink(missing_ok=True)
        log.unlink(missing_ok=True)
        deadline = time.monotonic() + self.options.limit
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "recorder",
                   "--basetemp", self.folder / (name + ".tmp"), "--tb=short", "--capture=sys", "-o", "filterwarnings=", *self.suite.arguments(file)]
        for _ in range(1 + RESTARTS):
            with open(log, "ab") as output:
                process = subprocess.Popen(
                    command, cwd=self.suite.working_folder, env=self.environment(file, journal), stdin=subprocess.DEVNULL, stdout=output,
                    stderr=subprocess.STDOUT, start_new_session=True)
            try:
                status = process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                status = None
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # the children too, which may outlive a process that ended well
            process.wait()
            if self.ended(file, journal, log, status):
                break
        else:
            self.record(file + "::(process)", "crashed", why=f"crashed {1 + RESTARTS} times; the rest of the file was left out")
        return f"{file}: {'over the limit' if status is None else f'status {status}'}"

    def ended(self, file, journal, log, status):
        """Records what a process left undone; False if the file is to be started again behind the test that crashed."""
        lines = journal.read_text(encoding="utf-8").splitlines() if journal.exists() else []
        chosen, began, ended = (dict.fromkeys(line.split(" ", 1)[1] for line in lines if line.startswith(word + " "))
                                for word in ("chosen", "began", "ended"))
        process = file + "::(process)"  # has a record in every setting, so that a process that fails as such is seen
        if status is None:
            for test in [*(test for test in chosen if test not in ended), process]:
                self.record(test, "timeout")
        elif status in (0, 5) or status == 1 and lines:  # without a journal pytest itself failed
            self.record(process, "passed")
        elif status == 2:
            self.record(process, "error", why="the file could not be collected")
        else:
            text = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
            if status < 0:
                why = "signal " + signal.Signals(-status).name + last_words(text)
            else:
                why = f"exit {status}: {text[-1] if text else ''}"
            why = why[:300]
            unfinished = [test for test in began if test not in ended]
            if unfinished:
                self.record(unfinished[-1], "crashed", why=why)
                with open(journal, "a", encoding="utf-8") as lines:
                    lines.write(f"ended {unfinished[-1]}\n")
                return False
            self.record(process, "crashed", why=why)
        return True


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", choices=["cupy", "jax", "numba"])
    parser.add_argument("--suites", type=Path, default=Path("suites"), help="the folder of the unpacked suites")
    parser.add_argument("--files", type=Path, help="a folder, or a file of patterns (SUITE.files beside this program)")
    parser.add_argument("--share", default="0/1", metavar="K/N", help="every N-th test, by a hash of its name")
    parser.add_argument("--only", type=Path, help="a file of names of tests: these alone, instead of a share")
    parser.add_argument("--jobs", type=int, default=4, help="files at a time")
    parser.add_argument("--limit", type=float, default=120, help="seconds for each file")
    parser.add_argument("--until", type=float, default=1e9, help="seconds after which no file begins")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.end = time.monotonic() + options.until
    suite = Suite(options.suite, options.suites.resolve())
    files = suite.files(options.files or HERE / (options.suite + ".files"))
    if options.only:
        files = [file for file in files if f"{file}::" in options.only.read_text()]
    if not files:
        sys.exit(f"there are no such files below {suite.root}")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for line in pool.map(Run(suite, options).file, files):
            print(line, flush=True)


if __name__ == "__main__":
    main()

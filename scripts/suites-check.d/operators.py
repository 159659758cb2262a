#!/usr/bin/env python3
"""Runs PyTorch's operators on a GPU with PyTorch's own sample inputs (OpInfo), forward and backward: operators.py FILE.jsonl [options].

A case is an operator with a variant and a type of number. For each case a line is appended to the file as soon as it has ended:
{"suite": "operators", "test", "outcome", "result", "seconds", "why"}. The result is a digest of the bytes of all outputs and gradients, which has
to be the same in every setting; outcomes are passed, failed (an exception), and crashed (the process ended, or took more than --limit seconds for
the case). The cases are shared among --jobs processes; after a crash a new process goes on behind the case.
"""
import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import threading
import time
import types
import zlib

MOST_SAMPLES = 8
SEED = 20


def without_expecttest():
    """PyTorch's list of operators imports modules of its tests, which want this package; the list itself does not use it."""
    try:
        import expecttest  # noqa: F401
    except ImportError:
        import unittest
        module = types.ModuleType("expecttest")
        module.TestCase = unittest.TestCase
        sys.modules["expecttest"] = module


def tensors(torch, value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for key in sorted(value, key=str):
            yield from tensors(torch, value[key])
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors(torch, item)


def digest(torch, values):
    h = hashlib.sha256()
    for value in values:
        if value.layout is not torch.strided:
            value = value.to_dense()
        h.update(repr((value.dtype, tuple(value.shape))).encode())
        numbers = torch.empty(value.numel(), dtype=value.dtype)
        numbers.copy_(value.detach().reshape(-1))
        h.update(numbers.view(torch.uint8).numpy().tobytes())
    return h.hexdigest()[:16]


def run_case(torch, op, dtype, device):
    """Returns the digest of all that the operator's samples give."""
    torch.manual_seed(SEED)
    backward = dtype in op.supported_backward_dtypes(device)
    found = []
    for number, sample in enumerate(op.sample_inputs(device, dtype, requires_grad=backward)):
        if number == MOST_SAMPLES:
            break
        torch.manual_seed(SEED)
        output = op(sample.input, *sample.args, **sample.kwargs)
        outputs = list(tensors(torch, sample.output_process_fn_grad(output)))
        found += list(tensors(torch, output))
        leaves = [t for t in tensors(torch, [sample.input, sample.args, sample.kwargs]) if t.requires_grad and t.is_leaf]
        outputs = [t for t in outputs if t.requires_grad and t.layout is torch.strided]
        if leaves and outputs:
            torch.autograd.backward(outputs, [torch.ones_like(t) for t in outputs])
            found += [t.grad for t in leaves if t.grad is not None]
    return digest(torch, found)


def cases(torch, device, share):
    from torch.testing._internal.common_methods_invocations import op_db
    for op in op_db:
        for dtype in sorted(op.supported_dtypes(device), key=str):
            name = f"{op.name}{'.' + op.variant_test_name if op.variant_test_name else ''}:{str(dtype)[6:]}"
            if zlib.crc32(name.encode()) % share == 0:
                yield name, op, dtype


def work(out, device, share, part, parts):
    """One process: the cases of its part that have no line yet. Says on standard output which case it begins."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    without_expecttest()
    import warnings
    warnings.simplefilter("ignore")
    import torch
    torch.use_deterministic_algorithms(True, warn_only=True)  # new memory is filled, too
    done = {json.loads(line)["test"] for line in out.read_text().splitlines()} if out.exists() else set()
    for number, (name, op, dtype) in enumerate(cases(torch, device, share)):
        if number % parts != part or name in done:
            continue
        print(name, flush=True)
        start = time.monotonic()
        line = {"suite": "operators", "test": name, "outcome": "passed"}
        try:
            line["result"] = run_case(torch, op, dtype, device)
        except Exception as e:  # whatever an operator raises has to be raised natively, too
            line.update(outcome="failed", why=f"{type(e).__name__}: {e}".splitlines()[0][:200])
        line["seconds"] = round(time.monotonic() - start, 3)
        with out.open("a") as file:
            file.write(json.dumps(line) + "\n")


def supervise(arguments, part, until):
    """Starts processes for a part until one has ended by itself."""
    out = arguments.out.with_suffix(f".{part}")
    while time.monotonic() < until:
        command = [sys.executable, __file__, str(out), "--device", arguments.device, "--share", str(arguments.share), "--jobs", str(arguments.jobs)]
        process = subprocess.Popen(command + ["--part", str(part)], stdout=subprocess.PIPE, text=True, errors="replace")
        current, begun = None, time.monotonic()

        def watch():
            while process.poll() is None:
                time.sleep(0.5)
                if time.monotonic() > min(begun + (arguments.limit if current else 120), until):
                    process.kill()

        threading.Thread(target=watch, daemon=True).start()
        for line in process.stdout:
            current, begun = line.strip(), time.monotonic()
        code = process.wait()
        if code == 0 or time.monotonic() >= until or current is None:
            if code and current is None:
                print(f"operators: a process ended with {code} before its first case", file=sys.stderr)
            return
        with out.open("a") as file:
            file.write(json.dumps({"suite": "operators", "test": current, "outcome": "crashed", "why": f"ended with {code}"}) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--share", type=int, default=1, metavar="N", help="takes about one of N cases, always the same")
    parser.add_argument("--jobs", type=int, default=4, metavar="N")
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS", help="of a case")
    parser.add_argument("--seconds", type=float, default=3600, help="of all cases; what has not begun then has no line")
    parser.add_argument("--part", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.part is not None:
        work(arguments.out, arguments.device, arguments.share, arguments.part, arguments.jobs)
        return
    until = time.monotonic() + arguments.seconds
    threads = [threading.Thread(target=supervise, args=(arguments, part, until)) for part in range(arguments.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with arguments.out.open("w") as all_lines:
        for part in range(arguments.jobs):
            file = arguments.out.with_suffix(f".{part}")
            if file.exists():
                all_lines.write(file.read_text())
                file.unlink()


if __name__ == "__main__":
    main()

"""Profiles programs with torch.profiler or with proton, and prints what the profiler saw as one line of JSON for each program."""

import json
import statistics
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile, record_function

STEPS = 5


def matmul():
    a = torch.randn(1024, 1024, device="cuda", dtype=torch.float16)
    host = torch.ones(1 << 20)

    def step():
        x = a
        for _ in range(20):
            x = torch.relu(x @ a)
        y = host.to("cuda")
        y.zero_()
        return (x.sum() + y.sum()).item()

    return step


def resnet():
    """A residual network of PyTorch's own layers: no weights, no further package."""

    class Block(torch.nn.Module):
        def __init__(self, width):
            super().__init__()
            self.one = torch.nn.Conv2d(width, width, 3, padding=1, bias=False)
            self.two = torch.nn.Conv2d(width, width, 3, padding=1, bias=False)
            self.norms = torch.nn.ModuleList([torch.nn.BatchNorm2d(width) for _ in range(2)])

        def forward(self, x):
            y = torch.relu(self.norms[0](self.one(x)))
            return torch.relu(x + self.norms[1](self.two(y)))

    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 64, 7, stride=2, padding=3),
        *[Block(64) for _ in range(8)],
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(64, 1000),
    ).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    images = torch.randn(32, 3, 224, 224, device="cuda")
    labels = torch.randint(0, 1000, (32,), device="cuda")

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def graph():
    x = torch.ones(1 << 20, device="cuda")
    captured = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(captured):
        y = x * 2 + 1

    def step():
        captured.replay()
        return y[0].item()

    return step


def pair():
    """Milliseconds between two events with nothing between them, of an idle and of a busy stream."""
    answers = {}
    a = torch.randn(4096, 4096, device="cuda")
    for state in ("idle", "busy"):
        times = []
        for _ in range(200):
            first, second = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            if state == "busy":
                a @ a
            first.record()
            second.record()
            torch.cuda.synchronize()
            times.append(first.elapsed_time(second))
        answers[state] = statistics.median(times)
    return answers


def seconds(step):
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(STEPS):
        step()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def torch_profiler(name):
    step = {"matmul": matmul, "resnet": resnet, "graph": graph}[name]()
    for _ in range(3):
        step()
    plain = statistics.median(seconds(step) for _ in range(3))
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):
        step()  # the first use of a profiler is slow
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        with record_function("the steps"):
            profiled = seconds(step)
    kernels, calls, copies = {}, {}, {}
    for event in profiler.profiler.kineto_results.events():
        if event.device_type() == torch.autograd.DeviceType.CUDA:
            of = copies if event.name().startswith("Mem") else kernels
            if event.name().startswith("the steps"):
                continue
            seen = of.setdefault(event.name(), [0, 0, 0])
            seen[0] += 1
            seen[1] += event.duration_ns() / 1000
            seen[2] += event.linked_correlation_id() != 0
        elif event.name().startswith("cu") and not event.name().startswith("cudnn"):
            calls[event.name()] = calls.get(event.name(), 0) + 1
    table = profiler.key_averages().table(sort_by="self_device_time_total", row_limit=8)
    print(table, file=sys.stderr)
    return {"kernels": kernels, "copies": copies, "calls": calls, "plain": plain, "profiled": profiled}


def proton_profiler(folder):
    import triton
    import triton.language as tl
    import triton.profiler as proton

    @triton.jit
    def add_kernel(x, y, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)

    x = torch.ones(1 << 20, device="cuda")
    y = torch.empty_like(x)

    def step():
        add_kernel[(1024,)](x, y, 1 << 20, BLOCK=1024)
        return torch.mul(y, 2)

    step()
    torch.cuda.synchronize()
    proton.start(f"{folder}/proton", context="shadow")
    with proton.scope("the steps"):
        for _ in range(STEPS):
            step()
    torch.cuda.synchronize()
    proton.finalize()
    with open(f"{folder}/proton.hatchet") as file:
        tree = json.load(file)
    kernels = {}

    def visit(node):
        metrics = node.get("metrics", {})
        if "time (ns)" in metrics and not node.get("children"):
            seen = kernels.setdefault(node["frame"]["name"], [0, 0, 0])
            seen[0] += metrics.get("count", 0)
            seen[1] += metrics["time (ns)"] / 1000
        for child in node.get("children", []):
            visit(child)

    for root in tree:
        if "frame" in root:
            visit(root)
    return {"kernels": kernels, "copies": {}, "calls": {}, "plain": 0, "profiled": 0}


def library():
    with open("/proc/self/maps") as maps:
        return sorted({line.split()[-1] for line in maps if "libcupti" in line})


if __name__ == "__main__":
    what, out = sys.argv[1], sys.argv[2]
    if what == "pair":
        answer = pair()
    elif what == "proton":
        answer = proton_profiler(out)
    else:
        answer = torch_profiler(what)
    answer["library"] = library()
    print(json.dumps(answer))

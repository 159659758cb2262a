#!/usr/bin/env python3
"""Programs that gpu-check runs natively and over the bridge: workloads.py NAME SETTING STATE RESULT.

Prints measurements, as graft bench summarize reads them: in the state that is given (empty or filled caches) the time from the start of the
process to the first result, imports included; if the caches are filled, in the state warm the times of what the program repeats after that.
What must be the same in every setting goes to the file RESULT. Ends with 77 if a library that the program needs is not installed.
"""
import hashlib
import json
import os
import pathlib
import sys
import time


def digest(*values):
    h = hashlib.sha256()
    for v in values:
        h.update(repr(v).encode())
    return h.hexdigest()[:16]


def tensor_digest(*tensors):
    h = hashlib.sha256()
    for t in tensors:
        h.update(t.detach().float().cpu().numpy().tobytes())
    return h.hexdigest()[:16]


def torch_setup():
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    import torch
    torch.manual_seed(1)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # as programs that do not ask for determinism
    torch.backends.cudnn.benchmark = False
    return torch


def since_start():
    """Seconds since this process was started."""
    started = int(pathlib.Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19]) / os.sysconf("SC_CLK_TCK")
    return time.clock_gettime(time.CLOCK_BOOTTIME) - started


def timed(torch, step, warm, count):
    step()
    torch.cuda.synchronize()
    fresh = since_start()
    for _ in range(warm - 1):
        step()
    torch.cuda.synchronize()
    times = []
    for _ in range(count):
        start = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return {"fresh": fresh, "warm": times}


def import_torch():
    import torch
    return {"result": torch.zeros(1).cuda().item()}


def resnet_batch(torch):
    """A model and a batch, on the CPU, and the same ones each time."""
    import torchvision
    torch.manual_seed(1)
    return torchvision.models.resnet50().train(), torch.randn(32, 3, 224, 224), torch.randint(0, 1000, (32,))


def resnet_train(benchmark=False):
    torch = torch_setup()
    torch.backends.cudnn.benchmark = benchmark
    model, x, y = resnet_batch(torch)
    model, x, y = model.cuda(), x.cuda(), y.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loss_function = torch.nn.CrossEntropyLoss()
    losses = []

    def step():
        optimizer.zero_grad()
        loss = loss_function(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())

    times = timed(torch, step, 5, 20)
    losses = [v.item() for v in losses]
    if not benchmark:
        return {**times, "result": [round(v, 6) for v in losses][:10]}
    # cuDNN takes the algorithms that were the fastest in this process, and they differ in the last digits, the more so the longer the
    # training. What counts does not depend on them: that the first loss is the CPU's within 0.05, and that the last one is less.
    model, x, y = resnet_batch(torch)
    with torch.no_grad():
        right = loss_function(model(x), y).item()
    if not (abs(losses[0] - right) < 0.05 and losses[-1] < losses[0]):
        raise SystemExit(f"the losses are {losses[0]} to {losses[-1]}; the first one is {right} on the CPU")
    return {**times, "result": "first loss as on the CPU, last loss less"}


def resnet_benchmark():
    return resnet_train(benchmark=True)


def resnet_infer():
    torch = torch_setup()
    import torchvision
    model = torchvision.models.resnet50().cuda().eval()
    x = torch.randn(1, 3, 224, 224).cuda()
    with torch.no_grad():
        times = timed(torch, lambda: model(x), 10, 50)
        return {**times, "result": tensor_digest(model(x))}


def generate(torch, model):
    """64 tokens, greedily, by a model of transformers."""
    model = model.half().cuda().eval()
    ids = torch.arange(1, 17).unsqueeze(0).cuda()
    mask = torch.ones_like(ids)
    out = []

    def step():
        with torch.no_grad():
            out.append(model.generate(ids, attention_mask=mask, max_new_tokens=64, min_new_tokens=64, do_sample=False,
                                      pad_token_id=0))

    times = timed(torch, step, 1, 5)
    return {**times, "result": digest(out[-1].tolist())}


def gpt2():
    torch = torch_setup()
    from transformers import GPT2Config, GPT2LMHeadModel
    return generate(torch, GPT2LMHeadModel(GPT2Config()))


def llama():
    torch = torch_setup()
    from transformers import LlamaConfig, LlamaForCausalLM
    return generate(torch, LlamaForCausalLM(LlamaConfig(
        hidden_size=1024, intermediate_size=2816, num_hidden_layers=12, num_attention_heads=16, num_key_value_heads=4, vocab_size=32000)))


def torch_mixed():
    torch = torch_setup()
    result = {}
    a = torch.randn(256, 256, device="cuda")
    result["fft"] = tensor_digest(torch.view_as_real(torch.fft.fft2(a)))
    u, s, v = torch.linalg.svd(a[:64, :64])
    result["svd"] = [round(x, 3) for x in s[:8].tolist()]
    q = torch.randn(2, 8, 128, 64, device="cuda", dtype=torch.float16)
    result["attention"] = tensor_digest(torch.nn.functional.scaled_dot_product_attention(q, q, q))
    g = torch.cuda.CUDAGraph()
    static = torch.randn(1024, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            y = static * 2 + 1
    torch.cuda.current_stream().wait_stream(side)
    with torch.cuda.graph(g):
        y = static * 2 + 1
    static.copy_(torch.arange(1024, device="cuda", dtype=torch.float32))
    g.replay()
    torch.cuda.synchronize()
    result["graph"] = y.sum().item()
    pinned = torch.randn(1 << 20).pin_memory()
    on_device = pinned.to("cuda", non_blocking=True)
    back = torch.empty(1 << 20).pin_memory()
    back.copy_(on_device, non_blocking=True)
    torch.cuda.synchronize()
    result["pinned"] = bool(torch.equal(pinned, back))
    streams = [torch.cuda.Stream() for _ in range(4)]
    parts = []
    for i, st in enumerate(streams):
        with torch.cuda.stream(st):
            m = torch.full((512, 512), float(i + 1), device="cuda")
            parts.append((m @ m).sum())
    torch.cuda.synchronize()
    result["streams"] = [p.item() for p in parts]
    e0, e1 = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    e0.record()
    b = a @ a
    e1.record()
    torch.cuda.synchronize()
    result["events"] = e0.elapsed_time(e1) > 0
    result["matmul"] = tensor_digest(b)
    result["memory"] = torch.cuda.mem_get_info()[1] > 0
    return {"result": result}


def loader():
    torch = torch_setup()

    class Numbers(torch.utils.data.Dataset):
        def __len__(self):
            return 64

        def __getitem__(self, i):
            return torch.full((16,), float(i))

    torch.zeros(1).cuda()
    total = 0.0
    for batch in torch.utils.data.DataLoader(Numbers(), batch_size=8, num_workers=2, pin_memory=True):
        total += batch.cuda(non_blocking=True).sum().item()
    return {"result": total}


def small_tensors():
    """Small tensors of this machine, each of which is copied to the device by itself."""
    torch = torch_setup()
    sums = []

    def step():
        for i in range(20_000):
            last = torch.tensor([i]).cuda()
        sums.append(last.sum())

    times = timed(torch, step, 1, 3)
    return {**times, "result": [v.item() for v in sums]}


def threads():
    torch = torch_setup()
    import threading
    sums = [0.0, 0.0]

    def work(i):
        for k in range(50):
            m = torch.full((128, 128), float(i + k), device="cuda")
            sums[i] += (m @ m).sum().item()

    ts = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    [t.start() for t in ts]
    [t.join() for t in ts]
    return {"result": sums}


def compile_():
    torch = torch_setup()

    @torch.compile
    def f(x, y):
        return torch.sin(x) * y + torch.cos(y)

    x = torch.linspace(0, 1, 4096, device="cuda")
    return {"result": round(f(x, x + 1).sum().item(), 2)}


def triton_():
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def add(x, y, out, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        mask = at < n
        tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)

    x = torch.arange(5000, device="cuda", dtype=torch.float32)
    out = torch.empty_like(x)
    add[(triton.cdiv(5000, 1024),)](x, x, out, 5000, BLOCK=1024)
    return {"result": out.sum().item()}


def jax_():
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    # Which kernel multiplies is measured otherwise, and they differ in the last digits.
    os.environ["XLA_FLAGS"] = "--xla_gpu_autotune_level=0"
    import jax
    import jax.numpy as jnp

    @jax.jit
    def f(x):
        return jnp.tanh(x @ x.T).sum()

    x = jnp.arange(256.0 * 64).reshape(256, 64) / 16384
    return {"result": [round(float(f(x)), 2), str(jax.devices()[0].platform)]}


def pinned_host():
    """Arrays that go to JAX's pinned memory of the host, from numpy and from the device in turn, and back to the device."""
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    import jax
    import numpy
    device = jax.devices()[0]
    on_device = jax.sharding.SingleDeviceSharding(device)
    on_host = jax.sharding.SingleDeviceSharding(device, memory_kind="pinned_host")
    numbers = numpy.random.default_rng()  # without a seed: what an earlier run has left in memory is never right
    tries, wrong = 360, 0
    for i in range(tries):
        array = numbers.random(numbers.integers(1 << 18, (1 << 20) + 1), dtype=numpy.float32)  # 1 to 4 MiB
        there = jax.device_put(jax.device_put(array, on_device) if i % 2 else array, on_host)
        back = jax.device_put(there, on_device)
        wrong += not (numpy.array_equal(there, array) and numpy.array_equal(back, array))
    if wrong:
        raise SystemExit(f"of {tries} arrays {wrong} were wrong")
    return {"result": {"tries": tries, "wrong": wrong}}


def cupy_():
    import cupy
    x = cupy.arange(10000, dtype=cupy.float32)
    k = cupy.RawKernel('extern "C" __global__ void twice(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }', "twice")
    k((40,), (256,), (x, 10000))
    return {"result": [float(x.sum()), float(cupy.linalg.norm(x))]}


def numba_():
    import numpy
    if not hasattr(numpy, "row_stack"):  # numba's own name for it
        numpy.row_stack = numpy.vstack
    from numba import cuda

    @cuda.jit
    def twice(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] *= 2

    x = cuda.to_device(numpy.arange(1000, dtype=numpy.float32))
    twice[8, 128](x)
    return {"result": float(x.copy_to_host().sum())}


WORKLOADS = {
    "import-torch": import_torch, "resnet50-train": resnet_train, "resnet50-benchmark": resnet_benchmark,
    "resnet50-infer": resnet_infer, "gpt2": gpt2, "llama": llama, "torch-mixed": torch_mixed, "data-loader": loader,
    "small-tensors": small_tensors, "threads": threads, "torch-compile": compile_, "triton": triton_, "jax": jax_,
    "pinned-host": pinned_host, "cupy": cupy_, "numba": numba_,
}

def run(name):
    """Programs that repeat nothing themselves are run again as a whole for the warm times."""
    first = WORKLOADS[name]()
    if "warm" in first:
        return first
    fresh, times = since_start(), []
    for _ in range(3):
        start = time.perf_counter()
        WORKLOADS[name]()
        times.append(time.perf_counter() - start)
    return {"fresh": fresh, "warm": times, **first}


def measurement(setting, name, state, seconds):
    print(json.dumps({"setting": setting, "name": name, "unit": "ms", "state": state, "samples": [s * 1e3 for s in seconds]}))


def main(name, setting, state, result):
    try:
        ran = run(name)
    except ModuleNotFoundError as e:
        print(f"left out: python3 has no module {e.name}", file=sys.stderr)
        sys.exit(77)
    measurement(setting, name, state, [ran["fresh"]])
    if state == "filled":
        measurement(setting, name, "warm", ran["warm"])
    pathlib.Path(result).write_text(json.dumps(ran["result"]) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

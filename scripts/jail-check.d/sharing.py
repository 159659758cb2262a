"""Programs that share a GPU between processes of one user: python3 sharing.py PROGRAM. Each prints one line that begins with "ok"."""

import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

SIZE = 1 << 20
PORT = 29517  # and those above it: the programs may run at the same time


def check(holds, what):
    if not holds:
        raise SystemExit(f"wrong: {what}")


def take_tensor(tensors, answers):
    tensor = tensors.get()
    answers.put(float(tensor.sum()))
    tensor.add_(1)
    torch.cuda.synchronize()
    del tensor
    answers.put("added")


def tensors():
    """PyTorch shares the memory of a tensor, and an event, by CUDA's handles for other processes."""
    queue, answers = mp.Queue(), mp.Queue()
    child = mp.Process(target=take_tensor, args=(queue, answers))
    child.start()
    tensor = torch.full((SIZE,), 2.0, device="cuda")
    queue.put(tensor)
    check(answers.get(timeout=60) == 2.0 * SIZE, "the other process reads other values")
    check(answers.get(timeout=60) == "added", "the other process")
    check(bool((tensor == 3).all()), "this process does not see what the other wrote")
    child.join(60)
    check(child.exitcode == 0, "the other process failed")
    return "a tensor written by both"


def wait_for_event(pipe):
    device = torch.device("cuda", 0)
    handle, tensor = pipe.recv()
    event = torch.cuda.Event.from_ipc_handle(device, handle)
    pipe.send("opened")
    check(pipe.recv() == "recorded", "the order")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        stream.wait_event(event)
        seen = float(tensor[-1])
    event.synchronize()
    pipe.send((seen, event.query()))
    del tensor
    pipe.recv()


def events():
    """One process waits on the GPU for an event that the other records."""
    here, there = mp.Pipe()
    child = mp.Process(target=wait_for_event, args=(there,))
    child.start()
    tensor = torch.zeros(SIZE, device="cuda")
    event = torch.cuda.Event(enable_timing=False, interprocess=True)
    here.send((event.ipc_handle(), tensor))
    check(here.recv() == "opened", "the order")
    big = torch.ones(4096, 4096, device="cuda")
    for _ in range(200):
        big = (big @ big).clamp_(0, 1)
    tensor.fill_(7)
    event.record()
    here.send("recorded")
    seen, done = here.recv()
    check(seen == 7.0 and done, f"it saw {seen}, done: {done}")
    here.send("end")
    child.join(60)
    check(child.exitcode == 0, "the other process failed")
    return "an event waited for on the GPU and on the CPU"


def add_number(pair):
    number, tensor = pair
    return float((tensor + number).sum())


def pool():
    """Four processes read one tensor."""
    tensor = torch.ones(1000, device="cuda")
    with mp.Pool(4) as workers:
        sums = workers.map(add_number, [(i, tensor) for i in range(16)])
    check(sums == [1000.0 * (1 + i) for i in range(16)], f"sums {sums}")
    return "16 tasks of 4 processes"


def model():
    torch.manual_seed(1)
    layers = [torch.nn.Linear(512, 512) if i % 2 == 0 else torch.nn.GELU() for i in range(7)]
    return torch.nn.Sequential(*layers).cuda()


def train(net, rank, steps=20):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    generator = torch.Generator().manual_seed(2 + rank)
    for _ in range(steps):
        x = torch.randn(64, 512, generator=generator).cuda()
        loss = ((net(x) - x) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return float(loss)


def group(rank, ranks, backend, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.cuda.set_device(0)
    dist.init_process_group(backend, rank=rank, world_size=ranks)


def ddp_rank(rank, ranks, backend, port, answers):
    group(rank, ranks, backend, port)
    net = torch.nn.parallel.DistributedDataParallel(model(), device_ids=[0])
    loss = train(net, rank)
    total = sum(float(p.double().sum()) for p in net.parameters())
    answers.put((rank, loss, total))
    dist.barrier()
    dist.destroy_process_group()


def fsdp_rank(rank, ranks, backend, port, answers):
    from torch.distributed.fsdp import FullyShardedDataParallel
    group(rank, ranks, backend, port)
    net = FullyShardedDataParallel(model(), device_id=0)
    loss = train(net, rank)
    answers.put((rank, loss, 0.0))
    dist.barrier()
    dist.destroy_process_group()


def ranks_of(target, ranks, backend, port):
    answers = mp.Queue()
    children = [mp.Process(target=target, args=(rank, ranks, backend, port, answers)) for rank in range(ranks)]
    for child in children:
        child.start()
    results = []
    limit = time.time() + 50
    while len(results) < ranks:
        check(time.time() < limit, "no result in time")
        check(all(child.exitcode in (None, 0) for child in children), "a rank failed")
        try:
            results.append(answers.get(timeout=1))
        except Exception:  # queue.Empty
            continue
    for child in children:
        child.join(60)
        check(child.exitcode == 0, "a rank failed")
    check(len({total for _, _, total in results}) == 1, f"the ranks differ: {results}")
    return "losses " + " ".join(f"{loss:.4f}" for _, loss, _ in sorted(results))


def ddp():
    return ranks_of(ddp_rank, 2, "gloo", PORT)


def fsdp():
    """NCCL refuses two ranks on one GPU, so that two processes need gloo."""
    return ranks_of(fsdp_rank, 2, "gloo", PORT + 1)


def fsdp_nccl():
    return ranks_of(fsdp_rank, 1, "nccl", PORT + 2)


def nccl():
    group(0, 1, "nccl", PORT + 3)
    x = torch.arange(1000, device="cuda", dtype=torch.float32)
    y = [torch.empty_like(x)]
    dist.all_reduce(x)
    dist.all_gather(y, x)
    torch.cuda.synchronize()
    check(float(y[0].sum()) == 499500.0, "the sum")
    dist.destroy_process_group()
    return "all_reduce and all_gather in one process"


if __name__ == "__main__":
    mp.set_start_method("spawn")
    started = time.time()
    what = {f.__name__: f for f in (tensors, events, pool, ddp, fsdp, fsdp_nccl, nccl)}[sys.argv[1]]()
    print(f"ok: {what} ({time.time() - started:.1f} s)", flush=True)

"""Trains one net on two GPUs with PyTorch: DataParallel in one process, or DistributedDataParallel with NCCL in two.

    parallel.py dp|ddp [STEPS]

Prints the loss of every tenth step, and the time of each step as {"name":...,"samples":[...]}.
"""
import json
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

BATCH, WIDTH, WARM = 256, 2048, 5


def net():
    torch.manual_seed(1)
    layers = []
    for _ in range(6):
        layers += [torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers)


def train(model, device, batch, offset, steps, devices):
    """Each step has another batch, of which a rank has its part. Returns losses and times."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    losses, times = [], []
    for step in range(steps):
        generator = torch.Generator().manual_seed(step)
        x = torch.randn(BATCH, WIDTH, generator=generator)[offset:offset + batch].to(device)
        for each in devices:
            torch.cuda.synchronize(each)
        began = time.perf_counter()
        loss = ((model(x) - x) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for each in devices:
            torch.cuda.synchronize(each)
        times.append((time.perf_counter() - began) * 1000)
        if step % 10 == 9:
            losses.append(float(loss))
    return losses, times


def report(name, losses, times):
    print("losses " + " ".join(f"{loss:.6f}" for loss in losses))
    print(json.dumps({"name": name + "-first-step", "unit": "ms", "state": "filled", "samples": times[:1]}))
    print(json.dumps({"name": name + "-step", "unit": "ms", "samples": times[WARM:]}))


def dp(steps):
    model = torch.nn.DataParallel(net().to("cuda:0"), device_ids=[0, 1])
    losses, times = train(model, "cuda:0", BATCH, 0, steps, [0, 1])
    report("dataparallel", losses, times)


def rank(index, steps, answers):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29641")
    torch.cuda.set_device(index)
    dist.init_process_group("nccl", rank=index, world_size=2)
    model = torch.nn.parallel.DistributedDataParallel(net().to(index), device_ids=[index])
    part = BATCH // 2
    losses, times = train(model, index, part, index * part, steps, [index])
    answers.put((index, losses, times))
    dist.barrier()
    dist.destroy_process_group()


def ddp(steps):
    answers = mp.Queue()
    ranks = [mp.Process(target=rank, args=(index, steps, answers)) for index in range(2)]
    for each in ranks:
        each.start()
    found = []
    while len(found) < 2:
        try:
            found.append(answers.get(timeout=0.5))
        except Exception:  # queue.Empty
            if any(each.exitcode not in (None, 0) for each in ranks):
                for each in ranks:
                    each.kill()
                sys.exit("a rank failed")
    for each in ranks:
        each.join()
    found.sort()
    losses = [(a + b) / 2 for a, b in zip(found[0][1], found[1][1])]
    report("ddp", losses, [max(pair) for pair in zip(found[0][2], found[1][2])])


if __name__ == "__main__":
    mp.set_start_method("spawn")
    {"dp": dp, "ddp": ddp}[sys.argv[1]](int(sys.argv[2]) if len(sys.argv) > 2 else 40)
    print("result=ok")

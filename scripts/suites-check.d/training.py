#!/usr/bin/env python3
"""A training that is killed and goes on: training.py FOLDER --seconds N. ResNet-18 on made images, with a data loader of two processes, mixed
precision and a checkpoint after each epoch. Started again, it goes on behind the last checkpoint of the folder. FOLDER/losses has a line for each
epoch: its number, the mean loss and the share of right answers, digest of all weights; the same in every setting, however often it was killed.
"""
import argparse
import hashlib
import os
import pathlib
import time

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
import torch
import torchvision

IMAGES, BATCH, CLASSES, SIDE = 8192, 128, 10, 64


class Images(torch.utils.data.Dataset):
    """Noise over one of ten patterns: something that can be learned, the same in each process."""

    def __init__(self):
        self.patterns = torch.randn(CLASSES, 3, SIDE, SIDE, generator=torch.Generator().manual_seed(1))

    def __len__(self):
        return IMAGES

    def __getitem__(self, i):
        noise = torch.randn(3, SIDE, SIDE, generator=torch.Generator().manual_seed(i + 2))
        return 0.06 * self.patterns[i % CLASSES] + noise, i % CLASSES


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, required=True)
    arguments = parser.parse_args()
    until = time.monotonic() + arguments.seconds
    arguments.folder.mkdir(parents=True, exist_ok=True)
    checkpoint, losses = arguments.folder / "checkpoint", arguments.folder / "losses"
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cudnn.benchmark = False
    torch.manual_seed(1)
    model = torchvision.models.resnet18(num_classes=CLASSES).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    scaler, first = torch.amp.GradScaler(), 0
    if checkpoint.exists():
        kept = torch.load(checkpoint, map_location="cuda")
        model.load_state_dict(kept["model"])
        optimizer.load_state_dict(kept["optimizer"])
        scaler.load_state_dict(kept["scaler"])
        first = kept["epoch"] + 1
    images, epoch = Images(), first
    while time.monotonic() < until:
        order = torch.Generator().manual_seed(epoch)
        loader = torch.utils.data.DataLoader(images, BATCH, shuffle=True, num_workers=2, pin_memory=True, generator=order)
        total, right = torch.zeros((), device="cuda"), torch.zeros((), device="cuda")
        for x, y in loader:
            x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
            optimizer.zero_grad()
            with torch.autocast("cuda", torch.float16):
                output = model(x)
                loss = torch.nn.functional.cross_entropy(output, y)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            total += loss.detach() * len(y)
            right += (output.argmax(1) == y).sum()
        weights = hashlib.sha256(b"".join(p.detach().cpu().numpy().tobytes() for p in model.state_dict().values())).hexdigest()[:16]
        kept = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "scaler": scaler.state_dict(), "epoch": epoch}
        torch.save(kept, checkpoint.with_suffix(".new"))
        line = f"{epoch} {total.item() / IMAGES:.6f} {right.item() / IMAGES:.4f} {weights}\n"
        known = [text for text in losses.read_text().splitlines(True) if int(text.split()[0]) < epoch] if losses.exists() else []
        losses.with_suffix(".new").write_text("".join(known) + line)
        losses.with_suffix(".new").rename(losses)
        checkpoint.with_suffix(".new").rename(checkpoint)
        print(line, end="", flush=True)
        epoch += 1


if __name__ == "__main__":
    main()

"""infer.py START SECONDS: from that time on, and for so long, runs ResNet-18 on one image after another; prints how many a second."""
import sys
import time

import torch
import torchvision

start, seconds = float(sys.argv[1]), float(sys.argv[2])
model = torchvision.models.resnet18().cuda().half().eval()
image = torch.randn(1, 3, 224, 224, device="cuda", dtype=torch.half)
graph = torch.cuda.CUDAGraph()
with torch.no_grad():
    for _ in range(30):
        model(image)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        model(image)
if time.time() > start:
    sys.exit("not ready in time")
time.sleep(start - time.time())
count = 0
while time.time() < start + seconds:
    graph.replay()
    torch.cuda.synchronize()
    count += 1
print("inferences a second:", count / seconds)

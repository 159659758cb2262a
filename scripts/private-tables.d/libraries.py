#!/usr/bin/env python3
"""Uses one library enough to make it ask the driver for its private tables: libraries.py NAME."""
import ctypes
import os
import sys


def cublas():
    import torch
    for kind in (torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.complex64):
        a = torch.ones(128, 128, device="cuda", dtype=kind)
        (a @ a).sum().item()
    b = torch.ones(8, 64, 64, device="cuda", dtype=torch.half)
    torch.bmm(b, b).sum().item()


def cublaslt():
    import torch
    layer = torch.nn.Linear(256, 256).cuda().half()
    x = torch.ones(64, 256, device="cuda", dtype=torch.half)
    torch.nn.functional.gelu(layer(x)).sum().item()
    torch._addmm_activation(layer.bias, x, layer.weight.t(), use_gelu=True).sum().item()
    a = torch.ones(64, 64, device="cuda").to(torch.float8_e4m3fn)
    one = torch.ones((), device="cuda")
    torch._scaled_mm(a, a.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16).sum().item()


def cudnn():
    import torch
    torch.backends.cudnn.benchmark = True
    for kind in (torch.float32, torch.float16):
        convolution = torch.nn.Conv2d(8, 16, 3).cuda().to(kind)
        convolution(torch.ones(4, 8, 32, 32, device="cuda", dtype=kind)).sum().backward()
    torch.nn.LSTM(16, 16).cuda()(torch.ones(4, 4, 16, device="cuda"))
    q = torch.ones(2, 4, 64, 64, device="cuda", dtype=torch.half, requires_grad=True)
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.CUDNN_ATTENTION):
        torch.nn.functional.scaled_dot_product_attention(q, q, q).sum().backward()
    torch.cuda.synchronize()


def cufft():
    import torch
    for n in (64, 100, 1 << 16, 1009):
        torch.fft.fft(torch.ones(4, n, device="cuda")).abs().sum().item()


def curand():
    import cupy
    float(cupy.random.default_rng(1).random(1000).sum())
    cupy.cuda.curand.createGenerator(cupy.cuda.curand.CURAND_RNG_PSEUDO_DEFAULT)


def cusparse():
    import torch
    m = torch.eye(64, device="cuda").to_sparse_csr()
    (m @ torch.ones(64, 8, device="cuda")).sum().item()
    (m @ m).to_dense().sum().item()


def cusolver():
    import torch
    a = torch.randn(64, 64, device="cuda")
    torch.linalg.svd(a)
    torch.linalg.eigh(a @ a.t())
    torch.linalg.solve(a, a)
    torch.cuda.synchronize()


def nvrtc():
    import torch
    twice = torch.cuda.jiterator._create_jit_fn("template <typename T> T twice(T x) { return x + x; }")
    twice(torch.ones(100, device="cuda")).sum().item()


def nvjitlink():
    import numpy
    if not hasattr(numpy, "row_stack"):  # numba's own name for it
        numpy.row_stack = numpy.vstack
    from numba import cuda

    @cuda.jit
    def twice(x):
        x[cuda.grid(1)] *= 2

    x = cuda.to_device(numpy.ones(64))
    twice[1, 64](x)
    x.copy_to_host()


def cupti():
    import torch
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
        torch.ones(100, device="cuda").mul(2).sum().item()
    print("kernels seen:", sum(e.device_type == torch.autograd.DeviceType.CUDA for e in p.events()))


def nccl():
    import torch
    import torch.distributed as d
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511", RANK="0", WORLD_SIZE="1")
    d.init_process_group("nccl")
    x = torch.ones(1000, device="cuda")
    d.all_reduce(x)
    torch.cuda.synchronize()
    d.destroy_process_group()


def nvjpeg():
    import torch
    import torchvision
    picture = torch.zeros(3, 64, 64, dtype=torch.uint8)
    data = torchvision.io.encode_jpeg(picture)
    torchvision.io.decode_jpeg(data, device="cuda").float().sum().item()


class NppStreamContext(ctypes.Structure):
    _fields_ = [("stream", ctypes.c_void_p), ("device", ctypes.c_int), ("processors", ctypes.c_int), ("threads", ctypes.c_int),
                ("block", ctypes.c_int), ("shared", ctypes.c_size_t), ("major", ctypes.c_int), ("minor", ctypes.c_int),
                ("flags", ctypes.c_uint), ("reserved", ctypes.c_int)]


def npp():
    import glob
    import torch
    p = torch.cuda.get_device_properties(0)
    found = sorted(glob.glob("/usr/local/cuda*/**/libnpps.so*", recursive=True))
    npps = ctypes.CDLL(found[0])
    data = torch.zeros(1000, dtype=torch.uint8, device="cuda")
    torch.cuda.synchronize()
    context = NppStreamContext(None, 0, p.multi_processor_count, 2048, 1024, 49152, p.major, p.minor, 0, 0)
    r = npps.nppsSet_8u_Ctx(ctypes.c_ubyte(7), ctypes.c_void_p(data.data_ptr()), ctypes.c_size_t(1000), context)
    torch.cuda.synchronize()
    if r or data.float().sum().item() != 7000:
        raise SystemExit(f"nppsSet_8u_Ctx answered {r}")


def tensorrt():
    import tensorrt
    import torch
    torch.zeros(1).cuda()
    log = tensorrt.Logger(tensorrt.Logger.ERROR)
    tensorrt.Runtime(log)
    tensorrt.Builder(log)


def jax():
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    import jax as j
    print(float(j.jit(lambda x: (x @ x.T).sum())(j.numpy.ones((64, 64)))))


def triton():
    import torch
    (torch.compile(lambda x: torch.sin(x) * 2)(torch.ones(100, device="cuda"))).sum().item()


if __name__ == "__main__":
    globals()[sys.argv[1]]()

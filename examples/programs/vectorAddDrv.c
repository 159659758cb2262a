// vectorAdd.cu for the CUDA driver API: for machines that have gcc but no nvcc. Links with libcuda as any
// such program does; only cuda.h is spelled out below, because it comes with the toolkit.
#include <stddef.h>
#include <stdio.h>

typedef int CUresult, CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;

CUresult cuInit(unsigned flags);
CUresult cuGetErrorName(CUresult error, const char **name);
CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUresult cuDeviceGetName(char *name, int length, CUdevice device);
CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device);
CUresult cuCtxDestroy_v2(CUcontext context);
CUresult cuModuleLoadData(CUmodule *module, const void *image);
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes);
CUresult cuMemFree_v2(CUdeviceptr pointer);
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes);
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes);
CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,
                        void **parameters, void **extra);

#define CHECK(call)                                          \
  do {                                                       \
    CUresult error = (call);                                 \
    if (error != 0) {                                        \
      const char *name = "unknown error";                    \
      cuGetErrorName(error, &name);                          \
      printf("result=failed: %s: %s\n", #call, name);        \
      return 1;                                              \
    }                                                        \
  } while (0)

// c[i] = a[i] + b[i] for i < n.
static const char ptx[] =
    ".version 6.0\n"
    ".target sm_52\n"
    ".address_size 64\n"
    ".visible .entry vectorAdd(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)\n"
    "{\n"
    "  .reg .pred %p;\n"
    "  .reg .b32 %i, %count, %block, %width, %thread;\n"
    "  .reg .f32 %x, %y, %sum;\n"
    "  .reg .b64 %a, %b, %c, %offset;\n"
    "  ld.param.u64 %a, [a];\n"
    "  ld.param.u64 %b, [b];\n"
    "  ld.param.u64 %c, [c];\n"
    "  ld.param.u32 %count, [n];\n"
    "  mov.u32 %block, %ctaid.x;\n"
    "  mov.u32 %width, %ntid.x;\n"
    "  mov.u32 %thread, %tid.x;\n"
    "  mad.lo.s32 %i, %block, %width, %thread;\n"
    "  setp.ge.s32 %p, %i, %count;\n"
    "  @%p bra DONE;\n"
    "  cvta.to.global.u64 %a, %a;\n"
    "  cvta.to.global.u64 %b, %b;\n"
    "  cvta.to.global.u64 %c, %c;\n"
    "  mul.wide.s32 %offset, %i, 4;\n"
    "  add.s64 %a, %a, %offset;\n"
    "  add.s64 %b, %b, %offset;\n"
    "  add.s64 %c, %c, %offset;\n"
    "  ld.global.f32 %x, [%a];\n"
    "  ld.global.f32 %y, [%b];\n"
    "  add.f32 %sum, %x, %y;\n"
    "  st.global.f32 [%c], %sum;\n"
    "DONE:\n"
    "  ret;\n"
    "}\n";

enum { N = 50000, BYTES = N * sizeof(float) };
static float a[N], b[N], c[N];

int main(void) {
  for (int i = 0; i < N; i++) {
    a[i] = (float)i;
    b[i] = 0.5f * (float)i;
  }

  CUdevice device;
  CUcontext context;
  char name[256];
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDeviceGetName(name, sizeof name, device));
  printf("device=%s\nelements=%d\n", name, N);
  CHECK(cuCtxCreate_v2(&context, 0, device));

  CUmodule module;
  CUfunction function;
  CHECK(cuModuleLoadData(&module, ptx));
  CHECK(cuModuleGetFunction(&function, module, "vectorAdd"));

  CUdeviceptr device_a, device_b, device_c;
  CHECK(cuMemAlloc_v2(&device_a, BYTES));
  CHECK(cuMemAlloc_v2(&device_b, BYTES));
  CHECK(cuMemAlloc_v2(&device_c, BYTES));
  CHECK(cuMemcpyHtoD_v2(device_a, a, BYTES));
  CHECK(cuMemcpyHtoD_v2(device_b, b, BYTES));
  int n = N;
  void *parameters[] = {&device_a, &device_b, &device_c, &n};
  CHECK(cuLaunchKernel(function, (N + 255) / 256, 1, 1, 256, 1, 1, 0, NULL, parameters, NULL));
  CHECK(cuMemcpyDtoH_v2(c, device_c, BYTES));
  CHECK(cuMemFree_v2(device_a));
  CHECK(cuMemFree_v2(device_b));
  CHECK(cuMemFree_v2(device_c));
  CHECK(cuCtxDestroy_v2(context));

  for (int i = 0; i < N; i++) {
    // i and i/2 up to 75000 are exact in a float, and so is their sum.
    if (c[i] != a[i] + b[i]) {
      printf("result=failed: element %d is %g, not %g\n", i, c[i], a[i] + b[i]);
      return 1;
    }
  }
  printf("result=ok\n");
  return 0;
}

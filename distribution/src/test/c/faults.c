/* The results of every class of call after a kernel has failed, with a separate process for each kind of fault, and then the
 * destruction of the context. Prints a line for each call; faults.txt has the native results of an H200 (driver 580.159).
 * Built with gcc alone. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef uint64_t u64;
typedef void *h; /* a handle */

static void *driver;
#define FUNCTION(name, parameters) ((int(*) parameters)dlsym(driver, #name))
#define SAY(name, parameters, arguments) say(#name, FUNCTION(name, parameters) arguments)

static const char *const code =
    ".version 7.5\n.target sm_75\n.address_size 64\n"
    ".visible .global .align 4 .b8 var[64];\n"
    ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n"
    ".global .align 1 .b8 msg[2] = {65, 0};\n"
    ".visible .entry good(.param .u64 p) { ret; }\n"
    ".visible .entry illegal(.param .u64 p) { .reg .b64 %a<3>; mov.u64 %a1, 16; st.global.u32 [%a1], 0; ret; }\n"
    ".visible .entry misaligned(.param .u64 p) { .reg .b64 %a<3>;\n"
    "  ld.param.u64 %a1, [p]; add.u64 %a1, %a1, 1; st.global.u32 [%a1], 7; ret; }\n"
    ".visible .entry trapped(.param .u64 p) { trap; ret; }\n"
    ".visible .entry asserted(.param .u64 p) { .reg .b64 %a<3>; .reg .b32 %r<2>;\n"
    "  mov.u64 %a1, msg; cvta.global.u64 %a1, %a1; mov.u32 %r1, 5; mov.u64 %a2, 1;\n"
    "  { .param .b64 q0; .param .b64 q1; .param .b32 q2; .param .b64 q3; .param .b64 q4;\n"
    "    st.param.b64 [q0], %a1; st.param.b64 [q1], %a1; st.param.b32 [q2], %r1; st.param.b64 [q3], %a1; st.param.b64 [q4], %a2;\n"
    "    call __assertfail, (q0, q1, q2, q3, q4); } ret; }\n";

static void say(const char *name, int result) {
  printf("  %-28s %d\n", name, result);
  fflush(stdout);
}

typedef int launch(h, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, h, void **, void **);

static void after(const char *fault, int end) {
  int dev, v;
  h ctx, mod, fn, good, st, st2, ev, ev2, g, ge = NULL, pinned, pool, tmp;
  u64 d, d2, x;
  size_t n;
  float ms;
  char buf[64] = {0};
  void *pp[] = {&d};
  launch *run = (launch *)dlsym(driver, "cuLaunchKernel");
  FUNCTION(cuInit, (unsigned))(0);
  FUNCTION(cuDeviceGet, (int *, int))(&dev, 0);
  FUNCTION(cuDevicePrimaryCtxRetain, (h *, int))(&ctx, dev);
  FUNCTION(cuCtxSetCurrent, (h))(ctx);
  int r = FUNCTION(cuModuleLoadData, (h *, const void *))(&mod, code);
  if (r) say("cuModuleLoadData", r);
  FUNCTION(cuModuleGetFunction, (h *, h, const char *))(&fn, mod, fault);
  FUNCTION(cuModuleGetFunction, (h *, h, const char *))(&good, mod, "good");
  FUNCTION(cuStreamCreate, (h *, unsigned))(&st, 1);
  FUNCTION(cuStreamCreate, (h *, unsigned))(&st2, 0);
  FUNCTION(cuEventCreate, (h *, unsigned))(&ev, 0);
  FUNCTION(cuEventCreate, (h *, unsigned))(&ev2, 0);
  FUNCTION(cuMemAlloc_v2, (u64 *, size_t))(&d, 4096);
  FUNCTION(cuMemAlloc_v2, (u64 *, size_t))(&d2, 4096);
  FUNCTION(cuMemHostAlloc, (h *, size_t, unsigned))(&pinned, 4096, 0);
  FUNCTION(cuEventRecord, (h, h))(ev, st);
  FUNCTION(cuStreamBeginCapture_v2, (h, int))(st, 1);
  run(good, 1, 1, 1, 1, 1, 1, 0, st, pp, NULL);
  FUNCTION(cuStreamEndCapture, (h, h *))(st, &g);
  FUNCTION(cuGraphInstantiateWithFlags, (h *, h, u64))(&ge, g, 0);
  FUNCTION(cuDeviceGetDefaultMemPool, (h *, int))(&pool, dev);
  FUNCTION(cuCtxSynchronize, (void))();
  say("launch of the fault", run(fn, 1, 1, 1, 1, 1, 1, 0, st, pp, NULL));
  say("cuCtxSynchronize", FUNCTION(cuCtxSynchronize, (void))());
  SAY(cuCtxSynchronize, (void), ());
  SAY(cuStreamSynchronize, (h), (st));
  SAY(cuStreamQuery, (h), (st2));
  SAY(cuStreamQuery, (h), (0));
  SAY(cuEventQuery, (h), (ev));
  SAY(cuEventSynchronize, (h), (ev));
  SAY(cuEventElapsedTime, (float *, h, h), (&ms, ev, ev2));
  SAY(cuEventRecord, (h, h), (ev2, st2));
  SAY(cuStreamWaitEvent, (h, h, unsigned), (st2, ev, 0));
  SAY(cuMemAlloc_v2, (u64 *, size_t), (&x, 4096));
  SAY(cuMemAllocAsync, (u64 *, size_t, h), (&x, 4096, st2));
  SAY(cuMemAllocManaged, (u64 *, size_t, unsigned), (&x, 4096, 1));
  SAY(cuMemHostAlloc, (h *, size_t, unsigned), (&tmp, 4096, 0));
  SAY(cuMemHostRegister_v2, (h, size_t, unsigned), (buf, 4096, 0));
  SAY(cuMemFree_v2, (u64), (d2));
  SAY(cuMemFreeAsync, (u64, h), (d, st2));
  SAY(cuMemFreeHost, (h), (pinned));
  SAY(cuMemGetInfo_v2, (size_t *, size_t *), (&n, &n));
  SAY(cuMemGetAddressRange_v2, (u64 *, size_t *, u64), (&x, &n, d));
  SAY(cuMemsetD8_v2, (u64, unsigned char, size_t), (d, 1, 16));
  SAY(cuMemsetD8Async, (u64, unsigned char, size_t, h), (d, 1, 16, st2));
  SAY(cuMemcpyHtoD_v2, (u64, void *, size_t), (d, buf, 16));
  SAY(cuMemcpyHtoDAsync_v2, (u64, void *, size_t, h), (d, buf, 16, st2));
  SAY(cuMemcpyDtoH_v2, (void *, u64, size_t), (buf, d, 16));
  SAY(cuMemcpyDtoHAsync_v2, (void *, u64, size_t, h), (buf, d, 16, st2));
  SAY(cuMemcpyDtoD_v2, (u64, u64, size_t), (d, d + 64, 16));
  SAY(cuMemcpyDtoDAsync_v2, (u64, u64, size_t, h), (d, d + 64, 16, st2));
  SAY(cuMemcpy, (u64, u64, size_t), (d, (u64)buf, 16));
  SAY(cuMemcpyAsync, (u64, u64, size_t, h), ((u64)buf, d, 16, st2));
  SAY(cuLaunchKernel, (h, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, h, void **, void **), (good, 1, 1, 1, 1, 1, 1, 0, st2, pp, 0));
  SAY(cuGraphLaunch, (h, h), (ge, st2));
  SAY(cuLaunchHostFunc, (h, void (*)(void *), void *), (st2, (void (*)(void *))free, NULL));
  SAY(cuStreamCreate, (h *, unsigned), (&tmp, 0));
  SAY(cuEventCreate, (h *, unsigned), (&tmp, 0));
  SAY(cuModuleLoadData, (h *, const void *), (&tmp, code));
  SAY(cuModuleGetFunction, (h *, h, const char *), (&tmp, mod, "good"));
  SAY(cuModuleGetGlobal_v2, (u64 *, size_t *, h, const char *), (&x, &n, mod, "var"));
  SAY(cuLibraryLoadData, (h *, const void *, void *, void *, unsigned, void *, void *, unsigned), (&tmp, code, 0, 0, 0, 0, 0, 0));
  SAY(cuFuncGetAttribute, (int *, int, h), (&v, 0, good));
  SAY(cuFuncSetAttribute, (h, int, int), (good, 8, 1024));
  SAY(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *, h, int, size_t), (&v, good, 32, 0));
  SAY(cuGraphCreate, (h *, unsigned), (&tmp, 0));
  SAY(cuGraphInstantiateWithFlags, (h *, h, u64), (&tmp, g, 0));
  SAY(cuGraphExecDestroy, (h), (ge));
  SAY(cuGraphDestroy, (h), (g));
  SAY(cuStreamBeginCapture_v2, (h, int), (st2, 1));
  SAY(cuStreamIsCapturing, (h, int *), (st2, &v));
  SAY(cuStreamGetFlags, (h, unsigned *), (st2, (unsigned *)&v));
  SAY(cuStreamGetPriority, (h, int *), (st2, &v));
  SAY(cuCtxGetCurrent, (h *), (&tmp));
  SAY(cuCtxGetDevice, (int *), (&v));
  SAY(cuCtxGetFlags, (unsigned *), ((unsigned *)&v));
  SAY(cuCtxGetLimit, (size_t *, int), (&n, 0));
  SAY(cuCtxSetLimit, (int, size_t), (0, 2048));
  SAY(cuCtxGetCacheConfig, (int *), (&v));
  SAY(cuCtxGetApiVersion, (h, unsigned *), (ctx, (unsigned *)&v));
  SAY(cuCtxGetStreamPriorityRange, (int *, int *), (&v, &v));
  SAY(cuCtxSetCurrent, (h), (ctx));
  SAY(cuCtxPushCurrent_v2, (h), (ctx));
  SAY(cuCtxPopCurrent_v2, (h *), (&tmp));
  SAY(cuDeviceGetAttribute, (int *, int, int), (&v, 1, dev));
  SAY(cuDeviceTotalMem_v2, (size_t *, int), (&n, dev));
  SAY(cuDeviceGetName, (char *, int, int), (buf, 64, dev));
  SAY(cuDevicePrimaryCtxGetState, (int, unsigned *, int *), (dev, (unsigned *)&v, &v));
  SAY(cuPointerGetAttribute, (void *, int, u64), (&v, 2, d));
  SAY(cuMemPoolTrimTo, (h, size_t), (pool, 0));
  SAY(cuMemPoolGetAttribute, (h, int, void *), (pool, 5, &x));
  SAY(cuDeviceCanAccessPeer, (int *, int, int), (&v, dev, dev));
  SAY(cuStreamDestroy_v2, (h), (st));
  SAY(cuEventDestroy_v2, (h), (ev));
  SAY(cuModuleUnload, (h), (mod));
  SAY(cuCtxSynchronize, (void), ());
  switch (end) {
    case 0:
      SAY(cuDevicePrimaryCtxReset_v2, (int), (dev));
      SAY(cuCtxSynchronize, (void), ());
      SAY(cuMemAlloc_v2, (u64 *, size_t), (&x, 4096));
      SAY(cuDevicePrimaryCtxRetain, (h *, int), (&tmp, dev));
      SAY(cuCtxSetCurrent, (h), (ctx));
      SAY(cuMemAlloc_v2, (u64 *, size_t), (&x, 4096));
      SAY(cuCtxSynchronize, (void), ());
      break;
    case 1:
      SAY(cuDevicePrimaryCtxRelease_v2, (int), (dev));
      SAY(cuDevicePrimaryCtxRetain, (h *, int), (&tmp, dev));
      SAY(cuCtxSetCurrent, (h), (ctx));
      SAY(cuMemAlloc_v2, (u64 *, size_t), (&x, 4096));
      break;
    default:
      SAY(cuCtxCreate_v2, (h *, unsigned, int), (&tmp, 0, dev));
      SAY(cuMemAlloc_v2, (u64 *, size_t), (&x, 4096));
      SAY(cuCtxSynchronize, (void), ());
  }
  _exit(0);
}

int main(void) {
  static const char *const faults[] = {"illegal", "misaligned", "trapped", "asserted"};
  driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  for (int end = 0; end < 3; end++) {
    for (int i = 0; i < (end ? 1 : 4); i++) {
      int status;
      printf("fault %s, end %d\n", faults[i], end);
      fflush(stdout);
      pid_t child = fork();
      if (!child) {
        alarm(40);
        after(faults[i], end);
      }
      if (child < 0 || waitpid(child, &status, 0) != child || status) return 1;
    }
  }
  return 0;
}

/* The names of the driver's functions, and the errors of a program without a server. */
#include <stdlib.h>

#include "api/rpc.h"
#include "graft_rpc.h"
#include "unit.h"

/* Names and versions as in CUDA's own typedefs. */
static void procedures(void) {
  extern int cuGetProcAddress_v2(const char *, void *, int, uint64_t, void *);
  extern int cuGetProcAddress(const char *, void *, int, uint64_t);
  void *found, *other;
  int status;
  CHECK(cuGetProcAddress_v2("cuMemAlloc", &found, 12000, 0, &status) == 0 && found == (void *)cuMemAlloc_v2 && status == 0);
  CHECK(cuGetProcAddress_v2("cuMemAlloc", &found, 2000, 0, &status) == 0 && found && found != (void *)cuMemAlloc_v2);
  CHECK(cuGetProcAddress_v2("cuStreamGetCaptureInfo", &found, 12030, 0, &status) == 0 &&
        found == (void *)cuStreamGetCaptureInfo_v3);
  CHECK(cuGetProcAddress_v2("cuCtxSynchronize", &found, 12090, 0, &status) == 0 && found == (void *)cuCtxSynchronize);
  CHECK(cuGetProcAddress_v2("cuNoSuchThing", &found, 13000, 0, &status) == 0 && !found && status == 1);
  CHECK(cuGetProcAddress_v2("cuKernelGetFunction", &found, 11000, 0, &status) == 0 && !found && status == 2);
  CHECK(cuGetProcAddress("cuNoSuchThing", &found, 13000, 0) == 500);
  CHECK(cuGetProcAddress_v2("cuGetProcAddress", &found, 13000, 0, &status) == 0 && found == (void *)cuGetProcAddress_v2);
  CHECK(cuGetProcAddress_v2("cuGetProcAddress", &found, 11030, 0, &status) == 0 && found == (void *)cuGetProcAddress);
  CHECK(cuGetProcAddress_v2("cuLaunchKernel", &found, 12000, 2, &status) == 0);
  CHECK(cuGetProcAddress_v2("cuLaunchKernel", &other, 12000, 0, &status) == 0 && other != found);
}

/* Without a server every entry point returns an error, and none crashes. */
static void no_server(void) {
  setenv("GRAFT_CONFIG", "/dev/null", 1);
  setenv("GRAFT_SERVER", "tcp://127.0.0.1:1", 1);
  int value;
  uint64_t pointer;
  CHECK(cuMemAlloc_v2(&pointer, 16) == GRAFT_NOT_INITIALIZED);
  /* A call that goes to the server does not open a session before cuInit; nor is it sent to one. */
  CHECK(cuStreamQuery(NULL) == GRAFT_NOT_INITIALIZED);
  CHECK(cuEventCreate(NULL, 0) == GRAFT_NOT_INITIALIZED);
  CHECK(cuModuleGetLoadingMode(&value) == GRAFT_NOT_INITIALIZED);
  CHECK(cuInit(0) == GRAFT_NO_DEVICE);
  CHECK(cuInit(0) == GRAFT_NO_DEVICE);
  CHECK(cuDeviceGetCount(&value) == GRAFT_NOT_INITIALIZED);
  CHECK(cuMemFree_v2(4096) == GRAFT_NOT_INITIALIZED);
  CHECK(cuCtxSynchronize() == GRAFT_NOT_INITIALIZED);
  CHECK(cuDriverGetVersion(&value) == 0 && value == 13000);
}

void test_session(void) {
  procedures();
  no_server();
}
